"""WARC files read past their damaged places; most are written by warcio."""

import gc
import gzip
import random
import zlib
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any
from warnings import catch_warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.sources.recovery import (
    KEPT_BYTES,
    MOST_GAPS,
    ArchivedAnswer,
    Damage,
    answers,
    is_warc,
)
from tests.crawler.sources.test_web_archive import http, record

DOCS = Path(__file__).parents[4] / "shared" / "data" / "docs.warc.gz"
PAGE = ("Content-Type", "text/html")


def written(
    *pages: tuple[str, bytes], is_gzip: bool = True, headers: Iterable[tuple[str, str]] = (PAGE,)
) -> bytes:
    """Return a WARC file as warcio writes it: a warcinfo, then request, response and metadata."""
    with catch_warnings(action="ignore", category=ResourceWarning):
        data = _written(pages, is_gzip, headers)
        gc.collect()  # warcio leaves temporary files open
    return data


def _written(
    pages: Iterable[tuple[str, bytes]], is_gzip: bool, headers: Iterable[tuple[str, str]]
) -> bytes:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    file = BytesIO()
    writer: Any = WARCWriter(file, gzip=is_gzip)
    writer.write_record(writer.create_warcinfo_record("a.warc.gz", {"software": "warcio"}))
    asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "a.de")], is_http_request=True)
    answered = StatusAndHeaders("200 OK", list(headers), protocol="HTTP/1.1")
    for url, body in pages:
        writer.write_record(writer.create_warc_record(url, "request", http_headers=asked))
        response = writer.create_warc_record(
            url, "response", payload=BytesIO(body), http_headers=answered
        )
        writer.write_record(response)
        writer.write_record(writer.create_warc_record(url, "metadata", payload=BytesIO(b"a: b")))
        revisit = writer.create_revisit_record(url, "sha1:B", url, "2026-01-01T00:00:00Z")
        writer.write_record(revisit)
    return file.getvalue()


PAGES = [(f"http://a.de/{number}", b"<p>page %d" % number * 50) for number in range(4)]
URLS = [url for url, _ in PAGES]


def found(folder: Path, data: bytes) -> list[ArchivedAnswer | Damage]:
    path = folder / "a.bin"
    path.write_bytes(data)
    return list(answers(path))


def told(results: list[ArchivedAnswer | Damage]) -> list[str]:
    return [each.url if isinstance(each, ArchivedAnswer) else each.reason for each in results]


@pytest.mark.parametrize("is_gzip", [True, False])
def test_each_answer_comes_with_its_url_and_other_records_are_skipped(
    tmp_path: Path, is_gzip: bool
) -> None:
    results = found(tmp_path, written(*PAGES, is_gzip=is_gzip))
    pages = [(each.url, each.answer.body) for each in results if isinstance(each, ArchivedAnswer)]
    assert pages == PAGES


def test_several_records_may_be_in_one_gzip_member(tmp_path: Path) -> None:
    data = written(*PAGES, is_gzip=False)
    assert told(found(tmp_path, gzip.compress(data))) == URLS
    assert told(found(tmp_path, gzip.compress(data) + gzip.compress(data))) == URLS * 2


def test_bodies_are_unpacked(tmp_path: Path) -> None:
    page = ("http://a.de/", gzip.compress(b"<p>hello"))
    data = written(page, headers=(PAGE, ("Content-Encoding", "gzip")))
    (only,) = found(tmp_path, data)
    assert isinstance(only, ArchivedAnswer)
    assert only.answer.body == b"<p>hello"


def test_a_broken_checksum_leaves_out_its_record_only(tmp_path: Path) -> None:
    members = [gzip.compress(record(url, http(body))) for url, body in PAGES]
    members[1] = members[1][:-8] + b"\0" * 8
    results = found(tmp_path, b"".join(members))
    assert [isinstance(each, Damage) for each in results] == [False, True, False, False]
    assert told(results)[::2] == URLS[::2]
    damage = results[1]
    assert isinstance(damage, Damage)
    assert damage.offset == len(members[0])
    assert str(damage).startswith(f"at byte {len(members[0])}: damaged gzip data")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (b"WARC/1.0\r\nWARC-Type: response\r\n\r\n", "a record without a Content-Length"),
        (b"rubbish\r\n\r\n", "this is not a WARC record"),
        (record("http://b.de/", b"GET /"), "no HTTP status line in this response"),
        (record("", http(b"x")), "a response without a WARC-Target-URI"),
    ],
)
@pytest.mark.parametrize("is_gzip", [True, False])
def test_a_bad_record_has_a_reason_and_the_next_ones_are_read(
    tmp_path: Path, fault: bytes, reason: str, is_gzip: bool
) -> None:
    pack = gzip.compress if is_gzip else bytes
    first, last = (pack(record(url, http(body))) for url, body in PAGES[:2])
    before, fault_seen, after = told(found(tmp_path, first + pack(fault) + last))
    assert (before, after) == tuple(URLS[:2])
    assert fault_seen.startswith(reason)


