"""The lines of `langfocus identify urls`: lines of a file in, answers of the URL model out."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from crawler.errors import CrawlError
from crawler.report.formatting import printable

if TYPE_CHECKING:
    from classifiers.urls.model import UrlModel

LONGEST_LINE: Final = 1 << 20
"""Bytes of a line that are read; the rest is skipped."""

_CHUNK_BYTES: Final = 1 << 16
_GZIP: Final = b"\x1f\x8b"


def line_batches(path: str | None) -> Iterator[list[str]]:
    """Yield the lines of a file, or of standard input for None and `-`, gzipped or not.

    From a pipe or a terminal a batch has the lines that have arrived. Lines have no ends; bytes
    that are not UTF-8 are kept as surrogates. A byte order mark is left out. Raises `OSError` for a
    file that cannot be opened and `CrawlError` for damaged gzip data.
    """
    is_stdin = path in (None, "-")
    mark = "\ufeff"
    with nullcontext(sys.stdin.buffer) if is_stdin else Path(str(path)).open("rb") as stream:
        try:
            for lines in _whole_lines(_chunks(stream)):
                texts = [line.decode("utf-8", "surrogateescape").rstrip("\r") for line in lines]
                texts[0] = texts[0].removeprefix(mark)
                mark = ""
                yield texts
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            name = "standard input" if is_stdin else path
            raise CrawlError(f"{name}: damaged gzip data ({error})") from error


def _chunks(stream: Any) -> Iterator[bytes]:
    unpacked = stream
    if stream.peek(len(_GZIP)).startswith(_GZIP):
        unpacked = gzip.GzipFile(fileobj=stream)
    while chunk := unpacked.read1(_CHUNK_BYTES):
        yield chunk


def _whole_lines(chunks: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines that each chunk ends, without their line ends."""
    carry = b""  # the beginning of a line whose end has not come
    for chunk in chunks:
        *lines, carry = (carry + chunk).split(b"\n")
        carry = carry[:LONGEST_LINE]
        if lines:
            yield [lines[0][:LONGEST_LINE], *lines[1:]]
    if carry:
        yield [carry]


def json_lines(model: UrlModel, urls: Sequence[str]) -> str:
    """Return an object for each URL: its language and the confidence."""
    return "".join(json.dumps(record) + "\n" for record in _records(model, urls))


def explained_lines(model: UrlModel, urls: Sequence[str]) -> str:
    """Return the objects of `json_lines` with their decision values and the words behind them."""
    lines = []
    for record, scores in zip(_records(model, urls), model.scores(urls).tolist(), strict=True):
        rounded = (round(score, 4) for score in scores)
        is_text = bool(record["url"].strip())
        record["scores"] = dict(zip(model.languages, rounded, strict=True)) if is_text else {}
        # Languages that are known by rules have no weights: the best of the others is explained.
        language = record["language"] if record["language"] in model.languages else None
        found = model.explain(record["url"], language)
        record["explain"] = [[each.text, round(each.weight, 4)] for each in found]
        lines.append(json.dumps(record) + "\n")
    return "".join(lines)


def table(model: UrlModel, urls: Sequence[str]) -> str:
    """Return rows for a person who reads them: language, confidence and URL."""
    return "".join(
        f"{row['language'] or '-':<8} {100 * row['confidence']:5.1f} %  {printable(row['url'])}\n"
        for row in _records(model, urls)
    )


def _records(model: UrlModel, urls: Sequence[str]) -> Iterator[dict[str, Any]]:
    names = (*model.named_languages, None)
    codes, confidences = model.name(urls)
    rounded = np.rint(confidences * 10_000).astype(np.int64) / 10_000
    for url, at, confidence in zip(urls, codes.tolist(), rounded.tolist(), strict=True):
        yield {"url": url, "language": names[at], "confidence": confidence}
