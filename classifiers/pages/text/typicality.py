"""Whether a text is in one of the known languages at all.

A text in a known language has about as many nats for an n-gram as other texts of the language, and
a clear lead over the second language. A text in an unknown language, program code or random letters
lacks the nats, the lead or both. A logistic regression on cross-validated texts weighs them; the
coefficients are part of the text model.
"""

from __future__ import annotations

import math
import operator
from typing import Final

import numpy as np
import numpy.typing as npt

MAX_LEAD: Final = 2.0
"""Lead over the second language, in nats of an n-gram, that counts at most."""
MAX_DEFICIT: Final = 4.0
"""Nats of an n-gram below a typical text that count at most."""

Values = npt.NDArray[np.float64]


def facts(deficit: Values, lead: Values, n_features: Values) -> Values:
    """The variables of the regression, (n_texts, 6), from three arrays (n_texts,).

    `deficit` is how many nats an n-gram of the text lacks compared with typical texts of its first
    language, `lead` how many it has more for the first language than for the second.
    """
    size = np.log(np.maximum(n_features, 1))
    lacking = np.clip(deficit, -MAX_DEFICIT, MAX_DEFICIT)
    ahead = np.minimum(lead, MAX_LEAD)
    return np.stack((np.ones_like(size), lacking, ahead, size, lacking * size, ahead * size), 1)


def log_odds(coefficients: Values, deficit: float, lead: float, n_features: int) -> float:
    """The logarithm of the odds that the first language of a text is right."""
    size = math.log(max(n_features, 1))
    lacking = max(-MAX_DEFICIT, min(deficit, MAX_DEFICIT))
    ahead = min(lead, MAX_LEAD)
    row = (1.0, lacking, ahead, size, lacking * size, ahead * size)
    return float(sum(map(operator.mul, row, coefficients.tolist())))
