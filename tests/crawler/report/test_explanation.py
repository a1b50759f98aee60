"""`langfocus report --explain`: the reasons for the place of one URL in a crawl."""

import re
from contextlib import closing
from math import exp
from pathlib import Path

import pytest

from crawler.errors import RunFolderError
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.report.crawl import explain
from crawler.run import connect, open_run
from crawler.strategies.focus.belief import Prior
from crawler.url import fingerprint
from tests.crawler.frontier.test_learning_contract import (
    FOCUS,
    LEARNS,
    link,
    settled,
)
from tests.support.commandline import call
from tests.support.report_run import Row, make_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with three pages of a.de, of which two are German, and two queued URLs."""
    folder = tmp_path / "run"
    # Closed here: a connection that is closed later, when memory is collected, changes the file.
    with closing(open_run(folder, FOCUS | {"host_cap": 10}, 0.0).connection) as connection:
        rules = FrontierRules(**LEARNS | {"prior": Prior.shipped()})
        frontier = SqliteFrontier(connection, rules, now=0.0)
        frontier.seed([link("a.de/x/1", 7.0)], 0.0)
        settled(frontier, "de", link("a.de/x/2", 6.0), link("b.com/", -5.0))
        settled(frontier, "en", link("sub.a.de/x/3", 6.0, declared=1.0))
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


def test_it_is_printed_and_nothing_is_written(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("report", run, "--explain", "http://a.de/x/2") == 0
    printed = capsys.readouterr().out
    assert "settled as URL 2 of 3" in printed
    assert "page, English (en)" in printed
    assert "because the weights are uncertain" in printed
    assert not (run / "report.html").exists()


@pytest.mark.parametrize("url", ["http://nowhere.de/", "no URL\n", ""])
def test_an_unknown_url_is_one_line_and_exit_code_1(
    run: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("report", run, "--explain", url) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "is no URL that this run fetched" in printed.err


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
