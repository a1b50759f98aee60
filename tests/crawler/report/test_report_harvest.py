"""The figures of a run against slow, obvious computations, and what happens at their edges."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.report.crawl import headline
from langfocus.crawler.report.harvest import Portion, curve, merged, summarise, write_summary
from tests.support.report_run import Row, Session, make_run

rows = st.lists(
    st.builds(
        Row,
        host=st.sampled_from(["a.de", "b.de", "c.at", "d.com"]),
        status=st.sampled_from([200, 404, 503, None]),
        outcome=st.sampled_from(["page", "page", "page", "redirect", "robots"]),
        language=st.sampled_from(["de", "de", "en", "fr", None]),
        method=st.sampled_from(["ngrams", "declared", None]),
        bytes=st.integers(0, 10_000),
        queued=st.integers(0, 99),
    ),
    max_size=700,
)


@settings(max_examples=40, deadline=None)
@given(rows)
def test_figures_are_those_of_the_obvious_computation(rows: list[Row]) -> None:
    with closing(make_run(None, rows)) as run:
        summary = summarise(run)
    pages = [row for row in rows if row.outcome == "page"]
    labels = [row.language for row in pages if row.language is not None]
    assert summary.pages == len(pages)
    assert summary.labelled == len(labels)
    assert summary.unlabelled == len(pages) - len(labels)
    assert summary.relevant == labels.count("de")
    assert summary.harvest_rate == (labels.count("de") / len(labels) if labels else None)
    per_host = Counter(row.host for row in pages)
    assert summary.hosts == len(per_host)
    answered = Counter(row.host for row in rows if row.status is not None)
    assert summary.max_urls_per_host == max(answered.values(), default=0)
    assert summary.bytes == sum(row.bytes for row in rows)
    assert summary.languages == Counter(labels)
    assert summary.outcomes == Counter(row.outcome for row in rows)
    assert summary.statuses == Counter(str(row.status) for row in pages if row.status)
    assert summary.methods == Counter(row.method for row in pages if row.language and row.method)
    all_labels = [row.language for row in pages]
    slices = [all_labels[start : start + 200] for start in range(0, len(pages), 200)]
    assert [part[1:4] for part in summary.harvest_by_200] == [
        (len(piece), len(piece) - piece.count(None), piece.count("de")) for piece in slices
    ]
    last = [label for label in all_labels[-200:] if label is not None]
    assert summary.harvest_last_200 == (last.count("de") / len(last) if last else None)


def test_copies_are_relevant_in_no_figure() -> None:
    with closing(make_run(None, [Row(), Row(is_copy=1), Row(is_copy=1)])) as run:
        summary, (course,) = summarise(run), curve(run, "de", points=1)
    assert (summary.relevant, summary.copies, summary.last_relevant) == (1, 2, 1)
    assert summary.harvest_rate == summary.harvest_last_200 == course.harvest_rate == 1 / 3
    assert summary.harvest_by_200[0].relevant == 1


@settings(max_examples=40, deadline=None)
@given(rows, st.integers(1, 50))
def test_curve_is_the_running_total_at_its_points(rows: list[Row], points: int) -> None:
    pages = [row for row in rows if row.outcome == "page"]
    with closing(make_run(None, rows)) as run:
        course = curve(run, "de", points=points)
    assert len(course) <= points
    assert (course[-1].pages if course else 0) == len(pages)
    for point in course:
        so_far = pages[: point.pages]
        assert point.labelled == sum(row.language is not None for row in so_far)
        assert point.relevant == sum(row.language == "de" for row in so_far)
        assert point.queued == so_far[-1].queued


@given(st.lists(st.builds(Portion, *[st.integers(0, 200)] * 5), max_size=60), st.integers(1, 20))
def test_merging_portions_loses_no_page(portions: list[Portion], at_most: int) -> None:
    result = merged(portions, at_most)
    assert len(result) <= at_most
    for name in ("pages", "labelled", "relevant"):
        assert sum(getattr(p, name) for p in result) == sum(getattr(p, name) for p in portions)


@pytest.mark.parametrize(
    ("sessions", "seconds", "reason"),
    [
        # A killed session ends at its last page; without a page it took no time.
        ([(1000.0, None, None), (2000.0, 2040.0, "pages")], 47.5, "pages"),
        ([(500.0, None, None), (2000.0, None, None)], 537.5, None),
    ],
)
def test_the_time_is_that_of_all_sessions(
    sessions: list[Session], seconds: float, reason: str | None
) -> None:
    rows = [Row(fetched_at=1003.0), Row(fetched_at=1007.5), Row(fetched_at=2030.0)]
    with closing(make_run(None, rows, sessions=sessions)) as run:
        summary = summarise(run)
    assert summary.seconds == seconds
    assert summary.pages_per_second == pytest.approx(3 / seconds)
    assert (summary.sessions, summary.finish_reason) == (2, reason)


def test_a_run_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    with closing(make_run(tmp_path, [Row()])) as run:
        run.execute("PRAGMA journal_mode = WAL")
        run.execute("UPDATE pages SET language = 'en'")
        assert summarise(tmp_path).relevant == 1
        run.commit()
        assert summarise(tmp_path).relevant == 0
        assert summarise(tmp_path) == summarise(tmp_path / "run.db") == summarise(str(tmp_path))


def test_the_summary_file_names_what_checks_rely_on(tmp_path: Path) -> None:
    rows = [Row(), Row(language=None), Row(language="en")]
    make_run(tmp_path, rows, tolerance="", host_cap="0").close()
    path = write_summary(summarise(tmp_path), tmp_path)
    figures = json.loads(path.read_text(encoding="utf-8"))
    counts = {"pages": 3, "labelled": 2, "relevant": 1, "harvest_rate": 0.5}
    run = {"lang": "de", "strategy": "svm", "filter": "none", "finish_reason": "pages"}
    more = {"unlabelled": 1, "hosts": 1, "seconds": 10.0, "harvest_by_200": [counts]}
    asked = {"tolerance": None, "host_cap": 0, "seeds": ["http://www.tagesschau.de/"]}
    assert (counts | run | more | asked).items() <= figures.items()
    assert figures["settings"]["directory_depth"] == "1"
    assert "seeds" not in figures["settings"]


def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, and long enough to look at")
    (tmp_path / "other").mkdir()
    with closing(sqlite3.connect(tmp_path / "other" / "run.db")) as other:
        other.execute("CREATE TABLE cats (name TEXT)")
    nameless = tmp_path / "nameless"
    with closing(make_run(nameless, [])) as run, run:
        run.execute("DELETE FROM meta")
    for path in (tmp_path, tmp_path / "absent", tmp_path / "text", tmp_path / "other", nameless):
        with pytest.raises(RunFolderError) as caught:
            summarise(path)
        assert "\n" not in str(caught.value)


def learnt_run(*scores: float) -> sqlite3.Connection:
    """A run with an English and two German pages that count; a seed, robots, no label do not."""
    rows = [Row(language="en"), Row(), Row(), Row()]
    rows += [Row(outcome="robots", language=None), Row(language=None)]
    run = make_run(None, rows, ordering="focus")
    run.execute("UPDATE pages SET reasons = '1', depth = id <> 4, score = 99")
    for page, score in enumerate(scores, 1):
        run.execute("UPDATE pages SET score = ? WHERE id = ?", (score, page))
    run.commit()
    return run


@pytest.mark.parametrize(
    ("scores", "brier", "error"),
    [
        ([log(0.3 / 0.7), log(0.92 / 0.08), log(0.96 / 0.04)], 0.0980 / 3, 0.14),
        # Errors within a bin cancel each other out, and an extreme score is a probability.
        ([0.0, 0.0, 1e5], 0.5 / 3, 0.0),
        ([-1e5, 1e5, 1e5], 0.0, 0.0),
        # A probability of 1 is in the last bin.
        ([1e5, log(0.04 / 0.96), 1e5], 1.9216 / 3, 1.96 / 3),
    ],
)
def test_the_errors_of_an_ordering_that_learns_are_those_of_labelled_pages_without_seeds(
    scores: list[float], brier: float, error: float
) -> None:
    with closing(learnt_run(*scores)) as run:
        summary = summarise(run)
        run.execute("UPDATE pages SET url = 'http://earlier.de/', score = 7 WHERE id = 4")
        run.execute("UPDATE pages SET depth = 1 WHERE id = 4")
        with_earlier = "INSERT INTO earlier (url, digest, looks, changes, first_at, seen_at)"
        run.execute(f"{with_earlier} VALUES ('http://earlier.de/', 'x', 0, 0, 0.0, 0.0)")
        assert summarise(run).brier == summary.brier
        run.execute("UPDATE pages SET reasons = NULL")
        other = summarise(run)
    assert summary.brier == pytest.approx(brier)
    assert summary.calibration_error == pytest.approx(error)
    assert dict(headline(summary))["Brier score of the probabilities"] == f"{brier:.4f}"
    assert (other.brier, other.calibration_error) == (None, None)
    assert "calibration error" not in dict(headline(other))


@pytest.mark.parametrize(
    ("points", "ends"), [(4, [3, 6, 9, 10]), (5, [2, 4, 6, 8, 10]), (99, list(range(1, 11)))]
)
def test_a_curve_has_at_most_so_many_points_and_ends_with_the_last_page(
    points: int, ends: list[int]
) -> None:
    with closing(make_run(None, [Row() for _ in range(10)])) as run:
        assert [portion.last for portion in curve(run, "de", points=points)] == ends
