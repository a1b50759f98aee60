"""The dashboard answers its own user, and nobody whom a page of the Web sent."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from benchmarks.servers.loopback import free_port
from benchmarks.servers.processes import HANG_S
from langfocus.crawler.errors import SettingError
from langfocus.crawler.politeness.network import check_port, port_of
from langfocus.crawler.report.live import Snapshot
from langfocus.crawler.spiders import dashboard
from langfocus.crawler.spiders.dashboard import Dashboard
from tests.crawler.politeness.test_crawl_polite import linking
from tests.crawler.politeness.test_crawl_polite import served as served_pages
from tests.crawler.spiders.test_watch import Crawl
from tests.support.crawls import rows, started, wait_for
from tests.support.nameserver import name_server


def snapshot(url: str = "http://a.de/") -> Snapshot:
    crawl = Crawl()
    crawl.settle(url=url)
    return crawl.look()


Talk = Callable[[Callable[[bytes], Awaitable[bytes]], Dashboard], Awaitable[None]]


def served(talk: Talk, url: str = "http://a.de/") -> int:
    """Have a dashboard while a test talks to it; return its port."""
    port, shown = free_port(), snapshot(url)

    async def ask(request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request.replace(b"PORT", str(port).encode()))
        answer = await reader.read()
        writer.close()
        return answer

    async def run() -> None:
        one = Dashboard(port, lambda: shown)
        await one.open()
        try:
            await talk(ask, one)
        finally:
            one.close()

    asyncio.run(run())
    return port


OWN = b"Host: 127.0.0.1:PORT\r\n\r\n"
GET = b"GET /live.json HTTP/1.1\r\n"


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET / HTTP/1.1\r\n" + OWN, 200),
        (b"GET /metrics HTTP/1.0\r\n" + OWN, 200),
        (b"HEAD /live.json HTTP/1.1\r\n" + OWN, 200),
        (GET + b"hOST:LocalHost:PORT\r\n\r\n", 200),
        (GET + b"Host: [::1]:PORT\r\n\r\n", 200),
        (GET + b"Origin: http://localhost:PORT\r\nSec-Fetch-Site: same-origin\r\n" + OWN, 200),
        (GET + b"Host: evil.example:PORT\r\n\r\n", 403),
        (GET + b"Host: 127.0.0.1\r\n\r\n", 403),
        (GET + b"Host: 127.0.0.1.evil.example:PORT\r\n\r\n", 403),
        (GET + b"Host: evil.example:PORT\r\n" + OWN, 403),
        (GET + b"\r\n", 403),
        (GET + b"Origin: http://evil.example\r\n" + OWN, 403),
        (GET + b"Origin: null\r\n" + OWN, 403),
        (GET + b"Sec-Fetch-Site: cross-site\r\n" + OWN, 403),
        (GET + b"Sec-Fetch-Site: same-site\r\n" + OWN, 403),
        (b"OPTIONS /live.json HTTP/1.1\r\nOrigin: http://evil.example\r\n" + OWN, 403),
        (b"OPTIONS * HTTP/1.1\r\n" + OWN, 405),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\n" + OWN + b"a=b", 405),
        (b"get / HTTP/1.1\r\n" + OWN, 405),
        (b"GET /../../etc/passwd HTTP/1.1\r\n" + OWN, 404),
        (b"GET /%2e%2e/run.db HTTP/1.1\r\n" + OWN, 404),
        (b"GET //evil.example/ HTTP/1.1\r\n" + OWN, 404),
        (b"GET http://evil.example/ HTTP/1.1\r\n" + OWN, 404),
        (b"CONNECT evil.example:443 HTTP/1.1\r\n" + OWN, 405),
        (b"GET /\r\n\r\n", 400),
        (b"\x16\x03\x01\x00\xff\x80\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + OWN, 431),
        (GET + b"X: " + b"a" * 9000 + b"\r\n" + OWN, 431),
        (b"GET / HTTP/1.1\r\n" + OWN + b"GET /metrics HTTP/1.1\r\n" + OWN, 200),
    ],
)
def test_each_request_gets_one_answer_with_its_status(request_bytes: bytes, status: int) -> None:
    async def talk(ask: Callable[[bytes], Awaitable[bytes]], one: Dashboard) -> None:
        head, _, body = (await ask(request_bytes)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"access-control" not in head.lower()
        for field in (
            b"Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'",
            b"X-Content-Type-Options: nosniff",
            b"Referrer-Policy: no-referrer",
            b"Cache-Control: no-store",
            b"Connection: close",
        ):
            assert field in head
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        assert len(body) == (0 if request_bytes.startswith(b"HEAD") else length)
        assert length > 0
        if status != 200:
            assert b"a.de" not in body

    served(talk)


def test_idle_and_many_connections_are_closed_and_do_not_keep_others_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dashboard, "_MOST_SECONDS", 0.2)

    async def talk(ask: Callable[[bytes], Awaitable[bytes]], one: Dashboard) -> None:
        idle = [await asyncio.open_connection("127.0.0.1", one._port) for _ in range(200)]
        idle[0][1].write(b"GET / HT")
        await asyncio.sleep(0)
        assert len(one._tasks) <= dashboard._MOST_CONNECTIONS
        for reader, writer in idle:
            assert await reader.read() == b""
            writer.close()
        assert not one._tasks
        assert (await ask(b"GET / HTTP/1.1\r\n" + OWN)).startswith(b"HTTP/1.1 200")
        # Whoever reads nothing is cut off too.
        reader, writer = await asyncio.open_connection("127.0.0.1", one._port)
        writer.write(b"x" * 100_000)
        assert b"431" in await reader.readline()
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", one._port)
        writer.write(b"GET")
        await ask(b"x\r\n\r\n")  # by now it has the other connection
        one.close()
        assert await reader.read() == b""
        writer.close()

    served(talk)
    assert not caplog.records


def test_a_url_of_a_stranger_is_text_everywhere() -> None:
    hostile = "http://a.de/<script>alert(1)</script>\"'&\x00\x1b[2J\u202e" + "x" * 8000

    async def talk(ask: Callable[[bytes], Awaitable[bytes]], one: Dashboard) -> None:
        for path in (b"/", b"/live.json", b"/metrics"):
            answer = await ask(b"GET %s HTTP/1.1\r\n" % path + OWN)
            assert answer.startswith(b"HTTP/1.1 200")
            assert b"\x1b" not in answer
            assert b"\x00" not in answer
            if path == b"/":
                assert answer.lower().count(b"<script") == 1  # that loads the page again
                assert b"<script>alert" not in answer
                head, _, page = answer.partition(b"\r\n\r\n")
                policy = re.compile(rb"script-src (?:'|&#39;)(sha256-[^'&]+)")
                assert policy.findall(head) == policy.findall(page) != []
                assert b"&lt;script&gt;" in answer

    served(talk, hostile)


def test_a_port_in_use_is_told_before_the_crawl_and_taken_over_when_it_is_free() -> None:
    async def talk(ask: Callable[[bytes], Awaitable[bytes]], one: Dashboard) -> None:
        with pytest.raises(SettingError, match=r"LANGFOCUS_DASHBOARD=\d+: .*in use"):
            check_port(one._port)
        other = Dashboard(one._port, lambda: snapshot("http://other.de/"))
        await other.open()
        assert other._server is None
        one.close()
        await other.open()
        assert b"other.de" in await ask(GET + OWN)
        other.close()

    check_port(served(talk))
    check_port(0)


def test_a_crawl_shows_itself_and_never_fetches_its_own_port(tmp_path: Path) -> None:
    port = free_port()
    hosts = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "[::ffff:7f00:1]", "in.example"]
    links = [f"http://{host}:{port}/{number}" for number, host in enumerate(hosts)]
    with (
        served_pages(root=linking(*links)) as (_, server),
        name_server({"in.example": "127.0.0.1"}) as names,
    ):
        server.answers = 1  # robots.txt; the page waits
        with started(
            *("lang=de", "strategy=bfs", "filter=none"),
            f"seeds=http://127.0.0.1:{server.port}/root",
            JOBDIR=tmp_path,
            DOWNLOAD_DELAY=0,
            LANGFOCUS_DASHBOARD=port,
            LANGFOCUS_DNS=names.address,
            LANGFOCUS_PRIVATE_ADDRESSES=True,
        ) as crawl:
            wait_for(server, 2, crawl)
            with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                assert b"langfocus_running 1\n" in answer.read()
            server.answers = None
            output, _ = crawl.communicate(timeout=HANG_S)
    assert crawl.returncode == 0, output
    outcomes = dict(rows(tmp_path, "SELECT url, outcome FROM pages"))
    assert outcomes.pop(f"http://127.0.0.1:{server.port}/root") == "page"
    assert len(outcomes) == len(links)
    assert set(outcomes.values()) == {"private_address"}


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://127.1:9464/", 9464),
        ("http://user:1@[::1]:9464/x", 9464),
        ("http://a.de/", 80),
        ("https://a.de/", 443),
        ("http://0.0.0.0:09464/", 9464),
    ],
)
def test_a_url_has_a_port(url: str, port: int) -> None:
    assert port_of(url) == port
