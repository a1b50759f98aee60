"""The reading of robots.txt: RFC 9309, Google's own test cases, and spellings that slip past."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.crawler.politeness import robots_rules
from langfocus.crawler.politeness.robots_rules import MOST_STEPS, Rules, matches, rules_for
from tests.support.crawls import ROOT

GOOGLE = ROOT / "tests/conformance/robots_google.jsonl"
CALLERS_DUTY = {
    ("Foo Bar", "http://foo.bar/x/y"),  # the name must be a product token
    ("FooBot", "http://foo.bar/foo/bar/ツ"),  # the URL must be escaped
}


def forbids(robots: str, path: str, bot: str = "langfocus") -> bool:
    return not rules_for(bot, robots.encode()).allows(f"http://a.de{path}")


def test_google_s_own_cases_pass_except_those_about_its_callers() -> None:
    cases = [json.loads(line) for line in GOOGLE.read_text("utf-8").splitlines()]
    assert len(cases) == 142
    for case in cases:
        rules = rules_for(case["agent"], case["robots"].encode())
        if (case["agent"], case["url"]) not in CALLERS_DUTY:
            assert rules.allows(case["url"]) is case["allowed"], case


OURS = "langfocus,LangFocus,langfocus/1.0,langfocus bot,langfocus; the crawler,langfocus*,*"
OTHERS = "lang,langfocusbot,langfocus-news,langfocus_2,my langfocus,*bot,"


@pytest.mark.parametrize(
    ("agent", "is_ours"),
    [
        *((agent, True) for agent in [*OURS.split(","), "* everybody"]),
        *((agent, False) for agent in OTHERS.split(",")),
    ],
)
def test_a_group_is_ours_if_its_token_is_our_whole_name(agent: str, is_ours: bool) -> None:
    assert forbids(f"User-agent: {agent}\nDisallow: /", "/x") is is_ours


@pytest.mark.parametrize(
    ("rule", "path", "is_forbidden"),
    [
        # RFC 9309, 2.2.2, the table of spellings.
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", True),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", True),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/ツ", "/foo/bar/%e3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A", True),
        # RFC 9309, 2.2.3: signs with a meaning, escaped or not.
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", True),
        ("/path/foo-%24", "/path/foo-$", True),
        ("/path/foo-%24", "/path/foo-x", False),
        ("/a$b", "/a$b", True),
        ("/a%2Fb", "/a/b", False),
        ("/x?a=b%26c", "/x?a=b&c", False),
        # Spellings that servers read as the forbidden path.
        ("/private", "/public/%2e%2e/private", True),
        ("/private", "/public/%2E./private/x", True),
        ("/private", "//private", True),
        ("/private/x", "/private//x", True),
        ("/private/x", "/./private/./x", True),
        ("/private", "/%70rivate", True),
        ("/private", "/private/..", True),
        ("/private", "/x?back=//private", False),
        ("//", "/a/b", False),
        ("/*//", "/a//b", True),
        ("/a//b", "/%61//b", True),
        ("/foo bar", "/foo%20bar", True),
        ("/a|b", "/a%7Cb", True),
        ("/a|b", "/a|b", True),
        # Wildcards.
        ("*", "/", True),
        ("/*.pdf$", "/a/b.pdf", True),
        ("/*.pdf$", "/a/b.pdf?x", False),
        ("/a*b*c$", "/abc", True),
        ("/a*b*c$", "/abcb", False),
        ("/ab*b$", "/ab", False),
        ("/**", "/", True),
        ("$", "/", False),
        ("/$", "/", True),
        ("private", "/private", False),
        ("/robots.txt", "/robots.txt", False),
        ("/robots.txt", "/robots.txt.old", True),
    ],
)
def test_a_rule_matches_a_path_in_every_spelling(rule: str, path: str, is_forbidden: bool) -> None:
    assert forbids(f"User-agent: *\nDisallow: {rule}", path) is is_forbidden


@pytest.mark.parametrize(
    "robots",
    [
        "User-agent: *\nDisallow: /x",
        "User-agent: *\rDisallow: /x",
        "\ufeffUser-agent: *\r\n\r\nDisallow: /x",
        "User-agent: *\nHost: a.de\nSitemap: /s\nDisallow: /x",
        "User-agent: other\nSitemap: /s\nUser-agent: *\nnonsense\nDisallow: /x",
        "User-agent: *\nComment: one\u2028Disallow: two\nDisallow: /x",
        "User-agent: *\nCrawl-delay: 3\nDisallow: /x",
        "User-agent: other\nCrawl-delay: 3\nUser-agent: *\nDisallow: /x",
        "useragent: *\ndissallow: /x",
        "USER AGENT : *\n\tDISALLOW :/x # why",
        "user-agent *\ndisallow /x",
        "User-agent: *\nDisallow: /x\x0b\nDisallow:",
        "User-agent: *\nDisallow: /x" + "*" * 20_000,
    ],
)
def test_a_rule_is_found_in_every_layout(robots: str) -> None:
    assert forbids(robots, "/x")
    assert not forbids(robots, "/y")


@pytest.mark.parametrize(
    "robots",
    [
        "Disallow: /",
        "User-agent: other\nDisallow: /",
        "User-agent: *\nDisallow: /\n\nUser-agent: langfocus\nDisallow:",
        "User-agent: *\nDisallow:",
        "User-agent: *\nSitemap: /s\u2028Disallow: /",
        "User-agent: *\nSitemap: /s\u0085Disallow: /",
        "User-agent: *\nSitemap: /s\x0cDisallow: /",
        "User-agent: *\n# Disallow: /",
        "User-agent: *\nDisallow / now",
        "User-agent: *\n: /",
        "User-agent: *\nDisallow: /\nAllow: /",
    ],
)
def test_no_rule_is_found_where_there_is_none(robots: str) -> None:
    assert not forbids(robots, "/x")


@pytest.mark.parametrize(
    ("robots", "delay_s"),
    [
        ("User-agent: *\nCrawl-delay: 10", 10.0),
        ("User-agent: *\nCrawl-delay: 10s", 10.0),
        ("User-agent: *\nCrawl-delay: 2.5 seconds", 2.5),
        ("User-agent: *\nCrawl-delay: 2,5", 2.5),
        ("User-agent: *\nCrawl-delay: .5", 0.5),
        ("User-agent: *\ncrawldelay 4", 4.0),
        ("User-agent: *\nCrawl-delay: soon", 0.0),
        ("User-agent: *\nCrawl-delay: -1", 0.0),
        ("User-agent: *\nCrawl-delay: ٣", 0.0),
        ("User-agent: *\nCrawl-delay: 1\nCrawl-delay: 3\nCrawl-delay: 2", 3.0),
        ("User-agent: other\nCrawl-delay: 10\n\nUser-agent: *\nDisallow: /x", 0.0),
        ("User-agent: other\nUser-agent: *\nCrawl-delay: 10", 10.0),
        ("User-agent: *\nCrawl-delay: 10\nUser-agent: other\nCrawl-delay: 99", 10.0),
        ("User-agent: *\nCrawl-delay: 10\n\nUser-agent: langfocus\nAllow: /", 0.0),
    ],
)
def test_a_crawl_delay_belongs_to_the_bots_above_it(robots: str, delay_s: float) -> None:
    assert rules_for("langfocus", robots.encode()).delay_s == delay_s


def test_the_longest_rule_decides_and_of_two_equally_long_ones_that_which_allows() -> None:
    robots = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/*\nAllow: /x\nDisallow: /x"
    assert [forbids(robots, path) for path in ("/a", "/a/b", "/a/b/c", "/x")] == [
        *(True, False),
        *(True, False),
    ]


@pytest.mark.parametrize("forbidding", ["/pa", "/*a", "/p*", "/pag", "/p*g"])
@pytest.mark.parametrize("allowing", ["/p*", "/*p", "/pa", "/p*g"])
def test_of_two_rules_that_match_the_longer_decides_and_in_a_tie_the_one_that_allows(
    allowing: str, forbidding: str
) -> None:
    """RFC 9309, 2.2.2: the most octets, then the rule that allows; a `*` is one of the octets."""
    rules = [f"Allow: {allowing}", f"Disallow: {forbidding}"]
    for lines in (rules, rules[::-1]):
        robots = "\n".join(["User-agent: *", *lines])
        assert forbids(robots, "/page") is (len(forbidding) > len(allowing))


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo?u=mailto:a@b.de", "/foo?u=mailto%3Aa%40b.de"),
        ("/filter/page%3D5", "/filter/page=5"),
        ("/filter/page=*/$", "/filter/page%3d5/"),
        ("/a<d.html", "/a%3cd.html"),
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ"),
    ],
)
def test_a_rule_that_allows_matches_an_equal_spelling(rule: str, path: str) -> None:
    assert not forbids(f"User-agent: *\nDisallow: /\nAllow: {rule}", path)


def test_only_the_rules_for_the_bot_are_kept() -> None:
    others = "".join(f"User-agent: bot{n}\nDisallow: /{n}\n\n" for n in range(999))
    rules = rules_for("langfocus", f"{others}User-agent: *\nDisallow: /x\n".encode())
    assert rules == Rules("-/x")


RULE = st.text(st.sampled_from("/ab*$%2Ee"), min_size=1, max_size=8).map(lambda rule: f"/{rule}")


@given(st.lists(RULE, max_size=6), st.text(st.sampled_from("/ab.%2Ee"), max_size=8))
def test_without_a_rule_that_allows_more_rules_never_allow_more(
    rules: list[str], path: str
) -> None:
    lines = [f"Disallow: {rule}" for rule in rules]
    verdicts = [
        forbids("\n".join(["User-agent: *", *lines[:number]]), f"/{path}")
        for number in range(len(lines) + 1)
    ]
    assert verdicts == sorted(verdicts)


def large_rules() -> tuple[str, list[int]]:
    """Rules of 512 KiB with stars: an `a` in each has another place than in a long path of `b`."""
    rules = [f"/*{'b' * at}a{'b' * (60 + more)}*" for more in range(66) for at in range(60)]
    return "User-agent: *\n" + "\n".join(f"Disallow: {rule}" for rule in rules), [*map(len, rules)]


def test_rules_with_stars_take_a_bounded_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def counted(pattern: str, text: str) -> bool:
        nonlocal steps
        steps += len(pattern) * len(text)
        return matches(pattern, text)

    robots, lengths = large_rules()
    rules = rules_for("langfocus", robots.encode())
    monkeypatch.setattr(robots_rules, "matches", counted)
    path = "/" + "b" * 1900
    assert sum(lengths) * len(path) > 8 * MOST_STEPS
    assert not rules.allows(f"http://a.de{path}")  # no one knows, so it is forbidden
    assert MOST_STEPS * 0.9 < steps <= MOST_STEPS


def test_a_usual_path_is_compared_with_any_number_of_rules() -> None:
    robots, lengths = large_rules()
    assert sum(lengths) > 490_000
    assert not forbids(robots, "/" + "b" * 126)
    assert not forbids(robots, "/" + "b" * 20 + "a" + "b" * 59)
    assert forbids(robots, "/" + "b" * 20 + "a" + "b" * 60)
