"""The country of a host's server, and the language of that country (Baykan 2013, 2.2, "IP").

The first look-up is made for the first host.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final

from classifiers.geoip import CountryLookup, parsed_address
from classifiers.tables.country_domains import TABLE_I

Resolver = Callable[[str], Sequence[str]]
"""Host -> its addresses; an empty sequence or OSError if it has none."""

CountryOfHost = Callable[[str], str | None]
"""Host -> the ISO 3166-1 code of its server's country; None if it is not known."""

TIMEOUT_S: Final = 5.0
"""Seconds that the system's resolver may take for one host."""

_LANGUAGES: Final = {
    country.upper(): language for language, row in TABLE_I.items() for country in row.split()
}


def language_of_country(country: str | None) -> str | None:
    """The language of an ISO 3166-1 country by Table I; None if the table does not list it."""
    return _LANGUAGES.get((country or "").upper())


def resolve(host: str, timeout_s: float = TIMEOUT_S) -> list[str]:
    """The addresses of a host by the system's resolver, in its order; empty after `timeout_s`."""
    answers: SimpleQueue[list[str]] = SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, ValueError):  # an unknown host, or text that cannot be a host name
            found = []
        answers.put([str(each[4][0]) for each in found])

    # The system's resolver takes no time limit, so a slow thread is abandoned.
    Thread(target=ask, daemon=True).start()
    try:
        return answers.get(timeout=timeout_s)
    except Empty:
        return []


class ServerCountry:
    """The country of a host's server: call it with a host to get an ISO 3166-1 code or None.

    The first address of the host whose country is known decides. A host that is an IP address is
    not resolved. Answers are not cached.

    Parameters
    ----------
    countries : callable
        IP address -> country, such as `classifiers.geoip.country_lookup` returns.
    resolver : callable
        Host -> its addresses.
    """

    def __init__(self, countries: CountryLookup, resolver: Resolver = resolve) -> None:
        self.countries = countries
        self.resolver = resolver

    def __call__(self, host: str) -> str | None:
        """The country of a host's server; None if it is not known."""
        found = map(self.countries, self._addresses(host))
        return next((country for country in found if country), None)

    def _addresses(self, host: str) -> Sequence[str]:
        bare = host.strip("[]")
        if parsed_address(bare):
            return [bare]
        try:
            return self.resolver(host) if host else []
        except OSError:
            return []
