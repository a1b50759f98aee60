"""A crawl with any download handler keeps its rules, and says what it lacks."""

import asyncio
import errno
import gzip
import json
from argparse import Namespace
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import HtmlResponse, Response
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from benchmarks.servers.loopback import loopback
from langfocus.crawler.commands.base import settings_of
from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.politeness.network import PrivateAddressError
from langfocus.crawler.sources.contract import Web
from langfocus.crawler.sources.sample import SampleWeb
from langfocus.crawler.spiders.faults import HeadTooLarge, explain, local_fault
from langfocus.crawler.spiders.fetch import KEY, Fetch
from langfocus.crawler.spiders.messages import rebuilt
from langfocus.crawler.spiders.other_handlers import CheckedHandler
from tests.crawler.politeness.test_crawl_polite import linking, outcomes, polite, served
from tests.support.crawls import crawl, finished, rows, smallest_gap
from tests.support.nameserver import name_server
from tests.support.smallweb import SmallWeb

SCRAPYS = "scrapy.core.downloader.handlers"
OTHERS = {
    "scrapy": f"{SCRAPYS}.http11.HTTP11DownloadHandler",
    "aiohttp": f"{SCRAPYS}._aiohttp.AiohttpDownloadHandler",
    "wreq": "scrapy_download_handlers_incubator.WreqDownloadHandler",
}
DELAY_S = 0.05
AT_ONCE = {"DOWNLOAD_DELAY": 0, "LANGFOCUS_RETRY_DELAY": 0, "LANGFOCUS_PER_ADDRESS": 0}


def chosen(handler: str) -> dict[str, Any]:
    """Return the setting that chooses a handler."""
    return {"DOWNLOAD_HANDLERS": json.dumps(dict.fromkeys(("http", "https"), handler))}


def handler_named(name: str) -> str:
    """Return a handler whose library is installed."""
    needed = {"aiohttp": "aiohttp", "wreq": "scrapy_download_handlers_incubator"}.get(name)
    if needed and (find_spec(needed) is None or find_spec(name) is None):
        pytest.skip(f"{needed} with {name} is not installed")
    return OTHERS[name]


def http_records(folder: Path) -> Iterator[ArcWarcRecord]:
    """Yield the requests and answers in the WARC file of a run."""
    [archive] = folder.glob("*.warc.gz")
    with archive.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            if record.rec_type in ("request", "response"):
                yield record


@dataclass(frozen=True)
class Crawled:
    """The requests, stored rows and log messages of a crawl."""

    asked: list[str]
    pages: list[tuple[Any, ...]]
    exchanges: list[tuple[Any, ...]]
    marks: set[str | None]
    said: list[str]


def crawled(web: Web, folder: Path, *seeds: str, **settings: Any) -> Crawled:
    """Crawl a web on loopback, one request at a time."""
    given = ("lang=de", "strategy=bfs", f"seeds={','.join(seeds)}", "host_cap=4")
    limits = {"CONCURRENT_REQUESTS": 1, "RETRY_TIMES": 0, **AT_ONCE, **settings}
    with loopback(web) as proxy:
        done = finished(*given, proxy=proxy.url, JOBDIR=folder, **limits)
    kept = [(record.rec_type, record.rec_headers.get_header) for record in http_records(folder)]
    return Crawled(
        [access.url for access in proxy.log],
        rows(folder, "SELECT url, outcome, status, language, charset FROM pages ORDER BY rowid"),
        [(kind, value("WARC-Target-URI"), value("WARC-Payload-Digest")) for kind, value in kept],
        {value("X-Crawler-Head") for _, value in kept},
        [line for line in done.stderr.splitlines() if "docs/download-handlers.md" in line],
    )


def of_small_web(folder: Path, **settings: Any) -> Crawled:
    return crawled(SmallWeb(40), folder, SmallWeb(40).url(0), **settings)


def of_sample_web(folder: Path, **settings: Any) -> Crawled:
    web = SampleWeb(hosts=30, secure=0.0)
    found = crawled(web, folder, *web.seeds("de"), **settings)
    # Its slow hosts decide the order.
    return replace(found, asked=sorted(found.asked), pages=sorted(found.pages, key=str))


WEBS = {"small": of_small_web, "sample": of_sample_web}


