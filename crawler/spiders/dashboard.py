"""The dashboard of a running crawl: a small Web server for browsers on this machine.

Any Web page can make a browser send requests to 127.0.0.1, even under its own name (DNS rebinding).
So only known names in `Host` and requests of the dashboard itself are answered. Each connection
gets one answer; bytes, time and the number of connections are bounded.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from langfocus.crawler.politeness.network import LOOPBACK
from langfocus.crawler.report.live import Snapshot, live_html, live_json
from langfocus.crawler.report.metrics import metrics
from langfocus.crawler.report.page import RELOADS

_MOST_HEAD_BYTES: Final = 8192
_MOST_CONNECTIONS: Final = 64
_MOST_SECONDS: Final = 5.0

_PLAIN: Final = "text/plain; charset=utf-8"

_PAGES: Final[dict[str, tuple[str, Callable[[Snapshot], str]]]] = {
    "/": ("text/html; charset=utf-8", live_html),
    "/live.json": ("application/json", live_json),
    "/metrics": ("text/plain; version=0.0.4; charset=utf-8", metrics),
}

_POLICY: Final = f"default-src 'none'; style-src 'unsafe-inline'; {RELOADS}"
_HEADERS: Final = f"""\
Content-Security-Policy: {_POLICY}; frame-ancestors 'none'
Cross-Origin-Resource-Policy: same-origin
X-Content-Type-Options: nosniff
Referrer-Policy: no-referrer
Cache-Control: no-store
Allow: GET, HEAD
Connection: close"""


class Dashboard:
    """Serves the latest snapshot of a crawl on 127.0.0.1."""

    def __init__(self, port: int, latest: Callable[[], Snapshot]) -> None:
        """Serve nothing yet; `latest` is called for each answer."""
        self._port = port
        self._latest = latest
        self._hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost", "[::1]")}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any] | None] = set()
        self._kept: tuple[Snapshot | None, dict[str, bytes]] = (None, {})

    def tend(self) -> None:
        """Serve, unless another worker does; a later call takes over from that worker."""
        if self._port and self._server is None and not self._tasks:
            self._tasks.add(asyncio.ensure_future(self.open()))

    async def open(self) -> None:
        """Serve now if the port is free."""
        with suppress(OSError):
            self._server = await asyncio.start_server(
                self._talk, LOOPBACK, self._port, limit=_MOST_HEAD_BYTES
            )
        self._tasks.discard(asyncio.current_task())

    def close(self) -> None:
        """End all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            if task is not None:
                task.cancel()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            if len(self._tasks) <= _MOST_CONNECTIONS:
                async with asyncio.timeout(_MOST_SECONDS):
                    writer.write(await self._answer(reader))
                    writer.close()
                    await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # A time-out is an OSError. At the end of the crawl asyncio would log a cancelled task.
            return
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _response(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        line, *lines = head.decode("latin-1").split("\r\n")
        words = line.split(" ")
        status = self._status(words, lines)
        is_ok = status is HTTPStatus.OK
        kind, body = (_PAGES[words[1]][0], self._page(words[1])) if is_ok else (_PLAIN, b"")
        return _response(status, kind, body, has_body=words[0] != "HEAD")

    def _status(self, words: Sequence[str], lines: Sequence[str]) -> HTTPStatus:
        """Return the status of the answer to a request line and header fields."""
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return HTTPStatus.BAD_REQUEST
        if not self._is_own(lines):
            return HTTPStatus.FORBIDDEN
        if words[0] not in ("GET", "HEAD"):
            return HTTPStatus.METHOD_NOT_ALLOWED
        return HTTPStatus.OK if words[1] in _PAGES else HTTPStatus.NOT_FOUND

    def _is_own(self, lines: Sequence[str]) -> bool:
        """Return True for header fields of a request by a user of this machine."""
        fields: dict[str, list[str]] = {}
        for line in lines:
            name, _, value = line.partition(":")
            fields.setdefault(name.strip().lower(), []).append(value.strip().lower())
        host = fields.get("host", [])
        origins = {f"http://{name}" for name in self._hosts}
        return (
            len(host) == 1
            and host[0] in self._hosts
            and origins.issuperset(fields.get("origin", ()))
            and {"none", "same-origin"}.issuperset(fields.get("sec-fetch-site", ()))
        )

    def _page(self, path: str) -> bytes:
        """Return a page, rendered once per snapshot."""
        snapshot = self._latest()
        if self._kept[0] is not snapshot:
            self._kept = (snapshot, {})
        pages = self._kept[1]
        if path not in pages:
            pages[path] = _PAGES[path][1](snapshot).encode("utf-8", "replace")
        return pages[path]


def _response(
    status: HTTPStatus, kind: str = _PLAIN, body: bytes = b"", *, has_body: bool = True
) -> bytes:
    body = body or f"{status.value} {status.phrase}\n".encode()
    head = f"HTTP/1.1 {status.value} {status.phrase}\nContent-Type: {kind}\n"
    head += f"Content-Length: {len(body)}\n{_HEADERS}\n\n"
    return head.replace("\n", "\r\n").encode() + (body if has_body else b"")
