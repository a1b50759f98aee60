"""A web of which nine pages in a hundred are empty without a browser, and one is a PDF.

Its pages are sentences of SIB-200 in several languages, at addresses with words of their language.
The pages of a language are a tree, so that a crawl for it can reach all of them. Two thirds of the
empty pages fill whole hosts, the others lie among ordinary pages. They have the shapes that usual
frameworks serve (`SHELLS`): a script fetches the text and the links as JSON, from the host of the
page or from another one, and inserts them. Half of the PDFs lead to one more page.
"""

import html
import json
import re
import sys
import textwrap
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final
from urllib.parse import quote, urlsplit

from benchmarks import rare_webs
from langfocus.crawler.sources.contract import NO_HEADERS, Answer

LANGUAGES: Final = {"gl": 0.25, "eu": 0.2, "el": 0.15, "es": 0.2, "en": 0.2}
"""The share of each language in the pages."""
DOMAINS: Final = {"gl": "gal com", "eu": "eus com", "el": "gr com", "es": "es com", "en": "org com"}
SHELL_SHARE: Final = 0.09
PDF_SHARE: Final = 0.01
NOSCRIPT_SHARE: Final = 0.01
"""The share of pages with their text in `noscript` only, which need no browser."""
PRIVATE: Final = "http://192.168.7.7/secret"
"""An address that some empty pages ask for, which no crawl may request."""

_HOST: Final = (4, 24)
_WORD: Final = re.compile(r"\w+")
_LOADER: Final = """\
const show = (root, page) => {
  const make = (name, text) => {
    const part = document.createElement(name); part.textContent = text; return part; };
  const article = make('article', ''), list = make('ul', '');
  document.title = page.title;
  article.append(make('h1', page.title), ...page.paragraphs.map(text => make('p', text)));
  for (const [url, text] of page.links) {
    const row = make('li', ''), link = make('a', text); link.href = url; row.append(link);
    list.append(row); }
  root.replaceChildren(article, list);
};
"""
_FETCH: Final = "fetch('%s').then(answer => answer.json()).then(page => show(%s, page));"
_XHR: Final = (
    "const asks = new XMLHttpRequest(); asks.open('GET', '%s');"
    "asks.onload = () => show(%s, JSON.parse(asks.responseText)); asks.send();"
)

SHELLS: Final = {
    "react": (
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>"
        "<script defer src={script}></script>",
        _FETCH % ("{data}", "document.getElementById('root')")
        + f"fetch('{PRIVATE}').catch(() => null);",
    ),
    "vue": (
        '<div id="app"></div><script type="module" crossorigin src={script}></script>',
        _XHR % ("{data}", "document.getElementById('app')"),
    ),
    "angular": (
        "<app-root><div class=spinner></div></app-root><script src={script} type=module></script>",
        "setTimeout(() => {{"
        + _FETCH % ("{data}", "document.querySelector('app-root')")
        + "}}, 200);",
    ),
    "next": (
        '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">'
        '{{"page":"/[slug]"}}</script><script src={script} async></script>',
        "addEventListener('load', () => {{"
        + _FETCH % ("{data}", "document.getElementById('__next')")
        + "}});",
    ),
    "nuxt": (
        '<div id="__nuxt"><svg><circle r=9></circle></svg></div><script type=module src={script}>'
        "</script>",
        _FETCH % ("{api}", "document.getElementById('__nuxt')"),
    ),
    "sveltekit": (
        '<link rel="modulepreload" href={script}><div style="display: contents"><script>'
        "import('{script}')</script></div>",
        _FETCH % ("{data}", "document.querySelector('body > div')"),
    ),
    "ember": (
        '<script src="/vendor.js"></script><script src={script}></script>',
        _XHR % ("{data}", "document.body"),
    ),
    "lit": (
        "<news-page></news-page><script type=module src={script}></script>",
        "customElements.define('news-page', class extends HTMLElement {{ connectedCallback() {{"
        "const root = this.attachShadow({{mode: 'open'}});"
        + _FETCH % ("{data}", "root")
        + "}}}});",
    ),
}
"""Body and script of an empty page, by framework. `data` and `api` are the address of its text."""


