"""The countries of hosts' servers (Baykan 2013, 2.2, "IP"), looked up before a study begins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from classifiers.errors import StudyError
from classifiers.geoip import CountryLookup, country_lookup, parsed_address
from classifiers.papers.baykan.grams import parts

Addresses = Mapping[str, Sequence[str]]
"""Host in lower case -> its addresses."""

Countries = Mapping[str, str]
"""Host in lower case -> the ISO 3166-1 code of its server's country, where that is known."""


def locate(urls: Iterable[str], mmdb: Path, addresses: Addresses) -> Countries:
    """The countries of the servers of some URLs, by a MaxMind DB file.

    GeoIPError if the file cannot be read.
    """
    look_up = country_lookup(mmdb)
    hosts = sorted({host for url in urls if (host := spelled(parts(url)[0]))})
    found = {host: server_country(host, look_up, addresses) for host in hosts}
    return {host: code for host, code in found.items() if code}


def server_country(host: str, countries: CountryLookup, addresses: Addresses) -> str | None:
    """The ISO 3166-1 code of the country of a host's server; None if it is not known.

    The first address of the host whose country is known decides. A host that is an IP address
    stands for itself.
    """
    bare = host.strip("[]")
    own = [bare] if parsed_address(bare) else addresses.get(host, ())
    return next((country for country in map(countries, own) if country), None)


def listed(path: Path) -> Addresses:
    """The addresses of a file with lines `host<TAB>address`; StudyError for others."""
    table: dict[str, list[str]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: cannot be read ({error})") from error
    for number, line in enumerate(lines, start=1):
        host, tab, address = line.partition("\t")
        if not tab and line.strip():
            raise StudyError(f"{path}:{number}: expected host and address with a tab between")
        table[spelled(host)].append(address.strip())
    return table


def spelled(host: str) -> str:
    """A host as the keys of `Countries` spell it."""
    return host.strip().strip(".").lower()
