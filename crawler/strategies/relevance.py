"""The relevance of a server or a directory (Tamura 2007, 4.1)."""

from enum import Enum
from typing import NamedTuple


class Relevance(Enum):
    """The state of a server or directory, from the pages downloaded from it."""

    RELEVANT = "relevant"
    UNDECIDED = "undecided"
    IRRELEVANT = "irrelevant"


class Tally(NamedTuple):
    """The number of pages downloaded from one server or directory.

    `downloaded` is N_a, the pages downloaded; `relevant` is N_r, those of them written in the
    target language (Tamura 2007, 4.1). Pages without a label count as downloaded: a frame set
    or an empty page uses up tolerance, as in the paper.
    """

    downloaded: int = 0
    relevant: int = 0

    def relevance(self, tolerance: int) -> Relevance:
        """Return the state of the server with tolerance T.

        Relevant if N_r > 0, undecided if N_r = 0 and N_a <= T, irrelevant if N_r = 0 and
        N_a > T.
        """
        if self.relevant > 0:
            return Relevance.RELEVANT
        return Relevance.UNDECIDED if self.downloaded <= tolerance else Relevance.IRRELEVANT


NOTHING = Tally()
"""The tally of a server or directory without downloaded pages."""