def words_of(text: str) -> Counter[str]:
    """Return the words of a text with their numbers, in lower case."""
    return Counter(_WORD.findall(text.lower()))


@dataclass(slots=True)
class Page:
    """A page: `kind` is html, noscript, pdf or a name of `SHELLS`."""

    url: str
    lang: str
    kind: str
    title: str
    paragraphs: list[str]
    links: list[str] = field(default_factory=list)

    @property
    def words(self) -> Counter[str]:
        """The words of its main text."""
        return words_of(" ".join(self.paragraphs))

    @property
    def is_shell(self) -> bool:
        """True if its text is in no HTML."""
        return self.kind in SHELLS


class HiddenWeb:
    """A web of about `pages` pages, made of `sentences` by language."""

    def __init__(
        self,
        pages: int = 1000,
        sentences: Mapping[str, Sequence[str]] | None = None,
        random_state: int = 1,
    ) -> None:
        """Make all pages; without `sentences` those of SIB-200, where they are."""
        if sentences is None and not rare_webs.TEXTS.exists():
            sys.exit(f"skipped: {rare_webs.TEXTS} is not here")
        self._random = Random(random_state)
        self._sentences = rare_webs.texts() if sentences is None else sentences
        self.pages: dict[str, Page] = {}
        self.seeds: dict[str, str] = {}
        self._homes: list[str] = []
        self.asked: Counter[str] = Counter()
        for lang in sorted(LANGUAGES.keys() & self._sentences.keys()):
            self._add(lang, round(pages * LANGUAGES[lang]))
        for page in self.pages.values():
            if page.kind != "pdf":
                page.links.append(self._random.choice(self._homes))  # in any language
        self._numbered = list(self.pages.values())
        self._numbers = {page.url: number for number, page in enumerate(self._numbered)}

    def _add(self, lang: str, number: int) -> None:
        """Add the pages of a language, host by host; each has a parent among those before."""
        hosts = list(self._hosts(number))
        kinds = self._kinds(hosts, number)
        added: list[Page] = []
        for size in hosts:
            name = f"{self._slug(lang, 1)}{len(self.pages) + len(added)}"
            name += f".{self._random.choice(DOMAINS[lang].split())}"
            host: list[Page] = []
            for place in range(size):
                path = f"{self._slug(lang, 3)}-{place}" if place else ""
                page = self._page(lang, f"http://{name}/{path}", kinds[len(added) + place])
                earlier = [each for each in added if each.kind != "pdf"]
                if parents := list(filter(_leads_on, host)) or earlier:
                    self._random.choice(parents).links.append(page.url)
                host.append(page)
            added += host
        homes = [page.url for page in added if page.url.endswith("/")]
        self._homes += homes
        for page in added:
            if page.kind != "pdf":
                page.links.append(self._random.choice(homes))
        self.pages.update((page.url, page) for page in added)
        self.seeds[lang] = added[0].url

    def _hosts(self, number: int) -> Iterator[int]:
        """Yield numbers of pages of hosts."""
        while number:
            size = min(self._random.randint(*_HOST), number)
            number -= size
            yield size

    def _kinds(self, hosts: Sequence[int], number: int) -> list[str]:
        """Return the kind of each page: first whole hosts of empty pages, then single pages."""
        kinds, left = ["html"] * number, round(SHELL_SHARE * number)
        alone, starts = left // 3, [sum(hosts[:place]) for place in range(len(hosts))]
        for place in self._random.sample(range(1, len(hosts)), len(hosts) - 1):
            if hosts[place] <= left - alone:
                left -= hosts[place]
                shape = self._random.choice(list(SHELLS))
                kinds[starts[place] : starts[place] + hosts[place]] = [shape] * hosts[place]
        inner = [at for at in range(number) if kinds[at] == "html" and at not in starts]
        others = ["pdf"] * max(1, round(PDF_SHARE * number))
        others += ["noscript"] * round(NOSCRIPT_SHARE * number)
        others += self._random.choices(list(SHELLS), k=left)
        for at, kind in zip(self._random.sample(inner, len(others)), others, strict=True):
            kinds[at] = kind
        return kinds

    def _page(self, lang: str, url: str, kind: str) -> Page:
        texts = self._random.choices(self._sentences[lang], k=self._random.randint(12, 20))
        paragraphs = [" ".join(texts[at : at + 3]) for at in range(1, len(texts), 3)]
        return Page(f"{url}.pdf" if kind == "pdf" else url, lang, kind, texts[0][:60], paragraphs)

    def _slug(self, lang: str, number: int) -> str:
        words = _WORD.findall(self._random.choice(self._sentences[lang]).lower())
        long = [word for word in words if len(word) > 3] or words
        chosen = "-".join(self._random.choices(long, k=number))
        return quote(chosen) if number > 1 else chosen.encode("idna").decode().removeprefix("xn--")

    def of(self, lang: str) -> list[Page]:
        """Return the pages in a language."""
        return [page for page in self.pages.values() if page.lang == lang]

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return a page, its script or its data; `asked` counts the requests."""
        self.asked[url] += 1
        page, part = self.pages.get(url), urlsplit(url)
        if page is None:
            return _missing(part.path) if "/gone/" in url else self._file(part.path)
        if page.kind == "pdf":
            lines = [line for text in page.paragraphs for line in _lines(text)]
            body = pdf(lines, page.links, is_plain=page.lang != "el" and len(lines) % 2 == 0)
            return Answer(200, (("Content-Type", "application/pdf"),), body)
        body = (self._shell(page) if page.is_shell else self._html(page)).encode()
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), body)

    def script_of(self, page: Page) -> str:
        """Return the address of a script that only a browser asks for; "" for a PDF."""
        part, number = urlsplit(page.url), self._numbers[page.url]
        kind = "script" if page.is_shell else "seen"
        return "" if page.kind == "pdf" else f"http://{part.netloc}/{kind}/{number}.js"

    def _file(self, path: str) -> Answer:
        kind, _, name = path.strip("/").partition("/")
        number, _, ending = name.partition(".")
        page = next(
            (each for each in self._numbered[int(number) : int(number) + 1])
            if number.isdigit() and kind in ("data", "script", "seen")
            else iter(()),
            None,
        )
        if page is None:
            return Answer(404, (("Content-Type", "text/plain"),), b"not here")
        if ending == "json":
            content = {
                "title": page.title,
                "paragraphs": page.paragraphs,
                "links": self._rows(page),
            }
            kinds = (("Content-Type", "application/json"), ("Access-Control-Allow-Origin", "*"))
            return Answer(200, kinds, json.dumps(content).encode())
        text = self._script(page) if kind == "script" else ""
        return Answer(200, (("Content-Type", "text/javascript"),), text.encode())

    def _rows(self, page: Page) -> list[tuple[str, str]]:
        return [(url, self.pages[url].title) for url in page.links]

    def _script(self, page: Page) -> str:
        part, number = urlsplit(page.url), self._numbers[page.url]
        data = f"/data/{number}.json"
        return _LOADER + SHELLS[page.kind][1].format(
            data=data, api=f"http://api.{part.netloc}{data}"
        )

    def _shell(self, page: Page) -> str:
        """Return an empty page; a third declares its language, a third English."""
        number = self._numbers[page.url]
        lang = (f" lang={page.lang}", ' lang="en"', "")[number % 3]
        body = SHELLS[page.kind][0].format(script=f"/script/{number}.js")
        return (
            f"<!doctype html><html{lang}><head><title>News</title></head><body>{body}</body></html>"
        )

    def _html(self, page: Page) -> str:
        """Return a page with its text, as a server renders it; only a browser loads its script."""
        rows = "".join(
            f'<li><a href="{html.escape(url)}">{html.escape(text)}</a></li>'
            for url, text in self._rows(page)
        )
        text = "".join(f"<p>{html.escape(each)}</p>" for each in page.paragraphs)
        body = f"<article><h1>{html.escape(page.title)}</h1>{text}</article><ul>{rows}</ul>"
        if page.kind == "noscript":
            body = (
                f"<noscript>{body}Best viewed with JavaScript enabled</noscript><div id=app></div>"
            )
        number = self._numbers[page.url]
        body += f"<a href=/gone/{number}></a>" * (number % 20 == 0)
        return (
            f"<!doctype html><html><head><title>{html.escape(page.title)}</title></head>"
            f"<body>{body}<script src=/seen/{number}.js></script></body></html>"
        )


def _missing(path: str) -> Answer:
    """Return the page that an application serves with status 404; a script in it tells of it."""
    body = f"<div id=root></div><script src={path}.js></script>".encode()
    is_page = not path.endswith(".js")
    kind = "text/html" if is_page else "text/javascript"
    return Answer(404 if is_page else 200, (("Content-Type", kind),), body if is_page else b"")


def _leads_on(page: Page) -> bool:
    """Return True for a page that may lead to one more; a PDF leads to one page at most."""
    return page.kind != "pdf" or (not page.links and len(page.title) % 2 == 0)


def _lines(text: str, width: int = 80) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def pdf(lines: Sequence[str], links: Sequence[str], *, is_plain: bool) -> bytes:
    """Return a PDF with 30 lines on a page.

    A plain one has the text in windows-1252; in others a map names the letter of each sign.
    """
    letters = sorted(set("".join(lines)))
    sheets = [lines[at : at + 30] for at in range(0, len(lines), 30)] or [[]]
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(sheets)))
    annotations = "".join(
        f"<</Type/Annot/Subtype/Link/Rect[50 20 500 40]/A<</S/URI/URI({link})>>>>" for link in links
    )
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
    last = 4 + 2 * len(sheets)
    if not is_plain:
        font = (
            f"<</Type/Font/Subtype/Type0/BaseFont/Any/Encoding/Identity-H/ToUnicode {last + 1} 0 R"
            f"/DescendantFonts[{last} 0 R]>>"
        )
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(sheets)}/Kids[{kids}]>>".encode(),
        font.encode(),
    ]
    for number, sheet in enumerate(sheets):
        leads = "" if number else annotations
        shown = "".join(
            f"1 0 0 1 50 {780 - 24 * row} Tm {_shown(line, letters, is_plain=is_plain)} Tj\n"
            for row, line in enumerate(sheet)
        )
        parts.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {5 + 2 * number} 0 R"
            f"/Annots[{leads}]/Resources<</Font<</F 3 0 R>>>>>>".encode()
        )
        parts.append(_stream(f"BT /F 10 Tf {shown} ET"))
    if not is_plain:
        parts.append(
            b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Any/DW 500/FontDescriptor<</Type"
            b"/FontDescriptor/FontName/Any/Flags 4>>/CIDSystemInfo<</Registry(Adobe)"
            b"/Ordering(Identity)/Supplement 0>>>>"
        )
        parts.append(_stream(_unicode_map(letters)))
    return _file_of(parts)


def _shown(line: str, letters: Sequence[str], *, is_plain: bool) -> str:
    if is_plain:
        return f"<{line.encode('cp1252', 'ignore').hex()}>"
    return f"<{''.join(f'{letters.index(letter) + 1:04x}' for letter in line)}>"


def _unicode_map(letters: Sequence[str]) -> str:
    rows = [
        f"<{n:04x}> <{letter.encode('utf-16-be').hex()}>" for n, letter in enumerate(letters, 1)
    ]
    blocks = "".join(
        f"{len(rows[at : at + 100])} beginbfchar\n"
        + "\n".join(rows[at : at + 100])
        + "\nendbfchar\n"
        for at in range(0, len(rows), 100)
    )
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Any def\n"
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{blocks}endcmap end end"
    )


def _stream(text: str) -> bytes:
    packed = zlib.compress(text.encode())
    head = f"<</Length {len(packed)}/Filter/FlateDecode>>stream\n".encode()
    return head + packed + b"\nendstream"


def _file_of(parts: Sequence[bytes]) -> bytes:
    """Return a file of numbered objects, with the table of their places."""
    made, places = b"%PDF-1.7\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = f"trailer<</Size {len(parts) + 1}/Root 1 0 R>>\nstartxref\n{len(made)}\n%%EOF\n"
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1)
    return made + head + table + end.encode()
