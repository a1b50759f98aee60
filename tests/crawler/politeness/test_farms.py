"""Farms: servers that make hosts without end, on one domain or on one address."""

from pathlib import Path

from crawler.url import host_of
from tests.crawler.politeness.test_crawl_polite import linking, polite, served
from tests.support.crawls import summary

NO_LIMIT = {"LANGFOCUS_PER_ADDRESS": 0, "LANGFOCUS_PATIENCE": 0}


def test_a_farm_of_sub_domains_ends_at_the_cap_of_its_domain(tmp_path: Path) -> None:
    with served(start=linking(*(f"http://h{n}.farm.de/" for n in range(50)))) as (_, server):
        done = polite(
            tmp_path,
            "http://a.de/start",
            proxy=server.url,
            arguments=["domain_cap=20", "filter=none"],
            CONCURRENT_REQUESTS=1,  # URLs that are leased at once are refused without a fall
        )
    assert done.returncode == 0, done.stderr
    told = summary(tmp_path)
    assert told["outcomes"] == {"domain_full": 30, "page": 21}
    assert told["counts"]["lowered"] >= 18
    assert "URLs beyond the cap of their domain" in done.stdout


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
    assert told["counts"]["lowered"] >= 9
    pages = {host_of(access.url) for access in server.log if "robots.txt" not in access.url}
    assert len(pages) == 10
