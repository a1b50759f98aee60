import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from html import unescape
from urllib.parse import quote, urldefrag, urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.crawler.errors import SettingError
from langfocus.crawler.sources.contract import Answer, Unreachable
from langfocus.crawler.sources.sample import SampleWeb

HREF = re.compile(r'<a href="([^"]+)"')
BASE = re.compile(r'<base href="([^"]+)"')
FAR_MONTH = re.compile(r"/calendar/(?!2024/0)")


@cache
def web() -> SampleWeb:
    return SampleWeb()


@cache
def outcomes() -> dict[str, Answer | str]:
    """Every URL that can be reached from the seeds of any language, months of a year apart."""
    seeds = [seed for language in web().languages for seed in web().seeds(language)]
    return {url: ask(url) for url in reached_from(seeds)}


@cache
def ask(url: str) -> Answer | str:
    try:
        return web().respond(url)
    except Unreachable as failure:
        return failure.reason


@cache
def links(url: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(targets(url, ask(url))))


def targets(url: str, outcome: Answer | str) -> Iterator[str]:
    if isinstance(outcome, str):
        return
    if location := outcome.header("Location"):
        yield urljoin(url, location)
    elif outcome.status == 200 and outcome.body and is_html(outcome):
        html = outcome.body.decode("utf-8", "replace")
        base = BASE.search(html)
        for href in HREF.findall(html):
            target = urldefrag(urljoin(base[1] if base else url, unescape(href)))[0]
            if target.startswith("http") and not FAR_MONTH.search(target):
                yield quote(target, safe="".join(map(chr, range(33, 127))))


def is_html(answer: Answer) -> bool:
    return (answer.header("Content-Type") or "").startswith("text/html")


def reached_from(seeds: list[str]) -> set[str]:
    reached, waiting = set(seeds), list(seeds)
    while waiting:
        fresh = set(links(waiting.pop())) - reached
        reached |= fresh
        waiting += fresh
    return reached


def test_the_default_web_is_the_one_of_all_published_figures() -> None:
    digest = blake2b(digest_size=8)
    digest.update(repr(list(web().truth())).encode())
    files = {f"{host.root}/robots.txt": ask(f"{host.root}/robots.txt") for host in web().hosts}
    for url, outcome in sorted((outcomes() | files).items()):
        fate = outcome if isinstance(outcome, str) else (outcome.status, outcome.headers)
        digest.update(repr((url, fate)).encode())
        digest.update(b"" if isinstance(outcome, str) else outcome.body)
    assert digest.hexdigest() == "164077f64b071b32"


def location(outcome: Answer | str) -> str | None:
    return None if isinstance(outcome, str) else outcome.header("Location")


def test_the_calendar_has_no_end() -> None:
    host = next(host for host in web().hosts if host.calendar)
    url = f"{host.root}/calendar/9999/12"
    assert b"/calendar/10000/01" in web().respond(url).body
    assert web().respond(f"{host.root}/calendar/2024/13").status == 404


def test_names_and_schemes_that_are_not_the_hosts_own_redirect_or_refuse() -> None:
    secure = next(host for host in web().hosts if host.secure)
    plain = next(host for host in web().hosts if not host.secure)
    assert location(ask(f"http://{secure.name}/a?b=c")) == f"{secure.root}/a?b=c"
    assert location(ask(f"http://{plain.alias}/")) == f"{plain.root}/"
    assert ask(f"https://{plain.name}/") == "refused"
    assert ask("http://nowhere.example/") == "dns"


def test_without_https_every_page_is_plain() -> None:
    assert all(url.startswith("http://") for url, _ in SampleWeb(hosts=80, secure=0.0).truth())


def test_what_cannot_be_made_is_refused() -> None:
    for hosts, secure in ((0, 0.3), (10, 1.5)):
        with pytest.raises(SettingError, match="give at least 1 host"):
            SampleWeb(hosts=hosts, secure=secure)
    with pytest.raises(SettingError, match=r"'xx'.*ar, cs, de"):
        web().seeds("xx")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40), st.sampled_from(("http://", "https://", "")))
def test_any_url_gets_an_answer_or_is_unreachable(rest: str, scheme: str) -> None:
    outcome = ask(scheme + rest)
    assert outcome == "dns" or isinstance(outcome, Answer)
