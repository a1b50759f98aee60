"""A prior whose effects are easy to foresee."""

import numpy as np

from crawler.strategies.focus.belief import Prior
from crawler.strategies.focus.features import FEATURES

_WEIGHTS = {
    "URL, new host": 1.0,
    "URL, known host": 0.3,
    "top-level domain": 0.2,
    "code in the URL": 1.0,
    "links from relevant pages of other hosts": 0.7,
    "links from other pages of other hosts": -0.7,
    "links from relevant pages of the host": 0.5,
    "links from other pages of the host": -0.5,
    "declared": 2.0,
    "registered domain": 0.5,
    "host": 1.0,
    "path": 1.0,
}
PRIOR = Prior(
    mean=tuple(_WEIGHTS.get(name, 0.0) for name in FEATURES),
    covariance=tuple(map(tuple, (0.25 * np.eye(len(FEATURES))).tolist())),
    strength=1.0,
)
