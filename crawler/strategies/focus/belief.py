"""A crawl's belief about its evidence: a weight per feature, with uncertainty."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from struct import Struct
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.crawler.strategies.focus.evidence import N_FEATURES, N_KNOWN
from langfocus.crawler.strategies.focus.prior import Prior

Floats = npt.NDArray[np.float64]

# Read by code of classifiers.compiled.
MOST_COUNTED: Final = 8
"""Most inlinks counted per kind."""


Numbers = Sequence[float]
"""The numbers about a URL before its fetch, at most `N_KNOWN`: see `kernel.features_of`.

They are the facts of its `Evidence`, its labelled inlinks, at most `MOST_COUNTED` of each kind, and
the labelled and relevant pages of each unit (`units_of`).
"""


class Weighed(NamedTuple):
    """The log-odds of a URL, and each feature's part before shrinking."""

    odds: float
    parts: Sequence[float]

    def reasons(self) -> str:
        """Return the parts as one short text."""
        return " ".join([f"{part:.3g}" for part in self.parts])


_ROWS: Final = [Struct(f"{n}d{8 * (N_KNOWN - n)}x") for n in range(N_KNOWN + 1)]
"""A row by the number of its numbers; numpy itself needs six times as long to read it."""


def _matrix(known: Sequence[Numbers]) -> Floats:
    """Return the numbers about URLs, (n, N_KNOWN); a missing unit counts nothing."""
    packed = b"".join([_ROWS[len(row)].pack(*row) for row in known])
    return np.frombuffer(bytearray(packed)).reshape(len(known), -1)


@dataclass(slots=True)
class Belief:
    """The weights of a crawl after `labelled` labelled pages, `relevant` of them relevant."""

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
        """Return an independent copy."""
        belief = copy(self)
        belief.mean, belief.covariance = self.mean.copy(), self.covariance.copy()
        return belief

    @property
    def rate(self) -> float:
        """The share of relevant pages in the crawl, a half before the first page."""
        return (self.relevant + 0.5) / (self.labelled + 1.0)

    def features(self, known: Sequence[Numbers]) -> Floats:
        """Return the features of URLs, (n, k)."""
        from langfocus.crawler.strategies.focus.kernel import (
            features_of,  # numba takes half a second
        )

        return features_of(_matrix(known), self.rate, self.prior.strength)

    def scores(self, known: Sequence[Numbers]) -> list[float]:
        """Return the log-odds that URLs are in the target language."""
        from langfocus.crawler.strategies.focus.kernel import scores_of

        if not known:
            return []
        return scores_of(  # type: ignore[no-any-return]  # a list of float
            _matrix(known), self.rate, self.prior.strength, self.mean, self.covariance
        ).tolist()

    def learn(self, known: Numbers, *, is_relevant: bool) -> None:
        """Learn from a page with a label."""
        from langfocus.crawler.strategies.focus.kernel import learn

        rows, strength = _matrix([known]), self.prior.strength
        learn(rows, self.rate, strength, is_relevant, self.mean, self.covariance)
        self.labelled += 1
        self.relevant += is_relevant

    def weigh(self, known: Numbers) -> Weighed:
        """Return the log-odds that a URL is in the target language, with their parts."""
        from langfocus.crawler.strategies.focus.kernel import weighed_of

        rows, strength = _matrix([known]), self.prior.strength
        *parts, odds = weighed_of(rows, self.rate, strength, self.mean, self.covariance).tolist()
        return Weighed(odds, parts)

    def sums(self) -> Floats:
        """Return additive sums for merging beliefs with a common prior.

        The sums are labelled pages, relevant pages, precision times mean, and precision.
        """
        precision = np.linalg.inv(self.covariance)
        counts = [float(self.labelled), float(self.relevant)]
        return np.concatenate([counts, precision @ self.mean, precision.ravel()])

    def take_over(self, sums: Floats) -> None:
        """Set the belief from `sums`; raises ValueError for invalid sums."""
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
        """Set the belief from `packed`; raises ValueError for other bytes or infinite weights."""
        if len(mean) != 8 * N_FEATURES or len(covariance) != 8 * N_FEATURES**2:
            raise ValueError("the weights are of another version")
        center = np.frombuffer(mean).copy()
        spread = np.frombuffer(covariance).reshape(N_FEATURES, N_FEATURES).copy()
        if not (np.isfinite(center).all() and np.isfinite(spread).all()):
            raise ValueError("the weights are not finite")
        self.mean, self.covariance = center, spread
