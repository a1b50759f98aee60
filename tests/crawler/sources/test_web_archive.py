import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.errors import ArchiveError
from crawler.sources.archive import ArchiveWeb
from crawler.sources.contract import Answer, NotArchived
from crawler.url import normalise

DOCS = Path(__file__).parents[4] / "shared" / "data"
HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello</p>"


def record(url: str, http: bytes = HELLO, kind: str = "response", more: str = "") -> bytes:
    head = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n{more}"
    return f"{head}Content-Length: {len(http)}\r\n\r\n".encode() + http + b"\r\n\r\n"


def http(body: bytes, *headers: str, status: int = 200) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 {status} -\r\n{lines}\r\n".encode() + body


def archive(path: Path, *records: bytes) -> ArchiveWeb:
    return ArchiveWeb(write(path, *records))


def write(path: Path, *records: bytes) -> Path:
    name = path / "pages.warc.gz" if path.is_dir() else path
    pack: Callable[[bytes], bytes] = gzip.compress if name.suffix == ".gz" else bytes
    name.write_bytes(b"".join(map(pack, records)))
    return name


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_an_archived_answer_comes_back(tmp_path: Path, name: str) -> None:
    more = "WARC-IP-Address: 192.0.2.7\r\n"
    page = http(b"abc", "Content-Type: text/html", "Set-Cookie: a", "Set-Cookie: b", status=404)
    web = archive(tmp_path / name, record("http://a.de/", page, more=more), record("http://b.de/"))
    expected = (
        ("Content-Type", "text/html"),
        ("Set-Cookie", "a"),
        ("Set-Cookie", "b"),
        ("Content-Length", "3"),
    )
    assert web.respond("http://a.de/") == Answer(404, expected, b"abc", "192.0.2.7")
    assert web.respond("http://b.de/").ip is None
    assert (len(web), list(web.urls())) == (2, ["http://a.de/", "http://b.de/"])


@pytest.mark.parametrize(
    ("archived", "asked"),
    [
        ("http://a.de/", "http://a.de"),
        ("http://a.de", "http://a.de/#top"),
        ("http://a.de/x", "http://A.DE:80/x"),
        ("https://a.de:443/x", "https://a.de/x"),
        ("http://a.de/%c3%a4", "http://a.de/%C3%A4"),
        ("http://a.de/ä", "http://a.de/%C3%A4"),
        ("<http://a.de/x>", "http://a.de/x"),
        ("http://a.de/x?b=c", "https://a.de/x?b=c"),
        ("https://a.de/x", "http://a.de/x"),
    ],
)
def test_a_url_is_found_in_its_other_spellings(tmp_path: Path, archived: str, asked: str) -> None:
    assert archive(tmp_path, record(archived)).respond(asked).body == b"<p>hello</p>"


@pytest.mark.parametrize(
    "asked", ["http://a.de/X", "http://a.de/x/", "http://a.de/x?y", "", "x[", "\ud800"]
)
def test_another_url_is_not_archived(tmp_path: Path, asked: str) -> None:
    with pytest.raises(NotArchived) as caught:
        archive(tmp_path, record("http://a.de/x")).respond(asked)
    assert caught.value.reason == "not_archived"


def test_only_answers_over_http_are_served(tmp_path: Path) -> None:
    web = archive(
        tmp_path,
        record("http://a.de/", b"software: x", kind="warcinfo"),
        record("dns:a.de", b"20240101 a.de 192.0.2.1"),
        record("http://b.de/", b"GET / HTTP/1.1\r\n\r\n", kind="request"),
        record("http://c.de/", http(b""), kind="revisit"),
        record("http://d.de/"),
    )
    assert list(web.urls()) == ["http://d.de/"]


def test_a_robots_file_that_is_not_archived_is_absent(tmp_path: Path) -> None:
    web = archive(tmp_path, record("http://a.de/"))
    assert web.respond("http://a.de/robots.txt").status == 404
    with pytest.raises(NotArchived):
        web.respond("http://a.de/x/robots.txt")


