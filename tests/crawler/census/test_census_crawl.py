"""A census that was interrupted, or split over two machines and merged, equals one in one go."""

import json
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.servers.loopback import loopback
from benchmarks.servers.processes import HANG_S
from langfocus.classifiers.geoip import country_lookup
from langfocus.classifiers.pages.methods import method
from langfocus.crawler.census.figures import CensusFigures, census_figures
from langfocus.crawler.census.report import census_report
from langfocus.crawler.shared.merging import merge
from tests.support.crawls import crawl, rows, started, summary, wait_for
from tests.support.geodatabase import database
from tests.support.portalweb import PortalWeb

ROWS = (
    "SELECT url, outcome, status, language, method, charset, address, country, parent"
    " FROM pages ORDER BY url"
)


def figures(paths: Sequence[Path], web: PortalWeb, countries: Path) -> CensusFigures:
    """The figures of runs, to which the addresses are given that a proxy hides."""
    for path in paths:
        with closing(sqlite3.connect(path / "run.db")) as connection, connection:
            pairs = [(address, host) for host, address in web.addresses().items()]
            connection.executemany("UPDATE pages SET address = ? WHERE host = ?", pairs)
    return census_figures(paths, method, country_lookup(countries))


def counted(of: CensusFigures) -> dict[str, Any]:
    """The figures without the names of their sources."""
    return {**census_report(of).figures, "sources": None}


def test_a_census_that_was_killed_or_split_equals_one_in_one_go(tmp_path: Path) -> None:
    web, hosts = PortalWeb(40), tmp_path / "hosts.txt"
    hosts.write_text("# a list\n" + "\n".join([*web.lines(), "host3.example", "no host"]))
    countries = tmp_path / "geo.mmdb"
    countries.write_bytes(database({"81.2.69.0/24": "GB", "89.160.20.0/24": "SE"}))
    whole, killed, first, second = (tmp_path / name for name in ("a", "b", "c", "d"))
    settings: dict[str, Any] = {
        "DOWNLOAD_DELAY": 0.01,
        "RETRY_TIMES": 0,
    }
    with loopback(web) as proxy:
        done = crawl(f"hosts={hosts}", proxy=proxy.url, JOBDIR=whole, **settings)
        assert done.returncode == 0, done.stderr
        fetched = [access.url for access in proxy.log]
    with loopback(web, answers=30) as proxy:
        with started(f"hosts={hosts}", proxy=proxy.url, JOBDIR=killed, **settings) as process:
            wait_for(proxy, 30, process)
            process.send_signal(signal.SIGKILL)
            assert process.wait(HANG_S) == -signal.SIGKILL
        proxy.answers = None
        done = crawl(f"hosts={hosts}", proxy=proxy.url, JOBDIR=killed, **settings)
        assert done.returncode == 0, done.stderr
        lines = hosts.read_text().splitlines(keepends=True)
        for folder, part in ((first, lines[:17]), (second, lines[17:])):
            own = tmp_path / f"hosts-{folder.name}.txt"
            own.write_text("".join(part))
            done = crawl(f"hosts={own}", proxy=proxy.url, JOBDIR=folder, **settings)
            assert done.returncode == 0, done.stderr
    assert not [url for url in fetched if url.endswith(("/inner", "/other"))]
    assert summary(whole)["outcomes"] == {
        "page": 28,
        "redirect": 8,
        "robots": 4,
        "robots_unreachable": 4,
    }
    merged = tmp_path / "merged"
    merge(merged, [second, first])
    for folder in (killed, merged):
        assert rows(folder, ROWS) == rows(whole, ROWS)
    one = figures([whole], web, countries)
    expected = counted(one)
    assert one.pages == "portals"
    assert (one.hosts, one.all_servers, one.all_pages) == (40, 36, 24)
    assert one.servers == {"GB": 10, "SE": 8, "unknown": 18}
    for paths in ([killed], [merged], [first, second]):
        assert counted(figures(paths, web, countries)) == expected
    assert sum(json.loads((whole / "census.json").read_text())["languages"].values()) == 24
    assert "24 portal pages" in (whole / "census.html").read_text()
