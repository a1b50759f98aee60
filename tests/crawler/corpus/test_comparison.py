"""Lines that a host repeats: from three pages on, a long line on half of the pages."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from crawler.corpus.comparison import LONG_LINE, Comparison
from crawler.corpus.texts import PageText, Paragraph, signature_of

LONG = "ein langer Absatz, " * (LONG_LINE // 10)
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
