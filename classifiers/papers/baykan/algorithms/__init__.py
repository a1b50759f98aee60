"""The algorithms of the study, built by name (Baykan 2013, 2.2, 4.1, 4.2 and 4.7.1).

Three kinds of names: an algorithm over feature matrices (`svm`), a feature set
(`allgrams-from-word`), and a classifier of URLs, which is a baseline (`cctld`), an algorithm with a
feature set (`svm:allgrams-from-word`), or both joined with the IP baseline (`ip+svm:words`).
"""

from classifiers.papers.baykan.algorithms.binary import BinaryClassifier
from classifiers.papers.baykan.algorithms.combinations import (
    BestPerLanguage,
    Both,
    Either,
    both,
    either,
)
from classifiers.papers.baykan.algorithms.margin import PaperSupportVectors, SupportVectors
from classifiers.papers.baykan.algorithms.naming import (
    BASELINES,
    NAMES,
    algorithm,
    best_per_language,
    classifier,
    feature_sets,
)
from classifiers.papers.baykan.algorithms.probabilistic import (
    GaussianBayes,
    MaximumEntropy,
    NaiveBayes,
)
from classifiers.papers.baykan.algorithms.similarity import Markov, RankOrder, RelativeEntropy
from classifiers.papers.baykan.algorithms.trees import DecisionTree
from classifiers.papers.baykan.algorithms.untrained import CcTld, CcTldPlus, Ip
from classifiers.papers.baykan.algorithms.urlclassifier import FeatureClassifier, UrlClassifier
from classifiers.papers.baykan.algorithms.weighting import PaperWeighting

__all__ = [
    "BASELINES",
    "NAMES",
    "BestPerLanguage",
    "BinaryClassifier",
    "Both",
    "CcTld",
    "CcTldPlus",
    "DecisionTree",
    "Either",
    "FeatureClassifier",
    "GaussianBayes",
    "Ip",
    "Markov",
    "MaximumEntropy",
    "NaiveBayes",
    "PaperSupportVectors",
    "PaperWeighting",
    "RankOrder",
    "RelativeEntropy",
    "SupportVectors",
    "UrlClassifier",
    "algorithm",
    "best_per_language",
    "both",
    "classifier",
    "either",
    "feature_sets",
]
