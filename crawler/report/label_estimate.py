"""The harvest rate of a run from a person's labels, with an interval for the identifier's errors.

The estimator is that of a stratified random sample: the sum over strata of their size times the
labelled share (Cochran 1977, Sampling Techniques, 5.3). Its usual variance is 0 for a stratum whose
labels all agree, which is frequent here. So the interval comes from the distribution of the pages
that were not labelled: in each stratum their number of relevant pages is beta-binomial, with
Jeffreys' prior for the share (Brown, Cai and DasGupta 2001, Interval Estimation for a Binomial
Proportion, 4). A stratum that was labelled completely adds nothing to the interval.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crawler.report.strata import Answer, Stratum

_DRAWS: Final = 20_000
_LEVELS: Final = (2.5, 97.5)
_PRIOR: Final = 0.5

Draws = npt.NDArray[np.int64]


class Interval(NamedTuple):
    """An estimate with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


class Labelled(NamedTuple):
    """The pages of a stratum, those with a person's label, and the relevant ones of these."""

    pages: int
    labelled: int
    relevant: int


@dataclass(frozen=True, slots=True)
class LabelEstimate:
    """The figures that labels give; None where no page of a kind is labelled.

    `harvest_rate` is the share of relevant pages among those with an answer of the identifier.
    `relevant` is their number among all pages, also those without an answer. `precision` and
    `recall` are those of the identifier for the target language on the pages of the run.
    """

    labels: int
    pages: int
    harvest_rate: Interval | None
    relevant: Interval | None
    precision: Interval | None
    recall: Interval | None


def estimate_from_labels(
    strata: Mapping[Stratum, Labelled], random_state: int = 0, draws: int = _DRAWS
) -> LabelEstimate:
    """Return the figures of a run from the labels of a stratified sample of its pages.

    The ends of an interval are quantiles of `draws` random numbers.
    """
    kinds = {kind: collapsed(strata, kind) for kind in Answer}
    chance = np.random.default_rng(random_state)
    counts = {
        kind: None if parts is None else (_estimated(parts), _drawn(parts, chance, draws))
        for kind, parts in kinds.items()
    }
    sizes = {
        kind: sum(s.pages for key, s in strata.items() if key.answer is kind) for kind in kinds
    }
    target, other, none = (counts[kind] for kind in Answer)
    answered = sizes[Answer.TARGET] + sizes[Answer.OTHER]
    labelled = None if target is None or other is None else _sum(target, other)
    everything = None if labelled is None or none is None else _sum(labelled, none)
    return LabelEstimate(
        labels=sum(stratum.labelled for stratum in strata.values()),
        pages=sum(sizes.values()),
        harvest_rate=_ratio(labelled, answered),
        relevant=_ratio(everything, 1),
        precision=_ratio(target, sizes[Answer.TARGET]),
        recall=None if target is None or everything is None else _share(target, everything),
    )


def collapsed(strata: Mapping[Stratum, Labelled], kind: Answer) -> list[Labelled] | None:
    """Return the strata of a kind of answer, those without labels joined to the next band.

    None if pages of the kind exist and none is labelled (Cochran 1977, 5A.12, on collapsed strata).
    """
    found: list[Labelled] = []
    waiting = 0
    for _, part in sorted(
        ((key.band, part) for key, part in strata.items() if key.answer is kind and part.pages)
    ):
        if part.labelled:
            found.append(part._replace(pages=part.pages + waiting))
            waiting = 0
        else:
            waiting += part.pages
    if waiting and found:
        found[-1] = found[-1]._replace(pages=found[-1].pages + waiting)
    return None if waiting and not found else found


def _estimated(parts: Iterable[Labelled]) -> float:
    """The number of relevant pages: Cochran 1977, (5.1) times the number of pages."""
    return float(sum(part.pages * part.relevant / part.labelled for part in parts))


def _drawn(parts: Iterable[Labelled], chance: np.random.Generator, draws: int) -> Draws:
    """Numbers of relevant pages that agree with the labels."""
    total = np.zeros(draws, np.int64)
    for part in parts:
        share = chance.beta(
            part.relevant + _PRIOR, part.labelled - part.relevant + _PRIOR, size=draws
        )
        total += part.relevant + chance.binomial(part.pages - part.labelled, share)
    return total


Count = tuple[float, Draws]


def _sum(one: Count, other: Count) -> Count:
    return one[0] + other[0], one[1] + other[1]


def _ratio(count: Count | None, of: int) -> Interval | None:
    if count is None or not of:
        return None
    low, high = np.percentile(count[1], _LEVELS) / of
    value = count[0] / of
    return Interval(value, min(float(low), value), max(float(high), value))


def _share(part: Count, whole: Count) -> Interval | None:
    if not whole[0]:
        return None
    low, high = np.percentile(part[1] / np.maximum(whole[1], 1), _LEVELS)
    value = part[0] / whole[0]
    return Interval(value, min(float(low), value), max(float(high), value))
