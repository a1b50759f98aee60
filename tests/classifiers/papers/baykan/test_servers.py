"""The countries of hosts' servers."""

from pathlib import Path

import pytest

from langfocus.classifiers.papers.baykan.grams import listed, server_country

COUNTRIES = {"5.1.2.3": "DE", "5.1.1.1": "DE", "5.2.1.1": "FR", "2a02:1::5": "AT"}
ADDRESSES: dict[str, list[str]] = {
    "a.com": ["5.1.2.3"],
    "b.com": ["10.0.0.1", "9.9.9.9", "5.2.1.1", "5.1.1.1"],
    "private.com": ["192.168.1.1"],
    "nowhere.com": [],
    "5.1.1.1": ["5.2.1.1"],
}


def look_up(address: str | None) -> str | None:
    return COUNTRIES.get(address or "")


@pytest.mark.parametrize(
    ("hosts", "country"),
    [
        (("a.com", "5.1.1.1"), "DE"),  # a host that is an address stands for itself
        (("b.com",), "FR"),
        (("[2a02:1::5]",), "AT"),
        (("private.com", "nowhere.com", "never.com", ""), None),
    ],
)
def test_the_first_address_with_a_country_decides(
    hosts: tuple[str, ...], country: str | None
) -> None:
    for host in hosts:
        assert server_country(host, look_up, ADDRESSES) == country


def test_hosts_of_a_file_are_found_in_any_spelling(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("A.com.\t5.1.2.3\na.com\t5.2.1.1\n\n")
    assert listed(tmp_path / "hosts")["a.com"] == ["5.1.2.3", "5.2.1.1"]
