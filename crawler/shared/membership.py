"""The membership of a worker in a shared crawl, and the rules that are the same for all workers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from crawler.frontier.base import ROBOTS_ENTRY_BYTES
from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import EARNED_SLOTS, FREE_SHARE
from crawler.strategies.filters import Unit
from crawler.strategies.focus.belief import MOST_COUNTED, Prior
from crawler.strategies.orderings import Draw

LAYOUT = 13
"""The version of the keys and scripts in Redis; a crawl with another version is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The membership of one worker in a shared crawl.

    `worker` names the stream of records and the counters, which outlive the process. `identity` has
    the settings that are fixed for the crawl in addition to its rules; a worker with another value
    is refused. A lease ends by itself after `lease_s` seconds unless `RedisFrontier.renew` is
    called. While other workers hold leases, `ready_at` asks to look again in `poll_s` seconds. A
    server that cannot be reached is tried for `wait_s` seconds, and for at most 5 seconds when the
    worker joins.
    """

    worker: str = "worker"
    identity: Mapping[str, object] = field(default_factory=dict)
    lease_s: float = 600.0
    poll_s: float = 1.0
    wait_s: float = 300.0


def binding(rules: FrontierRules, identity: Mapping[str, object]) -> dict[str, object]:
    """Return the rules that must be the same for every worker of a crawl."""
    doubts_up_to = rules.doubts_up_to
    return {
        **identity,
        **({} if rules.prior is None else {"prior": _digest(rules.prior)}),
        "layout": LAYOUT,
        "doubts_up_to": None if doubts_up_to is None else float(doubts_up_to),
        "is_uniform": int(rules.draw is Draw.UNIFORM),
        "lifts": int(rules.lifts),
        "follows_irrelevant": int(rules.filter.follows_irrelevant_pages),
        "uses_relevance": int(rules.filter.uses_relevance),
        "is_conservative": int(rules.filter.is_conservative),
        "tolerance": rules.filter.tolerance,
        "unit": rules.filter.unit.value,
        "closes_servers": int(rules.filter.closes_servers),
        "directory_depth": rules.filter.directory_depth,
        "host_cap": rules.host_cap,
        "domain_cap": rules.domain_cap,
        "address_cap": rules.address_cap,
        "host_queue": rules.host_queue,
        "delay_s": float(rules.delay_s),
    }


def in_force(rules: FrontierRules, membership: Membership) -> dict[str, object]:
    """Return the values that the scripts read; those not fixed for the crawl change now."""
    values = binding(rules, {}) | {
        "patience_s": rules.patience_s,
        "budget_pages": rules.budget_pages,
        "budget_relevant": rules.budget_relevant,
        "lease_s": membership.lease_s,
        "waits_up_to": rules.waits_up_to,
        "earned_slots": EARNED_SLOTS,
        "free_share": FREE_SHARE,
        "learns": int(rules.prior is not None),
        "most_counted": MOST_COUNTED,
        "is_by_directory": int(rules.filter.unit is Unit.DIRECTORY),
        "robots_entry_bytes": ROBOTS_ENTRY_BYTES,
    }
    return {name: value for name, value in values.items() if value is not None}


def _digest(prior: Prior) -> str:
    """Return a short name of a prior; equal names mean equal numbers."""
    told = repr((prior.mean, prior.covariance, prior.strength))
    return sha256(told.encode()).hexdigest()[:16]


def difference(crawl: str, before: str, asked: Mapping[str, object]) -> str:
    """Return the message for a worker whose rules differ from those of the crawl, in JSON."""
    kept = json.loads(before)
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
