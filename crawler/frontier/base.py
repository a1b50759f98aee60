"""The contract of the frontier: which URL is fetched next, and what changes after the fetch.

A URL is *queued*, then *leased* to one fetch, then *settled*. Settling is one transaction: the
page's record, the counters of its server, its new links and the end of its lease are written
together or not at all. If the process dies, its leases end and their URLs are queued again: when
the process restarts, or after some time if several processes share one frontier. All times are unix
seconds and are passed in; the frontier has no clock.

Every implementation passes the same test suite.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, Protocol

from langfocus.crawler.strategies.links import SCORES, Link

PAGE = "page"
"""The outcome of a page that was downloaded with a final status; other outcomes do not count as
pages.
"""

REDIRECT = "redirect"
"""Outcome of a redirecting URL; its target is an always followed link."""

UNCHANGED = "unchanged"
"""Outcome of a page of an earlier run after status 304."""

SITEMAP = "sitemap"
"""Outcome of a sitemap or a feed, which is no page.

Its links are admitted like a redirect target: always followed, at the sitemap's distance.
"""

RENDERED: Final = 2
"""Value of `Record.needs_browser` for a page whose text scripts have written in a browser."""

FORWARDING = frozenset({REDIRECT, SITEMAP})
"""Outcomes of URLs that only lead to other URLs."""

FIRST_SCORE: Final = SCORES[1]
"""Least score of an earlier run's page, fetched before all other URLs.

Scores of orderings are lower. A learning frontier keeps this score.
"""


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL leased to one fetch by `Frontier.next`."""

    fingerprint: int
    url: str
    host: str
    score: float  # of an ordering that learns the log-odds when it was leased, without penalties
    depth: int  # the distance from the seeds
    redirects: int  # redirects in a row that led here
    retries: int  # requests, also those that a kill cut off, and failures before a request
    parent: str | None = None  # the URL of the page that linked to it first, None for a seed
    reasons: str | None = None  # what each feature adds to the score (`Weighed.reasons`)
    is_beyond_cap: bool = False  # its domain is full now: the caller settles it so
    is_respelled: bool = False  # its server redirected to this spelling of the same page

    @property
    def is_deferred(self) -> bool:
        """True after two failures: other URLs were fetched first (`Frontier.retry`)."""
        return self.retries >= 2


class Visit(NamedTuple):
    """The state of a page that a later run compares with."""

    etag: str | None
    modified: str | None  # Last-Modified
    digest: str  # of the body
    looks: int  # visits after the first
    changes: int  # visits that found the page changed
    first_at: float  # the time of the first visit, unix seconds


@dataclass(frozen=True, slots=True)
class Record:
    """The result of a fetch."""

    outcome: str  # `PAGE`, ..., or the reason why there is no page ("robots", "timeout", ...)
    fetched_at: float  # unix seconds
    status: int | None = None  # of HTTP
    was_contacted: bool = field(default=True, kw_only=True)  # False: the host got no request
    is_download: bool = False  # a page with a status of 2xx, which counts for N_a of its unit
    is_relevant: bool = False  # in the language: the page counts for N_r too
    language: str | None = None  # None for a page without a label
    confidence: float | None = None  # the probability of the language, 0 to 1
    method: str | None = None  # the evidence that decided (`text`, `declaration`, ...)
    charset: str | None = None  # the encoding as which the page was read, a WHATWG name
    country: str | None = None  # of the server, two letters, with LANGFOCUS_GEOIP
    bytes: int = 0  # of the body as received
    # Another normalised URL of the host, declared as the page's own (`rel=canonical`). The
    # frontier marks the URL as known and removes it from the queue.
    canonical: str | None = None
    # Normalised URLs of the registered domain that have this page, or a page that it links to, in
    # other languages. The frontier does the same with them, unless they are seeds.
    versions: Sequence[str] = ()
    address: str | None = None  # the IP address of the server
    is_noarchive: bool = False  # server or page forbid to keep a copy, and the crawl obeys
    # Statements of robots.txt, headers and page about the page's use: a JSON object of lists.
    directives: str | None = None
    # The robots.txt that allowed the fetch: its SHA-256, or the status of a server without one.
    robots_txt: str | None = None
    words_read: int | None = None  # words of the text that identified the page
    is_copy: int = 0  # 1: relevant but for its text, which is on many domains
    offered: int = 0  # versions of a relevant page in other languages, linked or declared
    in_scope: int = 0  # 1: taken by `-a scope`, whatever its language
    needs_browser: int = 0  # 1: scripts would write its text in a browser; 2: they have, in one
    # Additions to the counters of the run: links not admitted, the parser of the page, ...
    counts: Mapping[str, int] = field(default_factory=dict)
    visit: Visit | None = field(default=None, repr=False, compare=False)

    @property
    def is_wanted(self) -> bool:
        """True for a relevant page: in the language and no copy, or taken by `-a scope`."""
        return self.is_relevant or self.in_scope > 0

    @property
    def is_rated(self) -> bool:
        """True for a page that the harvest rate counts."""
        return self.language is not None or self.in_scope > 0

    @property
    def earns_slots(self) -> bool:
        """True for a page that earns slots of its domain and its address."""
        return self.is_download and self.is_wanted and not self.is_copy

    @property
    def is_labelled(self) -> bool:
        """True if an ordering that learns can learn from this page."""
        return self.is_download and self.language is not None


