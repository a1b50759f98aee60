"""A crawl that is stopped goes on with the same command and ends where it would have ended."""

import json
import re
import signal
from pathlib import Path
from random import Random

import pytest
from scrapy.core.engine import ExecutionEngine
from scrapy.settings import BaseSettings

from benchmarks.servers import processes
from benchmarks.servers.hostileserver import PAGE, Exchange, answer, hostile_web, sends, silence
from benchmarks.servers.loopback import loopback
from benchmarks.servers.processes import HANG_S, wait_until
from langfocus.crawler.report.live import read_live
from tests.support.crawls import (
    command,
    crawl,
    environment,
    finished,
    rows,
    smallest_gap,
    started,
    summary,
    wait_for,
)
from tests.support.smallweb import SmallWeb

DELAY_S = 0.05
READERS = {"LANGFOCUS_READERS": None}
"""As many processes read pages as by default, and end with the crawl."""
ROWS = "SELECT url, outcome, language, status FROM pages ORDER BY url"
FIGURES = ("pages", "labelled", "relevant", "harvest_rate", "unlabelled", "hosts", "languages")


class NoHeartbeat:
    """An add-on of Scrapy (setting `ADDONS`): the engine does not ask its scheduler every 5 s."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy before the engine is made."""
        ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 1e6


def arguments(web: SmallWeb, *more: str) -> list[str]:
    return ["lang=de", "strategy=bfs", "filter=none", "host_cap=0", f"seeds={web.url(0)}", *more]


def test_kills_lose_nothing_and_change_no_figure(tmp_path: Path) -> None:
    web = SmallWeb(pages=160)
    with loopback(web) as proxy:
        finished(*arguments(web), proxy=proxy.url, JOBDIR=tmp_path / "calm", DOWNLOAD_DELAY=DELAY_S)
    random = Random(5)
    # Each kill may interrupt the same URL, which counts as a try.
    settings = {
        "JOBDIR": tmp_path / "killed",
        "DOWNLOAD_DELAY": DELAY_S,
        "RETRY_TIMES": 4,
        **READERS,
    }
    with loopback(web) as proxy:
        for _ in range(4):
            proxy.answers = len(proxy.log) + random.randrange(5, 35)
            with started(*arguments(web), proxy=proxy.url, **settings) as process:
                wait_for(proxy, proxy.answers, process)
                process.send_signal(signal.SIGKILL)
                assert process.wait(HANG_S) == -signal.SIGKILL
        proxy.answers = None
        finished(*arguments(web), proxy=proxy.url, **settings)
        assert smallest_gap(proxy) >= DELAY_S
    calm, killed = summary(tmp_path / "calm"), summary(tmp_path / "killed")
    assert calm["pages"] == 160
    assert {name: killed[name] for name in FIGURES} == {name: calm[name] for name in FIGURES}
    assert rows(tmp_path / "killed", ROWS) == rows(tmp_path / "calm", ROWS)
    assert rows(tmp_path / "killed", "SELECT COUNT(*) FROM sessions") == [(5,)]


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGHUP], ids=["ctrl-c", "hangup"])
def test_a_signal_ends_a_crawl_with_its_report_and_the_same_command_goes_on(
    asked: signal.Signals, tmp_path: Path
) -> None:
    web = SmallWeb(pages=60)
    settings = {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": DELAY_S, **READERS}
    with loopback(web, answers=25) as proxy:
        with started(*arguments(web), proxy=proxy.url, **settings) as process:
            wait_for(proxy, 25, process)
            process.send_signal(asked)
            proxy.answers = None
            output, _ = process.communicate(timeout=HANG_S)
            assert process.returncode == 130
            assert f"stopped; the same command with -s JOBDIR={tmp_path} continues" in output
        first = summary(tmp_path)
        assert first["finish_reason"] == "shutdown"
        assert 0 < first["pages"] < 60
        live = read_live(tmp_path)
        assert (live.state, live.reason, live.pages) == ("finished", "shutdown", first["pages"])
        finished(*arguments(web), proxy=proxy.url, **settings)
    assert summary(tmp_path)["pages"] == 60
    assert summary(tmp_path)["finish_reason"] == "finished"
    last = read_live(tmp_path)
    assert (last.state, last.reason, last.pages) == ("finished", "finished", 60)
    assert (last.outcomes, last.in_flight) == (summary(tmp_path)["outcomes"], 0)
    assert sum(labelled for _, labelled in last.course) == last.labelled
    assert 'href="report.html"' in (tmp_path / "live.html").read_text()
    fetched = [access.url for access in proxy.log]
    assert len(fetched) == len(set(fetched))


def test_a_second_ctrl_c_names_the_way_to_a_report_and_to_the_rest(tmp_path: Path) -> None:
    run, log = tmp_path / "run", tmp_path / "log"
    settings = {"JOBDIR": run, "LOG_FILE": log, "LOG_LEVEL": "INFO", "DOWNLOAD_DELAY": 0.01}
    hosts = {"ok.de": sends(answer(PAGE)), "silent.de": silence}
    given = ("lang=de", "strategy=bfs", "seeds=http://ok.de/,http://silent.de/")
    with hostile_web(hosts) as proxy, started(*given, proxy=proxy.url, **settings) as process:
        wait_until(lambda: ("silent.de", "") in proxy.log, process)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "shutting down" in log.read_text(), process)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=HANG_S)
    assert process.returncode == 130
    assert output == (
        f"langfocus: stopped at once: its report is old or missing, langfocus report {run} writes "
        f"it; the same command with -s JOBDIR={run} continues\n"
    )
    assert not (run / "report.html").exists()
    done = processes.run("langfocus", "report", str(run), environment=environment(None))
    assert done.returncode == 0, done.stderr
    assert (run / "report.html").exists()


