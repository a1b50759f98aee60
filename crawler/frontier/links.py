"""Queued URLs, and links from a settled URL to queued URLs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from langfocus.crawler.frontier.base import FORWARDING, Admission, Lease, Record
from langfocus.crawler.frontier.slots import penalties_of, with_penalties
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.links import Link


def distinct(links: Sequence[Link], keys: Sequence[int], *, lifts: bool) -> dict[int, Link]:
    """Return the first link to each URL by fingerprint, one of `keys`.

    If the crawl `lifts` scores, the link has the best score of all links to the URL.
    """
    first: dict[int, Link] = {}
    for key, link in zip(keys, links, strict=True):
        before = first.setdefault(key, link)
        if lifts and link.score > before.score:
            first[key] = Link(before.url, link.score)
    return first


def answers_to_all(keys: Sequence[int], answers: Mapping[int, Admission]) -> list[Admission]:
    """Return the admission of each link; a repeated link to a stored URL is known."""
    left = dict(answers)
    found = []
    for key in keys:
        found.append(left.get(key, Admission.SEEN))
        if found[-1] is Admission.STORED:
            left[key] = Admission.SEEN
    return found


make = tuple.__new__
"""Creates a named tuple in half the time of its constructor."""


class Links(NamedTuple):
    """Pages with a label that link to a URL: relevant ones and others, elsewhere and here."""

    relevant_elsewhere: int = 0
    other_elsewhere: int = 0
    relevant_here: int = 0
    other_here: int = 0


NO_LINKS: Final = Links()


class QueuedUrl(NamedTuple):
    """A URL that is queued, leased or known, or is to be queued."""

    url: str
    score: float  # in the queue
    depth: int  # the distance from the seeds
    evidence: Evidence | None = None  # None for an ordering that does not learn
    links: Links = NO_LINKS
    id: int = 0  # its place in the order of discovery, or of draws; 0: it is new
    fingerprint: int = 0
    host: int = 0  # the id of the host
    state: int = 0  # as in `urls.queued`
    # Of a URL to be queued:
    unit: str | None = None  # of relevance; None: its host
    parent: int | None = None  # the id of the page's URL
    redirects: int = 0

    # `_replace` takes three times as long, and a page has a hundred links.

    def scored(self, score: float) -> "QueuedUrl":
        """Return this URL with another score."""
        return make(QueuedUrl, (self[0], score, *self[2:]))

    def at(self, url_id: int, host: int) -> "QueuedUrl":
        """Return this URL with its id, and the id of its host."""
        return make(QueuedUrl, (*self[:5], url_id, self[6], host, *self[8:]))

    def linked(self, evidence: Evidence, links: Links) -> "QueuedUrl":
        """Return this URL with other evidence and inlinks."""
        return make(QueuedUrl, (*self[:3], evidence, links, *self[5:]))


@dataclass(slots=True)
class Held:
    """A URL removed from the queue: queued again later, or held as a lease."""

    lease: Lease
    url: QueuedUrl  # with its score in the queue
    was_sent: bool  # it got a request, in this lease or before
    token: str = ""  # the name of the lease in Redis
    score: float = 0.0  # its score now
    penalties: int = 0  # by its domain
    beside: tuple[float, int] | None = None  # minus score and id of its host's best other URL
    is_penalized: bool = False  # it has a penalty that it did not have before
    is_sent_now: bool = False  # in this lease
    is_learned: bool = False  # its page, before the server of a shared frontier was away
    leased_at: float = 0.0  # unix seconds
    address: str = ""  # the holder of its slot of an IP address, "" if there is none

    def penalize(self, penalties: int, doubts_up_to: float | None) -> None:
        """Score the URL with at least `penalties` penalties."""
        before = self.url.score
        self.score = with_penalties(before, penalties, doubts_up_to)
        self.is_penalized = penalties > penalties_of(before, doubts_up_to)

    def score_after_failure(self, doubts_up_to: float | None) -> float:
        """Return the score for the queue after a failure; the second failure adds a penalty."""
        return with_penalties(self.url.score, min(self.lease.retries, 1), doubts_up_to)


_ONE_LINK: Final = tuple(Links(*(int(at == place) for at in range(4))) for place in range(4))


class LinkOrigin(NamedTuple):
    """Common facts of all links on a page."""

    depth: int = 0
    redirects: int = 0  # in a row, that led to them
    # The links pass each filter. The link that led to a redirect was accepted, so the redirect's
    # target is accepted too. Links on a seed are followed. Unlike in the paper, whose seeds are
    # home pages in the target language (Tamura 2007, 2.1), a seed may be a portal in another
    # language.
    always_followed: bool = True
    host: str = ""
    is_relevant: bool | None = None  # the page; None: it has no label
    inherited: Links = Links()  # those that lead to a redirect lead to its target

    @property
    def is_list(self) -> bool:
        """True for a list of seeds, which is no page."""
        return not self.host and not self.redirects

    def links(self, host: str) -> Links:
        """Return the inlink counts of a host's URL by this page alone.

        A seed list, a person's choice, counts like a relevant page of another host.
        """
        if self.is_list:
            return _ONE_LINK[0]
        if self.is_relevant is None:
            return self.inherited
        return _ONE_LINK[2 * (host == self.host) + (not self.is_relevant)]


def origin_of(lease: Lease, record: Record, links: Links | None) -> LinkOrigin:
    """Return the link origin of a settled URL; `links` are the URL's inlinks."""
    if record.outcome in FORWARDING:
        return LinkOrigin(lease.depth, lease.redirects + 1, inherited=links or Links())
    is_relevant = record.is_relevant if record.is_labelled else None
    return LinkOrigin(lease.depth + 1, 0, lease.depth == 0, lease.host, is_relevant)
