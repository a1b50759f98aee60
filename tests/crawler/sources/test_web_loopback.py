import urllib.request
from http.client import HTTPConnection
from urllib.error import HTTPError

import pytest

from crawler.sources.sample import SampleWeb
from tests.support.loopback import loopback


def fetch(proxy: str, url: str, **headers: str) -> tuple[int, bytes]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    request = urllib.request.Request(url, headers=headers)
    try:
        with opener.open(request, timeout=10) as response:
            return response.status, response.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def test_the_proxy_answers_as_the_web_does_and_logs_who_asked() -> None:
    web = SampleWeb(hosts=80, secure=0.0)
    urls = web.seeds("de")
    with loopback(web) as proxy:
        for url in urls:
            headers = {"User-Agent": "tester", "Accept-Language": "de"}
            assert fetch(proxy.url, url, **headers) == (200, web.respond(url).body)
        assert [access.url for access in proxy.log] == urls
        assert {a.user_agent + a.accept_language for a in proxy.log} == {"testerde"}
        assert {(access.method, access.status) for access in proxy.log} == {("GET", 200)}


def test_an_unreachable_host_is_a_bad_gateway() -> None:
    with loopback(SampleWeb(hosts=80)) as proxy:
        assert fetch(proxy.url, "http://nowhere.example/")[0] == 502


def test_a_connection_is_kept_for_several_requests() -> None:
    web = SampleWeb(hosts=80, secure=0.0)
    with loopback(web) as proxy:
        connection = HTTPConnection("127.0.0.1", proxy.port, timeout=10)
        for url in web.seeds("fr"):
            connection.request("GET", url)
            assert connection.getresponse().read() == web.respond(url).body
        connection.request("HEAD", web.seeds("fr")[0])
        assert connection.getresponse().read() == b""
        connection.close()
        assert len(proxy.log) == 4


def test_https_does_not_pass() -> None:
    with loopback(SampleWeb(hosts=80)) as proxy:
        connection = HTTPConnection("127.0.0.1", proxy.port, timeout=10)
        connection.set_tunnel("a.de", 443)
        with pytest.raises(OSError, match="501"):
            connection.request("GET", "/")
        connection.close()
