"""An archive is found as people keep it, and a crawl is answered from it."""

import gzip
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from langfocus.crawler.errors import ArchiveError
from langfocus.crawler.sources.archive import ArchiveWeb
from langfocus.crawler.sources.contract import Answer, NotArchived

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
    index = web._index._sql
    del web
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):  # Python 3.13 warns of others
        index.execute("SELECT 1")


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


def test_another_url_is_not_archived_and_a_missing_robots_file_is_absent(tmp_path: Path) -> None:
    web = archive(tmp_path, record("http://a.de/x"))
    others = ("http://a.de/X", "http://a.de/x/", "http://a.de/x?y", "", "x[", "\ud800")
    for asked in (*others, "http://a.de/x/robots.txt"):
        with pytest.raises(NotArchived) as caught:
            web.respond(asked)
        assert caught.value.reason == "not_archived"
    assert web.respond("http://a.de/robots.txt").status == 404


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


def test_no_more_of_an_answer_is_read_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langfocus.crawler.sources.archive.BLOCK_LIMIT", 1_000_000)
    bomb = http(gzip.compress(bytes(5_000_000)), "Content-Encoding: gzip")
    web = archive(tmp_path, record("http://a.de/", bomb), record("http://b.de/"))
    assert len(web.respond("http://a.de/").body) == 1_000_000


def test_an_archive_changed_while_in_use_is_an_archive_error(tmp_path: Path) -> None:
    web = archive(tmp_path, record("http://a.de/"))
    (tmp_path / "pages.warc.gz").write_bytes(b"")
    with pytest.raises(ArchiveError, match="changed while in use"):
        web.respond("http://a.de/")


@pytest.mark.skipif(not DOCS.is_dir(), reason="the shared archive is not here")
def test_every_listed_page_of_the_shared_archive_is_found() -> None:
    web = ArchiveWeb(DOCS / "docs.warc.gz")
    lines = (DOCS / "docs.tsv").read_text("utf-8").splitlines()[1:]
    urls = [line.split("\t")[0] for line in lines]
    assert len(urls) == 4961
    assert len(web) == len(urls) + 1
    assert all(web.respond(url).status == 200 for url in [*urls[::7], "http://portal.invalid"])


