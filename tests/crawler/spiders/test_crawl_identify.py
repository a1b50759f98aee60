"""What tells the language of a crawled page: the method asked for, and pages that link to it."""

from dataclasses import replace
from pathlib import Path

import pytest

from classifiers.pages.text.fasttextengine import VARIABLE
from crawler.clock import CrawlClock
from crawler.config import Config
from crawler.crawl import Crawl
from crawler.errors import RunFolderError
from crawler.opening import open_crawl
from crawler.reading import Download
from tests.support import processes
from tests.support.crawls import crawl, environment, rows, summary
from tests.support.fasttextmodel import write_model

GERMAN = "<p>" + "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 4
FINNISH = "<p>" + "Tänään aurinko paistaa järven yllä ja lapset leikkivät rannalla aina. " * 4
SHORT = "http://short.example/"
LINK = f"<a href='{SHORT}'>x</a>"
SHORT_PAGE = "<p>Radio 24 Oslo Berlin"
SEEDS = [f"http://seed{number}.example/" for number in range(13)]


def opened(
    folder: Path, *, seeds: int = 1, fasttext: Path | None = None, **arguments: str
) -> Crawl:
    """A breadth-first crawl for German pages: the seeds in their order, then what they link to."""
    given = {
        "lang": "de",
        "strategy": "bfs",
        "identify": "inlinks",
        "seeds": ",".join(SEEDS[:seeds]),
        **arguments,
    }
    config = replace(Config.read(given), run_folder=folder, delay_s=0.0, fasttext=fasttext)
    crawl = open_crawl(config, CrawlClock(lambda: 1000.0, lambda: 0.0))
    crawl.start()
    return crawl


def visit(crawl: Crawl, body: str, **answer: object) -> tuple[str, ...]:
    """Let the next URL be answered; returns the languages of the pages that link to it."""
    lease = crawl.frontier.next(1000.0)
    assert lease is not None
    given: dict[str, object] = {"status": 200, "content_type": "text/html; charset=utf-8", **answer}
    crawl.visitor.answered(lease, Download(lease.url, body=body.encode(), **given))  # type: ignore[arg-type]  # by name, in tests only
    return lease.inlinks


def language_of(folder: Path, url: str) -> str | None:
    (found,) = rows(folder, f"SELECT language FROM pages WHERE url = '{url}'")
    language: str | None = found[0]
    return language


def waiting(folder: Path) -> dict[str, str | None]:
    return dict(rows(folder, "SELECT url, inlinks FROM urls WHERE queued = 1"))


@pytest.mark.parametrize(("body", "language"), [(GERMAN, "de"), (FINNISH, "fi")])
def test_the_language_of_a_short_page_is_that_of_the_pages_that_link_to_it(
    tmp_path: Path, body: str, language: str
) -> None:
    crawl = opened(tmp_path, seeds=3)
    for _ in range(3):
        assert visit(crawl, body + LINK) == ()
    assert visit(crawl, SHORT_PAGE) == (language,) * 3
    crawl.close("finished")
    assert language_of(tmp_path, SHORT) == language


def test_the_default_method_neither_reads_nor_keeps_what_links_to_a_page(tmp_path: Path) -> None:
    crawl = opened(tmp_path, seeds=2, identify="composite")
    for _ in range(2):
        visit(crawl, GERMAN + LINK)
    assert waiting(tmp_path) == {SHORT: None}
    assert visit(crawl, "<p>Photo 12") == ()
    crawl.close("finished")
    assert language_of(tmp_path, SHORT) is None


@pytest.mark.parametrize(
    ("bodies", "kept", "inlinks"),
    [
        ([GERMAN + LINK, FINNISH, GERMAN, FINNISH], "2de 2fi", "de de fi fi"),
        ([FINNISH] * 9 + [GERMAN] * 4, "9fi 1de", "fi " * 9 + "de"),  # no more than ten count
        ([GERMAN[:140], GERMAN], "1de", "de"),  # little text
        (["<p>" + "1 2 3 4 5 " * 40, GERMAN], "1de", "de"),  # no language
    ],
)
def test_every_page_with_a_language_counts_that_links_to_a_url_while_it_waits(
    tmp_path: Path, bodies: list[str], kept: str, inlinks: str
) -> None:
    crawl = opened(tmp_path, seeds=len(bodies))
    for body in bodies:
        visit(crawl, body + LINK)
    assert waiting(tmp_path) == {SHORT: kept}
    assert visit(crawl, SHORT_PAGE) == tuple(inlinks.split())
    crawl.close("finished")


