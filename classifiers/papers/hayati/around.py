"""Surroundings of a short page as evidence of its language (Hayati 2004, section 5).

The surroundings are the top-level domain, inlinking pages and linked pages. Pages mostly link to
pages in their own language: 95 % of 799 links did (5.3).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from langfocus.classifiers.arrayfile import MODELS, read_arrays, write_arrays
from langfocus.classifiers.errors import ModelError
from langfocus.classifiers.pages.method import (
    MIN_REFERENCE_LENGTH,
    NOTHING,
    PageLanguage,
    PageMethod,
    Surroundings,
    unknown,
)
from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.classifiers.papers.hayati.letters import letters
from langfocus.classifiers.urls import cctld

SHIPPED: Final = MODELS / "top-level-domain.npz"
MIN_LENGTH: Final = 50
"""Length of cleaned text in characters above which only the page itself counts: the longest short
pages of the paper (Table 5.1) are shorter.
"""
MAX_INLINKS: Final = 10
"""Maximum counted inlinks (0.10)."""
_INLINKS: Final = "inlinks"


@dataclass(frozen=True)
class Neighbours:
    """Majority vote of the pages around a short page.

    Among inlinking pages (Algorithm 5.5), pages of sufficient length vote, and so does the page's
    own text. All linked pages (5.3) vote, and the page's own text only breaks ties. The confidence
    is Laplace's rule of succession: 0.67 for 1 vote of 1, 0.92 for 10 of 10.
    """

    name: str
    """`inlinks` or `outlinks`."""
    text: PageMethod
    """Method that identifies pages by text."""
    languages: frozenset[str] = frozenset()
    """Empty: neighbours may be in any language."""

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """Return the text's answer for a long page or a tied vote, else the majority."""
        own = self.text.identify(page, surroundings)
        votes = self._votes(surroundings)
        if len(letters(page.text)) > MIN_LENGTH or not votes:
            return own
        if self.name == _INLINKS and own.language is not None:
            votes.append(own.language)
        counts = Counter(votes)
        language, most = counts.most_common(1)[0]
        if own.language is not None and counts[own.language] == most:
            language = own.language
        reason = f"{self.name}: {language} has {most} of {len(votes)} votes"
        return PageLanguage(language, (most + 1) / (len(votes) + 2), self.name, reason)

    def _votes(self, around: Surroundings) -> list[str]:
        if self.name == _INLINKS:
            long = (page for page in around.inlinks if page.characters >= MIN_REFERENCE_LENGTH)
            return [page.language for page in long if page.language is not None][:MAX_INLINKS]
        return [page.language for page in around.outlinks if page.language is not None]


def inlinks() -> Neighbours:
    """Return the paper's method with NFC."""
    return Neighbours(_INLINKS, method("nfc"))


def outlinks() -> Neighbours:
    """Return the paper's method with NFC."""
    return Neighbours("outlinks", method("nfc"))


class TopLevelDomain:
    """Most common language of a top-level domain among known pages (5.1, Algorithm 5.2).

    `counts` is the number of pages by pair of domain (without its period) and language.
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
        """Languages that are the most common language of a domain."""
        return frozenset(language for language, _ in self._best.values())

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """Return the language of `surroundings.url`'s domain; None without a URL or pages."""
        domain = top_level_domain(surroundings.url)
        if not domain:
            return unknown("no address with a top-level domain")
        if domain not in self._best:
            return unknown(f"no known page under .{domain}")
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


def train(rows: Iterable[tuple[str, str]]) -> TopLevelDomain:
    """Train the most common language of each domain from (URL, language) pairs.

    A URL without a top-level domain is skipped; ties are broken by language code.
    """
    pairs = ((top_level_domain(url), language) for url, language in rows)
    return TopLevelDomain(Counter(pair for pair in pairs if pair[0]))


def load(path: Path | None = None) -> TopLevelDomain:
    """Return the method of a file, None for the shipped file; ModelError if damaged."""
    arrays = read_arrays(path or SHIPPED, "domains", "languages", "counts")
    domains, languages, counts = arrays["domains"], arrays["languages"], arrays["counts"]
    fits = domains.shape == languages.shape == counts.shape == (len(counts),)
    if not fits or counts.dtype != np.int64:
        raise ModelError(f"{path or SHIPPED}: not a file of top-level domains")
    pairs = zip(domains.tolist(), languages.tolist(), strict=True)
    return TopLevelDomain(dict(zip(pairs, counts.tolist(), strict=True)))


def top_level_domain(url: str) -> str:
    """Return the part of a URL's host after the last period, in ASCII; empty without a period."""
    try:
        domain = cctld.top_level_domain(url).encode("idna").decode("ascii")
    except UnicodeError:
        return ""
    return "" if domain.isdigit() or not domain.replace("-", "").isalnum() else domain
