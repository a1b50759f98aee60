"""Which language a URL's page is probably in: one calibrated answer from all evidence.

The binary classifiers of the URL model say Yes or No for each language, with as many positive as
negative URLs. Here their decision values, the top-level domain, codes and names of languages and
the scripts of letters together become log-likelihood ratios. A prior makes probabilities of them.
Languages without a classifier take part with their top-level domains, codes and scripts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.languages import known
from langfocus.classifiers.tables import rows
from langfocus.classifiers.urls.codes import completed
from langfocus.classifiers.urls.letters import Points
from langfocus.classifiers.urls.scoring import Flags, Nats, logits_of, nats_of
from langfocus.classifiers.weights import Floats

WEB_SHARES: Final = {code: int(pages) for code, pages in rows("web-shares.txt").items()}
"""Language -> pages of a million (Common Crawl, CC-MAIN-2024-42, detected by CLD2).

Latin is left out: most of those pages are placeholder text.
"""
UNLISTED: Final = 0.5
"""Pages of a million of a language that CLD2 does not know."""
_EVENED: Final = 0.4
"""Power of the shares of the Web in the default prior: 0 is uniform, 1 the Web's."""
_CRAWLED: Final = 0.5
"""Share of the target language among the URLs that a crawl finds."""


@dataclass(frozen=True)
class Prior:
    """How frequent the languages are before a URL is read; shares need not add up to 1."""

    shares: Mapping[str, float]
    """Language -> share."""
    rest: float = 0.0
    """Share of each language that is not in `shares`."""

    def __post_init__(self) -> None:
        """Refuse shares that are no shares; LanguageError for an unknown language."""
        for code, share in self.shares.items():
            if code not in known():
                raise LanguageError(f"a prior for {code!r}, which is not a known language")
            if not 0 <= share < np.inf:
                raise ValueError(f"the prior of {code!r} must be a share, not {share}")
        if not 0 <= self.rest < np.inf or not (self.rest or any(self.shares.values())):
            raise ValueError("a prior needs a share above 0")

    @classmethod
    def uniform(cls) -> Prior:
        """Every language is as frequent as any other."""
        return cls({}, 1.0)

    @classmethod
    def web(cls) -> Prior:
        """The shares of the Web's pages, from Common Crawl."""
        return cls(WEB_SHARES, UNLISTED)

    @classmethod
    def evened(cls) -> Prior:
        """The shares of the Web to a power between 0, uniform, and 1; the default prior.

        A small language is named if the URL says so, and not if it merely might be.
        """
        shares = {code: share**_EVENED for code, share in WEB_SHARES.items()}
        return cls(shares, UNLISTED**_EVENED)

    @classmethod
    def crawl(cls, language: str, share: float = _CRAWLED) -> Prior:
        """`share` of the URLs are in the language, the others as on the Web."""
        if not 0 < share < 1:
            raise ValueError(f"the share of the target language is between 0 and 1, not {share}")
        others = {code: pages for code, pages in WEB_SHARES.items() if code != language}
        total = sum(others.values())
        return cls({**others, language: total * share / (1 - share)}, UNLISTED)

    def log_of(self, languages: Sequence[str]) -> Floats:
        """The logarithms of the shares of some languages among each other, (n_languages,)."""
        shares = np.array([self.shares.get(code, self.rest) for code in languages], np.float64)
        if not shares.any():
            raise ValueError("the prior rules out every language of the model")
        logs = np.full(len(shares), -np.inf)
        np.log(shares / shares.sum(), out=logs, where=shares > 0)
        return logs.astype(np.float32)


@dataclass(frozen=True)
class Evidence:
    """The learned numbers that turn decision values and clues into log-likelihood ratios."""

    languages: tuple[str, ...]
    """All languages that can be named; those with a classifier come first, in its order."""
    mixing: Floats
    """Nats for each unit of a decision value, (n_classifiers, n_languages)."""
    intercepts: Floats
    """(n_languages,)."""
    keys: npt.NDArray[np.uint64]
    """Keys of the known clues, sorted, (n_clues,)."""
    nats: npt.NDArray[np.float16]
    """The evidence of each clue for each language, (n_clues, n_languages)."""

    @cached_property
    def of_urls(self) -> Nats:
        """The same numbers as the compiled code reads them."""
        keys, nats = completed(self.languages, self.keys, self.nats.astype(np.float32))
        return nats_of(self.mixing, self.intercepts, keys, nats)

    def base(self, prior: Prior) -> Floats:
        """The evidence of a URL without features with the log-prior, padded with -inf."""
        base = self.of_urls.base.copy()
        base[: len(self.languages)] += prior.log_of(self.languages)
        return base

    def logits(
        self, scores: Floats, points: Points, prior: Prior | None = None
    ) -> tuple[Floats, Flags]:
        """Log-likelihood ratios and log-prior, (n_urls, n_languages or more).

        They are right up to an addend for each URL; columns beyond the languages are -inf. `scores`
        are the decision values of the URLs of `points`, (n_urls, n_classifiers). The flags
        (n_urls,) say which URLs have a known clue.
        """
        base = self.base(Prior.evened() if prior is None else prior)
        return logits_of(points, scores, self.of_urls, base)
