"""The files tdmrep.json and the licenses of hosts, by their makers' and hostile ones."""

import json
from typing import Any

import pytest

from benchmarks.robotsstore import Store
from langfocus.crawler.politeness.directives import MAX_STATEMENT, is_reserved, opts_out
from langfocus.crawler.politeness.reservations import (
    MAX_LOCATION,
    MAX_RULES,
    Licenses,
    Reservations,
)
from langfocus.crawler.politeness.robots import MAX_AGE_S, MAX_ROBOTS_BYTES

POLICY = "https://provider.com/policies/policy.json"
OUT, IN = ("tdm-reservation=1",), ("tdm-reservation=0",)
LICENSED = (*OUT, f"tdm-policy={POLICY}")
WHOLE = '[{"location": "/", "tdm-reservation": 1}]'
GROUPS = json.dumps(
    [
        {"location": "/directory-a/", "tdm-reservation": 1},
        {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": POLICY},
        {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
    ]
)


def file(location: str, value: str = "1", more: str = "") -> bytes:
    return f'[{{"location": "{location}", "tdm-reservation": {value}{more}}}]'.encode()


@pytest.mark.parametrize(
    ("body", "path", "statements"),
    [
        # The examples of the report.
        (WHOLE, "/any/file.html?x=1", OUT),
        (GROUPS, "/directory-a/x.pdf", OUT),
        (GROUPS, "/directory-b/html/x.html", LICENSED),
        (GROUPS, "/directory-b/images/a/x.jpg", IN),
        (GROUPS, "/directory-b/images/x.png", ()),
        (GROUPS, "/Directory-A/x.pdf", ()),
        (GROUPS, "/", ()),
        (file("/path/foo-%24"), "/path/foo-$", OUT),
        (file("/this/path/exactly$"), "/this/path/exactly", OUT),
        (file("/this/path/exactly$"), "/this/path/exactly/not", ()),
        (file("/this/*/then"), "/this/and/then/more", OUT),
        (file("/a%62c/%E4%b8%ad"), "/%61bc/%e4%B8%AD.html", OUT),
        # The first rule that matches counts, also one without a valid value.
        ('[{"location": "/a", "tdm-reservation": 0},' + WHOLE[1:], "/a", IN),
        ('[{"location": "/a", "tdm-reservation": 2},' + WHOLE[1:], "/a", ()),
        ('[{"location": "/a"},' + WHOLE[1:], "/b", OUT),
        (file("/", "0", f', "tdm-policy": "{POLICY}"'), "/", IN),
        (file("/", "1", ', "tdm-policy": {"a": 1}'), "/", OUT),
        # What people write.
        (file("/", '"1"'), "/", OUT),
        (WHOLE[1:-1], "/", OUT),
        (file("https://a.de/b/"), "/b/c", OUT),
        (file("*"), "/b/c", OUT),
        ("\ufeff" + WHOLE, "/", OUT),
        (WHOLE.encode("utf-16"), "/", OUT),
        (file("/", '1, "note": "').replace(b'"}', b'"\xe4"}'), "/", OUT),
        (file("/", '0, "tdm-reservation": 1'), "/", OUT),
        # What is no file, or harms.
        (b"", "/", ()),
        (b"<!DOCTYPE html><p>not found", "/", ()),
        (WHOLE[:-1], "/", ()),
        ('["/", 1, null, {"location": 1}, {"location": ""}, [' + WHOLE + "]]", "/", ()),
        (file("/", "null"), "/", ()),
        ("[" * 100_000, "/", ()),
        ('{"a":' * 100_000, "/", ()),
        (file("/", "1" * 10_000), "/", ()),
        (WHOLE + " " * MAX_ROBOTS_BYTES, "/", ()),
        ("[" + '{"location": "/x"},' * MAX_RULES + WHOLE[1:], "/", ()),
        (file("/" + "a" * MAX_LOCATION), "/" + "a" * MAX_LOCATION, ()),
        (file("/" + "*a" * 490 + "$"), "/" + "a" * 1900, OUT),
        (file("/" + "*a" * 490 + "b"), "/" + "a" * 1900, ()),
    ],
)
def test_the_first_location_that_matches_a_path_decides(
    body: str | bytes, path: str, statements: tuple[str, ...]
) -> None:
    store, url = Store(), f"https://www.a.de{path}"
    Reservations(store).keep(url, body.encode() if isinstance(body, str) else body, 1.0)
    assert Reservations(store).of(url) == statements
    assert Reservations(store).of("https://b.de/") == ()


@pytest.mark.parametrize("body", [WHOLE.encode(), b""])
def test_a_host_is_asked_once_a_day_at_its_first_origin(body: bytes) -> None:
    store = Store()
    known, asked = Reservations(store), "http://www.a.de:81/.well-known/tdmrep.json"
    assert known.file_for("http://www.a.de:81/x?y#z", MAX_AGE_S) == asked
    known.keep("http://a.de/", body, MAX_AGE_S)
    for each in (known, Reservations(store)):
        assert {each.file_for(u, MAX_AGE_S) for u in ("https://a.de/", "http://a.de:1/")} == {None}
        assert each.file_for("http://www.a.de:81/", MAX_AGE_S * 1.9) is None
        assert each.file_for("http://www.a.de:81/", MAX_AGE_S * 2) == asked
        assert each.of("http://a.de/") == (OUT if body else ())
    store.set_robots("http://a.de/ tdmrep", "damaged", MAX_AGE_S)
    assert Reservations(store).file_for("http://www.a.de:81/", MAX_AGE_S) == asked


@pytest.mark.parametrize(
    ("file", "header", "page", "expected"),
    [
        (OUT, (), (), True),
        (OUT, IN, (), False),
        (IN, OUT, (), True),
        (OUT, OUT, IN, False),
        ((), IN, OUT, True),
        (OUT, ("tdm-reservation=2", "noarchive"), (), True),
        (IN, (), (*IN, *OUT), True),
    ],
)
def test_a_header_counts_more_than_the_file_and_a_page_more_than_both(
    file: tuple[str, ...], header: tuple[str, ...], page: tuple[str, ...], expected: bool
) -> None:
    sources = {"robots.txt": (), "tdmrep.json": file, "header": header, "page": page}
    assert is_reserved(sources) is opts_out(sources) is expected
    assert opts_out(sources | {"robots.txt": ("content-signal: ai-train=no",)})


def license_with(*contents: str) -> bytes:
    return f'<rsl xmlns="https://rslstandard.org/rsl">{"".join(contents)}</rsl>'.encode()


def content(location: str, prohibited: str = "", kind: str = "usage") -> str:
    prohibits = f'<prohibits type="{kind}">{prohibited}</prohibits>' if prohibited else ""
    return f'<content url="{location}"><license>{prohibits}</license></content>'


ALL, TRAINING = ("license-prohibits: all",), ("license-prohibits: ai-train",)


@pytest.mark.parametrize(
    ("body", "path", "statements"),
    [
        (license_with(content("/", "all")), "/x", ALL),
        (license_with(content("https://a.de/*", "all")), "/x?y", ALL),
        (license_with(content("http://b.de/", "all")), "/x", ()),
        (license_with(content("/", "AI-Train, of-another-version")), "/x", TRAINING),
        (license_with(content("/", "all"), content("/open/", "")), "/open/x", ()),
        (license_with(content("/open/", ""), content("/", "all")), "/x", ALL),
        (license_with(content("/*.pdf$", "all")), "/x.pdf", ALL),
        (license_with(content("/*.pdf$", "all")), "/x.pdf?y", ()),
        (license_with(content("/", "DE", "geo")), "/x", ()),
        (license_with(content("/" + "a" * MAX_LOCATION, "all")), "/" + "a" * MAX_LOCATION, ()),
        (license_with(*[content(f"/{n}/", "all") for n in range(MAX_RULES + 1)]), "/200/", ()),
        (license_with(content("/", "all")) + b" " * MAX_ROBOTS_BYTES, "/", ()),
        (license_with(content("/", "all"))[:-1], "/", ()),
        (b"", "/", ()),
        (b"<!DOCTYPE html><p>not found", "/", ()),
        (b"\xff\xfe\x00", "/", ()),
        (
            b'<!DOCTYPE rsl [<!ENTITY a "all"><!ENTITY b "&a;&a;">]>'
            + license_with(content("/", "&b;")),
            "/",
            (),
        ),
        (
            b'<!DOCTYPE rsl SYSTEM "file:///etc/passwd">' + license_with(content("/", "all")),
            "/",
            ALL,
        ),
        (b"<rsl>" * 100_000, "/", ()),
        (
            license_with('<content url="/x">' * 200, content("/y", "all"), "</content>" * 200),
            "/x",
            (),
        ),
    ],
)
def test_a_license_prohibits_usages_of_the_longest_location_that_matches(
    body: bytes, path: str, statements: tuple[str, ...]
) -> None:
    store, url = Store(), f"https://www.a.de{path}"
    Licenses(store).keep(url, body, 1.0)
    assert Licenses(store).of(url) == statements
    assert Reservations(store).of(url) == ()


def test_a_license_is_asked_for_once_a_day_in_the_domain_of_its_host() -> None:
    licenses, url = Licenses(Store()), "http://www.a.de/x"
    signals = ["content-signal: search=yes", "license: http://b.de/l", "license: http://l.a.de/l"]
    assert licenses.file_for(url, 1.0, signals) == "http://l.a.de/l"
    assert licenses.file_for(url, 1.0, signals[:2]) is None
    assert licenses.file_for(url, 1.0, ["license: http://a.de/".ljust(MAX_STATEMENT, "a")]) is None
    licenses.keep(url, b"", 1.0)
    assert licenses.file_for(url, 2.0, signals) is None
    store: Any = None  # it is not asked about a host whose robots.txt names no license
    assert Licenses(store).file_for(url, 1.0, signals[:2]) is None


@pytest.mark.parametrize(
    ("usage", "is_left_out", "is_opted_out"),
    [("all", True, True), ("ai-train", False, True), ("search", False, False)],
)
def test_only_a_license_that_prohibits_all_reserves_a_page(
    usage: str, is_left_out: bool, is_opted_out: bool
) -> None:
    sources = {"robots.txt": (f"license-prohibits: {usage}",), "header": IN}
    assert is_reserved(sources) is is_left_out
    assert opts_out(sources) is is_opted_out
