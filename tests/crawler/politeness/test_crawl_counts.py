"""Requests that are no pages: by the log of the servers none is sent more often than is counted."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks.servers.hostileserver import (
    PAGE,
    Behaviour,
    Exchange,
    Hostile,
    answer,
    computes,
    hostile_web,
)
from tests.support.crawls import crawl, rows

OUTCOMES = "SELECT outcome, COUNT(*) FROM pages GROUP BY outcome"


def crawled(
    folder: Path, hosts: Mapping[str, Behaviour], *arguments: str, **settings: object
) -> Hostile:
    """Crawl hosts, all of which have a robots.txt, with nobody to wait for."""
    hurried = {"DOWNLOAD_DELAY": 0, "LANGFOCUS_RETRY_DELAY": 0, "JOBDIR": folder}
    with hostile_web(hosts, robots_of=lambda _: True) as proxy:
        done = crawl("lang=de", *arguments, proxy=proxy.url, **{**hurried, **settings})
    assert (folder / "summary.json").exists(), done.stderr
    return proxy


def outcomes(folder: Path) -> dict[str, int]:
    return dict(rows(folder, OUTCOMES))


async def closing(exchange: Exchange) -> None:
    """Answer the first page of a connection, and close it at the request for a second one."""
    if exchange.path in ("robots.txt", ".well-known/tdmrep.json"):
        await exchange.send(answer(b""))
    elif not exchange.number:
        exchange.keeps_open = True
        links = b"".join(b"<a href='/%d'>x</a>" % n for n in range(8))
        await exchange.send(answer(links + PAGE).replace(b"Connection: close", b"Connection: -"))


def test_a_request_is_sent_once_where_reused_connections_close(tmp_path: Path) -> None:
    proxy = crawled(tmp_path, {"a.de": closing}, "seeds=http://a.de/", RETRY_TIMES=0)
    sent = Counter(path for _, path in proxy.log)
    assert len(sent) > 5
    assert set(sent.values()) == {1}
    # One of two connections is new.
    assert outcomes(tmp_path)["unreachable"] >= 3


FORBIDS = answer(b"User-agent: *\nDisallow: /\n", kind=b"text/plain")


def test_a_host_to_which_others_redirect_robots_txt_is_asked_for_each_file_once(
    tmp_path: Path,
) -> None:
    guests, all_came = set[int](), asyncio.Event()

    async def victim(asked: Exchange) -> None:
        if asked.path == "robots.txt":  # it answers when all others wait for it
            await all_came.wait()
        await asked.send(FORBIDS)

    def guest(asked: Exchange) -> bytes:
        if asked.path != "robots.txt":
            return answer(PAGE)
        number = int(asked.host[1:-3])
        guests.add(number)
        if len(guests) == 30:
            all_came.set()
        target = b"robots.txt" if number < 10 else b"rules/%d" % number
        return answer(b"", b"Location: http://b.de/" + target, status=b"302 -")

    hosts = {f"a{n}.de": computes(guest) for n in range(30)}
    seeds = f"seeds={','.join(f'http://{host}/' for host in hosts)}"
    proxy = crawled(tmp_path, {**hosts, "b.de": victim}, seeds)
    asked = Counter(path for host, path in proxy.log if host == "b.de")
    assert asked["robots.txt"] == 1
    assert len(asked) == 7
    assert asked.total() == 7
    assert outcomes(tmp_path) == {"robots": 16, "origins_full": 14}


def test_the_robots_txt_of_a_broken_host_is_tried_as_often_as_one_url(tmp_path: Path) -> None:
    asked: list[str] = []

    def waking(exchange: Exchange) -> bytes:
        asked.append(exchange.path)
        is_awake = len(asked) > 1
        body = b"User-agent: *\nDisallow: /1\n" if exchange.path == "robots.txt" else PAGE
        return answer(body) if is_awake else answer(b"", status=b"503 -")

    hosts = {"a.de": computes(lambda _: answer(b"", status=b"503 -")), "b.de": computes(waking)}
    urls = ",".join(f"http://{host}/{n}" for host in hosts for n in range(10))
    proxy = crawled(tmp_path, hosts, "strategy=random", f"seeds={urls}", RETRY_TIMES=2)
    assert [path for host, path in proxy.log if host == "a.de"] == ["robots.txt"] * 3
    assert outcomes(tmp_path) == {"robots_unreachable": 10, "page": 9, "robots": 1}
    assert asked[:2] == ["robots.txt"] * 2
