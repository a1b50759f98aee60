"""Which texts are copies, and what is known of them."""

from random import Random

import pytest

from langfocus.crawler.copied_text import DOMAINS, CopiedTexts, sketch_of

WORDS = (
    "der die das und in den von zu mit sich auf für ist im dem nicht ein eine als auch es an werden"
    " aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum haben nur"
    " oder aber vor zur bis mehr durch man sein wurde Abend Garten Stadt Haus Straße Morgen Fenster"
    " Wasser Arbeit Winter Sommer Kinder Schule Brücke Zeitung Freundin gehen kommen sehen bleiben"
    " lesen schreiben finden beginnen heute gestern morgen immer wieder zusammen gemeinsam langsam"
).split()


def german(chance: Random, words: int) -> str:
    """Return a text with so many words."""
    return " ".join(chance.choices(WORDS, k=words))


TEXT = german(Random(1), 150)


def test_a_text_on_five_domains_is_a_copy_on_all_further_ones() -> None:
    known, sketch = CopiedTexts(), sketch_of(TEXT)
    for _ in range(2):  # a domain that had the text early keeps it
        found = [known.is_copy(sketch, f"domain{n}.de") for n in range(8)]
        assert found == [False] * DOMAINS + [True] * 3


def test_one_domain_may_have_a_text_on_many_pages() -> None:
    known = CopiedTexts()
    assert not any(known.is_copy(sketch_of(TEXT), "domain.de") for _ in range(100))


def test_case_digits_and_punctuation_make_no_other_text() -> None:
    changed = ", 12 ".join(TEXT.upper().split(" "))
    assert sketch_of(changed) == sketch_of(TEXT)


MENU = german(Random("menu"), 100)


@pytest.mark.parametrize(
    "texts",
    [
        [german(Random(seed), 150) for seed in range(50)],
        [f"{MENU} {german(Random(seed), 100)}" for seed in range(50)],
        ["Bitte melden Sie sich an. " * 8] * 9,
    ],
    ids=["the same words in another order", "articles with one menu", "a short text"],
)
def test_texts_that_are_no_copies(texts: list[str]) -> None:
    known = CopiedTexts()
    assert not any(known.is_copy(sketch_of(text), f"domain{n}.de") for n, text in enumerate(texts))


@pytest.mark.parametrize("text", ["", "\ud800" * 300, "ein Wort " * 500, "語" * 3000])
def test_any_text_has_a_sketch_or_none(text: str) -> None:
    assert sketch_of(text) == sketch_of(text)
    assert len(sketch_of(text)) <= 16


def test_the_texts_that_were_not_met_for_longest_are_forgotten() -> None:
    known = CopiedTexts(most=50)
    old = sketch_of(TEXT)
    for number in range(DOMAINS):
        known.is_copy(old, f"domain{number}.de")
    for seed in range(60):
        known.is_copy(sketch_of(german(Random(seed), 150)), "other.de")
    assert not known.is_copy(old, "domain9.de")
    assert len(known._domains) == 50
    assert len(known._texts) <= 50 * 16


def test_a_text_that_comes_again_and_again_is_not_forgotten() -> None:
    known = CopiedTexts(most=50)
    for seed in range(1000, 1200):
        known.is_copy(sketch_of(german(Random(seed), 150)), "other.de")
        is_copy = known.is_copy(sketch_of(TEXT), f"domain{seed}.de")
        assert is_copy is (seed >= 1000 + DOMAINS)
