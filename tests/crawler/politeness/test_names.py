"""Crawls whose names are looked up at a server of this machine."""

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest

from benchmarks.certificate import certificate
from benchmarks.servers.loopback import HEAD_END, on_loopback, sent
from langfocus.crawler.errors import SettingError
from langfocus.crawler.politeness.network import dns_servers
from langfocus.crawler.spiders.guard import Guard
from langfocus.crawler.url import host_of
from tests.crawler.politeness.test_crawl_polite import linking, outcomes, polite, served
from tests.support.crawls import rows
from tests.support.nameserver import NameServer, name_server

OURS = {
    "DNS_TIMEOUT": 2.5,
    "RETRY_TIMES": 0,
    "LANGFOCUS_PER_ADDRESS": 0,
}


def looked_up(folder: Path, seed: str, server: NameServer, **settings: Any) -> dict[str, str]:
    """Crawl with a name server and return the outcome of each host."""
    chosen = {**OURS, "LANGFOCUS_DNS": server.address, **settings}
    polite(folder, seed, **chosen)
    return {host_of(url): outcome for url, outcome in outcomes(folder).items()}


def test_names_whose_servers_never_answer_cost_no_other_host_a_page(tmp_path: Path) -> None:
    healthy = [f"h{n}.ok{n}.de" for n in range(20)]
    dead = [f"d{n}.dead.de" for n in range(40)]
    known = dict.fromkeys([*healthy, "a.de"], "127.0.0.1")
    with served() as (web, server), name_server(known, "dead.de") as names:
        port = server.port
        links = [f"http://{host}:{port}/" for host in (*dead, "no.de", *healthy)]
        web.answers[f"http://a.de:{port}/"] = linking("/1", *links)
        lookup = looked_up(
            tmp_path, f"http://a.de:{port}/", names, LANGFOCUS_PRIVATE_ADDRESSES=True
        )
    assert {lookup[host] for host in healthy} == {"page"}
    assert {lookup[host] for host in (*dead, "no.de")} == {"dns"}
    assert {host_of(access.url) for access in server.log} == {*healthy, "a.de"}
    # After some names, no other name of the domain is looked up.
    assert sum(names.asked[host] > 0 for host in dead) < 20
    assert names.asked["a.de"] == 1


@pytest.mark.parametrize(("kind", "most"), [(None, 1), ("", 1), ("!", 15)])
def test_a_name_without_an_address_is_not_asked_for_again(
    kind: str | None, most: int, tmp_path: Path
) -> None:
    known = {"a.de": "127.0.0.1"} | ({} if kind is None else {"x.b.de": kind, "y.b.de": kind})
    settings: dict[str, Any] = {"RETRY_TIMES": 2, "DNSCACHE_SIZE": 0, "ROBOTSTXT_OBEY": False}
    with served() as (web, server), name_server(known) as names:
        port = server.port
        links = [f"http://{host}.b.de:{port}/{n}" for host in "xy" for n in range(20)]
        web.answers[f"http://a.de:{port}/"] = linking(*links)
        seed = f"http://a.de:{port}/"
        looked_up(tmp_path, seed, names, LANGFOCUS_PRIVATE_ADDRESSES=True, **settings)
    assert outcomes(tmp_path) == {seed: "page"} | dict.fromkeys(links, "dns")
    assert names.asked["x.b.de"] <= most
    assert names.asked["y.b.de"] <= most


@pytest.mark.parametrize("addresses", ["127.0.0.2 127.0.0.1", "127.0.0.1 127.0.0.2"])
def test_the_slot_of_a_page_is_charged_to_the_address_that_was_asked(
    addresses: str, tmp_path: Path
) -> None:
    # Nobody listens at 127.0.0.2.
    with served() as (_, server), name_server({"a.de": addresses}) as names:
        url = f"http://a.de:{server.port}/"
        lookup = looked_up(tmp_path, url, names, LANGFOCUS_PRIVATE_ADDRESSES=True)
    assert lookup == {"a.de": "page"}
    charged = rows(tmp_path, "SELECT host, taken FROM hosts WHERE host LIKE '%127.0.0.%'")
    assert ("ip 127.0.0.1", 3) in charged  # two files and a page


def test_a_name_is_not_asked_for_again_between_its_check_and_the_connection(
    tmp_path: Path,
) -> None:
    never_kept: dict[str, Any] = {"DNSCACHE_SIZE": 0, "ROBOTSTXT_OBEY": False}
    with served() as (_, server), name_server({"a.de": "127.0.0.1"}) as names:
        url = f"http://a.de:{server.port}/"
        lookup = looked_up(tmp_path, url, names, LANGFOCUS_PRIVATE_ADDRESSES=True, **never_kept)
    assert lookup == {"a.de": "page"}
    assert names.asked["a.de"] == 1


class Answering:
    """Names that have the same addresses."""

    async def addresses(self, host: str) -> list[str]:
        return ["10.0.0.1", "2606:4700::1111", "8.8.8.8", "::1", "9.9.9.9"]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("", ["8.8.8.8", "9.9.9.9", "2606:4700::1111"]),
        ("2606:4700::1111", ["2606:4700::1111", "8.8.8.8", "9.9.9.9"]),
        ("10.0.0.1", ["8.8.8.8", "9.9.9.9", "2606:4700::1111"]),
    ],
)
def test_a_host_is_asked_at_its_public_addresses_alone_the_chosen_one_first(
    chosen: str, expected: list[str]
) -> None:
    guard: Any = Guard.__new__(Guard)
    guard._names = Answering()
    guard._chosen = {"a.de": chosen}
    assert asyncio.run(guard._addresses("a.de", allows_private=False)) == expected


def test_a_server_over_tls_is_asked_by_its_name_at_its_address(tmp_path: Path) -> None:
    asked: list[str] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    context.sni_callback = lambda _, name, __: asked.append(str(name))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(HEAD_END)
            asked.append(head.decode().split()[1])
            await sent(writer, b"HTTP/1.1 200 -\r\nContent-Length: 0" + HEAD_END)

    with on_loopback(talk, context) as port, name_server({"a.de": "127.0.0.1"}) as names:
        url = f"https://a.de:{port}/"
        lookup = looked_up(tmp_path / "run", url, names, LANGFOCUS_PRIVATE_ADDRESSES=True)
    assert lookup == {"a.de": "page"}
    # All requests go over one connection.
    assert asked == ["a.de", "/robots.txt", "/.well-known/tdmrep.json", "/"]


def test_a_dns_server_is_an_address_that_may_have_a_port() -> None:
    for server in ("9.9.9.9", "9.9.9.9:53", "2620:fe::9", "[2620:fe::9]:53"):
        assert dns_servers(f"{server}, 1.1.1.1", "LANGFOCUS_DNS") == (server, "1.1.1.1")
    for server in ("dns.example", "9.9.9.9:", "9.9.9.9:99999", "", "a@9.9.9.9:53"):
        with pytest.raises(SettingError, match=r"LANGFOCUS_DNS=.* is not an IP address"):
            dns_servers(server, "LANGFOCUS_DNS")
