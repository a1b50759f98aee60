import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from langfocus.classifiers.datasets.rows import LabelledUrl, LabelledUrls
from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.training.assessment import assess
from langfocus.classifiers.training.thresholds import ALONE, RAISED, Thresholds
from langfocus.classifiers.training.urls import (
    Options,
    capped,
    fit,
    is_reliable,
    matrix,
    usable,
    use_domains,
)
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.weights import quantised
from tests.support.evidence import evidence_of_scores
from tests.support.wordlists import word_lists_and_towns_are_read_once

WORDS = {
    "de": "wetter nachrichten straße zeitung verein schule gemeinde urlaub".split(),
    "fr": "météo nouvelles recherche journal école commune voyage ville".split(),
    "it": "tempo notizie ricerca giornale scuola comune viaggio città".split(),
}
OPTIONS = Options(buckets=1 << 12, min_urls=20, names=300, languages=("de", "fr", "it"))
__all__ = ["word_lists_and_towns_are_read_once"]
pytestmark = pytest.mark.usefixtures("word_lists_and_towns_are_read_once")


def rows(n_each: int = 150, seed: int = 1) -> list[LabelledUrl]:
    chance = random.Random(seed)
    return [
        LabelledUrl(
            f"http://{chance.choice(words)}{seed}{at}.com/{'-'.join(chance.choices(words, k=3))}",
            language,
            "editor",
            "made",
        )
        for language, words in WORDS.items()
        for at in range(n_each)
    ]


def write(path: Path, data: list[LabelledUrl]) -> Path:
    lines = ["url\tlang\tlabel_kind\tsource", *("\t".join(row) for row in data)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_training_learns_and_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    source = LabelledUrls(write(tmp_path / "u.tsv", rows()))
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    fit(list(source), OPTIONS).save(first)
    fit(list(source)[::-1], OPTIONS).save(second)
    assert first.read_bytes() == second.read_bytes()
    model = UrlModel.load(first)
    assert model.languages == ("de", "fr", "it")
    figures = assess(model, rows(seed=2))
    assert figures["five"]["mean_f1"] > 95
    assert figures["naming"]["default"]["right"] > 95


def test_scores_are_those_of_the_sparse_product() -> None:
    model = fit(rows(60), OPTIONS)
    urls = [row.url for row in rows(20, seed=3)]
    codes = model.codes.astype(np.float64)
    weights = codes * np.abs(codes) * model.scales[:, None]
    expected = matrix(urls, model.bits) @ weights.T + model.intercepts
    assert np.allclose(model.scores(urls), expected, atol=1e-4)


def test_urls_of_two_languages_and_of_excluded_sources_are_left_out() -> None:
    rows = [("a", "de", "s"), ("a", "fr", "s"), ("b", "de", "s"), ("b", "de", "t")]
    rows.append(("c", "de", "citizenlab_country"))
    data = [LabelledUrl(f"http://{host}/", code, "k", source) for host, code, source in rows]
    assert [row.url for row in usable(data)] == ["http://b/"]


def test_filter_lists_do_not_label_sites_of_other_countries() -> None:
    rows = [
        LabelledUrl(f"http://{host}/", "ru", "editor", source)
        for source in ("easylist_history", "awesome_newspapers")
        for host in ("gazeta.by", "novosti.ru", "novosti.com")
    ]
    assert [is_reliable(row) for row in rows] == [False, True, True, True, True, True]


def test_a_large_language_keeps_its_share_of_a_domain_that_is_mostly_in_another() -> None:
    def urls(host: str, language: str, number: int) -> list[LabelledUrl]:
        return [
            LabelledUrl(f"http://{host}/{language}{n}", language, "k", "s") for n in range(number)
        ]

    elsewhere = [row for n in range(200) for row in urls(f"a{n}.cn", "zh", 10)]
    shared = [*urls("b.io", "en", 400), *urls("b.io", "zh", 40), *urls("b.io", "gl", 40)]
    data = [*elsewhere, *shared, *urls("c.io", "en", 15), *urls("c.io", "zh", 4)]
    for large, chinese in ((2000, 2), (None, 20)):
        kept = capped(data, 20, large=large)
        counts = Counter((row.url.split("/")[2], row.language) for row in kept)
        assert (counts["b.io", "en"], counts["b.io", "zh"]) == (20, chinese)
        assert counts["b.io", "gl"] == 20  # a small language needs all its URLs
        assert counts["c.io", "zh"] == 4
        assert kept == capped(data[::-1], 20, large=large)


def with_domains(rule: str) -> UrlModel:
    """Return a model with random weights and one rule of top-level domains for Czech."""
    chance = np.random.default_rng(0)
    weights = chance.normal(0, 0.01, (1 << 12, 2)).astype(np.float32)
    intercepts = np.array([-0.3, -0.3], np.float32)
    thresholds = Thresholds(np.zeros(2), {"cs": rule})
    use_domains(weights, intercepts, ("cs", "de"), thresholds)
    codes, scales = quantised(weights.T)
    evidence = evidence_of_scores(("cs", "de"))
    return UrlModel(("cs", "de"), codes, scales, intercepts, evidence)


def test_top_level_domains_decide_alone_or_raise_a_classifier() -> None:
    urls = ["http://neco.cz/jinde", "http://neco.com/jinde", "http://neco.co.cz/"]
    assert np.allclose(with_domains(ALONE).score(urls, "cs"), [0.5, -0.5, 0.5], atol=0.02)
    model = with_domains(RAISED)
    raised, other, _ = model.score(urls, "cs").tolist()
    assert 0.6 < raised - other < 1.4
    assert (model.score(urls, "de") < 0).all()


def test_languages_with_too_few_urls_get_no_classifier() -> None:
    data = [*rows(40), LabelledUrl("http://x.pl/", "pl", "k", "s")]
    model = fit(data, replace(OPTIONS, languages=None))
    assert model.languages == ("de", "fr", "it")
    assert model.named_languages[:3] == model.languages
    assert model.identify("http://www.argia.eus/eu/").language == "eu"
    assert model.identify("http://nova.pl/").language == "pl"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(buckets=1000), "power of two"),
        (Options(min_urls=1000), "two are needed"),
        (Options(languages=("de", "pl"), min_urls=20), "too few URLs for pl"),
    ],
)
def test_what_cannot_be_trained_is_refused(options: Options, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        fit(rows(40), options)
