"""The methods of Tamura 2007, 2.2 and Cai 2009 read encodings, declarations and byte n-grams."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from langfocus.classifiers.arrayfile import write_arrays
from langfocus.classifiers.datasets.texts import LabelledText, LabelledTexts
from langfocus.classifiers.errors import DatasetError, ModelError
from langfocus.classifiers.pages.charset.charsets import canonical_label, codec
from langfocus.classifiers.pages.method import answers_of
from langfocus.classifiers.pages.parse import ParsedPage, parse_page
from langfocus.classifiers.papers.cai import method as cai
from langfocus.classifiers.papers.cai import models as cai_models
from langfocus.classifiers.papers.tamura import method as tamura
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from tests.support.sentences import SENTENCES

TEXTS = Path(__file__).parents[4] / "shared" / "data" / "texts.tsv.gz"

ENCODINGS = {
    "cs": ("windows-1250", "iso-8859-2"),
    "de": ("windows-1252",),
    "el": ("windows-1253", "iso-8859-7"),
    "he": ("windows-1255",),
    "ja": ("shift_jis", "euc-jp"),
    "ko": ("euc-kr",),
    "ru": ("windows-1251", "koi8-r", "iso-8859-5", "ibm866"),
    "th": ("windows-874",),
    "tr": ("windows-1254",),
    "zh": ("gb18030",),
}


def page_of(
    text: str,
    *,
    meta: str | None = None,
    lang: str | None = None,
    charset: str = "utf-8",
    http: str | None = None,
) -> ParsedPage:
    """A page with that visible text, declarations and encoding."""
    declared = f"<meta charset={meta}>" if meta else ""
    html = f"<html{f' lang={lang!r}' if lang else ''}>{declared}<body><p>{text}"
    kind = f"text/html; charset={http}" if http else "text/html"
    body = html.encode(codec(charset), "xmlcharrefreplace")
    return parse_page(body, content_type=kind, url="http://example.org/")


def rows_of(n: int = 60) -> list[LabelledText]:
    """Return a number of identical texts in each language."""
    rows = (LabelledText(text, code, "sentence", "test") for code, text in SENTENCES.items())
    return [row for row in rows for _ in range(n)]


def test_a_declaration_is_read_in_all_its_spellings() -> None:
    for tag, language in (("EN_us", "en"), ("deutsch", "de"), ("nb-NO", "no"), ("fre", "fr")):
        found = cai.shipped().identify(page_of("1 2 3", lang=tag))
        assert (found.language, found.method) == (language, "declaration")
        assert tag in found.reason


@pytest.mark.parametrize(
    ("labels", "language"),
    [
        ("TIS-620 Windows-874", "th"),
        ("x-sjis EUC-JP", "ja"),
        ("ks_c_5601-1987", "ko"),
        ("gb2312 Big5", "zh"),
        ("ISO-8859-9 windows-1254", "tr"),
        ("iso-8859-7", "el"),
        ("KOI8-U", "uk"),
        ("VISCII", "vi"),
        ("utf-8 ISO-8859-1 windows-1251 none", None),
    ],
)
def test_an_encoding_of_one_language_is_known_by_all_its_labels(
    labels: str, language: str | None
) -> None:
    assert {cai_models.language_of_encoding(label) for label in labels.split()} == {language}


def test_the_tables_use_codes_and_names_of_the_project() -> None:
    users = {code for row in cai_models.WRITTEN_IN.values() for code in row.split()}
    assert users | set(cai_models.SINGLE_LANGUAGE.values()) <= PROJECT_CODES
    assert all(canonical_label(name) == name for name in cai_models.WRITTEN_IN)
    assert all(word == word.lower() for word in cai_models.COMMON_WORDS)


def test_the_encoding_goes_before_the_declaration_and_that_before_the_text() -> None:
    method = cai.shipped()
    german = SENTENCES["de"]
    declared = page_of(german, lang="fr", meta="shift_jis", charset="ascii")
    assert method.identify(declared).language == "ja"
    alone = {"encoding": "ja", "declaration": "fr", "text": "de"}
    assert answers_of(method, declared) == alone, "a census counts each kind of evidence"
    assert method.identify(page_of(german, lang="fr")).language == "fr"
    assert method.identify(page_of(german)).language == "de"


def test_only_a_declared_encoding_determines_a_language() -> None:
    page = page_of(SENTENCES["ja"] * 3, charset="shift_jis")
    assert (page.charset, page.charset_source) == ("shift_jis", "detected")
    assert cai.by_encoding(page).language is None
    assert cai.shipped().identify(page).language == "ja"


def test_the_text_tells_the_language() -> None:
    for code, sentence in SENTENCES.items():
        found = cai.shipped().identify(page_of(sentence))
        assert (found.language, found.method) == (code, "text")
        assert 0 < found.confidence <= 1


def test_a_text_is_read_in_its_own_encoding() -> None:
    for code, charsets in ENCODINGS.items():
        for charset in charsets:
            page = page_of(SENTENCES[code], http=charset, charset=charset)
            content, encoding = cai.own_bytes(page, cai.shipped().models)
            assert encoding == page.charset
            assert cai.shipped().models.distances(content)[0].language == code


def test_characters_that_the_encoding_lacks_are_read_in_utf8() -> None:
    page = page_of(SENTENCES["th"], http="windows-1251", charset="ascii")
    assert page.charset == "windows-1251"
    assert cai.own_bytes(page, cai.shipped().models)[1] == "utf-8"
    assert cai.shipped().identify(page).language == "th"


def test_less_than_forty_bytes_are_no_text() -> None:
    short = cai.shipped().identify(page_of("Das ist ein kurzer Satz am Morgen heute"))
    assert (short.language, "39 bytes" in short.reason) == (None, True)
    long = cai.shipped().identify(page_of("Das ist ein kurzer Satz am Morgen heute X"))
    assert long.language == "de"


def test_common_words_and_symbols_are_taken_out() -> None:
    assert cai_models.filtered("Microsoft® Windows 95: C++ & <Java> 3,50 € §§") == "c"
    assert cai_models.filtered("Webmastering in Homepages") == "webmastering in homepages"
    assert cai_models.filtered("Über 7 Brücken") == "über brücken"
    assert cai_models.filtered("เมื่อวาน हिन्दी") == "เมื่อวาน हिन्दी"
    found = cai.shipped().identify(page_of("Microsoft Windows Linux Java Internet Explorer " * 20))
    assert found.language is None


def test_no_language_is_named_beyond_the_border() -> None:
    found = cai.Cai(cai.shipped().models, border=0.1).identify(page_of(SENTENCES["de"]))
    assert (found.language, "beyond the border" in found.reason) == (None, True)
    noise = page_of("xkcd qwrtz zzyxq plmkw wqrvj hjklx bvcxz " * 5)
    assert cai.shipped().identify(noise).language is None


def test_alternatives_within_the_typical_value_are_in_the_reason() -> None:
    page = page_of("Vi gikk en lang tur ved elven og snakket om alt det vi har gjort der.")
    assert "alternatives" in cai.shipped().identify(page).reason
    assert "alternatives" not in cai.Cai(cai.shipped().models, typical=1.0).identify(page).reason


def test_the_most_frequent_grams_count_first_and_rare_ones_may_not(tmp_path: Path) -> None:
    # a 3 times, b 2 times, then by their bytes: 'ab' before 'aba' before 'ba'.
    grams = [int(gram) for gram in cai_models.ranked_grams(b"ababa")]
    assert grams[:3] == [ord("a"), ord("b"), 0x6162]
    assert len(grams) == len(set(grams)) == 8
    assert [int(gram) for gram in cai_models.ranked_grams(b"ababa", 3)] == [ord("a")]
    frequent = cai_models.train(rows_of(), least=100)
    assert frequent.distances(b"abc") == []
    frequent.save(tmp_path / "frequent.npz")
    assert cai_models.read(tmp_path / "frequent.npz").least == 100
    assert cai.shipped().models.least == cai_models.LEAST == 1


def test_languages_with_few_texts_and_single_words_get_no_model() -> None:
    rows = [*rows_of(60), *(LabelledText("sana", "et", "sentence", "test") for _ in range(49))]
    rows += [LabelledText("sana", "et", "single-word", "test")] * 500
    assert cai_models.train(rows).languages == set(SENTENCES)
    with pytest.raises(DatasetError, match="no language has 50 texts"):
        cai_models.train(rows_of(3))


def test_a_saved_method_is_the_same_when_read(tmp_path: Path) -> None:
    models = cai_models.train(rows_of())
    models.save(tmp_path / "one.npz")
    models.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    content = b" ".join([cai_models.filtered(SENTENCES["de"]).encode()] * 60)
    assert models.distances(content)[0][::2] == ("de", 0.0), "the closest possible text"
    again = cai_models.read(tmp_path / "one.npz")
    assert again.of == models.of
    assert np.array_equal(again.grams, models.grams)


def test_a_file_of_other_things_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "models.npz"
    with pytest.raises(ModelError, match="no such model file"):
        cai_models.read(path)
    path.write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(ModelError, match="cannot be read"):
        cai_models.read(path)
    write_arrays(path, format=np.int64(9), models=np.array(["de utf-8"]), grams=np.zeros((1, 400)))
    with pytest.raises(ModelError, match="version 9"):
        cai_models.read(path)
    write_arrays(path, format=np.int64(1), models=np.array(["de"]), grams=np.zeros((2, 3)))
    with pytest.raises(ModelError, match="do not fit"):
        cai_models.read(path)


@pytest.mark.skipif(not TEXTS.exists(), reason="the labelled texts are not here")
def test_the_models_that_ship_are_those_of_the_labelled_texts() -> None:
    learned, shipped = cai_models.train(LabelledTexts(TEXTS)), cai.shipped().models
    assert learned.of == shipped.of
    assert np.array_equal(learned.grams, shipped.grams)


@pytest.mark.parametrize(
    ("meta", "http", "found"),
    [
        ("TIS-620", None, ("th", "encoding")),
        ("windows-874", None, ("th", "encoding")),
        ("tis-620><meta charset=koi8-r", None, ("ru", "encoding")),
        *((meta, None, ("de", "text")) for meta in ("ISO-8859-1", "latin1", "utf-8", "none", None)),
        (None, "tis-620", ("de", "text")),
    ],
)
def test_the_last_meta_with_an_encoding_of_one_language_decides_before_the_text(
    meta: str | None, http: str | None, found: tuple[str, str]
) -> None:
    page = page_of(SENTENCES["de"], meta=meta, http=http, charset="ascii" if http else "utf-8")
    answer = tamura.shipped().identify(page)
    assert (answer.language, answer.method) == found


def test_a_text_in_utf8_is_confirmed_in_its_legacy_encoding() -> None:
    for code, names in ENCODINGS.items():
        found = tamura.shipped().identify(page_of(SENTENCES[code], meta="utf-8"))
        assert found.language == code
        assert any(f"text: {code} in {name} " in found.reason for name in names)
    assert set(SENTENCES) <= tamura.shipped().languages
