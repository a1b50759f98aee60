"""What a benchmark claims, and the values that were measured for it.

A function of `benchmarks.run` yields claims: figures of one round each, of this project or divided
by a rival's in the same round. The middle value counts, and the least and the greatest show how far
to trust it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

Rounds = Sequence[float]


@dataclass(frozen=True, slots=True)
class Claim:
    """Values of all rounds in a unit; `floor` is the least middle value, None: it is only told."""

    name: str
    values: Rounds
    unit: str = ""
    floor: float | None = None

    @property
    def middle(self) -> float:
        """The median of the rounds."""
        return median(self.values)

    @property
    def is_kept(self) -> bool:
        """False if the middle value is under the floor."""
        return self.floor is None or self.middle >= self.floor

    def __str__(self) -> str:
        """Return the line that a person reads."""
        floor = "" if self.floor is None else f", at least {self.floor:.2f}"
        mark = "" if self.is_kept else "  UNDER ITS FLOOR"
        values = ", ".join(f"{value:,.2f}" for value in self.values)
        return f"{self.name}: {self.middle:,.2f} {self.unit} ({values}{floor}){mark}"


def ratios(ours: Rounds, theirs: Rounds) -> list[float]:
    """Return our figures divided by a rival's, round by round."""
    return [a / b for a, b in zip(ours, theirs, strict=True)]
