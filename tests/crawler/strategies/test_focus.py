"""The ordering `focus`: its evidence, its arithmetic against numpy, and what it learns."""

from math import exp, log, log1p, pi, sqrt

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.crawler.strategies.focus.belief import Belief, Numbers
from langfocus.crawler.strategies.focus.evidence import (
    FEATURES,
    N_FEATURES,
    N_KNOWN,
    N_UNITS,
    Evidence,
    units_of,
)
from langfocus.crawler.strategies.focus.kernel import learn, scores_of
from langfocus.crawler.strategies.links import LinkSource
from langfocus.crawler.strategies.makers import evidence_of
from langfocus.crawler.strategies.orderings import learning
from tests.support.learning import PRIOR

Floats = npt.NDArray[np.float64]


@pytest.mark.parametrize(
    ("url", "units"),
    [
        ("http://a.de/", ["a.de", "a.de/"]),
        ("http://a.de", ["a.de", "a.de/"]),
        ("http://a.de/x.html", ["a.de", "a.de/"]),
        ("https://www.a.de:81/x/?q=a/b/c", ["a.de", "a.de/", "a.de/x/"]),
        ("http://b.a.co.uk/x/y", ["a.co.uk", "b.a.co.uk/", "b.a.co.uk/x/"]),
        ("http://192.0.2.1/x/", ["192.0.2.1", "192.0.2.1/", "192.0.2.1/x/"]),
    ],
)
def test_the_units_of_a_url_are_its_domain_host_and_directories(url: str, units: list[str]) -> None:
    assert list(units_of(url)) == units


def test_a_language_with_a_url_model_has_all_evidence() -> None:
    urls = ["http://www.zeitung-bremen.de/nachrichten/heute.html", "http://www.lemonde.fr/fr/"]
    german, french = evidence_of("de", None)[0](urls, {urls[1]: True})
    assert german.named > 0 > french.named
    assert german.decision > 0 > french.decision
    assert (german.top_level, german.code, german.declared) == (1, 0, 0)
    assert (french.top_level, french.code, french.declared) == (-1, -1, 1)


def test_a_language_that_the_model_only_names_has_no_decision() -> None:
    (basque,) = evidence_of("eu", None)[0](["http://a.eus/eu/x"], {})
    assert basque._replace(named=0.0) == Evidence(top_level=1.0, code=1.0)
    assert basque.named > 0


def test_a_language_that_the_model_cannot_name_has_the_codes_of_urls() -> None:
    of_urls = evidence_of("vo", None)[0]
    urls = ["http://a.com/vo/x", "http://a.com/", "http://a.de/fr/x"]
    volapuk, none, other = of_urls(urls, {urls[1]: False})
    assert volapuk == Evidence(code=1.0)
    assert none == Evidence(declared=-1.0)
    assert other == Evidence(code=-1.0)  # a domain of another language says nothing alone
    assert of_urls([], {}) == []


def test_a_declared_language_comes_from_the_page_and_one_of_its_own_wins() -> None:
    ordering = learning(evidence_of("vo", None)[0], PRIOR)
    urls = ["http://a.com/1", "http://a.com/2", "http://a.com/3"]
    source = LinkSource(declared=frozenset(urls[:2]), declared_other=frozenset(urls[1:]))
    found = [link.evidence for link in ordering.links(urls, source)]
    assert [each and each.declared for each in found] == [1.0, 1.0, -1.0]


# The arithmetic.


def plain_features(known: Numbers, rate: float, strength: float) -> Floats:
    """Return the features of one URL, by the definitions."""

    def odds(share: float) -> float:
        return log(share / (1 - share))

    named, decision, *rest = known[:5]
    numbers = [*known[9:], *[0] * (N_KNOWN - len(known))]
    shares = [rate]
    for labelled, relevant in zip(numbers[::2], numbers[1::2], strict=True):
        shares.append((relevant + strength * shares[-1]) / (labelled + strength))
    new = 1 / (1 + numbers[2])
    of_links = map(log1p, known[5:9])
    url = [named * new, named * (1 - new), decision * new, decision * (1 - new), *rest[:2]]
    domain, host, path = np.diff([odds(share) for share in (*shares[:3], shares[-1])])
    return np.array([1.0, new, *url, *of_links, rest[2], domain, host, path])


def plain_score(row: Floats, mean: Floats, covariance: Floats) -> float:
    return float(mean @ row / sqrt(1 + pi * (row @ covariance @ row) / 8))


