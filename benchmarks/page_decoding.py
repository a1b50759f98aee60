"""Share of pages in legacy encodings whose text is decoded exactly, by rival.

    python benchmarks/page_decoding.py PAGES [--texts TEXTS] [--rivals] [--each N]

Prints one JSON line. Real documents are those of the folder PAGES (`pages.tsv`, `html.tar`) that
are not UTF-8. Their true encoding is the one that the path names, else the declared one. Made
documents are UTF-8 pages of the folder and sentences of the file TEXTS, written in the usual
encodings of their language. Characters outside the encoding become character references, as
authoring tools write them. A document counts if the text is identical. `removed` has no META
charset, no XML encoding and no HTTP header. `wrong` declares ISO-8859-1 for every page.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from classifiers.datasets.texts import LabelledPage, LabelledPages, LabelledText, LabelledTexts
from classifiers.pages.charset import charsets
from classifiers.pages.charset.encodings import decode
from classifiers.training.letter_training import decomposed, is_held_out

_WESTERN = "af br ca da de en es eu fi fo fr ga gd gl id is it lb nl no oc pt sq sv sw"
_CENTRAL = "bs cs hr hsb hu pl ro sk sl"
_BALTIC = "et lt lv"
USUAL: dict[str, str] = {
    "windows-1252": _WESTERN,
    "iso-8859-15": "de es fi fr is it nl pt sv",
    "windows-1250": _CENTRAL,
    "iso-8859-2": _CENTRAL,
    "iso-8859-3": "eo mt",
    "iso-8859-4": _BALTIC,
    "windows-1257": _BALTIC,
    "iso-8859-13": _BALTIC,
    "windows-1254": "tr",
    "windows-1258": "vi",
    "windows-1251": "be bg mk ru sr uk",
    "koi8-r": "ru",
    "koi8-u": "uk",
    "iso-8859-5": "be bg mk ru sr uk",
    "ibm866": "be ru uk",
    "ibm855": "bg mk ru sr",
    "x-mac-cyrillic": "bg mk ru uk",
    "windows-1253": "el",
    "iso-8859-7": "el",
    "windows-1255": "he",
    "iso-8859-8": "he",
    "windows-1256": "ar fa ur",
    "iso-8859-6": "ar",
    "windows-874": "th",
    "shift_jis": "ja",
    "euc-jp": "ja",
    "iso-2022-jp": "ja",
    "euc-kr": "ko",
    "gb18030": "zh",
    "big5": "zh",
    "utf-16le": "cs de ru zh",
    "utf-16be": "cs de ru zh",
}
"""The languages whose pages were written in an encoding (WHATWG name)."""

_SENTENCES = (1, 2, 4, 12)
_HIRAGANA = re.compile("[\u3041-\u3096]")
_DECLARATION = re.compile(
    rb"""<meta\b[^<>]*?charset\s*=[^<>]*>|(?<=\s)encoding\s*=\s*["'][\w:.-]+["']""", re.IGNORECASE
)
_PATH_ENCODING = re.compile(r"tests/([A-Za-z0-9_-]+?)(?:-[a-z]{4,})?/")
_TEMPLATE = (
    "<!DOCTYPE html>\n<html><head>{meta}<title>{title}</title>"
    '<link rel="stylesheet" href="/style.css"></head>\n'
    '<body><div id="menu"><a href="/">Home</a> | <a href="/news">News</a></div>\n'
    "<p>{text}</p>\n</body></html>\n"
)


class Document(NamedTuple):
    """Bytes of a page with its encoding, language and text."""

    name: str
    body: bytes
    charset: str
    truth: str
    language: str


def codec_of(charset: str) -> str:
    """Python's codec of an encoding by its WHATWG name."""
    return "johab" if charset == "johab" else charsets.codec(charset)


def document(name: str, body: bytes, charset: str, language: str) -> Document:
    """A document whose encoding is known."""
    return Document(name, body, charset, body.decode(codec_of(charset), "replace"), language)


def removed(body: bytes, charset: str) -> bytes:
    """A document without its declarations of an encoding."""
    if charset.startswith("utf-16"):
        return body
    return _DECLARATION.sub(b"", body)


_SEQUENCE = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")


def real_documents(pages: Iterable[LabelledPage]) -> Iterator[Document]:
    """The pages that are not valid UTF-8, with the encoding that their path or META names."""
    for page in pages:
        if _is_utf8(page.body) and b"\x1b$" not in page.body:
            continue
        charset = _true_charset(page)
        yield document(page.name, page.body, charset, page.language)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _true_charset(page: LabelledPage) -> str:
    found = _PATH_ENCODING.match(page.path) if page.kind.endswith("-charset") else None
    label = found[1].lower() if found else page.charset or "windows-1252"
    if label == "utf-8" and not _SEQUENCE.search(page.body):
        label = "windows-1252"
    return "johab" if label == "johab" else charsets.canonical_label(label) or "windows-1252"


def made_documents(
    pages: Iterable[LabelledPage], texts: Iterable[tuple[str, str]], each: int, seed: int = 0
) -> Iterator[Document]:
    """Up to `each` documents from pages and `each` from texts per encoding and language."""
    chance = random.Random(seed)
    by_language = defaultdict(list)
    for page in pages:
        if page.kind in {"web", "docs"} and not page.body.isascii() and _is_utf8(page.body):
            by_language[page.language].append(page)
    sentences = defaultdict(list)
    for text, language in texts:
        if not charsets.count_controls(text):
            sentences[language].append(text)
    for charset, languages in USUAL.items():
        for language in languages.split():
            chosen = by_language[language]
            for page in chance.sample(chosen, min(each, len(chosen))):
                text = page.body.decode("utf-8", "replace")
                yield _made(f"page {page.name}", text, charset, language)
            rows = sentences[language]
            for n in itertools.islice(itertools.cycle(_SENTENCES), each if rows else 0):
                text = " ".join(chance.choices(rows, k=n))
                html = _TEMPLATE.format(meta='<meta charset="x">', title=text[:30], text=text)
                yield _made(f"{n} sentences", html, charset, language)


