"""Initial weights of a `focus` crawl."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from langfocus.crawler.strategies.focus.evidence import FEATURES

SHIPPED: Final = Path(__file__).with_name("prior.json")
"""Initial weights of a crawl, with a card of their training crawls."""

RARE: Final = SHIPPED.with_name("prior-rare.json")
"""The same for a language that is rare on the Web; half of its crawls were for such languages."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The weights before a crawl: normal with this `mean` (k,) and `covariance` (k, k).

    A unit without pages counts its enclosing unit's record as `strength` pages.
    """

    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    strength: float

    @classmethod
    @cache
    def shipped(cls, file: Path = SHIPPED) -> "Prior":
        """Return a prior that ships."""
        read = json.loads(file.read_text(encoding="utf-8"))
        if tuple(read["features"]) != FEATURES:
            raise ValueError(f"{file} is of another version")
        rows = tuple(map(tuple, read["covariance"]))
        return cls(tuple(read["mean"]), rows, read["strength"])
