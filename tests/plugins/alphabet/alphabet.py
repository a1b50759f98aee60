"""An example of each kind of plug-in; `docs/plugins.md` shows them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bs4 import BeautifulSoup

from langfocus.plugins import (
    Answer,
    LinkSource,
    PageItem,
    PageLanguage,
    ParsedPage,
    Surroundings,
    Unreachable,
    unknown,
)


class Alphabetical:
    """Hosts in the order of the alphabet."""

    def __init__(self, language: str, model: Path | None) -> None:
        pass

    def scores(self, urls: Sequence[str], source: LinkSource) -> Sequence[float]:
        hosts = [url.partition("://")[2].removeprefix("www.") for url in urls]
        return [-float(ord(host[0])) for host in hosts]


class WithoutQueries:
    """No URLs with a query, and none to irrelevant servers."""

    rules = "server"

    def __init__(self, language: str) -> None:
        pass

    def accepts(self, urls: Sequence[str], source: LinkSource) -> Sequence[bool]:
        return ["?" not in url for url in urls]


WORDS = {"de": {"der", "die", "und"}, "en": {"the", "and", "of"}, "fr": {"le", "la", "et"}}


class CommonWords:
    """The language with the most common words in the text."""

    languages = frozenset(WORDS)

    def identify(self, page: ParsedPage, surroundings: Surroundings) -> PageLanguage:
        found = page.text.lower().split()
        counts = {code: sum(map(common.__contains__, found)) for code, common in WORDS.items()}
        best = max(counts, key=lambda code: counts[code])
        if not counts[best]:
            return unknown("no common word")
        share = counts[best] / sum(counts.values())
        return PageLanguage(best, share, "words", f"{counts[best]} common words")


class Codes:
    """A code of the language in the path."""

    languages = ("de", "en", "fr")

    def score(self, urls: Sequence[str], language: str) -> Sequence[float]:
        return [3.0 if f"/{language}/" in url else -1.0 for url in urls]


def paragraphs(html: str, has_markup: bool) -> str:
    """Return the texts of all <p>."""
    found = BeautifulSoup(html, "html.parser").find_all("p")
    return "\n".join(" ".join(each.get_text().split()) for each in found)


def counts(items: Iterable[PageItem]) -> Iterator[str]:
    """Yield a line with the URL and the number of words of each page."""
    for item in items:
        yield f"{item.url}\t{item.words}\n"


class Village:
    """A host with two pages."""

    text = "<p>Der Bäcker und die Müllerin wohnen am Markt, und die Schule ist gleich daneben.</p>"

    def __init__(self, archive: Path | None) -> None:
        pass

    def seeds(self, language: str) -> Iterable[str]:
        return ["http://village.example/"]

    def respond(self, url: str, headers: Mapping[str, str]) -> Answer:
        host, _, path = url.partition("://")[2].partition("/")
        if host != "village.example":
            raise Unreachable("dns", url)
        if path not in ("", "market"):
            return Answer(404)
        body = f"{self.text}<a href=/market>Markt</a>"
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), body.encode())


def square(language: str) -> Iterator[str]:
    """Yield the seeds of a language."""
    yield "http://village.example/market"
