"""Labels that change where a page lies about its language: in its declarations, address and menus.

    python -m benchmarks.page_lies TEXTS [--half tuning|judged] [--model FILE]

The claim: where there is enough text, at most 0.5 % of the labels change.

A page has the news sentences of one language. Its label is that of the honest page, which declares
nothing and has no address. Each lie is told in each language of LIES, in one way of WAYS at a time:
in one place, in all places, or with a menu in that language before the text. The same for texts of
few letters. `FILE` is a text model of `langfocus train --held-out SHARE`, which has not learned the
sentences here; without it, the model that ships is asked, which has.

A hash of a language's code decides to which half it belongs. The rules of the method were chosen on
the tuning half. Prints one JSON line, and a table on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from classifiers.datasets import LabelledTexts, stable_share
from classifiers.datasets.texts import NEWS, is_held_out
from classifiers.pages.method import PageMethod, Surroundings
from classifiers.pages.methods.composite import Composite
from classifiers.pages.parse import MAX_CHARACTERS, parse_page
from classifiers.pages.text.textengine import LangfocusEngine

LIES: Final = ("de", "fr", "fi", "id", "ru", "en", "es", "tr", "fy")
"""The languages that pages claim; the text model does not know the last."""
SENTENCES: Final = 20
LETTERS: Final = (20, 50, 100, 200, 400)
MENUS: Final = (0.05, 0.1, 0.2, 0.3)
"""Parts of the letters of a page that are a menu in the false language."""
CHARSETS: Final = {"de": "iso-8859-15", "fi": "iso-8859-13", "tr": "windows-1254", "ru": "koi8-r"}
OTHER_CHARSET: Final = "windows-874"
HREF: Final = "http://www.example.org/page"


class Lie(NamedTuple):
    """A page as a server sends it."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    content_language: str | None = None
    url: str = HREF


@dataclass(frozen=True)
class Page:
    """The sentences of a page, and their language."""

    language: str
    sentences: tuple[str, ...]

    @property
    def body(self) -> str:
        """Return the sentences as paragraphs."""
        return "".join(f"<p>{each}</p>" for each in self.sentences)


def html(page: Page, *, head: str = "", root: str = "", menu: str = "") -> bytes:
    """The bytes of a page with more in its head, its root element, or before its text."""
    return f"<html{root}><head>{head}</head><body>{menu}{page.body}</body></html>".encode()


def false_address(lie: str) -> str:
    """An address that the URL model expects in a language."""
    top = {"en": "co.uk", "fy": "nl"}.get(lie, lie)
    return f"http://www.news.{top}/{lie}/index.html"


def everywhere(page: Page, lie: str, menu: str = "") -> Lie:
    """A page that lies in all places at once."""
    url = false_address(lie)
    head = "".join(
        (
            f'<meta http-equiv="content-language" content="{lie}">',
            f'<meta name="language" content="{lie}"><meta name="dc.language" content="{lie}">',
            f'<meta property="og:locale" content="{lie}_{lie.upper()}">',
            f'<link rel="alternate" hreflang="{lie}" href="{url}">',
            f'<script type="application/ld+json">{{"inLanguage": "{lie}"}}</script>',
        )
    )
    root = f' lang="{lie}" xml:lang="{lie}"'
    return Lie(html(page, head=head, root=root, menu=menu), content_language=lie, url=url)


WAYS: Final[Mapping[str, Callable[[Page, str], Lie]]] = {
    "html lang": lambda page, lie: Lie(html(page, root=f' lang="{lie}"')),
    "html lang and address": lambda page, lie: Lie(
        html(page, root=f' lang="{lie}"'), url=false_address(lie)
    ),
    "address": lambda page, lie: Lie(html(page), url=false_address(lie)),
    "Content-Language": lambda page, lie: Lie(html(page), content_language=lie),
    "Content-Language, a list": lambda page, lie: Lie(html(page), content_language=f"{lie}, en"),
    "META": lambda page, lie: Lie(html(page, head=f'<meta name="language" content="{lie}">')),
    "og:locale": lambda page, lie: Lie(
        html(page, head=f'<meta property="og:locale" content="{lie}">')
    ),
    "hreflang of itself": lambda page, lie: Lie(
        html(page, head=f'<link rel="alternate" hreflang="{lie}" href="{HREF}">')
    ),
    "JSON-LD": lambda page, lie: Lie(
        html(page, head=f'<script type="application/ld+json">{{"inLanguage":"{lie}"}}</script>')
    ),
    "lang of the body and of an element": lambda page, lie: Lie(
        f'<html><body lang="{lie}"><div lang="{lie}">{page.body}</div></body></html>'.encode()
    ),
    "charset of HTTP": lambda page, lie: Lie(
        html(page), f"text/html; charset={CHARSETS.get(lie, OTHER_CHARSET)}"
    ),
    "charset of META": lambda page, lie: Lie(
        html(page, head=f'<meta charset="{CHARSETS.get(lie, OTHER_CHARSET)}">'), "text/html"
    ),
    "everywhere": everywhere,
}


