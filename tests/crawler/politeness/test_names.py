"""Crawls whose names are looked up at a server of this machine."""

from pathlib import Path
from typing import Any

import pytest

from crawler.errors import SettingError
from crawler.politeness.network import dns_servers
from crawler.url import host_of
from tests.crawler.politeness.test_crawl_polite import linking, outcomes, polite, served
from tests.support.nameserver import NameServer, name_server

OURS = {
    "TWISTED_DNS_RESOLVER": "crawler.spiders.names.CaresNames",
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
        told = looked_up(tmp_path, f"http://a.de:{port}/", names, LANGFOCUS_PRIVATE_ADDRESSES=True)
    assert {told[host] for host in healthy} == {"page"}
    assert {told[host] for host in (*dead, "no.de")} == {"dns"}
    assert {host_of(access.url) for access in server.log} == {*healthy, "a.de"}
    # After some names, no other name of the domain is looked up.
    assert sum(names.asked[host] > 0 for host in dead) < 20
    assert names.asked["a.de"] == 1


def test_an_address_that_a_name_server_tells_is_judged(tmp_path: Path) -> None:
    known = {"a.de": "10.0.0.1", "b.de": "127.0.0.1", "c.de": "169.254.169.254"}
    with served() as (_, server), name_server(known) as names:
        port = server.port
        seeds = ",".join(f"http://{host}:{port}/" for host in known)
        told = looked_up(tmp_path, seeds, names)
    assert told == dict.fromkeys(known, "private_address")
    assert server.log == []


@pytest.mark.parametrize("server", ["9.9.9.9", "9.9.9.9:53", "2620:fe::9", "[2620:fe::9]:53"])
def test_a_dns_server_is_an_address_that_may_have_a_port(server: str) -> None:
    assert dns_servers(f"{server}, 1.1.1.1", "LANGFOCUS_DNS") == (server, "1.1.1.1")


@pytest.mark.parametrize("server", ["dns.example", "9.9.9.9:", "9.9.9.9:99999", "", "a@9.9.9.9:53"])
def test_anything_else_is_refused_as_a_dns_server(server: str) -> None:
    with pytest.raises(SettingError, match=r"LANGFOCUS_DNS=.* is not an IP address"):
        dns_servers(server, "LANGFOCUS_DNS")
