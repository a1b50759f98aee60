"""Calibrated language probabilities of a URL's page, from all evidence.

The binary classifiers of the URL model answer Yes or No per language, trained on as many positive
as negative URLs. This module combines decision values, top-level domain, language codes and names,
and letter scripts into log-likelihood ratios. A prior turns log-likelihood ratios into
probabilities. Languages without a classifier compete with top-level domains, codes and scripts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.tables import rows
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.classifiers.urls import further
from langfocus.classifiers.urls.clues import key_of
from langfocus.classifiers.urls.codes import completed, names_in_hosts
from langfocus.classifiers.urls.letters import Points
from langfocus.classifiers.urls.scoring import Flags, Nats, logits_of, nats_of
from langfocus.classifiers.urls.words import table_of, words_of
from langfocus.classifiers.weights import Floats

WEB_SHARES: Final = {code: int(pages) for code, pages in rows("web-shares.txt").items()}
"""Language -> pages per million (Common Crawl, CC-MAIN-2024-42, detected by CLD2).

Latin is left out: most pages labelled Latin are placeholder text.
"""
UNLISTED: Final = 0.5
"""Pages per million for a language unknown to CLD2."""
_EVENED: Final = 0.4
"""Exponent of the Web shares in the default prior: 0 is uniform, 1 the Web's."""
_CRAWLED: Final = 0.5
"""Share of the target language among URLs discovered by a crawl."""


@dataclass(frozen=True)
class Prior:
    """Language frequencies before a URL is read; shares need not add up to 1."""

    shares: Mapping[str, float]
    """Language -> share."""
    rest: float = 0.0
    """Share of every language missing from `shares`."""

    def __post_init__(self) -> None:
        """Reject negative or infinite shares; LanguageError for an unknown language."""
        for code, share in self.shares.items():
            if code not in PROJECT_CODES:
                raise LanguageError(f"a prior for {code!r}, which is not a known language")
            if not 0 <= share < np.inf:
                raise ValueError(f"the prior of {code!r} must be a share, not {share}")
        if not 0 <= self.rest < np.inf or not (self.rest or any(self.shares.values())):
            raise ValueError("a prior needs a share above 0")

    @classmethod
    def uniform(cls) -> Prior:
        """Return the prior with equal shares."""
        return cls({}, 1.0)

    @classmethod
    def web(cls) -> Prior:
        """Return the language shares of Web pages, from Common Crawl."""
        return cls(WEB_SHARES, UNLISTED)

    @classmethod
    def evened(cls) -> Prior:
        """Return the Web shares to a power between 0, uniform, and 1; the default prior.

        A small language wins on evidence in the URL, and not on mere possibility.
        """
        shares = {code: share**_EVENED for code, share in WEB_SHARES.items()}
        return cls(shares, UNLISTED**_EVENED)

    @classmethod
    def crawl(cls, language: str, share: float = _CRAWLED) -> Prior:
        """Return a prior with `share` for the language, and the rest as on the Web."""
        if not 0 < share < 1:
            raise ValueError(f"the share of the target language is between 0 and 1, not {share}")
        others = {code: pages for code, pages in WEB_SHARES.items() if code != language}
        total = sum(others.values())
        return cls({**others, language: total * share / (1 - share)}, UNLISTED)

    def log_of(self, languages: Sequence[str]) -> Floats:
        """Return the log-shares normalised over `languages`, (n_languages,)."""
        shares = np.array([self.shares.get(code, self.rest) for code in languages], np.float64)
        if not shares.any():
            raise ValueError("the prior rules out every language of the model")
        logs = np.full(len(shares), -np.inf)
        np.log(shares / shares.sum(), out=logs, where=shares > 0)
        return logs.astype(np.float32)


class Hosts(NamedTuple):
    """Listed registered domains, hosts and directories, each in one language."""

    keys: npt.NDArray[np.uint32]
    """Hashed to 31 bits, sorted, (n_hosts,)."""
    languages: npt.NDArray[np.uint8]
    """Index of each one's language, (n_hosts,)."""
    nats: npt.NDArray[np.float16]
    """Evidence for that language, (n_hosts,)."""


NO_HOSTS: Final = Hosts(np.empty(0, np.uint32), np.empty(0, np.uint8), np.empty(0, np.float16))


@dataclass(frozen=True)
class Evidence:
    """Learned weights that turn decision values and clues into log-likelihood ratios."""

    languages: tuple[str, ...]
    """Every language the model can identify; languages with a classifier first, in classifier
    order."""
    mixing: Floats
    """Nats per unit of decision value, (n_classifiers, n_languages)."""
    intercepts: Floats
    """(n_languages,)."""
    keys: npt.NDArray[np.uint64]
    """Keys of the known clues, sorted, (n_clues,)."""
    nats: npt.NDArray[np.float16]
    """Evidence per clue and language, (n_clues, n_languages)."""
    hosts: Hosts = NO_HOSTS
    n_added: int = 0
    """Languages at the end that `widened` added."""

    def widened(self) -> Evidence:
        """Return the evidence with further languages, if it names more than its classifiers do."""
        more = further.added(self.languages, len(self.mixing))
        return replace(
            self,
            languages=self.languages + more,
            mixing=further.widened(self.mixing, len(more)),
            intercepts=further.widened(self.intercepts, len(more), further.INTERCEPT),
            nats=further.widened(self.nats, len(more)),
            n_added=self.n_added + len(more),
        )

    @cached_property
    def of_urls(self) -> Nats:
        """Return the weights in the layout of the compiled code."""
        within = names_in_hosts(self.languages[len(self.mixing) :])
        more = [*within, *further.facts()]
        keys, nats = completed(self.languages, self.keys, self.nats, more)
        names = np.array([key_of(kind, text) for kind, text, *_ in within], np.uint64)
        tables = words_of(self.languages), table_of(*self.hosts)
        return nats_of(self.mixing, self.intercepts, keys, nats, names, *tables)

    def base(self, prior: Prior) -> Floats:
        """Return the log-prior plus the evidence of a URL without features, padded with -inf."""
        base = self.of_urls.base.copy()
        base[: len(self.languages)] += prior.log_of(self.languages)
        return base

    def logits(
        self, scores: Floats, points: Points, prior: Prior | None = None
    ) -> tuple[Floats, Flags]:
        """Return log-likelihood ratios plus log-prior, (n_urls, n_languages or more).

        Values are exact up to a constant per URL; columns beyond the languages are -inf. `scores`
        are decision values for the URLs in `points`, (n_urls, n_classifiers). Flags (n_urls,) mark
        URLs with a known clue.
        """
        base = self.base(Prior.evened() if prior is None else prior)
        return logits_of(points, scores, self.of_urls, base)
