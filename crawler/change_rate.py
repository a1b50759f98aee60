"""How often a page changes, estimated from visits that tell only if it changed since the last one.

Changes are taken as a Poisson process. The number of visits that found a change underestimates
their rate, because several changes between two visits count as one. The estimator of Cho and
Garcia-Molina 2003 ("Estimating frequency of change", ACM TOIT 3(3), the estimator with reduced
bias) corrects that and is finite if every visit found a change. Unlike there, the intervals between
the visits may differ; their mean counts.
"""

from math import exp, log


def changes_per_second(looks: int, changes: int, seconds: float) -> float | None:
    """Return the estimated rate; None without an interval between two visits.

    `looks` are the visits after the first, `changes` those of them that found a change, `seconds`
    the time between the first and the last visit. Raises ValueError for impossible numbers.
    """
    if not 0 <= changes <= looks:
        raise ValueError(f"{changes} of {looks} visits cannot have found a change")
    if not looks or seconds <= 0:
        return None
    return log((looks + 0.5) / (looks - changes + 0.5)) * looks / seconds


def chance_of_change(rate: float, seconds: float) -> float:
    """Return the probability that a page with a rate of change changed in some seconds."""
    return 1.0 - exp(-rate * max(0.0, seconds))
