"""Lines that a host repeats: from three pages on, a long line on half of the pages."""

from collections.abc import Sequence

import numpy as np
import pytest

from crawler.corpus import lines
from crawler.corpus.lines import (
    LONG_LINE,
    PageLines,
    are_repeated,
    key_of_host,
    keys_of_lines,
    repeated_keys,
)

LONG = "ein langer Absatz, " * (LONG_LINE // 10)


def part(*pages: tuple[str, Sequence[str]]) -> PageLines:
    keys, numbers, is_new = [], [], []
    for number, (host, texts) in enumerate(pages):
        found = keys_of_lines(key_of_host(host), texts)
        keys += found
        numbers += [number] * len(found)
        is_new += [key not in found[:at] for at, key in enumerate(found)]
    return PageLines(
        np.array(keys, np.uint64),
        np.array(numbers, np.uint32),
        np.array(is_new, np.bool_),
        np.array([key_of_host(host) for host, _ in pages], np.uint64),
    )


def repeated_of(
    parts: Sequence[PageLines], original: Sequence[int] | None = None
) -> list[list[bool]]:
    own = list(range(sum(len(each.hosts) for each in parts)))
    number = sum(len(each.keys) for each in parts)
    keys = repeated_keys(lambda: parts, np.array(original or own, np.int64), number)
    return [are_repeated(each.keys, keys).tolist() for each in parts]


def test_a_line_of_three_pages_of_a_host_is_repeated_on_all_of_them() -> None:
    one = part(("a", ["Menu", "x"]), ("a", ["Menu", "y"]))
    two = part(("a", ["z", "menu"]), ("b", ["Menu"]), ("b", ["Menu"]))
    assert repeated_of([one, two]) == [[True, False] * 2, [False, True, False, False]]
    assert repeated_of([one]) == [[False] * 4]


def test_a_line_that_stands_on_one_page_often_is_not_repeated() -> None:
    assert repeated_of([part(("a", ["x"] * 5), ("a", ["x"]))]) == [[False] * 6]


def test_copies_of_a_page_do_not_repeat_its_lines() -> None:
    pages = part(*[("a", ["Menu", f"text {n // 3}"]) for n in range(9)])
    assert repeated_of([pages], [n - n % 3 for n in range(9)]) == [[True, False] * 9]


def test_a_copy_of_a_page_of_another_host_counts_on_its_own() -> None:
    pages = part(*[(host, ["Menu", f"text {n}"]) for host in "ab" for n in range(3)])
    assert repeated_of([pages], [3, 1, 2, 3, 1, 2]) == [[True, False] * 6]


def test_a_paragraph_that_lists_repeat_stays_unless_half_of_the_pages_have_it() -> None:
    articles = [("a", [f"article {n}"]) for n in range(4)]
    teased = part(*[("a", [LONG])] * 3, *articles)
    assert repeated_of([teased]) == [[False] * 7]
    notice = part(*[("a", [LONG])] * 4, *articles)
    assert repeated_of([notice]) == [[True] * 4 + [False] * 4]


def test_many_lines_are_counted_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [part(*[("a", [f"menu {n}" for n in range(20)] + [str(at)]) for at in range(4)])]
    whole = repeated_of(parts)
    monkeypatch.setattr(lines, "_MOST_KEYS", 7)
    assert repeated_of(parts) == whole == [([True] * 20 + [False]) * 4]
