"""WARC files are read past their damaged places, by replay and in one pass alike."""

import gc
import gzip
import random
import tempfile
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from warnings import catch_warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.crawler.sources.archive import KEPT_BYTES, ArchivedAnswer, ArchiveWeb, answers
from langfocus.crawler.sources.warc_reader import MOST_DAMAGES, Damage, Volume, is_warc, records
from tests.crawler.sources.test_web_archive import http, record, write

URLS = [f"http://a.de/{number}" for number in range(9)]
PAGES = [record(url, http(b"%d" % n * 99)) for n, url in enumerate(URLS)]

GARBAGE = bytes(range(256)) * 300 + b"\nW \n\x1f\x8b\x08\x00 \nWARC/1.1\r\n\r\n"
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "another byte": lambda raw: raw[:60] + bytes([raw[60] ^ 1]) + raw[61:],
    "another last byte": lambda raw: raw[:-6] + bytes([raw[-6] ^ 1]) + raw[-5:],
    "cut off": lambda raw: raw[: len(raw) // 2],
    "cut in the middle": lambda raw: raw[: len(raw) // 3] + raw[len(raw) // 2 :],
    "zeros": lambda raw: bytes(len(raw)),
    "garbage": lambda raw: GARBAGE,
    "its head missing": lambda raw: raw[20:],
    "bytes behind it": lambda raw: raw + b"rest",
    "no WARC": lambda _: gzip.compress(b"<html></html>" * 99),
    "too short for its length": lambda _: gzip.compress(PAGES[4][:-20]),
    "no type": lambda _: gzip.compress(PAGES[4].replace(b"WARC-Type", b"WARC-Typ")),
}
PLAIN: dict[str, Callable[[bytes], bytes]] = {
    "no status line": lambda raw: raw.replace(b"HTTP/", b"http "),
    "no URL": lambda raw: raw.replace(b"WARC-Target-URI", b"WARC-Target"),
    "a length too long": lambda raw: raw.replace(b"Length: ", b"Length: 999999"),
    "a length too short": lambda raw: raw.replace(b"Content-Length: 1", b"Content-Length: "),
    "no length": lambda raw: raw.replace(b"Content-Length", b"Content-Size"),
    "zeros": lambda raw: bytes(len(raw)),
    "an endless head": lambda _: b"WARC/1.1\r\n" + b"x" * 2_000_000 + b"\r\n\r\n",
    "its head missing": lambda raw: raw[20:],
    "rubbish": lambda _: b"rubbish\r\n\r\n",
}
WHOLE = {"bytes behind it", "a length too short"}
"""Damages after which the record itself is read."""


@pytest.mark.parametrize(
    ("name", "damage"),
    [*(("a.warc.gz", each) for each in PACKED), *(("a.warc", each) for each in PLAIN)],
)
def test_a_damaged_record_is_skipped_and_counted_once(
    tmp_path: Path, name: str, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    parts = [gzip.compress(page) for page in PAGES] if name.endswith("gz") else [*PAGES]
    start = sum(map(len, parts[:4]))
    parts[4] = (PACKED if name.endswith("gz") else PLAIN)[damage](parts[4])
    path = tmp_path / name
    path.write_bytes(b"".join(parts))
    expected = [url for n, url in enumerate(URLS) if n != 4 or damage in WHOLE]
    found = list(answers(path))
    assert [each.url for each in found if isinstance(each, ArchivedAnswer)] == expected
    (fault,) = [each for each in found if isinstance(each, Damage)]
    assert fault.offset == start or damage in WHOLE
    web = ArchiveWeb(path)
    assert [*web.urls()] == expected
    assert web.respond(URLS[5]).body == b"5" * 99
    assert len(web.skipped) == 1
    (message,) = caplog.messages
    assert message == f"1 damaged records were skipped, the first: {path}: {fault}"


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_a_truncated_file_has_the_records_before_the_cut(tmp_path: Path, name: str) -> None:
    whole = write(tmp_path / name, *PAGES)
    content, starts = whole.read_bytes(), [found.offset for found in records(Volume(whole))]
    newlines = 0 if name.endswith("gz") else 4
    ends = [start - newlines for start in [*starts[1:], len(content)]]
    for cut in range(ends[0], len(content), 31):
        whole.write_bytes(content[:cut])
        complete = sum(end <= cut for end in ends)
        web = ArchiveWeb(whole)
        assert list(web.urls()) == URLS[:complete]
        assert len(web.skipped) == sum(start < cut for start in starts) - complete
        found = list(answers(whole))
        assert len(found) == complete + len(web.skipped)
        assert all(isinstance(each, ArchivedAnswer) for each in found[:complete])


def test_several_records_in_one_gzip_member_are_read_in_one_pass_only(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(b"".join(PAGES)) * 2)
    assert [each.url for each in answers(path) if isinstance(each, ArchivedAnswer)] == URLS * 2
    path.write_bytes(gzip.compress(PAGES[0]) + gzip.compress(b"".join(PAGES[1:])))
    web = ArchiveWeb(path)
    assert [*web.urls()] == URLS[:1]
    assert "warcio recompress OLD NEW" in web.skipped[0]
    path.write_bytes(gzip.compress(b"".join([PAGES[0], b"rubbish\n", PAGES[1]])))
    assert [isinstance(each, Damage) for each in answers(path)] == [True]


def test_no_more_of_an_answer_is_kept_than_a_crawl_would_fetch(tmp_path: Path) -> None:
    zeros = zlib.compressobj(wbits=31)
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.de/\r\n"
        b"Content-Length: %d\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" % (10 * KEPT_BYTES + 19)
    )
    parts = [zeros.compress(head), *(zeros.compress(bytes(KEPT_BYTES)) for _ in range(10))]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join([*parts, zeros.flush()]))
    (only,) = answers(path)
    assert isinstance(only, ArchivedAnswer)
    assert len(only.answer.body) < KEPT_BYTES


