"""Where the server of a host stands: host, address, country, and the language of that country.

The evidence of Baykan 2013, 2.2, "IP". Countries are read from a GeoLite2 or GeoIP2 file of
countries or cities. Nothing is looked up before the first host is asked for.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, Self

from geoip2.database import Reader
from geoip2.errors import AddressNotFoundError
from maxminddb import InvalidDatabaseError

from classifiers._cctld import TABLE_I
from classifiers.errors import DatabaseError

Resolver = Callable[[str], Sequence[str]]
"""Host -> its addresses; none, or an OSError, where it has none."""

CACHED_HOSTS: Final = 100_000
"""Hosts, and as many addresses, whose country is kept in memory."""
TIMEOUT_S: Final = 5.0
"""Seconds that a look-up may take."""

_LANGUAGES: Final = {
    country.upper(): language for language, row in TABLE_I.items() for country in row.split()
}


def language_of_country(country: str | None) -> str | None:
    """The language of an ISO 3166-1 country by Table I, None where the table has none."""
    return _LANGUAGES.get((country or "").upper())


def resolve(host: str, timeout_s: float = TIMEOUT_S) -> list[str]:
    """The addresses of a host by the system's resolver, in its order; none after `timeout_s`."""
    answers: SimpleQueue[list[str]] = SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, ValueError):  # no such host, or no name that a host could have
            found = []
        answers.put([str(each[4][0]) for each in found])

    # The system's resolver takes no time limit; a thread that is late is left to itself.
    Thread(target=ask, daemon=True).start()
    try:
        return answers.get(timeout=timeout_s)
    except Empty:
        return []


class Hosting:
    """The countries of servers; called with a host it gives back its ISO 3166-1 code or None.

    Parameters
    ----------
    path : Path
        A MaxMind DB file of countries or of cities.
    resolver : callable
        Host -> addresses; the first address with a country tells. A host that is an address is
        not resolved.

    Attributes
    ----------
    reasons : Counter
        How many look-ups ended in which way: `located`, or why there is no country
        (`unknown host`, `no address`, `not public`, `not listed`, `damaged`). What the cache
        answers is not counted again.
    """

    def __init__(self, path: Path, resolver: Resolver = resolve) -> None:
        self.path = path
        self.resolver = resolver
        self.reasons: Counter[str] = Counter()
        self._lock = Lock()
        self._reader = _opened(path)
        self._country_of_host = lru_cache(CACHED_HOSTS)(self._find_host)
        self._country_of_address = lru_cache(CACHED_HOSTS)(self._find_address)

    def __call__(self, host: str) -> str | None:
        """The country of a host's server, None where it cannot be told."""
        return self._country_of_host(host.strip().strip(".").lower())

    def country_of_address(self, address: str) -> str | None:
        """The country of an IPv4 or IPv6 address, None where it cannot be told."""
        return self._country_of_address(address)

    def language(self, host: str) -> str | None:
        """The language of a host's country by Table I, None where it cannot be told."""
        return language_of_country(self(host))

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def __enter__(self) -> Self:
        """Use as a context that closes the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def __reduce__(self) -> tuple[type[Self], tuple[Path, Resolver]]:
        """Another process opens the file anew."""
        return type(self), (self.path, self.resolver)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Clones of an estimator share one open file and its cache."""
        return self

    def _find_host(self, host: str) -> str | None:
        for address in self._addresses(host):
            if country := self.country_of_address(address):
                return country
        return None

    def _addresses(self, host: str) -> Sequence[str]:
        bare = host.strip("[]")
        if _parsed(bare):
            return [bare]
        try:
            found = self.resolver(host) if host else []
        except OSError:
            found = []
        if not found:
            self._count("unknown host")
        return found

    def _find_address(self, address: str) -> str | None:
        country, reason = _located(self._reader, address)
        self._count(reason)
        return country

    def _count(self, reason: str) -> None:
        with self._lock:  # look-ups wait for the network, so callers have many threads
            self.reasons[reason] += 1


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


def _opened(path: Path) -> Reader:
    """The file opened; one that cannot be used raises DatabaseError."""
    try:
        reader = Reader(path)
    except (OSError, InvalidDatabaseError, ValueError) as error:
        raise DatabaseError(f"{path}: cannot be read as a MaxMind DB ({error})") from error
    kind = reader.metadata().database_type
    if "Country" in kind or "City" in kind:
        return reader
    reader.close()
    raise DatabaseError(f"{path}: has no countries ({kind}); use GeoLite2-Country or -City")


def _located(reader: Reader, address: str) -> tuple[str | None, str]:
    """The country of an address, and `located` or why there is none."""
    parsed = _parsed(address)
    if parsed is None:
        return None, "no address"
    if not parsed.is_global:
        return None, "not public"
    look_up = reader.city if "City" in reader.metadata().database_type else reader.country
    try:
        country = look_up(parsed).country.iso_code
    except InvalidDatabaseError:
        return None, "damaged"
    except (AddressNotFoundError, ValueError):  # or IPv6 in a file of IPv4
        country = None
    return country, "located" if country else "not listed"
