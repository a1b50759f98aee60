"""Hostile servers on a loopback address.

All servers are behind one proxy, so that each has a separate host name. The host of a request
determines the sent bytes, without regard to HTTP. `CONNECT` opens a tunnel: with a certificate to
the host itself, otherwise to the host's answer to a TLS handshake.
"""

import asyncio
import gzip
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.sentences import SENTENCES
from benchmarks.servers.loopback import HEAD_END, on_loopback, sent

PAGE = f"<html><body><p>{SENTENCES['de'] * 5}</p></body></html>".encode()
PACE_S = 0.05
"""Seconds between two bytes of a tarpit: far less than any time limit."""


@dataclass
class Exchange:
    """A request for `path` on `host`; `send` writes and waits.

    `number` is the number of earlier requests on the connection. A behaviour that sets `keeps_open`
    also gets the next request of the connection.
    """

    host: str
    path: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    scheme: str = "http"
    number: int = 0
    keeps_open: bool = False

    async def send(self, data: bytes) -> None:
        await sent(self.writer, data)


Behaviour = Callable[[Exchange], Awaitable[None]]
"""What a host does with a request; the connection is closed after it, unless it is kept open."""


async def _unknown(exchange: Exchange) -> None:
    await exchange.send(answer(b"no such host", status=b"502 -"))


@dataclass
class Hostile:
    """A running proxy; `log` has the host and the path of every request, in order.

    `others` is the behaviour of hosts outside of `hosts`. `open` is the current number of
    connections, `most_open` the largest number so far. `robots_of` selects hosts with a robots.txt;
    other hosts have none.
    """

    hosts: Mapping[str, Behaviour] = field(repr=False)
    others: Behaviour = _unknown
    certificate: ssl.SSLContext | None = None
    robots_of: Callable[[str], bool] = lambda host: host.startswith("robots-")
    port: int = 0
    open: int = 0
    most_open: int = 0
    log: list[tuple[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def hostile_web(hosts: Mapping[str, Behaviour], **options: Any) -> Iterator[Hostile]:
    """Serve hosts by their names for the time of the block; `options` are fields of `Hostile`."""
    proxy = Hostile(hosts, **options)
    with on_loopback(partial(_connection, proxy)) as proxy.port:
        yield proxy


async def _connection(
    proxy: Hostile, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    proxy.open += 1
    proxy.most_open = max(proxy.most_open, proxy.open)
    try:
        method, target = await _asked(reader)
        if method == "CONNECT":
            tunnel = target.removesuffix(":443")
            await sent(writer, b"HTTP/1.1 200 -" + HEAD_END)
            if proxy.certificate is None:
                await reader.read(1)
                await _exchange(proxy, Exchange(tunnel, "", reader, writer))
                return
            await writer.start_tls(proxy.certificate)
            _, path = await _asked(reader)
            target = f"https://{tunnel}{path}"
        number = 0
        while await _exchange(proxy, _exchange_of(target, number, reader, writer)):
            _, following = await _asked(reader)
            target = f"https://{tunnel}{following}" if method == "CONNECT" else following
            number += 1
    finally:
        proxy.open -= 1
        writer.close()
    await writer.wait_closed()


async def _asked(reader: asyncio.StreamReader) -> tuple[str, str]:
    """Return method and target of the next request."""
    head = (await reader.readuntil(HEAD_END)).decode("latin-1")
    method, target, _ = head.split(" ", 2)
    return method, target


def _exchange_of(
    url: str, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Exchange:
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    return Exchange(host, path, reader, writer, scheme, number)


async def _exchange(proxy: Hostile, exchange: Exchange) -> bool:
    """Answer one request; return True if the connection stays open for another."""
    proxy.log.append((exchange.host, exchange.path))
    if exchange.path in ("robots.txt", ".well-known/tdmrep.json") and not proxy.robots_of(
        exchange.host
    ):
        await exchange.send(answer(b"", status=b"404 -"))
    else:
        await proxy.hosts.get(exchange.host, proxy.others)(exchange)
    return exchange.keeps_open


def answer(
    body: bytes, *headers: bytes, status: bytes = b"200 OK", kind: bytes = b"text/html"
) -> bytes:
    """Return a correct answer, but for what `headers` say."""
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