@pytest.fixture(scope="module", params=WEBS)
def web(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def own(web: str, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return WEBS[web](tmp_path_factory.mktemp("own"))


def test_our_handler_keeps_the_bytes_as_sent(own: Crawled) -> None:
    assert len(own.pages) > 15
    assert (own.marks, own.said) == ({None}, [])


@pytest.mark.parametrize("name", OTHERS)
def test_another_handler_crawls_the_same_pages_in_the_same_order(
    name: str, web: str, own: Crawled, tmp_path: Path
) -> None:
    other = WEBS[web](tmp_path, **chosen(handler_named(name)))
    assert other.asked == own.asked
    assert other.pages == own.pages
    assert sorted(map(str, other.exchanges)) == sorted(map(str, own.exchanges))
    assert other.marks == {"rebuilt"}
    [line] = other.said
    assert OTHERS[name].rpartition(".")[2] in line
    assert ("looked up again" in line) is (name != "scrapy")


@pytest.mark.parametrize("name", OTHERS)
def test_another_handler_is_not_called_for_a_name_with_a_private_address(
    name: str, tmp_path: Path
) -> None:
    with served() as (_, inner):
        url = f"http://inside.example:{inner.port}/"
        polite(tmp_path, url, names={"inside.example": "127.0.0.1"}, **chosen(handler_named(name)))
    assert outcomes(tmp_path) == {url: "private_address"}
    assert inner.log == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_host_gets_its_delay_from_another_handler(name: str, tmp_path: Path) -> None:
    handler = chosen(handler_named(name))
    with loopback(SmallWeb(12)) as proxy:
        seed = f"seeds={SmallWeb().url(0)}"
        how: dict[str, Any] = {"proxy": proxy.url, "DOWNLOAD_DELAY": DELAY_S, **handler}
        finished("lang=de", seed, JOBDIR=tmp_path, **how)
    assert len(proxy.log) >= 12
    assert smallest_gap(proxy) >= DELAY_S


def test_scrapys_handler_connects_to_the_checked_address(tmp_path: Path) -> None:
    # Only our name server knows the name.
    with served() as (_, server), name_server({"a.de": "127.0.0.1"}) as names:
        url = f"http://a.de:{server.port}/"
        how = {"LANGFOCUS_DNS": names.address, **chosen(OTHERS["scrapy"])}
        polite(tmp_path, url, LANGFOCUS_PRIVATE_ADDRESSES=True, **how)
    assert outcomes(tmp_path) == {url: "page"}
    assert rows(tmp_path, "SELECT taken FROM hosts WHERE host = 'ip 127.0.0.1'") == [(3,)]


def test_hosts_that_forbid_a_page_or_refuse_a_connection_are_explained(tmp_path: Path) -> None:
    with served() as (web, server):
        origin = f"http://127.0.0.1:{server.port}"
        web.answers[f"{origin}/"] = linking("/x", "http://127.0.0.1:1234/")
        private: dict[str, Any] = {"LANGFOCUS_PRIVATE_ADDRESSES": True, "RETRY_TIMES": 0}
        polite(tmp_path, f"{origin}/", **private, **chosen(handler_named("aiohttp")))
    assert outcomes(tmp_path) == {
        f"{origin}/": "page",
        f"{origin}/x": "page",
        "http://127.0.0.1:1234/": "refused",
    }


def test_a_handler_without_signals_that_unpacks_bodies_is_read(tmp_path: Path) -> None:
    seeds = "seeds=http://host0.example.de/page/0"
    handler = chosen("tests.support.handlers.Unpacking")
    names = {f"host{number}.example.de": "9.9.9.9" for number in range(3)}
    with name_server(names) as server:
        how = {"LANGFOCUS_DNS": server.address, **AT_ONCE, **handler}
        finished("lang=de", seeds, JOBDIR=tmp_path, **how)
    assert rows(tmp_path, "SELECT DISTINCT language FROM pages WHERE outcome = 'page'") == [
        ("de",),
        ("en",),
    ]
    heads = [one.http_headers for one in http_records(tmp_path) if one.rec_type == "response"]
    assert len(heads) >= 20
    assert {head.get_header("Content-Encoding") for head in heads} == {None}
    assert {head.get_header("X-Crawler-Content-Encoding") for head in heads} == {"gzip"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (json.dumps({"http": "nowhere.Handler"}), "DOWNLOAD_HANDLERS=nowhere.Handler: No module"),
        (json.dumps({"http": "os.nothing"}), "DOWNLOAD_HANDLERS=os.nothing: "),
        (
            json.dumps({"http": "tests.support.handlers.NotInstalled"}),
            "DOWNLOAD_HANDLERS: tests.support.handlers.NotInstalled: its library is not installed",
        ),
    ],
)
def test_a_handler_that_cannot_be_used_ends_the_crawl_in_one_line(
    value: str, said: str, tmp_path: Path
) -> None:
    done = crawl("lang=de", "seeds=http://a.de/", JOBDIR=tmp_path, DOWNLOAD_HANDLERS=value)
    assert done.returncode in (1, 2)
    [line] = [line for line in done.stderr.splitlines() if "DOWNLOAD_HANDLERS" in line]
    assert line.startswith(f"langfocus: {said}")
    assert "Traceback" not in done.stderr


def test_a_setting_that_is_no_json_is_named() -> None:
    with pytest.raises(SettingError, match=r"FEEDS=\{: Expecting"):
        settings_of(Namespace(set=["LOG_LEVEL=INFO", "FEEDS={"]))


def test_a_web_without_servers_is_read_whatever_handler_is_set(tmp_path: Path) -> None:
    handler = chosen("tests.support.handlers.NotInstalled")
    finished("lang=de", "web=sample", "pages=5", JOBDIR=tmp_path, **handler)


# The checks of an answer.


def download(response: Response, *, is_open: bool = False, **meta: Any) -> tuple[Response, Fetch]:
    """Return what the crawl gets of an answer to http://a.de/, and its fetch."""
    found, fetch = checked(response, meta, is_open=is_open)
    return asyncio.run(found), fetch


def checked(
    response: Response,
    meta: dict[str, Any],
    *,
    is_open: bool = False,
    is_file: bool = False,
    asked: list[Request] | None = None,
) -> tuple[Coroutine[Any, Any, Response], Fetch]:
    async def send(request: Request) -> Response:
        if asked is not None:
            asked.append(request)
        await asyncio.sleep(meta.get("sleeps_s", 0))
        if "raises" in meta:
            raise meta["raises"]
        return response

    crawl: Any = SimpleNamespace(
        ending=SimpleNamespace(note_answer=lambda: None),
        contacts=SimpleNamespace(allows_private=lambda _: is_open),
        config=SimpleNamespace(keeps_warc=True),
    )
    fetch = Fetch(Lease(1, "http://a.de/", "a.de", 0.0, 0, 0, 0), 0.0, is_file)
    request = Request("http://a.de/", meta={KEY: fetch, **meta})
    return CheckedHandler(send, crawl, 100)(request), fetch


def answered(body: bytes = b"<p>x", url: str = "http://a.de/", **how: Any) -> Response:
    return HtmlResponse(url, body=body, **how)


def test_an_answer_from_a_private_address_is_dropped() -> None:
    private = answered(ip_address=ip_address("169.254.169.254"))
    with pytest.raises(PrivateAddressError):
        download(private)
    assert download(private, is_open=True)[0].body == b"<p>x"
    assert download(private, proxy="http://proxy:3128")[0].body == b"<p>x"
    assert download(answered(ip_address=ip_address("9.9.9.9")))[0].body == b"<p>x"


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (answered(b"x" * 101), DownloadCancelledError),
        (answered(headers={"X": "x" * 300_000}), HeadTooLarge),
        (answered(headers={"X": ["x" * 1000] * 300}), HeadTooLarge),
    ],
)
def test_an_answer_that_is_too_large_is_dropped(response: Response, error: type[Exception]) -> None:
    with pytest.raises(error):
        download(response)


