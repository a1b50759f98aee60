"""Whole crawls of the webs that need no network, judged by what the servers saw."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from protego import Protego

from benchmarks.servers.loopback import Access, loopback
from langfocus.crawler.sources.contract import Answer
from langfocus.crawler.sources.sample import SampleWeb
from langfocus.crawler.url import host_of, is_unwanted_file
from tests.crawler.politeness.test_crawl_polite import HTML, linking, served
from tests.support.crawls import finished, rows, summary
from tests.support.smallweb import SENTENCES

DELAY_S = 0.05


@pytest.fixture(scope="module")
def sample() -> SampleWeb:
    return SampleWeb(hosts=4000, secure=0.0)


def pages_of(log: Iterable[Access]) -> list[Access]:
    return [access for access in log if not access.url.endswith("/robots.txt")]


def url_of(access: Access) -> str:
    """The URL of a request; one for a tunnel names host and port only."""
    is_tunnel = access.method == "CONNECT"
    return f"https://{access.url.removesuffix(':443')}/" if is_tunnel else access.url


Crawled = Callable[[str], tuple[Path, list[Access]]]


@pytest.fixture(scope="module")
def crawled(sample: SampleWeb, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Crawl 150 pages through a real proxy; return the folder and what passed the proxy."""

    @cache
    def by(strategy: str) -> tuple[Path, list[Access]]:
        folder = tmp_path_factory.mktemp(strategy)
        with loopback(sample) as proxy:
            finished(
                "lang=de",
                f"strategy={strategy}",
                f"seeds={','.join(sample.seeds('de'))}",
                "pages=150",
                proxy=proxy.url,
                JOBDIR=folder,
                DOWNLOAD_DELAY=DELAY_S,
                LANGFOCUS_RETRY_DELAY=0.1,
            )
            return folder, list(proxy.log)

    return by


