"""Which URLs are one page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.same_page import TRACKING, page_key
from crawler.url import fingerprint, normalise

HEX = "d467eae2e2b379fbffdf3f72b57009f3"
SESSION = "S(1b5kyjtkhxvxhyruzmi0xmwq)"


@pytest.mark.parametrize(
    "url",
    [
        f"http://a.de/x?sid={HEX}",
        f"http://a.de/x?s={HEX}",
        f"http://a.de/x?PHPSESSID={HEX[:26]}",
        f"http://a.de/x;jsessionid={HEX.upper()}.node1",
        f"http://a.de/x?PHPSESSID={HEX}?PHPSESSID={HEX}",
        "http://a.de/x?CFID=1234567&CFTOKEN=88776655",
        "http://a.de/x?ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM",
        f"http://a.de/({SESSION})/x",
        f"http://a.de/(A(1b5kyjtkhxvxhyruzmi0xmwq){SESSION})/x",
        f"http://a.de/x?BV_SessionID={HEX[:20]}",
        f"http://a.de/x?_sid={HEX}&__sessionID={HEX[:24]}",
    ],
)
def test_urls_that_differ_in_their_session_are_one_page(url: str) -> None:
    assert page_key(url) == "http://a.de/x"
    assert fingerprint(url) == fingerprint("http://a.de/x")


@pytest.mark.parametrize(
    "query",
    [
        "utm_source=x",
        "UTM_Medium=x&utm_campaign=y",
        "fbclid=IwAR0",
        "gclid=1&gclsrc=2",
        "mc_eid=1&_hsenc=2&hsCtaTracking=3",
        "utm_source",
    ],
)
def test_a_page_does_not_depend_on_where_the_visitor_came_from(query: str) -> None:
    assert page_key(f"http://a.de/x?{query}") == "http://a.de/x"
    assert page_key(f"http://a.de/x?id=7&{query}") == "http://a.de/x?id=7"


def test_names_of_tracking_parameters_are_in_lower_case() -> None:
    assert {name.lower() for name in TRACKING} == TRACKING


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.de/x?b=1&a=2", "http://a.de/x?a=2&b=1"),
        ("http://a.de//x///y", "http://a.de/x/y"),
        (f"http://a.de/x?f=3&sid={HEX}&t=4", "http://a.de/x?t=4&f=3"),
        (f"http://a.de/x;jsessionid={HEX}?f=3", "http://a.de/x?f=3"),
    ],
)
def test_other_spellings_of_a_page_are_one_page(one: str, other: str) -> None:
    assert page_key(one) == page_key(other)


@pytest.mark.parametrize(
    "query",
    [
        "s=berlin",
        "sid=42",
        f"sid={HEX[:31]}",
        "session_id=17",
        f"article={HEX}",
        f"is={HEX}",
        "a=&s=",
        "source=a&utmost=b",
        "campaign=x&ref=y",
        "u=http://b.de//x",
        "a=2&a=1",
        "a",
    ],
)
def test_a_parameter_that_may_mean_a_page_is_not_ignored(query: str) -> None:
    url = f"http://a.de/x?{query}"
    assert page_key(url) == url


@pytest.mark.parametrize("other", ["http://a.de/X", "http://a.de/x/", "https://a.de/x"])
def test_pages_at_other_addresses_are_other_pages(other: str) -> None:
    assert page_key(other) != page_key("http://a.de/x")


PARAMETERS = st.sampled_from(
    ["a=1", "a=2", "b", "utm_x=1", f"sid={HEX}", "gclid=", "?", f"PHPSESSID={HEX}", ";", "x=a/b"]
)


@given(
    st.lists(st.sampled_from(["x", "", "(y)", f"({SESSION})", f";jsessionid={HEX}"]), max_size=6),
    st.lists(PARAMETERS, max_size=6),
)
def test_the_key_of_a_key_is_the_key(segments: list[str], parameters: list[str]) -> None:
    normal = normalise("http://a.de/" + "/".join(segments) + "?" + "&".join(parameters)) or ""
    assert page_key(page_key(normal)) == page_key(normal)


@given(st.permutations(["a=1", "b=2", "c", "utm_id=3"]))
def test_the_order_of_parameters_does_not_matter(parameters: list[str]) -> None:
    assert page_key("http://a.de/?" + "&".join(parameters)) == "http://a.de/?a=1&b=2&c"


@given(st.text(), st.text())
def test_fingerprints_are_signed_64_bit_and_tell_keys_apart(one: str, other: str) -> None:
    assert -(2**63) <= fingerprint(one) < 2**63
    is_one_page = page_key(one) == page_key(other)
    assert (fingerprint(one) == fingerprint(other)) == is_one_page or max(one + other) >= "\ud800"
