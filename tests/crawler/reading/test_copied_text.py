"""Which texts are recognised as copies."""

from random import Random

import pytest

from langfocus.crawler.reading.copied_text import (
    DOMAINS,
    HABIT,
    MOST_BY_RECORD,
    CopiedTexts,
    sketch_of,
)

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


TEXTS = [sketch_of(german(Random(f"article {number}"), 150)) for number in range(100)]
THIEVES = [f"thief{number}.de" for number in range(DOMAINS)]


def counted(known: CopiedTexts, domain: str, number: int) -> bool:
    return not known.is_copy(TEXTS[number], domain)


@pytest.mark.parametrize("sites", [1, 5, 100])
@pytest.mark.parametrize("is_stolen_at_once", [True, False])
def test_five_domains_that_copy_a_site_first_do_not_end_it(
    sites: int, is_stolen_at_once: bool
) -> None:
    known, found = CopiedTexts(), 0
    for thief in THIEVES if is_stolen_at_once else ():
        assert all(counted(known, thief, number) for number in range(100))
    for number in range(100):
        for thief in () if is_stolen_at_once else THIEVES:
            counted(known, thief, number)
        found += counted(known, f"site{number % sites}.de", number)
    assert found >= 100 - HABIT


@pytest.mark.parametrize("is_crawled_domain_by_domain", [True, False])
def test_a_farm_counts_for_little_however_many_texts_it_copies(
    is_crawled_domain_by_domain: bool,
) -> None:
    pages = [(domain, number) for domain in range(60) for number in range(100)]
    pages = pages if is_crawled_domain_by_domain else sorted(pages, key=lambda page: page[1])
    known = CopiedTexts()
    found = sum(counted(known, f"farm{domain}.de", number) for domain, number in pages)
    assert DOMAINS * 100 <= found <= MOST_BY_RECORD * 100


def test_a_domain_with_more_texts_of_its_own_is_believed() -> None:
    known = CopiedTexts()
    for number in range(20):
        for thief in range(MOST_BY_RECORD):  # each text on other domains, so none has a habit
            counted(known, f"thief{thief}-{number}.de", number)
    assert not counted(known, "new.de", 0)
    site = [counted(known, "site.de", number) for number in (*range(50, 57), 0, 1, 2)]
    assert site == [True] * 10
    assert not counted(known, "site.de", 3)


def test_the_domains_of_an_endless_farm_are_forgotten() -> None:
    known = CopiedTexts()
    for number in range(12_000):
        known.is_copy(TEXTS[number % 100], f"farm{number}.de")
    assert len(known._records) <= 10_000
