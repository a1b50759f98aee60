"""Which pages of a host are reserved from text and data mining by its `/.well-known/tdmrep.json`.

The format is that of the TDM Reservation Protocol (TDMRep, W3C Community Group report of 2024). A
crawl asks for the file of a host once a day, before its first page.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from crawler.politeness.directives import reservation
from crawler.politeness.robots import MAX_AGE_S, MAX_ROBOTS_BYTES, Kept, RobotsStore
from crawler.politeness.robots_rules import matches, plain_path, plain_pattern
from crawler.url import host_of, origin_of

MAX_RULES: Final = 200
"""Rules of a file that are kept; the first ones, since the first that matches counts."""

MAX_LOCATION: Final = 1_000
"""Characters of the location of a rule; a rule with more is left out."""

TDMREP_PATH: Final = "/.well-known/tdmrep.json"
"""The path of the file on each host."""

_VALUES: Final = ((1, "1"), (0, "0"))
"""Spellings of the values in JSON; any other leaves a page without a reservation."""

Rule = tuple[str, tuple[str, ...]]
"""A pattern of paths, and the statements of the pages that it matches."""


def rules_in(body: bytes) -> list[Rule]:
    """Return the rules of a file; none if it is too large or no JSON. Never raises."""
    if len(body) > MAX_ROBOTS_BYTES:
        return []
    try:
        told = json.loads(body.decode(json.detect_encoding(body), "replace"))
    except (ValueError, RecursionError):
        return []
    each = told[:MAX_RULES] if isinstance(told, list) else [told]
    return [rule for found in each if isinstance(found, dict) for rule in _rules(found)]


def _rules(found: dict[str, Any]) -> Iterator[Rule]:
    location, policy = found.get("location"), found.get("tdm-policy")
    if not isinstance(location, str) or not 0 < len(location) <= MAX_LOCATION:
        return
    value = found.get("tdm-reservation")
    told = [spelled[1] for spelled in _VALUES if value in spelled and value is not None]
    statements = [one for each in told for one in reservation("tdm-reservation", each)]
    if "1" in told and isinstance(policy, str):
        statements += reservation("tdm-policy", policy)
    yield plain_pattern(location), tuple(statements)


class Reservations:
    """The rules of hosts; the frontier stores them."""

    def __init__(self, store: RobotsStore) -> None:
        """Keep the rules in a store."""
        self._kept = Kept(store, list[Rule])

    def file_for(self, url: str, now: float) -> str | None:
        """Return the URL of the file that is to be asked for, None if its answer is known."""
        kept = self._kept.get(_name(url))
        is_known = kept is not None and kept[1] > now - MAX_AGE_S
        return None if is_known else f"{origin_of(url)}{TDMREP_PATH}"

    def keep(self, url: str, body: bytes, now: float) -> None:
        """Store the rules of the host of `url`: a body, b"" without a file or an answer."""
        self._kept.set(_name(url), rules_in(body), now)

    def of(self, url: str) -> tuple[str, ...]:
        """Return the statements about a page: those of the first rule that matches its path."""
        rules, _ = self._kept.get(_name(url)) or ([], 0.0)
        path = plain_path(url) if rules else ""
        found = (statements for location, statements in rules if matches(location, path))
        return next(found, ())


def _name(url: str) -> str:
    """Return a name that no file has, and that begins like the URLs of the host."""
    return f"http://{host_of(url)}/ tdmrep"