def main() -> int:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", type=Path)
    parser.add_argument("--half", choices=("tuning", "judged"), default="judged")
    parser.add_argument("--share", type=float, default=0.2, help="share that FILE did not learn")
    parser.add_argument("--model", type=Path, help="a model that --held-out SHARE made")
    options = parser.parse_args()
    texts = sentences(options.texts, options.share)
    judged = options.half == "judged"
    pages = [page for page in pages_of(texts) if is_judged(page.language) is judged]
    menus = {lie: menu_items(texts.get(lie, {})) for lie in LIES}
    result = {
        "benchmark": "page_lies",
        "date": time.strftime("%Y-%m-%d"),
        "half": options.half,
        "languages": len({page.language for page in pages}),
        "pages": len(pages),
        "lies": list(LIES),
        **measured(Composite(LangfocusEngine(options.model)), pages, menus),
    }
    print(json.dumps(result))
    return 0


Texts = Mapping[str, Mapping[str, Sequence[str]]]
"""Sentences by language and source; a source has one script."""


def is_judged(language: str) -> bool:
    """Return True for a language on which no rule was chosen."""
    return stable_share(language, 0, "lies") >= 0.5


def sentences(path: Path, share: float) -> Texts:
    """The held-out news sentences."""
    found: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in LabelledTexts(path):
        if row.kind == NEWS and is_held_out(row, share):
            found[row.language][row.source].append(row.text)
    return found


def pages_of(texts: Texts) -> list[Page]:
    """Pages of SENTENCES sentences, of one language and script each."""
    return [
        Page(language, tuple(each[at : at + SENTENCES]))
        for language, sources in sorted(texts.items())
        for _, each in sorted(sources.items())
        for at in range(0, len(each) - SENTENCES + 1, SENTENCES)
    ]


def menu_items(sources: Mapping[str, Sequence[str]]) -> list[str]:
    """Two words each of some sentences, as the links of a menu have."""
    words = [text.split() for texts in sources.values() for text in texts]
    return [" ".join(each[at : at + 2]) for each in words for at in range(0, len(each) - 1, 2)]


def measured(
    method: PageMethod, pages: Sequence[Page], menus: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """% of labels that change: by way for whole pages, by letters, and by the share of a menu."""
    right = [label(method, Lie(html(page))) == page.language for page in pages]
    figures: dict[str, Any] = {"right": round(100 * sum(right) / len(right), 2), "changed": {}}
    for name, way in WAYS.items():
        figures["changed"][name] = shown(name, _changed(method, pages, way))
    for n in LETTERS:
        short = [Page(page.language, (cut(" ".join(page.sentences), n),)) for page in pages]
        for name in ("html lang", "everywhere"):
            place = f"{n} letters, {name}"
            figures["changed"][place] = shown(place, _changed(method, short, WAYS[name]))
    for part in MENUS:
        place = f"everywhere and in a menu of {part:.0%}"

        def way(page: Page, lie: str, part: float = part) -> Lie:
            return everywhere(page, lie, menu_of(menus[lie], page, part))

        figures["changed"][place] = shown(place, _changed(method, pages, way))
    return figures


def _changed(
    method: PageMethod, pages: Sequence[Page], way: Callable[[Page, str], Lie]
) -> dict[str, Any]:
    cases, changed = 0, 0
    pairs: defaultdict[str, int] = defaultdict(int)
    for page in pages:
        honest = label(method, Lie(html(page)))
        for lie in LIES:
            if lie in (page.language, honest):
                continue
            cases += 1
            found = label(method, way(page, lie))
            if found != honest:
                changed += 1
                pairs[f"{honest}-{found}"] += 1
    most = dict(sorted(pairs.items(), key=lambda pair: -pair[1])[:8])
    return {"%": round(100 * changed / max(cases, 1), 2), "cases": cases, "most": most}


def label(method: PageMethod, lie: Lie) -> str | None:
    """The language that a method gives a page."""
    page = parse_page(
        lie.body,
        content_type=lie.content_type,
        url=lie.url,
        content_language=lie.content_language,
    )
    return method.identify(page, Surroundings(lie.url)).language


def cut(text: str, letters: int) -> str:
    """The first words of a text with about a number of letters; signs of East Asia count thrice."""
    n = 0
    for at, sign in enumerate(text):
        n += (3 if "\u3040" <= sign <= "\ud7a3" else 1) * sign.isalpha()
        if n >= letters:
            end = text.find(" ", at)
            return text[: end if 0 <= end < at + 20 else at + 1]
    return text


def menu_of(items: Sequence[str], page: Page, part: float) -> str:
    """The links of a menu that has a part of the characters of a page that are read."""
    wanted = part * min(sum(map(len, page.sentences)) / (1 - part), MAX_CHARACTERS)
    found, length = [], 0
    for item in items:
        if length >= wanted:
            break
        found.append(f'<li><a href="/x">{item}</a></li>')
        length += len(item)
    return f"<ul>{''.join(found)}</ul>"


def shown(name: str, figures: dict[str, Any]) -> dict[str, Any]:
    """The figures, printed as they arrive."""
    print(f"{name:45}{figures['%']:7.2f} %  {figures['most']}", file=sys.stderr, flush=True)
    return figures


if __name__ == "__main__":
    raise SystemExit(main())
