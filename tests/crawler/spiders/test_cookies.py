"""With COOKIES_ENABLED a server gets its cookies back, and nobody else is asked anything."""

import socket

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from langfocus.crawler.spiders.middlewares import MOST_COOKIE_BYTES, Cookies


def test_a_cookie_is_sent_back_without_a_list_from_the_internet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    cookies = Cookies.from_crawler(get_crawler(settings_dict={"COOKIES_ENABLED": True}))
    asked = Request("http://www.a.co.uk/")
    cookies_set = [b"own=1; Domain=a.co.uk", b"all=1; Domain=co.uk", b"other=1; Domain=b.de"]
    cookies.process_response(asked, Response(asked.url, headers={"Set-Cookie": cookies_set}))
    again = Request("http://a.co.uk/x")
    cookies.process_request(again)
    assert again.headers.get("Cookie") == b"own=1"


def test_a_host_cannot_fill_the_requests_to_the_others_of_its_domain() -> None:
    cookies = Cookies.from_crawler(get_crawler(settings_dict={"COOKIES_ENABLED": True}))

    def set_cookies(url: str, *values: str) -> None:
        asked = Request(url)
        cookies.process_response(asked, Response(url, headers={"Set-Cookie": list(values)}))

    def sent(url: str) -> bytes:
        asked = Request(url)
        cookies.process_request(asked)
        return asked.headers.get("Cookie") or b""

    set_cookies("http://good.a.de/", "own=1")
    for number in range(40):
        many = (f"c{number}_{each}=1; Domain=a.de; Path=/{'x' * (each % 2)}" for each in range(999))
        set_cookies(f"http://h{number}.a.de/", *many)
        assert len(sent("http://good.a.de/")) <= MOST_COOKIE_BYTES
    for number in range(40):
        set_cookies("http://www.b.de/", *(f"c{number}_{each}=1" for each in range(99)))
        assert len(sent("http://www.b.de/")) <= MOST_COOKIE_BYTES
    set_cookies("http://good.a.de/", f"large={'x' * 9000}", "later=1")
    assert b"own=1" in sent("http://good.a.de/")
    assert b"large" not in sent("http://good.a.de/")
    held = [one for jar in cookies.jars.values() for one in jar.jar]
    assert len(held) < MOST_COOKIE_BYTES / 64
