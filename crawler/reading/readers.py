"""Reads pages in processes beside the crawl (`crawler.reading.process`).

Each reader has several pages in flight, so it is never idle between pages. Answers keep the page
order, but a slow page does not delay the pages behind: another reader takes over. A page of a dead
reader is retried once.
"""

import asyncio
import logging
import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import msgspec

from langfocus.classifiers.pages.charset.encodings import is_document
from langfocus.classifiers.pages.html.tree import SMALL_BYTES
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.reading.page import CRASHED, TIMEOUT, Reading, ReadPage
from langfocus.crawler.reading.process import ERROR, LAST_PAGE, Limits, Task, forked

FIRST_PAGES: Final = 100
"""Pages read by the crawl itself before readers start: small crawls need no readers."""

MANY_PAGES: Final = 1000
"""Page goal from which readers start while seeds are enqueued."""

HELD_S: Final = 1.0
"""Seconds on the clock after which a page holds its reader."""

_MOST_HELD: Final = 2
"""Most readers that are busy with a slow page and have a replacement."""

_MOST_TRIES: Final = 2
_IN_FLIGHT: Final = 8
_SOCKET_BYTES: Final = 2**20

_CHUNK_BYTES: Final = 2**20

_log = logging.getLogger(__name__)


class ReadingError(Exception):
    """An exception while a page was read; its message is the traceback."""


Answer = Reading | str | ReadingError


@dataclass(slots=True, eq=False)
class _Page:
    """A page; `done` gets the answer after all earlier pages are read.

    A slow page (`is_held`) gets its answer at once, and no other page waits for it. The crawl
    itself never reads a page that `is_risky`.
    """

    parts: tuple[bytes, ...]  # of its task
    done: "asyncio.Future[Answer | None]"
    failures: int = 0
    is_risky: bool = False
    is_read: bool = False
    is_held: bool = False
    answer: Answer | None = None

    def end(self, answer: Answer | None) -> None:
        """Keep the answer, None if the crawl must read the page itself."""
        self.is_read, self.answer = True, answer
        if self.is_held:
            self.settle()

    def settle(self) -> None:
        """Deliver the answer, if any."""
        if self.is_read and not self.done.done():
            self.done.set_result(self.answer)


@dataclass(slots=True, eq=False)
class _Reader:
    """A reader and its pages in flight; it works on the first page since `since`.

    `came` holds the received part of an answer.
    """

    socket: socket.socket
    pages: deque[_Page] = field(default_factory=deque)
    since: float = 0.0
    came: bytearray = field(default_factory=bytearray)

    def takes(self, page: _Page) -> bool:
        """Return True if one more page fits into the socket: the crawl never waits to send it."""
        size = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // 2
        waiting = sum(len(part) for one in (*self.pages, page) for part in one.parts)
        return len(self.pages) < _IN_FLIGHT and waiting <= size

    def answers(self) -> Iterator[bytes]:
        """Yield the complete answers; raises EOFError or OSError at the end of the stream.

        uvloop signals the death of a reader only once, so the socket is drained at once.
        """
        with suppress(BlockingIOError):
            while came := self.socket.recv(_CHUNK_BYTES, socket.MSG_DONTWAIT):
                self.came += came
                while len(self.came) >= (end := 4 + int.from_bytes(self.came[:4])):
                    yield bytes(self.came[4:end])
                    del self.came[:end]
            raise EOFError


class _Template(NamedTuple):
    """The template process that forks readers; it sends a byte over `control` when ready."""

    pid: int
    control: socket.socket

    def end(self) -> None:
        """Kill the process."""
        self.control.close()
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


