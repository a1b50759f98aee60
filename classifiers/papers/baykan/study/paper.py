"""The figures of Baykan 2013, 4, for comparison with ours.

They were measured on 1.25 million URLs of the Open Directory and of a search engine, 250,000 of
each language, in ten folds. All are percentages. Four figures are P, R, p(-|-) and F1.
Classifiers have our names.
"""

from collections.abc import Mapping
from typing import Final

from classifiers.tables.country_domains import TABLE_I

LANGUAGES: Final = tuple(TABLE_I)

Four = tuple[float, float, float, float]
Rows = Mapping[str, Mapping[str, Four]]
"""Language -> classifier -> its four measures."""


BASELINES: Final[Rows] = {
    "en": {
        "cctld": (96.6, 22.8, 99.2, 36.9),
        "cctld+": (71.6, 91.1, 63.8, 80.2),
        "ip": (82.1, 85.9, 81.3, 84.0),
    },
    "de": {"cctld": (98.5, 85.4, 98.7, 91.5), "ip": (92.8, 92.7, 92.8, 92.7)},
    "fr": {"cctld": (99.8, 36.8, 99.9, 53.7), "ip": (97.5, 64.6, 98.4, 77.7)},
    "es": {"cctld": (99.9, 37.2, 99.9, 54.2), "ip": (99.7, 50.0, 99.8, 66.6)},
    "it": {"cctld": (99.8, 61.3, 99.9, 75.9), "ip": (99.1, 73.5, 99.3, 84.4)},
}
"""Tables V and VII."""

CONFUSION: Final[Mapping[str, tuple[tuple[float, ...], ...]]] = {
    "cctld": (
        (23, 1, 0, 0, 0),
        (0, 85, 0, 0, 0),
        (3, 3, 37, 0, 0),
        (0, 0, 0, 37, 0),
        (0, 1, 0, 0, 61),
    ),
    "cctld+": (
        (91, 1, 0, 0, 0),
        (10, 85, 0, 0, 0),
        (50, 3, 37, 0, 0),
        (54, 0, 0, 37, 0),
        (31, 1, 0, 0, 61),
    ),
    "ip": (
        (86, 6, 1, 0, 0),
        (4, 93, 0, 0, 0),
        (16, 13, 65, 0, 1),
        (37, 5, 4, 50, 1),
        (18, 4, 2, 0, 73),
    ),
}
"""Tables VI and VIII; rows are the languages of the URLs, columns those of the classifiers."""

WORDS: Final[Rows] = {
    "en": {
        "nb:words": (84.9, 95.9, 82.9, 90.0),
        "me:words": (84.3, 96.8, 81.9, 90.1),
        "re:words": (85.0, 95.8, 83.1, 90.1),
        "ros:words": (73.7, 63.6, 77.3, 68.3),
        "svm:words": (84.9, 96.9, 82.7, 90.5),
    },
    "de": {
        "nb:words": (97.7, 94.8, 97.7, 96.2),
        "me:words": (97.7, 94.1, 97.8, 95.9),
        "re:words": (97.6, 95.1, 97.6, 96.3),
        "ros:words": (93.1, 90.6, 93.3, 91.8),
        "svm:words": (98.2, 94.3, 98.2, 96.2),
    },
    "fr": {
        "nb:words": (92.4, 86.9, 92.9, 89.6),
        "me:words": (82.8, 96.3, 80.0, 89.1),
        "re:words": (92.5, 86.9, 93.0, 89.6),
        "ros:words": (88.8, 78.2, 90.1, 83.1),
        "svm:words": (96.7, 83.7, 97.2, 89.8),
    },
    "es": {
        "nb:words": (85.5, 95.1, 83.9, 90.1),
        "me:words": (85.4, 95.6, 83.7, 90.2),
        "re:words": (85.7, 95.1, 84.1, 90.2),
        "ros:words": (78.5, 68.5, 81.2, 73.2),
        "svm:words": (86.0, 95.6, 84.5, 90.5),
    },
    "it": {
        "nb:words": (95.7, 87.2, 96.1, 91.3),
        "me:words": (95.8, 86.4, 96.2, 90.9),
        "re:words": (95.7, 87.3, 96.1, 91.3),
        "ros:words": (92.6, 83.4, 93.3, 87.7),
        "svm:words": (97.9, 85.0, 98.1, 91.0),
    },
}
"""Table IX."""

