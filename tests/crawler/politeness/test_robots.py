import tracemalloc

import pytest

from crawler.frontier.base import KeptRobots
from crawler.politeness.robots import (
    MAX_AGE_S,
    MAX_MOVES,
    MAX_ROBOTS_BYTES,
    UNREACHABLE_S,
    Robots,
    Verdict,
)

RULES = (
    b"\xef\xbb\xbfUser-agent: langfocus\nDisallow: /private\nCrawl-delay: 7\n\n"
    b"User-agent: *\nDisallow: /\n"
)


class Store:
    """What the frontier keeps, in memory."""

    def __init__(self) -> None:
        self.texts: dict[str, KeptRobots] = {}
        self.delays: dict[str, float] = {}

    def robots(self, origin: str) -> KeptRobots | None:
        return self.texts.get(origin)

    def set_robots(self, origin: str, text: str, now: float) -> None:
        self.texts[origin] = KeptRobots(text, now)

    def set_delay(self, host: str, delay_s: float) -> None:
        self.delays[host] = delay_s


def test_rules_hold_for_one_origin_and_our_name() -> None:
    store = Store()
    robots = Robots(store, "langfocus/1.0")
    assert robots.verdict("http://www.a.de/x", 1.0) is Verdict.UNKNOWN
    assert robots.address("http://www.a.de/x") == "http://www.a.de/robots.txt"
    assert robots.delay_s("http://www.a.de/x") == 0.0
    robots.keep("http://www.a.de/x", 200, RULES, 0.0)
    assert robots.delay_s("http://www.a.de/x") == 7.0
    assert robots.verdict("http://www.a.de/x", 1.0) is Verdict.ALLOWED
    assert robots.verdict("http://www.a.de/private/x", 1.0) is Verdict.FORBIDDEN
    assert robots.verdict("https://www.a.de/private/x", 1.0) is Verdict.UNKNOWN
    assert store.delays == {"a.de": 7.0}


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (404, Verdict.ALLOWED),
        (403, Verdict.ALLOWED),
        (301, Verdict.ALLOWED),
        (429, Verdict.UNREACHABLE),
        (500, Verdict.UNREACHABLE),
        (503, Verdict.UNREACHABLE),
        (None, Verdict.UNREACHABLE),
    ],
)
def test_without_rules_the_status_decides(status: int | None, verdict: Verdict) -> None:
    robots = Robots(Store(), "langfocus")
    robots.keep("http://a.de/", status, b"Disallow: /", 0.0)
    assert robots.verdict("http://a.de/x", 1.0) is verdict


def test_kept_rules_are_read_again_after_a_restart_and_after_eviction() -> None:
    store = Store()
    robots = Robots(store, "langfocus", cache_bytes=1)
    for name in "abcd":
        robots.keep(f"http://{name}.de/", 200, RULES, 0.0)
    for each in (robots, Robots(store, "langfocus")):
        assert each.verdict("http://a.de/private", 1.0) is Verdict.FORBIDDEN


def test_rules_for_another_name_of_the_bot_are_fetched_again() -> None:
    store = Store()
    Robots(store, "other").keep("http://a.de/", 200, RULES, 0.0)
    assert Robots(store, "langfocus").verdict("http://a.de/", 1.0) is Verdict.UNKNOWN
    assert Robots(store, "other/2.0").verdict("http://a.de/", 1.0) is Verdict.FORBIDDEN


@pytest.mark.parametrize("text", ["", "x", "langfocus", "langfocus\nsoon\n-/x", "\ud800\n\n\n"])
def test_a_damaged_stored_text_is_fetched_again(text: str) -> None:
    store = Store()
    store.set_robots("http://a.de", text, 0.0)
    assert Robots(store, "langfocus").verdict("http://a.de/", 1.0) is Verdict.UNKNOWN


LARGEST = {
    "short rules": b"".join(b"Disallow:/%x\n" % number for number in range(33_000)),
    "letters to escape": "".join(f"Disallow:/ツ{n}%61\n" for n in range(20_000)).encode(),
    "one line": b"Disallow:/" + b"a" * MAX_ROBOTS_BYTES,
    "no rules": b"\n" * MAX_ROBOTS_BYTES,
    "wildcards": b"Disallow:" + b"/*a" * 170_000,
}


