"""A few of the webs of `benchmarks.host_cap`, crawled: no host gets more than its cap."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.capweb import cases
from benchmarks.host_cap import crawl, worst

CHOSEN = ("f-404", "f-dropped", "home", "chain", "utm", "scheme", "cookies", "ordinary", "crowd")
NO_REDIS = pytest.mark.skipif(
    shutil.which("redis-server") is None, reason="there is no redis-server to start"
)


@pytest.mark.parametrize(
    "setting", ["focus-kills", "random", pytest.param("svm-redis-kills", marks=NO_REDIS)]
)
def test_no_host_gets_more_requests_than_its_cap(setting: str, tmp_path: Path) -> None:
    known = cases()
    served = [replace(known[name], latency_s=0.01) for name in CHOSEN]
    crawled = crawl(served, setting, tmp_path, kills=2)
    assert len(crawled.killed_at) == (2 if "kills" in setting else 0)
    assert set(crawled.reasons) == {"finished"}
    found = worst(served, crawled)
    faults = {case.name: found[case.name].faults(case.least) for case in served}
    assert {name: of_case for name, of_case in faults.items() if of_case} == {}