def test_a_record_that_is_cut_short_takes_part_of_the_next_one_with_it(tmp_path: Path) -> None:
    cut = record(URLS[0])[:-20]
    packed = [gzip.compress(part) for part in (cut, record(URLS[1]))]
    assert told(found(tmp_path, b"".join(packed))) == ["the file ends inside this record", URLS[1]]
    plain = told(found(tmp_path, cut + record(URLS[1]) + record(URLS[2])))
    assert plain == [URLS[0], "this is not a WARC record", URLS[2]]


def test_a_length_beyond_the_file_hides_no_later_record(tmp_path: Path) -> None:
    bad = record("http://b.de/").replace(b"Content-Length: ", b"Content-Length: 9999999")
    data = record(URLS[0]) + bad + record(URLS[1])
    assert told(found(tmp_path, data)) == [
        URLS[0],
        "the file ends inside this record",
        URLS[1],
    ]


@pytest.mark.parametrize("is_gzip", [True, False])
def test_a_file_that_is_cut_off_keeps_what_came_before(tmp_path: Path, is_gzip: bool) -> None:
    pack = gzip.compress if is_gzip else bytes
    data = b"".join(pack(record(url, http(body))) for url, body in PAGES)
    results = told(found(tmp_path, data[:-30]))
    assert results == [*URLS[:3], "the file ends inside this record"]


def test_no_more_of_an_answer_is_kept_than_a_crawl_would_fetch(tmp_path: Path) -> None:
    zeros = zlib.compressobj(wbits=31)
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.de/\r\n"
        b"Content-Length: %d\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" % (10 * KEPT_BYTES + 19)
    )
    parts = [zeros.compress(head), *(zeros.compress(bytes(KEPT_BYTES)) for _ in range(10))]
    (only,) = found(tmp_path, b"".join([*parts, zeros.flush()]))
    assert isinstance(only, ArchivedAnswer)
    assert len(only.answer.body) < KEPT_BYTES


def test_a_file_of_damages_comes_to_an_end(tmp_path: Path) -> None:
    results = found(tmp_path, b"\x1f\x8b\x08\xff" * (2 * MOST_GAPS))
    assert len(results) == MOST_GAPS + 1
    assert "the rest is not read" in told(results)[-1]


@settings(max_examples=60)
@given(st.randoms(use_true_random=False), st.booleans(), st.integers(1, 6))
def test_no_damage_raises_and_no_page_is_invented(
    chance: random.Random, is_gzip: bool, faults: int
) -> None:
    data = bytearray(_SAMPLES[is_gzip])
    for _ in range(faults):
        start = chance.randrange(len(data))
        data[start : start + chance.choice((1, 1, 40))] = chance.randbytes(chance.choice((0, 1, 9)))
    results = list(_answers_of(bytes(data), ".warc.gz" if is_gzip else ".warc"))
    pages = [each for each in results if isinstance(each, ArchivedAnswer)]
    assert len(pages) >= (len(PAGES) - faults) * is_gzip
    assert len(pages) <= len(PAGES)


_SAMPLES = [written(*PAGES, is_gzip=False), written(*PAGES)]


def _answers_of(data: bytes, suffix: str) -> Iterable[ArchivedAnswer | Damage]:
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(data)
        file.flush()
        yield from answers(Path(file.name))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.txt", record("http://a.de/"), True),
        ("a.txt", gzip.compress(record("http://a.de/")), True),
        ("a.warc", b"", True),
        ("A.WARC.GZ", b"\x1f\x8bbroken", True),
        ("a.html", b"<p>WARC/1.0", False),
        ("a.html.gz", gzip.compress(b"<p>"), False),
        ("a.gz", b"\x1f\x8b", False),
    ],
)
def test_a_warc_file_is_known_by_its_beginning_or_its_name(
    tmp_path: Path, name: str, data: bytes, expected: bool
) -> None:
    (tmp_path / name).write_bytes(data)
    assert is_warc(tmp_path / name) is expected


def test_pages_of_a_large_archive_are_all_there(tmp_path: Path) -> None:
    if not DOCS.exists():
        pytest.skip(f"the archive is not here: {DOCS}")
    import itertools

    results = list(itertools.islice(answers(DOCS), 300))
    assert all(isinstance(each, ArchivedAnswer) and each.answer.body for each in results)
