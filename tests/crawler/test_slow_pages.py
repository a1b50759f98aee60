"""Pages whose reading never ends, in a crawl and in the commands that read files."""

import json
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest

from langfocus.classifiers.pages.method import PageLanguage, PageMethod
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.crawler import reading, time_limit
from langfocus.crawler.corpus.building import Corpus
from langfocus.crawler.corpus.texts import PartTexts
from langfocus.crawler.reading import Download
from tests.crawler.sources.test_web_archive import http, record, write
from tests.support.commandline import call
from tests.support.crawls import ROOT, command, environment, rows
from tests.support.hostileserver import PAGE, Behaviour, Exchange, answer, hostile_web, sends
from tests.support.keptpages import german, html
from tests.support.processes import Done, run_alone

HANGS = b"this page never ends"
SLOW = answer(HANGS + PAGE + b" " * 60_000)  # too large for the crawl itself
OTHERS = [f"ok{number}.de" for number in range(30)]
ENOUGH = 20


def crawled(folder: Path, hangs_while: str, links: list[str], slow: Behaviour) -> Done:
    """Crawl hosts; every process of it has a reader that hangs while something is so."""
    (folder / "sitecustomize.py").write_text(
        dedent(f"""
        import time
        from pathlib import Path
        from langfocus.crawler import reader_process, reading
        reader_process.Limits.__new__.__defaults__ = (0.5, 300.0, 2**30, 2**28)
        identified = reading.identified
        def hanging(download, by):
            while {HANGS!r} in download.body and {hangs_while}:
                pass
            return identified(download, by)
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
    """An archive of two pages, one of which is never read to its end."""
    identified = reading.identified

    def hanging(download: Download, by: PageMethod) -> tuple[ParsedPage | None, PageLanguage]:
        while HANGS in download.body:
            pass
        return identified(download, by)

    monkeypatch.setattr(time_limit, "identified", hanging)
    monkeypatch.setattr(time_limit, "SLOW_S", 0.2)
    monkeypatch.setattr(Corpus, "_in_parallel", lambda _, parts, number: map(PartTexts.make, parts))
    pages = [HANGS + PAGE, html(german(1))]
    answers = [http(page, "Content-Type: text/html; charset=utf-8") for page in pages]
    urls = ["http://slow.de/", "http://a.de/"]
    return write(tmp_path / "a.warc.gz", *map(record, urls, answers))


def test_identify_goes_on_after_a_page_of_an_archive_or_a_folder(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / "0.html").write_bytes(HANGS)
    (folder / "1.html").write_bytes(html(german(1)))
    code = call("identify", "pages", archive, folder)
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["language"], each["reason"][:8]) for each in found[::2]] == [
        (None, "too slow")
    ] * 2
    assert [each["language"] for each in found[1::2]] == ["de", "de"]
    assert code == 1


def test_a_census_counts_a_page_that_is_too_slow_and_goes_on(archive: Path, tmp_path: Path) -> None:
    file = tmp_path / "census.json"
    assert call("census", archive, "--json", file) == 0
    found = json.loads(file.read_text())
    assert found["outcomes"] == {"page": 1, "page_timeout": 1}
    assert (found["languages"], found["hosts"]) == ({"de": 1}, 2)


def test_an_export_counts_a_page_that_is_too_slow_and_goes_on(
    archive: Path, tmp_path: Path
) -> None:
    texts, figures = tmp_path / "x.jsonl", tmp_path / "x.json"
    assert call("export", archive, "--output", texts, "--json", figures) == 0
    assert [json.loads(line)["url"] for line in texts.read_text().splitlines()] == ["http://a.de/"]
    assert json.loads(figures.read_text())["left_out"] == {"too slow to read": 1}
