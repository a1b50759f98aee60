"""The frontier's contract: who is fetched next, and what a fetch changes.

A URL is *queued*, then *leased* to one fetch, then *settled*. Settling is one transaction: the
page's record, the counters of its server, its new links and the end of its lease happen
together or not at all. A lease that no settlement ends (the process died) gives the URL back
to the queue: when the process comes back, or after a time where several share one frontier.
All times are unix seconds and are passed in; the frontier has no clock.

Every implementation passes the same test suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

PAGE = "page"
"""The outcome of a page that was downloaded with a final status; all others count apart."""

REDIRECT = "redirect"
"""The outcome of a URL that points elsewhere; its slots of the caps go to its target."""


MAX_INLINKS = 10
"""Pages that link to a URL and are remembered while it waits (Hayati 2004, 5.4)."""


@dataclass(frozen=True, slots=True)
class Link:
    """A URL that was found, normalised, with the score of the crawl's ordering."""

    url: str
    score: float


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL handed out by `Frontier.next` that one fetch now works on.

    `depth` is the distance from the seeds, `redirects` how many redirects led here in a row,
    `retries` how often it was given back by `Frontier.retry`. `inlinks` are the languages of the
    first pages that linked to it while it waited, at most `MAX_INLINKS`, equal ones together; a
    redirect hands its own on to its target.
    """

    fingerprint: int
    url: str
    host: str
    score: float
    depth: int
    redirects: int
    retries: int
    inlinks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """What a settled URL leaves behind: one row of the run.

    `outcome` is `PAGE`, `REDIRECT` or the reason why nothing came ("robots", "timeout", ...).
    `language` is None for a page without a label. `is_download` says whether the page tells
    something of its server (2xx); only then does it count for N_a, and `is_relevant` for N_r.
    `bytes` is the size of the body as received, `country` the server's, where known. Of the
    links on the page, `ignored_files` name multimedia, style sheets or downloads and
    `ignored_urls` are too long or no URLs, `ignored_traps` look endless
    (`crawler.politeness.traps`); none of them are among the links that are admitted. `is_cut` says
    that the body ended too early. `is_reference` says that the page has text enough for its
    language, where it has one, to count among the `inlinks` of the URLs that it links to. `parser`
    is the one that read it.
    """

    outcome: str
    fetched_at: float
    status: int | None = None
    is_download: bool = False
    is_relevant: bool = False
    language: str | None = None
    confidence: float | None = None
    method: str | None = None
    charset: str | None = None
    country: str | None = None
    bytes: int = 0
    ignored_files: int = 0
    ignored_urls: int = 0
    is_reference: bool = False
    parser: str | None = None
    ignored_traps: int = 0
    is_cut: bool = False

    def counts(self) -> dict[str, int]:
        """Return the numbers above 0 that this page adds to the run's counters, by their names."""
        numbers = {
            "ignored_file": self.ignored_files,
            "ignored_url": self.ignored_urls,
            "ignored_trap": self.ignored_traps,
            "cut_short": int(self.is_cut),
        }
        if self.parser is not None:
            numbers[f"parser_{self.parser}"] = 1
        return {name: number for name, number in numbers.items() if number}


class Admission(Enum):
    """What became of a link."""

    STORED = "stored"
    SEEN = "seen"
    HOST_FULL = "host_full"
    DIRECTORY_FULL = "directory_full"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Counts:
    """Where the crawl stands. `hosts` are those that gave a page."""

    queued: int
    leased: int
    hosts: int
    pages: int
    labelled: int
    relevant: int


class KeptRobots(NamedTuple):
    """A robots.txt as it was taken in at `fetched_at`, unix seconds; `text` "" has no rules."""

    text: str
    fetched_at: float


class Frontier(Protocol):
    """Who is fetched next, and what a fetch changes."""

    def seed(self, links: Sequence[Link], now: float) -> list[Admission]:
        """Queue links that no page gave: no filter applies, the caps do."""

    def admit(
        self,
        lease: Lease,
        record: Record,
        links: Sequence[Link] = (),
        *,
        now: float,
        was_contacted: bool = True,
    ) -> list[Admission]:
        """Settle a leased URL and return what became of its links, in their order.

        The host may be contacted again after its delay, or at once if it was not contacted.
        Raises `LeaseError` if the URL is not leased (any more) and `crawler.errors.StorageError`
        if nothing can be written any more; the URL stays queued for a later process then.
        """

    def retry(self, lease: Lease, *, now: float, not_before: float) -> None:
        """Give a leased URL back to be fetched again; its host rests until `not_before`."""

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Give a leased URL back unchanged; its host was contacted and rests for its delay.

        With `not_before` it was not contacted and rests until then.
        Where URLs are drawn at random, this one counts as drawn and goes first with its score.
        """

    def next(self, now: float) -> Lease | None:
        """Lease the best URL among the hosts that may be contacted now, or return None.

        None also when as many pages are settled or leased as the crawl's budget allows.
        """

    def ready_at(self, now: float) -> float | None:
        """Return when `next` will have something, or None until a lease of this process ends.

        Where other processes share the frontier, it may be no more than a time to look again.
        """

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds (its Crawl-delay), if that is longer."""

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the robots.txt kept for an origin, however old, None if it was not fetched."""

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Keep the robots.txt of an origin."""

    def counts(self) -> Counts:
        """Return where the crawl stands, in O(1)."""

    def close(self) -> None:
        """Let go of the storage; leases that are still held give their URLs back."""


class LeaseError(KeyError):
    """A URL was settled that nobody had leased, or that was settled before."""
