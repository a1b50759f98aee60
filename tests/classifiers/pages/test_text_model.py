"""The text model is learned from texts, kept in a file, and asked about any text."""
# ruff: noqa: RUF001 - the texts are in their languages

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.errors import DatasetError, ModelError
from classifiers.lab.datasets import LabelledText
from classifiers.lab.training import texttraining
from classifiers.lab.training.texttraining import MIN_TEXTS, matrix
from classifiers.pages.text import profiles, textgrams, textmodel
from classifiers.pages.text.textengine import LangfocusEngine, shipped_engine
from classifiers.pages.text.textmodel import TextModel

WORDS = {
    "de": "der die und ein zug fährt heute nach norden wir sehen weite felder am fluss".split(),
    "fr": "le la et un train part ce soir vers le nord nous voyons des champs près".split(),
    "ru": "поезд идёт сегодня на север мы видим широкие поля у реки и город".split(),
}


def made_texts(n: int = MIN_TEXTS) -> list[LabelledText]:
    chance = np.random.default_rng(0)
    return [
        LabelledText(" ".join(chance.choice(words, 6)), code, "sentence", "made")
        for code, words in WORDS.items()
        for _ in range(n)
    ]


@pytest.fixture(scope="module")
def small() -> TextModel:
    return texttraining.train(made_texts(), n_buckets=1 << 12, n_phrases=0)


def test_what_was_learned_is_recognised(small: TextModel) -> None:
    for at, code in enumerate(small.languages):
        scores = small.scores(" ".join(WORDS[code]))
        assert scores.whole.argmax() == at
        assert scores.whole[at] > 0


def test_the_same_texts_give_the_same_bytes_and_a_file_gives_the_model_back(
    small: TextModel, tmp_path: Path
) -> None:
    again = texttraining.train(made_texts(), n_buckets=1 << 12, n_phrases=0)
    small.save(tmp_path / "one.npz")
    again.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    loaded = textmodel.load(tmp_path / "one.npz")
    assert loaded.version == small.version
    assert (loaded.scores("ein zug").whole == small.scores("ein zug").whole).all()


def test_phrases_of_word_lists_bring_words_that_the_texts_lack() -> None:
    pytest.importorskip("wordfreq")
    learned = texttraining.train(made_texts(), n_buckets=1 << 12, n_phrases=300)
    assert learned.facts["phrases"] == 900
    assert learned.languages[learned.scores("Küche Garten Straße").whole.argmax()] == "de"


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(DatasetError, match="nothing to distinguish"):
        texttraining.train(made_texts(MIN_TEXTS - 1))


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "other"])
def test_a_file_that_is_no_model_is_an_error_that_names_it(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    if damage == "empty":
        path.touch()
    elif damage == "cut":
        path.write_bytes(textmodel.SHIPPED.read_bytes()[:100_000])
    elif damage == "other":
        shutil.copy(textmodel.SHIPPED.with_name("url-v3.npz"), path)
    with pytest.raises(ModelError, match=r"text\.npz"):
        textmodel.load(path)


def test_a_file_whose_arrays_do_not_fit_together_is_refused(
    small: TextModel, tmp_path: Path
) -> None:
    arrays = {name: np.load(textmodel.SHIPPED)[name] for name in ("format", "facts", "scales")}
    path = tmp_path / "text.npz"
    np.savez(
        path,
        languages=np.array(["de", "fr"]),
        codes=small.codes,
        intercepts=np.zeros(2, np.float32),
        **arrays,
    )
    with pytest.raises(ModelError, match="do not fit together"):
        textmodel.load(path)


def test_training_and_scoring_see_the_same_features(small: TextModel) -> None:
    text = "Der Zug fährt nach Norden, l'été « поезд » 12 Straße"
    weights = small.codes.astype(np.float64) * np.abs(small.codes) * small.scales[:, None]
    (expected,) = matrix([text], 1 << small.bits) @ weights.T + small.intercepts
    assert np.allclose(small.scores(text).whole, expected, atol=1e-4)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400))
def test_any_text_has_finite_scores(text: str) -> None:
    scores = shipped_engine().model.scores(text)
    assert np.isfinite(scores.whole).all()
    assert len(scores.pieces) == len(scores.letters)


def test_case_and_the_form_of_an_apostrophe_say_nothing() -> None:
    scores = [shipped_engine().model.scores(text).whole for text in ("L'ÉTÉ", "l’été")]
    assert (scores[0] == scores[1]).all()


def test_a_text_is_read_in_pieces_that_end_with_a_word() -> None:
    found = textgrams.sums(
        textgrams.units("abcdefgh " * 100),
        textgrams.kinds(),
        17,
        shipped_engine().model.table,
        16,
    )[1]
    assert found[:, 1].sum() == 800
    assert (found[:-1, 1] == textgrams.PIECE).all()


@pytest.mark.parametrize("text", ["a" * 100_000, "漢" * 100_000, "a b " * 50_000, "'" * 10_000])
def test_texts_without_end_are_read_up_to_a_limit(text: str) -> None:
    scores = shipped_engine().model.scores(text)
    assert len(scores.pieces) <= 16
    assert scores.letters.sum() <= 16 * (textgrams.PIECE + textgrams.MAX_WORD)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我们在河边散步说了很久关于下一次旅行的事大家都很高兴我们在河边散步", "zh"),
        ("דער מענטש ווערט געבוירן פריי און גלייך אין כבוד און רעכט", "yi"),
        ("Ta chuaigh mé go dtí an siopa inné leis an mbean", "ga"),
    ],
)
def test_languages_of_one_script_are_told_apart(text: str, language: str) -> None:
    first, *_ = shipped_engine().rank(text)
    assert first[0] == language


def test_profiles_are_asked_only_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    group = profiles.group

    def noted(script: str) -> profiles.ProfileGroup:
        asked.append(script)
        return group(script)

    monkeypatch.setattr(profiles, "group", noted)
    engine = LangfocusEngine()
    engine.rank("Gestern Abend gingen wir lange am Fluss entlang und sprachen viel. " * 10)
    assert not asked
    engine.rank("banan")
    assert asked == ["Latn"]