class Admission(Enum):
    """The decision of the frontier about a link."""

    STORED = "stored"
    SEEN = "seen"
    HOST_FULL = "host_full"
    HOST_BYTES = "host_bytes"
    DOMAIN_FULL = "domain_full"
    REJECTED = "rejected"
    SENT = "sent"  # to the shard of a shared frontier that decides

    @property
    def is_queued(self) -> bool:
        """True for a link that was new and entered a queue."""
        return self in (Admission.STORED, Admission.SENT)


class Sending(Enum):
    """The frontier's decision about a request just before it is sent.

    After `LATER` the URL is queued again and its lease has ended. After the last four, its host,
    its domain or its address has no free slot, or the host's budget of bytes is spent; the caller
    settles the URL with the value as outcome.
    """

    NOW = "now"
    LATER = "later"
    HOST_FULL = "host_full"
    HOST_BYTES = "host_bytes"
    DOMAIN_FULL = "domain_full"
    ADDRESS_FULL = "address_full"


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of URLs and pages of a crawl. `hosts` is the number of hosts with a page.

    `has_expected` is False if only expected URLs are leased and none is left, queued or leased.
    """

    queued: int
    leased: int
    hosts: int
    pages: int
    labelled: int
    relevant: int
    has_expected: bool = True


class HostStates(NamedTuple):
    """Host counts by current state."""

    ready: int  # it has a queued URL and may be contacted
    resting: int
    fetching: int  # one of its URLs is leased
    full: int  # it has no slot left


class KeptRobots(NamedTuple):
    """The rules of a robots.txt that was fetched at `fetched_at`, unix seconds."""

    text: str
    fetched_at: float


ANY_TEXT: Final = KeptRobots("", float("-inf"))
"""As `before` of `RobotsStore.set_robots`: the text is stored whichever is there."""

ROBOTS_ENTRY_BYTES: Final = 100
"""Approximate bytes of a stored robots.txt beyond its text and origin."""


class RobotsStore(Protocol):
    """A frontier's store of texts by name: robots.txt and similar files.

    The oldest texts may be evicted (`rules.robots_bytes`).
    """

    def robots(self, name: str) -> KeptRobots | None:
        """Return the text of a name, of any age, or None."""

    def set_robots(
        self, name: str, text: str, now: float, before: KeptRobots | None = ANY_TEXT
    ) -> bool:
        """Store the text of a name; the name of a robots.txt is its origin.

        Returns False, and stores nothing, if the text is no longer the one `before`, or not now.
        """

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds (its Crawl-delay), if that is longer."""


