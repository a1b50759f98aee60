"""What a crawl believes about its evidence: a weight for each feature, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import pack
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.crawler.strategies.focus.evidence import N_FEATURES, N_UNITS, Evidence
from langfocus.crawler.strategies.focus.prior import Prior

Floats = npt.NDArray[np.float64]

# Read by code of classifiers.compiled.
MOST_COUNTED: Final = 8
"""Of each kind at most so many pages that link to a URL are counted."""


class Standing(NamedTuple):
    """All that is known of one URL: its evidence, the pages that link to it, its units' records.

    `links` are the numbers of pages with a label that link to it, at most `MOST_COUNTED` each:
    relevant ones of other hosts, others of other hosts, relevant ones of its host, others of it.
    `tallies` are pages with a label and relevant pages of each of its units, in the order of
    `units_of`.
    """

    evidence: Evidence
    links: tuple[int, int, int, int] = (0, 0, 0, 0)
    tallies: tuple[int, ...] = ()


class Weighed(NamedTuple):
    """The log-odds of a URL, and what each feature adds to them before they are shrunk."""

    odds: float
    parts: Sequence[float]

    def reasons(self) -> str:
        """Return the parts as one short text."""
        return " ".join([f"{part:.3g}" for part in self.parts])


_NO_TALLIES: Final = (0,) * (2 * N_UNITS)


def _known(standings: Sequence[Standing]) -> Floats:
    """Return what is known of URLs, (n, `kernel.N_KNOWN`)."""
    numbers: list[float] = []
    for evidence, links, tallies in standings:
        numbers += evidence
        numbers += links
        numbers += tallies
        numbers += _NO_TALLIES[len(tallies) :]
    # numpy itself needs three times as long to read a list of numbers.
    packed = bytearray(pack(f"{len(numbers)}d", *numbers))
    return np.frombuffer(packed).reshape(len(standings), -1)


@dataclass(slots=True)
class Belief:
    """The weights of a crawl after `labelled` pages with a label, `relevant` of them relevant."""

    prior: Prior
    labelled: int = 0
    relevant: int = 0
    mean: Floats = field(init=False)
    covariance: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the prior."""
        self.mean = np.array(self.prior.mean)
        self.covariance = np.array(self.prior.covariance)

    def copy(self) -> "Belief":
        """Return a belief that does not change with this one."""
        belief = Belief(self.prior, self.labelled, self.relevant)
        belief.mean, belief.covariance = self.mean.copy(), self.covariance.copy()
        return belief

    @property
    def rate(self) -> float:
        """The share of relevant pages in the crawl, a half before the first page."""
        return (self.relevant + 0.5) / (self.labelled + 1.0)

    def features(self, standings: Sequence[Standing]) -> Floats:
        """Return the features of URLs, (n, k)."""
        from langfocus.crawler.strategies.focus.kernel import (
            features_of,  # numba takes half a second
        )

        return features_of(_known(standings), self.rate, self.prior.strength)

    def scores(self, standings: Sequence[Standing]) -> list[float]:
        """Return the log-odds that URLs are in the target language."""
        from langfocus.crawler.strategies.focus.kernel import scores_of

        if not standings:
            return []
        return scores_of(  # type: ignore[no-any-return]  # a list of float
            _known(standings), self.rate, self.prior.strength, self.mean, self.covariance
        ).tolist()

    def learn(self, standing: Standing, *, is_relevant: bool) -> None:
        """Learn from a page with a label; `standing` is that of its URL before the fetch."""
        from langfocus.crawler.strategies.focus.kernel import learn

        known, strength = _known([standing]), self.prior.strength
        learn(known, self.rate, strength, is_relevant, self.mean, self.covariance)
        self.labelled += 1
        self.relevant += is_relevant

    def weigh(self, standing: Standing) -> Weighed:
        """Return the log-odds that a URL is in the target language, with their parts."""
        from langfocus.crawler.strategies.focus.kernel import weighed_of

        known, strength = _known([standing]), self.prior.strength
        *parts, odds = weighed_of(known, self.rate, strength, self.mean, self.covariance).tolist()
        return Weighed(odds, parts)

    def sums(self) -> Floats:
        """Return what beliefs with one prior can add: what each learned is its part of the sum.

        These are the pages with a label, the relevant ones, the precision times the mean, and the
        precision.
        """
        precision = np.linalg.inv(self.covariance)
        counts = [float(self.labelled), float(self.relevant)]
        return np.concatenate([counts, precision @ self.mean, precision.ravel()])

    def take_over(self, sums: Floats) -> None:
        """Believe what some `sums` say; raises ValueError for numbers that are no such sums."""
        k = N_FEATURES
        if sums.shape != (2 + k + k * k,) or not np.isfinite(sums).all():
            raise ValueError("the weights are of another version, or not finite")
        covariance = np.linalg.inv(sums[2 + k :].reshape(k, k))
        self.labelled, self.relevant = int(sums[0]), int(sums[1])
        self.mean = covariance @ sums[2 : 2 + k]
        self.covariance = (covariance + covariance.T) / 2.0

    def packed(self) -> tuple[bytes, bytes]:
        """Return mean and covariance as bytes."""
        return self.mean.tobytes(), self.covariance.tobytes()

    def unpack(self, mean: bytes, covariance: bytes) -> None:
        """Take over `packed`; raises ValueError for bytes that are not those of finite weights."""
        if len(mean) != 8 * N_FEATURES or len(covariance) != 8 * N_FEATURES**2:
            raise ValueError("the weights are of another version")
        center = np.frombuffer(mean).copy()
        spread = np.frombuffer(covariance).reshape(N_FEATURES, N_FEATURES).copy()
        if not (np.isfinite(center).all() and np.isfinite(spread).all()):
            raise ValueError("the weights are not finite")
        self.mean, self.covariance = center, spread