def plain_step(
    row: Floats, is_relevant: bool, mean: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Return the weights after one page: the precision grows, the mean moves to the label."""
    share = 1 / (1 + exp(-(mean @ row)))
    precision = np.linalg.inv(covariance) + share * (1 - share) * np.outer(row, row)
    after = np.asarray(np.linalg.inv(precision), np.float64)
    return mean + after @ row * (is_relevant - share), after


def tallies(*pairs: tuple[int, int]) -> tuple[int, ...]:
    return tuple(number for pair in pairs for number in pair)


SIGNS = st.sampled_from([-1.0, 0.0, 1.0])
KNOWN = st.builds(
    lambda evidence, links, of_units: (*evidence, *links, *of_units),
    st.builds(Evidence, st.floats(-8, 8), st.floats(-3, 3), SIGNS, SIGNS, SIGNS),
    st.tuples(*[st.integers(0, 8)] * 4),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=N_UNITS).map(
        lambda pairs: tallies(*((max(pair), min(pair)) for pair in pairs))
    ),
)


@settings(max_examples=40, deadline=None)
@given(KNOWN, st.lists(st.booleans(), max_size=6))
def test_features_scores_and_learning_are_those_of_plain_numpy(
    known: Numbers, labels: list[bool]
) -> None:
    belief = Belief(PRIOR)
    mean, covariance = belief.mean.copy(), belief.covariance.copy()
    for number, is_relevant in enumerate(labels):
        rate = (sum(labels[:number]) + 0.5) / (number + 1)
        row = plain_features(known, rate, PRIOR.strength)
        assert belief.features([known])[0] == pytest.approx(row)
        assert belief.scores([known])[0] == pytest.approx(
            plain_score(row, mean, covariance), abs=2e-6
        )
        belief.learn(known, is_relevant=is_relevant)
        mean, covariance = plain_step(row, is_relevant, mean, covariance)
        assert belief.mean == pytest.approx(mean, abs=1e-6)
        assert belief.covariance == pytest.approx(covariance, abs=1e-6)


def test_scores_are_rounded_so_that_the_last_bits_change_no_order() -> None:
    known = np.random.default_rng(1).uniform(0, 8, size=(50, N_KNOWN))
    scores = scores_of(known, 0.5, 1.0, np.ones(N_FEATURES), np.eye(N_FEATURES))
    assert (scores * 2**20 == np.round(scores * 2**20)).all()


def test_the_covariance_stays_one_after_thousands_of_pages() -> None:
    draw = np.random.default_rng(2)
    mean, covariance = np.zeros(N_FEATURES), np.eye(N_FEATURES)
    for known in draw.uniform(0, 8, size=(5000, 1, N_KNOWN)):
        known[0, 0] = draw.normal()  # the log-odds by the URL
        known[0, 9:] = 0  # of a new domain
        learn(known, 0.5, 1.0, bool(known[0, 0] > 0), mean, covariance)
    assert covariance == pytest.approx(covariance.T)
    assert np.linalg.eigvalsh(covariance).min() > 0
    assert mean[FEATURES.index("URL, new host")] == mean.max() > 1


# Learning.

NOTHING, NO_LINKS = Evidence(), (0, 0, 0, 0)
OLD_HOST = tallies((4, 2), (4, 2))
CHANGES: dict[str, Numbers] = {
    "URL, new host": (*Evidence(named=4.0), *NO_LINKS),
    "top-level domain": (*Evidence(top_level=1.0), *NO_LINKS, *OLD_HOST),
    "code in the URL": (*Evidence(code=1.0), *NO_LINKS, *OLD_HOST),
    "declared": (*Evidence(declared=1.0), *NO_LINKS, *OLD_HOST),
    "links from relevant pages of other hosts": (*NOTHING, 3, 0, 0, 0, *OLD_HOST),
    "links from other pages of the host": (*NOTHING, 0, 0, 0, 3, *OLD_HOST),
    "host": (*NOTHING, *NO_LINKS, *tallies((9, 3), (9, 8))),
    "path": (*NOTHING, *NO_LINKS, *tallies((9, 3), (9, 3), (5, 5))),
}


@pytest.mark.parametrize("feature", CHANGES)
def test_a_feature_gains_weight_with_relevant_pages_and_loses_it_with_others(feature: str) -> None:
    plain = (*NOTHING, *NO_LINKS, *(() if "new" in feature else OLD_HOST))
    marked = CHANGES[feature]
    place = FEATURES.index(feature)
    weights = {}
    for is_relevant in (True, False):
        belief = Belief(PRIOR)
        for _ in range(20):
            belief.learn(marked, is_relevant=is_relevant)
            belief.learn(plain, is_relevant=not is_relevant)
        weights[is_relevant] = belief.mean[place]
        after = belief.scores([marked, plain])
        assert (after[0] > 0 > after[1]) is is_relevant
    assert weights[True] > PRIOR.mean[place] > weights[False]


NAN = np.full(N_FEATURES, np.nan).tobytes()
_ONES, _SQUARE = np.ones(N_FEATURES), np.eye(N_FEATURES)


@pytest.mark.parametrize(
    ("mean", "covariance"),
    [
        (b"", _SQUARE.tobytes()),
        (_ONES.tobytes()[:-1], _SQUARE.tobytes()),
        (_ONES.tobytes(), _SQUARE.tobytes()[8:]),
        (NAN, _SQUARE.tobytes()),
        (_ONES.tobytes(), np.where(_SQUARE, np.inf, 0.0).tobytes()),
    ],
)
def test_damaged_weights_are_refused_and_change_nothing(mean: bytes, covariance: bytes) -> None:
    belief = Belief(PRIOR)
    before = belief.packed()
    with pytest.raises(ValueError, match="weights"):
        belief.unpack(mean, covariance)
    assert belief.packed() == before


def test_the_reasons_add_up_to_the_score_before_uncertainty() -> None:
    belief = Belief(PRIOR)
    known = (*Evidence(2.0, 0.5, 1.0), 1, 0, 2, 0, *OLD_HOST)
    weighed = belief.weigh(known)
    parts = [float(part) for part in weighed.reasons().split()]
    assert len(parts) == N_FEATURES
    assert weighed.odds == belief.scores([known])[0]
    row = belief.features([known])[0]
    assert sum(parts) == pytest.approx(float(row @ belief.mean), abs=0.05)
    assert abs(belief.scores([known])[0]) <= abs(float(row @ belief.mean))
