"""The relevance of a server or a directory (Tamura 2007, 4.1)."""

from typing import NamedTuple


class Tally(NamedTuple):
    """The number of pages downloaded from one server or directory.

    `downloaded` is N_a, the pages downloaded; `relevant` is N_r, those of them written in the
    target language (Tamura 2007, 4.1). Pages without a label count as downloaded: a frame set
    or an empty page uses up tolerance, as in the paper.
    """

    downloaded: int = 0
    relevant: int = 0

    def is_irrelevant(self, tolerance: int) -> bool:
        """Return True if the unit is irrelevant with tolerance T: N_r = 0 and N_a > T.

        With N_r > 0 it is relevant, otherwise undecided.
        """
        return self.relevant == 0 and self.downloaded > tolerance


NOTHING = Tally()
"""The tally of a server or directory without downloaded pages."""
