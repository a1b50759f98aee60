import csv
import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers import languages
from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.tables.language_codes import COMPOSITE, PROJECT_CODES

DATA = Path(__file__).parents[3] / "shared" / "data"
NEWS = DATA / "sib200.tsv.gz"
CODES = sorted(PROJECT_CODES)
TLDS = sorted(tld for code in CODES for tld in languages.tlds_of(code))


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        # ISO 639-1 with its old spellings, -2 in both, -3
        ("de", "de"), (" DE ", "de"), ("deu", "de"), ("GER", "de"), ("iw", "he"), ("sh", "sr"),
        ("nb", "no"), ("nor", "no"), ("nno", "nn"), ("scr", "hr"), ("twi", "ak"), ("fil", "tl"),
        ("cmn", "zh"), ("yue", "yue"), ("zsm", "ms"), ("arb", "ar"), ("prs", "fa"), ("arz", "ar"),
        ("azb", "azb"), ("azj", "az"), ("als", "sq"), ("dik", "din"), ("quy", "qu"), ("ydd", "yi"),
        # BCP 47, with `_`, and POSIX
        ("de_AT", "de"), ("zh-Hans-CN", "zh"), ("zh-min-nan", "zh"), ("zh-Yue-HK", "yue"),
        ("az-Arab-IR", "azb"), ("sr-Latn-RS", "sr"), ("es-419", "es"), ("ca-valencia", "ca"),
        ("de-CH-1996", "de"), ("sr_RS.UTF-8@latin", "sr"), ("de_DE@euro", "de"),
        # Names
        ("GERMAN", "de"), ("Deutsch", "de"), ("francais", "fr"), ("ESPANOL", "es"),
        ("Castilian", "es"), ("Norwegian Bokmål", "no"), ("Nynorsk", "nn"), ("русский", "ru"),
        ("简体中文", "zh"), ("Chinese (Simplified)", "zh"), ("Cantonese", "yue"), ("ไทย", "th"),
        ("Filipino", "tl"), ("Farsi", "fa"), ("Bahasa_Indonesia", "id"), ("tieng viet", "vi"),
    ],
)  # fmt: skip
def test_every_spelling_of_a_language_leads_to_its_code(tag: str, code: str) -> None:
    assert languages.canonical(tag) == code


@pytest.mark.parametrize(
    "tag",
    ["", " ", "-", "x", "x-default", "und", "mul", "zxx", "C", "POSIX", "utf-8", "de, en", "de;en",
     "jp", "cz", "dk", "http://de/", "deutsche", "de-", "-de", "de--DE", "\x00", "de\n\nen",
     "de" * 500],
)  # fmt: skip
def test_what_names_no_single_language_is_none(tag: str) -> None:
    assert languages.canonical(tag) is None


@given(st.sampled_from(CODES))
def test_a_code_is_its_own_canonical_form(code: str) -> None:
    assert languages.canonical(code) == code
    assert languages.canonical(code.upper()) == code
    assert languages.canonical(f"{code}-Latn-XY") == code


@pytest.mark.parametrize("code", CODES)
def test_the_english_name_of_a_code_leads_back_to_it(code: str) -> None:
    assert languages.canonical(languages.name(code)) == code


def test_codes_are_iso_639_1_or_639_3() -> None:
    assert all(re.fullmatch(r"[a-z]{2,3}", code) for code in PROJECT_CODES)
    assert sum(len(code) == 2 for code in PROJECT_CODES) == 181  # 183 without nb and tw
    assert PROJECT_CODES.isdisjoint({"nb", "sh", "fil", "cmn", "iw", "in", "und"})


