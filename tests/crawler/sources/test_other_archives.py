"""Records in archives of other programs, and which records belong together."""

import base64
import hashlib
from pathlib import Path

import pytest
from fastwarc.stream_io import Lz4Writer, ZstdWriter

from langfocus.crawler.errors import ArchiveError
from langfocus.crawler.sources.answer_index import digest_of
from langfocus.crawler.sources.archive import ArchivedAnswer, ArchiveWeb, answers
from langfocus.crawler.sources.contract import NotArchived
from langfocus.crawler.sources.warc_reader import Damage
from tests.crawler.sources.test_web_archive import archive, http, record, write

PAGE = b"<p>hello</p>"
SHA1 = hashlib.sha1(PAGE, usedforsecurity=False).digest()
ARC = b"""filedesc://a.arc 0.0.0.0 20140216050221 text/plain 76
1 0 LiveWeb Capture
URL IP-address Archive-date Content-type Archive-length

"""


def of_arc(url: str, block: bytes, fields: str = "192.0.2.7 20140216050221 text/html") -> bytes:
    return f"{url} {fields} {len(block)}\n".encode() + block + b"\n"


def found(path: Path) -> dict[str, bytes]:
    return {
        each.url: each.answer.body for each in answers(path) if isinstance(each, ArchivedAnswer)
    }


@pytest.mark.parametrize("name", ["a.arc", "a.arc.gz"])
@pytest.mark.parametrize(
    "fields",
    ["192.0.2.7 20140216050221 text/html", "192.0.2.7 20140216050221 text/html 200 - - 0 a.arc"],
)
def test_an_arc_file_is_read_like_a_warc_file(tmp_path: Path, name: str, fields: str) -> None:
    spaced, bare = "http://a.de/x?a=b c", "http://a.de/bare"
    parts = [ARC, of_arc(spaced, http(PAGE), fields), of_arc("dns:a.de", b"x"), of_arc(bare, PAGE)]
    path = write(tmp_path / name, *parts)
    assert found(path) == {spaced: PAGE, bare: PAGE}
    answer = ArchiveWeb(path).respond(spaced)
    assert (answer.status, answer.body, answer.ip) == (200, PAGE, "192.0.2.7")
    assert answer.source is not None
    assert answer.source.began_at == 1392526941
    assert ArchiveWeb(path).respond(bare).header("Content-Type") == "text/html"


def test_an_arc_file_is_read_past_damage(tmp_path: Path) -> None:
    last = of_arc("http://b.de/", PAGE)
    path = write(tmp_path / "a.arc", ARC, of_arc("http://a.de/", PAGE)[:-3] + b"x\n", last)
    damaged = path.read_bytes().replace(b"text/html 12", b"text/html x", 1)
    path.write_bytes(damaged)
    assert found(path) == {"http://b.de/": PAGE}
    assert sum(isinstance(each, Damage) for each in answers(path)) == 1


