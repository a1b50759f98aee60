"""Crawls of real servers on this machine: who is contacted, how often, and under which name."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from gzip import compress
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from scrapy.http import Response

from benchmarks.servers import processes
from benchmarks.servers.loopback import Proxy, loopback
from langfocus.crawler.errors import SettingError
from langfocus.crawler.politeness.contact import BotName
from langfocus.crawler.settings import USER_AGENT
from langfocus.crawler.sources.contract import NO_HEADERS, Answer
from langfocus.crawler.spiders.messages import download_of
from langfocus.crawler.spiders.scrapy_settings import config_of
from tests.crawler.spiders.test_crawl_settings import scrapy_settings
from tests.support.crawls import crawl, environment, rows, summary
from tests.support.nameserver import name_server
from tests.support.smallweb import SENTENCES

HTML = (("Content-Type", "text/html; charset=utf-8"),)


@dataclass
class GivenWeb:
    """Answers by URL, then by path; any other page has no links, any robots.txt no rules."""

    answers: dict[str, Answer] = field(default_factory=dict)

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        path = "/" + url.split("/", 3)[3]
        missing = Answer(404) if path == "/robots.txt" else Answer(200, HTML, b"<p>leer</p>")
        return self.answers.get(url) or self.answers.get(path, missing)


def linking(*urls: str) -> Answer:
    return Answer(200, HTML, "".join(f'<a href="{url}">x</a>' for url in urls).encode())


def moved(url: str) -> Answer:
    return Answer(302, (("Location", url),))


@contextmanager
def served(**answers: Answer) -> Iterator[tuple[GivenWeb, Proxy]]:
    web = GivenWeb({f"/{path}": answer for path, answer in answers.items()})
    with loopback(web) as server:
        yield web, server


def polite(
    folder: Path,
    *seeds: str,
    names: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    **settings: Any,
) -> CompletedProcess[str]:
    """Crawl from `seeds`, with `names` for all the names there are and more `arguments`."""
    chosen: dict[str, Any] = {
        "JOBDIR": folder,
        "DOWNLOAD_DELAY": 0,
        "LANGFOCUS_RETRY_DELAY": 0,
    }
    given = ",".join(seeds)
    crawled = ("lang=de", "strategy=bfs", f"seeds={given}", *arguments)
    with name_server(names or {}) as server:
        return crawl(*crawled, **{**chosen, "LANGFOCUS_DNS": server.address, **settings})


def outcomes(folder: Path) -> dict[str, str]:
    return dict(rows(folder, "SELECT url, outcome FROM pages"))


# The bot's name.


def test_a_live_crawl_without_a_contact_warns_once_and_names_the_project(tmp_path: Path) -> None:
    with served() as (_, server):
        done = polite(tmp_path, "http://a.de/", proxy=server.url, LANGFOCUS_CONTACT=None)
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if "contact" in line.lower()]
    assert "WARNING" in line
    assert "-s LANGFOCUS_CONTACT=you@example.org" in line
    assert {access.user_agent for access in server.log} == {USER_AGENT}
    assert USER_AGENT.startswith("langfocus/")


def bot_of(web: str = "live", **given: str) -> BotName:
    return config_of({"lang": "de", "web": web}, scrapy_settings(**given)).bot


@pytest.mark.parametrize(
    "contact", ["me", "http://localhost", "a@b", "a@b.de\r\nX: y", "ftp://b.de"]
)
def test_a_contact_is_an_address_or_a_url(contact: str) -> None:
    with pytest.raises(SettingError, match="an e-mail address or an http"):
        bot_of(LANGFOCUS_CONTACT=contact)


BROWSER = "Mozilla/5.0 (compatible; {}/1; +https://b.de/)"


@pytest.mark.parametrize(
    ("given", "contact", "sent", "obeyed", "advice"),
    [
        (None, None, USER_AGENT, "langfocus", "-s LANGFOCUS_CONTACT="),
        (None, "", USER_AGENT, "langfocus", "-s LANGFOCUS_CONTACT="),
        ("my/1.0", None, "my/1.0", "my", "USER_AGENT=my/1.0 has no contact"),
        ("my/1.0", "a@b.de", "my/1.0", "my", "USER_AGENT=my/1.0 has no contact"),
        (None, "a@b.de", f"{USER_AGENT} (+a@b.de)", "langfocus", ""),
        (None, "https://b.de/?a=1", f"{USER_AGENT} (+https://b.de/?a=1)", "langfocus", ""),
        ("my-bot/1 (a@b.de)", None, "my-bot/1 (a@b.de)", "my-bot", ""),
        (BROWSER.format("MyBot"), None, BROWSER.format("MyBot"), "MyBot", ""),
        (BROWSER.format("MJ12bot"), None, BROWSER.format("MJ12bot"), "MJ12bot", ""),
    ],
)
def test_the_contact_is_sent_the_product_obeys_and_who_names_nobody_is_told_how_to(
    given: str | None, contact: str | None, sent: str, obeyed: str, advice: str
) -> None:
    names = {"USER_AGENT": given, "LANGFOCUS_CONTACT": contact}
    chosen = {name: value for name, value in names.items() if value is not None}
    bot = bot_of(**chosen)
    assert (bot.user_agent, bot.robots_name) == (sent, obeyed)
    assert advice in bot.advice
    assert len(bot.advice.splitlines()) == bool(advice)
    assert bot_of("sample", **chosen) == replace(bot, advice="")
    assert bot_of(**chosen, ROBOTSTXT_USER_AGENT="other").robots_name == "other"


# The crawl's own network.


@pytest.mark.parametrize("target", ["http://inside.example:{port}/x", "http://127.0.0.1:{port}/x"])
@pytest.mark.parametrize("path", ["robots.txt", "moved"])
def test_a_redirect_leads_into_no_private_network(target: str, path: str, tmp_path: Path) -> None:
    with served() as (inner_web, inner), served() as (web, proxy):
        web.answers[f"/{path}"] = moved(target.format(port=inner.port))
        done = polite(
            tmp_path,
            "http://a.de/moved",
            names={"inside.example": "127.0.0.1"},
            proxy=proxy.url,
            no_proxy="inside.example",
        )
    assert "Traceback" not in done.stderr
    assert inner_web.answers == {}
    assert inner.log == []
    if path == "moved":
        assert outcomes(tmp_path)[target.format(port=inner.port)] == "private_address"
    assert {access.url.split("/")[2] for access in proxy.log} == {"a.de"}


# Many hosts on one machine.


def test_hosts_with_one_address_are_contacted_a_few_at_once(tmp_path: Path) -> None:
    latency_s = 0.2
    names = {f"h{number}.example": "127.0.0.1" for number in range(12)}
    with loopback(GivenWeb(), latency_s) as server:
        seeds = [f"http://{name}:{server.port}/" for name in names]
        done = polite(
            tmp_path, *seeds, names=names, LANGFOCUS_PRIVATE_ADDRESSES=True, LANGFOCUS_PER_ADDRESS=3
        )
    assert done.returncode == 0, done.stderr
    assert outcomes(tmp_path) == dict.fromkeys(seeds, "page")
    asked = Counter(access.url for access in server.log)
    assert asked == Counter({u + path for u in seeds for path in ("", "robots.txt", TDMREP[1:])})
    times = [access.time for access in server.log]
    # The fourth comes once the first was answered.
    gaps = [later - first for first, later in zip(times, times[3:], strict=False)]
    assert min(gaps) > latency_s - 0.01
    assert rows(tmp_path, "SELECT value FROM counts WHERE name = 'retried'") == []


# Servers that want a rest.


@pytest.mark.parametrize(
    ("expected", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Sun, 06 Nov 1994 08:51:37 GMT", 120.0),
        ("Sunday, 06-Nov-94 08:51:37 GMT", 120.0),
        ("Sun Nov  6 08:51:37 1994", 120.0),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("\u0662", None),
        ("1e9", None),
        ("9" * 400, float("inf")),
        ("Sun, 06 Nov 99999 08:51:37 GMT", None),
        ("", None),
        (None, None),
    ],
)
def test_a_retry_after_is_a_number_or_a_date(expected: str | None, seconds: float | None) -> None:
    headers = {} if expected is None else {"Retry-After": expected}
    response = Response("http://a.de/", 503, headers)
    assert download_of(response, 784_111_777.0).retry_after_s == seconds


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_rests_as_long_as_it_asks_for(status: int, tmp_path: Path) -> None:
    busy = Answer(status, (("Retry-After", "1"),))
    with served(busy=busy) as (_, server):
        polite(
            tmp_path,
            "http://a.de/busy",
            "http://a.de/",
            "http://b.de/",
            proxy=server.url,
            RETRY_TIMES=1,
        )
    tries = [access.time for access in server.log if access.url == "http://a.de/busy"]
    assert len(tries) == 2
    assert tries[1] - tries[0] >= 1.0
    others = [a.time for a in server.log if a.url == "http://a.de/"]
    assert not any(tries[0] < time < tries[0] + 1.0 for time in others)


# robots.txt.


def rules(text: str, status: int = 200) -> Answer:
    return Answer(status, (("Content-Type", "text/plain"),), text.encode())


FORBIDDING = "User-agent: *\nDisallow: /\n"


ROBOTS = {
    "plain": (rules(FORBIDDING), "robots"),
    "mark": (rules("\ufeff" + FORBIDDING), "robots"),
    "large": (rules(FORBIDDING + "#" * 3_000_000), "robots"),
    "film": (Answer(200, (("Content-Type", "video/mp4"),), FORBIDDING.encode() * 9999), "robots"),
    "named": (rules(FORBIDDING.replace("*", "LangFocus")), "robots"),
    "other": (rules(FORBIDDING.replace("*", "example")), "page"),  # a word of the contact
    "missing": (rules(FORBIDDING, 404), "page"),
    "closed": (rules(FORBIDDING, 403), "page"),
    "broken": (rules("", 500), "robots_unreachable"),
    "busy": (rules("", 429), "robots_unreachable"),
    "moved": (moved("/rules"), "robots"),
    "loop": (moved("/again"), "page"),
    "file": (moved("file:///etc/passwd"), "page"),
    "data": (moved("data:text/plain,User-agent:%20*%0ADisallow:%20/"), "page"),
    "inside": (moved("http://127.0.0.1/robots.txt"), "robots_unreachable"),
}
"""Host -> its robots.txt and what becomes of its page (RFC 9309, 2.3.1)."""


def test_robots_txt_is_heeded_whatever_comes_of_it(tmp_path: Path) -> None:
    with served() as (web, server):
        web.answers = {"/rules": rules(FORBIDDING), "/again": moved("/again")}
        for host, (answer, _) in ROBOTS.items():
            web.answers[f"http://{host}.de/robots.txt"] = answer
        seeds = [f"http://{host}.de/" for host in ROBOTS]
        polite(tmp_path, *seeds, proxy=server.url, RETRY_TIMES=1)
    expected = {f"http://{host}.de/": outcome for host, (_, outcome) in ROBOTS.items()}
    assert outcomes(tmp_path) == expected
    asked = Counter(access.url for access in server.log)
    assert {url for url in seeds if asked[url]} == {u for u in seeds if expected[u] == "page"}
    tries = {host: asked[f"http://{host}.de/robots.txt"] for host in ROBOTS}
    assert tries == dict.fromkeys(ROBOTS, 1) | {"broken": 2, "busy": 2}
    assert asked["http://loop.de/again"] == 1


def test_a_host_where_the_rules_of_others_lie_is_asked_no_faster_than_its_delay(
    tmp_path: Path,
) -> None:
    delay_s, guests = 0.2, [f"guest{number}.de" for number in range(5)]
    with served() as (web, server):
        for guest in guests:
            web.answers[f"http://{guest}/robots.txt"] = moved(f"http://hub.de/{guest}.txt")
            web.answers[f"http://hub.de/{guest}.txt"] = rules(FORBIDDING)
        seeds = [f"http://{host}/" for host in ("hub.de", *guests)]
        seeds += [f"http://hub.de/{number}" for number in range(5)]
        polite(tmp_path, *seeds, proxy=server.url, DOWNLOAD_DELAY=delay_s)
    outcomes_found = outcomes(tmp_path)
    assert {outcomes_found[f"http://{guest}/"] for guest in guests} == {"robots"}
    times = [access.time for access in server.log if access.url.startswith("http://hub.de/")]
    assert len(times) == 13
    assert min(b - a for a, b in pairwise(times)) >= delay_s


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
    figures = summary(tmp_path)
    # The robots.txt of hosts that are asked at last take slots too.
    assert figures["outcomes"] == {"domain_full": 32, "page": 19}
    assert figures["counts"]["lowered"] >= 18
    assert "URLs beyond the cap of their domain" in done.stdout


# tdmrep.json.

TDMREP = "/.well-known/tdmrep.json"
OUT = ["tdm-reservation=1"]
RESERVED = Answer(200, HTML, b'[{"location":"/","tdm-reservation":1}]')
GERMAN = Answer(200, HTML, f"<p>{SENTENCES['de'] * 3}</p><a href='/2'>x</a>".encode())
ENGLISH = Answer(200, HTML, f"<p>{SENTENCES['en'] * 3}</p>".encode())
LICENSE = b"""<rsl><content url="/"><license><prohibits type="usage">all</prohibits></license>
</content></rsl>"""
HUGE = Answer(200, (), RESERVED.body + b" " * 3_000_000)
PACKED = Answer(200, (("Content-Encoding", "gzip"),))
SITES = {
    "plain": (RESERVED, GERMAN, 1, OUT),
    "english": (RESERVED, ENGLISH, 1, OUT),
    "missing": (replace(RESERVED, status=404), GERMAN, 1, None),
    "broken": (Answer(500), GERMAN, 1, None),
    "moved": (moved("http://www.moved.de/t.json"), GERMAN, 1, OUT),
    "loop": (moved(TDMREP), GERMAN, 1, None),
    "away": (moved("http://plain.de/t.json"), GERMAN, 1, None),
    "inside": (moved("http://127.0.0.1/t.json"), GERMAN, 1, None),
    "huge": (HUGE, GERMAN, 1, None),
    "bomb": (PACKED, GERMAN, 1, None),
    "header": (RESERVED, replace(GERMAN, headers=(*HTML, ("TDM-Reservation", "0"))), 1, OUT),
    "closed": (RESERVED, GERMAN, 0, None),
    "licensed": (Answer(404), GERMAN, 1, None),
}
"""Host -> its tdmrep.json, its page, the requests for the file and the statements of it."""


def test_hosts_are_asked_for_their_reservations_before_their_first_page(tmp_path: Path) -> None:
    with served() as (web, server):
        web.answers = {"/t.json": RESERVED, "/2": GERMAN}
        web.answers["http://closed.de/robots.txt"] = rules("User-agent: *\nDisallow: /.well-known/")
        web.answers["http://licensed.de/robots.txt"] = rules("License: http://www.licensed.de/rsl")
        web.answers["http://www.licensed.de/rsl"] = Answer(200, (), LICENSE)
        for host, (file, page, _, _) in SITES.items():
            web.answers |= {f"http://{host}.de{TDMREP}": file, f"http://{host}.de/": page}
        bomb = replace(PACKED, body=compress(b"[" * 99_000_000, 1))
        web.answers[f"http://bomb.de{TDMREP}"] = bomb
        seeds = [f"http://{host}.de/" for host in SITES]
        polite(tmp_path, *seeds, arguments=["host_cap=2"], proxy=server.url, DOWNLOAD_DELAY=0.05)
    asked = Counter(access.url for access in server.log)
    for host, (_, _, times, statements) in SITES.items():
        assert (host, asked[f"http://{host}.de{TDMREP}"]) == (host, times)
        outcomes_found = rows(
            tmp_path, f"SELECT outcome, directives FROM pages WHERE host = '{host}.de'"
        )
        found = [(out, json.loads(text or "{}").get("tdmrep.json")) for out, text in outcomes_found]
        assert (host, found) == (host, [("page", statements)] * (1 if host == "english" else 2))
        times_of = [access.time for access in server.log if f"/{host}.de" in access.url]
        assert all(later - first >= 0.05 for first, later in pairwise(times_of))
        asked_in_turn = [access.url for access in server.log if f"/{host}.de" in access.url]
        assert asked_in_turn[0].endswith("/robots.txt")
        assert asked_in_turn[-1].endswith(("/", "/2"))
    assert asked["http://www.moved.de/t.json"] == asked["http://www.licensed.de/rsl"] == 1
    [(outcomes_found,)] = rows(
        tmp_path, "SELECT DISTINCT directives FROM pages WHERE host = 'licensed.de'"
    )
    assert json.loads(outcomes_found) == {
        "robots.txt": ["license: http://www.licensed.de/rsl", "license-prohibits: all"]
    }
    export = "langfocus", "export", str(tmp_path), "--output", str(tmp_path / "texts.jsonl")
    exported = processes.run(*export, environment=environment(None))
    assert exported.returncode == 0, exported.stderr
    # Two pages of each, but one of "header" is open, and "english" is in another language.
    left_out = 2 * (len([host for host in SITES if SITES[host][3] == OUT] + ["licensed"]) - 1) - 1
    assert re.search(rf"reserved from text and data mining\W+{left_out}\b", exported.stdout)
    assert not asked["http://plain.de/t.json"] + asked["http://127.0.0.1/t.json"]
    reserved = [host for host in SITES if SITES[host][3] or host == "licensed"]
    # One page of "header" is open, and "english" has one page.
    assert summary(tmp_path)["counts"]["opted_out"] == 2 * len(reserved) - 2