class Readers:
    """The readers of a crawl, started after its first pages, each with `limits`."""

    def __init__(self, number: int, config: Config, first_pages: int = FIRST_PAGES) -> None:
        """Read with `number` readers after `first_pages`.

        With plug-ins, readers read all pages, since only readers have limits.
        """
        self.limits = Limits()
        self._has_plugins = bool({one.kind for one in config.plugins} - {"web", "seeds"})
        self._documents = config.documents
        self._number = number
        self._setup = pickle.dumps(replace(config, seeds=(), signer=None))
        self._pages_left = first_pages
        self._template: _Template | None = None
        self._is_ready = False
        self._readers: list[_Reader] = []
        self._held: list[_Reader] = []
        self._look: asyncio.TimerHandle | None = None
        self._waiting: deque[_Page] = deque()
        self._unsettled: deque[_Page] = deque()
        self._decoder = msgspec.msgpack.Decoder(Reading)

    async def read(self, download: Download, depth: int) -> Answer | None:
        """Return a page, or the outcome of an unreadable page; None: read it in the crawl.

        The crawl itself reads the first pages, small pages until readers are ready, and all pages
        if no reader can start.
        """
        self._pages_left -= 1
        # A larger page may be hostile and take minutes.
        is_large = len(download.body) > SMALL_BYTES or self._has_plugins
        # Compiled code that reads it may end its process.
        is_risky = self._documents and is_document(download.body)
        is_large |= is_risky
        if self._number and not self._template and (is_large or self._pages_left < 0):
            self.start()
        if not self._readers and not self._unsettled and not (is_large and self._number):
            return CRASHED if is_risky else None
        body = download.body
        task: Task = (replace(download, body=b"", exchange=None, robots=None), depth)
        try:
            head = msgspec.msgpack.encode(task)
        except UnicodeEncodeError:  # half a character in a header
            return CRASHED if is_risky else None
        head = len(head).to_bytes(4) + len(body).to_bytes(4) + head
        parts = (head, body) if len(body) > SMALL_BYTES else (head + body,)
        page = _Page(parts, asyncio.get_running_loop().create_future(), is_risky=is_risky)
        self._waiting.append(page)
        self._unsettled.append(page)
        self._hand_out()
        return await page.done

    def close(self) -> None:
        """End all processes."""
        self._number = 0
        if self._look is not None:
            self._look.cancel()
        for reader in [*self._readers, *self._held]:
            self._dismiss(reader)
        self._end_template()

    # The template.

    def fork(self, read_page: ReadPage) -> None:
        """Make the template a fork of this process, which has the models; with threads, do nothing.

        A lock that another thread holds would stay locked in the fork.
        """
        if self._template is None and threading.active_count() == 1:
            ours, theirs = socket.socketpair()
            with theirs:
                self._template = _Template(forked(theirs, read_page), ours)

    def start(self) -> None:
        """Start the template process, if none is forked, and its readers after it has its models.

        Raises RuntimeError, before anything is started, if no event loop runs.
        """
        loop = asyncio.get_running_loop()
        if self._template is None:
            self._template = self._spawned()
        control = self._template.control
        loop.add_reader(control, self._on_template, control)

    def _spawned(self) -> _Template:
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.set_inheritable(True)
            code = (
                f"import sys; sys.path[:] = {sys.path!r}; "
                "from langfocus.crawler.reading.process import main; "
                f"main({theirs.fileno()})"
            )
            command = [sys.executable, "-c", code]
            pid = os.posix_spawn(sys.executable, command, os.environ, setpgroup=0)  # as `forked`
        with suppress(ConnectionError):
            ours.sendall(self._setup)
        return _Template(pid, ours)

    def _on_template(self, control: socket.socket) -> None:
        """Start readers when the template is ready; if it ended, start another one."""
        was_ready = self._is_ready
        with suppress(ConnectionError):
            self._is_ready = bool(control.recv(1))
        if self._is_ready and not was_ready:
            self._add_readers()
            return
        self._end_template()
        if was_ready:
            self.start()
            return
        self._number = 0
        _log.warning("no page reader can be started; the crawl goes on without more of them")
        self._give_up()

    def _end_template(self) -> None:
        self._is_ready = False
        if self._template is not None:
            asyncio.get_running_loop().remove_reader(self._template.control)
            self._template.end()
            self._template = None

    # The readers.

    def _add_readers(self) -> None:
        while self._template and self._is_ready and len(self._readers) < self._number:
            ours, theirs = socket.socketpair()
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BYTES)
            with theirs, suppress(ConnectionError):  # the end of the template is noticed
                limits = msgspec.json.encode(self.limits)
                socket.send_fds(self._template.control, [limits], [theirs.fileno()])
            reader = _Reader(ours)
            asyncio.get_running_loop().add_reader(ours, self._on_answer, reader)
            # uvloop made the socket non-blocking: `sendall` would drop bytes beyond the buffer.
            ours.setblocking(True)
            self._readers.append(reader)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self._readers:
            reader = min(self._readers, key=lambda reader: len(reader.pages))
            page = self._waiting[0]
            if reader.pages and (page.failures or not reader.takes(page)):
                return
            if not reader.pages:
                reader.since = time.monotonic()
            reader.pages.append(self._waiting.popleft())
            with suppress(ConnectionError):  # the end of the reader is noticed
                for part in page.parts:
                    reader.socket.sendall(part)
            if self._look is None:
                self._look = asyncio.get_running_loop().call_later(HELD_S, self._replace_held)

    def _replace_held(self) -> None:
        """Move the pages behind a slow page to other readers."""
        self._look = None
        latest = time.monotonic() - HELD_S
        busy = [reader for reader in self._readers if reader.pages]
        for reader in busy:
            if reader.since <= latest and len(self._held) < _MOST_HELD:
                page, *others = reader.pages
                reader.pages = deque([page])
                self._waiting.extendleft(reversed(others))
                page.is_held = True
                self._readers.remove(reader)
                self._held.append(reader)
        if busy:
            self._look = asyncio.get_running_loop().call_later(HELD_S, self._replace_held)
        self._settle()
        self._add_readers()

    def _on_answer(self, reader: _Reader) -> None:
        try:
            for answer in reader.answers():
                reader.pages[0].end(self._understood(answer))
                reader.pages.popleft()
                reader.since = time.monotonic()
                if answer[:1] == LAST_PAGE or reader in self._held:
                    self._dismiss(reader)
                    break
        except (EOFError, OSError, IndexError, UnicodeDecodeError, msgspec.DecodeError):
            self._lose(reader)
        self._settle()
        self._add_readers()

    def _understood(self, answer: bytes) -> Answer:
        """Return an answer; raises `msgspec.DecodeError` for bytes that no reader sends."""
        if answer[:1] == ERROR:
            return ReadingError(answer[1:].decode())
        return self._decoder.decode(memoryview(answer)[1:])

    def _lose(self, reader: _Reader) -> None:
        """Requeue the page that a dead reader was reading; fail the page after two tries.

        A page that exceeded a reader's time limit is not retried.
        """
        if reader.pages:
            page = reader.pages[0]
            page.failures += 1
            is_slow = time.monotonic() - reader.since >= self.limits.processor_s
            if is_slow or page.failures == _MOST_TRIES:
                page.end(TIMEOUT if is_slow else CRASHED)
                reader.pages.popleft()
        self._dismiss(reader)

    def _dismiss(self, reader: _Reader) -> None:
        """End a reader; its pages wait for another reader."""
        asyncio.get_running_loop().remove_reader(reader.socket)
        reader.socket.close()
        (self._held if reader in self._held else self._readers).remove(reader)
        self._waiting.extendleft(reversed(reader.pages))
        if not self._number and not self._readers:
            self._give_up()

    def _give_up(self) -> None:
        """Without readers the crawl reads the pages itself, except those that ended a reader."""
        while self._waiting and not self._readers:
            page = self._waiting.popleft()
            page.end(CRASHED if page.failures or page.is_risky else None)
        self._settle()

    def _settle(self) -> None:
        while self._unsettled and (self._unsettled[0].is_read or self._unsettled[0].is_held):
            self._unsettled.popleft().settle()


def processors() -> int:
    """Return the number of processors available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
