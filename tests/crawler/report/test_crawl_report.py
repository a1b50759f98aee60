"""The report of a crawl: its page without a network, harmless with any text; its tables."""

import json
import re
from contextlib import closing
from io import StringIO
from math import exp
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.report.crawl import explain, print_summary, write_report
from langfocus.crawler.report.details import drops, examples, seed_table, sites
from langfocus.crawler.report.harvest import Portion, summarise
from langfocus.crawler.run.folder import connect, open_run
from langfocus.crawler.strategies.focus.prior import Prior
from langfocus.crawler.url import fingerprint
from tests.crawler.frontier.test_learning_contract import LEARNS, link, settled
from tests.support.commandline import call
from tests.support.report_run import META, Row, make_run

HOSTILE = "http://x.de/\"><script>alert(1)</script>?a='b&lt;c\u202egpj.exe"


def mixed_rows(count: int) -> list[Row]:
    return [
        Row(
            host=f"h{number % 37}.de",
            language=("de", "de", "en", None)[number % 4],
            outcome="redirect" if number % 11 == 0 else "page",
            queued=number,
            fetched_at=1000.0 + number / 50,
        )
        for number in range(count)
    ]


@pytest.fixture
def report(tmp_path: Path) -> BeautifulSoup:
    make_run(tmp_path, mixed_rows(900), seeds=json.dumps([HOSTILE]), counts={"seen": 12}).close()
    write_report(tmp_path)
    return BeautifulSoup((tmp_path / "report.html").read_text(encoding="utf-8"), "html.parser")


def test_the_report_refers_to_nothing_outside_itself(report: BeautifulSoup) -> None:
    for element in report.find_all(True):
        for name, value in element.attrs.items():
            assert name.split(":")[-1] not in {"src", "href", "action", "srcset", "data"}, element
            assert not name.startswith("on"), element
            assert name == "content" or "://" not in str(value), element
    assert not report.find_all(["script", "link", "iframe", "img", "object", "base"])
    assert "url(http" not in str(report)
    assert "@import" not in str(report)


def figures_of(report: BeautifulSoup) -> dict[str, tuple[str, str]]:
    """Meaning and value of each figure that is no card."""
    rows = report.select('[aria-label="Figures"] tbody tr')
    texts = ([cell.get_text() for cell in row.select("td")] for row in rows)
    return {name: (meaning, value) for name, meaning, value in texts}


def test_the_figures_stand_in_the_report_and_a_hostile_seed_is_text(report: BeautifulSoup) -> None:
    cards = report.select("dl.figures div")
    figures = {card.dt.get_text(): card.dd.get_text() for card in cards if card.dt and card.dd}
    names = list(figures)
    assert names == ["harvest rate", "relevant (in German)", "pages"]
    assert figures["pages"] == "818"
    assert figures["harvest rate"] == "66.6 %"
    assert "95 % interval: 62.8 % to 70.2 %" in cards[0].get_text()
    assert figures_of(report)["of these by ngrams"] == ("", "614")
    meaning = "Pages whose language was identified."
    assert figures_of(report)["pages with a label"] == (meaning, "614")
    assert "Languages" in [heading.get_text() for heading in report.find_all("h2")]
    assert [bool(svg["aria-label"]) for svg in report.find_all("svg")] == [True] * 2
    seeds = report.select('[aria-label="Seeds (1)"] tbody td')
    assert [cell.get_text() for cell in seeds] == [HOSTILE.replace("\u202e", "?"), "not fetched"]


FOUND, DOUBTED = Row(), Row(language="en")
NOTHING_EXPECTED = "After page {} nothing expected in German was {}: {}."


