"""`langfocus crawl --workers N`: one crawl, one run, and no process that outlives the command."""

import json
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.servers import processes
from benchmarks.servers.loopback import loopback
from benchmarks.servers.processes import children, wait_until
from langfocus.crawler.commands.base import pairs, parser_of, settings_of
from langfocus.crawler.errors import CrawlError
from langfocus.crawler.report.live import LIVE_JSON, read_live
from langfocus.crawler.shared.crew import Crew, OwnServer
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.spiders.scrapy_settings import config_of
from tests.support.commandline import call
from tests.support.crawls import ROOT, environment, rows, summary, wait_for
from tests.support.redisserver import RedisServer
from tests.support.smallweb import SmallWeb


@pytest.fixture(autouse=True)
def _has_redis(redis_server: RedisServer) -> None:
    """Skip these tests where there is no server to start."""


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_killed_command_leaves_no_process_and_the_same_command_ends_the_crawl_exactly(
    tmp_path: Path,
) -> None:
    run, web = tmp_path / "run", SmallWeb(pages=100)
    line = ["langfocus", "crawl", "--workers", "2", "-a", "lang=de", "-a", "strategy=bfs"]
    line += ["-a", "filter=none", "-a", "host_cap=0", "-a", f"seeds={web.url(0)}", "-a", "pages=60"]
    line += ["-s", f"JOBDIR={run}", "-s", "DOWNLOAD_DELAY=0.05", "-s", "LANGFOCUS_LEASE=2"]
    line += ["-s", "LANGFOCUS_CONTACT=a@example.org"]
    with loopback(web) as proxy:
        how: Any = {"environment": environment(proxy.url)}
        proxy.answers = 30
        with processes.started(*line, **how) as command:
            wait_for(proxy, 30, command)
            # Some pages are settled, however slowly they are read.
            wait_until(lambda: (run / LIVE_JSON).exists() and read_live(run).pages > 0, command)
            found = children(command.pid)
            found += [each for pid in found for each in children(pid)]
            assert len(found) >= 3
            again = processes.run(*line, **how)
            assert (again.returncode, "another process is crawling" in again.stderr) == (1, True)
            command.kill()
            wait_until(lambda: not any(map(is_alive, found)))
        proxy.answers, before = None, len(proxy.log)
        done = processes.run(*line, **how)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(f"report: {run / 'report.html'}\n")
        assert "Traceback" not in done.stderr
        assert summary(run)["pages"] == 60
        assert summary(run)["finish_reason"] == "pages"
        assert sum("/page/" in access.url for access in proxy.log[before:]) < 60
        assert len({url for (url,) in rows(run, "SELECT url FROM pages")}) >= 60
    assert not list(Path(tmp_path, "run", "redis").glob("*.sock"))


def test_what_cannot_work_is_one_line_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*more: str, pages: str = "1") -> str:
        folder = ["-s", f"JOBDIR={tmp_path / 'run'}"]
        begin = ["-a", "lang=de", "-a", "web=sample", "-a", f"pages={pages}", "--workers", "2"]
        assert call("crawl", *begin, *folder, *more) == 2
        assert not (tmp_path / "run").exists()
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    assert "export writes the texts" in said("-O", "x.jsonl")
    assert "not for a shared crawl" in said("-a", "words=5")
    assert "whole number" in said(pages="x")
    assert "0 is not 1 or more" in said("--workers", "0")
    assert "not the address of a Redis" in said("-s", "LANGFOCUS_FRONTIER=http://a")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install it" in said()


def test_a_server_goes_on_with_its_data_after_a_kill_and_tells_why_it_cannot_start(
    tmp_path: Path,
) -> None:
    server = OwnServer()
    server.start(tmp_path / "redis")
    with connect(server.url) as client:
        client.set("a", "1")
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        pid = client.info("server")["process_id"]
    messages: list[str] = []
    os.kill(pid, signal.SIGKILL)
    while not messages:  # its threads may end after it
        server.keep(messages.append)
    with connect(server.url) as client:
        assert client.get("a") == "1"
    socket = Path(server.url.removeprefix("unix://"))
    assert socket.stat().st_mode & 0o077 == 0
    server.close()
    assert not socket.parent.exists()
    (data,) = (tmp_path / "redis/appendonlydir").glob("*.manifest")
    data.write_text("nonsense")
    server = OwnServer()
    with pytest.raises(CrawlError, match="has ended: "):
        server.start(tmp_path / "redis")
    server.close()