NGRAMS: Final[Mapping[str, Mapping[str, tuple[str, float]]]] = {
    "en": {
        "nb": ("allgrams-from-url", 91.9),
        "me": ("allgrams-from-url", 93.2),
        "svm": ("allgrams-from-word", 94.2),
        "re": ("allgrams-from-url", 92.5),
        "ros": ("allgrams-from-word", 79.1),
        "markov": ("5-grams-from-url", 91.5),
    },
    "de": {
        "nb": ("6-grams-from-word", 94.9),
        "me": ("allgrams-from-word", 96.8),
        "svm": ("allgrams-from-word", 97.2),
        "re": ("allgrams-from-url", 95.6),
        "ros": ("allgrams-from-word", 89.3),
        "markov": ("5-grams-from-url", 95.2),
    },
    "fr": {
        "nb": ("6-grams-from-word", 92.7),
        "me": ("allgrams-from-url", 93.6),
        "svm": ("allgrams-from-word", 94.4),
        "re": ("allgrams-from-word", 92.9),
        "ros": ("allgrams-from-word", 82.3),
        "markov": ("5-grams-from-url", 92.2),
    },
    "es": {
        "nb": ("6-grams-from-word", 93.0),
        "me": ("allgrams-from-url", 94.1),
        "svm": ("allgrams-from-word", 95.0),
        "re": ("allgrams-from-word", 93.2),
        "ros": ("allgrams-from-word", 83.6),
        "markov": ("5-grams-from-url", 92.5),
    },
    "it": {
        "nb": ("6-grams-from-word", 94.6),
        "me": ("allgrams-from-word", 95.7),
        "svm": ("allgrams-from-word", 96.1),
        "re": ("allgrams-from-url", 94.9),
        "ros": ("3-4-5-6-grams-from-word", 87.9),
        "markov": ("5-grams-from-url", 94.3),
    },
}
"""Table X: the best n-grams of each algorithm, and F1."""

SVM_FEATURES: Final[Mapping[str, tuple[float, ...]]] = {
    "words": (90.5, 96.2, 89.8, 90.5, 91.0),
    "3-grams-from-url": (90.7, 95.6, 90.9, 91.5, 93.5),
    "4-grams-from-url": (92.8, 96.5, 93.0, 93.5, 95.1),
    "5-grams-from-url": (93.3, 96.6, 93.4, 94.0, 95.5),
    "6-grams-from-url": (92.7, 95.7, 92.6, 93.3, 94.9),
    "3-4-grams-from-url": (93.0, 96.6, 93.1, 93.6, 95.2),
    "3-4-5-grams-from-url": (93.7, 96.9, 93.9, 94.4, 95.7),
    "3-4-5-6-grams-from-url": (93.9, 97.0, 94.1, 94.6, 95.9),
    "allgrams-from-url": (94.0, 97.0, 94.2, 94.7, 96.0),
    "3-grams-from-word": (91.3, 96.3, 91.6, 92.4, 94.3),
    "4-grams-from-word": (93.4, 97.0, 93.6, 94.2, 95.5),
    "5-grams-from-word": (93.8, 97.0, 94.0, 94.6, 95.8),
    "6-grams-from-word": (93.5, 96.9, 93.8, 94.3, 95.6),
    "3-4-grams-from-word": (93.3, 96.9, 93.4, 94.1, 95.5),
    "3-4-5-grams-from-word": (93.8, 97.1, 94.0, 94.7, 95.9),
    "3-4-5-6-grams-from-word": (94.1, 97.1, 94.3, 94.9, 96.0),
    "allgrams-from-word": (94.2, 97.2, 94.4, 95.0, 96.1),
}
"""Table XI: F1 for each of LANGUAGES."""

