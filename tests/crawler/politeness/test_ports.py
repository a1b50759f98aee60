"""Ports of other protocols are refused, as in browsers."""

import pytest

from crawler.politeness.ports import has_bad_port


@pytest.mark.parametrize("port", [0, 22, 25, 6000, 6667, 10080])
@pytest.mark.parametrize("host", ["a.de", "[2001:db8::1]"])
def test_a_port_of_another_protocol_is_bad(host: str, port: int) -> None:
    assert has_bad_port(f"http://{host}:{port}/")
    assert has_bad_port(f"https://{host}:{port}")


@pytest.mark.parametrize(
    "url",
    [
        "http://a.de/",
        "http://a.de:8080/",
        "http://a.de:25000/",
        "https://[2001:db8::25]/",
        "http://[2001:db8::1]:8025/",
        "http://a.de/talk:25/",
        "http://a.de/?next=http://b.de:25/",
    ],
)
def test_another_port_and_a_number_elsewhere_are_not_bad(url: str) -> None:
    assert not has_bad_port(url)