def test_the_search_for_the_next_record_ends_in_a_file_of_false_ones(tmp_path: Path) -> None:
    packed, plain = tmp_path / "a.warc.gz", tmp_path / "a.warc"
    packed.write_bytes(gzip.compress(PAGES[0]) + b"\x1f\x8b\x08\x00" * 200_000)
    assert len(ArchiveWeb(packed)) == 1
    plain.write_bytes(PAGES[0] + b"\nWARC/1.1\r\n" * 100_000)
    assert len(ArchiveWeb(plain)) == 1
    found = list(answers(plain))
    assert len(found) == MOST_DAMAGES + 2
    assert "the rest is not read" in str(found[-1])


@cache
def written(number: int, *, is_gzip: bool) -> bytes:
    """Return a WARC file as warcio writes it: a warcinfo, then four records for each page."""
    with catch_warnings(action="ignore", category=ResourceWarning):
        data = _written(number, is_gzip)
        gc.collect()  # warcio leaves temporary files open
    return data


def _written(number: int, is_gzip: bool) -> bytes:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    file = BytesIO()
    writer: Any = WARCWriter(file, gzip=is_gzip)
    writer.write_record(writer.create_warcinfo_record("a.warc.gz", {"software": "warcio"}))
    asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "a.de")], is_http_request=True)
    answered = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    for n, url in enumerate(URLS[:number]):
        body = BytesIO(b"<p>page %d" % n * 50)
        writer.write_record(writer.create_warc_record(url, "request", http_headers=asked))
        writer.write_record(
            writer.create_warc_record(url, "response", payload=body, http_headers=answered)
        )
        writer.write_record(writer.create_warc_record(url, "metadata", payload=BytesIO(b"a: b")))
        revisit = writer.create_revisit_record(url, "sha1:B", url, "2026-01-01T00:00:00Z")
        writer.write_record(revisit)
    return file.getvalue()


def _answers_of(data: bytes, suffix: str) -> Iterable[ArchivedAnswer | Damage]:
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(data)
        file.flush()
        yield from answers(Path(file.name))


@pytest.mark.parametrize("suffix", [".warc", ".warc.gz", ".bin"])
@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "gzip"])
def test_each_answer_comes_with_its_url_and_other_records_are_skipped(
    suffix: str, is_gzip: bool
) -> None:
    results = _answers_of(written(4, is_gzip=is_gzip), suffix)
    found = [each for each in results if isinstance(each, ArchivedAnswer)]
    expected = [(url, b"<p>page %d" % n * 50) for n, url in enumerate(URLS[:4])]
    assert [(each.url, each.answer.body) for each in found] == expected


@settings(max_examples=60)
@given(st.randoms(use_true_random=False), st.booleans(), st.integers(1, 6))
def test_no_damage_raises_and_no_page_is_invented(
    chance: random.Random, is_gzip: bool, faults: int
) -> None:
    data = bytearray(written(4, is_gzip=is_gzip))
    for _ in range(faults):
        start = chance.randrange(len(data))
        data[start : start + chance.choice((1, 1, 40))] = chance.randbytes(chance.choice((0, 1, 9)))
    results = _answers_of(bytes(data), ".warc.gz" if is_gzip else ".warc")
    pages = [each for each in results if isinstance(each, ArchivedAnswer)]
    # A revisit whose original has lost its digest has the body of that record once more.
    bodies = {each.answer.body for each in pages}
    assert (4 - faults) * is_gzip <= len(bodies) <= 4


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
