"""Log-odds as probabilities."""

from math import exp


def probability_of(odds: float) -> float:
    """Return 1 / (1 + exp(-odds)), without overflow."""
    return 1.0 / (1.0 + exp(-odds)) if odds >= 0 else exp(odds) / (1.0 + exp(odds))
