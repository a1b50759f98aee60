"""Words of a text: their number, and the units by which texts are compared."""

import pytest

from langfocus.classifiers.pages.text.words import number_of_words, units
from tests.support.smallweb import SENTENCES


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("Drei kurze Wörter - 17 & 4!", 3),
        ("»Zwei« 3x_ __ 7.", 2),
        ("हिन्दी की किताब", 3),
        ("中文维基百科是维基百科协作计划的中文版本", 12),
        ("ภาษาไทยเป็นภาษาราชการของประเทศไทย", 7),
        ("日本語のウィキペディア GNU", 5),
        ("1" * 400_000, 0),
    ],
)
def test_words_are_counted_with_and_without_spaces(text: str, number: int) -> None:
    assert number_of_words(text) == number


def test_the_words_of_one_sentence_are_about_as_many_in_every_language() -> None:
    numbers = [number_of_words(text) for text in SENTENCES.values()]
    assert max(numbers) <= 1.5 * min(numbers)


def test_letters_of_scripts_without_spaces_are_units_of_their_own() -> None:
    assert units("Ein GNU 日本") == ["ein", "gnu", "日", "本"]
