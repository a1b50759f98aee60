"""The model as a whole: its file, its scores, and the one that ships."""

import contextlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langfocus.classifiers.errors import LanguageError, ModelError
from langfocus.classifiers.urls import cctld, clues, scoring
from langfocus.classifiers.urls.batch import encode
from langfocus.classifiers.urls.model import SHIPPED, UrlModel
from langfocus.classifiers.urls.posteriors import Evidence, Hosts, Prior
from tests.classifiers.urls.test_ngrams import DIGESTS, features


def small_evidence() -> Evidence:
    """German, French and Basque; `/de/` is German, and `.eus` Basque, which has no classifier."""
    nats = {clues.key_of(clues.SEGMENT, "de"): [5, 0, 0], clues.key_of(clues.TOP, "eus"): [0, 0, 9]}
    return Evidence(
        languages=("de", "fr", "eu"),
        mixing=np.array([[3, -1, 0], [0, 2, 0]], np.float32),
        intercepts=np.array([0, 0, -4], np.float32),
        keys=np.array(sorted(nats), np.uint64),
        nats=np.array([nats[key] for key in sorted(nats)], np.float16),
        hosts=Hosts(
            np.array([5, 9], np.uint32), np.array([2, 0], np.uint8), np.array([1.5, 4], np.float16)
        ),
    )


def small_model() -> UrlModel:
    random = np.random.default_rng(7)
    return UrlModel(
        languages=("de", "fr"),
        codes=random.integers(-127, 128, (2, 256)).astype(np.int8),
        scales=np.array([1e-4, 2e-4], np.float32),
        intercepts=np.array([-0.1, 0.2], np.float32),
        posterior=small_evidence(),
        facts={"rows": 3, "sources": {"ü": 1}},
    )


def test_the_shipped_model_is_small_and_knows_many_languages(model: UrlModel) -> None:
    assert SHIPPED.stat().st_size <= 21_500_000
    assert len(model.languages) >= 25
    assert {"en", "de", "fr", "es", "it", "ru", "ja", "th"} <= set(model.languages)
    assert "citizenlab_country" not in model.facts["sources"]


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("http://www.wetterbericht-berlin.de/nachrichten/politik", "de"),
        ("https://www.lemonde.fr/recherche/produits-et-voyageurs", "fr"),
        ("https://www.telegraph.co.uk/news/weather-report-today", "en"),
        ("http://gazeta.org/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8", "ru"),
    ],
)
def test_the_shipped_model_reads_plain_cases(model: UrlModel, url: str, language: str) -> None:
    answer = model.identify(url)
    assert answer.language == language
    assert answer.scores[language] > 0
    assert 0 < answer.confidence <= 1


def test_sums_of_the_largest_weights_do_not_overflow() -> None:
    url = "http://example.com/" + "nachrichten-aus-berlin/" * 80
    model = replace(small_model(), codes=np.repeat(np.array([[-127], [127]], np.int8), 256, axis=1))
    _, values = features(url, 8)
    largest = np.array([-(127**2), 127**2])
    expected = largest * values.sum() * model.scales + model.intercepts
    assert np.allclose(model.scores([url])[0], expected, rtol=1e-3)


def test_no_urls_have_no_scores_and_an_unknown_language_is_refused(model: UrlModel) -> None:
    assert model.scores([]).shape == (0, len(model.languages))
    assert list(model.identify_many([])) == []
    with pytest.raises(LanguageError, match="does not know 'xx'"):
        model.score(["http://a.de/"], "xx")


