"""Every experiment by its name, in the order in which they are carried out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from classifiers.papers.baykan.study.beyond import BEYOND
from classifiers.papers.baykan.study.comparisons import COMPARISONS
from classifiers.papers.baykan.study.experiments import TABLES
from classifiers.papers.baykan.study.few_features import few_features
from classifiers.papers.baykan.study.held_out import HeldOutStudy
from classifiers.papers.baykan.study.svm_of_paper import svm_of_paper
from classifiers.papers.baykan.study.transfer import TRANSFER
from classifiers.papers.baykan.study.tree_top import tree
from classifiers.papers.baykan.study.validation import Experiment, Study
from classifiers.papers.table import Result

EVERY: Final[Mapping[str, Experiment]] = {
    **TABLES,
    **COMPARISONS,
    "tree": tree,
    "few-features": few_features,
    "svm-perf": svm_of_paper,
    **BEYOND,
}


def carry_out(study: Study, names: Sequence[str]) -> Iterator[Result]:
    """Yield the result of each experiment, with the seconds it took after those before it.

    The experiments of `TRANSFER` are for a `HeldOutStudy`.
    """
    for name in names:
        start = time.monotonic()
        result = TRANSFER[name](study) if isinstance(study, HeldOutStudy) else EVERY[name](study)
        yield replace(result, seconds=time.monotonic() - start)
