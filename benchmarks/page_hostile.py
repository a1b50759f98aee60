"""Cost of bad pages: parsed and identified, compared with an ordinary page of the same size.

The claim: a page of any bytes and any length costs at most a second more than an ordinary page of
`MAX_BYTES`, the part of a page that is read.

Each input is read at several sizes. The least CPU time of `--rounds` counts.

    taskset -c 1 python -m benchmarks.page_hostile --rounds 3
"""

import argparse
import random
import sys
import time
from collections.abc import Callable
from itertools import count, product

from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import MAX_BYTES, parse_page

URL = "http://example.org/a/b.html"
SIZES_MB = (0.2, 2.0, 50.0)
ALLOWED_MS = 1_000.0

WORDS = (
    "Der Fluß liegt still, und über den Wiesen hängt am frühen Morgen noch ein wenig Nebel, den die"
    " Sonne langsam auflöst"
).split()
CHINESE = "昨天晚上我们在河边散步，说了很久关于下一次旅行的事，大家都很高兴。"  # noqa: RUF001
RUSSIAN = "Вчера вечером мы долго гуляли вдоль реки и говорили о будущей поездке. "  # noqa: RUF001

Maker = Callable[[int], bytes]


def repeated(piece: bytes) -> Maker:
    """Return a maker of pages that repeat one piece."""
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def numbered(pattern: bytes, between: bytes = b"", around: bytes = b"%b") -> Maker:
    """Make pages of numbered pieces."""

    def make(size: int) -> bytes:
        pieces, length = [], 0
        for i in count():
            pieces.append(pattern % i)
            length += len(pieces[-1]) + len(between)
            if length >= size:
                return around % between.join(pieces)
        raise AssertionError

    return make


def ordinary(size: int) -> bytes:
    """Return a page of paragraphs, lists and links."""
    chosen = random.Random(0)
    pieces, length = ['<!DOCTYPE html><html lang="de"><body>'], 0
    for i in count():
        words = " ".join(chosen.choices(WORDS, k=30))
        pieces.append(
            f'<div class="item" id="i{i}"><h2>{words[:40]}</h2><p>{words}</p>'
            f'<ul><li><a href="/seite/{i}.html" title="x">{words[:20]}</a></li></ul></div>\n'
        )
        length += len(pieces[-1].encode())
        if length >= size:
            return "".join(pieces).encode()[:size]
    raise AssertionError


def noise(size: int) -> bytes:
    """Bytes without order."""
    return random.Random(1).randbytes(size)


def damaged(encoding: str, text: str, every: int, declared: str | None = None) -> Maker:
    """Make pages of a text without every `every`-th byte."""

    def make(size: int) -> bytes:
        whole = bytearray(repeated(f"<p>{text * 20}</p>\n".encode(encoding))(size))
        del whole[every::every]
        meta = f"<meta charset={declared}>".encode() if declared else b""
        return meta + bytes(whole)

    return make


def mixed(size: int) -> bytes:
    """Two encodings, line by line."""
    line = f"<p>{RUSSIAN * 3}".encode() + f"<p>{RUSSIAN * 3}".encode("cp1251")
    return repeated(line)(size)


def surrounded(before: bytes, make: Maker) -> Maker:
    """Make the same pages with something before them."""
    return lambda size: before + make(size)