@pytest.mark.parametrize(
    ("hoped", "doubted", "queued", "message"),
    [
        (
            [FOUND] * 218,
            [DOUBTED] * 1280,
            [],
            NOTHING_EXPECTED.format(218, "queued", "1,280 pages for nothing"),
        ),
        (
            [FOUND] * 10,
            [DOUBTED] * 30 + [FOUND] * 2,
            [0.0],
            NOTHING_EXPECTED.format(10, "queued", "32 pages, 2 of them in German"),
        ),
        (
            [FOUND] * 10,
            [DOUBTED] * 30,
            [1.5, -1.0],
            NOTHING_EXPECTED.format(10, "fetched", "30 pages for nothing"),
        ),
        (
            [FOUND] * 9 + [DOUBTED] * 30,
            [],
            [],
            "The last page in German was page 9: 30 for nothing; "
            "-a expected=only ends a crawl earlier.",
        ),
        (
            [FOUND] * 300 + ([DOUBTED] * 9 + [FOUND]) * 30,
            [],
            [],
            "The harvest rate fell from 100.0 % in the first 200 pages to 10.0 % in the last 200: "
            "200 pages after page 400 gave 20 in German.",
        ),
        ([FOUND] * 9 + [DOUBTED], [], [], "90.0 % of the pages with a label are in German."),
        ([DOUBTED] * 3, [], [], "No page in German was found."),
        (
            [Row(outcome="robots")],
            [],
            [],
            "No page was fetched: forbidden by robots.txt (1 URL). It ended at its goal of pages.",
        ),
    ],
)
def test_the_report_begins_with_what_happened(
    hoped: list[Row], doubted: list[Row], queued: list[float], message: str, tmp_path: Path
) -> None:
    with closing(make_run(tmp_path, hoped + doubted)) as run, run:
        run.execute("UPDATE pages SET depth = 1, score = 1 - (id > ?)", (len(hoped),))
        for number, score in enumerate(queued):
            run.execute(
                "INSERT INTO urls (fingerprint, url, host, depth, redirects, tries, queued, score)"
                " VALUES (?, 'u', 1, 1, 0, 0, 1, ?)",
                (number, score),
            )
    assert write_report(tmp_path).queued == len(queued)
    page = BeautifulSoup((tmp_path / "report.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select(".lead")[0].get_text().startswith(message)


def test_sites_seeds_drops_and_examples_stand_in_their_tables(tmp_path: Path) -> None:
    rows = [Row(host="a.x.de", url=f"http://a.x.de/{number}") for number in range(3)]
    rows += [Row(host="b.x.de", url="http://b.x.de/", language="en"), Row(host="b.x.de")]
    rows += [
        Row(host="y.com", language="fr", url="http://y.com/"),
        Row(outcome="dns", language=None),
    ]
    seeds = ["http://b.x.de/", "http://y.com/none", "http://z.de/"]
    counts = {"ignored_trap": 7, "stored": 9}
    with closing(make_run(tmp_path, rows, seeds=json.dumps(seeds), counts=counts)) as run, run:
        run.execute("UPDATE pages SET fingerprint = ? WHERE id = 4", (fingerprint(seeds[0]),))
        run.execute("UPDATE pages SET fingerprint = ? WHERE id = 7", (fingerprint(seeds[2]),))
        domains, hosts = sites(run, "de")
        assert domains.rows == [("x.de", 5, 4, 0.8, 1.0)]
        assert domains.notes == [
            "1 domains gave 1 pages and none in the language; most: y.com (1)."
        ]
        assert hosts.rows == [("a.x.de", 3, 3, 1.0, 0.75), ("b.x.de", 2, 1, 0.5, 0.25)]
        assert len(sites(run, "fr")) == 1
        fates = [fate for _, fate in seed_table(run, seeds).rows]
        assert fates == ["page in English", "not fetched", "dns, its host has no address"]
        assert len(seed_table(run, seeds * 30).rows) == 50
        shown = examples(run, "de")
        assert [language for language, _ in shown.rows] == [
            "German (de)",
            "English (en)",
            "French (fr)",
        ]
        assert shown.rows[1] == ("English (en)", "http://b.x.de/")
        dropped = drops({"page": 6, "dns": 1}, counts, {"too_large": 2, "fetched": 9}).rows
        assert [(row[0], row[-1]) for row in dropped] == [
            ("ignored_trap", 7),
            ("too_large", 2),
            ("dns", 1),
        ]


def test_the_report_begins_with_the_pages_that_need_a_browser(tmp_path: Path) -> None:
    shells = [Row(host=f"{name}.de", needs_browser=1) for name in "abbcccdddd"]
    make_run(tmp_path, [Row(), *shells]).close()
    summary = write_report(tmp_path)
    assert summary.needs_browser == 10
    assert [*summary.needs_browser_hosts.items()] == [
        ("d.de", 4),
        ("c.de", 3),
        ("b.de", 2),
        ("a.de", 1),
    ]
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    note = "10 pages need a browser to show text and links, which are missing; most: d.de (4)"
    assert 0 < text.index(note) < text.index("Harvest rate by number of pages")
    stream = StringIO()
    print_summary(summary, stream)
    assert "pages that need a browser" in stream.getvalue()


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("finished", "It ended because nothing was left to fetch."),
        ("expected", "It ended because nothing expected in the language was left to fetch."),
        ("least_yield", "It ended because nothing more was to be found: 1 of the last 1 downloads"),
        ("relevant", "It ended at its goal of relevant pages."),
        ("storage", "It ended: storage."),
        (None, "It runs, or was stopped: "),
    ],
)
def test_the_report_tells_why_a_crawl_ended_in_a_sentence(
    reason: str | None, expected: str, tmp_path: Path
) -> None:
    make_run(tmp_path, [Row()], sessions=[(1000.0, 1010.0, reason)]).close()
    write_report(tmp_path)
    page = BeautifulSoup((tmp_path / "report.html").read_text(encoding="utf-8"), "html.parser")
    assert f"1 page from 1 host in 10.0 s. {expected}" in page.select(".lead")[0].get_text()
    assert figures_of(page)["finish reason"][1] == (reason or "running or killed")