@pytest.mark.parametrize("kind", LARGEST)
def test_a_large_file_is_stored_in_at_most_six_times_its_bytes(kind: str) -> None:
    store = Store()
    Robots(store, "langfocus").keep("http://a.de/", 200, b"User-agent: *\n" + LARGEST[kind], 0.0)
    assert len(store.texts["http://a.de"].text) <= 6 * MAX_ROBOTS_BYTES


def test_the_rules_of_many_large_files_stay_within_the_bytes_of_the_cache() -> None:
    store = Store()
    robots = Robots(store, "langfocus", cache_bytes=200_000)
    rules = "".join(f"Disallow: /{number:0200}\n" for number in range(100))
    body = f"User-agent: *\nDisallow: /no\n{rules}".encode()
    tracemalloc.start()
    for number in range(100):
        robots.keep(f"http://{number}.de/", 200, body, 0.0)
        store.texts.clear()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 300_000
    assert robots.verdict("http://99.de/no", 1.0) is Verdict.FORBIDDEN
    assert robots.verdict("http://0.de/no", 1.0) is Verdict.UNKNOWN


def test_a_crawl_delay_counts_up_to_a_limit() -> None:
    store = Store()
    Robots(store, "langfocus", max_delay_s=5.0).keep("http://a.de/", 200, RULES, 0.0)
    assert store.delays == {"a.de": 5.0}


def test_rules_that_move_are_followed_some_times() -> None:
    robots = Robots(Store(), "langfocus")
    for number in range(MAX_MOVES):
        assert robots.move("http://a.de/x", f"https://a.de/{number}")
        assert robots.address("http://a.de/y") == f"https://a.de/{number}"
    assert not robots.move("http://a.de/x", "https://a.de/more")


@pytest.mark.parametrize(
    "body", [b"", b"\x00" * 2000, b"<html>404</html>", b"\xff\xfe\x00", b"Disallow: /" * 10**5]
)
def test_rubbish_forbids_nothing(body: bytes) -> None:
    robots = Robots(Store(), "langfocus")
    robots.keep("http://a.de/", 200, body, 0.0)
    assert robots.verdict("http://a.de/x", 1.0) is Verdict.ALLOWED


def test_rules_are_asked_for_again_after_a_day() -> None:
    store = Store()
    robots = Robots(store, "langfocus")
    robots.keep("http://a.de/", 200, RULES, 100.0)
    for each in (robots, Robots(store, "langfocus")):
        assert each.verdict("http://a.de/private", 99.0 + MAX_AGE_S) is Verdict.FORBIDDEN
        assert each.verdict("http://a.de/private", 100.0 + MAX_AGE_S) is Verdict.UNKNOWN


def test_a_site_without_an_answer_is_asked_again_earlier() -> None:
    store = Store()
    robots = Robots(store, "langfocus")
    robots.keep("http://a.de/", 503, b"", 100.0)
    for each in (robots, Robots(store, "langfocus")):
        assert each.verdict("http://a.de/", 99.0 + UNREACHABLE_S) is Verdict.UNREACHABLE
        assert each.verdict("http://a.de/", 100.0 + UNREACHABLE_S) is Verdict.UNKNOWN


def test_only_whole_lines_are_read_of_a_file_that_is_too_long() -> None:
    first = b"User-agent: *\nDisallow: /private\n"
    body = first + b"#" * (MAX_ROBOTS_BYTES - len(first) - 12) + b"\nDisallow: /public/only-this\n"
    assert body[:MAX_ROBOTS_BYTES].endswith(b"\nDisallow: /")
    robots = Robots(Store(), "langfocus")
    robots.keep("http://a.de/", 200, body, 0.0)
    assert robots.verdict("http://a.de/private", 1.0) is Verdict.FORBIDDEN
    assert robots.verdict("http://a.de/public", 1.0) is Verdict.ALLOWED