@pytest.mark.parametrize(
    ("writer", "name"), [(Lz4Writer, "a.warc.lz4"), (ZstdWriter, "a.warc.zst")]
)
def test_lz4_and_zstandard_are_read_in_one_pass(tmp_path: Path, writer: type, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        packed = writer(file)
        for url in ("http://a.de/", "http://b.de/"):
            packed.write(record(url))
        packed.close()
    assert found(path) == dict.fromkeys(("http://a.de/", "http://b.de/"), PAGE)
    with pytest.raises(ArchiveError, match="fastwarc recompress OLD NEW"):
        ArchiveWeb(path)
    path.write_bytes(path.read_bytes()[:-30])
    assert any(isinstance(each, Damage) for each in answers(path))


@pytest.mark.parametrize(
    ("kind", "content"), [("resource", "text/html"), ("Conversion", "text/plain")]
)
def test_a_body_without_an_answer_is_a_page(tmp_path: Path, kind: str, content: str) -> None:
    more = f"Content-Type: {content}\r\n"
    path = write(tmp_path / "a.warc.gz", record("http://a.de/", PAGE, kind, more))
    assert found(path) == {"http://a.de/": PAGE}
    assert ArchiveWeb(path).respond("http://a.de/").header("Content-Type") == content


def test_types_are_read_in_any_case_and_unusual_ones_are_named(tmp_path: Path) -> None:
    assert found(write(tmp_path / "a.warc", record("http://a.de/", kind="RESPONSE")))
    path = write(tmp_path / "b.warc", record("http://a.de/", kind="Screenshot"))
    with pytest.raises(ArchiveError, match=r"\(other records: 1 screenshot\)"):
        ArchiveWeb(path)


def test_a_segmented_record_is_read_as_far_as_its_first_segment(tmp_path: Path) -> None:
    first = record("http://a.de/", more="WARC-Segment-Number: 1\r\n")
    path = write(tmp_path / "a.warc.gz", first, record("http://a.de/", b"rest", "continuation"))
    page, damage = answers(path)
    assert isinstance(page, ArchivedAnswer)
    assert "segments are not put together" in str(damage)


ID = "WARC-Record-ID: <urn:uuid:{}>\r\n"
BESIDE = "WARC-Concurrent-To: <urn:uuid:{}>\r\n"


def asked(method: str, more: str = "") -> bytes:
    return record("http://a.de/", f"{method} / HTTP/1.1\r\n\r\n".encode(), "request", more)


def answered(body: bytes, more: str = "") -> bytes:
    return record("http://a.de/", http(body), more=more)


@pytest.mark.parametrize(
    "records",
    [
        (asked("POST"), answered(b"1"), asked("GET"), answered(b"2")),
        (answered(b"1"), asked("POST"), answered(b"2"), asked("GET")),
        (answered(b"1", ID.format(1)), asked("HEAD", BESIDE.format(1)), answered(b"2")),
        (asked("POST", ID.format(1)), answered(b"1", BESIDE.format(1)), answered(b"2")),
        (asked("POST", ID.format(1)), answered(b"2", BESIDE.format(3)), answered(b"3")),
    ],
)
def test_an_answer_to_another_method_is_no_answer_to_get(
    tmp_path: Path, records: tuple[bytes, ...]
) -> None:
    web = archive(tmp_path, *records)
    assert web.respond("http://a.de/").body == b"2"


@pytest.mark.parametrize(
    ("kept", "again"),
    [
        (base64.b32encode(SHA1).decode(), SHA1.hex()),
        (base64.b32encode(SHA1).decode().lower(), base64.b64encode(SHA1).decode()),
        (SHA1.hex(), SHA1.hex().upper()),
    ],
)
def test_digests_are_compared_as_bytes(tmp_path: Path, kept: str, again: str) -> None:
    original = record("https://a.de/", more=f"WARC-Payload-Digest: sha-1:{kept}\r\n")
    refers = "WARC-Refers-To-Target-URI: http://a.de/\r\n"
    digest = f"WARC-Payload-Digest: sha1:{again}\r\n"
    revisit = record("http://b.de/", http(b""), "revisit", refers + digest)
    other = record("http://c.de/", http(b""), "revisit", refers + digest.replace(again, "0" * 40))
    path = write(tmp_path / "a.warc.gz", revisit, original, other)
    assert found(path) == {"https://a.de/": PAGE, "http://b.de/": PAGE}
    web = ArchiveWeb(path)
    assert web.respond("http://b.de/").body == PAGE
    with pytest.raises(NotArchived):
        web.respond("http://c.de/")


@pytest.mark.parametrize("more", ["WARC-Refers-To: <urn:uuid:7>\r\n", ""])
def test_a_revisit_without_a_url_is_found_by_its_record_or_its_digest(
    tmp_path: Path, more: str
) -> None:
    digest = f"WARC-Payload-Digest: sha1:{SHA1.hex()}\r\n"
    original = record("http://a.de/", more=ID.format(7) + digest)
    revisit = record("http://b.de/", http(b"", status=203), "revisit", more + digest)
    answer = archive(tmp_path, original, revisit).respond("http://b.de/")
    assert (answer.status, answer.body) == (203, PAGE)


def test_a_text_that_is_no_digest_stays_a_text() -> None:
    assert digest_of("sha1:?") == b"sha1:?"
    assert digest_of("") is None
    assert digest_of("sha256:" + "A" * 52) == bytes(32)
