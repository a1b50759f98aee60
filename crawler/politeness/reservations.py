"""Usage rights that a host declares: `/.well-known/tdmrep.json` and license documents.

`tdmrep.json` belongs to the TDM Reservation Protocol (TDMRep, W3C Community Group report of 2024).
A `License` line of robots.txt names a document of Really Simple Licensing (RSL 1.0). A crawl
fetches each once a day, before the first page of the host.
"""

import json
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, Final

from lxml import etree

from langfocus.crawler.frontier.base import RobotsStore
from langfocus.crawler.politeness.directives import license_of, prohibited, reservation
from langfocus.crawler.politeness.robots import MAX_AGE_S, MAX_ROBOTS_BYTES, Kept
from langfocus.crawler.politeness.robots_rules import matches, plain_path, plain_pattern
from langfocus.crawler.url import domain_of, host_of, origin_of

MAX_RULES: Final = 200
"""Most rules kept per file, the first ones."""

MAX_LOCATION: Final = 1_000
"""Longest location in characters; rules with a longer one are skipped."""

TDMREP_PATH: Final = "/.well-known/tdmrep.json"
"""Path of the file on each host."""

_VALUES: Final = ((1, "1"), (0, "0"))
"""Spellings of the values in JSON; any other leaves a page without a reservation."""

Rule = tuple[str, tuple[str, ...]]
"""A path pattern, and the statements about matching pages."""


def rules_in(body: bytes) -> list[Rule]:
    """Return the rules of a file; none if it is too large or no JSON. Never raises."""
    if len(body) > MAX_ROBOTS_BYTES:
        return []
    try:
        document = json.loads(body.decode(json.detect_encoding(body), "replace"))
    except (ValueError, RecursionError):
        return []
    each = document[:MAX_RULES] if isinstance(document, list) else [document]
    return [rule for found in each if isinstance(found, dict) for rule in _rules(found)]


def _rules(found: dict[str, Any]) -> Iterator[Rule]:
    location, policy = found.get("location"), found.get("tdm-policy")
    if not isinstance(location, str) or not 0 < len(location) <= MAX_LOCATION:
        return
    value = found.get("tdm-reservation")
    values = [spelled[1] for spelled in _VALUES if value in spelled and value is not None]
    statements = [one for each in values for one in reservation("tdm-reservation", each)]
    if "1" in values and isinstance(policy, str):
        statements += reservation("tdm-policy", policy)
    yield plain_pattern(location), tuple(statements)


def rules_of_license(body: bytes, host: str) -> list[Rule]:
    """Return what a license prohibits on a host, longest location first. Never raises.

    A `content` without prohibited usages is a rule too, an exception to a shorter location.
    """
    if len(body) > MAX_ROBOTS_BYTES:
        return []
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        contents = etree.fromstring(body, parser).iter("{*}content")
    except (etree.LxmlError, ValueError):
        return []
    rules = []
    for content in islice(contents, MAX_RULES):
        location = content.get("url", "")
        is_here = "://" not in location or host_of(location) == host
        if is_here and 0 < len(location) <= MAX_LOCATION:
            # Only direct licenses, so that contents inside of contents cost no more time.
            found = content.iterfind("{*}license/{*}prohibits[@type='usage']")
            usages = " ".join(each.text or "" for each in found)
            rules.append((plain_pattern(location), prohibited(usages)))
    return sorted(rules, key=lambda rule: -len(rule[0]))


class Reservations:
    """Usage rules of hosts, stored by the frontier."""

    _name = "tdmrep"

    def __init__(self, store: RobotsStore) -> None:
        """Keep the rules in a store."""
        self._kept = Kept(store, list[Rule])

    def file_for(self, url: str, now: float, signals: Collection[str] = ()) -> str | None:
        """Return the URL of the file to fetch, None if a fresh answer is stored.

        `signals` are the statements of the robots.txt for `url`.
        """
        file = self._file_for(url, signals)
        # Most robots.txt name no license. `_kept` reads the store for a file that is not in memory.
        kept = self._kept.get(self._name_for(url)) if file else None
        is_known = kept is not None and kept[1] > now - MAX_AGE_S
        return None if is_known else file

    def _file_for(self, url: str, signals: Collection[str]) -> str | None:
        return f"{origin_of(url)}{TDMREP_PATH}"

    def keep(self, url: str, body: bytes, now: float) -> None:
        """Store the rules of the host of `url`: a body, b"" without a file or an answer."""
        self._kept.set(self._name_for(url), self._rules_in(body, host_of(url)), now)

    def _rules_in(self, body: bytes, host: str) -> list[Rule]:
        return rules_in(body)

    def of(self, url: str) -> tuple[str, ...]:
        """Return the statements of the first rule matching a page's path."""
        rules, _ = self._kept.get(self._name_for(url)) or ([], 0.0)
        path = plain_path(url) if rules else ""
        found = (statements for location, statements in rules if matches(location, path))
        return next(found, ())

    def _name_for(self, url: str) -> str:
        """Return a storage key with the host's URL prefix, distinct from every file URL."""
        return f"http://{host_of(url)}/ {self._name}"


class Licenses(Reservations):
    """License rules of hosts; a license must be in its host's registered domain."""

    _name = "license"

    def _file_for(self, url: str, signals: Collection[str]) -> str | None:
        domain, licenses = domain_of(host_of(url)), filter(None, map(license_of, signals))
        return next((file for file in licenses if domain_of(host_of(file)) == domain), None)

    def _rules_in(self, body: bytes, host: str) -> list[Rule]:
        return rules_of_license(body, host)
