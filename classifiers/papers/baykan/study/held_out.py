"""Classifiers trained on all training URLs, on a test set of its own (Baykan 2013, 5.1).

The test set is of another source or year. It is not drawn to be balanced: every test URL counts,
and the other languages of a classifier have equal weight as negatives, so that the measures do not
depend on their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from classifiers.datasets import LabelledUrl, distinct
from classifiers.errors import DatasetError
from classifiers.papers import evaluation
from classifiers.papers.baykan.study import samples
from classifiers.papers.baykan.study.samples import Corpus, Flags, Sample
from classifiers.papers.baykan.study.validation import STANDARD, Setting, Study

_TRAINED_ON = -1
_TESTED_IN = 0


@dataclass(frozen=True)
class JoinedCorpus(Corpus):
    """The rows of a training corpus, and after them those of a test set."""

    training: Corpus
    n_removed: int
    """Test URLs that were left out because they are training URLs."""

    @property
    def per_language(self) -> int:
        """Return the number of training URLs of each language."""
        return self.training.per_language

    @property
    def is_tested(self) -> Flags:
        """Return whether each row is of the test set, (n_urls,)."""
        return np.arange(len(self.rows)) >= len(self.training.rows)

    @property
    def is_unseen(self) -> Flags:
        """Return whether each row's registered domain is that of no training row, (n_urls,)."""
        return ~np.isin(self.domains, self.domains[~self.is_tested])


def joined(training: Corpus, tested: Iterable[LabelledUrl]) -> JoinedCorpus:
    """The training corpus with the test URLs in its languages that are not training URLs.

    A test URL counts once. DatasetError if a language has no test URL.
    """
    known = {row.url for row in training.rows}
    wanted = [row for row in distinct(tested) if row.language in training.languages]
    new = [row for row in wanted if row.url not in known]
    if missing := [code for code in training.languages if code not in {r.language for r in new}]:
        raise DatasetError(f"the test set has no URLs in {', '.join(missing)}: see --languages")
    new.sort(key=lambda row: (training.languages.index(row.language), row))
    rows = (*training.rows, *new)
    return JoinedCorpus(training.languages, rows, training, len(wanted) - len(new))


class HeldOutStudy(Study):
    """A study with one fold, whose test URLs are those of a test set of its own.

    Parameters
    ----------
    corpus : JoinedCorpus
        The training URLs and the test URLs.
    seed, workers, servers, on_progress
        As those of `Study`.
    """

    corpus: JoinedCorpus

    def __init__(self, corpus: JoinedCorpus, **options: Any) -> None:
        super().__init__(corpus, n_folds=1, **options)

    def scores(
        self, name: str, language: str, setting: Setting = STANDARD, among: Flags | None = None
    ) -> evaluation.Matrix:
        """Return P, R, p(-|-), F1 on the test URLs, (1, 4); `among` selects URLs."""
        sample = self.sample(language, setting)
        tested = sample.folds == _TESTED_IN
        chosen = tested if among is None else tested & among
        said_yes = self.decisions(name, language, setting)[chosen]
        columns = self.corpus.columns[sample.places][chosen]
        own = self.languages.index(language)
        others = [said_yes[columns == at] for at in range(len(self.languages)) if at != own]
        wrong = [float(each.mean()) for each in others if len(each)]
        of_own = said_yes[columns == own]
        found = evaluation.Measures(
            float(of_own.mean()) if len(of_own) else float("nan"),
            1.0 - float(np.mean(wrong)) if wrong else float("nan"),
        )
        return np.array([[found.precision, found.recall, found.negative_success, found.f1]])

    def _check_folds(self, corpus: Corpus, n_folds: int) -> None:
        """Accept one fold: training and test URLs are apart."""

    def _drawn(self, language: str, *, is_disjoint: bool) -> Sample:
        trained = samples.sample(self.corpus.training, language, seed=self.seed)
        tested = np.flatnonzero(self.corpus.is_tested)
        places = np.concatenate([trained.places, tested])
        folds = np.repeat([_TRAINED_ON, _TESTED_IN], [len(trained.places), len(tested)])
        y = self.corpus.columns[places] == self.languages.index(language)
        return Sample(language, places, y, folds)
