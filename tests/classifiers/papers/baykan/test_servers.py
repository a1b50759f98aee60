"""The countries of hosts' servers."""

from collections.abc import Sequence

from classifiers.papers.baykan.servers import language_of_country, server_country

COUNTRIES = {"5.1.2.3": "DE", "5.1.1.1": "DE", "5.2.1.1": "FR", "2a02:1::5": "AT"}
ADDRESSES: dict[str, list[str]] = {
    "a.com": ["5.1.2.3"],
    "b.com": ["10.0.0.1", "9.9.9.9", "5.2.1.1", "5.1.1.1"],
    "c.com": ["2a02:1::5"],
    "private.com": ["192.168.1.1"],
    "nowhere.com": [],
}


def country_of(address: str | None) -> str | None:
    return COUNTRIES.get(address or "")


def addresses_of(host: str) -> Sequence[str]:
    if host not in ADDRESSES:
        raise OSError(f"no {host}")
    return ADDRESSES[host]


def refused(host: str) -> list[str]:
    raise AssertionError(host)


def country(host: str) -> str | None:
    return server_country(host, country_of, addresses_of)


def test_the_first_address_with_a_country_decides() -> None:
    assert [country(host) for host in ("a.com", "b.com", "c.com")] == ["DE", "FR", "AT"]


def test_a_host_without_a_known_country_has_none() -> None:
    assert [country(host) for host in ("private.com", "nowhere.com", "never.com", "")] == [None] * 4


def test_a_host_that_is_an_address_is_not_resolved() -> None:
    assert server_country("5.1.1.1", country_of, refused) == "DE"
    assert server_country("[2a02:1::5]", country_of, refused) == "AT"


def test_a_country_speaks_the_language_of_table_i() -> None:
    expected = {"CH": "de", "CA": "en", "GB": "en", "MX": "es", "VA": "it", "tn": "fr", "PL": None}
    assert {country: language_of_country(country) for country in expected} == expected
    assert language_of_country(None) is None
