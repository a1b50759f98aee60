"""Tests that the built-in parts pass; pytest runs them for the part that a subclass names.

class TestAlphabetical(OrderingTests):
part = "mypkg.orderings:Alphabetical"  # or the name of its entry point
"""

import os
import subprocess
import sys
from typing import Any, Final

from langfocus.classifiers.languages import parse_language
from langfocus.classifiers.pages.method import Surroundings
from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import parse_page
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.preparation import prepare
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.filters import Tally, link_filter, make_filter
from langfocus.crawler.strategies.links import SCORES, SEED, LinkSource

__all__ = ["FilterTests", "OrderingTests", "PageMethodTests"]

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
PAGES: Final = (
    "<title>?</title><p>12:30",
    "<html lang=de><p>Der Wald ist im Herbst sehr still, und die Wege sind voller Blätter.</p>" * 3,
    "<div>" * 300 + "<p>Le chat dort sur le toit, et la maison est silencieuse ce matin." + "\x00",
    "<p>The forest is very quiet in autumn, and leaves cover the paths near the old village.",
)


class _PartTests:
    """The law of all parts: the same input has the same answers, whoever asks.

    Readers, workers and later sessions ask in other processes, with other seeds of `hash`.
    """

    part: str
    language = "de"

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
        for name in ("part", "language"):
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
