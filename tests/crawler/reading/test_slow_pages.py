"""Pages whose reading never ends, in a crawl and in the commands that read files."""

import json
from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from benchmarks.servers.hostileserver import PAGE, Behaviour, Exchange, answer, hostile_web, sends
from benchmarks.servers.processes import Done, run_alone
from langfocus.classifiers.pages.method import PageLanguage, PageMethod
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.crawler.corpus.building import Corpus
from langfocus.crawler.corpus.texts import PartTexts
from langfocus.crawler.http.download import Download
from langfocus.crawler.reading import page as reading
from langfocus.crawler.reading import time_limit
from langfocus.crawler.simulate.build import build
from tests.crawler.sources.test_web_archive import http, record, write
from tests.support.commandline import call
from tests.support.crawls import ROOT, command, environment, rows
from tests.support.keptpages import german, html

HANGS = b"this page never ends"
BREAKS = b"this page ends its parser"
SLOW = answer(HANGS + PAGE + b" " * 60_000)  # too large for the crawl itself
OTHERS = [f"ok{number}.de" for number in range(30)]
ENOUGH = 20


def crawled(folder: Path, hangs_while: str, links: list[str], slow: Behaviour) -> Done:
    """Crawl hosts; every process of it has a reader that hangs while something is so."""
    (folder / "sitecustomize.py").write_text(
        dedent(f"""
        import time
        from pathlib import Path
        from langfocus.crawler.reading import process as reader_process
        from langfocus.crawler.reading import page as reading
        reader_process.Limits.__new__.__defaults__ = (0.5, 300.0, 2**30, 2**28)
        identified = reading.identified
        def hanging(download, by, *more):
            while {HANGS!r} in download.body and {hangs_while}:
                pass
            return identified(download, by, *more)
        reading.identified = hanging
        """)
    )
    start = PAGE + "".join(f"<a href=http://{link}>x</a>" for link in links).encode()
    hosts = {"start.de": sends(answer(start)), **dict.fromkeys(links, slow)}
    settings = {"JOBDIR": folder / "run", "DOWNLOAD_DELAY": 0.01, "LANGFOCUS_READERS": 1}
    with hostile_web(hosts, others=slow) as proxy:
        line = command(
            "lang=de", "strategy=bfs", "filter=none", "seeds=http://start.de/", **settings
        )
        path = {"PYTHONPATH": f"{folder}:{ROOT}"}
        done = run_alone(*line, environment={**environment(proxy.url), **path})
    assert done.returncode == 0, done.stderr
    return done


def test_a_crawl_fetches_other_pages_while_one_holds_its_reader(tmp_path: Path) -> None:
    let_go, asked = tmp_path / "go", set[str]()

    async def serve(exchange: Exchange) -> None:
        asked.add(exchange.host)
        if len(asked) >= ENOUGH:
            let_go.touch()
        await exchange.send(SLOW if exchange.host == "slow.de" else answer(PAGE))

    waiting = f"not Path({str(let_go)!r}).exists() and not time.sleep(0.01)"
    crawled(tmp_path, waiting, ["slow.de", *OTHERS], serve)
    # It ends by itself only when the crawl has asked other hosts meanwhile.
    outcomes = rows(tmp_path / "run", "SELECT outcome, COUNT(*) FROM pages GROUP BY 1")
    assert outcomes == [("page", len(OTHERS) + 2)]


def test_a_domain_whose_pages_time_out_gets_no_more_requests(tmp_path: Path) -> None:
    asked = Counter[str]()

    async def serve(exchange: Exchange) -> None:
        asked[exchange.host] += exchange.path.startswith("page")
        await exchange.send(answer(PAGE) if exchange.host == "ok.de" else SLOW)

    links = [f"slow.de/page{number}" for number in range(9)]
    crawled(tmp_path, "True", [*links, "ok.de/page"], serve)
    outcomes = Counter(
        outcome for (outcome,) in rows(tmp_path / "run", "SELECT outcome FROM pages")
    )
    assert outcomes["page_timeout"] == asked["slow.de"] < 9
    assert outcomes == {
        "page": 2,
        "page_timeout": asked["slow.de"],
        "slow_pages": 9 - asked["slow.de"],
    }


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive: a page that is never read to its end, one that ends its parser, a good one."""
    identified = reading.identified

    def hostile(
        download: Download, by: PageMethod, *more: Any
    ) -> tuple[ParsedPage | None, PageLanguage]:
        while HANGS in download.body:
            pass
        if BREAKS in download.body:
            raise RecursionError
        return identified(download, by, *more)

    for module in (time_limit, reading):
        monkeypatch.setattr(module, "identified", hostile)
    monkeypatch.setattr(time_limit, "SLOW_S", 0.2)
    monkeypatch.setattr(Corpus, "_in_parallel", lambda _, parts, number: map(PartTexts.make, parts))
    pages = {"slow": HANGS + PAGE, "broken": BREAKS + PAGE, "a": html(german(1))}
    kind = "Content-Type: text/html; charset=utf-8"
    records = (record(f"http://{name}.de/", http(page, kind)) for name, page in pages.items())
    return write(tmp_path / "a.warc.gz", *records)


def test_identify_goes_on_after_a_page_of_an_archive_or_a_folder(
    archive: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    for name, page in {"0": HANGS, "1": BREAKS, "2": html(german(1))}.items():
        (folder / f"{name}.html").write_bytes(page)
    code = call("identify", "pages", archive, folder)
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["language"] for each in found] == [None, None, "de"] * 2
    reasons = [each["reason"] for each in found if each["language"] is None]
    assert reasons == ["too slow to read", "a mistake in langfocus"] * 2
    assert code == 1
    assert caplog.text.count("\nRecursionError") == 2


def test_a_census_counts_the_pages_that_it_cannot_read(archive: Path, tmp_path: Path) -> None:
    file = tmp_path / "census.json"
    assert call("census", archive, "--json", file) == 0
    found = json.loads(file.read_text())
    assert found["outcomes"] == {"error": 1, "page": 1, "page_timeout": 1}
    assert (found["languages"], found["hosts"]) == ({"de": 1}, 3)


def test_an_export_counts_the_pages_that_it_cannot_read(archive: Path, tmp_path: Path) -> None:
    texts, figures = tmp_path / "x.jsonl", tmp_path / "x.json"
    assert call("export", archive, "--output", texts, "--json", figures) == 0
    assert [json.loads(line)["url"] for line in texts.read_text().splitlines()] == ["http://a.de/"]
    left_out = {"too slow to read": 1, "a mistake in langfocus": 1}
    assert json.loads(figures.read_text())["left_out"] == left_out


def test_a_graph_is_made_without_the_pages_that_cannot_be_read(
    archive: Path, tmp_path: Path
) -> None:
    graph = build([archive], tmp_path / "graph", "de")
    assert graph.provenance["left_out"] == {"pages that could not be read": 2}
