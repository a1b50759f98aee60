"""Classifiers on a test set of its own."""

import numpy as np
import pytest

from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.papers.baykan import dictionaries
from langfocus.classifiers.papers.baykan.experiments import OF_TEST_SET
from langfocus.classifiers.papers.baykan.samples import draw, joined
from langfocus.classifiers.papers.baykan.study import Study
from tests.support.studyurls import FIVE, answers_anew, labelled

TRAINING = labelled(40)
TESTED = [*labelled(25, seed=1), *TRAINING[:3]]


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(joined(draw(TRAINING, FIVE), TESTED))


def test_training_urls_are_left_out_of_the_test_set_and_counted(study: Study) -> None:
    corpus = study.corpus
    assert corpus.n_removed == 3
    assert corpus.is_tested.sum() == 125
    assert corpus.per_language == 40
    assert not {row.url for row in corpus.rows[200:]} & {row.url for row in TRAINING}
    with pytest.raises(DatasetError, match="no URLs in de, it"):
        joined(draw(TRAINING, FIVE), [row for row in TESTED if row.language not in {"de", "it"}])


def test_decisions_are_those_of_a_classifier_fitted_on_all_training_urls(
    study: Study,
) -> None:
    name = "svm:words"
    sample, urls = study.sample("fr"), np.array(study.urls("fr"), object)
    trained = sample.folds == -1
    assert trained.sum() == 80
    learned = urls[trained].tolist()
    expected = answers_anew(name, learned, sample.y[trained], urls[~trained].tolist())
    assert (study.decisions(name, "fr")[~trained] == expected).all()


def test_the_tables_are_those_of_the_paper(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionaries, "are_installed", lambda: False)
    of_set, of_sizes = (row.carried_out(study) for row in OF_TEST_SET.values())
    urls, compared = of_set.tables
    assert [row.cells[0].paper for row in urls.rows] == [2400, 2200, 1700, 1500, 1700]
    assert [row.cells[0].ours for row in urls.rows] == [25] * 5
    assert compared.rows[0].key == {"language": "en", "classifier": "cctld"}
    assert compared.rows[0].cells[3].paper == 68.1
    assert compared.rows[0].cells[3].spread is None
    (sizes,) = of_sizes.tables
    whole = [row.cells[0].ours for row in sizes.rows]
    means = {row.key["classifier"]: row.cells[3].ours for row in compared.rows[-4:]}
    assert whole == [means[row.key["classifier"]] for row in sizes.rows]