# Files, folders and packages.


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three WARC files: a.warc.gz, b.warc and below/c.warc.gz, each with a page of its name."""
    (tmp_path / "below").mkdir()
    names = ("a.warc.gz", "b.warc", "below/c.warc.gz")
    return [write(tmp_path / name, page(name), page("all", name)) for name in names]


def page(name: str, body: str = "") -> bytes:
    return record(url(name), http((body or name).encode()))


def url(name: str) -> str:
    return f"http://a.de/{name}"


def names(web: ArchiveWeb) -> list[str]:
    return [found.removeprefix("http://a.de/") for found in web.urls()]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("{0}/a.warc.gz,{0}/b.warc", ["a.warc.gz", "b.warc"]),
        ("{0}/b.warc , {0}/a.warc.gz", ["b.warc", "a.warc.gz"]),
        ("{0}", ["a.warc.gz", "b.warc", "below/c.warc.gz"]),
        ("{0}/below", ["below/c.warc.gz"]),
        ("{0}/*.warc*", ["a.warc.gz", "b.warc"]),
        ("{0}/**/*.gz", ["a.warc.gz", "below/c.warc.gz"]),
        ("{0}/below,{0}/[b].warc", ["below/c.warc.gz", "b.warc"]),
    ],
)
def test_files_are_found_in_their_order_and_the_first_answer_counts(
    tmp_path: Path, files: list[Path], given: str, found: list[str]
) -> None:
    web = ArchiveWeb(given.format(tmp_path))
    assert [name for name in names(web) if name != "all"] == found
    assert web.respond(url(found[-1])).body == found[-1].encode()
    assert web.respond(url("all")).body == found[0].encode()
    with pytest.raises(NotArchived):
        web.respond(url("none"))


def test_a_name_with_a_comma_or_a_bracket_is_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a,b[1].warc", page("x"))
    assert names(ArchiveWeb(path)) == ["x"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{0}/a.warc.gz,{0}/absent.warc", r"absent\.warc: No such file"),
        ("{0}/absent*.warc", r"absent\*\.warc: No such file"),
        ("{0}/empty", "no WARC file is in this directory"),
        ("{0}/no.wacz", "give a WACZ file"),
        ("{0}/empty.wacz", "no WARC file is in this package"),
        ("{0}/packed.wacz", "compressed or encrypted in the package"),
    ],
)
def test_what_is_missing_is_one_line(
    tmp_path: Path, files: list[Path], given: str, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.wacz").write_bytes(b"PK no")
    package(tmp_path / "empty.wacz", {"datapackage.json": b"{}"})
    package(tmp_path / "packed.wacz", {"archive/a.warc": page("a")}, ZIP_DEFLATED)
    with pytest.raises(ArchiveError, match=message) as caught:
        ArchiveWeb(given.format(tmp_path))
    assert "\n" not in str(caught.value)


def package(path: Path, members: dict[str, bytes], compression: int = ZIP_STORED) -> Path:
    with ZipFile(path, "w", compression) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return path


def test_a_package_is_read_in_place(tmp_path: Path, files: list[Path]) -> None:
    members = {f"archive/{path.name}": path.read_bytes() for path in files}
    web = ArchiveWeb(package(tmp_path / "x.wacz", {"datapackage.json": b"{}", **members}))
    assert web.respond(url("b.warc")).body == b"b.warc"
    assert web.respond(url("below/c.warc.gz")).body == b"below/c.warc.gz"
    assert len(web) == 6
    assert not web.skipped


def test_a_damaged_file_among_others_is_counted(
    tmp_path: Path, files: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    files[0].write_bytes(b"no archive")
    web = ArchiveWeb(tmp_path)
    assert names(web) == ["b.warc", "all", "below/c.warc.gz", "all"]
    assert len(web.skipped) == 1
    (message,) = caplog.messages
    assert f"the first: {files[0]}: at byte 0: damaged gzip data" in message


REFERS = "WARC-Refers-To-Target-URI: {}\r\nWARC-Payload-Digest: sha1:{}\r\n"


def test_a_revisit_has_its_own_head_and_the_body_that_it_refers_to(tmp_path: Path) -> None:
    digest = "WARC-Payload-Digest: sha1:B\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
    body = record(url("b"), http(b"body", "Server: one"), more=digest)
    head = http(b"", "Server: two", status=203)
    revisit = record(url("a"), head, "revisit", REFERS.format(url("b"), "b"))
    no_head = record(url("c"), b"", "revisit", REFERS.format(url("b"), "b"))
    other = record(url("d"), head, "revisit", REFERS.format(url("b"), "other"))
    nowhere = record(url("e"), head, "revisit", REFERS.format(url("x"), "b"))
    write(tmp_path / "1.warc.gz", revisit, no_head, other, nowhere)
    write(tmp_path / "2.warc.gz", body)
    web = ArchiveWeb(tmp_path)
    found = web.respond(url("a"))
    assert (found.status, found.body, found.header("Server")) == (203, b"body", "two")
    assert web.respond(url("c")).header("Server") == "one"
    assert names(web) == ["a", "c", "b"]
    for name in ("d", "e"):
        with pytest.raises(NotArchived):
            web.respond(url(name))


def test_an_answer_keeps_the_bytes_and_the_date_of_its_archive(tmp_path: Path) -> None:
    more = "WARC-Date: 1970-01-01T00:01:40Z\r\n"
    block = b"HTTP/1.0 200 ok\nX-A:b\n\nbody"
    web = ArchiveWeb(write(tmp_path / "a.warc", record(url("a"), block, more=more)))
    assert web.respond(url("a")).source == (100.0, b"HTTP/1.0 200 ok\nX-A:b\n\n", b"body")
    undated = ArchiveWeb(write(tmp_path / "b.warc", record(url("a"), block)))
    assert undated.respond(url("a")).source is None
