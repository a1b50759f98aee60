"""Crawls whose names are looked up at a server of this machine."""

from pathlib import Path
from typing import Any

from crawler.url import host_of
from tests.crawler.politeness.test_crawl_polite import linking, outcomes, polite, served
from tests.support.nameserver import NameServer, name_server

OURS = {
    "TWISTED_DNS_RESOLVER": "crawler.spiders.names.CaresNames",
    "DNS_TIMEOUT": 3,
    "RETRY_TIMES": 1,
    "LANGFOCUS_PER_ADDRESS": 0,
}


def looked_up(folder: Path, seed: str, server: NameServer, **settings: Any) -> dict[str, str]:
    """Crawl with a name server and return the outcome of each host."""
    chosen = {**OURS, "LANGFOCUS_DNS": server.address, **settings}
    polite(folder, seed, **chosen)
    return {host_of(url): outcome for url, outcome in outcomes(folder).items()}


def test_names_whose_servers_never_answer_cost_no_other_host_a_page(tmp_path: Path) -> None:
    healthy = [f"h{n}.ok{n}.de" for n in range(20)]
    dead = [f"d{n}.dead.de" for n in range(100)]
    known = dict.fromkeys([*healthy, "a.de"], "127.0.0.1")
    with served() as (web, server), name_server(known, "dead.de") as names:
        port = server.port
        links = [f"http://{host}:{port}/" for host in (*dead, *healthy)]
        web.answers[f"http://a.de:{port}/"] = linking(*links)
        told = looked_up(tmp_path, f"http://a.de:{port}/", names, LANGFOCUS_PRIVATE_ADDRESSES=True)
    assert {told[host] for host in healthy} == {"page"}
    assert {told[host] for host in dead} == {"dns"}
    fetched = [host_of(access.url) for access in server.log]
    assert set(fetched) == {*healthy, "a.de"}
    # After the first names, those of the domain are not asked for.
    assert sum(names.asked[host] > 0 for host in dead) < 20


def test_a_name_is_looked_up_once_for_its_pages_and_does_not_exist_at_once(tmp_path: Path) -> None:
    with served() as (web, server), name_server({"a.de": "127.0.0.1"}) as names:
        port = server.port
        web.answers[f"http://a.de:{port}/"] = linking("/1", "/2", f"http://no.de:{port}/")
        told = looked_up(tmp_path, f"http://a.de:{port}/", names, LANGFOCUS_PRIVATE_ADDRESSES=True)
    assert told == {"a.de": "page", "no.de": "dns"}
    assert names.asked["a.de"] == 1


def test_an_address_that_a_name_server_tells_is_judged(tmp_path: Path) -> None:
    known = {"a.de": "10.0.0.1", "b.de": "127.0.0.1", "c.de": "169.254.169.254"}
    with served() as (_, server), name_server(known) as names:
        port = server.port
        seeds = ",".join(f"http://{host}:{port}/" for host in known)
        told = looked_up(tmp_path, seeds, names)
    assert told == dict.fromkeys(known, "private_address")
    assert server.log == []


def test_a_crawl_refuses_a_dns_server_that_is_no_address(tmp_path: Path) -> None:
    chosen = {**OURS, "LANGFOCUS_DNS": "not an address"}
    done = polite(tmp_path / "run", "http://a.de/", **chosen)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "LANGFOCUS_DNS=not an address" in done.stderr
