"""A person's labels of a sample give the harvest rate with an interval that can be trusted."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from langfocus.crawler.corpus.item import safe_cell
from langfocus.crawler.report.labels import (
    Labelled,
    draw_sample,
    read_labels,
    relevant_share,
)
from tests.support.commandline import call
from tests.support.report_run import Row, make_run

TRUTH = ((8_700, 252), (10_800, 10_350))
"""The pages with another answer and with the language, and the relevant ones of each."""


def rows(number: int = 60) -> list[Row]:
    kinds = ("de", "de", "fr", None)
    return [
        Row(url=f"http://example.de/{n}", language=kinds[n % len(kinds)]) for n in range(number)
    ]


@pytest.mark.parametrize(("truth", "widest"), [(TRUTH, 0.05), (TRUTH[1:], 0.07)])
def test_the_interval_holds_the_true_share_in_95_of_100_samples(
    truth: Sequence[tuple[int, int]], widest: float
) -> None:
    chance = np.random.default_rng(5)
    pages, relevant = map(sum, zip(*truth, strict=True))
    held, widths = 0, []
    samples = 300
    for sample in range(samples):
        drawn = [
            Labelled(size, n, int(chance.hypergeometric(of, size - of, n)))
            for size, of in truth
            for n in [round(300 * size / pages)]
        ]
        found = relevant_share(drawn, sample, draws=1_000)
        assert found is not None
        held += found[1] <= relevant / pages <= found[2]
        widths.append(found[2] - found[1])
    assert 0.92 < held / samples <= 0.99
    assert 0.02 < np.mean(widths) < widest


def test_a_sample_with_every_page_leaves_no_doubt_and_one_without_labels_has_no_figure() -> None:
    every = [Labelled(size, size, of) for size, of in TRUTH]
    assert relevant_share(every, draws=100) == (10_602 / 19_500,) * 3
    assert relevant_share([*every, Labelled(10, 0, 0)], draws=100) is None
    assert relevant_share([], draws=100) is None


def test_pages_with_an_answer_are_drawn_alike_and_none_twice() -> None:
    connection = make_run(None, rows(80))
    times: dict[str, int] = {}
    firsts: set[bool] = set()
    for state in range(150):
        sample = draw_sample(connection, "de", 20, state)
        assert len(set(sample.pages)) == len(sample.pages)
        firsts.add(sample.pages[0][0] % 4 == 3)
        for page in sample.pages:
            times[page[1]] = times.get(page[1], 0) + 1
    assert firsts == {True, False}  # the place of a page does not tell its answer
    assert sample.of == 60
    assert sum(times.values()) == 150 * 20
    german = [times.get(row.url, 0) for row in rows(80) if row.language == "de"]
    assert min(german) > 0.4 * np.mean(german)
    assert max(german) < 1.8 * np.mean(german)


def labelled(path: Path, target: Path, label: str = "", delimiter: str = ",") -> Path:
    """The file of a sample with a label in each row, as a spreadsheet program writes it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        found = list(csv.reader(file))
    with target.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(found[0])
        for page, url, until, _ in found[1:]:
            is_german = int(page) % 4 in (1, 2)  # ids begin at 1
            writer.writerow((page, url, until, label or ("yes" if is_german else "no")))
    return target


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_labelled_sample_is_reported_with_its_interval(
    delimiter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, path = tmp_path / "run", tmp_path / "s.csv"
    make_run(run, rows()).close()
    assert call("report", run, "--sample", path, "--number", 30) == 0
    assert call("report", run, "--sample", path) == 2
    assert "exists already" in capsys.readouterr().err
    done = labelled(path, tmp_path / "done.csv", delimiter=delimiter)
    assert call("report", run, "--labels", done) == 0
    printed = capsys.readouterr().out
    table = printed[printed.index("Harvest rate with the identifier's errors") :]
    rows_shown = re.findall(
        r"\| (harvest rate|precision)[^|]*\|" + r" +([\d.]*)[ %]* \|" * 4, table
    )
    (_, by_identifier, by_labels, low, high), (_, _, right, *_) = rows_shown
    assert by_identifier == by_labels == "66.7"
    assert float(low) < 66.7 < float(high)
    assert right == "100.0"
    assert "by labels" in (run / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("label", "changed", "message"),
    [
        ("maybe", ("", ""), "done.csv:2: label 'maybe' is not yes, no or ?"),
        ("?", ("", ""), "no page has a label"),
        ("yes", ("label", "lable"), "has no column 'label'"),
        ("yes", ("http://example.de", "http://other.de"), "was drawn from another run"),
        ("yes", (",60,", ",x,"), "done.csv:2: invalid literal for int() with base 10: 'x'"),
        ("yes", ("\n2,", "\n1,"), "page 1 is there twice"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_in_one_line(
    label: str,
    changed: tuple[str, str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = tmp_path / "run"
    make_run(run, rows()).close()
    assert call("report", run, "--sample", tmp_path / "s.csv", "--number", 60) == 0
    done = labelled(tmp_path / "s.csv", tmp_path / "done.csv", label)
    done.write_text(done.read_text(encoding="utf-8-sig").replace(*changed), encoding="utf-8")
    capsys.readouterr()
    assert call("report", run, "--labels", done) in (1, 2)
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_label_is_yes_no_or_missing(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    rows = (f"{n},http://a.de/{n},9,{label}\n" for n, label in enumerate(("yes", "NO", "", "?")))
    path.write_text("page,url,sampled_until,label\n" + "".join(rows), encoding="utf-8-sig")
    found = [label.is_relevant for label in read_labels(path).values()]
    assert found == [True, False, None, None]


def test_no_cell_begins_like_a_formula() -> None:
    for text in ("=HYPERLINK(1)", "-1", "\n=1", "\uff1d1"):
        assert safe_cell(text) == f"'{text}"
    assert safe_cell("http://a.de/=1") == "http://a.de/=1"