def test_a_request_is_sent_when_its_slot_is_on_the_disk(tmp_path: Path) -> None:
    slots = []

    async def looks(exchange: Exchange) -> None:
        slots.extend(
            rows(tmp_path, "SELECT u.sent, h.sent FROM urls u JOIN hosts h ON h.id = u.host")
        )
        await exchange.send(answer(PAGE))

    with hostile_web({"a.de": looks}) as proxy:
        finished("lang=de", "seeds=http://a.de/", proxy=proxy.url, JOBDIR=tmp_path)
    assert set(slots) == {(1, 1)}


def test_a_page_budget_is_exact_and_may_grow(tmp_path: Path) -> None:
    web, settings = SmallWeb(pages=120), {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": 0}
    with loopback(web) as proxy:
        for budget in (37, 37, 90):
            finished(*arguments(web, f"pages={budget}"), proxy=proxy.url, **settings)
            assert summary(tmp_path)["pages"] == budget
            assert summary(tmp_path)["finish_reason"] == "pages"
            pages = [access for access in proxy.log if "/page/" in access.url]
            assert len(pages) == budget


def test_the_engine_is_woken_when_a_host_has_rested(tmp_path: Path) -> None:
    """Without Scrapy's own heartbeat a crawl that sleeps too long would never end."""
    web, addons = SmallWeb(pages=8), json.dumps({f"{__name__}.NoHeartbeat": 0})
    settings = {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": 0.2, "ADDONS": addons}
    with loopback(web) as proxy:
        finished(*arguments(web), proxy=proxy.url, **settings)
        assert len(proxy.log) == 10  # with robots.txt and tdmrep.json
        assert smallest_gap(proxy) >= 0.2


def test_a_second_process_is_kept_out_of_a_run(tmp_path: Path) -> None:
    web = SmallWeb(pages=60)
    settings = {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": DELAY_S}
    with (
        loopback(web, answers=5) as proxy,
        started(*arguments(web), proxy=proxy.url, **settings) as process,
    ):
        wait_for(proxy, 5, process)
        second = crawl(*arguments(web), proxy=proxy.url, **settings)
        assert process.poll() is None
    assert second.returncode == 1
    assert second.stderr == f"langfocus: {tmp_path}: another process is crawling in it\n"


def test_a_full_disk_stops_the_crawl_and_what_was_written_is_whole(tmp_path: Path) -> None:
    web = SmallWeb(pages=120)
    settings = {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": 0}
    with loopback(web) as proxy:
        # No file of the process may grow beyond 200 blocks of a kilobyte, its log included.
        limited = ("bash", "-c", 'ulimit -f 200; exec "$@"', "-")
        line = command(*arguments(web), **settings)
        full = processes.run_alone(*limited, *line, environment=environment(proxy.url))
        assert full.returncode == 1
        *before, fault = full.stderr.splitlines()
        assert fault.startswith("langfocus: the run can no longer be written: ")
        assert fault.endswith(f"; the same command with -s JOBDIR={tmp_path} continues")
        assert not re.search("no longer|ERROR|Traceback", "".join(before)), full.stderr
        finished(*arguments(web), proxy=proxy.url, **settings)
    assert summary(tmp_path)["pages"] == 120
    assert not [*tmp_path.glob("run.db-*")]  # the log is emptied and removed at the end
