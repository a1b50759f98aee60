"""Tests that the built-in parts pass; pytest runs them for the part that a subclass names.

class TestAlphabetical(OrderingTests):
part = "mypkg.orderings:Alphabetical"  # or the name of its entry point
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from langfocus.classifiers.languages import parse_language
from langfocus.classifiers.pages.method import Surroundings
from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import parse_page
from langfocus.classifiers.urls.model import load_model
from langfocus.crawler.corpus.extraction import extractor_of
from langfocus.crawler.corpus.formats import written
from langfocus.crawler.corpus.item import FIELDS, PageItem
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.preparation import prepare
from langfocus.crawler.sources.contract import Answer, Unreachable
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.filters import Tally, link_filter, make_filter
from langfocus.crawler.strategies.links import SCORES, SEED, LinkSource

__all__ = [
    "ExtractorTests",
    "FilterTests",
    "FormatTests",
    "OrderingTests",
    "PageMethodTests",
    "SeedTests",
    "UrlModelTests",
    "WebTests",
]

URLS: Final = (
    "http://example.org/",
    "https://www.example.de/de/seite.html?id=1&lang=de",
    "http://xn--bcher-kva.example/%C3%BCber",
    "http://192.0.2.1:8080/a/b/c/d/e/f",
    "http://[2001:db8::1]/",
    f"http://a.example/{'x' * 2000}",
)
SOURCES: Final = (
    *(LinkSource(), SEED, LinkSource(is_relevant=False, depth=3)),
    LinkSource(declared=URLS[1:2], declared_other=URLS[2:3]),
)
SENTENCE: Final = "The forest is very quiet in autumn, and leaves cover the paths"
PAGES: Final = (
    "<title>?</title><p>12:30",
    "<html lang=de><p>Der Wald ist im Herbst sehr still, und die Wege sind voller Blätter.</p>" * 3,
    "<div>" * 300 + "<p>Le chat dort sur le toit, et la maison est silencieuse ce matin." + "\x00",
    "".join(
        f"<p>{SENTENCE} near village number {number} of the valley.</p>" for number in range(9)
    ),
)


class _PartTests:
    """The law of all parts: equal input gives equal answers in every process.

    Readers, workers and later sessions are separate processes, with different `hash` seeds.
    """

    part: str
    language = "de"
    urls: ClassVar[tuple[str, ...]] = URLS

    def answers(self) -> Any:
        """Return all answers of the part."""
        raise NotImplementedError

    def test_it_answers_the_same_again_and_in_another_process(self) -> None:
        first = repr(self.answers())
        assert repr(self.answers()) == first
        kind = next(cls.__name__ for cls in type(self).__mro__ if cls.__module__ == __name__)
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from langfocus.testing import {kind} as it; "
        )
        for name in ("part", "language", "urls"):
            code += f"it.{name} = {getattr(self, name)!r}; "
        line = [
            sys.executable,
            "-c",
            f"{code}sys.stdout.buffer.write(repr(it().answers()).encode())",
        ]
        other = {**os.environ, "PYTHONHASHSEED": "7"}
        done = subprocess.run(line, env=other, capture_output=True, check=True)  # noqa: S603
        assert done.stdout.decode() == first


class OrderingTests(_PartTests):
    """The laws of orderings, for a crawl in `language`."""

    def answers(self) -> list[list[float]]:
        """Return the scores of the links of each page."""
        made = make_ordering(self.part, self.language)
        return [[link.score for link in made.links(URLS, source)] for source in SOURCES]

    def test_a_link_has_one_score_whatever_links_are_beside_it(self) -> None:
        made = make_ordering(self.part, self.language)
        for source in SOURCES:
            alone = [link for url in URLS for link in made.links([url], source)]
            assert [link.url for link in alone] == list(URLS)
            assert all(SCORES[0] < link.score < SCORES[1] for link in alone)
            assert made.links(URLS[::-1], source) == alone[::-1]

    def test_a_crawl_takes_it(self) -> None:
        given = {"lang": self.language, "web": "sample", "strategy": self.part}
        assert prepare(Config.read(given)).ordering.name == self.part


class FilterTests(_PartTests):
    """The laws of filters, for a crawl in `language`."""

    def answers(self) -> list[list[str]]:
        """Return the accepted links of each page."""
        kept = link_filter(self.part, self.language)
        return [list(URLS) if kept is None else kept(URLS, source) for source in SOURCES]

    def test_a_link_has_one_answer_whatever_links_are_beside_it(self) -> None:
        if kept := link_filter(self.part, self.language):
            for source in SOURCES:
                alone = [link for url in URLS for link in kept([url], source)]
                assert kept(URLS[::-1], source) == alone[::-1]

    def test_no_relevant_unit_is_closed(self) -> None:
        rules, relevant = make_filter(self.part, tolerance=0), Tally(1_000, 1)
        assert rules.accepts(page_is_relevant=True, source=relevant, target=relevant)
        assert not rules.drops(relevant)


class PageMethodTests(_PartTests):
    """The laws of page methods."""

    def answers(self) -> list[Any]:
        """Return the languages of all pages."""
        pages = [parse_page(html.encode(), content_type=None, url=URLS[0]) for html in ("", *PAGES)]
        return [method(self.part).identify(page, Surroundings(URLS[0])) for page in pages]

    def test_an_answer_is_one_of_its_languages_with_a_probability(self) -> None:
        known = method(self.part).languages
        for code in known:
            assert code == parse_language(code)
        for answer in self.answers():
            if answer.language is None:
                assert (answer.confidence, answer.method) == (0.0, "none")
            else:
                assert answer.language in (known or {parse_language(answer.language)})
                assert 0 < answer.confidence <= 1
                assert answer.method != "none"


class UrlModelTests(_PartTests):
    """The laws of URL models."""

    def answers(self) -> list[list[float]]:
        """Return the log-odds of each language for all URLs."""
        model = load_model(Path(self.part))
        return [model.score(URLS, code).tolist() for code in model.languages]

    def test_a_url_has_the_same_log_odds_whatever_urls_are_beside_it(self) -> None:
        model = load_model(Path(self.part))
        for code, scores in zip(model.languages, self.answers(), strict=True):
            assert code == parse_language(code)
            assert [model.score([url], code).item() for url in URLS] == scores


class ExtractorTests(_PartTests):
    """The laws of extractors."""

    def answers(self) -> list[str]:
        """Return the texts of all pages, with markup in the end."""
        extract = extractor_of(self.part)
        return [extract(html, markup) for markup in (False, True) for html in PAGES]

    def test_a_paragraph_is_a_line_of_the_text(self) -> None:
        text = self.answers()[len(PAGES) - 1]
        assert sum(line.strip().startswith(SENTENCE) for line in text.split("\n")) == 9
        assert "<p>" not in text


class FormatTests(_PartTests):
    """The laws of formats."""

    def items(self) -> Iterator[PageItem]:
        """Yield items that lack what a page may lack, and others."""
        bare = dict.fromkeys(FIELDS) | {"is_relevant": True, "bytes": 1, "text": "", "words": 0}
        full = {"title": 'A "B" <C>', "text": 'Ein "Satz" & <ein>\t2. "Satz".\n\n', "words": 4}
        for number, url in enumerate(URLS):
            values: dict[str, Any] = {**bare, **(full if number % 2 else {}), "url": url}
            yield PageItem(**values)

    def answers(self) -> bytes:
        """Return the file of the items."""
        return b"".join(written(self.part, self.items()))

    def test_it_writes_all_items_and_a_corpus_without_any(self) -> None:
        items = self.items()
        assert b"".join(written(self.part, items)) == self.answers()
        assert list(items) == []
        assert len(b"".join(written(self.part, iter([])))) < len(self.answers())


class WebTests(_PartTests):
    """Laws for page sources; `urls` are examples of existing pages."""

    def answers(self) -> list[object]:
        """Return the answer to each URL, or the reason why there is none."""
        given = {"lang": self.language, "web": self.part, "seeds": self.urls[0]}
        web, found = prepare(Config.read(given)).web, list[object]()
        for url in (*self.urls, f"{self.urls[0]}robots.txt", "http://no-such-host.invalid/"):
            try:
                answer = web.respond(url, {}) if web is not None else Answer(0)
                found.append((answer.status, answer.headers, answer.body))
            except Unreachable as error:
                found.append(error.reason)
        return found

    def test_the_urls_have_answers(self) -> None:
        for answer in self.answers()[: len(self.urls)]:
            assert isinstance(answer, tuple), answer
            assert 100 <= answer[0] < 600


class SeedTests(_PartTests):
    """The laws of seeds, for a crawl in `language`."""

    def answers(self) -> Any:
        """Return the normalised seeds."""
        return Config.read({"lang": self.language, "seeds": self.part}).seeds
