"""Engines of other packages answer in the codes of the project, whatever the text."""
# ruff: noqa: RUF001 - the sentences are in their languages

from __future__ import annotations

import sys
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers import languages
from classifiers.errors import MissingPackageError
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


@pytest.mark.parametrize("name", NAMES)
def test_a_package_that_is_missing_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = ("lingua", "py3langid", "py3langid.langid", "pycld2")
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)  # what a package not installed looks like
    with pytest.raises(MissingPackageError, match=r"pip install 'langfocus\[engines\]'"):
        getattr(rivals, name)()
