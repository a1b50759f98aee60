"""Bodies without their encodings."""

import zlib
from random import Random

import pytest

from langfocus.crawler.http.body import unpacked

TEXT = "".join(map(chr, Random(1).choices(range(97, 123), k=900))).encode()
GZIP, ZLIB, RAW = 31, 15, -15


def packed(data: bytes, wbits: int) -> bytes:
    made = zlib.compressobj(6, zlib.DEFLATED, wbits)
    return made.compress(data) + made.flush()


@pytest.mark.parametrize(("name", "wbits"), [("gzip", GZIP), ("deflate", ZLIB), ("deflate", RAW)])
def test_a_body_that_was_cut_is_unpacked_up_to_the_last_byte_that_zlib_can_read(
    name: str, wbits: int
) -> None:
    data = packed(TEXT, wbits)
    for end in range(len(data) // 2, len(data) + 1):
        readable = zlib.decompressobj(wbits).decompress(data[:end])
        assert unpacked(data[:end], [name], len(TEXT)) == readable
    assert readable == TEXT


def test_a_body_keeps_what_is_before_a_fault_and_ends_behind_its_limit() -> None:
    data = bytearray(packed(TEXT + bytes(70_000), GZIP))
    assert unpacked(bytes(data), ["gzip"], len(TEXT)) == TEXT + b"\0"
    data[10:-8] = packed(TEXT, RAW)[:400] + b"\xff" * 60
    assert unpacked(bytes(data), ["gzip"], 10**6)[:500] == TEXT[:500]