def test_languages_and_scripts_of_the_news_sentences_are_known() -> None:
    if not NEWS.exists():
        pytest.skip(f"the news sentences are not here: {NEWS}")
    with gzip.open(NEWS, "rt", encoding="utf-8", newline="") as lines:
        rows = {row["flores_code"] for row in csv.DictReader(lines, delimiter="\t")}
    assert len(rows) == 204
    for tag in rows:
        code = languages.canonical(tag)
        assert code is not None, tag
        script = tag.partition("_")[2]
        assert languages.scripts(code) >= set(COMPOSITE.get(script, (script,))), tag


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("de", ("de",)),
        ("de, en", ("de", "en")),
        ("DE ; en-GB;q=0.8", ("de", "en")),
        ("de en", ("de", "en")),
        ("en_", ("en",)),
        ("kr", ("ko",)),
        ("ko-KR", ("ko",)),
        ("kr-KR", ("ko",)),
        ("jp", ("ja",)),
        ("cz_CZ", ("cs",)),
        ("cn, jp, kr", ("zh", "ja", "ko")),
        ("Norwegian Nynorsk", ("nn",)),
        ("German, klingonisch", ("de",)),
        ("kau", ("kr",)),
        ("utf-8", ()),
        ("this is no language", ()),
        ("", ()),
        (",;", ()),
    ],
)
def test_lists_countries_and_names_are_understood(value: str, codes: tuple[str, ...]) -> None:
    assert languages.declared_languages(value) == codes


@given(st.text(max_size=200))
def test_any_text_gives_known_codes_each_once(value: str) -> None:
    codes = languages.declared_languages(value)
    assert languages.canonical(value) in {None, *PROJECT_CODES}
    assert set(codes) <= PROJECT_CODES
    assert len(codes) == len(set(codes)) <= languages.MOST_DECLARED


@pytest.mark.parametrize(
    ("tld", "code"),
    [
        ("be", "nl"), ("br", "pt"), ("jp", "ja"), ("cn", "zh"), ("kr", "ko"), ("ir", "fa"),
        ("ua", "uk"), ("su", "ru"), ("by", "be"), ("py", "es"), ("zw", "en"), ("in", "hi"),
        ("al", "sq"),
        ("ad", "ca"), ("cat", "ca"), ("eus", "eu"), ("wales", "cy"), ("berlin", "de"),
        ("xn--p1ai", "ru"), ("xn--90a3ac", "sr"), ("xn--h2brj9c", "hi"),
        ("vermögensberatung", "de"), (".DE.", "de"), ("XN--P1AI", "ru"), ("РФ", "ru"),
    ],
)  # fmt: skip
def test_a_tld_speaks_for_the_language_of_its_place(tld: str, code: str) -> None:
    assert languages.language_of_tld(tld) == code


@pytest.mark.parametrize(
    "tld",
    ["com", "org", "net", "info", "biz", "int", "arpa", "eu", "asia", "tv", "me", "io", "ai", "cc",
     "ws", "fm", "to", "gg", "im", "sh", "nu", "ac", "scot", "swiss", "xk", "aq", "xn--", "xn--a",
     "", ".", "127", "zz", "xn--\x00", "ελλ"],
)  # fmt: skip
def test_a_tld_that_speaks_for_no_one_is_none(tld: str) -> None:
    assert languages.language_of_tld(tld) is None


@given(st.sampled_from(TLDS))
def test_tlds_of_is_the_inverse_of_language_of_tld(tld: str) -> None:
    code = languages.language_of_tld(tld)
    assert code is not None
    assert tld in languages.tlds_of(code)
    assert tld == tld.lower()
    assert languages.language_of_tld(tld.encode("ascii").decode("idna")) == code


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("de", {"Latn"}), ("ru", {"Cyrl"}), ("sr", {"Cyrl", "Latn"}), ("zh", {"Hani"}),
        ("ja", {"Hani", "Hira", "Kana"}), ("ko", {"Hang", "Hani"}), ("hi", {"Deva"}),
        ("pa", {"Guru", "Arab"}), ("az", {"Latn", "Cyrl"}), ("azb", {"Arab"}),
        ("kk", {"Cyrl", "Arab", "Latn"}),
        ("uz", {"Latn", "Cyrl", "Arab"}), ("ckb", {"Arab"}), ("tl", {"Latn"}), ("ak", {"Latn"}),
        ("en", {"Latn"}), ("yi", {"Hebr"}), ("am", {"Ethi"}), ("no", {"Latn"}),
    ],
)  # fmt: skip
def test_scripts_are_those_of_the_characters(code: str, expected: set[str]) -> None:
    assert languages.scripts(code) == expected


