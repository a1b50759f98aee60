"""The countries of servers, from a MaxMind DB that is written here."""

import copy
import pickle
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.errors import DatabaseError
from classifiers.lab.features.hosting import (
    Hosting,
    language_of_country,
    resolve,
)

NETWORKS = {
    "5.1.0.0/16": "DE",
    "5.2.0.0/17": "FR",
    "5.3.3.3/32": "US",
    "2a02:1::/32": "AT",
    "5.4.0.0/16": None,
}
ADDRESSES: dict[str, list[str]] = {
    "a.com": ["5.1.2.3"],
    "b.com": ["10.0.0.1", "9.9.9.9", "5.2.1.1", "5.1.1.1"],
    "c.com": ["2a02:1::5"],
    "private.com": ["192.168.1.1"],
    "nowhere.com": [],
}


def encoded(value: Any) -> bytes:
    """A value as the data section of a MaxMind DB has it."""
    if isinstance(value, str):
        data = value.encode()
        return bytes([2 << 5 | len(data)]) + data
    if isinstance(value, bytes):  # a number
        kind = {2: bytes([5 << 5 | 2]), 4: bytes([6 << 5 | 4]), 8: bytes([8, 2])}
        return kind[len(value)] + value
    if isinstance(value, list):
        return bytes([len(value), 4]) + b"".join(map(encoded, value))
    pairs = (encoded(key) + encoded(each) for key, each in value.items())
    return bytes([7 << 5 | len(value)]) + b"".join(pairs)


def bits(network: IPv4Network | IPv6Network) -> str:
    """The prefix in an IPv6 tree, where IPv4 is below ::/96."""
    if network.version == 4:
        return "0" * 96 + f"{int(network.network_address):032b}"[: network.prefixlen]
    return f"{int(network.network_address):0128b}"[: network.prefixlen]


def database(networks: Mapping[str, str | None], kind: str = "Test-Country") -> bytes:
    """A MaxMind DB, version 2.0, with records of 24 bits."""
    nodes: list[list[Any]] = [[None, None]]
    data = b""
    for prefix, country in networks.items():
        path = bits(ip_network(prefix))
        node = 0
        for bit in path[:-1]:
            if nodes[node][int(bit)] is None:
                nodes.append([None, None])
                nodes[node][int(bit)] = len(nodes) - 1
            node = nodes[node][int(bit)]
        nodes[node][int(path[-1])] = -len(data) - 1
        data += encoded({"country": {"iso_code": country} if country else {}})
    tree = b""
    for record in (each for node in nodes for each in node):
        at = len(nodes) if record is None else record
        tree += (at if at >= 0 else len(nodes) + 15 - at).to_bytes(3, "big")
    metadata = {
        "binary_format_major_version": struct.pack(">H", 2),
        "binary_format_minor_version": struct.pack(">H", 0),
        "build_epoch": struct.pack(">Q", 1),
        "database_type": kind,
        "description": {"en": "test"},
        "ip_version": struct.pack(">H", 6),
        "languages": ["en"],
        "node_count": struct.pack(">I", len(nodes)),
        "record_size": struct.pack(">H", 24),
    }
    return tree + bytes(16) + data + b"\xab\xcd\xefMaxMind.com" + encoded(metadata)


