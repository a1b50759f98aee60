"""Distinct URLs, registered domains, and training and test rows that share none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from classifiers.datasets.rows import LabelledUrl

if TYPE_CHECKING:
    from tldextract import TLDExtract


def domain_reader() -> Callable[[str], str]:
    """A function from a URL to its registered domain (`bbc.co.uk`), or its host if it has none.

    It uses the public suffix list that ships with tldextract; nothing is fetched or written.
    """
    extract = _extractor()

    @lru_cache(maxsize=1 << 18)
    def of_host(host: str) -> str:
        parts = extract(host)
        return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else host

    return lambda url: of_host(_host(url))


@lru_cache(maxsize=1)
def _extractor() -> TLDExtract:
    """One extractor for all callers, since reading the list takes 0.1 s."""
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)


def _host(url: str) -> str:
    rest = url.partition("://")
    authority = rest[2] if rest[1] else rest[0]
    for delimiter in "/?#":
        authority = authority.partition(delimiter)[0]
    return authority.rpartition("@")[2].partition(":")[0].lower().rstrip(".")


def distinct(rows: Iterable[LabelledUrl]) -> list[LabelledUrl]:
    """Each URL once, without those that are listed under two languages (Baykan 2013, 3.1)."""
    first: dict[str, LabelledUrl] = {}
    ambiguous: set[str] = set()
    for row in rows:
        if first.setdefault(row.url, row).language != row.language:
            ambiguous.add(row.url)
    return [row for url, row in first.items() if url not in ambiguous]


def stable_share(text: str, seed: int, purpose: str = "split") -> float:
    """A number in [0, 1) that depends only on the arguments."""
    key = f"{purpose}:{seed}:{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=7).digest(), "big") / 2**56


def split(
    rows: Iterable[LabelledUrl], *, test_share: float = 0.1, seed: int = 0
) -> tuple[list[LabelledUrl], list[LabelledUrl]]:
    """Training and test rows that share no registered domain.

    A hash of a domain's name decides its part: the same names and seed give the same parts, even
    beside other data.
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
