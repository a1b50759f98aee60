"""The frontier's rules in a crawl."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.frontier.slots import highest_penalized, holder_of
from langfocus.crawler.strategies.filters import Filter
from langfocus.crawler.strategies.focus.prior import Prior
from langfocus.crawler.strategies.links import Draw
from langfocus.crawler.strategies.versions import NO_TWINS, Twins, Versions
from langfocus.crawler.url import domain_of

ANY_LINK = Filter("none")
"""The filter that accepts every link."""

HOST_QUEUE: Final = 200
"""URLs of a host among which a crawl with a host cap chooses by default."""

EXPECTED: Final = 2.0
"""A doubtful URL waits while so many relevant pages are expected of leased URLs."""

_AT_LEAST_ZERO = (
    *("patience_s", "host_cap", "domain_cap", "address_cap", "host_queue"),
    *("delay_s", "budget_pages", "budget_relevant", "host_bytes"),
)


IN_SCOPE: Final = "+"
"""The unit of a queued URL that no filter drops; no server or directory has this name."""


def queue_slots(host_cap: int) -> int:
    """Return the default of `FrontierRules.host_queue` for a crawl with a host cap."""
    return max(HOST_QUEUE, host_cap) if host_cap else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierRules:
    """The rules of one crawl, for any frontier.

    The best `host_cap` of `host_queue` URLs of a host are fetched; the first ones if both are
    equal. Relevant pages earn slots of domains and addresses; URLs get penalties when many slots
    are used (`crawler.frontier.slots`). A doubtful URL, or a URL with a penalty, waits while a
    better URL may arrive: from a page being fetched, or from a resting host.

    Raises ValueError for a negative number and for contradicting rules.
    """

    filter: Filter = ANY_LINK  # decides whether a link enters the queue
    draw: Draw = Draw.FIRST  # decides between URLs with the same score
    lifts: bool = False  # a queued URL takes the better score of a later link to it
    doubts_up_to: float | None = None  # the highest score of doubtful URLs; None: there are none
    patience_s: float = 0.0  # the longest time for which a doubtful URL waits
    host_cap: int = 10  # URLs of a host that ever get a request; 0: any number
    domain_cap: int = 0  # slots of a registered domain; 0: any number
    address_cap: int = 0  # slots of an IP address; 0: any number
    host_queue: int = 0  # URLs of a host that may wait or have got a request; 0: any number
    host_bytes: int = 0  # bytes of a host's bodies after which it gets no request; 0: any number
    delay_s: float = 0.0  # between two contacts of a host
    budget_pages: int | None = None  # pages that are settled or leased; None: any number
    budget_relevant: int | None = None  # relevant pages and leases together
    is_expected_only: bool = False  # no URL with the score `doubts_up_to` or less is leased
    robots_bytes: int = 256 * 1024 * 1024  # of robots.txt files; the oldest go, the newest stays
    prior: Prior | None = None  # the frontier learns: a score is the log-odds of relevance
    random_state: int = 0  # starts the random draws
    keeps_links: bool = False  # the run holds all links of pages and redirects, in their order
    in_scope: Callable[[str], bool] | None = None  # URLs that no filter rejects or drops
    versions: Versions | None = None  # finds a page's URLs in the language; None: none

    def __post_init__(self) -> None:
        """Refuse rules that no frontier can keep."""
        for name in _AT_LEAST_ZERO:
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must be 0 or more, not {value}")
        if 0 < self.host_queue < self.host_cap:
            raise ValueError(f"host_queue={self.host_queue} is less than host_cap={self.host_cap}")
        if self.lifts and self.draw is Draw.UNIFORM:
            raise ValueError("scores are not lifted if URLs are drawn uniformly")
        if self.prior is not None and (self.lifts or self.draw is Draw.UNIFORM):
            raise ValueError("an ordering that learns neither lifts scores nor draws URLs")
        if self.is_expected_only and (self.doubts_up_to is None or self.lifts):
            raise ValueError("an ordering without doubts, or that lifts scores, expects no URL")

    @property
    def waits_up_to(self) -> float | None:
        """Highest score of URLs that wait for better URLs; None: no URL waits."""
        if self.domain_cap or self.address_cap:
            return highest_penalized(self.doubts_up_to)
        return self.doubts_up_to

    def domain_of(self, host: str) -> str:
        """Return the registered domain of a host if domains have a cap, else ""."""
        return domain_of(host) if self.domain_cap else ""

    def unit_of(self, url: str) -> str | None:
        """Return the unit with which a queued URL is dropped; None if that is its host."""
        if self.in_scope is not None and self.in_scope(url):
            return IN_SCOPE
        return self.filter.part_of_host(url)

    def twins_of(self, lease: Lease) -> Twins:
        """Return the URLs that the page of a leased URL may have in the target language."""
        if self.versions is None or lease.depth == 0 or self.unit_of(lease.url) == IN_SCOPE:
            return NO_TWINS
        is_expected = self.doubts_up_to is None or lease.score > self.doubts_up_to
        return self.versions.twins(lease.url, is_expected=is_expected)

    def holder_of(self, address: str | None) -> str:
        """Return the slot holder name for an IP address, "" for an address without slots."""
        return holder_of(address) if address and self.address_cap else ""
