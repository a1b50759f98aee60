"""Files of a host that are asked for beside its pages: a bounded number, also after a restart."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from crawler.frontier.base import KeptRobots
from crawler.url import fingerprint, host_of

SITEMAP_FILES: Final = 10
"""Sitemaps, indexes of sitemaps and feeds of one host that are fetched."""


class FileStore(Protocol):
    """The part of the frontier that stores texts: that for robots.txt files."""

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the text of a name, None if there is none."""

    def replace_robots(self, name: str, before: KeptRobots | None, text: str, now: float) -> bool:
        """Store the text of a name; False if it is no longer the one `before`."""


class HostFiles:
    """The files of each host that may be asked for.

    Each counts for the host that it lies on, whoever named it. They are stored beside the
    robots.txt files of the frontier and shared like these. If a store is full and forgets a host,
    the URLs of its sitemaps are still known to the frontier.
    """

    def __init__(self, store: FileStore, kind: str, most: int = SITEMAP_FILES) -> None:
        """Count the files of a kind in a store, `most` of each host."""
        self._store = store
        self._kind = kind
        self._most = most

    def has(self, url: str) -> bool:
        """Return True if a file was chosen."""
        kept = self._store.robots(self._name(host_of(url)))
        return kept is not None and _key(url) in kept.text.split()

    def choose(self, urls: Sequence[str], now: float) -> list[str]:
        """Return those of the files that may be asked for, in their order.

        Files that were chosen before are chosen again: the frontier knows if they were fetched.
        Their number is stored before they are queued, so that no kill loses or repeats one.
        """
        of_host: dict[str, dict[str, str]] = {}
        for url in urls:
            of_host.setdefault(host_of(url), {})[_key(url)] = url
        allowed = {key for host, keys in of_host.items() for key in self._chosen(host, keys, now)}
        return [url for url in dict.fromkeys(urls) if _key(url) in allowed]

    def _chosen(self, host: str, keys: Iterable[str], now: float) -> list[str]:
        """Return the keys of all files of a host that were chosen, with as many new ones as fit."""
        name = self._name(host)
        while True:
            kept = self._store.robots(name)
            known = kept.text.split() if kept is not None else []
            new = [key for key in keys if key not in known][: max(0, self._most - len(known))]
            text = "\n".join([*known, *new])
            if not new or self._store.replace_robots(name, kept, text, now):
                return [*known, *new]

    def _name(self, host: str) -> str:
        """Return a name that no file has, and that begins like the URLs of the host."""
        return f"http://{host}/ {self._kind}"


def _key(url: str) -> str:
    return f"{fingerprint(url):x}"
