"""Engines of other packages answer in the codes of the project, whatever the text."""
# ruff: noqa: RUF001 - the sentences are in their languages

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers import languages
from classifiers.errors import MissingPackageError, ModelError
from classifiers.lab.page_methods import rivals
from classifiers.pages.methods.text_only import ByText
from classifiers.pages.parse import parse_page

PACKAGES = {"lingua": "lingua", "py3langid": "py3langid", "cld2": "pycld2"}
NAMES = tuple(PACKAGES)

TEXTS = {
    "de": "Gestern Abend gingen wir lange am Fluss entlang und sprachen über die nächste Reise.",
    "en": "Yesterday evening we walked along the river for a long time and talked of our journey.",
    "fr": "Hier soir nous avons longtemps marché au bord de la rivière en parlant du voyage.",
    "he": "אתמול בערב הלכנו לאורך הנהר ודיברנו על הטיול שלנו בקיץ הבא.",
    "ja": "昨日の夕方、私たちは川のそばを散歩しながら、次の旅行について話しました。",
    "no": "I går kveld gikk vi lenge langs elven og snakket om den neste reisen vår.",
    "ru": "Вчера вечером мы долго гуляли вдоль реки и говорили о будущей поездке.",
    "zh": "昨天晚上我們在河邊散步,說了很久關於下一次旅行的事,大家都很高興。",
}
"""Hebrew and Norwegian are `iw` and `nb` for some packages, written Chinese is `zh-Hant`."""


@cache
def made(name: str) -> ByText:
    pytest.importorskip(PACKAGES[name])
    engine: ByText = getattr(rivals, name)()
    return engine


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of three languages, made by fastText itself in a process of its own."""
    pytest.importorskip("fasttext")
    folder = tmp_path_factory.mktemp("fasttext")
    rows = [f"__label__{tag} {TEXTS[code]}" for tag, code in LABELS.items()]
    (folder / "rows.txt").write_text("\n".join(rows * 20) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, "-c", TRAINING], check=True, cwd=folder, capture_output=True)
    return folder / "model.bin"


LABELS = {"deu_Latn": "de", "en": "en", "fr-FR": "fr"}
TRAINING = """
import fasttext
options = dict(dim=8, minn=2, maxn=4, epoch=50, lr=0.5, bucket=5000, thread=1, verbose=0)
fasttext.train_supervised("rows.txt", **options).save_model("model.bin")
"""


@pytest.mark.parametrize("code", TEXTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_is_read(name: str, code: str) -> None:
    page = parse_page(TEXTS[code].encode(), content_type="text/html; charset=utf-8", url="")
    found = made(name).identify(page)
    assert (found.language, found.method) == (code, "text")
    assert 0.3 < found.confidence <= 1
    assert code in found.reason


@pytest.mark.parametrize("name", NAMES)
def test_all_languages_are_codes_of_the_project(name: str) -> None:
    method = made(name)
    assert set(TEXTS) <= method.languages <= languages.known()
    assert method.name == name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", " ", "\0", "12345 678", "😀" * 500, "\ud800", "\x01 \x02"])
def test_a_text_without_letters_is_in_no_language(name: str, text: str) -> None:
    engine = made(name).engine
    assert engine.rank(text) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dirt", ["\0", "\ud800", "\ufffe", "\U0001fffe", "\x07", "\x80", "😀"])
def test_what_no_page_shows_does_not_keep_a_text_from_being_read(name: str, dirt: str) -> None:
    text = dirt + TEXTS["fr"].replace("soir", f"soir{dirt}") + dirt
    assert made(name).engine.rank(text)[0][0] == "fr"


@pytest.mark.parametrize("name", ["py3langid", "cld2"])
@given(text=st.text(st.characters(exclude_categories=()), max_size=80))
@settings(max_examples=100, deadline=None)
def test_any_text_gives_a_ranking_of_known_codes(name: str, text: str) -> None:
    engine = made(name).engine
    ranking = engine.rank(text)
    shares = [share for _, share in ranking]
    assert shares == sorted(shares, reverse=True)
    assert all(0 < share <= 1 for share in shares)
    assert {code for code, _ in ranking} <= engine.languages
    assert engine.rank(text) == ranking


def test_a_model_of_fasttext_is_read_from_the_path_in_the_environment(
    model_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(rivals.FASTTEXT_MODEL, str(model_file))
    method = rivals.fasttext()
    assert method.languages == {"de", "en", "fr"}
    found = {code: method.engine.rank(TEXTS[code])[0][0] for code in LABELS.values()}
    assert found == {"de": "de", "en": "en", "fr": "fr"}


@pytest.mark.parametrize("text", ["", "\n", "\0", "\ud800", "😀", "a\nb", "7" * 10_000])
def test_a_model_of_fasttext_takes_any_text(model_file: Path, text: str) -> None:
    ranking = rivals.FasttextEngine(model_file).rank(text)
    assert all(0 < share <= 1 for _, share in ranking)


def test_a_missing_model_of_fasttext_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fasttext")
    monkeypatch.delenv(rivals.FASTTEXT_MODEL, raising=False)
    with pytest.raises(ModelError, match=rivals.FASTTEXT_MODEL):
        rivals.fasttext()
    monkeypatch.setenv(rivals.FASTTEXT_MODEL, str(tmp_path / "lid.176.ftz"))
    with pytest.raises(ModelError, match="no such model file"):
        rivals.fasttext()


def test_a_file_that_is_no_model_of_fasttext_is_told(tmp_path: Path) -> None:
    pytest.importorskip("fasttext")
    path = tmp_path / "lid.176.ftz"
    path.write_bytes(b"version https://git-lfs.example/spec\n" * 5)
    with pytest.raises(ModelError, match="not a model of fastText"):
        rivals.FasttextEngine(path)


@pytest.mark.parametrize("name", [*NAMES, "fasttext"])
def test_a_package_that_is_missing_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = ("lingua", "py3langid", "py3langid.langid", "pycld2", "fasttext.FastText")
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)  # what a package not installed looks like
    with pytest.raises(MissingPackageError, match=r"pip install 'langfocus\[engines\]'"):
        getattr(rivals, name)()
