"""Farms: pages that claim the language in all places but their text; one text on many domains."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.report.harvest import summarise
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.opening import open_crawl
from tests.crawler.reading.test_copied_text import WORDS as GERMAN_WORDS
from tests.crawler.reading.test_copied_text import german
from tests.support.crawls import rows
from tests.support.smallweb import SENTENCES

Text = Callable[[str], str]

HONEST_HOSTS, FARM_HOSTS, PAGES_EACH = 120, 300, 10
PAGES = 300
WORDS = "nachrichten wetter zeitung reise verein garten wohnung schule stadt kirche".split()


def honest(number: int) -> str:
    host, page = divmod(number, PAGES_EACH)
    return f"http://{WORDS[host % 10]}-{host}.de/seite{page}.html"


def farmed(number: int) -> str:
    host, page = divmod(number, PAGES_EACH)
    return f"http://www.{WORDS[host % 10]}-aktuell{host}.de/{WORDS[page]}/deutsch.html"


TEXT = german(Random("the text of the farm"), 200)
PARAGRAPHS = [TEXT[at : at + 250] for at in range(0, len(TEXT), 250)]
FARM = {farmed(number) for number in range(FARM_HOSTS * PAGES_EACH)}


def german_text(url: str) -> str:
    return german(Random(url), 60)


def german_or_english(url: str) -> str:
    """The text of an honest page of a web in which the farm is the best place for German."""
    return german_text(url) if Random(url).random() < 0.4 else english(url)


def english(url: str) -> str:
    return SENTENCES["en"] * 8


def one_text(url: str) -> str:
    return TEXT


def one_text_with_other_words(url: str) -> str:
    chance, words = Random(url), TEXT.split()
    for at in range(chance.randrange(40), len(words), 40):
        words[at] = chance.choice(GERMAN_WORDS)
    return " ".join(words)


def one_text_in_another_order(url: str) -> str:
    return "</p><p>".join(Random(url).sample(PARAGRAPHS, len(PARAGRAPHS)))


def one_text_after_its_own_fifth(url: str) -> str:
    return f"{german(Random(url), 40)}</p><p>{TEXT}"


def page(url: str, farm_text: Text, honest_text: Text) -> bytes:
    """A page of the farm links to the farm alone; an honest one to others and to two of it."""
    chance = Random(url)
    farm = [farmed(chance.randrange(FARM_HOSTS * PAGES_EACH)) for _ in range(20)]
    others = [honest(chance.randrange(HONEST_HOSTS * PAGES_EACH)) for _ in range(6)]
    targets = farm if url in FARM else [*others, *farm[:2]]
    links = "".join(f"<a href='{target}'>Nachrichten</a>" for target in targets)
    text = farm_text(url) if url in FARM else honest_text(url)
    head = f"<meta property='og:locale' content='de_DE'><link rel=canonical href='{url}'>"
    itself = f"<link rel=alternate hreflang=de href='{url}'>"
    return f"<html lang=de><head>{head}{itself}</head><p>{text}</p>{links}</html>".encode()


def opened(folder: Path, strategy: str, clock: CrawlClock | None = None) -> Crawl:
    config = Config.read(
        {
            "lang": "de",
            "strategy": strategy,
            "filter": "none",  # the default filter would follow no link of the farm
            "seeds": ",".join(map(honest, range(0, 50, 10))),
        }
    )
    return open_crawl(replace(config, run_folder=folder, delay_s=0.0), clock)


def crawl(folder: Path, strategy: str, farm_text: Text, honest_text: Text) -> None:
    now = 1000.0
    crawl = opened(folder, strategy, CrawlClock(lambda: now, lambda: now - 1000))
    crawl.start()
    for _ in range(4 * PAGES):
        now += 10.0
        lease = crawl.frontier.next(now)
        if lease is None or crawl.queue.counts().pages >= PAGES:
            break
        body = page(lease.url, farm_text, honest_text)
        answer = Download(lease.url, 200, body, "text/html; charset=utf-8", content_language="de")
        crawl.visitor.answered(lease, answer)
    crawl.close("finished")


@pytest.mark.parametrize("strategy", ["focus", "svm"])
def test_focus_leaves_a_farm_and_every_harvest_rate_is_true(tmp_path: Path, strategy: str) -> None:
    crawl(tmp_path, strategy, english, german_text)
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


@pytest.mark.parametrize(
    "farm_text",
    [
        one_text,
        one_text_with_other_words,
        one_text_in_another_order,
        one_text_after_its_own_fifth,
    ],
)
def test_focus_leaves_a_farm_with_one_text_on_many_domains(tmp_path: Path, farm_text: Text) -> None:
    crawl(tmp_path, "focus", farm_text, german_or_english)
    fetched = rows(tmp_path, "SELECT url, language, is_copy FROM pages WHERE outcome = 'page'")
    of_farm = [is_copy for url, _, is_copy in fetched if url in FARM]
    found, languages = summarise(tmp_path), [language for _, language, _ in fetched]
    assert {language for url, language, _ in fetched if url in FARM} == {"de"}
    assert not any(is_copy for url, _, is_copy in fetched if url not in FARM)
    # A farm in English gets 0.3 of the pages; these four got 0.99 before copies were known.
    assert len(of_farm) <= 0.85 * PAGES
    assert of_farm.count(0) <= 0.2 * PAGES
    assert (found.copies, found.relevant) == (sum(of_farm), languages.count("de") - sum(of_farm))
    assert found.harvest_rate == pytest.approx(found.relevant / PAGES)
    again = opened(tmp_path, "focus")
    assert again.queue.counts().relevant == found.relevant
    again.close("finished")
