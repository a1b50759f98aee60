"""The membership of a worker in a shared crawl, and the rules that are the same for all workers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from hashlib import sha256

from langfocus.crawler.frontier.base import ROBOTS_ENTRY_BYTES
from langfocus.crawler.frontier.rules import EXPECTED, FrontierRules
from langfocus.crawler.frontier.slots import (
    EARNED_SLOTS,
    FREE_SHARE,
    LEAST_BYTES,
    QUEUED_BYTES,
)
from langfocus.crawler.strategies.filters import Filter
from langfocus.crawler.strategies.focus.belief import MOST_COUNTED
from langfocus.crawler.strategies.focus.prior import Prior

LAYOUT = 20
"""The version of the keys and of the script in Redis; a crawl with another one is refused."""

_OWN = (
    *("filter", "prior", "patience_s", "budget_pages", "budget_relevant"),
    *("robots_bytes", "random_state", "keeps_links", "in_scope", "versions"),
)
"""The rules that are stored in another form, or in which workers may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The membership of one worker in a shared crawl."""

    worker: str = "worker"  # names records and counters, which outlive the process
    identity: Mapping[str, object] = field(default_factory=dict)  # fixed for all, beside the rules
    lease_s: float = 600.0  # a lease ends after this time without `RedisFrontier.renew`
    shards: int = 1  # key spaces of the crawl, fixed for all
    poll_s: float = 1.0  # `ready_at` asks to look again while other workers hold leases
    wait_s: float = 300.0  # a server is tried so long, at most 5 seconds when the worker joins
    deliver_s: float = 1.0  # links to other shards are delivered so often


def binding(rules: FrontierRules, membership: Membership) -> dict[str, object]:
    """Return the rules that must be the same for every worker of a crawl."""
    of_filter = {name: value for name, value in _plain(rules.filter).items() if name != "name"}
    own = {name: value for name, value in _plain(rules).items() if name not in _OWN}
    prior = {} if rules.prior is None else {"prior": _digest(rules.prior)}
    common = {"layout": LAYOUT, "shards": membership.shards}
    return {**membership.identity, **prior, **own, **of_filter, **common}


def script_config(rules: FrontierRules, membership: Membership) -> dict[str, object]:
    """Return the values that the script reads; those not fixed for the crawl change now."""
    values = binding(rules, replace(membership, identity={})) | {
        "patience_s": rules.patience_s,
        "budget_pages": rules.budget_pages,
        "budget_relevant": rules.budget_relevant,
        "lease_s": membership.lease_s,
        "waits_up_to": rules.waits_up_to,
        "earned_slots": EARNED_SLOTS,
        "free_share": FREE_SHARE,
        "queued_bytes": QUEUED_BYTES,
        "least_bytes": LEAST_BYTES,
        "learns": rules.prior is not None,
        "expected": EXPECTED,
        "most_counted": MOST_COUNTED,
        "robots_entry_bytes": ROBOTS_ENTRY_BYTES,
    }
    return {name: value for name, value in values.items() if value is not None}


def _plain(part: FrontierRules | Filter) -> dict[str, object]:
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {name: v.value if isinstance(v, Enum) else v for name, v in values.items()}


def _digest(prior: Prior) -> str:
    """Return a short name of a prior; equal names mean equal numbers."""
    numbers = repr((prior.mean, prior.covariance, prior.strength))
    return sha256(numbers.encode()).hexdigest()[:16]


def difference(crawl: str, before: str, asked: Mapping[str, object]) -> str:
    """Return the message for a worker whose rules differ from those of the crawl, in JSON."""
    kept = json.loads(before)
    if kept.get("layout") != LAYOUT:
        return (
            f"the shared crawl {crawl} has layout {kept.get('layout')} in Redis, this version has "
            f"{LAYOUT}: finish it with the version that began it, or merge the folders of its "
            "workers and begin another crawl (LANGFOCUS_CRAWL), without its queue"
        )
    names = [name for name in sorted({*kept, *asked}) if kept.get(name) != asked.get(name)]
    if "host_cap" in names:  # the others mostly follow from it, and nobody gave them
        names = [name for name in names if name not in ("host_queue", "domain_cap", "address_cap")]
    return (
        f"the shared crawl {crawl} was begun with "
        + ", ".join(f"{name}={kept.get(name)}" for name in names)
        + ", not with "
        + ", ".join(f"{name}={asked.get(name)}" for name in names)
        + "; use the same arguments or another name"
    )
