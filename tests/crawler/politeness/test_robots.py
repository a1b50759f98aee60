import tracemalloc

import pytest

from benchmarks.robotsstore import Store
from langfocus.crawler.politeness.robots import (
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


def test_rules_hold_for_one_origin_and_our_name() -> None:
    store = Store()
    robots = Robots(store, "langfocus/1.0")
    assert robots.verdict("http://www.a.de/x", 1.0) is Verdict.UNKNOWN
    assert robots.ask("http://www.a.de/x", 1.0) == "http://www.a.de/robots.txt"
    assert robots.delay_s("http://www.a.de/x") == 0.0
    robots.keep("http://www.a.de/x", 200, RULES, 0.0)
    assert robots.delay_s("http://www.a.de/x") == 7.0
    assert robots.verdict("http://www.a.de/x", 1.0) is Verdict.ALLOWED
    assert robots.verdict("http://www.a.de/private/x", 1.0) is Verdict.FORBIDDEN
    assert robots.verdict("https://www.a.de/private/x", 1.0) is Verdict.UNKNOWN
    assert store.delays == {"a.de": 7.0}


def test_kept_rules_are_read_again_after_a_restart_and_after_eviction() -> None:
    store = Store()
    robots = Robots(store, "langfocus", cache_bytes=1)
    for name in "abcd":
        robots.keep(f"http://{name}.de/", 200, RULES, 0.0)
    for each in (robots, Robots(store, "langfocus")):
        assert each.verdict("http://a.de/private", 1.0) is Verdict.FORBIDDEN
    assert Robots(store, "langfocus").delay_s("http://b.de/") == 7.0


def test_a_damaged_text_and_rules_for_another_name_of_the_bot_are_fetched_again() -> None:
    store = Store()
    Robots(store, "other").keep("http://a.de/", 200, RULES, 0.0)
    assert Robots(store, "langfocus").verdict("http://a.de/", 1.0) is Verdict.UNKNOWN
    assert Robots(store, "other/2.0").verdict("http://a.de/", 1.0) is Verdict.FORBIDDEN
    for text in ("", "x", "langfocus", '{"bot":7}', '{"bot":"langfocus","rules":{}', "\ud800\n"):
        store.set_robots("http://a.de", text, 0.0)
        assert Robots(store, "langfocus").verdict("http://a.de/", 1.0) is Verdict.UNKNOWN


LARGEST = [
    b"".join(b"Disallow:/%x\n" % number for number in range(33_000)),
    "".join(f"Disallow:/ツ{n}%61\n" for n in range(20_000)).encode(),
    b"Disallow:/" + b"a" * MAX_ROBOTS_BYTES,
    b"\n" * MAX_ROBOTS_BYTES,
    b"Disallow:" + b"/*a" * 170_000,
]


@pytest.mark.parametrize("body", LARGEST)
def test_a_large_file_is_stored_in_at_most_six_times_its_bytes(body: bytes) -> None:
    store = Store()
    Robots(store, "langfocus").keep("http://a.de/", 200, b"User-agent: *\n" + body, 0.0)
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


def test_a_file_that_is_fetched_again_takes_no_more_room_in_the_cache() -> None:
    store = Store()
    robots = Robots(store, "langfocus", cache_bytes=5_000)
    for name in "abbbbbbbbbbbbbbbbbbbb":
        robots.keep(f"http://{name}.de/", 200, RULES, 0.0)
    store.texts.clear()
    assert robots.verdict("http://a.de/private", 1.0) is Verdict.FORBIDDEN


def test_rules_that_move_are_followed_some_times() -> None:
    robots = Robots(Store(), "langfocus")
    for number in range(MAX_MOVES):
        assert robots.move("http://a.de/x", f"https://a.de/{number}", 0.0)
        assert robots.ask("http://a.de/y", 1.0) == f"https://a.de/{number}"
    assert not robots.move("http://a.de/x", "https://a.de/more", 0.0)
    robots.keep("http://a.de/x", 302, b"", 0.0)
    assert robots.verdict("http://a.de/x", 1.0) is Verdict.ALLOWED
    # A shorter way to the same files may still lead to rules.
    assert robots.verdict("https://a.de/x", 1.0) is Verdict.UNKNOWN


def test_a_file_to_which_many_origins_redirect_is_asked_for_once_also_after_a_restart() -> None:
    store = Store()
    robots = Robots(store, "langfocus")
    assert robots.move("http://a.de/x", "https://hub.de/robots.txt", 0.0)
    robots.keep("http://a.de/x", 200, RULES, 0.0)
    assert store.delays == {"a.de": 7.0, "hub.de": 7.0}
    again = Robots(store, "langfocus")
    assert again.verdict("https://hub.de/private", 1.0) is Verdict.FORBIDDEN
    assert again.verdict("http://a.de/private", 1.0) is Verdict.FORBIDDEN
    assert again.move("http://b.de/x", "https://hub.de/robots.txt", 1.0)
    assert again.verdict("http://b.de/private", 1.0) is Verdict.FORBIDDEN
    assert store.delays["b.de"] == 7.0
    assert again.verdict("http://b.de/private", MAX_AGE_S) is Verdict.UNKNOWN
    assert again.ask("http://b.de/private", MAX_AGE_S) == "https://hub.de/robots.txt"


def test_a_late_answer_tells_nothing_of_the_file_to_which_the_way_leads_by_then() -> None:
    store = Store()
    robots = Robots(store, "langfocus")
    hub, victim = "http://hub.de/rules", "http://victim.de/robots.txt"
    for origin in ("http://a.de/", "http://b.de/"):
        assert robots.move(origin, hub, 0.0, f"{origin}robots.txt")
    assert robots.move("http://a.de/", victim, 0.0, hub)
    robots.keep("http://b.de/", 200, RULES, 0.0, hub)
    assert robots.verdict("http://victim.de/", 1.0) is Verdict.UNKNOWN
    assert robots.verdict("http://b.de/private", 1.0) is Verdict.FORBIDDEN
    assert robots.fail("http://b.de/", 0.0, victim) == 1
    assert robots.verdict("http://b.de/private", 1.0) is Verdict.FORBIDDEN


def test_failures_of_a_file_are_counted_for_all_that_redirect_to_it() -> None:
    store = Store()
    robots = Robots(store, "langfocus")
    assert robots.move("http://a.de/", "http://hub.de/robots.txt", 0.0)
    assert robots.move("http://b.de/", "http://hub.de/robots.txt", 0.0)
    assert robots.fail("http://a.de/", 1.0) == 1
    assert Robots(store, "langfocus").fail("http://b.de/", 2.0) == 2
    assert robots.verdict("http://a.de/", 3.0) is Verdict.UNKNOWN
    assert robots.fail("http://hub.de/", 3.0) == 3
    assert robots.fail("http://hub.de/", 3.0 + UNREACHABLE_S) == 1


def test_a_host_is_asked_for_a_bounded_number_of_files_and_always_for_its_usual_ones() -> None:
    store = Store()
    robots = Robots(store, "langfocus", host_cap=10)
    urls = [f"http://{'www.' * (n % 2)}a.de:{8000 + n}/" for n in range(20)]
    assert [robots.ask(url, 0.0) is not None for url in urls] == [True] * 6 + [False] * 14
    assert robots.move("http://b.de/", "http://a.de/rules", 0.0)
    assert robots.ask("http://b.de/", 0.0) is None
    again = Robots(store, "langfocus", host_cap=10)
    assert again.ask(urls[0], 0.0) == "http://a.de:8000/robots.txt"
    assert again.ask(urls[6], 0.0) is None
    for usual in ("http://a.de", "http://www.a.de", "https://a.de", "https://www.a.de"):
        assert again.ask(f"{usual}/", 0.0) == f"{usual}/robots.txt"
    for host_cap, files in ((0, 6), (1, 1), (5, 1), (30, 26)):
        robots = Robots(Store(), "langfocus", host_cap=host_cap)
        asked = [robots.ask(f"http://[::1]:{8000 + n}/", 0.0) for n in range(40)]
        assert len(asked) - asked.count(None) == files


@pytest.mark.parametrize(
    ("status", "verdict", "age_s"),
    [(200, Verdict.FORBIDDEN, MAX_AGE_S), (503, Verdict.UNREACHABLE, UNREACHABLE_S)],
)
def test_rules_are_asked_for_again_after_a_day_and_without_an_answer_earlier(
    status: int, verdict: Verdict, age_s: float
) -> None:
    store = Store()
    robots = Robots(store, "langfocus")
    robots.keep("http://a.de/", status, RULES, 100.0)
    for each in (robots, Robots(store, "langfocus")):
        assert each.verdict("http://a.de/private", 99.0 + age_s) is verdict
        assert each.verdict("http://a.de/private", 100.0 + age_s) is Verdict.UNKNOWN


def test_only_whole_lines_are_read_of_a_file_that_is_too_long() -> None:
    first = b"User-agent: *\nDisallow: /private\n"
    body = first + b"#" * (MAX_ROBOTS_BYTES - len(first) - 12) + b"\nDisallow: /public/only-this\n"
    assert body[:MAX_ROBOTS_BYTES].endswith(b"\nDisallow: /")
    robots = Robots(Store(), "langfocus")
    robots.keep("http://a.de/", 200, body, 0.0)
    assert robots.verdict("http://a.de/private", 1.0) is Verdict.FORBIDDEN
    assert robots.verdict("http://a.de/public", 1.0) is Verdict.ALLOWED