def _made(name: str, text: str, charset: str, language: str) -> Document:
    text = unicodedata.normalize("NFC", text).replace("\ufffd", "")
    text = text.translate(_CEDILLAS)
    if charset == "windows-1258":
        text = decomposed(text)
    if charset == "big5" and not _HIRAGANA.search(text):
        text = text.translate(_TRADITIONAL)
    text = _DECLARED_IN_TEXT.sub(lambda found: found[1] + charset, text)
    body = text.encode(codec_of(charset), "xmlcharrefreplace")
    return document(f"{language} {name}", body, charset, language)


_DECLARED_IN_TEXT = re.compile(
    r"""(<meta\b[^<>]*?charset\s*=\s*["']?|<\?xml[^>]*?encoding\s*=\s*["'])[\w:.-]+""",
    re.IGNORECASE,
)
# Romanian had cedillas before Unicode had its commas; Persian had the Arabic yeh.
_CEDILLAS = str.maketrans("șțȘȚی", "şţŞŢي")
# Some frequent characters, so that Chinese pages contain characters of Big5.
_TRADITIONAL = str.maketrans(
    "个们来为国说时会对这过发后里经学还没问现实进种动样关开从无样点间几头业员车长门东见气电话",
    "個們來為國說時會對這過發後裡經學還沒問現實進種動樣關開從無樣點間幾頭業員車長門東見氣電話",
)


def langfocus(body: bytes) -> str:
    """The text by this project."""
    return decode(body).text


def scrapy(body: bytes) -> str:
    """The text of a response in Scrapy."""
    from scrapy.http import HtmlResponse

    return HtmlResponse("http://example.org/", body=body).text


def w3lib(body: bytes) -> str:
    """The text by w3lib, which reads undeclared pages as windows-1252 or UTF-8."""
    from w3lib.encoding import html_to_unicode

    return html_to_unicode(None, body, default_encoding="utf-8")[1]


def normalizer(body: bytes) -> str:
    """The text by charset_normalizer, which does not read META."""
    from charset_normalizer import from_bytes

    best = from_bytes(body).best()
    return str(best) if best else ""


def chardet(body: bytes) -> str:
    """The text by chardet."""
    from chardet import detect  # type: ignore[import-not-found,unused-ignore]

    return body.decode(detect(body)["encoding"] or "windows-1252", "replace")


RIVALS: dict[str, Callable[[bytes], str]] = {
    "scrapy": scrapy,
    "w3lib": w3lib,
    "charset_normalizer": normalizer,
    "chardet": chardet,
}


def measured(
    decoder: Callable[[bytes], str], documents: list[tuple[Document, bytes]]
) -> dict[str, object]:
    """Share of identical texts, overall and by encoding, and CPU ms per document."""
    right, total = Counter[str](), Counter[str]()
    spent = 0.0
    for known, body in documents:
        start = time.process_time()
        text = decoder(body)
        spent += time.process_time() - start
        total[known.charset] += 1
        right[known.charset] += text == body.decode(codec_of(known.charset), "replace")
    return {
        "identical_percent": round(100 * right.total() / total.total(), 2),
        "ms": round(1000 * spent / total.total(), 3),
        "wrong_by_encoding": {
            name: f"{n - right[name]}/{n}" for name, n in sorted(total.items()) if n > right[name]
        },
    }


def variants(documents: list[Document]) -> dict[str, list[tuple[Document, bytes]]]:
    """The documents with, without and with a wrong declaration."""
    latin = b'<meta http-equiv="content-type" content="text/html; charset=iso-8859-1">'
    bare = [(known, removed(known.body, known.charset)) for known in documents]
    return {
        "declared": [(known, known.body) for known in documents],
        "removed": bare,
        "wrong": [
            (known, body if known.charset.startswith("utf-16") else latin + body)
            for known, body in bare
        ],
    }


def main() -> None:
    """Print the line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages")
    parser.add_argument("--texts")
    parser.add_argument("--rivals", action="store_true", help="measure Scrapy and others too")
    parser.add_argument("--each", type=int, default=8, help="made documents of each kind")
    options = parser.parse_args()
    pages = list(LabelledPages(Path(options.pages)))
    rows: Iterable[LabelledText] = LabelledTexts(Path(options.texts)) if options.texts else []
    texts = [(row.text, row.language) for row in rows if is_held_out(row.text)]
    sets = {
        "real": list(real_documents(pages)),
        "made": list(made_documents(pages, texts, options.each)),
    }
    decoders = {"langfocus": langfocus} | (_installed() if options.rivals else {})
    langfocus("Příliš žluťoučký kůň".encode("cp1250"))
    result: dict[str, object] = {}
    for set_name, documents in sets.items():
        for variant, bodies in variants(documents).items():
            result[f"{set_name} {variant}"] = {"n": len(bodies)} | {
                name: measured(decoder, bodies) for name, decoder in decoders.items()
            }
    print(json.dumps(result))


def _installed() -> dict[str, Callable[[bytes], str]]:
    found = {}
    for name, decoder in RIVALS.items():
        try:
            decoder(b"caf\xe9")
        except ImportError:
            continue
        found[name] = decoder
    return found


if __name__ == "__main__":
    main()