@pytest.mark.parametrize(
    ("labelled", "relevant", "ends"),
    [(0, 0, (None, None)), (10, 0, (0.0, 0.2775)), (200, 100, (0.4314, 0.5686))],
)
def test_the_interval_of_a_portion_is_that_of_wilson(
    labelled: int, relevant: int, ends: tuple[float | None, float | None]
) -> None:
    assert Portion(1, 1, labelled, relevant, 1).interval == pytest.approx(ends, abs=1e-4)


@pytest.mark.parametrize(
    ("ended_at", "message"), [(2010.0, "1970-01-01T00:33:30Z"), (None, "1970-01-01T00:33:25Z")]
)
def test_the_report_has_the_start_of_the_first_and_the_end_of_the_last_session(
    ended_at: float | None, message: str, tmp_path: Path
) -> None:
    sessions = [(1000.0, 1010.0, "shutdown"), (2000.0, ended_at, None)]
    make_run(tmp_path, [Row(), Row(fetched_at=2005.0)], sessions=sessions).close()
    write_report(tmp_path)
    figures = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert (figures["started_at"], figures["ended_at"]) == ("1970-01-01T00:16:40Z", message)
    page = BeautifulSoup((tmp_path / "report.html").read_text(encoding="utf-8"), "html.parser")
    assert [each.get_text() for each in page.find_all("time")] == ["1970-01-01T00:16:40Z", message]


def test_the_same_run_gives_the_same_report(tmp_path: Path) -> None:
    make_run(tmp_path, mixed_rows(300)).close()
    texts = []
    for _ in range(2):
        write_report(tmp_path)
        texts.append((tmp_path / "report.html").read_bytes())
    assert texts[0] == texts[1]
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == ["report.html", "run.db", "summary.json"]


@pytest.mark.parametrize("rows", [[], [Row(language=None)] * 3])
def test_a_run_without_pages_or_labels_has_a_report(rows: list[Row], tmp_path: Path) -> None:
    make_run(tmp_path, rows, sessions=[]).close()
    summary = write_report(tmp_path)
    assert (summary.pages, summary.harvest_rate, summary.harvest_last_200) == (
        len(rows),
        None,
        None,
    )
    assert (summary.seconds, summary.pages_per_second, summary.finish_reason) == (0.0, None, None)
    assert "harvest rate" in (tmp_path / "report.html").read_text(encoding="utf-8")


def printed(rows: list[Row], strategy: str = "svm", **meta: Any) -> str:
    stream = StringIO()
    with closing(make_run(None, rows, strategy=strategy, **meta)) as run:
        print_summary(summarise(run), stream)
    return stream.getvalue()