HEARS = "import signal, sys, time\nsignal.signal(2, lambda *_: {})\nsys.stderr.write('ready\\n')\n"
HEARS += "sys.stderr.flush()\nwhile True: time.sleep(9)"
"""A worker that is ready and exits as an expression says when it is asked to stop."""


def script(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def stopper(crew: Callable[[], Crew], messages: list[str], times: int) -> Callable[[], None]:
    """Stop a crew so often, each time after a worker has answered the last one."""

    def meanwhile() -> None:
        if crew().stops < times and any("ready" in line for line in messages):
            crew().stop()

    return meanwhile


@pytest.mark.parametrize(
    ("answer", "stops", "code"),
    [("sys.exit(130)", 1, 130), ("None", 3, -signal.SIGKILL)],
)
def test_workers_end_in_order_when_asked_once_and_in_any_case_when_asked_three_times(
    answer: str, stops: int, code: int
) -> None:
    messages: list[str] = []
    crew = Crew({"a": script(HEARS.format(answer))}, messages.append)
    crew.wait(stopper(lambda: crew, messages, stops))
    assert crew.ends["a"].code == code
    assert messages[0] == "a: ready"
    assert "press Ctrl-C again" in messages[1]


def test_a_worker_that_dies_is_told_once_and_the_others_go_on() -> None:
    messages: list[str] = []
    lines = {
        "a": script("import os; os.kill(os.getpid(), 9)"),
        "b": script("import sys; sys.exit('note: x\\nlangfocus: no disk')"),
        "c": script("import sys; sys.stderr.write('note: x\\n' * 3); input() if 0 else None"),
    }
    crew = Crew(lines, messages.append)
    crew.wait(lambda: None)
    assert {name: end.code for name, end in crew.ends.items()} == {"a": -9, "b": 1, "c": 0}
    assert str(crew.ends["b"]) == "no disk"
    assert str(crew.ends["a"]) == "killed by signal 9"
    assert sum("note: x" in line for line in messages) == 1
    assert len(crew) == 0


def commands_of_compose() -> dict[str, list[str]]:
    """The commands of the compose file by their first word, with the defaults of its variables."""
    text = (ROOT / "docs/compose/compose.yaml").read_text(encoding="utf-8")
    given = {"give TARGET=de": "de", "give CONTACT=you@example.org": "you@example.org"}
    filled = re.sub(r"\$\{\w+:[-?]([^}]*)\}", lambda found: given.get(found[1], found[1]), text)
    commands = [json.loads(line) for line in re.findall(r"^ +command: (.*)", filled, re.MULTILINE)]
    return {command[0]: command for command in commands}


def test_the_commands_of_the_compose_file_are_understood(own_server: RedisServer) -> None:
    commands = commands_of_compose()
    opts = parser_of("crawl").parse_args(commands["crawl"][1:])
    config = config_of(pairs(opts.spargs), settings_of(opts))
    assert (config.lang, opts.workers, config.contact) == ("de", 4, "you@example.org")
    text = (ROOT / "docs/compose/prometheus.yml").read_text(encoding="utf-8")
    assert f"127.0.0.1:{config.dashboard}" in text
    client: Any = connect(str(config.frontier))
    assert client.connection_pool.connection_kwargs["host"] == "redis"
    own_server.kill()
    own_server.start(*commands["redis-server"][1:])
    with connect(own_server.url) as client:
        config = client.config_get("*")
    assert (config["appendonly"], config["save"]) == ("yes", "")
    assert config["maxmemory-policy"] == "noeviction"


def test_the_dockerfile_copies_what_exists() -> None:
    text = (ROOT / "docs/compose/Dockerfile").read_text(encoding="utf-8")
    copied = " ".join(re.findall(r"^COPY (.*) /src", text, re.MULTILINE)).split()
    assert {"pyproject.toml", "langfocus", "crawler", "classifiers", "seeds"} <= set(copied)
    assert all((ROOT / name).exists() for name in copied)
