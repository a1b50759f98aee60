"""IP address to country, from a MaxMind DB file such as GeoLite2-Country."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from geoip2.database import Reader
from geoip2.errors import AddressNotFoundError
from maxminddb import InvalidDatabaseError

from langfocus.classifiers.errors import GeoIPError

CountryLookup = Callable[[str | None], str | None]
"""IP address -> ISO 3166-1 country code; None if unknown."""


def country_lookup(path: Path) -> CountryLookup:
    """Return a function from an IP address to the upper-case ISO 3166-1 country code.

    The function returns None for None, for text without an address and for unlisted addresses.
    Threads can share the function. Raises GeoIPError for an unreadable file and for a file without
    countries.
    """
    if path.exists() and not path.is_file():  # a pipe would wait for a writer
        raise GeoIPError(f"{path}: not a regular file")
    try:
        reader = Reader(path)
    except (OSError, InvalidDatabaseError, ValueError) as error:
        raise GeoIPError(f"{path}: cannot be read as a MaxMind DB file ({error})") from error
    kind = reader.metadata().database_type
    if "Country" not in kind and "City" not in kind:
        reader.close()
        raise GeoIPError(
            f"{path}: has no countries ({kind}); use GeoLite2-Country or GeoLite2-City"
        )
    record_of = reader.city if "City" in kind else reader.country

    def country_of(address: str | None) -> str | None:
        parsed = parsed_address(address or "")
        try:
            return record_of(parsed).country.iso_code if parsed else None
        # ValueError: an IPv6 address in a file of IPv4; InvalidDatabaseError: a damaged record.
        except (AddressNotFoundError, ValueError, InvalidDatabaseError):
            return None

    return country_of


def parsed_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address without its zone; None if the text is no address.

    An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) becomes IPv4.
    """
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