def test_nothing_is_kept_of_urls_that_are_settled(tmp_path: Path) -> None:
    crawl = opened(tmp_path, seeds=1)
    visit(crawl, GERMAN + LINK)
    visit(crawl, GERMAN + LINK + f"<a href='{SEEDS[0]}'>x</a>")
    crawl.close("finished")
    assert rows(tmp_path, "SELECT url, queued, inlinks FROM urls") == [
        (SEEDS[0], 0, None),
        (SHORT, 0, None),
    ]


def test_a_redirect_hands_its_inlinks_on(tmp_path: Path) -> None:
    crawl = opened(tmp_path, seeds=2)
    visit(crawl, GERMAN + LINK)
    visit(crawl, FINNISH + LINK)
    assert visit(crawl, "", status=301, location="http://new.example/") == ("de", "fi")
    assert visit(crawl, SHORT_PAGE) == ("de", "fi")
    crawl.close("finished")


def test_a_page_without_letters_has_no_language_whatever_its_address_says(tmp_path: Path) -> None:
    crawl = opened(tmp_path, seeds=1, identify="composite")
    visit(crawl, GERMAN + "<a href='http://www.wetter.de/'>x</a>")
    assert visit(crawl, "<img src=x>") == ()
    crawl.close("finished")
    assert language_of(tmp_path, "http://www.wetter.de/") is None


def test_a_crawl_that_goes_on_knows_what_linked_to_its_urls(tmp_path: Path) -> None:
    crawl = opened(tmp_path, seeds=3)
    visit(crawl, GERMAN + LINK)
    crawl.close("shutdown")
    crawl = opened(tmp_path, seeds=3)
    visit(crawl, FINNISH + LINK)
    lease = crawl.frontier.next(1000.0)
    assert lease is not None
    crawl.frontier.retry(lease, now=1000.0, not_before=2000.0)
    crawl.close("shutdown")
    crawl = opened(tmp_path, seeds=3)
    assert visit(crawl, SHORT_PAGE) == ("de", "fi")
    crawl.close("finished")


def test_a_run_is_bound_to_its_method(tmp_path: Path) -> None:
    opened(tmp_path, identify="nfc").close("shutdown")
    with pytest.raises(RunFolderError, match="a crawl with identify=nfc, not identify=composite"):
        opened(tmp_path, identify="composite")
    crawl = opened(tmp_path, identify="nfc")
    visit(crawl, GERMAN)
    crawl.close("finished")
    assert language_of(tmp_path, SEEDS[0]) == "de"


def test_pages_in_a_language_that_a_model_of_fasttext_adds_are_relevant(tmp_path: Path) -> None:
    pytest.importorskip("fasttext")
    words = "ногай тили казак сёз бар уьшин"  # noqa: RUF001
    model = write_model(tmp_path / "tiny.bin", {"nog_Cyrl": words, "zz_Zzzz": "zzz"})
    crawl = opened(tmp_path / "run", seeds=2, lang="Nogai", fasttext=model, identify="composite")
    assert "labels of tiny.bin that name no language: zz_Zzzz" in crawl.gaps
    visit(crawl, f"<p>{words * 4}")
    visit(crawl, GERMAN)
    assert crawl.counts().relevant == 1
    crawl.close("finished")
    told = rows(tmp_path / "run", "SELECT language, method FROM pages")
    assert [tuple(row) for row in told] == [("nog", "fasttext"), ("de", "text")]


@pytest.mark.parametrize("command", ["crawl", "compare"])
def test_a_method_without_its_model_is_refused_before_anything_is_written(
    tmp_path: Path, command: str
) -> None:
    arguments = ["-a", "lang=de", "-a", "identify=fasttext", "-s", f"JOBDIR={tmp_path / 'run'}"]
    without = {**environment(None), VARIABLE: str(tmp_path / "none.ftz")}
    done = processes.run("langfocus", command, *arguments, environment=without)
    assert done.returncode == 2
    assert f"{VARIABLE}: {tmp_path / 'none.ftz'}: no such model file" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_which_parser_read_the_pages_is_counted(tmp_path: Path) -> None:
    done = crawl(
        "lang=sv", "web=sample", "pages=30", JOBDIR=tmp_path, LOG_LEVEL="INFO", STATS_DUMP=True
    )
    assert done.returncode == 0, done.stderr
    read = summary(tmp_path)["counts"]["parser_lexbor"]
    assert 0 < read <= 30
    assert f"'langfocus/parser/lexbor': {read}" in done.stderr