def test_a_file_may_be_as_large_as_its_request_allows() -> None:
    assert len(download(answered(b"x" * 101), download_maxsize=0)[0].body) == 101


def test_a_handler_without_a_time_out_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langfocus.crawler.spiders.other_handlers._GRACE_S", 0.0)
    with pytest.raises(DownloadTimeoutError):
        download(answered(), sleeps_s=60, download_timeout=0.01)


def test_a_browser_gets_pages_and_no_files() -> None:
    for file in (True, False):
        asked: list[Request] = []
        found, _ = checked(answered(), {"playwright": True}, is_file=file, asked=asked)
        asyncio.run(found)
        assert ["playwright" in request.meta for request in asked] == [not file]


def test_a_handler_that_cancels_itself_fails_and_the_crawl_goes_on() -> None:
    with pytest.raises(DownloadFailedError, match="cancelled by its handler"):
        download(answered(), raises=asyncio.CancelledError())


def test_a_request_that_the_crawl_cancels_stays_cancelled() -> None:
    async def cancelled() -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().call_soon(task.cancel)
        await checked(answered(), {"sleeps_s": 60})[0]

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


@pytest.mark.parametrize("target", ["http://b.de/", "https://a.de/", "http://a.de/login"])
def test_a_redirect_that_a_handler_has_followed_is_one_for_the_crawl(target: str) -> None:
    response, fetch = download(answered(url=target))
    assert (response.status, response.url) == (302, "http://a.de/")
    assert response.headers[b"Location"] == target.encode()
    assert fetch.heads is None


