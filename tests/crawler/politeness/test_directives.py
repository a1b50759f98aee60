"""Statements about the use of a page, from headers, META elements and robots.txt."""

from hashlib import sha256

import pytest

from benchmarks.robotsstore import Store
from langfocus.crawler.politeness.directives import (
    MAX_STATEMENT,
    MAX_STATEMENTS,
    is_opt_out,
    of_headers,
    of_metas,
)
from langfocus.crawler.politeness.robots import Robots
from langfocus.crawler.politeness.robots_rules import rules_for

CLOUDFLARE = b"""\
# As a condition of accessing this website, you agree to the content signals:
User-agent: *
Content-Signal: search=yes, ai-train=no
Allow: /

User-agent: GPTBot
Content-Signal: ai-input=no
Disallow: /
"""


LICENSE = "https://example.com/license.xml"
OF_RSL = (f"license: {LICENSE}",)


@pytest.mark.parametrize(
    ("header", "statements"),
    [
        (("X-Robots-Tag", "noindex, NoFollow"), ("noindex", "nofollow")),
        (("x-robots-tag", "otherbot: nofollow, noarchive"), ()),
        (("X-Robots-Tag", "otherbot: nofollow, langfocus: noai, noimageai"), ("noai", "noimageai")),
        (("X-Robots-Tag", "unavailable_after: 25 Jun 2030 15:00:00 PST, none"), ("none",)),
        (("X-Robots-Tag", "max-snippet:-1, all"), ()),
        (("TDM-Reservation", " 1 "), ("tdm-reservation=1",)),
        (("tdm-policy", "https://a.de/policy.json"), ("tdm-policy=https://a.de/policy.json",)),
        (("Content-Usage", "train-ai=n"), ("content-usage: train-ai=n",)),
        (("Content-Type", "noindex"), ()),
        (("X-Robots-Tag", "noindex;nofollow|noarchive"), ("noindex", "nofollow", "noarchive")),
        (("X-Robots-Tag", "otherbot: noindex; nofollow"), ()),
        (("TDM-Reservation", "1, 1"), ("tdm-reservation=1",)),
        (("Content-Usage", "Train-AI = N;x"), ("content-usage: train-ai=n;x",)),
        # The example of RSL 1.0; both parameters are needed, in any order and spelling.
        (("Link", f'<{LICENSE}>; rel="license"; type="application/rsl+xml"'), OF_RSL),
        (("link", f"</a>;rel=next, <{LICENSE}>;type=Application/RSL+XML;rel='x License'"), OF_RSL),
        (("Link", f'<{LICENSE}>; rel="license"'), ()),
        (("Link", f'<{LICENSE}>; rel=next; type="application/rsl+xml"'), ()),
        (("Link", f'<{LICENSE}>; rel=license, </b>; type="application/rsl+xml"'), ()),
        (("Link", "<" * 9_999 + ";rel=" * 9_999), ()),
    ],
)
def test_headers_make_statements(header: tuple[str, str], statements: tuple[str, ...]) -> None:
    assert of_headers([header]) == statements


def test_metas_make_statements_each_once() -> None:
    metas = [("robots", "noai, NOFOLLOW"), ("langfocus", "noarchive noai"), ("tdm-policy", "")]
    assert of_metas(metas) == ("noai", "nofollow", "noarchive")


def test_nothing_hides_a_statement_that_is_obeyed_or_counted() -> None:
    many = [("tdm-policy", "x" * 10_000), *(("tdm-policy", str(n)) for n in range(99))]
    kept = of_metas(many)
    assert (len(kept), len(kept[0])) == (MAX_STATEMENTS, MAX_STATEMENT)
    long = ("Content-Usage", "x" * MAX_STATEMENT + "=y, train-ai=n")
    robots = ("robots", "NOFOLLOW;noarchive")
    assert of_metas([*many, robots])[:2] == ("nofollow", "noarchive")
    statements = of_headers([*many, long, ("X-Robots-Tag", "none"), ("TDM-Reservation", "1")])
    assert statements[:3] == ("none", "content-usage: train-ai=n", "tdm-reservation=1")
    lines = b"".join(b"Content-Signal: a%d=yes\n" % number for number in range(99))
    body = b"User-agent: *\n" + lines + b"Content-Signal: " + b"b=yes," * 99 + b"ai-train=no\n"
    assert any(map(is_opt_out, rules_for("langfocus", body).signals))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("noai", True),
        ("tdm-reservation=1", True),
        ("tdm-reservation=0", False),
        ("content-signal: ai-train=no", True),
        ("content-signal: search=no", False),
        ("content-signal: ai-input=yes", False),
        ("content-usage: train-ai=n", True),
        ("content-usage: train-ai=n;exp=1", True),
        ("content-usage: train-ai=y", False),
        ("nofollow", False),
    ],
)
def test_opt_outs_are_told_from_other_statements(statement: str, expected: bool) -> None:
    assert is_opt_out(statement) is expected


def test_a_signal_of_robots_txt_is_for_the_bots_above_it() -> None:
    for bot, expected in (("langfocus", "search=yes ai-train=no"), ("gptbot", "ai-input=no")):
        rules = rules_for(bot, CLOUDFLARE)
        assert rules.signals == tuple(f"content-signal: {term}" for term in expected.split())
        assert rules.allows("http://a.de/") is (bot == "langfocus")


def test_a_signal_above_all_groups_is_for_every_bot() -> None:
    body = b"Content-Usage: train-ai=n\nUser-agent: a\nUser-agent: *\nDisallow: /x"
    rules = rules_for("langfocus", body)
    assert rules.signals == ("content-usage: train-ai=n",)
    assert not rules.allows("http://a.de/x")


@pytest.mark.parametrize(
    ("lines", "statements"),
    [
        # The example of RSL 1.0, and what sites and plugins write.
        (f"License: {LICENSE}\n\nUser-agent: Googlebot\nAllow: /", OF_RSL),
        (f"\ufeff  LICENSE : {LICENSE} # terms\r\nUser-agent: *\nDisallow: /x", OF_RSL),
        (
            f"User-agent: *\nDisallow: /x\n\nUser-agent: GPTBot\nAllow: /\nLicense: {LICENSE}",
            OF_RSL,
        ),
        (f"License: {LICENSE}\nLicense: {LICENSE}\nUser-agent: *\nDisallow: /x", OF_RSL),
        ("License: /license.xml\nLicenses: https://a.de/\nLicense: javascript:x", ()),
    ],
)
def test_the_licenses_of_a_robots_txt_are_for_every_bot_and_no_rules(
    lines: str, statements: tuple[str, ...]
) -> None:
    rules = rules_for("langfocus", lines.encode())
    assert rules.signals == statements
    assert rules.allows("http://a.de/x") is ("/x" not in lines)


def test_the_version_of_a_robots_txt_is_kept_for_other_processes() -> None:
    store = Store()
    Robots(store, "langfocus").keep("http://a.de/", 200, CLOUDFLARE, 0.0)
    Robots(store, "langfocus").keep("http://b.de/", 404, b"<html>", 0.0)
    Robots(store, "langfocus").keep("http://c.de/", 503, b"", 0.0)
    later = Robots(store, "langfocus")
    version = later.version("http://a.de/x")
    assert version is not None
    assert version.name == f"sha256:{sha256(CLOUDFLARE).hexdigest()}"
    assert version.signals == ("content-signal: search=yes", "content-signal: ai-train=no")
    assert later.version("http://b.de/") == ("404", ())
    assert later.version("http://c.de/") is None
