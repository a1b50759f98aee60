"""A crawl reads odd answers as browsers do, and its archive has the same pages."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.servers.hostileserver import hostile_web
from langfocus.classifiers.pages.methods import DEFAULT_METHOD, method
from langfocus.crawler.census.figures import CensusFigures, census_figures
from langfocus.crawler.corpus.sources import Found, source_of
from tests.crawler.politeness.test_hostile_web import HOSTS
from tests.support.crawls import finished, rows
from tests.support.oddservers import OTHERS, PAGES, TARGETS, odd_hosts

SETTINGS = {
    "DOWNLOAD_DELAY": 0,
    "RETRY_TIMES": 1,
    "LANGFOCUS_RETRY_DELAY": 0.1,
    "LANGFOCUS_READERS": 0,
}
ARGUMENTS = ("lang=de", "strategy=bfs", "filter=none", "seeds=http://start.de/")
SERIES = {"calendar.de", "nested.de", "links.de", "sessions.de", "folders.de", "facets.de"}
OTHER_TESTS = {*SERIES, *(f"{name}.de" for name in PAGES)}
HOSTILE = {
    host: behaviour
    for host, (behaviour, outcome) in HOSTS.items()
    if outcome == "page" and not host.startswith("robots-") and host not in OTHER_TESTS
}
"""Hosts of the hostile Web whose answers are pages in spite of what is wrong with them."""

EXPECTED = {
    **dict.fromkeys((f"http://{host}/" for host in HOSTILE), "page"),
    **dict.fromkeys((f"http://{name}.de/" for name in (*PAGES, "busy", "start")), "page"),
    **{f"http://{name}.de/": outcome for name, (_, outcome) in OTHERS.items()},
    **{f"http://to-{name}.de/": "page" for name in TARGETS},
}
FACTS = "SELECT url, outcome, status, language, charset FROM pages"
Facts = dict[str, tuple[object, ...]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the folders of a crawl of odd servers and of a crawl of its archive."""
    live, replayed = (tmp_path_factory.mktemp(name) for name in ("live", "replayed"))
    with hostile_web(odd_hosts(HOSTILE)) as proxy:
        finished(*ARGUMENTS, proxy=proxy.url, JOBDIR=live, **SETTINGS)
    archive = ("web=archive", f"archive={live}")
    finished(*ARGUMENTS, *archive, JOBDIR=replayed, **SETTINGS)
    return live, replayed


def facts(folder: Path) -> Facts:
    return {url: tuple(rest) for url, *rest in rows(folder, FACTS)}


def exported(path: Path) -> Iterator[Found]:
    for part in source_of(path, "all").parts:
        yield from (found for found in part.pages() if isinstance(found, Found))


def counted(path: Path) -> CensusFigures:
    return census_figures([path], lambda: method(DEFAULT_METHOD), pages="all")


def test_odd_answers_are_read_as_browsers_read_them(runs: tuple[Path, Path]) -> None:
    outcomes = {url: fact[0] for url, fact in facts(runs[0]).items()}
    assert outcomes == EXPECTED
    pages = {f"http://{name}.de/" for name in PAGES}
    languages = {url: fact[2] for url, fact in facts(runs[0]).items() if url in pages}
    assert languages == dict.fromkeys(pages, "de")
    statuses = dict(rows(runs[0], "SELECT url, status FROM pages"))
    assert (statuses["http://missing.de/"], statuses["http://broken.de/"]) == (404, 403)


def test_the_archive_of_a_crawl_replays_the_same_pages(runs: tuple[Path, Path]) -> None:
    live, replayed = map(facts, runs)
    # What cannot be read is not archived; what is asked for again is archived once.
    del live["http://no-gzip.de/"], replayed["http://no-gzip.de/"]
    assert replayed == live


def test_export_of_a_run_and_of_its_files_are_the_same_pages(runs: tuple[Path, Path]) -> None:
    live, _ = runs
    (archive,) = live.glob("*.warc.gz")
    of_run = {found.values["url"]: found.body for found in exported(live)}
    of_files = {found.values["url"]: found.body for found in exported(archive)}
    assert of_run == of_files
    german = rows(live, "SELECT url FROM pages WHERE outcome = 'page' AND language IS NOT NULL")
    assert of_run.keys() == {url for (url,) in german}


def test_the_census_of_a_crawl_is_that_of_its_archive(runs: tuple[Path, Path]) -> None:
    live, _ = runs
    (archive,) = live.glob("*.warc.gz")
    of_run, of_files = counted(live), counted(archive)
    assert of_files.languages == of_run.languages
    assert json.dumps(of_files.outcomes) == json.dumps(
        {name: number for name, number in of_run.outcomes.items() if name != "encoding"}
    )
