"""The text model is learned from texts, kept in a file, and asked about any text."""
# ruff: noqa: RUF001 - the texts are in their languages

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.classifiers.datasets.texts import LabelledText
from langfocus.classifiers.errors import DatasetError, ModelError
from langfocus.classifiers.pages.text import textengine, textgrams
from langfocus.classifiers.pages.text.scripts import utf16_units, vote
from langfocus.classifiers.pages.text.textengine import LangfocusEngine, TextModel, shipped_engine
from langfocus.classifiers.pages.text.textgrams import Sums
from langfocus.classifiers.tables import rows
from langfocus.classifiers.training import texts as texttraining
from langfocus.classifiers.training.texts import MIN_TEXTS, matrix, transliterated

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


def sums_of(text: str, engine: LangfocusEngine | None = None) -> Sums:
    engine = engine or shipped_engine()
    model = engine.model.scripts[engine.read(text).ballot.script or ""]
    every = np.ones(len(model.tags), np.bool_)
    nothing = textgrams.units("")
    sums = textgrams.read(textgrams.units(text), nothing, engine._table(model), every, every)
    return sums._replace(nats=sums.nats[sums.order], whole=sums.whole[sums.order])


@pytest.fixture(scope="module")
def small() -> TextModel:
    return texttraining.train(made_texts())


def test_what_was_learned_is_recognised(small: TextModel) -> None:
    for code in WORDS:
        assert LangfocusEngine(small).read(" ".join(WORDS[code])).codes[0] == code
    assert set(small.languages) == {"de", "fr", "ru"}


def test_the_same_texts_give_the_same_bytes_and_a_file_gives_the_model_back(
    small: TextModel, tmp_path: Path
) -> None:
    again = texttraining.train(made_texts())
    small.save(tmp_path / "one.npz")
    again.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    loaded = textengine.load(tmp_path / "one.npz")
    nats = [LangfocusEngine(each).read("ein zug").nats for each in (loaded, small)]
    assert (nats[0] == nats[1]).all()


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(DatasetError, match="nothing to distinguish"):
        texttraining.train(made_texts(MIN_TEXTS - 1))


def test_texts_of_a_language_are_learned_in_each_of_its_scripts() -> None:
    serbian = [
        row._replace(language="sr") if row.language == "ru" else row for row in made_texts(60)
    ]
    model = texttraining.train(serbian)
    assert "sr" in model.scripts["Latn"].languages
    assert "sr" in model.scripts["Cyrl"].languages


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("sr Cyrl Latn", "Њујорк и Љубљана, џеп", "njujork i ljubljana, džep"),
        ("az Latn Cyrl", "İl Işıq ÇİÇƏK gözəl", "ил ышыг чичәк ҝөзәл"),
        (
            "uz Latn Cyrl",
            "Eng yoʻl, g'alaba, shahar, yozuv, ma’no",
            "энг йўл, ғалаба, шаҳар, ёзув, маъно",
        ),
        ("crh Latn Cyrl", "Dünyağa qaytqan köy, eki söz", "дюньягъа къайткъан кёй, эки сёз"),
        ("kk Cyrl Latn", "Біз бүгін қаланың саябағында", "bız bügın qalanyñ saiabağynda"),
        ("kk Cyrl Arab", "Үш адам көрді", "ٴۇش ادام كوردى"),
        ("pa Guru Arab", "ਪੰਜਾਬ ਦੇ ਸ਼ਹਿਰ ਵਿੱਚ ਹੈ", "پنجاب دے شہر وچ ہے"),
    ],
)
def test_texts_are_learned_in_the_other_letters_of_their_language(
    key: str, text: str, expected: str
) -> None:
    rules = rows("transliterations.txt")[key].split(" ")
    assert transliterated(text, rules) == expected


def test_a_text_of_a_language_with_two_further_alphabets_is_learned_in_three() -> None:
    kazakh = LabelledText("Біз бүгін қалада боламыз", "kk", "sentence", "made")
    found = [row.text for row in texttraining.in_all_scripts([kazakh])]
    assert [vote(utf16_units(text)).script for text in found] == ["Cyrl", "Arab", "Latn"]
    arabic = kazakh._replace(text=found[1])  # is not transliterated
    assert [*texttraining.in_all_scripts([arabic])] == [arabic]


def test_the_accuracy_of_each_language_is_cross_validated(small: TextModel) -> None:
    facts = small.facts["languages"]["de"]
    assert (facts["sentences"], facts["scripts"]) == (MIN_TEXTS, ["Latn"])
    assert facts["sentence"] == 100


@pytest.mark.parametrize(
    ("array", "wrong"),
    [
        ("typicality", np.zeros(2)),
        ("codes_Latn", np.zeros((1000, 2), np.int8)),
        ("codes_Latn", np.zeros((1024, 3), np.int8)),
        ("floors_Latn", np.array([0, np.nan], np.float32)),
        ("typical_Latn", np.zeros(2)),
        ("scale_Latn", np.float64(-1)),
    ],
)
def test_a_file_whose_arrays_do_not_fit_together_is_refused(
    array: str, wrong: np.ndarray, small: TextModel, tmp_path: Path
) -> None:
    path = tmp_path / "text.npz"
    small.save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(path, **(arrays | {array: wrong}))
    with pytest.raises(ModelError, match="do not fit together"):
        textengine.load(path)


