"""The algorithms of the study, built by name (Baykan 2013, 2.2, 4.1, 4.2 and 4.7.1).

Three kinds of names: an algorithm over feature matrices (`svm`), a feature set
(`allgrams-from-word`), and a classifier of URLs, which is a baseline (`cctld`), an algorithm with a
feature set (`svm:allgrams-from-word`), or both joined with the IP baseline (`ip+svm:words`).
"""

from classifiers.lab.algorithms.binary import BinaryClassifier
from classifiers.lab.algorithms.combinations import BestPerLanguage, Both, Either, both, either
from classifiers.lab.algorithms.margin import PaperSupportVectors, SupportVectors
from classifiers.lab.algorithms.naming import (
    BASELINES,
    NAMES,
    algorithm,
    best_per_language,
    classifier,
    feature_sets,
)
from classifiers.lab.algorithms.probabilistic import GaussianBayes, MaximumEntropy, NaiveBayes
from classifiers.lab.algorithms.similarity import Markov, RankOrder, RelativeEntropy
from classifiers.lab.algorithms.trees import DecisionTree
from classifiers.lab.algorithms.untrained import CcTld, CcTldPlus, Ip
from classifiers.lab.algorithms.urlclassifier import FeatureClassifier, UrlClassifier
from classifiers.lab.algorithms.weighting import PaperWeighting

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
