"""Several crawls beside one another: what became of pages, languages and hosts."""

import json
from pathlib import Path
from typing import Any

import pytest

from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.report.series import series_report, state
from tests.support.commandline import call
from tests.support.report_run import Row, make_run

PAGE, OTHER = ("page", "aa", 200), ("page", "bb", 200)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (None, PAGE, "new"),
        (("error", None, None), PAGE, "new"),
        (PAGE, PAGE, "stayed"),
        (PAGE, OTHER, "changed"),
        (PAGE, ("page", None, 200), "stayed"),
        (PAGE, ("unchanged", "bb", 304), "stayed"),
        (("unchanged", "aa", 304), OTHER, "changed"),
        (PAGE, None, "not_asked"),
        (PAGE, ("error", None, 404), "vanished"),
        (PAGE, ("redirect", None, 301), "moved"),
        (PAGE, ("error", None, None), "failed"),
        (None, ("error", None, 404), ""),
        (("redirect", None, 301), None, ""),
    ],
)
def test_a_page_of_two_runs_has_one_state(before: Any, now: Any, expected: str) -> None:
    assert state(before, now) == expected


def month(folder: Path, pages: dict[int, str], *rows: Row, **meta: Any) -> Path:
    """A run with rows whose places are their fingerprints, and the digests of its pages."""
    with make_run(folder, rows, **meta) as run:
        found = run.execute("SELECT fingerprint, id FROM pages WHERE outcome = 'page'")
        values = [(page, pages.get(place, "aa")) for place, page in found.fetchall()]
        run.executemany("INSERT INTO visits VALUES (?, NULL, NULL, ?, 0, 0, 0)", values)
    return folder


@pytest.fixture
def months(tmp_path: Path) -> list[Path]:
    """Two crawls that share the host a.de; of its four pages one is gone and one has changed."""
    old = [Row(f"http://a.de/{n}", "a.de") for n in range(4)] + [Row("http://b.de/", "b.de")]
    new = [Row(f"http://a.de/{n}", "a.de") for n in range(3)]
    gone = Row("http://a.de/3", "a.de", status=404, outcome="error", language=None)
    failed = Row("http://b.de/", "b.de", status=None, outcome="error", language=None)
    more = Row("http://c.de/", "c.de", language="fr")
    return [
        month(tmp_path / "october", {}, *old),
        month(tmp_path / "november", {1: "bb"}, *new, gone, failed, more),
    ]


def test_runs_are_compared_each_with_the_one_before(
    months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = tmp_path / "x.html", tmp_path / "x.json"
    assert (
        call("report", *months, months[1] / "run.db", "--html", files[0], "--json", files[1]) == 0
    )
    first, second, third = json.loads(files[1].read_text())["runs"]
    assert first["since_the_run_before"] is None
    assert second["since_the_run_before"] == {
        **{
            "new": 1,
            "stayed": 2,
            "changed": 1,
            "vanished": 1,
            "moved": 0,
            "failed": 1,
            "not_asked": 0,
        },
        "hosts": {"new": 1, "gone": 1, "largest": [["b.de", 1, 0], ["a.de", 4, 3]]},
    }
    assert third["since_the_run_before"]["stayed"] == 4
    printed = capsys.readouterr().out
    assert "Pages since the crawl before" in printed
    assert "French" in printed
    assert "november has 3 relevant pages" in files[0].read_text()


def test_a_page_that_was_not_fetched_again_is_no_loss(tmp_path: Path) -> None:
    rows = [Row(f"http://a.de/{n}", "a.de") for n in range(3)]
    months = [month(tmp_path / str(n), {}, *rows[: 3 - n]) for n in range(2)]
    (_, later) = series_report(months).figures["runs"]
    assert later["since_the_run_before"]["not_asked"] == 1
    assert later["since_the_run_before"]["vanished"] == 0


def test_a_census_and_a_folder_without_a_run_are_refused(
    months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    month(tmp_path / "census", {}, hosts="x.txt")
    with pytest.raises(RunFolderError, match="has a census"):
        series_report([months[0], tmp_path / "census"])
    calls: list[tuple[list[Path | str], str]] = [
        ([*months, tmp_path / "none"], "not the folder of a run"),
        ([*months, "--watch"], "are for one crawl"),
        ([months[0], "--json", tmp_path / "x"], "are for several crawls"),
    ]
    for arguments, message in calls:
        assert call("report", *arguments) in (1, 2)
        assert message in capsys.readouterr().err
