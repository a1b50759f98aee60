"""Lines that a host repeats, and near-duplicates, of which the earliest is the original."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np
import pytest

from langfocus.crawler.corpus.comparison import LONG_LINE, THRESHOLD, Comparison, originals
from langfocus.crawler.corpus.texts import VALUES, PageText, Paragraph, signature_of

LONG = "ein langer Absatz, " * (LONG_LINE // 10)
WORDS = [f"w{n}" for n in range(5000)]
SAME = ["ein Text", "auf mehr", "als einer Seite"]


def repeated_of(folder: Path, pages: Sequence[tuple[str, Sequence[str]]]) -> list[list[bool]]:
    """Return which lines of pages, each with its host and lines, are repeated."""
    with closing(Comparison(folder)) as comparison:
        for number, (host, lines) in enumerate(pages):
            words = " ".join(lines).split() if "Menu" not in lines[0] else list(lines[1:])
            values = {"url": f"http://{host}/{number}", "fetched_at": float(-number)}
            paragraphs = [Paragraph(line, None, 1) for line in lines]
            comparison.add(PageText(values, host, paragraphs, signature_of(words)))
        comparison.compare()
        return [comparison.are_repeated(number) for number in range(len(pages))]


ARTICLES = [("a", [f"article {n}"]) for n in range(4)]
LISTS = [("a", [LONG, f"list {n} " * 30]) for n in range(4)]


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        # A line of three pages of a host, in any case, is repeated on all of them.
        (
            [("a", ["Menu", "x"]), ("a", ["Menu", "y"]), ("a", ["z", "menu"]), ("b", ["Menu"])],
            [[True, False], [True, False], [False, True], [False]],
        ),
        ([("a", ["Menu", "x"]), ("a", ["Menu", "y"])], [[False] * 2] * 2),
        # One page may have it often.
        ([("a", ["Menu"] * 5), ("a", ["Menu", "x"])], [[False] * 5, [False] * 2]),
        # Copies of a page do not repeat its lines,
        ([("a", ["Menu", *SAME])] * 5, [[False] * 4] * 5),
        # unless they are on other hosts.
        (
            [(host, ["Menu", *text]) for host in "ab" for text in (SAME, ["x"], ["y"])],
            [[True, False, False, False], [True, False], [True, False]] * 2,
        ),
        # A paragraph that lists repeat stays, unless half of the pages have it.
        ([*LISTS[:3], *ARTICLES], [[False] * 2] * 3 + [[False]] * 4),
        ([*LISTS, *ARTICLES], [[True, False]] * 4 + [[False]] * 4),
        ([], []),
    ],
)
def test_a_line_is_repeated_if_enough_pages_of_its_host_have_it(
    pages: list[tuple[str, list[str]]], expected: list[list[bool]], tmp_path: Path
) -> None:
    assert repeated_of(tmp_path, pages) == expected


def test_the_page_that_was_fetched_first_is_the_original_on_any_host(tmp_path: Path) -> None:
    with closing(Comparison(tmp_path)) as comparison:
        for host, time in (("a", 3.0), ("b", None), ("c", 1.0), ("d", 1.0)):
            values = {"url": f"http://{host}/", "fetched_at": time}
            comparison.add(PageText(values, host, [], signature_of(SAME)))
        comparison.compare()
        found = [comparison.original_of(number) for number in range(4)]
    assert found == ["http://c/", "http://c/", None, "http://c/"]


def originals_of(texts: list[list[str]], rank: list[int] | None = None) -> list[int]:
    signatures = np.array([signature_of(text) for text in texts], np.uint32).reshape(-1, VALUES)
    found = originals(signatures, np.array(rank or range(len(texts)), np.int64))
    return [int(number) for number in found]


def jaccard(a: list[str], b: list[str]) -> float:
    one, two = ({tuple(text[at : at + 3]) for at in range(len(text) - 2)} for text in (a, b))
    return len(one & two) / len(one | two)


def test_the_earliest_text_is_the_original_wherever_it_lies() -> None:
    random = Random(1)
    text = random.choices(WORDS, k=200)
    other = random.choices(WORDS, k=200)
    assert originals_of([text, other, [*text, "x"], text]) == [0, 1, 0, 0]
    assert originals_of([text, other, [*text, "x"], text], [3, 0, 1, 2]) == [2, 1, 2, 2]


def test_a_chain_of_near_duplicates_has_one_original() -> None:
    text = Random(2).choices(WORDS, k=300)
    chain = [text[at : at + 250] for at in range(0, 45, 15)]
    assert jaccard(chain[0], chain[1]) > 0.85
    assert jaccard(chain[0], chain[2]) < THRESHOLD
    assert originals_of(chain) == [0, 0, 0]


def test_near_duplicates_are_found_and_others_seldom_are() -> None:
    random = Random(1)
    hits = misses = others = 0
    for _ in range(150):
        text = random.choices(WORDS, k=300)
        copy = list(text)
        for _ in range(random.randrange(20)):
            copy[random.randrange(300)] = random.choice(WORDS)
        index, is_copy = jaccard(text, copy), originals_of([text, copy]) == [0, 0]
        if index >= THRESHOLD + 0.07:
            hits, misses = hits + is_copy, misses + (not is_copy)
        others += index < THRESHOLD - 0.12 and is_copy
        others += originals_of([text, [*text[:60], *random.choices(WORDS, k=240)]]) == [0, 0]
    assert hits > 50
    assert misses <= 0.02 * hits
    assert others == 0


def test_few_texts_have_no_copies_and_signatures_are_the_same_in_every_process() -> None:
    assert (originals_of([]), originals_of([["a"]])) == ([], [0])
    assert signature_of(["ein", "Text", "wie", "dieser"])[:2] == [2563242816, 3919800666]
