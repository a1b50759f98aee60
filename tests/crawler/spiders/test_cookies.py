"""With COOKIES_ENABLED a server gets its cookies back, and nobody else is asked anything."""

import socket

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from langfocus.crawler.spiders.middlewares import Cookies


def test_a_cookie_is_sent_back_without_a_list_from_the_internet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    cookies = Cookies.from_crawler(get_crawler(settings_dict={"COOKIES_ENABLED": True}))
    asked = Request("http://www.a.co.uk/")
    told = [b"own=1; Domain=a.co.uk", b"all=1; Domain=co.uk", b"other=1; Domain=b.de"]
    cookies.process_response(asked, Response(asked.url, headers={"Set-Cookie": told}))
    again = Request("http://a.co.uk/x")
    cookies.process_request(again)
    assert again.headers.get("Cookie") == b"own=1"
