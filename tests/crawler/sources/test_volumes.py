"""An archive is found as people keep it: files, folders and packages."""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from crawler.errors import ArchiveError
from crawler.sources.archive import ArchiveWeb
from crawler.sources.contract import NotArchived
from tests.crawler.sources.test_web_archive import http, record, write


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
    ("given", "told"),
    [
        ("{0}/a.warc.gz,{0}/absent.warc", r"absent\.warc: No such file"),
        ("{0}/empty", "no WARC file is in this directory"),
        ("{0}/no.wacz", "give a WACZ file"),
        ("{0}/empty.wacz", "no WARC file is in this package"),
        ("{0}/packed.wacz", "compressed or encrypted in the package"),
    ],
)
def test_what_is_missing_is_one_line(
    tmp_path: Path, files: list[Path], given: str, told: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.wacz").write_bytes(b"PK no")
    package(tmp_path / "empty.wacz", {"datapackage.json": b"{}"})
    package(tmp_path / "packed.wacz", {"archive/a.warc": page("a")}, ZIP_DEFLATED)
    with pytest.raises(ArchiveError, match=told) as caught:
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
    (told,) = caplog.messages
    assert f"the first: {files[0]}: at byte 0: damaged gzip data" in told


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
    assert names(web) == ["a", "c", "d", "b"]
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
