"""A model of fastText that a user has: its languages are added to those of the text model."""
# ruff: noqa: RUF001 - words in their alphabets

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus import identify_page
from langfocus.classifiers.errors import MissingPackageError, ModelError
from langfocus.classifiers.pages.method import PageMethod, answers_of
from langfocus.classifiers.pages.methods import DEFAULT_METHOD, FASTTEXT_FILE, fasttext_file, method
from langfocus.classifiers.pages.methods.fasttext import (
    LEAST_LETTERS,
    FasttextEngine,
    WithAdded,
    codes_of,
)
from langfocus.classifiers.pages.parse import ParsedPage, parse_page
from tests.support.fasttextmodel import write_model

NOGAI = "ногай тили казак сёз бар уьшин"
CHUVASH = "чӑваш чӗлхи пирӗн хула"
GERMAN = "gestern abend gingen wir lange am fluss entlang und sprachen von der reise"
WORDS = {"nog_Cyrl": NOGAI, "chv": CHUVASH, "de": GERMAN, "deu_Latn": "wetter", "xx-Latn": "zzz"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("fasttext") / "tiny.bin", WORDS)


@pytest.fixture(scope="module")
def engine(file: Path) -> FasttextEngine:
    pytest.importorskip("fasttext")
    return FasttextEngine(file)


@pytest.fixture(scope="module")
def joined(file: Path) -> PageMethod:
    pytest.importorskip("fasttext")
    return method(DEFAULT_METHOD, file)


def page_of(text: str, tag: str = "") -> ParsedPage:
    html = f"<html lang='{tag}'><meta charset=utf-8><p>{text}"
    return parse_page(html.encode(), content_type="text/html", url="")


def test_labels_are_read_as_tags_of_languages(engine: FasttextEngine, file: Path) -> None:
    assert engine.languages == {"nog", "cv", "de"}
    assert codes_of(file).keys() == WORDS.keys() - {"xx-Latn"}
    assert engine.rank(CHUVASH)[0][0] == "cv"
    ((code, share), *_) = engine.rank("wetter abend")
    assert code == "de"  # two labels of one language
    assert share == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("text", ["", "\n", "\0", "\ud800", "😀", "a\nb", "7" * 100_000])
def test_any_text_is_taken(engine: FasttextEngine, text: str) -> None:
    assert engine.rank(text) == []


def test_an_added_language_is_told_and_others_as_without_the_model(joined: PageMethod) -> None:
    assert isinstance(joined, WithAdded)
    assert joined.added == {"nog", "cv"}
    answer = joined.identify(page_of(f"{NOGAI} " * 4, "ru"))
    assert (answer.language, answer.method) == ("nog", "fasttext")
    for text, tag in ((GERMAN, ""), ("Wetter", "de"), ("", ""), ("Вчера вечером мы гуляли", "ru")):
        assert joined.identify(page_of(text, tag)) == method().identify(page_of(text, tag))


def test_short_texts_are_not_given_to_the_model(joined: PageMethod) -> None:
    page = page_of(NOGAI)
    assert sum(map(str.isalpha, NOGAI)) < LEAST_LETTERS
    assert joined.identify(page) == method().identify(page)


def test_the_model_is_a_kind_of_evidence(joined: PageMethod) -> None:
    assert answers_of(joined, page_of(CHUVASH, "ru")) | {"text": None} == {
        "encoding": None,
        "declaration": "ru",
        "text": None,
        "fasttext": "cv",
    }


def test_the_setting_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FASTTEXT_FILE, raising=False)
    assert fasttext_file() is None
    monkeypatch.setenv(FASTTEXT_FILE, "a.ftz")
    assert fasttext_file() == Path("a.ftz")
    assert fasttext_file(Path("b.ftz")) == Path("b.ftz")


def test_a_page_in_python_is_read_with_the_file_of_the_environment(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FASTTEXT_FILE, str(file.with_name("none.ftz")))
    with pytest.raises(ModelError, match=r"none\.ftz: no such model file"):
        identify_page(b"<p>text")


def test_the_method_fasttext_reads_the_file_of_the_environment(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fasttext")
    monkeypatch.setenv(FASTTEXT_FILE, str(file))
    assert method("fasttext").identify(page_of(GERMAN)).language == "de"
    monkeypatch.delenv(FASTTEXT_FILE)
    with pytest.raises(ModelError, match=FASTTEXT_FILE):
        method("fasttext")


@given(st.data())
def test_a_file_that_was_cut_short_or_is_another_is_refused_in_one_line(
    file: Path, data: st.DataObject
) -> None:
    whole = file.read_bytes()
    size = data.draw(st.integers(0, len(whole) - 1))
    cut = file.with_name("cut.bin")
    labels = struct.pack("<qq", len(WORDS), len(WORDS))
    huge = whole.replace(labels, b"\x7f" * len(labels))
    other = b"version https://git-lfs.example/spec\n" * 5
    for content in (whole[:size], whole + b"\0", huge, other):
        cut.write_bytes(content)
        with pytest.raises(ModelError, match="not a whole model of fastText") as refused:
            codes_of(cut)
        assert "\n" not in str(refused.value)


def test_a_quantised_model_is_whole(tmp_path: Path) -> None:
    path = write_model(tmp_path / "tiny.ftz", WORDS, is_quantised=True)
    assert set(codes_of(path)) == WORDS.keys() - {"xx-Latn"}
    (tmp_path / "cut.ftz").write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelError, match="not a whole model"):
        codes_of(tmp_path / "cut.ftz")


def test_a_missing_file_and_a_model_of_no_language_are_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such model file"):
        codes_of(tmp_path / "none.ftz")
    path = write_model(tmp_path / "stars.bin", {"positive": "good", "negative": "bad"})
    with pytest.raises(ModelError, match=r"no label of this model names a language \(positive"):
        codes_of(path)


def test_a_missing_package_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fasttext.FastText", None)
    with pytest.raises(MissingPackageError, match=r"pip install .*fasttext-numpy2-wheel"):
        FasttextEngine(file)
