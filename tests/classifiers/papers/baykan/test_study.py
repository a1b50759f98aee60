import numpy as np
import pytest
from scipy.sparse import csr_matrix

from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.papers.baykan.measures import empty
from langfocus.classifiers.papers.baykan.samples import draw
from langfocus.classifiers.papers.baykan.special import domain_seen
from langfocus.classifiers.papers.baykan.study import (
    DISJOINT,
    STANDARD,
    Setting,
    Study,
    counted_parts,
)
from tests.support.studyurls import FIVE, answers_anew, labelled


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(draw(labelled(60), FIVE), n_folds=4)


def test_each_url_is_tested_exactly_once_and_never_trained_on(study: Study) -> None:
    sample = study.sample("fr")
    tested = np.zeros(len(sample.y), int)
    for train, test in sample.parts(share=0.5):
        tested[test] += 1
        assert not set(train.tolist()) & set(test.tolist())
    assert (tested == 1).all()


# Ranks of features that are as frequent depend on the order of columns, which is another here.
@pytest.mark.parametrize(
    "name",
    ["svm:words", "nb:3-grams-from-url", "re:allgrams-from-word", "markov:3-grams-from-word"],
)
def test_decisions_are_those_of_a_classifier_fitted_anew_in_each_fold(
    study: Study, name: str
) -> None:
    urls, sample = np.array(study.urls("de"), object), study.sample("de")
    expected = np.zeros(len(urls), bool)
    for train, test in sample.parts():
        learned = urls[train].tolist()
        expected[test] = answers_anew(name, learned, sample.y[train], urls[test].tolist())
    assert (study.decisions(name, "de") == expected).all()


def test_a_share_of_the_training_urls_gives_other_decisions_on_the_same_folds(
    study: Study,
) -> None:
    few = Setting(share=0.02)
    assert (study.sample("de", few).folds == study.sample("de").folds).all()
    study.run(["nb:words"], [STANDARD, few])
    assert study.scores("nb:words", "de", few).mean() < study.scores("nb:words", "de").mean()


def test_decisions_are_computed_once(study: Study) -> None:
    assert study.decisions("nb:words", "es") is study.decisions("nb:words", "es")


def test_progress_is_told_language_by_language() -> None:
    calls: list[tuple[int, int]] = []
    corpus = draw(labelled(20, ("en", "de")), ("en", "de"))
    study = Study(corpus, n_folds=2, on_progress=lambda *steps: calls.append(steps))
    study.run(["nb:words", "re:words", "cctld"])
    assert calls == [(1, 2), (2, 2)]


def test_two_processes_find_what_one_process_finds(study: Study) -> None:
    names = ["svm:words", "nb:3-grams-from-word"]
    other = Study(study.corpus, n_folds=4, jobs=2)
    other.run(names)
    for name in names:
        for language in FIVE:
            assert (other.decisions(name, language) == study.decisions(name, language)).all()


def test_ip_says_yes_where_the_server_stands_in_a_country_of_the_language(study: Study) -> None:
    hosts = [url.removeprefix("http://").partition("/")[0] for url in study.corpus.urls]
    servers = {host: "AT" for host in hosts if host.endswith(".com")}
    own = Study(study.corpus, n_folds=4, servers=servers)
    is_com = np.array([".com/" in url for url in own.urls("de")])
    assert (own.decisions("ip", "de") == is_com).all()
    assert not own.decisions("ip", "fr").any()
    both = own.decisions("ip+nb:words", "de")
    assert (both == (is_com | own.decisions("nb:words", "de"))).all()


def test_languages_beyond_the_paper_have_baselines() -> None:
    study = Study(draw(labelled(30, ("nl", "de")), ("nl", "de")), n_folds=3)
    is_nl = np.array([".nl/" in url for url in study.urls("nl")])
    assert (study.decisions("cctld", "nl") == is_nl).all()


def test_a_url_is_empty_if_no_training_url_has_its_words() -> None:
    rows = [row._replace(url=f"http://{at}x.com/index.html") for at, row in enumerate(labelled(12))]
    words = [row._replace(url=f"http://{row.language}word.com/{at}") for at, row in enumerate(rows)]
    nothing = Study(draw(rows, FIVE), n_folds=3)
    something = Study(draw(words, FIVE), n_folds=3)
    assert empty(nothing, "en").all()
    assert not empty(something, "en").any()


def test_domains_that_were_trained_on_are_counted(study: Study) -> None:
    is_seen, is_multilingual = domain_seen(study, "en")
    assert 0.1 < is_seen.mean() <= 1
    assert not (is_multilingual & ~is_seen).any()
    domains = study.corpus.domains[study.sample("en", DISJOINT).places]
    for train, test in study.sample("en", DISJOINT).parts():
        assert not set(domains[train]) & set(domains[test])


def test_folds_that_few_domains_leave_empty_are_passed_over() -> None:
    rows = [
        row._replace(url=f"http://one.{row.language}/{at}") for at, row in enumerate(labelled(6))
    ]
    study = Study(draw(rows, FIVE, least=6), n_folds=6)
    setting = DISJOINT
    assert set(study.sample("en", setting).folds) != set(range(6))
    # The positives are all of one domain: whoever tests them has learned from none.
    for name in ("nb:words", "re:3-grams-from-url"):
        assert not study.decisions(name, "en", setting)[study.sample("en", setting).y].any()


def test_columns_that_no_training_url_has_are_left_out() -> None:
    counts = csr_matrix(np.array([[1.0, 0, 2], [0, 0, 3], [4.0, 5, 6]]))
    train, test, y = np.array([0, 1]), np.array([2]), np.zeros(3, bool)
    parted = counted_parts(counts, np.array(list("abc"), object), train, test, y)
    assert parted.names.tolist() == ["a", "c"]
    assert parted.training.toarray().tolist() == [[1, 2], [0, 3]]
    assert parted.testing.toarray().tolist() == [[4, 6]]


def test_ip_without_countries_and_folds_that_are_no_cross_validation_are_refused(
    study: Study,
) -> None:
    with pytest.raises(StudyError, match="addresses"):
        study.run(["ip"])
    for n_folds in (1, 61):
        with pytest.raises(StudyError, match="2 folds or more, and not more than the 60 URLs"):
            Study(study.corpus, n_folds=n_folds)
