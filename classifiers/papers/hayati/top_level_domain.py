"""The most common language of a page's top-level domain (Hayati 2004, 5.1, Algorithm 5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from classifiers.arrayfile import MODELS, read_arrays, write_arrays
from classifiers.datasets.texts import LabelledPage
from classifiers.errors import ModelError
from classifiers.pages.method import NOTHING, PageLanguage, Surroundings, unknown
from classifiers.pages.parse import ParsedPage

SHIPPED: Final = MODELS / "top-level-domain.npz"


class TopLevelDomain:
    """The most common language of each top-level domain among pages whose language is known.

    `counts` has for each pair of a domain (without its period) and a language the number of pages.
    """

    name = "top-level-domain"

    def __init__(self, counts: Mapping[tuple[str, str], int]) -> None:
        self._counts = {pair: int(count) for pair, count in sorted(counts.items()) if count > 0}
        self._pages: Counter[str] = Counter()
        self._best: dict[str, tuple[str, int]] = {}
        for (domain, language), count in self._counts.items():
            self._pages[domain] += count
            if count > self._best.get(domain, ("", 0))[1]:
                self._best[domain] = language, count

    @property
    def languages(self) -> frozenset[str]:
        """The languages that are the most common of a domain."""
        return frozenset(language for language, _ in self._best.values())

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The language of the domain of `surroundings.url`; None without an address or pages."""
        domain = top_level_domain(surroundings.url)
        if domain not in self._best:
            return unknown(_reason(surroundings.url, domain))
        language, count = self._best[domain]
        pages = self._pages[domain]
        reason = f".{domain}: {language} on {count:,} of {pages:,} known pages"
        return PageLanguage(language, count / (pages + 1), self.name, reason)

    def save(self, path: Path) -> None:
        """Write the counts."""
        pairs = list(self._counts)
        write_arrays(
            path,
            domains=np.array([domain for domain, _ in pairs], dtype=np.str_),
            languages=np.array([language for _, language in pairs], dtype=np.str_),
            counts=np.array([self._counts[pair] for pair in pairs], dtype=np.int64),
        )


def train(rows: Iterable[LabelledPage | tuple[str, str]]) -> TopLevelDomain:
    """The most common languages of the domains of pages, or of (URL, language) pairs.

    A page without an address or a top-level domain is ignored; of equally common languages the
    first by code is taken.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        url, language = (row.url, row.language) if isinstance(row, LabelledPage) else row
        domain = top_level_domain(url)
        if domain:
            counts[domain, language] += 1
    return TopLevelDomain(counts)


def load(path: Path | None = None) -> TopLevelDomain:
    """The method of a file, the one that ships if it is None; ModelError if damaged."""
    arrays = read_arrays(path or SHIPPED, "domains", "languages", "counts")
    domains, languages, counts = arrays["domains"], arrays["languages"], arrays["counts"]
    fits = domains.shape == languages.shape == counts.shape == (len(counts),)
    if not fits or counts.dtype != np.int64:
        raise ModelError(f"{path or SHIPPED}: not a file of top-level domains")
    pairs = zip(domains.tolist(), languages.tolist(), strict=True)
    return TopLevelDomain(dict(zip(pairs, counts.tolist(), strict=True)))


def top_level_domain(url: str) -> str:
    """The part of a URL's host after the last period, in ASCII; empty without a period."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    domain = host.rstrip(".").rpartition(".")[2] if "." in host.rstrip(".") else ""
    if not domain.isascii():
        try:
            domain = domain.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    return "" if domain.isdigit() or not domain.replace("-", "").isalnum() else domain


def _reason(url: str, domain: str) -> str:
    if not url:
        return "no address"
    return f"no known page under .{domain}" if domain else "an address without a top-level domain"
