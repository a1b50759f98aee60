import sys
from urllib.parse import unquote_to_bytes

import pytest

from classifiers.errors import MissingPackageError
from classifiers.training import examples


def test_names_are_words_of_the_language_in_the_letters_of_hosts() -> None:
    names = examples.made_up_names("de", 400, seed=0)
    assert len(names) == 400
    assert all(name.startswith("http://") and name.endswith("/") for name in names)
    text = " ".join(names)
    assert "-" in text
    assert "ue" in text
    assert sum(name.isascii() for name in names) > 250


def test_languages_with_names_share_a_script_with_others() -> None:
    listed = examples.with_word_lists(["de", "fr", "ru", "ja", "gu", "rw", "no", "bg", "ar"])
    assert listed == [["de", "fr", "no"], ["ru", "bg"]]


def test_names_in_another_script_have_its_letters_alone() -> None:
    names = (
        "".join(examples.made_up_names("mk", 100, seed=0)).replace("http://", "").replace("/", "")
    )
    assert "ќ" in names  # not taken for an accented к
    assert sum(not letter.isascii() for letter in names) > 0.9 * len(names)
    assert examples.towns("mk", 10, seed=0) == []


@pytest.mark.parametrize(
    ("language", "encoding", "script"),
    [("ru", "koi8-r", "ш"), ("ja", "euc-jp", "あ"), ("th", "cp874", "ก"), ("ka", "utf-8", "ა")],
)
def test_paths_are_in_the_letters_and_encodings_of_the_language(
    language: str, encoding: str, script: str
) -> None:
    paths = examples.made_up_paths(language, 200, seed=0)
    assert len(paths) == 200
    assert all(path.startswith("/") and path.isascii() for path in paths)
    encodings = ("utf-8", *examples.ENCODINGS.get(language, ()))
    at = encodings.index(encoding)
    texts = [unquote_to_bytes(path).decode(encoding) for path in paths[at :: len(encodings)]]
    first = ord(script)
    near = [text for text in texts if any(abs(ord(letter) - first) < 100 for letter in text)]
    assert len(near) > len(texts) / 3


@pytest.mark.parametrize(
    ("word", "language", "spelled"),
    [("öffnung", "de", "oeffnung"), ("été", "fr", "ete"), ("niño", "es", "nino")],
)
def test_hosts_spell_words_without_accents(word: str, language: str, spelled: str) -> None:
    assert examples.plain(word, language) == spelled


def test_without_the_package_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(MissingPackageError, match=r"wordfreq.*training"):
        examples.with_word_lists(["de"])


def test_towns_are_those_of_countries_of_the_language() -> None:
    italian = examples.towns("it", 1000, seed=0)
    assert len(italian) == 1000
    assert italian == examples.towns("it", 1000, seed=0)
    everything = examples.towns("it", 10**6, seed=0)
    assert "http://abano-terme/" in everything
    assert "http://toulouse/" not in everything
