"""Labelled URLs: read from tab-separated files, split by registered domain."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from classifiers.errors import DatasetError
from classifiers.languages import canonical

COLUMNS = ("url", "lang", "label_kind", "source")


class LabelledUrl(NamedTuple):
    """One URL and the language that somebody, or its page, says it leads to."""

    url: str
    language: str
    """A code of the project."""
    label_kind: str
    """How the label arose: document, editor, site-list, outlink, country."""
    source: str
    """Where the row is from."""


@dataclass
class LabelledUrls:
    """The rows of a .tsv or .tsv.gz file with the columns of COLUMNS, in any order.

    Iterating reads the file anew. A row that is cut short, without URL or in a language that is
    not known is skipped, and counted in `skipped`; a file without the columns, damaged or not
    UTF-8 raises DatasetError with file and line.
    """

    path: Path
    skipped: int = 0

    def __iter__(self) -> Iterator[LabelledUrl]:
        """Yield the rows that can be used, in the order of the file."""
        self.skipped = 0
        line = 1
        try:
            with _open(self.path) as file:
                order = self._order(next(file, b""))
                for raw in file:
                    line += 1
                    row = _row(raw.decode("utf-8").rstrip("\r\n").split("\t"), order)
                    if row is None:
                        self.skipped += 1
                    else:
                        yield row
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise DatasetError(f"{self.path}:{line}: cannot be read ({reason})") from error
        except UnicodeDecodeError as error:
            raise DatasetError(f"{self.path}:{line}: not UTF-8; convert the file") from error

    def _order(self, header: bytes) -> list[int]:
        names = header.decode("utf-8").rstrip("\r\n").split("\t")
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            raise DatasetError(
                f"{self.path}:1: no column {', '.join(missing)}; expected {', '.join(COLUMNS)}"
                " with tabs between"
            )
        return [names.index(name) for name in COLUMNS]


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def _row(cells: list[str], order: list[int]) -> LabelledUrl | None:
    if len(cells) <= max(order):
        return None
    url, lang, label_kind, source = (cells[at].strip() for at in order)
    language = _code(lang)
    if not url or language is None:
        return None
    return LabelledUrl(url, language, label_kind, source)


@lru_cache(maxsize=4096)
def _code(tag: str) -> str | None:
    return canonical(tag)


def domain_reader() -> Callable[[str], str]:
    """A function from a URL to its registered domain (`bbc.co.uk`), or its host if it has none.

    The public suffix list is the one that comes with tldextract: nothing is fetched or written.
    """
    from tldextract import TLDExtract

    extract = TLDExtract(suffix_list_urls=(), cache_dir=None)

    @lru_cache(maxsize=1 << 18)
    def of_host(host: str) -> str:
        parts = extract(host)
        return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else host

    return lambda url: of_host(_host(url))


def _host(url: str) -> str:
    rest = url.partition("://")
    authority = rest[2] if rest[1] else rest[0]
    for delimiter in "/?#":
        authority = authority.partition(delimiter)[0]
    return authority.rpartition("@")[2].partition(":")[0].lower().rstrip(".")


def stable_share(text: str, seed: int, purpose: str = "split") -> float:
    """A number in [0, 1) that depends on nothing but the arguments."""
    key = f"{purpose}:{seed}:{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=7).digest(), "big") / 2**56


def split(
    rows: Iterable[LabelledUrl], *, test_share: float = 0.1, seed: int = 0
) -> tuple[list[LabelledUrl], list[LabelledUrl]]:
    """Training and test rows that share no registered domain.

    A domain goes to one part as a whole by a hash of its name: the same names and seed give the
    same parts, whatever else the data hold.
    """
    if not 0 <= test_share <= 1:
        raise ValueError(f"test_share is a share between 0 and 1, not {test_share}")
    domain = domain_reader()
    train: list[LabelledUrl] = []
    test: list[LabelledUrl] = []
    for row in rows:
        is_test = stable_share(domain(row.url), seed) < test_share
        (test if is_test else train).append(row)
    return train, test
