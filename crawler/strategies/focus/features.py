"""The features of a URL: what the weights of the ordering `focus` belong to."""

from typing import Final

FEATURES: Final = (
    "bias",
    "new host",
    "URL, new host",
    "URL, known host",
    "SVM, new host",
    "SVM, known host",
    "top-level domain",
    "code in the URL",
    "links from relevant pages of other hosts",
    "links from other pages of other hosts",
    "links from relevant pages of the host",
    "links from other pages of the host",
    "declared",
    "registered domain",
    "host",
    "path",
)
"""The names of the features, in the order of the weights."""

# Read by code of classifiers.compiled.
N_LINKS: Final = 4
"""Counts of pages that link to a URL: relevant ones and others of other hosts, then of its own."""

N_UNITS: Final = 6
"""Units of a URL: registered domain, host, and the directories of one to four segments."""

N_FEATURES: Final = len(FEATURES)
