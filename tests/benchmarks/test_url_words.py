"""The words of texts that are evidence for URLs."""

from pathlib import Path

from benchmarks import url_words
from langfocus.classifiers.arrayfile import read_arrays
from langfocus.classifiers.datasets.texts import LabelledText
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.words import word_key


def test_accents_apostrophes_and_other_scripts() -> None:
    assert [*map(url_words.as_slug, ["ọmọ", "bɛ", "straße", "сөз"])] == [
        "omo",
        "bɛ",
        "strasse",
        "сөз",
    ]
    found = url_words._words("N\u2019ala ọma, Google: ụlọ 3")
    assert found == ["nala", "ọma", "google", "ụlọ"]
    assert url_words._words("Google жаңы программаны ачты") == ["жаңы", "программаны", "ачты"]


def test_a_word_that_a_learned_language_has_too_is_no_evidence(tmp_path: Path) -> None:
    model = UrlModel.load()
    texts = {"eu": "etxea mendia telefono", "xh": "indlu amanzi", "zu": "indlu ufudu telefono"}
    rows = [
        LabelledText(f"{text} " * 200, code, "sentence", "")
        for code, text in texts.items()
        for _ in range(50)
    ]
    table = url_words.train(rows, model)
    table.save(tmp_path / "words.npz")
    assert url_words.train(rows, model).keys.tobytes() == table.keys.tobytes()
    arrays = read_arrays(tmp_path / "words.npz", *table._fields)
    owned = {
        word
        for word in " ".join(texts.values()).split()
        for key, owner in zip(arrays["keys"], arrays["owners"], strict=True)
        if key == word_key(word) and str(arrays["languages"][owner]) in {"eu", "xh"}
    }
    assert owned == {"etxea", "mendia", "amanzi"}
