"""Commands of the project as separate processes, started in hundredths of a second.

A command started in a terminal imports Scrapy, numba and other packages for two seconds before it
does anything. Here `benchmarks.servers.warmstart` imports the packages once for a process and all
that it starts, and each command is a fork with its own environment, folder, output, signals and
exit code. Variables that Python and numba read at the start come from the process, and all commands
share one seed of `hash`: a test of these variables starts Python itself.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from benchmarks.crawling import ROOT, children

__all__ = ["ROOT", "children"]

HANG_S = 300.0
"""Seconds after which a command counts as hanging: far more than any takes on a busy machine."""
POLL_S = 0.01
_ADDRESS = "WARMSTART_SOCKET"
LARGEST = 10_000_000
Done = subprocess.CompletedProcess[str]


class Forked:
    """A running command; its output goes to files, from which `communicate` reads it."""

    def __init__(self, arguments: Sequence[str], reader: int, output: Sequence[IO[bytes]]) -> None:
        self._arguments, self._reader, self._output = list(arguments), reader, output
        self.pid = int(self._line())
        self.returncode: int | None = None

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self._reader, 1)
            if not byte:
                raise RuntimeError(f"the process that starts {self._arguments} has ended")
            line += byte
        return line

    def poll(self) -> int | None:
        """Return the return code, None while the command runs."""
        return self._ended_within(0.0)

    def _ended_within(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._reader], [], [], seconds)[0]:
            self.returncode = int(self._line())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; raises `subprocess.TimeoutExpired` after `timeout` s."""
        code = self._ended_within(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self._arguments, timeout or 0.0)
        return code

    def said(self) -> str:
        """Return standard output until now; a command may hold back a part of it."""
        return os.pread(self._output[0].fileno(), LARGEST, 0).decode(errors="replace")

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return standard output and standard error, after the end of the command."""
        self.wait(timeout)
        output, errors = (_text(file) for file in self._output)
        return output, errors

    def send_signal(self, sig: int, /) -> None:
        """Send a signal unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        """End the command at once."""
        self.send_signal(signal.SIGKILL)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def started(
    *arguments: str,
    environment: Mapping[str, str],
    folder: Path = ROOT,
    input: bytes = b"",
    has_one_output: bool = False,
) -> Iterator[Forked]:
    """Start `python -m ARGUMENTS` for the block; it is killed at the end of the block.

    With `has_one_output` its errors are in its standard output, in the order of writing.
    """
    with ExitStack() as stack:
        given, output, errors = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(input)
        given.seek(0)
        reader, writer = os.pipe()
        stack.callback(os.close, reader)
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(environment)}
        streams = [given, output, output if has_one_output else errors]
        try:
            with _template() as template:
                socket.send_fds(
                    template,
                    [json.dumps(request).encode() + b"\n"],
                    [*(stream.fileno() for stream in streams), writer],
                )
        finally:
            os.close(writer)
        process = Forked(arguments, reader, (output, errors))
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def run(
    *arguments: str,
    environment: Mapping[str, str],
    folder: Path = ROOT,
    input: bytes = b"",
    timeout: float = HANG_S,
) -> Done:
    """Run `python -m ARGUMENTS` to its end."""
    with started(*arguments, environment=environment, folder=folder, input=input) as process:
        output, errors = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(arguments, process.wait(), output, errors)


def run_alone(*line: str, environment: Mapping[str, str]) -> Done:
    """Run a command line to its end, as a process that nothing was imported for."""
    given = dict(environment)
    return subprocess.run(
        line, cwd=ROOT, env=given, capture_output=True, text=True, timeout=HANG_S, check=False
    )


def wait_until(is_so: Callable[[], bool], *processes: Forked) -> None:
    """Return when something is so; all processes run until then."""
    until = time.monotonic() + HANG_S
    while not is_so():
        for process in processes:
            assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, f"nothing happened within {HANG_S} s"
        time.sleep(POLL_S)


def _template() -> socket.socket:
    """Return a connection to the forking process."""
    if _ADDRESS not in os.environ:
        start_template()
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ[_ADDRESS])
    return connection


def start_template() -> None:
    """Start the forking process for this process, with which it ends, and for its children."""
    folder = tempfile.TemporaryDirectory(prefix="warm")
    address = os.environ[_ADDRESS] = f"{folder.name}/socket"
    with socket.socket(socket.AF_UNIX) as requests:
        requests.bind(address)
        requests.listen()
        template = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.servers.warmstart", str(requests.fileno())],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[requests.fileno()],
        )

    def end() -> None:
        template.communicate()
        folder.cleanup()

    atexit.register(end)