def test_saving_and_loading_is_the_identity(tmp_path: Path) -> None:
    before, path = small_model(), tmp_path / "m.npz"
    before.posterior = before.posterior.widened()
    before.save(path)
    after = UrlModel.load(path)
    for name in ("languages", "named_languages", "facts", "version"):
        assert getattr(after, name) == getattr(before, name)
    for name in ("codes", "scales", "intercepts"):
        assert (getattr(after, name) == getattr(before, name)).all()
    for name in ("mixing", "intercepts", "keys", "nats"):
        assert (getattr(after.posterior, name) == getattr(before.posterior, name)).all()
    for name in Hosts._fields:
        of_hosts = after.posterior.hosts, before.posterior.hosts
        assert np.array_equal(*(getattr(hosts, name) for hosts in of_hosts))
    again = tmp_path / "again.npz"
    after.save(again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": np.int64(99)}, "model format 99"),
        ({"format": np.array("one")}, "model format one"),
        ({"weights": None}, "no array 'weights'"),
        ({"weights": np.zeros((3, 256), np.int8)}, r"weights: int8 \(3, 256\) for int8 \(2, 256\)"),
        ({"weights": np.zeros((2, 200), np.int8)}, r"\(2, 200\) for int8 \(2, 128\)"),
        ({"weights": np.zeros((2, 8), np.int8)}, r"\(2, 8\) for int8 \(2, 16\)"),
        ({"weights": np.int8(1)}, "weights: int8"),
        ({"weights": np.zeros((2, 256), np.float64)}, "weights: float64"),
        ({"weights": np.array([object()])}, "cannot be read"),
        ({"intercepts": np.zeros(5, np.float32)}, r"intercepts: float32 \(5,\)"),
        ({"named": np.array(["de", "eu", "fr"])}, "do not begin"),
        ({"mixing": np.zeros((2, 2), np.float32)}, r"mixing: float32 \(2, 2\)"),
        ({"clue_nats": np.zeros((2, 3), np.float32)}, "clue_nats: float32"),
        ({"evidence_intercepts": np.full(3, np.inf, np.float32)}, "not finite"),
        ({"clue_keys": np.array([9, 1], np.uint64)}, "not sorted"),
        ({"scales": np.array([np.nan, 1], np.float32)}, "not finite"),
        ({"facts": np.array("{")}, "cannot be read"),
        ({"host_keys": np.array([2, 1], np.uint32)}, "not sorted keys"),
        ({"host_keys": np.array([1, 1 << 31], np.uint32)}, "not sorted keys"),
        ({"host_languages": np.array([0], np.uint8)}, r"host_languages: uint8 \(1,\)"),
        ({"host_languages": np.array([0, 250], np.uint8)}, "cannot name"),
        ({"host_nats": np.array([0, np.nan], np.float16)}, "not finite"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "m.npz"
    small_model().save(path)
    content = {**np.load(path), **change}
    content = {key: value for key, value in content.items() if value is not None}
    np.savez(path, **content)
    with pytest.raises(ModelError, match=message) as caught:
        UrlModel.load(path)
    assert "\n" not in str(caught.value)


def test_a_missing_or_damaged_file_never_shows_as_another_error(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    with pytest.raises(ModelError, match=r"m.npz: no such model file; `langfocus train` writes"):
        UrlModel.load(path)
    with pytest.raises(ModelError):
        UrlModel.load(tmp_path)
    small_model().save(path)
    whole = bytearray(path.read_bytes())
    for at in range(0, len(whole), 37):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        with contextlib.suppress(ModelError):
            UrlModel.load(path)


def test_scoring_needs_no_scikit_learn_and_that_of_a_few_urls_no_numba() -> None:
    code = (
        "import sys, json, langfocus.classifiers.urls.model as m\n"
        "model, url = m.UrlModel.load(), 'http://a.de/wetter'\n"
        "few = model.identify(url), 'numba' in sys.modules\n"
        "many = list(model.identify_many([url] * 200))[0], 'numba' in sys.modules\n"
        "print(json.dumps([few[0] == many[0], few[1], many[1], 'sklearn' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [True, False, True, False]


def test_python_gives_the_numbers_of_the_compiled_code_to_the_bit(model: UrlModel) -> None:
    listed = "https://www.aljazeera.net/news/"
    urls = [
        listed,
        *DIGESTS,
        *(f"http://{n}.{code}/{code}_{n}" for n, code in enumerate(model.languages)),
    ]
    points = encode(urls)

    def same(function: Any, *arguments: object) -> Any:
        made = function.dispatcher(*arguments)
        with np.errstate(over="ignore"):
            for one, other in zip(made, function.__wrapped__(*arguments), strict=True):
                np.testing.assert_array_equal(one, other)
        return made

    scores = same(scoring.score_many, points, len(urls), model.weights)
    base = model.posterior.base(Prior.evened())
    logits = same(scoring.logits_of, points, scores, model.posterior.of_urls, base)[0]
    same(scoring.best_of, logits)


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("http://www.hi-fly.DE:80/x.fr", "de"),
        ("https://user@news.bbc.co.uk./", "uk"),
        ("orf.at/stories", "at"),
        ("http://example.com/", "com"),
        ("http://localhost/a.de", ""),
        ("", ""),
    ],
)
def test_the_baseline_looks_at_the_top_level_domain(url: str, domain: str) -> None:
    assert cctld.top_level_domain(url) == domain
    assert cctld.score([url], "de").tolist() == [float(domain in ("de", "at"))]
    with pytest.raises(LanguageError):
        cctld.score([url], "nolanguage")


def test_a_contribution_is_the_score_less_that_without_the_word(model: UrlModel) -> None:
    url = "http://x.com/zeitung/%C3%BCber-zeitung"
    found = {each.text: each.weight for each in model.explain(url, "de")}
    for word, without in {
        "zeitung": "http://x.com/0/%C3%BCber-0",
        "über": "http://x.com/zeitung/0-zeitung",
        "com": "http://x.0/zeitung/%C3%BCber-zeitung",
    }.items():
        score, less = model.score([url, without], "de")
        assert np.isclose(found[word], score - less)
    assert found["zeitung"] > 0


def test_the_strongest_words_come_first() -> None:
    model = small_model()
    every = model.explain("http://a.de/das/wetter/in/den/alpen", top=99)
    weights = [abs(each.weight) for each in every]
    assert len(weights) > 3
    assert weights == sorted(weights, reverse=True)
    assert model.explain("http://a.de/das/wetter/in/den/alpen", top=3) == every[:3]


def test_without_a_language_that_of_the_highest_score_is_explained() -> None:
    model = small_model()
    for url in ("http://zeitung.de/a", "http://journal.fr/b", ""):
        best = model.languages[int(model.scores([url])[0].argmax())]
        assert model.explain(url) == model.explain(url, best)


def test_a_language_without_a_classifier_has_no_contributions(model: UrlModel) -> None:
    language = next(code for code in model.named_languages if code not in model.languages)
    assert model.explain("http://nachrichten.de/", language) == []
