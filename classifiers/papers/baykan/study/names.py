"""Names of classifiers: `cctld`, `cctld+`, `ip`, `svm:words`, `ip+svm:allgrams-from-word`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from classifiers.errors import AlgorithmError, StudyError
from classifiers.papers.baykan import algorithms
from classifiers.papers.baykan.algorithms import BASELINES

CUSTOM: Final = ("custom", "custom-2008")

_LABELS: Final = {
    "cctld": "ccTLD",
    "cctld+": "ccTLD+",
    "ip": "IP",
    "markov": "Markov",
    "svm-perf": "SVM-perf",
}


@dataclass(frozen=True)
class Name:
    """The parts of a classifier's name."""

    text: str
    algorithm: str | None
    """None for a baseline."""
    features: str | None
    with_ip: bool
    """True if it also says Yes when the IP baseline does."""

    @property
    def is_baseline(self) -> bool:
        """Return whether it needs no training."""
        return self.algorithm is None

    @property
    def trained(self) -> str:
        """Return the name of the part that is trained."""
        return f"{self.algorithm}:{self.features}"

    @property
    def needs_addresses(self) -> bool:
        """Return whether it needs the countries of servers."""
        return self.with_ip or self.text == "ip"

    @property
    def needs_dictionaries(self) -> bool:
        """True if it needs the packages of the extra `dictionaries`."""
        return self.features in CUSTOM


def parse(text: str) -> Name:
    """The parts of a name; StudyError if an algorithm or a feature set is not known."""
    if text in BASELINES:
        return Name(text, None, None, False)
    with_ip = text.startswith("ip+")
    algorithm, colon, features = text.removeprefix("ip+").partition(":")
    if not colon:
        raise StudyError(
            f"classifier {text!r} is none of {', '.join(BASELINES)}, ALGORITHM:FEATURES, "
            "ip+ALGORITHM:FEATURES"
        )
    try:
        algorithms.algorithm(algorithm, features)
    except AlgorithmError as error:
        raise StudyError(f"classifier {text!r}: {error}") from error
    return Name(text, algorithm, features, with_ip)


def label(text: str) -> str:
    """The paper's name of a classifier: `SVM allgrams + IP`, `NB 6-grams-from-url`."""
    if text in BASELINES:
        return _LABELS[text]
    algorithm, _, features = text.removeprefix("ip+").partition(":")
    name = _LABELS.get(algorithm, algorithm.upper())
    short = features.replace("allgrams-from-word", "allgrams")
    return f"{name} {short}" + (" + IP" if text.startswith("ip+") else "")
