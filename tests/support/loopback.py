"""Serves any Web as an HTTP proxy on this machine, for tests that want real sockets.

    with loopback(SampleWeb(secure=0.0)) as proxy:
        ...  # crawl with http_proxy=proxy.url, then look at proxy.log

Only plain HTTP passes: a CONNECT for https is answered 501. Asked as a server rather than as a
proxy, it is each server that a Host header names.
"""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from crawler.sources.contract import Answer, Unreachable, Web
from tests.support.processes import HANG_S

HEAD_END = b"\r\n\r\n"
POLL_S = 0.01
FAILURES = {"timeout": HTTPStatus.GATEWAY_TIMEOUT}


@dataclass(frozen=True)
class Access:
    """One request, `time` in seconds since the epoch, as it came in."""

    time: float
    method: str
    url: str
    status: int
    user_agent: str
    accept_language: str


@dataclass
class Proxy:
    """A running proxy; `log` has the requests in the order in which they came.

    `answers` is the number of requests that it answers: later ones are in the log and wait, so
    that a crawl cannot end before the test has done to it what it wants. None: all. `answered` is
    the number of answers that it has written.
    """

    port: int = 0
    answers: int | None = None
    answered: int = 0
    log: list[Access] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def loopback(web: Web, latency_s: float = 0.0, answers: int | None = None) -> Iterator[Proxy]:
    """A proxy to `web` for the time of the block; each answer waits `latency_s`."""
    proxy, ready = Proxy(answers=answers), threading.Event()
    server = _Server(web, proxy, latency_s)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(ready)), daemon=True)
    thread.start()
    try:
        if not ready.wait(HANG_S):
            raise RuntimeError(f"the loopback proxy did not start within {HANG_S} s")
        yield proxy
    finally:
        server.stop()
        thread.join(HANG_S)


class _Server:
    def __init__(self, web: Web, proxy: Proxy, latency_s: float) -> None:
        self._web, self._proxy, self._latency_s = web, proxy, latency_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self._proxy.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._ended.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self) -> None:
        """Ends the server from another thread."""
        if self._loop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._ended.set)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            writer.close()
            if task is not None:
                self._tasks.discard(task)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; whether the connection stays open."""
        head = (await reader.readuntil(HEAD_END)).decode("latin-1")
        request, *lines = head.rstrip("\r\n").split("\r\n")
        method, url, _ = request.split(" ", 2)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        url = f"http://{headers.get('host', '')}{url}" if url.startswith("/") else url
        answer, number = self._answer(method, url, headers), len(self._proxy.log)
        while self._proxy.answers is not None and number > self._proxy.answers:
            await asyncio.sleep(POLL_S)
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        is_open = headers.get("connection", "").lower() != "close"
        writer.write(_bytes(answer, is_open, with_body=method != "HEAD"))
        await writer.drain()
        self._proxy.answered += 1
        return is_open

    def _answer(self, method: str, url: str, headers: dict[str, str]) -> Answer:
        answer = self._ask(method, url, headers)
        agent, languages = headers.get("user-agent", ""), headers.get("accept-language", "")
        access = Access(time.time(), method, url, answer.status, agent, languages)
        self._proxy.log.append(access)
        return answer

    def _ask(self, method: str, url: str, headers: dict[str, str]) -> Answer:
        if method not in ("GET", "HEAD") or not url.startswith("http://"):
            return _failure(HTTPStatus.NOT_IMPLEMENTED)
        try:
            return self._web.respond(url, headers)
        except Unreachable as failure:
            return _failure(FAILURES.get(failure.reason, HTTPStatus.BAD_GATEWAY))


def _failure(status: HTTPStatus) -> Answer:
    body = f"{status.phrase}\n".encode()
    return Answer(status, (("Content-Type", "text/plain"),), body)


def _bytes(answer: Answer, is_open: bool, with_body: bool) -> bytes:
    headers = [pair for pair in answer.headers if pair[0].lower() != "content-length"]
    headers.append(("Content-Length", str(len(answer.body))))
    headers.append(("Connection", "keep-alive" if is_open else "close"))
    lines = [f"HTTP/1.1 {answer.status} -"]
    lines += [f"{name}: {value}" for name, value in headers]
    head = "\r\n".join(lines).encode("latin-1") + HEAD_END
    return head + (answer.body if with_body else b"")