def cells(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_holds_the_figures_of_the_run() -> None:
    rows = [Row()] * 7 + [Row(language="en"), Row(language=None), Row(outcome="robots")]
    text = printed(rows)
    assert cells(text, "pages") == ["pages", "9"]
    assert cells(text, "pages without a label")[1] == "1"
    assert cells(text, "of these by ngrams")[1] == "8"
    assert cells(text, "harvest rate")[1] == "87.5 %"
    assert cells(text, "pages per second")[1] == "0.9"
    assert cells(text, "finish reason")[1] == "pages"
    assert cells(text, "English (en)")[1:] == ["1", "12.5 %"]
    assert cells(text, "robots")[1:] == ["1", "10.0 %"]
    last = " ".join(text.split("|\n+")[-1].split("\n", 1)[1].split())
    assert last.startswith("87.5 % of the pages with a label are in German. 9 pages from 1 host in")
    assert last.endswith("It ended at its goal of pages.")


def test_a_pipe_gets_narrow_plain_ascii() -> None:
    rows = [Row(language="nb"), Row(language="\x1b[31m" + "x" * 200)]
    text = printed(rows, strategy="\u2603", lang="zh")
    assert text.isascii()
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_an_empty_run_that_nobody_ended_says_so() -> None:
    text = printed([], sessions=[(1000.0, None, None)])
    assert cells(text, "finish reason")[1] == "running or killed"
    assert cells(text, "harvest rate")[1] == "-"
    assert "Languages" not in text


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with three pages of a.de, of which two are German, and two queued URLs."""
    folder = tmp_path / "run"
    # Closed here: a connection that is closed later, when memory is collected, changes the file.
    with closing(open_run(folder, META | {"ordering": "focus"}, 0.0).connection) as connection:
        rules = FrontierRules(**LEARNS | {"prior": Prior.shipped()})
        frontier = SqliteFrontier(connection, rules, now=0.0)
        frontier.seed([link("a.de/x/1", 7.0)], 0.0)
        settled(frontier, "de", link("a.de/x/2", 6.0), link("b.com/", -5.0))
        settled(frontier, "en", link("sub.a.de/x/3", 9.0, declared=1.0))
        settled(frontier, "de", link("c.com/", -7.0), link("a.de/x/4", -8.0))
    return folder


def test_a_page_has_its_place_its_result_and_its_parts(run: Path) -> None:
    (url, place, chance, *others), table = explain(run, "http://SUB.a.de/x/3")
    assert url == "http://sub.a.de/x/3"
    assert place == "settled as URL 3 of 3; 3 were queued"
    found = re.fullmatch(r"probability of German then: (\S+) \(log-odds (\S+)\)", chance)
    assert found is not None
    probability, score = map(float, found.groups())
    assert probability == pytest.approx(1 / (1 + exp(-score)), abs=0.005)
    assert others == [
        "first linked by http://a.de/x/2 (en), depth 2",
        "it turned out to be: page, German (de)",
    ]
    added = [float(str(log_odds)) for _, log_odds in table.rows]
    assert added == sorted(added, key=abs, reverse=True)
    assert len(added) == 16
    assert 0 < score < sum(added)


def test_it_is_printed_nothing_is_written_and_an_unknown_url_is_one_line(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("report", run, "--explain", "http://a.de/x/2") == 0
    printed = capsys.readouterr().out
    for part in (
        "settled as URL 2 of 3",
        "page, English (en)",
        "because the weights are uncertain",
    ):
        assert part in printed
    assert not (run / "report.html").exists()
    for url in ("http://nowhere.de/", "no URL\n", ""):
        assert call("report", run, "--explain", url) == 1
        output = capsys.readouterr()
        assert (output.out, output.err.count("\n")) == ("", 1)
        assert "is no URL that this run fetched" in output.err


def test_another_strategy_has_its_score_only_and_a_page_of_an_earlier_run_is_no_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(make_run(tmp_path, [Row(url="http://a.de/")])) as connection, connection:
        connection.execute("UPDATE pages SET fingerprint = ?", (fingerprint("http://a.de/"),))
        columns = "url, digest, looks, changes, first_at, seen_at"
        connection.execute(
            f"INSERT INTO earlier ({columns}) VALUES ('http://a.de/', 'x', 0, 0, 0.0, 0.0)"
        )
    assert call("report", tmp_path, "--explain", "http://a.de/") == 0
    printed = capsys.readouterr().out
    assert "score 0.5, by the ordering svm" in printed
    assert "a page of the earlier run (-a since)" in printed
    assert "seed" not in printed
    assert explain(tmp_path, "http://a.de/")[1].is_empty


def test_damaged_reasons_are_one_error(run: Path) -> None:
    with closing(connect(run / "run.db")) as connection, connection:
        connection.execute("UPDATE pages SET reasons = '1 2'")
    with pytest.raises(RunFolderError, match="are not 16 numbers"):
        explain(run, "http://a.de/x/2")
