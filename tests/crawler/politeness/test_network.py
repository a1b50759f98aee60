"""Which addresses and ports a crawl may contact, in every spelling that reaches them."""

import socket
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.crawler.politeness.network import (
    has_bad_port,
    is_private_address,
    is_private_host,
    is_private_url,
)
from langfocus.crawler.url import normalise

PRIVATE = """
127.0.0.1 127.1 127.0.1 0 0.0.0.0 2130706433 017700000001 0x7f000001 0x7F.1 0177.0.0.1 0x7f.0x0.0.1
127%2e0.0.1 ①②⑦.0.0.1 127。0。0。1 127.0.0.1.
10.0.0.1 10.1 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257 3232235777 169.254.169.254
100.64.0.1 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
239.255.255.250 240.0.0.1 255.255.255.255
[::1] ::1 [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [::127.0.0.1] [fe80::1]
[fe80::1%25eth0] [fe80::1%eth0] [fc00::1] [fd12:3456::1] [fec0::1] [ff02::1] [2001:db8::1]
[64:ff9b::7f00:1] [64:ff9b::a00:1] [64:ff9b:1::1] [2002:7f00:1::1] [2002:c0a8:101::1] [1:2] [x:y]
192.0.0.8 192.0.0.9 [3fff::1] [3fff:fff::1] [5f00::1] [::ffff:0:7f00:1] [::ffff:0:808:808]
[100:0:0:1::1] [100::1] [4000::1] [8000::1] [e000::1] [2001::1] [2001:2::1] [2001:20::1]
[64:ff9b:1:a00:1::] [2002:a00:1::] [::ffff:0.1.2.3] [64:ff9b::0.1.2.3] 0.1.2.3 0.255 0x0.1 000.1
localhost LOCALHOST localhost. www.localhost printer.local nas.home.arpa metadata.google.internal
nas.lan LAN. dc01.corp mail.ad.corp pi.home intranet.firma.intranet box.private srv.localdomain
fritz.box www.fritz.box FRITZ.BOX. myfritz.fritz.box speedport.ip fritz%2ebox nas.\uff4c\uff41\uff4e
intranet wiki 4294967296
""".split()

PUBLIC = """
8.8.8.8 134744072 0x08080808 010.8.8.8 1.1 93.184.216.34 172.32.0.1 11.0.0.1 192.169.0.1
[2001:4860:4860::8888] [2606:4700::1111] [3ffe::1] [3fff:1000::1]
[::ffff:8.8.8.8] [64:ff9b::808:808] [2002:808:808::1]
example.org www.example.de xn--bcher-kva.example.de localhost.de mylocal.example.com
local.example.com 127.0.0.1.example.com 10.example.com 1and1.com a.b
lan.de home.com corp.example.org my.box notfritz.box fritz.box.de fritz.boxes a.homes b.lanxess
""".split()


@pytest.mark.parametrize("host", [*PRIVATE, *PUBLIC])
def test_hosts_of_networks_of_their_own_are_told_from_those_of_the_internet(host: str) -> None:
    assert is_private_host(host) is is_private_url(f"http://{host}/") is (host in PRIVATE)


@pytest.mark.parametrize(
    ("url", "is_private"),
    [
        ("http://127.0.0.1:8000/a", True),
        ("https://[::1]/", True),
        ("http://user@localhost/?x=http://a.de/", True),
        ("http:///a", True),
        ("http://[::1/", True),
        ("http://a.de:8000/?x=http://127.0.0.1/", False),
    ],
)
def test_a_url_is_judged_by_its_host(url: str, is_private: bool) -> None:
    assert is_private_url(url) is is_private


@pytest.mark.parametrize(
    ("end", "is_bad"),
    [
        *((f":{port}/", True) for port in (0, 22, 25, 6000, 6667, 10080)),
        (":25", True),
        *((end, False) for end in ("/", ":8080/", ":25000/", ":8025/", "/talk:25/")),
        ("/?next=http://b.de:25/", False),
    ],
)
@pytest.mark.parametrize("host", ["http://a.de", "https://[2001:db8::25]"])
def test_ports_of_other_protocols_are_refused_as_in_browsers(
    host: str, end: str, is_bad: bool
) -> None:
    assert has_bad_port(host + end) is is_bad


@given(st.ip_addresses(v=4), st.sampled_from(["{}", "{:#x}", "0{:o}"]))
def test_the_spelling_of_an_address_changes_nothing(ip: IPv4Address, spelling: str) -> None:
    assert is_private_host(spelling.format(int(ip))) == is_private_address(ip)
    parts = ".".join(spelling.format(part) for part in ip.packed)
    assert is_private_host(parts) == is_private_address(ip)


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_like_itself(ip: IPv4Address) -> None:
    high, low = int(ip) >> 16, int(ip) & 0xFFFF
    for spelling in (f"::ffff:{ip}", f"64:ff9b::{high:x}:{low:x}", f"2002:{high:x}:{low:x}::1"):
        assert is_private_address(spelling) == is_private_address(ip)


@given(st.from_regex(r"[0-9a-fx.]{1,16}", fullmatch=True))
def test_what_the_system_takes_for_a_private_address_is_one(text: str) -> None:
    try:
        understood = socket.inet_ntoa(socket.inet_aton(text))
    except OSError:
        return
    if is_private_address(understood):
        assert is_private_host(text)


LINKED = """
127.1 0x7f.1 0177.0.0.1 2130706433 017700000001 %31%32%37.0.0.1 \uff11\uff12\uff17.0.0.1
127\u30020\u30020\u30021 127.0.0.1. 0xA9FEA9FE 192.168.257 [::ffff:10.0.0.1] [0:0:0:0:0:ffff:7f00:1]
l\u00adocalhost \u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3 me@127.1
""".split()


@pytest.mark.parametrize("host", [*LINKED, "exa\tmple@0x7f.1"])
def test_no_spelling_of_a_private_address_passes_as_a_link(host: str) -> None:
    for link in (f"http://{host}/", f"//{host}", f"\\\\{host}\\x", f"https:{host}"):
        url = normalise(link, "http://public.example.org/")
        assert url is not None
        assert is_private_url(url)