CUSTOM: Final[Rows] = {
    "en": {
        "nb:custom": (80.7, 93.9, 77.5, 86.8),
        "me:custom": (91.1, 95.1, 90.7, 93.1),
        "re:custom": (76.1, 94.1, 70.4, 84.1),
        "svm:custom": (90.8, 95.4, 90.4, 93.1),
        "dt:custom": (92.3, 95.9, 92.0, 94.1),
    },
    "de": {
        "nb:custom": (97.5, 90.1, 97.7, 93.7),
        "me:custom": (96.9, 97.7, 96.9, 97.3),
        "re:custom": (84.1, 92.8, 82.5, 88.2),
        "svm:custom": (97.0, 97.7, 96.9, 97.3),
        "dt:custom": (97.3, 98.1, 97.3, 97.7),
    },
    "fr": {
        "nb:custom": (98.4, 82.2, 98.7, 89.6),
        "me:custom": (96.6, 89.0, 96.8, 92.6),
        "re:custom": (94.5, 85.3, 95.0, 89.7),
        "svm:custom": (96.0, 89.7, 96.2, 92.7),
        "dt:custom": (96.2, 92.6, 96.3, 94.4),
    },
    "es": {
        "nb:custom": (89.7, 87.7, 89.9, 88.7),
        "me:custom": (97.8, 84.3, 98.1, 90.5),
        "re:custom": (85.6, 85.2, 85.7, 85.4),
        "svm:custom": (98.7, 83.0, 98.9, 90.2),
        "dt:custom": (90.2, 94.0, 89.8, 92.1),
    },
    "it": {
        "nb:custom": (99.2, 87.0, 99.3, 92.7),
        "me:custom": (98.8, 93.3, 98.9, 96.0),
        "re:custom": (94.6, 88.7, 95.0, 91.6),
        "svm:custom": (98.7, 93.1, 98.8, 95.8),
        "dt:custom": (98.5, 94.3, 98.6, 96.4),
    },
}
"""Table XII."""

COMPARISON: Final[Rows] = {
    "en": {
        **BASELINES["en"],
        "svm:allgrams-from-word": (92.2, 96.2, 91.9, 94.2),
        "dt:custom": CUSTOM["en"]["dt:custom"],
        "re:allgrams-from-word": (90.8, 93.1, 90.6, 91.9),
        "ip+svm:allgrams-from-word": (80.2, 98.2, 75.7, 88.3),
    },
    "de": {
        **BASELINES["de"],
        "svm:allgrams-from-word": (98.5, 95.8, 98.5, 97.2),
        "dt:custom": CUSTOM["de"]["dt:custom"],
        "re:allgrams-from-word": (97.0, 92.8, 97.2, 94.9),
        "ip+svm:allgrams-from-word": (92.7, 99.0, 92.2, 95.7),
    },
    "fr": {
        **BASELINES["fr"],
        "svm:allgrams-from-word": (95.8, 93.0, 96.0, 94.4),
        "dt:custom": CUSTOM["fr"]["dt:custom"],
        "re:allgrams-from-word": (94.2, 91.7, 94.4, 92.9),
        "ip+svm:allgrams-from-word": (94.6, 96.6, 94.5, 95.6),
    },
    "es": {
        **BASELINES["es"],
        "svm:allgrams-from-word": (95.8, 94.2, 95.9, 95.0),
        "dt:custom": CUSTOM["es"]["dt:custom"],
        "re:allgrams-from-word": (94.7, 91.8, 94.8, 93.2),
        "ip+svm:allgrams-from-word": (95.8, 96.5, 95.7, 96.2),
    },
    "it": {
        **BASELINES["it"],
        "svm:allgrams-from-word": (97.7, 94.5, 97.8, 96.1),
        "dt:custom": CUSTOM["it"]["dt:custom"],
        "re:allgrams-from-word": (95.5, 93.7, 95.6, 94.6),
        "ip+svm:allgrams-from-word": (97.3, 98.0, 97.2, 97.6),
    },
}
"""Table XIV, and the baselines of Tables V and VII."""

