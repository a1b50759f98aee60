"""The rules of a crawl that its frontier keeps."""

from dataclasses import dataclass
from typing import Final

from crawler.frontier.slots import highest_penalized
from crawler.strategies.filters import Filter
from crawler.strategies.focus.belief import Prior
from crawler.strategies.orderings import Draw

ANY_LINK = Filter("none")
"""The filter that accepts every link."""

HOST_QUEUE: Final = 200
"""URLs of a host among which a crawl with a host cap chooses by default."""

_AT_LEAST_ZERO = (
    "patience_s",
    "host_cap",
    "domain_cap",
    "address_cap",
    "host_queue",
    "delay_s",
    "budget_pages",
    "budget_relevant",
)


def queue_slots(host_cap: int) -> int:
    """Return the default of `FrontierRules.host_queue` for a crawl with a host cap."""
    return max(HOST_QUEUE, host_cap) if host_cap else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierRules:
    """The rules of one crawl, for any frontier.

    `filter` decides whether a link enters the queue. `draw` decides between URLs with the same
    score. With `lifts`, a queued URL takes the better score of a later link to it; this is not
    possible if URLs are drawn uniformly.

    A URL with the score `doubts_up_to` or less is doubtful; None: no URL is doubtful. A doubtful
    URL, and one with a penalty, is leased only after no better URL was ready for `patience_s`
    seconds. It waits only while a better one may come: from a page that is being fetched, or from a
    host that rests.

    At most `host_cap` URLs of a host ever get a request; 0 allows any number. A link enters the
    queue only while fewer than `host_queue` URLs of its host wait or got a request; 0 is no limit.
    So the best `host_cap` of `host_queue` URLs are fetched, and the first ones if both are equal.
    URLs of a registered domain take `domain_cap` slots and those of an IP address `address_cap`;
    relevant pages earn more, and URLs get penalties when many slots are taken
    (`crawler.frontier.slots`). Two contacts of a host are `delay_s` seconds apart. At most
    `budget_pages` pages are settled or leased; None allows any number. The relevant pages and the
    leases together are at most `budget_relevant`.

    At most `robots_bytes` bytes of robots.txt files are stored, and always the newest file; the
    oldest are deleted first, and fetched again when they are needed.

    With a `prior` the frontier learns: a score is the log-odds that the page will be relevant, and
    follows what the crawl learns.

    `random_state` starts the random draws. With `keeps_links`, the run holds all links of pages and
    redirects, in their order.

    Raises ValueError for a number below 0 and for rules that contradict each other.
    """

    filter: Filter = ANY_LINK
    draw: Draw = Draw.FIRST
    lifts: bool = False
    doubts_up_to: float | None = None
    patience_s: float = 0.0
    host_cap: int = 10
    domain_cap: int = 0
    address_cap: int = 0
    host_queue: int = 0
    delay_s: float = 0.0
    budget_pages: int | None = None
    budget_relevant: int | None = None
    robots_bytes: int = 256 * 1024 * 1024
    prior: Prior | None = None
    random_state: int = 0
    keeps_links: bool = False

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

    @property
    def waits_up_to(self) -> float | None:
        """The highest score of URLs that wait for better ones; None: no URL waits."""
        if self.domain_cap or self.address_cap:
            return highest_penalized(self.doubts_up_to)
        return self.doubts_up_to
