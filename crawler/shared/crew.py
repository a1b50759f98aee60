"""Workers of a shared crawl on one machine, and a private Redis server.

On Linux the kernel kills workers and server however the parent process ends.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final, NamedTuple, cast

from langfocus.crawler.errors import CrawlError, SettingError
from langfocus.crawler.options.json_log import message_of, of_worker
from langfocus.crawler.shared.keyspace import connect

_PROGRAMS: Final = ("redis-server", "valkey-server")
_STEP_S: Final = 0.05
_PATIENT_STOPS: Final = 2
_MOST_SHOWN: Final = 1000
_MESSAGE: Final = "langfocus: "

# PR_SET_PDEATHSIG is 1. The starter may have ended before the call.
_TETHER: Final = """\
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the process that started this one has ended")
os.execv(sys.argv[2], sys.argv[2:])
"""


def _start(line: Sequence[str], **streams: Any) -> "subprocess.Popen[str]":
    """Start a process that ends with this process and gets no Ctrl-C from the terminal."""
    tethered = [sys.executable, "-I", "-S", "-c", _TETHER, str(os.getpid()), *line]
    return subprocess.Popen(  # noqa: S603  our own command
        tethered, stdin=subprocess.DEVNULL, process_group=0, **streams
    )


class OwnServer:
    """A private Redis server, behind a socket that only its user may open.

    All acknowledged writes stay in its folder; a later server in the same folder continues.
    """

    def __init__(self) -> None:
        """Find a server; raises `SettingError` if none is installed."""
        self._program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
        if self._program is None:
            raise SettingError(
                "--workers: there is no redis-server here; install it (apt install redis-server, "
                "brew install redis) or give -s LANGFOCUS_FRONTIER=redis://HOST:PORT/DB"
            )
        # The path of a socket has 107 characters at most, the path of a run may have more.
        self._place = Path(tempfile.mkdtemp(prefix="langfocus-"))
        self.url = f"unix://{self._place / 'redis.sock'}"
        self._process: subprocess.Popen[str] | None = None
        self._folder = self._place

    def start(self, folder: Path) -> None:
        """Return when the server, with its data in `folder`, answers.

        Raises `CrawlError` if it ends before, and `SettingError` if a package is missing.
        """
        client = connect(self.url)
        import redis

        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        options = {"port": 0, "unixsocket": self._place / "redis.sock", "unixsocketperm": 700}
        options |= {"dir": folder, "appendonly": "yes", "save": "", "daemonize": "no"}
        options |= {"maxmemory-policy": "noeviction", "loglevel": "warning"}
        words = [text for name, value in options.items() for text in (f"--{name}", str(value))]
        log = folder / "redis.log"
        with log.open("w") as output, client:
            line = [str(self._program), *words]
            process = self._process = _start(line, stdout=output, stderr=output)
            while process.poll() is None:
                try:
                    client.ping()
                except (redis.ConnectionError, redis.TimeoutError):  # or it reads its file
                    time.sleep(_STEP_S)
                else:
                    return
        said = log.read_text(errors="replace").strip().splitlines()
        raise CrawlError(f"{self._program} has ended: {said[-1] if said else 'it said nothing'}")

    def keep(self, show: Callable[[str], None]) -> None:
        """Restart a server that has ended; raises `CrawlError`."""
        if self._process is not None and self._process.poll() is not None:
            show("the Redis server had ended; it is started again with its data")
            self.start(self._folder)

    def close(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.kill()  # what it answered is in its file
            self._process.wait()
        shutil.rmtree(self._place, ignore_errors=True)


class End(NamedTuple):
    """The end of a crawl: exit code, and last message or ""."""

    code: int
    message: str

    def __str__(self) -> str:
        """Return the words of a message to the user."""
        killed = f"killed by signal {-self.code}" if self.code < 0 else ""
        return killed or self.message or f"exit code {self.code}"


class Crew:
    """Crawls in separate processes. `show` displays a log line once.

    Lines consumed by `take` (True) are not displayed.
    """

    def __init__(
        self,
        lines: Mapping[str, Sequence[str]],
        show: Callable[[str], None],
        take: Callable[[str], bool] = lambda _: False,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start a process for each name; `lines` are their command lines."""
        self.stops = 0
        self.ends: dict[str, End] = {}
        self._show, self._take = show, take
        self._shown: set[str] = set()
        self._messages: dict[str, str] = {}
        self._last: dict[str, str] = {}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        how = {**quiet, "text": True, "errors": "replace", "env": environment}
        self._running = {name: _start(line, **how) for name, line in lines.items()}
        self._logs = {
            name: Thread(target=self._relay, args=(name, process.stderr), daemon=True)
            for name, process in self._running.items()
        }
        for log in self._logs.values():
            log.start()

    def __len__(self) -> int:
        """Return the number of running workers."""
        return len(self._running)

    def stop(self, *_: object) -> None:
        """Stop all workers: in order, the second time at once, the third time without mercy."""
        self.stops += 1
        number = signal.SIGINT if self.stops <= _PATIENT_STOPS else signal.SIGKILL
        for process in list(self._running.values()):
            process.send_signal(number)

    def kill(self) -> None:
        """End all workers at once."""
        for process in self._running.values():
            process.kill()
            process.wait()

    def wait(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Return when all workers have ended; do something `meanwhile`, again and again."""
        announced = 0
        while self._running:
            if announced < self.stops:
                announced = self.stops
                hint = "; press Ctrl-C again to stop at once" if announced == 1 else " at once"
                crawl = "the crawl" if len(self) == 1 else f"{len(self)} workers"
                self._show(f"stopping {crawl}{hint}")
            for name, process in list(self._running.items()):
                if process.poll() is not None:
                    self._end(name, process.returncode)
            meanwhile()
            time.sleep(_STEP_S)

    def _end(self, name: str, code: int) -> None:
        del self._running[name]
        self._logs[name].join(_STEP_S * 100)
        message = self._messages.get(name) or self._last.get(name, "")
        end = self.ends[name] = End(code, message)
        if code and not self.stops and self._running:
            self._show(f"{name} has ended ({end}); {len(self._running)} go on")

    def _relay(self, name: str, log: IO[str] | None) -> None:
        """Display a process's log lines; keep the last message."""
        with cast("IO[str]", log) as lines:
            for line in lines:
                if self._take(line):
                    continue
                text = message_of(line) or line
                if text.startswith(_MESSAGE):
                    self._messages[name] = text.removeprefix(_MESSAGE).strip()
                    continue
                self._last[name] = text.strip() or self._last.get(name, "")
                if line.strip() and not self.stops and line not in self._shown:
                    if len(self._shown) < _MOST_SHOWN:
                        self._shown.add(line)
                    self._show(of_worker(name, line.rstrip()))