EMPTY: Final[Mapping[str, Mapping[str, tuple[float, ...]]]] = {
    "en": {
        "svm:words": (84.9, 96.9, 82.7, 90.5, 19.3, 19.3, 94.1, 95.8, 93.9, 94.9),
        "svm:allgrams-from-word": (92.2, 96.2, 91.9, 94.2, 19.3, 14.7, 95.6, 96.3, 95.6, 95.9),
        "svm:custom": (90.8, 95.4, 90.4, 93.1, 19.3, 14.4, 92.6, 94.8, 92.4, 93.7),
    },
    "de": {
        "svm:words": (98.2, 94.3, 98.2, 96.2, 10.2, 0.0, 97.8, 96.5, 97.9, 97.1),
        "svm:allgrams-from-word": (98.5, 95.8, 98.5, 97.2, 10.2, 0.4, 98.3, 97.3, 98.4, 97.8),
        "svm:custom": (97.0, 97.7, 96.9, 97.3, 10.2, 1.3, 97.1, 98.0, 97.0, 97.5),
    },
    "fr": {
        "svm:words": (96.7, 83.7, 97.2, 89.8, 13.6, 0.05, 96.6, 94.6, 96.7, 95.6),
        "svm:allgrams-from-word": (95.8, 93.0, 96.0, 94.4, 13.6, 4.9, 97.2, 96.0, 97.3, 96.6),
        "svm:custom": (96.0, 89.7, 96.2, 92.7, 13.6, 4.6, 96.4, 91.9, 96.5, 94.1),
    },
    "es": {
        "svm:words": (86.0, 95.6, 84.5, 90.5, 16.4, 14.7, 96.0, 96.4, 96.0, 96.2),
        "svm:allgrams-from-word": (95.8, 94.2, 95.9, 95.0, 16.4, 8.8, 97.6, 96.9, 97.7, 97.3),
        "svm:custom": (98.7, 83.0, 98.9, 90.2, 16.4, 5.4, 98.7, 89.0, 98.8, 93.6),
    },
    "it": {
        "svm:words": (97.9, 85.0, 98.1, 91.0, 13.7, 0.01, 97.8, 95.9, 97.8, 96.8),
        "svm:allgrams-from-word": (97.7, 94.5, 97.8, 96.1, 13.7, 4.5, 98.4, 97.4, 98.4, 97.9),
        "svm:custom": (98.7, 93.1, 98.8, 95.8, 13.7, 4.9, 98.7, 94.3, 98.8, 96.5),
    },
}
"""Table XIII: four measures; empty URLs, and those that got a Yes, as shares of all test URLs;
four measures without empty URLs."""

DOMAINS_SEEN: Final[Mapping[str, float]] = {"en": 51, "de": 47, "fr": 54, "es": 57, "it": 52}
"""4.3.1: test URLs whose domain is in the training set."""

MULTILINGUAL_SEEN: Final[Mapping[str, float]] = {"en": 19}
"""4.3.1: test URLs whose domain is in the training set in more than one language."""

MACRO_F1: Final[Mapping[str, float]] = {
    "cctld": 63,
    "ip": 81,
    "svm:allgrams-from-word": 95,
    "dt:custom": 95,
    "re:allgrams-from-word": 94,
}
"""4.7 and Figure 4."""

SMALLEST_TRAINING_F1: Final[Mapping[str, float]] = {"ip+svm:allgrams-from-word": 90}
"""4.7.2: macro-averaged F1 with 0.1 % of the training data."""

