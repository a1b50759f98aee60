"""Which sitemaps and feeds of a host are fetched: a bounded number, the same after a restart."""

from collections.abc import Sequence
from typing import Final, Protocol

from crawler.frontier.base import KeptRobots
from crawler.url import fingerprint

MAX_FILES: Final = 20
"""Sitemaps, indexes of sitemaps and feeds of one host that are fetched."""


class FileStore(Protocol):
    """The part of the frontier that stores texts: that for robots.txt files."""

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the text of a name, None if there is none."""

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Store the text of a name."""


class SitemapFiles:
    """The files of each host that were offered to the frontier.

    They lie beside the robots.txt files of the frontier and are shared like these. If a store is
    full and forgets a host, the URLs of its files are still known to the frontier.
    """

    def __init__(self, store: FileStore) -> None:
        """Count the files in a store."""
        self._store = store

    def choose(self, host: str, urls: Sequence[str], now: float) -> list[str]:
        """Return those of the files that may be fetched for a host, in their order.

        Files that were chosen before are chosen again: the frontier knows if they were fetched.
        Their number is stored before they are queued, so that no kill loses or repeats one.
        """
        if not urls:
            return []
        known = self._known(host)
        keys = {f"{fingerprint(url):x}": url for url in urls}
        new = [key for key in keys if key not in known][: max(0, MAX_FILES - len(known))]
        if new:
            self._store.set_robots(_name(host), "\n".join([*known, *new]), now)
        allowed = {*known, *new}
        return [url for key, url in keys.items() if key in allowed]

    def has(self, host: str, url: str) -> bool:
        """Return True if a URL was chosen as a file of a host."""
        return f"{fingerprint(url):x}" in self._known(host)

    def _known(self, host: str) -> list[str]:
        kept = self._store.robots(_name(host))
        return kept.text.split() if kept is not None else []


def _name(host: str) -> str:
    """Return a name that no origin of a robots.txt has."""
    return f"sitemaps {host}"
