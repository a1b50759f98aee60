"""The blocks of a page, what the model reads of them, and which are the main text."""

import time
from typing import Any

import numpy as np
import pytest
from lxml.html import fromstring

from langfocus.crawler.corpus.blocks import (
    MAX_BLOCKS,
    Block,
    best_choice,
    features_of,
    found_in,
    is_better,
    page_of,
    probabilities,
    sizes_of,
)


def blocks_of(body: str) -> list[Block]:
    return page_of(fromstring(f"<html><body>{body}</body></html>")).blocks


def features(body: str, *texts: str) -> Any:
    page = page_of(fromstring(f"<html><body>{body}</body></html>"))
    return features_of(page, [found_in(page.blocks, text) for text in texts], is_article=False)


def test_a_block_ends_where_a_line_ends_and_words_in_bold_or_links_stay_in_it() -> None:
    found = blocks_of("<p>One <b>bold</b> <a href=/>link</a>,<br>two<p>three<div>* * *</div>four")
    assert [block.text for block in found] == ["One bold link,", "two", "three", "four"]
    assert [block.tag for block in found] == ["p", "p", "p", "body"]
    assert [block.linked for block in found] == [4, 0, 0, 0]


@pytest.mark.parametrize("tag", ["script", "style", "template", "select", "textarea", "svg"])
def test_texts_that_are_no_prose_are_in_no_block_and_what_follows_is(tag: str) -> None:
    assert [block.text for block in blocks_of(f"<p>a<{tag}><i>no</i></{tag}> b")] == ["a b"]


def test_a_text_for_browsers_without_scripts_is_read() -> None:
    assert [block.text for block in blocks_of("<noscript><p>Post</p></noscript>")] == ["Post"]


def test_comments_and_instructions_between_words_leave_no_trace() -> None:
    assert [block.text for block in blocks_of("a<!-- x -->b<?php y ?>c")] == ["abc"]


def test_a_role_and_an_element_of_the_same_kind_have_the_same_mark() -> None:
    by_role, by_tag, hidden, plain = blocks_of(
        "<div role=navigation>a</div><nav>b</nav><p hidden>c</p><p>d</p>"
    )
    assert by_role.marks == by_tag.marks
    assert len({by_tag.marks, hidden.marks, plain.marks}) == 3
    assert plain.marks == 0


def test_a_block_is_found_by_its_beginning_in_lines_and_cells_with_markup() -> None:
    found = blocks_of("<h1>Title</h1><li>point</li><td>cell</td><p>menu</p>" + "<p>" + "x" * 99)
    text = "# Title\n- point\na | cell |\n" + "x" * 50
    assert [*found_in(found, text)] == [True, True, True, False, True]


def test_features_are_finite_and_do_not_depend_on_the_language() -> None:
    latin = features("<h1>Ab</h1><p>Abc def. <a>gh</a></p><p>ij</p>", "Abc def. gh", "")
    greek = features("<h1>Αβ</h1><p>Αβγ δεζ. <a>ηθ</a></p><p>ικ</p>", "Αβγ δεζ. ηθ", "")
    assert np.isfinite(latin).all()
    assert (latin == greek).all()


def test_a_page_that_an_extractor_did_not_read_has_features_too() -> None:
    page = page_of(fromstring("<html><body><p>a</p></body></html>"))
    found = found_in(page.blocks, "a")
    row = features_of(page, [None, found], is_article=False)
    assert row.shape == features_of(page, [found, found], is_article=False).shape
    assert (row == -1).any()


def test_trees_lead_each_row_to_a_leaf_of_each_and_sum_their_values() -> None:
    model = {
        "roots": np.array([0, 3]),
        "feature": np.array([0, 0, 0, 0]),
        "threshold": np.array([1.5, np.inf, np.inf, np.inf]),
        "left": np.array([1, 1, 2, 3]),
        "right": np.array([2, 1, 2, 3]),
        "value": np.array([0, -65536, 65536, 65536]),
        "base": np.array(0),
    }
    found = probabilities(np.array([[1.0], [2.0]]), model)
    assert [*found] == [5000, 8808]  # 1 / (1 + e^0), 1 / (1 + e^-2), in ten-thousandths


BLOCKS = [Block(text, "p", 0, 0, 1, 0) for text in ("a" * 100, "b" * 100, "c" * 100)]


def test_the_best_choice_weighs_what_is_missed_against_what_is_wrong() -> None:
    def chosen(*chances: int) -> str:
        return "".join(block.text[0] for block in best_choice(BLOCKS, np.array(chances)))

    assert chosen(9000, 100, 9000) == "ac"
    assert chosen(9000, 5000, 9000) == "abc"
    # Of a page with little main text a doubtful block is better than none.
    assert chosen(2000, 100, 100) == "a"


def test_an_extractors_text_of_an_article_stays_if_it_is_probable_or_in_no_block() -> None:
    found, chances = np.array([True, False, False]), np.array([9500, 8500, 8500])
    assert is_better(BLOCKS[0].text, found, BLOCKS, chances)
    assert not is_better(BLOCKS[0].text, found, BLOCKS, np.array([500, 9500, 9500]))
    assert is_better("linked data " * 50, np.zeros(3, bool), BLOCKS, np.array([500, 9500, 9500]))


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 20_000 + "x",
        "<p>x</p>" * 60_000,
        "x " * 2_000_000,
        "<p><a>x</a>" * 20_000,
        "<b>x" * 5_000,
    ],
)
def test_hostile_pages_have_few_blocks_and_soon(body: str) -> None:
    page = page_of(fromstring(f"<html><body>{body}</body></html>"))
    assert len(page.blocks) <= MAX_BLOCKS
    began = time.process_time()
    if page.blocks:
        chances = probabilities(features_of(page, [None, None], is_article=False))
        assert len(chances) == len(sizes_of(page.blocks))
    assert time.process_time() - began < 10
