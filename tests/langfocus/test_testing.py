"""The tests of plug-ins hold for built-in parts and for those of a package, and find mistakes."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from benchmarks.servers import processes
from langfocus.classifiers.errors import LangfocusError
from langfocus.classifiers.urls.model import SHIPPED
from langfocus.crawler.corpus.extraction import EXTRACTORS
from langfocus.crawler.corpus.formats import WRITERS
from langfocus.crawler.frontier.base import Admission, Lease, Record
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.sources.sample import SampleWeb
from langfocus.crawler.strategies import ORDERINGS
from langfocus.crawler.strategies.filters import FILTERS
from langfocus.testing import (
    ExtractorTests,
    FilterTests,
    FormatTests,
    OrderingTests,
    PageMethodTests,
    SeedTests,
    UrlModelTests,
    WebTests,
    _PartTests,
)
from langfocus.testing.frontiers import FrontierMachine
from tests.support.plugins import install

OF_PACKAGE = "tests.plugins.alphabet.alphabet"


def named(*parts: str) -> Callable[[_PartTests, pytest.FixtureRequest], None]:
    """Return a fixture that runs the tests of a class for each part."""

    def fixture(self: _PartTests, request: pytest.FixtureRequest) -> None:
        self.part = request.param

    return pytest.fixture(autouse=True, params=parts)(fixture)


@pytest.fixture(autouse=True)
def _forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make the other process a fork with all imports, which takes a second less; not for filters.

    It has another seed of `hash` than this process.
    """

    def run(line: Sequence[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        (tmp_path / "answers_of_a_part.py").write_text(line[-1], encoding="utf-8")
        done = processes.run("answers_of_a_part", environment=os.environ, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return subprocess.CompletedProcess(line, 0, done.stdout.encode())

    if request.cls is not TestFilters:
        monkeypatch.setattr(subprocess, "run", run)


class TestOrderings(OrderingTests):
    _of = named(*ORDERINGS, f"{OF_PACKAGE}:Alphabetical")


class TestFilters(FilterTests):
    _of = named(*FILTERS, f"{OF_PACKAGE}:WithoutQueries")


class TestPageMethods(PageMethodTests):
    _of = named("composite", "text", "langdetect", "cai", f"{OF_PACKAGE}:CommonWords")


class TestUrlModels(UrlModelTests):
    _of = named(str(SHIPPED), f"{OF_PACKAGE}:Codes")


class TestExtractors(ExtractorTests):
    _of = named(*EXTRACTORS, f"{OF_PACKAGE}:paragraphs")


class TestFormats(FormatTests):
    _of = named(*WRITERS, f"{OF_PACKAGE}:counts")


class TestWebs(WebTests):
    part = f"{OF_PACKAGE}:Village"
    urls = ("http://village.example/", "http://village.example/market")


class TestSampleWeb(WebTests):
    part = "sample"
    urls = tuple(SampleWeb(hosts=4000).seeds("de")[:5])


class TestSeeds(SeedTests):
    part = f"{OF_PACKAGE}:square"


WRONG = """\
import itertools
import sys
import random
from langfocus.plugins import *

number = itertools.count()


class ByHash:
    rules = "none"

    def __init__(self, *made_for):
        pass

    def scores(self, urls, source):
        return [hash(url) % 1000 for url in urls]

    def accepts(self, urls, source):
        return ["pytest" in sys.modules for url in urls]  # the other process has no tests


class ByNeighbours(ByHash):
    def scores(self, urls, source):
        return list(range(len(urls)))

    def accepts(self, urls, source):
        return [url == urls[0] for url in urls]


class Counting:
    languages = frozenset({"de", "en"})

    def identify(self, page, surroundings):
        return PageLanguage("de", 1 / (2 + next(number)), "words", "")

    def score(self, urls, language):
        return [len(urls)] * len(urls)


class Misnamed(Counting):
    languages = frozenset({"deutsch"})

    def identify(self, page, surroundings):
        return PageLanguage("deutsch", 1.0, "words", "")


class Unsure(Counting):
    def identify(self, page, surroundings):
        return PageLanguage("de", 1.5, "words", "")


def one_line(html, has_markup):
    return html.replace("</p>", " ")


def shuffled(html, has_markup):
    return str(random.random())


def first(items):
    yield next(items, None) and "one"


def numbered(items):
    yield from (f"{next(number)}" for _ in items)


class Moody:
    def __init__(self, archive):
        pass

    def respond(self, url, headers):
        return Answer(200, (), str(next(number)).encode())


class Deaf(Moody):
    def respond(self, url, headers):
        raise Unreachable("refused", url)


def seeds(language):
    yield f"http://a.example/{random.random()}"
"""


def run_all(case: _PartTests) -> None:
    for name in dir(case):
        if name.startswith("test_"):
            getattr(case, name)()


@pytest.mark.parametrize(
    ("tests", "part"),
    [
        (OrderingTests, "ByHash"),
        (OrderingTests, "ByNeighbours"),
        (FilterTests, "ByHash"),
        (FilterTests, "ByNeighbours"),
        (PageMethodTests, "Counting"),
        (PageMethodTests, "Misnamed"),
        (PageMethodTests, "Unsure"),
        (UrlModelTests, "Counting"),
        (ExtractorTests, "one_line"),
        (ExtractorTests, "shuffled"),
        (FormatTests, "first"),
        (FormatTests, "numbered"),
        (WebTests, "Moody"),
        (WebTests, "Deaf"),
        (SeedTests, "seeds"),
    ],
)
def test_a_part_that_breaks_a_law_fails(
    tests: type[_PartTests], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "wrong_parts", WRONG, {}, patch=monkeypatch)
    case = tests()
    case.part = f"wrong_parts:{part}"
    with pytest.raises((AssertionError, LangfocusError)):
        run_all(case)


class Forgetful(SqliteFrontier):
    """Stores no link of the pages that are relevant."""

    def admit(self, lease: Lease, record: Record, links: Any = (), **more: Any) -> list[Admission]:
        found = super().admit(lease, record, [] if record.is_relevant else links, **more)
        return found or [Admission.STORED] * len(links)


def test_random_steps_find_a_wrong_frontier() -> None:
    class Steps(FrontierMachine):
        def open(self) -> None:
            super().open()
            self.frontier = Forgetful(self.run.connection, self.rules_of_crawl(), now=self.now)

    given = settings(max_examples=20, deadline=None, phases=[Phase.generate], database=None)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Steps, settings=given)


def test_without_hypothesis_a_line_says_what_the_random_steps_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "langfocus.testing.frontiers")
    with pytest.raises(ImportError, match=r"frontiers needs .*: pip install pytest hypothesis$"):
        import_module("langfocus.testing.frontiers")
