"""The country of an address, from a MaxMind DB file that is written here."""

from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers.errors import GeoIPError
from langfocus.classifiers.geoip import country_lookup
from tests.support.geodatabase import database, encoded

NETWORKS = {
    "5.1.0.0/16": "DE",
    "5.2.0.0/17": "FR",
    "5.3.3.3/32": "US",
    "2a02:1::/32": "AT",
    "5.4.0.0/16": None,
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("geo") / "country.mmdb"
    file.write_bytes(database(NETWORKS))
    return file


@pytest.mark.parametrize(
    ("address", "country"),
    [
        ("5.1.255.255", "DE"),
        ("5.2.127.255", "FR"),
        ("5.3.3.3", "US"),
        ("2a02:1::1", "AT"),
        ("::ffff:5.1.0.1", "DE"),
        ("5.2.128.0", None),
        ("5.4.0.1", None),
        ("10.1.2.3", None),
        ("fe80::1%eth0", None),
        ("5.1.2", None),
        ("", None),
        (None, None),
    ],
)
def test_an_address_has_the_country_that_the_file_lists(
    path: Path, address: str | None, country: str | None
) -> None:
    assert country_lookup(path)(address) == country


def test_a_file_of_cities_has_countries_too(tmp_path: Path) -> None:
    file = tmp_path / "city.mmdb"
    file.write_bytes(database(NETWORKS, "Test-City"))
    assert country_lookup(file)("5.1.2.3") == "DE"


@pytest.mark.parametrize(
    "content", [None, b"", b"no database", database(NETWORKS, "Test-ASN"), database(NETWORKS)[:200]]
)
def test_a_file_without_countries_is_refused_by_name(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "broken.mmdb"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(GeoIPError, match=r"broken\.mmdb"):
        country_lookup(file)


def test_an_address_whose_record_is_damaged_has_no_country(tmp_path: Path) -> None:
    content = database({"5.1.0.0/16": "DE"})
    whole = encoded({"country": {"iso_code": "DE"}})
    file = tmp_path / "damaged.mmdb"
    file.write_bytes(content.replace(whole, b"\xff" * len(whole)))
    assert country_lookup(file)("5.1.1.1") is None


@given(st.one_of(st.ip_addresses(), st.text(max_size=20)))
def test_a_country_is_that_of_a_network_with_the_address(path: Path, address: object) -> None:
    country = country_lookup(path)(str(address))
    if country:
        found = [ip_network(prefix) for prefix in NETWORKS if NETWORKS[prefix] == country]
        assert any(ip_address(str(address)) in network for network in found)
