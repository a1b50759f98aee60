"""A farm of pages that claim the language of the crawl in all places but their text."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from crawler.clock import CrawlClock
from crawler.config import Config
from crawler.crawl import open_crawl
from crawler.report.harvest import summarise
from crawler.visit import Download
from tests.support.crawls import rows
from tests.support.smallweb import SENTENCES

HONEST_HOSTS, FARM_HOSTS, PAGES_EACH = 60, 300, 10
PAGES = 300
WORDS = "nachrichten wetter zeitung reise verein garten wohnung schule stadt kirche".split()


def honest(number: int) -> str:
    host, page = divmod(number, PAGES_EACH)
    return f"http://{WORDS[host % 10]}-{host}.de/seite{page}.html"


def farmed(number: int) -> str:
    host, page = divmod(number, PAGES_EACH)
    return f"http://www.{WORDS[host % 10]}-aktuell{host}.de/{WORDS[page]}/deutsch.html"


FARM = {farmed(number) for number in range(FARM_HOSTS * PAGES_EACH)}


def page(url: str) -> bytes:
    """A page of the farm links to the farm alone; an honest one to others and to two of it."""
    chance = Random(url)
    farm = [farmed(chance.randrange(FARM_HOSTS * PAGES_EACH)) for _ in range(20)]
    others = [honest(chance.randrange(HONEST_HOSTS * PAGES_EACH)) for _ in range(6)]
    targets = farm if url in FARM else [*others, *farm[:2]]
    links = "".join(f"<a href='{target}'>Nachrichten</a>" for target in targets)
    sentences = SENTENCES["en"] * 8 if url in FARM else SENTENCES["de"] * 8
    head = f"<meta property='og:locale' content='de_DE'><link rel=canonical href='{url}'>"
    itself = f"<link rel=alternate hreflang=de href='{url}'>"
    return f"<html lang=de><head>{head}{itself}</head><p>{sentences}</p>{links}</html>".encode()


@pytest.mark.parametrize("strategy", ["focus", "svm"])
def test_focus_leaves_a_farm_and_every_harvest_rate_is_true(tmp_path: Path, strategy: str) -> None:
    options = Config.read(
        {
            "lang": "de",
            "strategy": strategy,
            "filter": "none",  # the default filter would follow no link of the farm
            "seeds": ",".join(map(honest, range(0, 50, 10))),
        }
    )
    config = replace(options, run_folder=tmp_path, delay_s=0.0)
    now = 1000.0
    crawl = open_crawl(config, CrawlClock(lambda: now, lambda: now - 1000))
    crawl.start()
    for _ in range(4 * PAGES):
        now += 10.0
        lease = crawl.frontier.next(now)
        if lease is None or crawl.counts().pages >= PAGES:
            break
        answer = Download(
            lease.url, 200, page(lease.url), "text/html; charset=utf-8", content_language="de"
        )
        crawl.visitor.answered(lease, answer)
    crawl.close("finished")
    fetched = rows(tmp_path, "SELECT url, language, method FROM pages WHERE outcome = 'page'")
    of_farm = [url for url, _, _ in fetched if url in FARM]
    assert len(fetched) == PAGES
    assert {language for url, language, _ in fetched if url in FARM} <= {"en"}
    assert {method for _, _, method in fetched} == {"text"}
    assert summarise(tmp_path).harvest_rate == pytest.approx(1 - len(of_farm) / PAGES)
    if strategy == "focus":  # it learns from the labels; svm believes the addresses
        assert len(of_farm) <= 0.03 * PAGES
    else:
        assert len(of_farm) > 0.3 * PAGES