def test_training_and_scoring_see_the_same_features(small: TextModel) -> None:
    text = "Der Zug fährt nach Norden, l'été « поезд » 12 Straße"
    latin = small.scripts["Latn"]
    values = latin.codes.astype(np.float64) ** 2 * latin.scale
    features = matrix([text], "Latn", latin.bits)
    (expected,) = features @ values + features.sum() * latin.floors
    found = sums_of(text, LangfocusEngine(small))
    assert np.allclose(found.whole, expected[found.order], rtol=1e-4)
    assert found.n_features == features.sum()


@pytest.mark.parametrize("text", ["ein Zug", "kqzvx jwpfh xqzrt", "la rivière " * 90, "Ποτάμι"])
def test_training_and_scoring_have_the_same_odds_of_a_known_language(text: str) -> None:
    engine = shipped_engine()
    reading, sums = engine.read(text), sums_of(text)
    model = engine.model.scripts[reading.ballot.script or ""]
    n_features = float(sums.n_features)
    lead = np.append(sums.whole[:1] - sums.whole[1:2], 99.0)[0] / n_features
    deficit = model.typical[sums.order[0]] - sums.best
    facts = textengine.typicality_facts(*(np.array([each]) for each in (deficit, lead, n_features)))
    (expected,) = facts @ engine.model.typicality
    assert reading.known == pytest.approx(0.35 * (expected + 3.9))


def test_the_third_of_a_text_that_is_most_like_a_language_tells_whether_it_is_in_it() -> None:
    model = shipped_engine().model.scripts["Latn"]
    lines = [
        "ein langer Zug fährt nach Norden " * 6,
        "kqzvx jwpfh xqzrt " * 10,
        "the long train " * 12,
    ]
    features = matrix(lines, "Latn", model.bits)
    values = model.codes.astype(np.float32) ** 2 * model.scale
    counts = np.asarray(features.sum(axis=1), np.float32)
    each = (features @ values / counts + model.floors)[None]
    sums = sums_of("\n".join(lines))
    expected = texttraining._best(each, counts.reshape(1, -1, 1))[0, sums.order[0]]
    assert sums.best == pytest.approx(expected, rel=1e-4)
    assert sums.best > sums.whole[0] / sums.n_features + 0.5
    assert sums_of(lines[0]).best == pytest.approx(sums_of(lines[0]).whole[0] / counts[0, 0])


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400))
def test_any_text_has_finite_evidence(text: str) -> None:
    reading = shipped_engine().read(text)
    assert np.isfinite(reading.nats).all()
    assert (np.diff(reading.nats) <= 0).all()
    assert len(set(reading.codes)) == len(reading.codes) == len(reading.nats)
    shares = [share for _, share in shipped_engine().rank(text)]
    assert shares == sorted(shares, reverse=True)
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) <= 1 + 1e-6


@pytest.mark.parametrize(
    ("one", "other"),
    [("L'ÉTÉ", "l’été"), ("der lange Zug fährt", "der lange поезд Zug 漢字 fährt")],
    ids=["case and the form of an apostrophe", "letters of another script"],
)
def test_nothing_is_said_by(one: str, other: str) -> None:
    assert (sums_of(one).whole == sums_of(other).whole).all()


@pytest.mark.parametrize("text", ["a" * 100_000, "漢" * 100_000, "a b " * 50_000, "'" * 10_000])
def test_texts_without_end_are_read_up_to_a_limit(text: str) -> None:
    found = sums_of(f"ab {text}" if "漢" not in text else text)
    most = textgrams.MAX_PIECES * (textgrams.PIECE + textgrams.MAX_WORD)
    assert 0 < found.n_features <= 12 * most


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("پرون ماښام موږ د سیند پر غاړه اوږد ګرځېدلو او د راتلونکي سفر په اړه مو خبرې وکړې.", "ps"),
        ("Juče uveče smo dugo šetali pored reke i razgovarali o sledećem putovanju.", "sr"),
        ("佢哋噚晚喺河邊散步，傾咗好耐偈，講下次去邊度旅行嘅嘢。", "yue"),
        ("我们在河边散步说了很久关于下一次旅行的事大家都很高兴我们在河边散步", "zh"),
        ("דער מענטש ווערט געבוירן פריי און גלייך אין כבוד און רעכט", "yi"),
    ],
)
def test_small_languages_are_read(text: str, language: str) -> None:
    assert shipped_engine().rank(text)[0][0] == language


def test_190_languages_and_more_are_told_from_text() -> None:
    assert len(shipped_engine().languages) >= 190


UNKNOWN = {
    "made up": "Wiskor tanlu mebrati folsenko, drupi vandelo skimert; orfel nutabi grosk wemilda "
    "pratonski elbur fintaro, moskelu dravine topalski bremund ostigal wirpe.",
    "random letters": "kqzvx jwpfh xqzrt bvkwq zzxjc hqvkp wxzqj fkvbz qjxwv pzkhq vxjqz wkqpf",
    "identifiers": "getElementById innerHTML addEventListener querySelectorAll hasOwnProperty "
    "toLocaleUpperCase XMLHttpRequest onreadystatechange parseInt charCodeAt fromCharCode",
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_text_in_no_known_language_is_not_named(kind: str) -> None:
    assert shipped_engine().rank(UNKNOWN[kind] * 3) == []