@pytest.mark.parametrize(
    "page",
    [
        http(gzip.compress(b"hello"), "Content-Encoding: gzip"),
        http(zlib.compress(b"hello"), "Content-Encoding: deflate"),
        http(b"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
        http(b"hello", "Content-Encoding: gzip", "Transfer-Encoding: chunked"),
        http(b"5\r\nhello\r\n0\r\n\r\n", "Transfer-Encoding: chunked", "Content-Encoding: gzip"),
        http(gzip.compress(b"hello"), "Content-Encoding: gzip", "Transfer-Encoding: chunked"),
    ],
)
def test_encodings_are_undone_once(tmp_path: Path, page: bytes) -> None:
    answer = archive(tmp_path, record("http://a.de/", page)).respond("http://a.de/")
    assert (answer.body, answer.headers) == (b"hello", (("Content-Length", "5"),))


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"", "the file is empty"),
        (b"<html></html>", "at byte 0: this is not a WARC record"),
        (record("http://a.de/", b"GET /"), "at byte 0: no HTTP status line"),
        (record("http://a.de/", kind="metadata"), "no answer of a server"),
        (gzip.compress(record("http://a.de/") * 2), "warcio recompress OLD NEW"),
    ],
)
def test_what_is_no_whole_archive_is_refused(tmp_path: Path, content: bytes, seen: str) -> None:
    path = tmp_path / "bad.warc"
    path.write_bytes(content)
    with pytest.raises(ArchiveError) as caught:
        ArchiveWeb(path)
    message = str(caught.value)
    assert seen in message
    assert str(path) in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "more",
    ["WARC-Target-URI: http://b.de/\r\n", "no colon\r\n", "\x85WARC-Target-URI: http://b.de/\r\n"],
)
@pytest.mark.parametrize("version", [b"WARC/1.1", b"WARC/", b"WARC/9.9"])
def test_an_answer_is_found_under_the_url_that_its_archive_tells(
    tmp_path: Path, version: bytes, more: str
) -> None:
    damaged = record("http://a.de/", more=more).replace(b"WARC/1.1", version)
    web = archive(tmp_path, damaged)
    (url,) = web.urls()
    assert web.respond(url).body == b"<p>hello</p>"


def test_no_more_of_an_answer_is_read_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.sources.archive.BLOCK_LIMIT", 1_000_000)
    bomb = http(gzip.compress(bytes(5_000_000)), "Content-Encoding: gzip")
    web = archive(tmp_path, record("http://a.de/", bomb), record("http://b.de/"))
    assert len(web.respond("http://a.de/").body) == 1_000_000


def test_an_archive_changed_while_in_use_is_an_archive_error(tmp_path: Path) -> None:
    web = archive(tmp_path, record("http://a.de/"))
    (tmp_path / "pages.warc.gz").write_bytes(b"")
    with pytest.raises(ArchiveError, match="changed while in use"):
        web.respond("http://a.de/")


PATHS = st.text("abcäß漢/?=&%", max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(PATHS, st.binary(max_size=200), min_size=1, max_size=8), st.booleans())
def test_what_was_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, bodies: dict[str, bytes], packed: bool
) -> None:
    folder = tmp_path_factory.mktemp("law")
    urls = {normalise(f"http://a.de/{path}"): f"http://a.de/{path}" for path in bodies}
    pages = {url: bodies[url.removeprefix("http://a.de/")] for url in urls.values()}
    path = folder / ("a.warc.gz" if packed else "a.warc")
    web = archive(path, *(record(url, http(body)) for url, body in pages.items()))
    assert list(web.urls()) == list(pages)
    assert {url: web.respond(url).body for url in pages} == pages


@pytest.mark.skipif(not DOCS.is_dir(), reason="the shared archive is not here")
def test_every_listed_page_of_the_shared_archive_is_found() -> None:
    web = ArchiveWeb(DOCS / "docs.warc.gz")
    lines = (DOCS / "docs.tsv").read_text("utf-8").splitlines()[1:]
    urls = [line.split("\t")[0] for line in lines]
    assert len(urls) == 4961
    assert len(web) == len(urls) + 1
    assert all(web.respond(url).status == 200 for url in [*urls[::7], "http://portal.invalid"])
