"""Servers that mean no good, on a loopback address.

They stand behind one proxy, so that each has a host name of its own: what a client is sent
depends on the host it asks for, byte by byte, whatever HTTP says of it. `CONNECT` opens a tunnel
to the host's answer to a TLS handshake.
"""

import asyncio
import gzip
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.processes import HANG_S
from tests.support.smallweb import SENTENCES

HEAD_END = b"\r\n\r\n"
PAGE = f"<html><body><p>{SENTENCES['de'] * 5}</p></body></html>".encode()
PACE_S = 0.05
"""Seconds between two bytes of a tarpit: far less than any time limit."""


@dataclass
class Exchange:
    """One request; `host` and `path` are what it asks for, `send` writes and waits."""

    host: str
    path: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


Behaviour = Callable[[Exchange], Awaitable[None]]
"""What a host does with a request; the connection is closed after it."""


@dataclass
class Hostile:
    """A running proxy; `log` holds host and path of every request, in their order.

    `open` are the connections of this moment, `most_open` the most that there were at once.
    """

    port: int = 0
    open: int = 0
    most_open: int = 0
    log: list[tuple[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def hostile_web(hosts: Mapping[str, Behaviour]) -> Iterator[Hostile]:
    """Serve hosts by their names for the time of the block."""
    proxy, ready, ended = Hostile(), threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        tasks: set[asyncio.Task[None]] = set()

        async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                tasks.add(task)
            try:
                await _connection(hosts, proxy, reader, writer)
                await writer.wait_closed()
            except (asyncio.IncompleteReadError, ConnectionError):
                pass  # the client went away
            except asyncio.CancelledError:
                # What a client did not take would keep its connection open for ever.
                writer.transport.abort()

        server = await asyncio.start_server(connection, "127.0.0.1", 0)
        proxy.port = server.sockets[0].getsockname()[1]
        ready.set()
        await ended.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        if not ready.wait(HANG_S):
            raise RuntimeError(f"the hostile web did not start within {HANG_S} s")
        yield proxy
    finally:
        loops[0].call_soon_threadsafe(ended.set)
        thread.join(HANG_S)


async def _connection(
    hosts: Mapping[str, Behaviour],
    proxy: Hostile,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    proxy.open += 1
    proxy.most_open = max(proxy.most_open, proxy.open)
    try:
        head = (await reader.readuntil(HEAD_END)).decode("latin-1")
        method, target, _ = head.split(" ", 2)
        if method == "CONNECT":
            host, path = target.removesuffix(":443"), ""
            await _sent(writer, b"HTTP/1.1 200 -" + HEAD_END)
            await reader.read(1)
        else:
            host, _, path = target.removeprefix("http://").partition("/")
        proxy.log.append((host, path))
        exchange = Exchange(host, path, reader, writer)
        if path == "robots.txt" and not host.startswith("robots-"):
            await exchange.send(answer(b"", status=b"404 -"))
        else:
            await hosts.get(host, _unknown)(exchange)
    finally:
        proxy.open -= 1
        writer.close()


async def _sent(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def _unknown(exchange: Exchange) -> None:
    await exchange.send(answer(b"no such host", status=b"502 -"))


def answer(
    body: bytes, *headers: bytes, status: bytes = b"200 OK", kind: bytes = b"text/html"
) -> bytes:
    """A correct answer, but for what `headers` say."""
    lines = [b"HTTP/1.1 " + status, b"Content-Type: " + kind, *headers]
    if not any(line.lower().startswith((b"content-length", b"transfer-")) for line in headers):
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join([*lines, b"Connection: close"]) + HEAD_END + body


def sends(data: bytes) -> Behaviour:
    """Send the same to every request."""

    async def behave(exchange: Exchange) -> None:
        await exchange.send(data)

    return behave


def computes(body: Callable[[Exchange], bytes]) -> Behaviour:
    """Send what is computed from the request."""

    async def behave(exchange: Exchange) -> None:
        await exchange.send(body(exchange))

    return behave


def repeats(start: bytes, piece: bytes, *, pace_s: float = 0.0) -> Behaviour:
    """Send `start`, then `piece` without end."""

    async def behave(exchange: Exchange) -> None:
        await exchange.send(start)
        while True:
            await exchange.send(piece)
            await asyncio.sleep(pace_s)

    return behave


async def silence(exchange: Exchange) -> None:
    """Take the request and say nothing until the client goes away."""
    while await exchange.reader.read(1024):
        pass


def sends_and_waits(data: bytes) -> Behaviour:
    """Send something and keep the connection open without another byte."""

    async def behave(exchange: Exchange) -> None:
        await exchange.send(data)
        await silence(exchange)

    return behave


def redirects(location: Callable[[Exchange], bytes]) -> Behaviour:
    """Send every request elsewhere."""
    return computes(
        lambda exchange: answer(b"", b"Location: " + location(exchange), status=b"302 Found")
    )


def only_robots(behaviour: Behaviour) -> Behaviour:
    """Misbehave for robots.txt alone; all else is a page."""

    async def behave(exchange: Exchange) -> None:
        if exchange.path == "robots.txt":
            await behaviour(exchange)
        else:
            await exchange.send(answer(PAGE))

    return behave


def gzip_bomb(size: int, layers: int = 1) -> bytes:
    """Zeros, packed once or more."""
    data = gzip.compress(bytes(size), 9)
    for _ in range(layers - 1):
        data = gzip.compress(data, 9)
    return data


def deflate_bomb(size: int) -> bytes:
    """Zeros, packed by zlib."""
    return zlib.compress(bytes(size), 9)