@pytest.mark.parametrize("workers", [0, 2], ids=["sqlite", "redis"])
def test_a_crawl_with_the_defaults_closes_a_host_after_six_pages_in_other_languages(
    workers: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    shared = request.getfixturevalue("redis_server").url if workers else None
    english = f"<p>{SENTENCES['en'] * 3}</p>"
    links = "".join(f'<a href="/d{n}/x">x</a>' for n in range(20))
    answers = {f"d{n}/x": Answer(200, HTML, english.encode()) for n in range(20)}
    with served(start=Answer(200, HTML, (english + links).encode()), **answers) as (_, proxy):
        done = finished(
            "lang=de",
            "seeds=http://a.com/start",
            proxy=proxy.url,
            JOBDIR=tmp_path,
            DOWNLOAD_DELAY=0,
            LANGFOCUS_PATIENCE=0,
            LANGFOCUS_FRONTIER=shared,
        )
        pages = [access.url for access in proxy.log if access.url.endswith(("/x", "/start"))]
    assert len(pages) == 6, done.stderr
    assert summary(tmp_path)["finish_reason"] == "finished"
    assert summary(tmp_path)["counts"]["dropped_irrelevant"] == 15


def test_a_page_that_is_known_in_the_language_is_requested_in_no_other(tmp_path: Path) -> None:
    german, english = (SENTENCES[language] * 3 for language in ("de", "en"))
    links = "".join(f"<a href=/{code}/{name}>x</a>" for name in "ab" for code in ("en", "de"))
    answers = {f"de/{name}": Answer(200, HTML, german.encode()) for name in "ab"}
    answers["en/c"] = Answer(200, HTML, english.encode())
    start = Answer(200, HTML, f"{german}{links}<a href=/en/c>x</a>".encode())
    with served(start=start, **answers) as (_, proxy):
        seeds, none = "seeds=http://a.com/start", {"LANGFOCUS_PATIENCE": 0, "DOWNLOAD_DELAY": 0}
        finished("lang=de", seeds, proxy=proxy.url, JOBDIR=tmp_path, **none)
        asked = [access.url.partition(".com/")[2] for access in proxy.log]
    assert {*asked} - {"robots.txt", ".well-known/tdmrep.json"} == {
        *("start", "de/a", "de/b", "en/c")
    }
    assert summary(tmp_path)["outcomes"] == {"page": 4, "other_version": 2}


@pytest.mark.parametrize("strategy", ["random", "svm"])
def test_a_crawl_through_a_proxy_keeps_its_manners(
    sample: SampleWeb, crawled: Crawled, strategy: str
) -> None:
    folder, log = crawled(strategy)
    pages = [access for access in pages_of(log) if access.method == "GET"]
    figures = summary(folder)
    assert figures["pages"] == 150
    fetched = Counter(access.url for access in pages if access.status < 500)
    assert max(fetched.values()) == 1
    hosts = Counter(host_of(access.url) for access in pages if access.status in (200, 404, 410))
    assert max(hosts.values()) <= 10
    assert figures["hosts"] == len(
        rows(folder, "SELECT DISTINCT host FROM pages WHERE outcome='page'")
    )
    times = defaultdict(list)
    for access in log:
        times[host_of(url_of(access))].append(access.time)
    assert min(b - a for of_host in times.values() for a, b in pairwise(of_host)) >= DELAY_S
    assert not any(is_unwanted_file(access.url) for access in pages)
    assert {access.accept_language for access in log} == {"de,*;q=0.1"}
    assert all(access.user_agent.startswith("langfocus/") for access in log)
    for access in pages:
        robots = sample.respond(
            access.url.split("/", 3)[0] + f"//{access.url.split('/')[2]}/robots.txt"
        )
        if robots.status == 200:
            rules = Protego.parse(robots.body.decode("utf-8-sig"))
            assert rules.can_fetch(access.url, "langfocus")


def test_the_harvest_rate_told_is_the_one_that_the_truth_gives(
    sample: SampleWeb, crawled: Crawled
) -> None:
    truth = dict(sample.truth())
    rates = {}
    for strategy in ("random", "cctld", "svm"):
        folder, log = crawled(strategy)
        pages = [a.url for a in pages_of(log) if a.status == 200]
        relevant = [truth[url] == "de" for url in pages if url in truth]
        rates[strategy] = sum(relevant) / len(relevant)
        assert summary(folder)["harvest_rate"] == pytest.approx(rates[strategy], abs=0.03)
    assert rates["random"] < rates["cctld"] < rates["svm"]


def test_the_sample_web_needs_no_network_and_is_the_same_each_time(tmp_path: Path) -> None:
    orders = []
    for name in ("one", "two"):
        done = finished(
            "lang=fr",
            "strategy=random",
            "web=sample",
            "pages=60",
            proxy="http://127.0.0.1:9",  # nobody listens there
            JOBDIR=tmp_path / name,
            CONCURRENT_REQUESTS=1,
            LANGFOCUS_MAX_CRAWL_DELAY=0,  # else the order depends on the time that passes
        )
        assert "harvest rate" in done.stdout
        orders.append(
            rows(tmp_path / name, "SELECT url, outcome, language, score FROM pages ORDER BY id")
        )
    assert orders[0] == orders[1]


def test_a_large_file_that_is_no_text_is_not_read_to_its_end_and_ends_a_budget(
    tmp_path: Path,
) -> None:
    film = Answer(200, (("Content-Type", "video/mp4"),), b"\x00" * 8_000_000)
    large = Answer(200, HTML, b"x" * 300_000)
    with served(film=film, large=large) as (web, proxy):
        web.answers["/"] = linking("/film", "/large", "/later")
        settings = {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 1}
        given = ("lang=de", "strategy=bfs", "bytes=200k", "seeds=http://a.de/")
        finished(*given, proxy=proxy.url, **settings)
    found = rows(tmp_path, "SELECT outcome, bytes FROM pages WHERE depth = 1 ORDER BY id")
    ((outcome, size), last) = found
    assert outcome == "media"
    assert size < 200_000
    assert last == ("page", 300_000)
    assert summary(tmp_path)["finish_reason"] == "bytes"
    assert rows(tmp_path, "SELECT url FROM urls WHERE queued = 1") == [("http://a.de/later",)]