@pytest.mark.parametrize("code", CODES)
def test_every_language_has_a_name_a_script_and_a_header(code: str) -> None:
    assert languages.name(code).strip()
    assert languages.scripts(code)
    assert languages.scripts(code).isdisjoint({"Hans", "Hant", "Jpan", "Kore", "Hrkt", "Zyyy"})
    assert re.fullmatch(
        r"[a-z]{2,3}(,[a-z]{2,3};q=0\.9)?,\*;q=0\.1", languages.accept_language(code)
    )


def test_the_header_asks_for_the_language_first() -> None:
    assert languages.accept_language("de") == "de,*;q=0.1"
    assert languages.accept_language("no") == "no,nb;q=0.9,*;q=0.1"


@pytest.mark.parametrize(
    "ask",
    [languages.name, languages.tlds_of, languages.accept_language, languages.scripts],
    ids=lambda function: function.__name__,
)
def test_a_code_that_is_not_known_is_refused_in_one_line_with_a_way_out(
    ask: Callable[[str], object],
) -> None:
    with pytest.raises(LanguageError, match=r"'deu'.*write 'de'"):
        ask("deu")
    with pytest.raises(LanguageError, match="ISO 639") as caught:
        ask("klingonese\n")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "code"),
    [("Faroese", "fo"), ("fo", "fo"), ("fao", "fo"), ("føroyskt", "fo"), ("FAROESE ", "fo"),
     ("nog", "nog"), ("Nogai", "nog"), ("nog_Cyrl", "nog"), ("Old Norse", "non")],
)  # fmt: skip
def test_a_person_names_a_language_by_code_or_name(text: str, code: str) -> None:
    assert languages.parse_language(text) == code
    assert languages.name(code) in {"Faroese", "Nogai", "Old Norse"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Faroise", "did you mean Faroese (fo)?"),
        ("Galacian", "did you mean Galician (gl), Albanian (sq) or Catalan (ca)?"),
        ("jp", "did you mean Japanese (ja)?"),
        ("qq", "give a code (de) or a name (German)"),
        ("de, en", "give a code (de) or a name (German)"),
        ("Nogay", "did you mean"),
    ],
)
def test_an_unknown_name_is_told_with_near_ones(text: str, message: str) -> None:
    with pytest.raises(LanguageError) as error:
        languages.parse_language(text)
    assert str(error.value).startswith(f"{text}: no such language; {message}")


@given(st.text(max_size=100))
def test_any_text_names_a_language_with_a_name_or_is_refused(text: str) -> None:
    try:
        code = languages.parse_language(text)
    except LanguageError:
        return
    assert languages.name(code)


def test_languages_beyond_the_codes_are_no_tags_of_pages() -> None:
    for code in ("nog", "jpr", "chn", "bra"):
        assert languages.canonical(code) is None
        assert languages.tlds_of(code) == frozenset()
        assert languages.accept_language(code) == f"{code},*;q=0.1"
    assert all(languages.further(tag) is None for tag in ("deu", "und", "mul", "cmn", "German"))


def test_every_language_of_an_identifier_can_be_asked_for() -> None:
    from langfocus.classifiers.pages.text.textengine import known_languages
    from langfocus.classifiers.urls.model import UrlModel

    for code in {*known_languages(), *UrlModel.load().named_languages}:
        assert (
            languages.parse_language(code) == languages.parse_language(languages.name(code)) == code
        )