class Resolver:
    """Known addresses; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if host not in ADDRESSES:
            raise socket.gaierror(f"no {host}")
        return ADDRESSES[host]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("geo") / "country.mmdb"
    file.write_bytes(database(NETWORKS))
    return file


@pytest.fixture
def resolver() -> Resolver:
    return Resolver()


@pytest.fixture
def hosting(path: Path, resolver: Resolver) -> Iterator[Hosting]:
    with Hosting(path, resolver) as opened:
        yield opened


@pytest.mark.parametrize(
    ("address", "country", "reason"),
    [
        ("5.1.255.255", "DE", "located"),
        ("5.2.127.255", "FR", "located"),
        ("5.3.3.3", "US", "located"),
        ("2a02:1::1", "AT", "located"),
        ("::ffff:5.1.0.1", "DE", "located"),
        ("5.2.128.0", None, "not listed"),
        ("5.4.0.1", None, "not listed"),
        ("10.1.2.3", None, "not public"),
        ("127.0.0.1", None, "not public"),
        ("fe80::1%eth0", None, "not public"),
        ("5.1.2", None, "no address"),
        ("", None, "no address"),
    ],
)
def test_an_address_has_a_country_or_a_reason(
    hosting: Hosting, address: str, country: str | None, reason: str
) -> None:
    assert hosting.country_of_address(address) == country
    assert hosting.reasons == {reason: 1}


def test_the_first_address_with_a_country_tells(hosting: Hosting) -> None:
    assert hosting("a.com") == "DE"
    assert hosting("b.com") == "FR"
    assert hosting("c.com") == "AT"
    assert hosting.reasons == {"located": 3, "not public": 1, "not listed": 1}


def test_hosts_without_a_country_are_counted(hosting: Hosting) -> None:
    assert [hosting(host) for host in ("private.com", "nowhere.com", "never.com", "")] == [None] * 4
    assert hosting.reasons == {"not public": 1, "unknown host": 3}


def test_a_host_that_is_an_address_is_not_resolved(hosting: Hosting, resolver: Resolver) -> None:
    assert hosting("5.1.1.1") == "DE"
    assert hosting("[2a02:1::1]") == "AT"
    assert resolver.asked == []


def test_a_host_is_resolved_once(hosting: Hosting, resolver: Resolver) -> None:
    for host in ("a.com", "A.com", "a.com.", "never.com", "never.com"):
        hosting(host)
    assert resolver.asked == ["a.com", "never.com"]


def test_many_threads_lose_no_count(hosting: Hosting) -> None:
    addresses = [f"5.{1 + at % 2}.{at // 200}.{at % 200}" for at in range(2000)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(hosting.country_of_address, addresses))
    assert found == ["DE", "FR"] * 1000
    assert hosting.reasons == {"located": 2000}


def test_a_country_speaks_the_language_of_table_i(hosting: Hosting) -> None:
    assert hosting.language("a.com") == "de"
    assert hosting.language("c.com") == "de"
    assert hosting.language("never.com") is None
    expected = {"CH": "de", "CA": "en", "GB": "en", "MX": "es", "VA": "it", "tn": "fr", "PL": None}
    assert {country: language_of_country(country) for country in expected} == expected
    assert language_of_country(None) is None


def test_a_file_of_cities_has_countries_too(tmp_path: Path, resolver: Resolver) -> None:
    file = tmp_path / "city.mmdb"
    file.write_bytes(database(NETWORKS, "Test-City"))
    with Hosting(file, resolver) as opened:
        assert opened("a.com") == "DE"


@pytest.mark.parametrize(
    "content", [b"", b"no database", database(NETWORKS, "Test-ASN"), database(NETWORKS)[:200]]
)
def test_a_file_without_countries_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "broken.mmdb"
    file.write_bytes(content)
    with pytest.raises(DatabaseError, match=r"broken\.mmdb"):
        Hosting(file)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"none\.mmdb"):
        Hosting(tmp_path / "none.mmdb")


def test_damage_behind_the_tree_is_a_reason(tmp_path: Path, resolver: Resolver) -> None:
    content = database({"5.1.0.0/16": "DE"})
    whole = encoded({"country": {"iso_code": "DE"}})
    file = tmp_path / "damaged.mmdb"
    file.write_bytes(content.replace(whole, b"\xff" * len(whole)))
    with Hosting(file, resolver) as opened:
        assert opened("a.com") is None
        assert opened.reasons == {"damaged": 1}


def test_copies_share_the_file_and_other_processes_open_it_anew(path: Path) -> None:
    with Hosting(path, len_of_nothing) as opened:
        assert copy.deepcopy(opened) is opened
        with pickle.loads(pickle.dumps(opened)) as again:
            assert again.country_of_address("5.1.1.1") == "DE"
            assert again.resolver is len_of_nothing


def len_of_nothing(host: str) -> Sequence[str]:
    return host[:0]


@given(st.one_of(st.ip_addresses(), st.text(max_size=20)))
def test_every_address_has_one_reason(path: Path, address: object) -> None:
    with Hosting(path, len_of_nothing) as opened:
        country = opened.country_of_address(str(address))
        assert opened.reasons.total() == 1
        assert (country is None) == (opened.reasons["located"] == 0)
        if country:
            found = [ip_network(prefix) for prefix in NETWORKS if NETWORKS[prefix] == country]
            assert any(ip_address(str(address)) in network for network in found)


def test_the_system_knows_its_own_names_only() -> None:
    assert resolve("127.0.0.1") == ["127.0.0.1"]
    assert resolve("a" * 300) == []
    assert resolve("nul\0byte") == []


def test_a_resolver_that_hangs_is_left_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = Event()

    def hang(*_: object, **__: object) -> list[object]:
        let_go.wait()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    assert resolve("slow.com", timeout_s=0.01) == []
    let_go.set()
