"""Near-duplicates: the earliest of texts with nearly the same runs of words is the original."""

from random import Random

import numpy as np
import pytest

from crawler.corpus.comparison import THRESHOLD, originals
from crawler.corpus.texts import VALUES, signature_of

WORDS = [f"w{n}" for n in range(5000)]


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


@pytest.mark.parametrize("number", [0, 1])
def test_few_texts_have_no_copies(number: int) -> None:
    assert originals_of([["a"]] * number) == list(range(number))


def test_signatures_are_the_same_in_every_process() -> None:
    assert signature_of(["ein", "Text", "wie", "dieser"])[:2] == [2563242816, 3919800666]
