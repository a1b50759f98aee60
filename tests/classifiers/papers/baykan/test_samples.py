import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.classifiers.datasets.rows import LabelledUrl
from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.papers.baykan import samples
from langfocus.classifiers.papers.baykan.samples import Corpus, draw, sample
from tests.support.studyurls import FIVE, labelled

CODES = ("en", "de", "fr", "es", "it", "nl", "pt")


def corpus(n_languages: int, per_language: int) -> Corpus:
    languages = CODES[:n_languages]
    rows = [
        LabelledUrl(f"http://{code}{at // 3}.com/{at}", code, "editor", "rule")
        for code in languages
        for at in range(per_language)
    ]
    return Corpus(languages, tuple(rows))


corpora = st.builds(corpus, st.integers(2, 7), st.integers(5, 40))
seeds = st.integers(0, 1000)
n_folds = st.integers(2, 5)


@given(corpora, n_folds, seeds)
def test_a_sample_is_balanced_in_answers_languages_and_folds(
    corpus: Corpus, n_folds: int, seed: int
) -> None:
    found = sample(corpus, corpus.languages[-1], n_folds=n_folds, seed=seed)
    columns, own = corpus.columns[found.places], len(corpus.languages) - 1
    assert len(set(found.places.tolist())) == len(found.places) == 2 * corpus.per_language
    assert ((columns == own) == found.y).all()
    assert found.y.sum() == corpus.per_language
    others = np.bincount(columns[~found.y], minlength=own)
    assert others.max() - others.min() <= 1
    groups = [np.ones(len(columns), bool), found.y, ~found.y]
    groups += [columns == column for column in range(own)]
    for group in groups:
        sizes = np.bincount(found.folds[group], minlength=n_folds)
        assert len(sizes) == n_folds
        assert sizes.max() - sizes.min() <= 1


# The first domain that is read loads the public suffix list.
@settings(deadline=None)
@given(corpora, n_folds, seeds)
def test_disjoint_folds_share_no_domain(corpus: Corpus, n_folds: int, seed: int) -> None:
    language = corpus.languages[0]
    found = sample(corpus, language, n_folds=n_folds, seed=seed, is_disjoint=True)
    of_domain: dict[int, set[int]] = {}
    for domain, fold in zip(corpus.domains[found.places], found.folds, strict=True):
        of_domain.setdefault(int(domain), set()).add(int(fold))
    assert all(len(where) == 1 for where in of_domain.values())


def test_disjoint_folds_are_as_even_as_small_groups_allow() -> None:
    groups = np.repeat(np.arange(200), 2)
    y = groups % 2 == 0
    found = samples.disjoint(groups, y, 10, np.random.default_rng(0))
    assert set(np.bincount(found[y])) == set(np.bincount(found[~y])) == {20}


@given(seeds, st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_a_smaller_share_of_the_training_urls_is_part_of_a_larger_one(
    seed: int, one: float, other: float
) -> None:
    training, y = np.arange(5, 205), np.arange(210) % 3 == 0
    small, large = (
        set(samples.thinned(training, y, share, np.random.default_rng(seed)).tolist())
        for share in sorted((one, other))
    )
    assert small <= large <= set(training.tolist())
    assert {bool(y[at]) for at in small} == {True, False}


def test_the_same_rows_in_another_order_give_the_same_corpus() -> None:
    rows = labelled(30)
    assert draw(rows, FIVE, urls=20, seed=3) == draw(rows[::-1], FIVE, urls=20, seed=3)
    assert draw(rows, FIVE, urls=20, seed=3) != draw(rows, FIVE, urls=20, seed=4)


def test_the_smallest_language_bounds_the_others() -> None:
    rows = [row for at, row in enumerate(labelled(30)) if row.language != "it" or at % 3]
    smallest = sum(row.language == "it" for row in rows)
    assert draw(rows, FIVE).per_language == smallest < 30
    assert draw(rows, FIVE, urls=12).per_language == 12
    assert draw(rows, FIVE, urls=1000).per_language == smallest


def test_languages_without_enough_urls_are_refused() -> None:
    for languages in (("en",), ("en", "nl"), ()):
        with pytest.raises(DatasetError):
            draw(labelled(20), languages)
