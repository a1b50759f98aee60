"""Farms: servers that make hosts without end, on one domain or on one address."""

from pathlib import Path

from crawler.url import host_of
from crawler.web.contract import Answer
from tests.crawler.politeness.test_crawl_polite import HTML, linking, polite, served
from tests.support.crawls import rows, summary
from tests.support.smallweb import SENTENCES

GERMAN = Answer(200, HTML, f"<p>{SENTENCES['de'] * 5}</p>".encode())
NO_LIMIT = {"LANGFOCUS_PER_ADDRESS": 0, "LANGFOCUS_PATIENCE": 0}


def test_a_farm_of_sub_domains_ends_at_the_cap_of_its_domain(tmp_path: Path) -> None:
    with served(start=linking(*(f"http://h{n}.farm.de/" for n in range(50)))) as (_, server):
        done = polite(tmp_path, "http://a.de/start", proxy=server.url, arguments=["domain_cap=20"])
    assert done.returncode == 0, done.stderr
    told = summary(tmp_path)
    assert (told["pages"], told["counts"]["domain_full"]) == (21, 30)
    assert told["counts"]["lowered"] == 18
    assert "links beyond the cap of their domain" in done.stdout


def test_relevant_pages_earn_their_domain_more_slots(tmp_path: Path) -> None:
    hub = [f"http://h{n}.uni.de/" for n in range(3)]
    more = [f"http://h{n}.uni.de/" for n in range(3, 40)]
    with served(start=linking(*hub)) as (web, server):
        for url in hub:
            web.answers[url] = Answer(200, HTML, GERMAN.body + linking(*more).body)
        polite(tmp_path, "http://a.de/start", proxy=server.url, arguments=["domain_cap=3"])
    pages = rows(tmp_path, "SELECT url FROM pages WHERE outcome = 'page'")
    assert sum(host_of(url).endswith(".uni.de") for (url,) in pages) == 3 + 3 * 10


def test_a_farm_waits_until_others_were_fetched(tmp_path: Path) -> None:
    farm = [f"http://h{n}.farm.de/" for n in range(20)]
    others = [f"http://b{n}.de/" for n in range(20)]
    with served(start=linking(*farm, *others)) as (_, server):
        done = polite(
            tmp_path,
            "http://a.de/start",
            proxy=server.url,
            arguments=["domain_cap=50"],
            CONCURRENT_REQUESTS=1,
        )
    assert done.returncode == 0, done.stderr
    order = [url for (url,) in rows(tmp_path, "SELECT url FROM pages ORDER BY id")]
    assert order[1:26] == [*farm[:5], *others]
    assert sorted(order[26:]) == sorted(farm[5:])


def test_a_farm_of_domains_ends_at_the_cap_of_its_address(tmp_path: Path) -> None:
    with served() as (web, server):
        port = server.port
        farm = [f"farm{n}.de" for n in range(30)]
        names = dict.fromkeys([*farm, "a.de"], "127.0.0.1")
        web.answers[f"http://a.de:{port}/"] = linking(*(f"http://{h}:{port}/" for h in farm))
        done = polite(
            tmp_path,
            f"http://a.de:{port}/",
            names=names,
            arguments=["address_cap=10"],
            LANGFOCUS_PRIVATE_ADDRESSES=True,
            **NO_LIMIT,
        )
    assert done.returncode == 0, done.stderr
    told = summary(tmp_path)
    assert told["outcomes"] == {"address_full": 21, "page": 10}
    assert told["counts"]["lowered"] == 9
    contacted = {host_of(access.url) for access in server.log}
    assert len(contacted) == 10
