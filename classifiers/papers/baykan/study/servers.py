"""The countries of hosts' servers, looked up once before work is sent to workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from classifiers.errors import StudyError
from classifiers.geoip import country_lookup
from classifiers.papers.baykan.features.hosting import Resolver, ServerCountry
from classifiers.papers.baykan.features.words import parts

_LOOKUPS: Final = 32


@dataclass(frozen=True)
class Servers:
    """The countries of servers, as a plain table that can be sent to any process."""

    countries: Mapping[str, str]
    """Host in lower case -> ISO 3166-1 code."""

    def __call__(self, host: str) -> str | None:
        """Return the code of a host's country; None if it is not known."""
        return self.countries.get(_spelled(host))


def locate(urls: Iterable[str], mmdb: Path, resolver: Resolver) -> Servers:
    """The countries of the servers of some URLs, by a MaxMind DB file.

    GeoIPError if the file cannot be read.
    """
    hosts = sorted({host for url in urls if (host := _spelled(parts(url)[0]))})
    country_of = ServerCountry(country_lookup(mmdb), resolver)
    with ThreadPoolExecutor(_LOOKUPS) as pool:
        found = zip(hosts, pool.map(country_of, hosts), strict=True)
        return Servers({host: code for host, code in found if code})


def listed(path: Path) -> Resolver:
    """A resolver for the hosts of a file with lines `host<TAB>address`; StudyError for others."""
    table: dict[str, list[str]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: cannot be read ({error})") from error
    for number, line in enumerate(lines, start=1):
        host, tab, address = line.partition("\t")
        if not tab and line.strip():
            raise StudyError(f"{path}:{number}: expected host and address with a tab between")
        table[_spelled(host)].append(address.strip())
    return lambda host: table.get(_spelled(host), [])


def _spelled(host: str) -> str:
    return host.strip().strip(".").lower()
