"""What tells the language of a crawled page: the method asked for."""

from dataclasses import replace
from pathlib import Path

import pytest

from classifiers.pages.methods import FASTTEXT_FILE
from crawler.clock import CrawlClock
from crawler.config import Config
from crawler.crawl import Crawl
from crawler.errors import RunFolderError, SettingError
from crawler.opening import open_crawl
from crawler.reading import Download
from tests.support import processes
from tests.support.crawls import environment, rows
from tests.support.fasttextmodel import write_model

GERMAN = "<p>" + "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 4
SEEDS = [f"http://seed{number}.example/" for number in range(13)]


def opened(
    folder: Path, *, seeds: int = 1, fasttext: Path | None = None, **arguments: str
) -> Crawl:
    """A breadth-first crawl for German pages: the seeds in their order, then what they link to."""
    given = {
        "lang": "de",
        "strategy": "bfs",
        "identify": "composite",
        "seeds": ",".join(SEEDS[:seeds]),
        **arguments,
    }
    config = replace(Config.read(given), run_folder=folder, delay_s=0.0, fasttext=fasttext)
    crawl = open_crawl(config, CrawlClock(lambda: 1000.0, lambda: 0.0))
    crawl.start()
    return crawl


def visit(crawl: Crawl, body: str) -> None:
    """Let the next URL be answered."""
    lease = crawl.frontier.next(1000.0)
    assert lease is not None
    answer = Download(lease.url, 200, body.encode(), "text/html; charset=utf-8")
    crawl.visitor.answered(lease, answer)


def language_of(folder: Path, url: str) -> str | None:
    (found,) = rows(folder, f"SELECT language FROM pages WHERE url = '{url}'")
    language: str | None = found[0]
    return language


def test_a_page_without_letters_has_no_language_whatever_its_address_says(tmp_path: Path) -> None:
    crawl = opened(tmp_path, seeds=1)
    visit(crawl, GERMAN + "<a href='http://www.wetter.de/'>x</a>")
    visit(crawl, "<img src=x>")
    crawl.close("finished")
    assert language_of(tmp_path, "http://www.wetter.de/") is None


@pytest.mark.parametrize("method", ["inlinks", "outlinks"])
def test_a_method_that_reads_other_pages_is_refused(tmp_path: Path, method: str) -> None:
    with pytest.raises(SettingError, match=f"identify={method}: needs a graph"):
        opened(tmp_path, identify=method)


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
    model = write_model(tmp_path / "tiny.bin", {"nog_Cyrl": words})
    crawl = opened(tmp_path / "run", seeds=2, lang="Nogai", fasttext=model, identify="composite")
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
    without = {**environment(None), FASTTEXT_FILE: str(tmp_path / "none.ftz")}
    done = processes.run("langfocus", command, *arguments, environment=without)
    assert done.returncode == 2
    assert f"{FASTTEXT_FILE}: {tmp_path / 'none.ftz'}: no such model file" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
