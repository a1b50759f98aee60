"""The countries of hosts' servers."""

from pathlib import Path

from classifiers.papers.baykan.servers import listed, server_country

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


def country(host: str) -> str | None:
    return server_country(host, country_of, ADDRESSES)


def test_the_first_address_with_a_country_decides() -> None:
    assert [country(host) for host in ("a.com", "b.com", "c.com")] == ["DE", "FR", "AT"]


def test_a_host_without_a_known_country_has_none() -> None:
    assert [country(host) for host in ("private.com", "nowhere.com", "never.com", "")] == [None] * 4


def test_a_host_that_is_an_address_stands_for_itself() -> None:
    assert server_country("5.1.1.1", country_of, {"5.1.1.1": ["5.2.1.1"]}) == "DE"
    assert server_country("[2a02:1::5]", country_of, {}) == "AT"


def test_hosts_of_a_file_are_found_in_any_spelling(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("A.com.\t5.1.2.3\na.com\t5.2.1.1\n\n")
    assert listed(tmp_path / "hosts")["a.com"] == ["5.1.2.3", "5.2.1.1"]