FLASH: Final[Rows] = {
    "en": {
        "cctld": (98.7, 52.0, 99.3, 68.1),
        "ip": (90.5, 85.1, 91.1, 87.7),
        "svm:allgrams-from-word": (92.8, 97.3, 92.5, 95.0),
        "dt:custom": (93.6, 96.6, 93.4, 95.1),
        "re:allgrams-from-word": (88.0, 97.2, 86.7, 92.3),
        "ip+svm:allgrams-from-word": (87.5, 99.1, 85.8, 92.9),
    },
    "de": {
        "cctld": (99.5, 86.5, 99.6, 92.6),
        "ip": (93.8, 94.3, 93.7, 94.0),
        "svm:allgrams-from-word": (98.8, 94.7, 98.8, 96.7),
        "dt:custom": (98.1, 96.4, 98.1, 97.2),
        "re:allgrams-from-word": (96.2, 87.4, 96.6, 91.6),
        "ip+svm:allgrams-from-word": (93.2, 98.1, 92.9, 95.6),
    },
    "fr": {
        "cctld": (99.9, 67.0, 99.9, 80.2),
        "ip": (99.0, 69.5, 99.3, 81.6),
        "svm:allgrams-from-word": (98.5, 91.0, 98.6, 94.6),
        "dt:custom": (95.6, 92.4, 95.7, 94.0),
        "re:allgrams-from-word": (94.7, 92.3, 94.8, 93.5),
        "ip+svm:allgrams-from-word": (97.9, 94.4, 98.0, 96.1),
    },
    "es": {
        "cctld": (99.9, 76.9, 99.9, 86.9),
        "ip": (99.6, 70.7, 99.7, 82.7),
        "svm:allgrams-from-word": (97.0, 95.8, 97.0, 96.4),
        "dt:custom": (95.1, 94.7, 95.1, 94.9),
        "re:allgrams-from-word": (97.4, 92.0, 97.6, 94.6),
        "ip+svm:allgrams-from-word": (96.9, 97.2, 96.9, 97.1),
    },
    "it": {
        "cctld": (99.8, 83.9, 99.9, 91.2),
        "ip": (98.1, 88.1, 98.3, 92.9),
        "svm:allgrams-from-word": (99.5, 92.3, 99.6, 95.8),
        "dt:custom": (98.4, 96.8, 98.4, 97.6),
        "re:allgrams-from-word": (97.9, 90.3, 98.1, 94.0),
        "ip+svm:allgrams-from-word": (98.1, 97.0, 98.1, 97.5),
    },
}
"""Table XVI: classifiers of all training data on Flash pages, which are a test set only."""

FLASH_URLS: Final[Mapping[str, int]] = {"en": 2400, "de": 2200, "fr": 1700, "es": 1500, "it": 1700}
"""Table XV: the Flash pages of each language."""

SMALLEST_TRAINING_F1_ON_FLASH: Final[Mapping[str, float]] = {"ip+svm:allgrams-from-word": 92}
"""5.1: macro-averaged F1 on the Flash pages with 0.1 % of the training data."""

CONTENT: Final[Mapping[str, Mapping[str, tuple[float, float]]]] = {
    "nb:words": {"en": (87, 81), "de": (94, 77), "fr": (86, 79), "it": (86, 85), "es": (87, 83)},
    "me:words": {"en": (87, 81), "de": (93, 70), "fr": (86, 79), "it": (85, 81), "es": (86, 83)},
}
"""Table 10 of the study of 2008: F1 on URLs, trained on URLs and on the content of their pages."""

BEST_COMBINATION: Final[Mapping[str, float]] = {"en": 91, "de": 93, "fr": 91, "es": 93, "it": 95}
"""Table 9 of the study of 2008: F1 of the best combination, mean over three other test sets."""

BEST: Final[Mapping[str, Mapping[str, str]]] = {
    "words": {
        "en": "svm:words",
        "de": "re:words",
        "fr": "svm:words",
        "es": "svm:words",
        "it": "re:words",
    },
    "custom": dict.fromkeys(LANGUAGES, "dt:custom"),
    "comparison": {
        "en": "svm:allgrams-from-word",
        "de": "dt:custom",
        "fr": "ip+svm:allgrams-from-word",
        "es": "ip+svm:allgrams-from-word",
        "it": "ip+svm:allgrams-from-word",
    },
    "flash": {
        "de": "dt:custom",
        "fr": "ip+svm:allgrams-from-word",
        "es": "ip+svm:allgrams-from-word",
    },
    "empty": {
        "en": "svm:allgrams-from-word",
        "de": "svm:custom",
        "fr": "svm:allgrams-from-word",
        "es": "svm:allgrams-from-word",
        "it": "svm:allgrams-from-word",
    },
}
"""The classifiers that the paper marks as significantly better than the others of a table."""
