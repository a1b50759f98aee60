"""Cross-validation on a Dask cluster of processes."""

import pytest

from classifiers.errors import MissingPackageError, StudyError
from classifiers.lab.study import workers
from classifiers.lab.study.samples import draw
from classifiers.lab.study.validation import Study
from classifiers.lab.study.workers import Workers
from tests.support.studyurls import labelled

NAMES = ["svm:words", "re:words", "cctld"]
PAIR = ("en", "de")


def test_two_worker_processes_of_a_cluster_find_what_one_process_finds() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    corpus = draw(labelled(40, PAIR), PAIR)
    alone = Study(corpus, n_folds=3)
    alone.run(NAMES)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        together = Study(
            corpus, n_folds=3, workers=Workers(jobs=2, cluster=cluster.scheduler_address)
        )
        together.run(NAMES)
        with distributed.Client(cluster) as client:
            calls = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert len(calls) == 2
    # Two algorithms for each of two languages, wherever they were computed.
    assert sum(calls.values()) == 4
    for name in NAMES:
        for language in PAIR:
            assert (together.decisions(name, language) == alone.decisions(name, language)).all()


def test_a_scheduler_that_does_not_answer_is_named() -> None:
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    with (
        pytest.raises(StudyError, match="no Dask scheduler answers"),
        Workers(cluster="127.0.0.1:1", timeout_s=1).open(),
    ):
        pass


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"'langfocus\[cluster\]'"):
        Workers(cluster="127.0.0.1:1")
