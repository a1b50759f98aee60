"""Servers on this machine, for tests that want real sockets.

    with loopback(SampleWeb(secure=0.0)) as proxy:
        ...  # crawl with http_proxy=proxy.url, then look at proxy.log

Only plain HTTP passes: a CONNECT for https is answered 501. Asked as a server rather than as a
proxy, it is each server that a Host header names.
"""

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from math import inf
from random import Random
from typing import Any
from urllib.parse import urlsplit

from benchmarks.servers.processes import HANG_S
from langfocus.crawler.sources.contract import Answer, Unreachable, Web

HEAD_END = b"\r\n\r\n"
POLL_S = 0.01
FAILURES = {"timeout": HTTPStatus.GATEWAY_TIMEOUT}

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""What a server does with a connection, which is closed after it."""


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def on_loopback(talk: Talk, secure: ssl.SSLContext | None = None) -> Iterator[int]:
    """Yield the port of a server that runs in a thread for the time of the block."""
    ready, ended = threading.Event(), asyncio.Event()
    running: list[tuple[asyncio.AbstractEventLoop, int]] = []
    tasks: set[asyncio.Task[None] | None] = set()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        try:
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass  # the client went away
        except asyncio.CancelledError:
            # What a client did not take would keep its connection open for ever.
            writer.transport.abort()
        finally:
            writer.close()
            tasks.discard(asyncio.current_task())

    async def serve() -> None:
        server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=secure)
        running.append((asyncio.get_running_loop(), server.sockets[0].getsockname()[1]))
        ready.set()
        await ended.wait()
        server.close()
        left = [task for task in tasks if task is not None]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    if not ready.wait(HANG_S):
        raise RuntimeError(f"the server did not start within {HANG_S} s")
    ((loop, port),) = running
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(HANG_S)


async def sent(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Write something and wait until it is on its way."""
    writer.write(data)
    await writer.drain()


@dataclass
class Access:
    """One request as it came in; `time` and that of its answer, `ended`, are of a monotonic clock.

    `ended` is infinite until the answer is written.
    """

    time: float
    method: str
    url: str
    status: int
    user_agent: str = ""
    accept_language: str = ""
    ended: float = inf

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


@dataclass
class Proxy:
    """A running proxy; `log` has the requests in order of arrival.

    `answers` is the number of requests to answer: later requests are logged and wait, so that a
    crawl cannot end before the test is finished with it. None means all requests. `answered` is the
    number of written answers. Each latency is randomly shorter or longer, by at most the share
    `spread`.
    """

    web: Web
    latency_s: float = 0.0
    answers: int | None = None
    spread: float = 0.0
    port: int = 0
    answered: int = 0
    log: list[Access] = field(default_factory=list)
    random: Random = field(default_factory=lambda: Random(1))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._exchange(reader, writer):
            pass

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; whether the connection stays open."""
        head = (await reader.readuntil(HEAD_END)).decode("latin-1")
        request, *lines = head.rstrip("\r\n").split("\r\n")
        method, url, _ = request.split(" ", 2)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        url = f"http://{headers.get('host', '')}{url}" if url.startswith("/") else url
        answer, number = self._ask(method, url, headers), len(self.log)
        agent, languages = headers.get("user-agent", ""), headers.get("accept-language", "")
        access = Access(time.monotonic(), method, url, answer.status, agent, languages)
        self.log.append(access)
        while self.answers is not None and number >= self.answers:
            await asyncio.sleep(POLL_S)
        if self.latency_s:
            spread = self.random.uniform(-self.spread, self.spread)
            await asyncio.sleep(self.latency_s * (1 + spread))
        is_open = headers.get("connection", "").lower() != "close"
        # After the answer was sent, the thread may have to wait for a processor.
        access.ended = time.monotonic()
        await sent(writer, _bytes(answer, is_open, with_body=method != "HEAD"))
        self.answered += 1
        return is_open

    def _ask(self, method: str, url: str, headers: dict[str, str]) -> Answer:
        if method not in ("GET", "HEAD") or not url.startswith("http://"):
            return _failure(HTTPStatus.NOT_IMPLEMENTED)
        try:
            return self.web.respond(url, headers)
        except Unreachable as failure:
            return _failure(FAILURES.get(failure.reason, HTTPStatus.BAD_GATEWAY))


@contextmanager
def loopback(web: Web, latency_s: float = 0.0, **options: Any) -> Iterator[Proxy]:
    """Yield a proxy to `web` for the time of the block; `options` are fields of `Proxy`."""
    proxy = Proxy(web, latency_s, **options)
    with on_loopback(proxy.talk) as proxy.port:
        yield proxy


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