INPUTS: dict[str, Maker] = {
    "one tag": repeated(b"<div>"),
    "one unknown tag": repeated(b"<x>"),
    "a million nested": numbered(b"<x%d>"),
    "formatting": numbered(b"<b id=%d>"),
    "formatting and blocks": numbered(b"<b id=%d><p>"),
    "mismatched": repeated(b"<div></b>"),
    "tables": repeated(b"<table><tr><td>"),
    "tables with formatting": repeated(b"<table><b>"),
    "lists": repeated(b"<ul><li>"),
    "selects": repeated(b"<select><option>"),
    "svg": repeated(b"<svg><desc>"),
    "templates": repeated(b"<template>"),
    "bodies": numbered(b"<body a%d=1>"),
    "framesets": repeated(b"<frameset>"),
    "paragraphs": repeated(b"<p>"),
    "links": numbered(b"<a href=/%d>x</a>"),
    "odd links": numbered(b"<a href='../%d x'>"),
    "links around blocks": repeated(b"<a href=1><div>"),
    "metas": numbered(b"<meta name=description content=%d>"),
    "attributes": numbered(b"a%d=1", b" ", b"<a %b>"),
    "bare attributes": numbered(b"a%d", b" ", b"<a %b>"),
    "quoted attributes": numbered(b'a%d=">"', b" ", b"<a %b>"),
    "quoted tags": numbered(b'a%d="<>"', b" ", b"<a %b>"),
    "quoted tags in many tags": repeated(
        b"<p " + b" ".join(b'a%d="<>"' % i for i in range(900)) + b">"
    ),
    "unclosed quotes": repeated(b"<a b=\"<c d='"),
    "tags of a thousand attributes": repeated(
        b"<p " + b" ".join(b"a%d" % i for i in range(1_000)) + b">"
    ),
    "slashes": repeated(b"<a /"),
    "equals signs": surrounded(b"<a ", repeated(b"= ")),
    "quotes": surrounded(b"<a ", repeated(b'"')),
    "opening signs": repeated(b"<"),
    "tags without end": repeated(b"<a "),
    "unclosed comments": repeated(b"<!--"),
    "comments": repeated(b"<!---->"),
    "dashes": surrounded(b"<!--", repeated(b"-")),
    "scripts": repeated(b"<script>"),
    "styles in scripts": repeated(b"<script><style></script"),
    "textareas": repeated(b"<textarea>"),
    "titles": repeated(b"<title>x</title>"),
    "cdata": surrounded(b"<svg>", repeated(b"<![CDATA[x]]>")),
    "declarations": repeated(b"<meta charset=utf-8>"),
    "charsets": surrounded(b"<meta ", repeated(b"charset ")),
    "references": repeated(b"&#1074;"),
    "open references": repeated(b"&"),
    "nulls": repeated(b"\0"),
    "nulls and tags": repeated(b"\0<b\0>\0"),
    "spaces": repeated(b" "),
    "one word": repeated(b"a"),
    "one text": surrounded(b"<p>", repeated(b"word ")),
    "ordinary, one paragraph": surrounded(b"<p>", repeated(" ".join(WORDS).encode())),
    "emoji": repeated("😀".encode()),
    "code": repeated(b"for (i=0;i<n;i++) { a[i]=b; }\n"),
    "numbers": repeated(b"0123 456 "),
    "json": repeated(b'{"a":[1,2,{"inLanguage":"x"}]},'),
    "noise": noise,
    "noise, tags": lambda size: noise(size).replace(b" ", b"<a b='>").replace(b"a", b"</p>"),
    "declared utf-8, noise": surrounded(b"<meta charset=utf-8>", noise),
    "declared gbk, noise": surrounded(b"<meta charset=gbk>", noise),
    "declared utf-16": surrounded(b"<meta charset=utf-16>", ordinary),
    "utf-16, mark, noise": surrounded(b"\xff\xfe", noise),
    "utf-16, mark, ordinary": surrounded(b"\xff\xfe", ordinary),
    "utf-16, mark, surrogates": surrounded(b"\xff\xfe", repeated(b"\x00\xd8a\0")),
    "utf-16": lambda size: (RUSSIAN * (size // 2 // len(RUSSIAN))).encode("utf-16-le"),
    "utf-16, a byte lost": lambda size: (
        ordinary(size // 2).decode("utf-8", "ignore").encode("utf-16-le")[1:]
    ),
    "utf-8, mark, noise": surrounded(b"\xef\xbb\xbf", noise),
    "utf-7": repeated(b"+ADw-script+AD4-"),
    "iso-2022-jp, damaged": repeated(b"\x1b$B\x24\x22\x1b(B\x1b$B\x7f"),
    "iso-2022-kr, damaged": surrounded(b"\x1b$)C", repeated(b"\x0e0!\x0f\x0e\x7f0")),
    "truncated utf-8": repeated("ж".encode()[:1]),
    "continuations": repeated(b"\x80"),
    "last byte": repeated(b"\xff"),
    "utf-8, damaged": damaged("utf-8", RUSSIAN, 7),
    "gbk, damaged": damaged("gbk", CHINESE, 11),
    "gbk, damaged, declared": damaged("gbk", CHINESE, 101, "gbk"),
    "gbk": damaged("gbk", CHINESE, 10**9),
    "shift_jis, damaged": damaged("shift_jis", "昨日の夕方、私たちは川のそばを", 11),
    "euc-jp, declared, high bytes": surrounded(
        b"<meta charset=euc-jp>", repeated(b"\xa4\xa2a\x8f")
    ),
    "euc-kr, high bytes": surrounded(b"<meta charset=euc-kr>", repeated(b"\xb0\xa1\xb0\xa1\xff ")),
    "big5, high bytes": surrounded(b"<meta charset=big5>", repeated(b"\xa4\x40\xa4\x41\xff ")),
    "windows-1251": damaged("cp1251", RUSSIAN, 10**9),
    "one high byte after tags": lambda size: repeated(b"<b>")(size - 1) + b"\xe9",
    "two encodings": mixed,
}
"""Name -> function from a number of bytes to a page of about that size."""


def made(make: Maker, size: int) -> bytes:
    """Return a page of some size; beyond the part that is read, its beginning is repeated."""
    body = make(min(size, 2 * MAX_BYTES))
    return body if len(body) >= size else repeated(body)(size)


def cpu_ms(body: bytes, rounds: int) -> float:
    """Return the least CPU time of parsing and identifying a page, in ms."""

    def once() -> float:
        start = time.process_time_ns()
        answer = method().identify(parse_page(body, content_type=None, url=URL))
        if not answer.reason:
            raise RuntimeError("an answer without a reason")
        return (time.process_time_ns() - start) / 1e6

    return min(once() for _ in range(rounds))


def main() -> int:
    """Print a line for each page; 1 if one costs too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    cpu_ms(ordinary(50_000), 1)  # loads the models
    most = cpu_ms(ordinary(MAX_BYTES), given.rounds) + ALLOWED_MS
    exceeding = 0
    for size, name in product(SIZES_MB, INPUTS):
        cost = cpu_ms(made(INPUTS[name], int(size * 1e6)), given.rounds)
        exceeding += cost > most
        print(f"{name:40} {size:6g} MB {cost:8.1f} ms{'  too much' * (cost > most)}", flush=True)
    print(f"{exceeding} of {len(SIZES_MB) * len(INPUTS)} above {most:.0f} ms")
    return int(exceeding > 0)


if __name__ == "__main__":
    sys.exit(main())
