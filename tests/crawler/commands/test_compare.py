"""Strategies beside each other: the tables on runs made by hand, the command on the sample web."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.servers import processes
from langfocus.crawler.commands.child import command
from langfocus.crawler.commands.compare import Planned, planned
from langfocus.crawler.report.comparison import (
    OF_PAPER,
    Runs,
    comparison_report,
    over_time,
    portions,
)
from langfocus.crawler.report.harvest import Summary, summarise
from langfocus.crawler.report.table import Table
from langfocus.crawler.shared.crew import End
from tests.support.commandline import call
from tests.support.report_run import Row, make_run


def run_of(strategy: str, relevant: int, other: int, unlabelled: int, hosts: int) -> Summary:
    rows = (
        [Row(host=f"h{number % hosts}.de") for number in range(relevant)]
        + [Row(host="h0.de", language="en")] * other
        + [Row(host="h0.de", language=None)] * unlabelled
        + [Row(host="elsewhere.de", outcome="redirect")] * 7
    )
    with closing(make_run(None, rows, strategy=strategy)) as run:
        return summarise(run)


@pytest.fixture(scope="module")
def runs() -> dict[str, dict[str, Summary]]:
    return {
        "de": {
            "random": run_of("random", 150, 240, 10, 50),
            "svm": run_of("svm", 280, 15, 5, 20),
        }
    }


def tables(runs: Runs) -> list[Table]:
    """Tables XVII to XIX and the table of the runs."""
    *_, hosts, without_label, in_language, endings = comparison_report(runs, {}).tables()
    return [hosts, without_label, in_language, endings]


def test_the_tables_hold_the_figures_of_the_runs(runs: dict[str, dict[str, Summary]]) -> None:
    hosts, without_label, in_language, _ = tables(runs)
    assert list(hosts.head) == ["language", "random", "svm"]
    assert hosts.texts == [["German", "50", "20"]]
    assert hosts.paper_texts == [["German, paper", "654", "242"]]
    seed = "www.tagesschau.de"
    assert hosts.notes == [
        f"German: 300 to 400 pages from {seed} (paper: 1,000 pages from {seed})."
    ]
    # 10 of 400 and 5 of 300 pages; 150 of 390 and 280 of 295 labelled pages.
    assert without_label.texts == [["German", "2.5 %", "1.7 %"]]
    assert without_label.paper_texts == [["German, paper", "6.0 %", "5.0 %"]]
    assert in_language.texts == [["German", "38.5 %", "94.9 %"]]
    assert in_language.paper_texts == [["German, paper", "38.4 %", "95.4 %"]]


def test_the_course_has_a_row_per_strategy_cut_at_the_same_pages(
    runs: dict[str, dict[str, Summary]],
) -> None:
    grid = over_time("de", runs["de"]).table
    assert grid is not None
    assert grid.head == ("pages", "1-200", "201-400")
    assert grid.texts == [["random", "75.0 %", "0.0 %"], ["svm", "100.0 %", "84.2 %"]]
    by = {"random": run_of("random", 1600, 0, 0, 1), "svm": run_of("svm", 250, 0, 0, 1)}
    parts = portions(by, 5)
    assert [part.pages for part in parts["random"]] == [400, 400, 400, 400]
    assert [part.pages for part in parts["svm"]] == [250]
    grid = over_time("de", by).table
    assert grid is not None
    assert grid.texts[1] == ["svm", "100.0 %", "-", "-", "-"]


def test_a_run_without_pages_can_be_compared() -> None:
    report = comparison_report({"de": {"svm": run_of("svm", 0, 0, 0, 1)}}, {})
    _, without_label, in_language, _ = report.tables()[-4:]
    assert in_language.texts == without_label.texts == [["German", "-"]]
    assert "German" in report.html()


def test_a_strategy_or_a_language_that_the_paper_lacks_has_no_figure_of_it(
    runs: dict[str, dict[str, Summary]],
) -> None:
    by = runs["de"]
    assert all(not grid.paper for grid in tables({"th": by}))
    in_language = tables({"fr": {"soft": by["svm"], "svm": by["svm"]}, "th": by})[2]
    assert list(in_language.head) == ["language", "soft", "svm", "random"]
    assert in_language.paper_texts == [["French, paper", "-", "96.8 %", "49.5 %"]]
    assert set(OF_PAPER) == {"en", "de", "fr", "es", "it"}


def comparison(**given: str) -> list[Planned]:
    return planned({"web": "sample", **given}, {}, Path("runs/x"))


def test_a_comparison_has_the_time_of_all_its_crawls() -> None:
    earlier, later = ([(start, start + 9.0, "pages")] for start in (60.0, 3600.0))
    of = {}
    for name, sessions in (("bfs", later), ("svm", earlier), ("soft", [])):
        with closing(make_run(None, [Row()], sessions=sessions)) as run:
            of[name] = summarise(run)
    page = comparison_report({"de": of}, {}).html()
    assert "From <time>1970-01-01T00:01:00Z</time> to <time>1970-01-01T01:00:09Z</time>" in page
    del of["bfs"], of["svm"]
    assert "<time>" not in comparison_report({"de": of}, {}).html()


def test_a_comparison_has_every_language_with_every_strategy() -> None:
    made = comparison(lang="de,French,de", strategies="random, bfs", filter="hard")
    assert [(lang, strategy, str(folder)) for lang, strategy, folder, _ in made] == [
        ("de", "random", "runs/x/de-random"),
        ("de", "bfs", "runs/x/de-bfs"),
        ("fr", "random", "runs/x/fr-random"),
        ("fr", "bfs", "runs/x/fr-bfs"),
    ]
    both = comparison(lang="de", strategies="random,focus", filters="none,server")
    named = [(str(crawl.folder), crawl.arguments["filter"]) for crawl in both]
    assert named[::3] == [("runs/x/de-random", "none"), ("runs/x/de-focus-server", "server")]
    assert [crawl.strategy for crawl in both[1:3]] == ["random server", "focus"]
    line = command(made[1].arguments, {}, made[1].folder)
    assert line[1:5] == ["-P", "-m", "langfocus", "crawl"]
    assert {"pages=1000", "strategy=bfs", "JOBDIR=runs/x/de-bfs", "web=sample"} <= set(line)


def test_the_paper_sets_the_defaults() -> None:
    made = comparison(lang="de")
    assert [crawl.strategy for crawl in made] == ["random", "cctld", "svm", "focus"]
    of_paper = {"pages": "1000", "filter": "none", "host_cap": "10", "host_queue": "10"}
    of_paper |= {"least_yield": "0", "versions": "all"}
    of_crawl = {"web": "sample", "lang": "de", "strategy": "random"}
    assert made[0].arguments == of_crawl | of_paper
    other = comparison(lang="de", filter="hard", host_cap="4")[0].arguments
    assert other == of_crawl | of_paper | {"filter": "hard", "host_cap": "4", "host_queue": "4"}
    other = comparison(lang="de", host_queue="50")[0].arguments
    assert other == of_crawl | of_paper | {"host_queue": "50"}


@pytest.mark.parametrize(
    ("cap", "queue", "rule", "said"),
    [
        ("10", "10", "none", "Cap: 10 URLs of a host, the first found (Baykan 2013, 5.2)."),
        ("10", "200", "none", "Cap: 10 URLs of a host, chosen among 200."),
        ("10", "0", "none", "Cap: 10 URLs of a host, chosen among any number."),
        ("0", "0", "none", "Cap: none. Filter: none."),
        ("0", "0", "server", "Filter: server with T = 5."),
    ],
)
def test_the_runs_are_shown_with_their_cap_and_their_filter(
    cap: str, queue: str, rule: str, said: str
) -> None:
    made = make_run(None, [Row()], host_cap=cap, host_queue=queue, filter=rule, tolerance="5")
    with closing(made) as run:
        (note,) = tables({"de": {"svm": summarise(run)}})[-1].notes
    assert said in note


def forked(command: Sequence[str]) -> End:
    """Run a crawl of a comparison without the imports of Python."""
    assert command[:3] == [sys.executable, "-P", "-m"]
    done = processes.run(*command[3:], environment=os.environ, folder=Path.cwd())
    return End(done.returncode, "")


@pytest.fixture
def _fast_crawls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langfocus.crawler.commands.child.run_child", forked)


def compare(*arguments: object) -> int:
    return call("compare", "-a", "web=sample", "-s", "LANGFOCUS_READERS=0", *arguments)


@pytest.mark.usefixtures("_fast_crawls")
def test_strategies_are_compared_on_the_sample_web(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs"
    code = compare("-a", "lang=de", "-a", "pages=60", "-s", f"JOBDIR={folder}")
    printed = capsys.readouterr()
    assert code == 0, printed.err
    for part in ("Table XVII)", "Table XVIII)", "Table XIX)", "Fig. 7)", "German, paper"):
        assert part in printed.out
    assert printed.out.isascii()
    assert max(map(len, printed.out.replace(str(folder), "").splitlines())) <= 80
    figures = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    assert figures["is_complete"] is True
    assert [run["pages"] for run in figures["runs"]] == [60] * 4
    rates = {run["strategy"]: run["harvest_rate"] for run in figures["runs"]}
    spent = {run["strategy"]: run["effort"] for run in figures["runs"]}
    assert spent["svm"]["reachable"] == spent["random"]["reachable"] >= 60 * rates["svm"]
    assert 0 < spent["random"]["area"] < spent["svm"]["area"] < 1
    assert f"German: {spent['svm']['reachable']} relevant URLs" in printed.out
    assert "Cap: 10 URLs of a host, the first found (Baykan 2013, 5.2)." in printed.out
    assert rates["svm"] > rates["random"]
    page = (folder / "compare.html").read_text(encoding="utf-8")
    assert ("Fig. 7)" in page, "<svg" in page) == (True, False)  # one point is no line
    assert (folder / "de-svm" / "report.html").exists()


def test_an_interrupted_comparison_goes_on_with_the_same_command(tmp_path: Path) -> None:
    line = [
        *("langfocus", "compare", "-a", "web=sample"),
        *("-a", "lang=de", "-a", "strategies=random", "-a", "pages=200"),
        *("-s", f"JOBDIR={tmp_path}", "-s", "LOGSTATS_INTERVAL=0.02"),
        *("-s", "LANGFOCUS_READERS=0"),
    ]
    with processes.started(*line, environment=os.environ, has_one_output=True) as first:
        processes.wait_until(lambda: " pages  harvest" in first.said(), first)
        first.send_signal(signal.SIGINT)
        said, _ = first.communicate()
    assert first.returncode == 130
    assert "interrupted during de random" in said
    assert f"JOBDIR={tmp_path} continues" in said
    assert 0 < summarise(tmp_path / "de-random").pages < 200
    second = processes.run(*line, environment=os.environ)
    assert second.returncode == 0
    resumed = summarise(tmp_path / "de-random")
    assert (resumed.pages, resumed.sessions) == (200, 2)


@pytest.mark.usefixtures("_fast_crawls")
def test_a_crawl_that_fails_ends_the_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "de-random", [], strategy="random", filter="hard").close()
    arguments = ("-a", "lang=de", "-a", "strategies=soft,random,bfs", "-a", "pages=20")
    assert compare(*arguments, "-s", f"JOBDIR={tmp_path}") == 1
    printed = capsys.readouterr()
    assert "the crawl de random failed: exit code 1; the same" in printed.err
    assert "de soft" in printed.out
    assert not (tmp_path / "de-bfs").exists()
    figures = json.loads((tmp_path / "compare.json").read_text(encoding="utf-8"))
    assert figures["is_complete"] is False
    assert [Path(run["folder"]).name for run in figures["runs"]] == ["de-soft"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("strategies=random", "-a lang is missing"),
        ("lang=klingonisch", "klingonisch"),
        ("lang=de strategies=random,best", "best"),
        ("lang=de strategies=,", "strategies"),
        ("lang=de strategy=svm", "strategies="),
        ("lang=de filter=hard filters=hard,none", "exclude each other"),
        ("lang=de pages=many", "many"),
        ("lang=de colour=red", "colour"),
        ("lang=vo strategies=bfs,svm", "the crawl with svm: the URL model does not know 'vo'"),
        ("lang=de strategies=svm,bfs expected=only", "the crawl with bfs: -a expected=only: "),
        ("lang", "-a takes NAME=VALUE"),
    ],
)
def test_an_argument_that_one_of_the_crawls_cannot_use_is_one_line_and_no_crawl(
    arguments: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new"
    given = [word for argument in arguments.split() for word in ("-a", argument)]
    assert compare(*given, "-s", f"JOBDIR={folder}") == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("langfocus: ")
    assert said in printed.err
    assert not folder.exists()