class Frontier(RobotsStore, Protocol):
    """Leases URLs and settles them by their fetch results."""

    def seed(self, links: Sequence[Link], now: float, depth: int = 0) -> list[Admission]:
        """Queue the seeds: no filter applies, the caps do.

        The links on pages with another `depth` than 0 are not always followed.
        """

    def admit(
        self, lease: Lease, record: Record, links: Sequence[Link] = (), *, now: float
    ) -> list[Admission]:
        """Settle a leased URL and return the admission of each link, in order.

        A contacted host may be contacted again after its delay, any other host at once. Raises
        `LeaseError` if the URL is not leased, and ValueError, without any change, for a record that
        no run can store. Raises `crawler.errors.StorageError` if the run can no longer be written;
        the URL then stays queued for a later process.
        """

    def retry(self, lease: Lease, *, now: float, not_before: float, url: str | None = None) -> None:
        """Queue a leased URL for another fetch; its host rests until `not_before`.

        From the second failure on the URL has a penalty, so that others are fetched first.
        `url` is another spelling of the same page, the target of a redirect: it is fetched in the
        same slot, and a redirect is counted instead of a retry. Allow it once
        (`Lease.is_respelled`). Raises `KnownUrlError`, without ending the lease, if the spelling is
        known as a separate URL.
        """

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Queue a leased URL again, unchanged; its contacted host rests for its delay.

        With `not_before`, the host was not contacted and rests until then. If URLs are drawn at
        random, this one counts as drawn.
        """

    def send(
        self, lease: Lease, address: str | None, *, now: float, is_page: bool = True
    ) -> Sending:
        """Return whether the request for a leased URL may be sent to an IP address.

        Call it just before the request; `address` is None if unknown. At the first call the URL
        permanently takes a slot of its host, its domain and its address; after a host's last slot,
        its other URLs leave the queue. Every call counts as a try. Alternatively the URL's score
        gets penalties, so that URLs of other addresses are fetched first (`LATER`). A host whose
        budget of bytes is spent gets no request, not even a retry.

        Without `is_page`, the request is for a site file that the URL needs, or the URL is a
        sitemap: both have separate budgets, so no host slot is taken and no try is counted. Every
        request, even a retry, takes a slot of domain and address; a page of the host releases the
        domain slots of the host's files.
        """

    def knows_version(self, lease: Lease) -> bool:
        """Return True if a leased URL's page is known in the target language under another URL.

        The URLs are found by `rules.versions`. A seed has no other versions.
        """

    def ask_file(self, host: str, address: str | None, *, now: float) -> Sending:
        """Return whether a file may be requested from a host other than the lease's.

        The request takes a slot of its domain and its address.
        """

    def next(self, now: float) -> Lease | None:
        """Lease the best URL among the hosts that may be contacted now, or return None.

        Also returns None while settled and leased pages use up a crawl budget, and, with only
        expected URLs, while no expected URL is ready. A host without free slots has only URLs with
        an earlier request in the queue.
        """

    def ready_at(self, now: float) -> float | None:
        """Return the time of the next URL from `next`, or None until a lease of this process ends.

        In a shared frontier it may be just the next poll time.
        """

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        """Drop the blocked URLs in the queue and return their number; leased URLs are kept.

        Dropped URLs are no longer known. URLs with an earlier request are kept too. Costs O(queued
        URLs).
        """

    def counts(self) -> Counts:
        """Return the numbers of queued URLs, leased URLs and pages, in O(1)."""

    def host_states(self) -> HostStates:
        """Return the numbers of hosts by their state, in O(1)."""

    def group(self, later: Callable[[Callable[[], None]], object]) -> None:
        """Allow to write the changes of some time together: `later` runs a function after it.

        A kill loses at most these changes, and their URLs are queued again; a request waits until
        its slot is written. Each call still happens completely or not at all, and is seen by the
        next. The function raises `StorageError` if
        the changes cannot be written; then the run can no longer be written.
        """

    def close(self) -> None:
        """Release the storage; URLs that are still leased are queued again."""


class KnownUrlError(ValueError):
    """Another spelling of a URL is known already as a separate URL."""


class LeaseError(KeyError):
    """A URL was settled, retried or released without a lease, or after its lease had ended."""
