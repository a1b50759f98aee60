"""Coverage from the pages that crawls share: right for independent samples, a bound for crawls."""

import json
from pathlib import Path

import numpy as np
import pytest

from crawler.report.recapture import recapture
from crawler.simulate.engine import Simulation, simulate
from crawler.simulate.generate import generate
from crawler.simulate.measures import WebMeasures
from crawler.strategies.filters import make_filter
from tests.support.commandline import call
from tests.support.report_run import Row, make_run


def test_chapman_is_computed_as_published() -> None:
    found = recapture([np.arange(100), np.arange(60, 140)])
    assert (found.found, found.together, found.shared) == ((100, 80), 140, 40)
    assert found.population == pytest.approx(101 * 81 / 41 - 1)
    assert found.low is not None
    assert found.high is not None
    assert 140 < found.low < 198.5 < found.high


def test_a_sample_counts_a_member_once() -> None:
    twice = np.repeat(np.arange(100), 2)
    assert recapture([twice, np.arange(60, 140)]) == recapture([np.arange(100), np.arange(60, 140)])


@pytest.mark.parametrize("samples", [2, 4])
def test_the_interval_holds_the_population_if_samples_are_independent(samples: int) -> None:
    chance, population = np.random.default_rng(1), 3_000
    held = means = 0.0
    for _ in range(300):
        drawn = [np.flatnonzero(chance.random(population) < 0.2) for _ in range(samples)]
        found = recapture(drawn)
        assert found.low is not None
        assert found.high is not None
        assert found.population is not None
        held += found.low <= population <= found.high
        means += found.population / 300
    assert 0.91 <= held / 300 <= 0.99
    assert means == pytest.approx(population, rel=0.02)


def test_crawls_share_more_than_chance_so_their_coverage_is_an_upper_bound() -> None:
    web = generate(WebMeasures().scaled(0.003), random_state=2)
    relevant = web.relevant()
    seeds = np.random.default_rng(0).choice(np.flatnonzero(relevant), (2, 3), replace=False)
    crawls = [
        simulate(
            web, Simulation(make_filter("hard"), "soft", seeds=of.astype(np.int32), limit=4_000)
        )
        for of in seeds
    ]
    found = recapture([course.order[relevant[course.order]].astype(np.int64) for course in crawls])
    assert found.population is not None
    assert found.together < found.population < relevant.sum()
    coverage = found.coverage(found.found[0])
    assert coverage is not None
    assert coverage[0] > found.found[0] / relevant.sum()


def test_samples_that_share_nothing_tell_nothing() -> None:
    found = recapture([np.arange(5), np.arange(5, 9)])
    assert found.population is None
    assert found.coverage(5) is None


def run_of(folder: Path, pages: range, lang: str = "de") -> Path:
    rows = [Row(url=f"http://h{n % 7}.de/{n}", host=f"h{n % 7}.de", language=lang) for n in pages]
    connection = make_run(folder, rows, lang=lang)
    # Fingerprints that two runs have in common for the pages that they share.
    connection.execute("UPDATE pages SET fingerprint = -CAST(substr(url, 14) AS INTEGER) - 1")
    connection.commit()
    connection.close()
    return folder


def test_the_coverage_of_runs_is_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = run_of(tmp_path / "one", range(100)), run_of(tmp_path / "two", range(60, 140))
    assert call("coverage", one, two, "--json", tmp_path / "c.json") == 0
    found = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert found["pages"]["found"] == [100, 80]
    assert found["pages"]["shared"] == 40
    assert found["pages"]["coverage"][0][0] == pytest.approx(100 / 198.5, rel=0.01)
    assert found["hosts"]["population"] == 7
    printed = capsys.readouterr().out
    assert "a coverage is mostly too high" in " ".join(printed.split())
    assert printed.isascii()


def test_runs_that_cannot_be_compared_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, french = run_of(tmp_path / "one", range(9)), run_of(tmp_path / "fr", range(9), "fr")
    for args, code, message in (
        ((one,), 2, "name two runs or more"),
        ((one, one), 2, "named twice"),
        ((one, french), 2, "a crawl for fr, not for de"),
        ((one, tmp_path), 1, "is not the folder of a run"),
    ):
        assert call("coverage", *args) == code
        assert message in capsys.readouterr().err
