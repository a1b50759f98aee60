"""Work in progress between the lease of a URL and its settling."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Traffic:
    """Counts the answers that wait for a reader, and passes on how long each fetch took.

    `listeners` are called with the seconds from lease to answer.
    """

    def __init__(self) -> None:
        self.reading = 0
        self.listeners: list[Callable[[float], object]] = []

    @contextmanager
    def being_read(self) -> Iterator[None]:
        """Count an answer as waiting for a reader while the block runs."""
        self.reading += 1
        try:
            yield
        finally:
            self.reading -= 1

    def note_fetch(self, seconds: float) -> None:
        """Pass on the duration of a fetch."""
        for listener in self.listeners:
            listener(seconds)