@pytest.mark.parametrize("spelling", ["http://a.de", "http://A.de/#top", "http://a.de:80/"])
def test_another_spelling_of_a_url_is_no_redirect(spelling: str) -> None:
    response, _ = download(answered(url=spelling))
    assert (response.status, response.url) == (200, "http://a.de/")


GZIP = gzip.compress(b"<p>x")


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        (GZIP, {"Content-Encoding": "gzip"}, {"Content-Encoding"}),
        (GZIP, {"Content-Encoding": "gzip", "Content-Length": "24"}, None),
        (b"<p>x", {"Content-Encoding": "gzip"}, {"X-Crawler-Content-Encoding"}),
        (
            b"<p>x",
            {"Content-Encoding": "br", "Content-Length": "24"},
            {"X-Crawler-Content-Encoding", "X-Crawler-Content-Length"},
        ),
        # The server itself is wrong.
        (b"<p>x", {"Content-Encoding": "gzip", "Content-Length": "4"}, None),
        (b"<p>x", {"Content-Length": "99"}, {"X-Crawler-Content-Length"}),
        (b"", {"Content-Encoding": "gzip", "Content-Length": "99"}, None),
    ],
)
def test_headers_that_do_not_describe_the_body_get_another_name(
    body: bytes, headers: Mapping[str, str], expected: set[str] | None
) -> None:
    response, fetch = download(answered(body, headers=headers))
    names = {name.decode().title() for name in response.headers}
    assert names == (set(headers) if expected is None else expected)
    assert fetch.heads is not None
    assert all(f"\n{name}: ".encode() in fetch.heads.answer for name in names)


def test_a_body_that_was_cut_keeps_its_length() -> None:
    response, _ = download(answered(b"<p>", headers={"Content-Length": "9"}, flags=["dataloss"]))
    assert response.headers[b"Content-Length"] == b"9"


@pytest.mark.parametrize(
    ("protocol", "kept"), [("HTTP/1.1", "http/1.1"), ("HTTP/2.0", "h2"), ("h2", "h2"), (None, "")]
)
def test_rebuilt_heads_have_the_syntax_of_http_1_and_the_name_of_the_protocol(
    protocol: str | None, kept: str
) -> None:
    request = Request("http://a.de:81/b//c?d=/e#f", headers={"Accept": "*/*"})
    headers = {"Set-Cookie": ["a=1", "b=2"], "X": "a\r\n\r\n<p>"}
    response = Response(request.url, 404, headers, protocol=protocol)
    assert rebuilt(request, response) == (
        b"GET /b//c?d=/e HTTP/1.1\r\nHost: a.de:81\r\nAccept: */*\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX: a <p>\r\n\r\n",
        kept,
    )


# What the errors of other libraries mean.

RUST = 'ConnectError("tcp open error", 127.0.0.1:80, Os { code: %d, kind: X, message: "x" })'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (RUST % errno.EMFILE, "Too many open files"),
        ("[{'message': 'tcp open error'}, {'message': 'x (os error 24)'}]", "Too many open files"),
        (RUST % errno.ECONNREFUSED, ""),
        ("http://a.de/(os%20error%2024)", ""),
        ("tcp connect error (os error 24)", ""),
    ],
)
def test_a_fault_of_this_machine_is_read_from_the_texts_of_rust(text: str, fault: str) -> None:
    assert local_fault(DownloadConnectionRefusedError(text)) == fault


def test_a_failure_of_tls_is_one_although_a_handler_calls_it_a_refusal() -> None:
    text = 'Ssl(ErrorStack([Error { library: "SSL routines", reason: "WRONG_VERSION_NUMBER" }]))'
    assert explain(DownloadConnectionRefusedError(text)) == ("tls", True)
    assert explain(DownloadConnectionRefusedError("refused")) == ("refused", False)
