"""Pages are decoded by their bytes, whatever encoding they declare."""
# ruff: noqa: RUF001 - the sentences are in their languages

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers.datasets.texts import LabelledText
from langfocus.classifiers.pages.charset import charsets, detection
from langfocus.classifiers.pages.charset.encodings import decode
from langfocus.classifiers.pages.charset.letters import LetterModel
from langfocus.classifiers.training.letters import decomposed, is_held_out, train
from tests.classifiers.pages.test_page_language import SENTENCES

TEXTS = SENTENCES | {
    "de": "Die Bäckerei an der Ecke öffnet früh, und über dem Fluß hängt schon Nebel.",
    "eo": "Hieraŭ vespere ni longe promenis ĉe la rivero kaj parolis pri la aliĝo.",
    "hu": "Az őszi erdőben csend van, a hűvös szél zörgeti a lehullott leveleket.",
    "is": "Þetta er íslenska, og það er mjög gott að búa við sjóinn á Íslandi.",
    "ar-v": "ذَهَبَ الوَلَدُ إِلَى المَدْرَسَةِ صَبَاحًا وَعَادَ مَعَ أَصْدِقَائِهِ مَسَاءً.",  # with its vowels
    "kk": "Кеше кешке біз өзен жағасында ұзақ серуендеп, келесі саяхат туралы әңгімелестік.",
    "ku": "Duh êvarê em demeke dirêj li ber çem meşiyan û li ser rêwîtiya xwe ya bê axivîn.",
    "tr": "Yağmur dindikten sonra çocuklar dışarı çıkıp çamurlu bahçede koşuştular.",
    "vi": decomposed("Chiều hôm qua chúng tôi đi dạo bên bờ sông và nói về chuyến đi sắp tới."),
    "zh-TW": "昨天晚上我們在河邊散步,說了很久關於下一次旅行的事,大家都很高興。",
}
GERMAN, RUSSIAN = TEXTS["de"], TEXTS["ru"]
ROUND_TRIPS = """
iso-8859-1 windows-1252 de fr is | windows-1252 windows-1252 es et
iso-8859-2 iso-8859-2 pl hu | windows-1250 windows-1250 cs | windows-1254 windows-1254 tr ku
mac_latin2 x-mac-ce cs pl hu | kz1048 kz-1048 kk
windows-1251 windows-1251 ru uk bg | koi8-r koi8-r ru | iso-8859-5 iso-8859-5 ru
ibm866 ibm866 ru | ibm855 ibm855 ru | mac_cyrillic x-mac-cyrillic ru
windows-1253 windows-1253 el | windows-1255 windows-1255 he | windows-1256 windows-1256 ar ar-v
windows-1257 windows-1257 lv lt | iso-8859-4 iso-8859-4 lt | iso-8859-3 iso-8859-3 eo
windows-1258 windows-1258 vi | tis-620 windows-874 th | euc-kr euc-kr ko | johab johab ko
shift_jis shift_jis ja | euc-jp euc-jp ja | iso-2022-jp iso-2022-jp ja
gb2312 gb18030 zh | big5 big5 zh-TW
"""
"""Python's name of an encoding, its WHATWG name, and languages."""
CASES = [
    (code, encoding, name)
    for encoding, name, *codes in map(str.split, re.split(r"[\n|]", ROUND_TRIPS.strip()))
    for code in codes
]


def page(text: str, encoding: str, declared: str | None) -> bytes:
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={declared}">'
    html = f"<html><head>{meta if declared else ''}</head><body><p>{text * 2}</p></body></html>"
    return html.encode(encoding)


@pytest.mark.parametrize(("code", "encoding", "name"), CASES)
def test_a_declared_encoding_is_used(code: str, encoding: str, name: str) -> None:
    text = TEXTS[code]
    for decoded in (
        decode(page(text, encoding, encoding)),
        decode(page(text, encoding, None), f'text/html; charset="{encoding}"'),
    ):
        assert text in decoded.text
        assert decoded.charset == name


@pytest.mark.parametrize(("code", "encoding", "name"), CASES)
@pytest.mark.parametrize("declared", [None, "iso-8859-1"])
def test_an_encoding_is_found_without_its_declaration(
    code: str, encoding: str, name: str, declared: str | None
) -> None:
    text = TEXTS[code]
    decoded = decode(page(text, encoding, declared))
    assert text in decoded.text
    # Hungarian and Russian use the bytes that two encodings share.
    same = {"iso-8859-2": "windows-1250", "koi8-r": "koi8-u"}
    assert decoded.charset in {name, same.get(name)}


KANJI = (
    "会社概要 採用情報 製品情報 営業案内 東京都千代田区 駐車場完備 価格表 検索 総合受付 電話番号"
)
HALF_WIDTH = "ﾃﾞﾝﾜ ﾊﾞﾝｺﾞｳ ﾄｳｷｮｳﾄ ﾁﾖﾀﾞｸ ｶﾌﾞｼｷｶﾞｲｼｬ ﾀﾞｲｷﾞﾝ ｵﾌﾘｺﾐ"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(KANJI, "shift_jis"), (KANJI, "euc-jp"), (HALF_WIDTH, "shift_jis")],
)
def test_japanese_without_usual_kana_is_found(text: str, encoding: str) -> None:
    decoded = decode(page(text, encoding, None))
    assert (decoded.charset, text in decoded.text) == (encoding, True)


@pytest.mark.parametrize("text", ["МОСКВА СПРАВКА ПО ГОРОДУ ТЕЛЕФОНЫ И АДРЕСА", RUSSIAN.upper()])
@pytest.mark.parametrize("encoding", ["cp1251", "iso-8859-5"])
def test_cyrillic_capitals_are_no_half_width_kana(text: str, encoding: str) -> None:
    assert text in decode(page(text, encoding, None)).text


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1251", "shift_jis", "nonsense", None])
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, TEXTS["th"], TEXTS["ja"]])
def test_valid_utf_8_is_utf_8_whatever_is_declared(text: str, declared: str | None) -> None:
    decoded = decode(page(text, "utf-8", declared))
    assert text in decoded.text
    assert decoded.charset == "utf-8"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_decides(encoding: str) -> None:
    decoded = decode(page(RUSSIAN, encoding, "koi8-r"), "text/html; charset=iso-8859-1")
    assert RUSSIAN in decoded.text
    assert decoded.source == "bom"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN])
def test_utf_16_without_a_mark_is_recognised(text: str, encoding: str) -> None:
    assert text in decode(page(text, encoding, None)).text


METAS = b'<meta charset="windows-1251"><meta charset="koi8-r"><meta charset="made-up">'
LATE = ("<script>" + "var a = 1;" * 500 + "</script><meta charset=windows-1251>").encode()


@pytest.mark.parametrize(
    ("body", "content_type", "found"),
    [
        (page(RUSSIAN, "koi8-r", "windows-1251"), "text/html; charset=koi8-r", ("koi8-r", "http")),
        (METAS + RUSSIAN.encode("koi8-r"), None, ("koi8-r", "meta")),
        (page(GERMAN, "iso-8859-1", "utf-8"), "text/html; charset=utf-8", ("windows-1252", None)),
        (page(RUSSIAN * 20, "utf-8", "utf-8")[:-5] + b"\xff</p>", None, ("utf-8", "meta")),
        (LATE + RUSSIAN.encode("cp1251"), None, ("windows-1251", "meta")),
    ],
    ids=["HTTP before META", "the last valid META", "a false one", "a damaged page", "a late one"],
)
def test_a_declaration_counts_unless_the_bytes_contradict_it(
    body: bytes, content_type: str | None, found: tuple[str, str | None]
) -> None:
    decoded = decode(body, content_type)
    assert RUSSIAN in decoded.text or GERMAN in decoded.text
    assert (decoded.charset, found[1] and decoded.source) == found


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (" ISO-8859-1 ", "windows-1252"),
        ("unicode", "utf-16le"),
        ("klingon", None),
        ("", None),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, name: str | None) -> None:
    assert charsets.canonical_label(label) == name


@pytest.mark.parametrize(
    "head",
    [
        '<!-- <meta charset="koi8-r"> -->',
        "<script>var a = '<meta charset=\"koi8-r\">'</script>",
        '<style>/* <meta charset="koi8-r"> */</style>',
        '<meta name="description" content="charset=koi8-r">',
    ],
)
def test_a_meta_that_no_browser_obeys_declares_nothing(head: str) -> None:
    decoded = decode(f"{head}<title>a</title>{GERMAN}".encode("iso-8859-1"))
    assert (decoded.charset, decoded.declared) == ("windows-1252", None)


def test_what_a_page_declares_is_told_even_if_it_is_not_believed() -> None:
    body = b'<meta charset="GB2312"><meta charset="Latin1"><meta charset="none">'
    decoded = decode(body + RUSSIAN.encode("utf-8"), "text/html; charset=utf-8")
    assert (decoded.charset, decoded.source) == ("utf-8", "http")
    assert decoded.declared == "windows-1252"
    assert decode(b"<p>nothing").declared is None


def test_xml_declares_its_encoding() -> None:
    body = f'<?xml version="1.0" encoding="windows-1251"?><p>{RUSSIAN}</p>'
    decoded = decode(body.encode("cp1251"))
    assert (decoded.declared, decoded.source) == ("windows-1251", "meta")


@pytest.mark.parametrize("label", ["utf-7", "x-user-defined", "replacement"])
def test_an_encoding_that_hides_markup_is_not_believed(label: str) -> None:
    body = f"<meta charset={label}><p>+ADw-script+AD4- {GERMAN}".encode("cp1252")
    decoded = decode(body, f"text/html; charset={label}")
    assert "+ADw-script" in decoded.text
    assert GERMAN in decoded.text


@pytest.mark.parametrize("damage", [b"\xff", b"\xed\xa0\xbd\xed\xb8\x80", b"\xc0\xaf", b"\xe9 "])
@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-1", None])
def test_utf_8_with_a_few_broken_bytes_is_utf_8(damage: bytes, declared: str | None) -> None:
    body = page(GERMAN, "utf-8", declared) + damage
    decoded = decode(body)
    assert decoded.charset == "utf-8"
    assert GERMAN in decoded.text


@pytest.mark.parametrize(
    ("code", "encoding"),
    [("ja", "shift_jis"), ("zh", "gb2312"), ("ko", "euc-kr"), ("zh-TW", "big5")],
)
@pytest.mark.parametrize("declared", [True, False])
def test_a_cut_character_at_the_end_costs_only_itself(
    code: str, encoding: str, declared: bool
) -> None:
    text = TEXTS[code]
    whole = page(text, encoding, encoding if declared else None)
    cut = whole + text[0].encode(encoding)[:1]
    assert decode(cut).text.rstrip("\ufffd") == whole.decode(encoding)


@pytest.mark.parametrize(
    ("most", "encoding", "pasted"),
    [
        (TEXTS["ja"], "shift_jis", TEXTS["ja"].encode("euc-jp")),
        (TEXTS["zh"], "gb2312", TEXTS["zh"].encode("utf-8")),
        (RUSSIAN, "cp1251", RUSSIAN.encode("koi8-r")),
        (RUSSIAN, "cp1251", RUSSIAN.encode("utf-8")),
        (GERMAN, "cp1252", GERMAN.encode("utf-8")),
        (RUSSIAN, "utf-8", RUSSIAN.encode("cp1251")),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_of_two_encodings_in_a_page_the_more_frequent_one_wins(
    most: str, encoding: str, pasted: bytes, first: bool
) -> None:
    main = b"<p>" + f"{most} \n".encode(encoding) * 12
    block = b"<p>" + pasted + b"</p>\n"
    assert decode(block + main if first else main + block).text.count(most) >= 11


def test_a_long_page_is_judged_by_all_of_it() -> None:
    script = "<script>" + "var a = 1; /* \xe9\xe8 */" * 4_000 + "</script>"
    body = script.encode("latin-1") + f"<p>{RUSSIAN} ".encode("koi8-r") * 3_000
    assert len(detection.sample(body)) <= 70_000
    assert RUSSIAN in decode(body).text


@pytest.mark.parametrize(
    "body",
    [b"\xff" * 500_000, b"\x80", b"\0" * 5_000, b"\0\xe9" * 999, b"<!--" * 50_000 + b"\xe9"],
)
def test_bytes_of_no_encoding_are_decoded_all_the_same(body: bytes) -> None:
    assert decode(body).text


def test_the_letter_model_is_made_of_texts_alike_each_time(tmp_path: Path) -> None:
    pairs = [(f"{GERMAN} {n}", "de") for n in range(30)] + [(RUSSIAN, "ru"), (RUSSIAN, "xx")]
    texts = [LabelledText(text, code, "sentence", "") for text, code in pairs]
    for name in ("a.npz", "b.npz"):
        train(texts).save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    model = LetterModel(tmp_path / "a.npz")
    costs, _ = model.costs(GERMAN.encode("cp1252"))
    assert model.readings[int(costs.argmin())] == ("windows-1252", "de")
    assert 0 < sum(is_held_out(text) for text, _ in pairs) < len(texts)


HEADERS = st.sampled_from(("utf-16", "gbk", "utf-8", "iso-2022-jp")).map("charset={}".format)


@given(st.binary(max_size=400), st.none() | HEADERS | st.text(max_size=40))
def test_no_bytes_make_decoding_raise(body: bytes, content_type: str | None) -> None:
    decoded = decode(body, content_type)
    assert decoded.text.isascii() or decoded.text
    assert decoded == decode(body, content_type)


@pytest.mark.parametrize("label", sorted(charsets._LABELS))
def test_every_label_has_a_codec(label: str) -> None:
    assert "a" in decode(b"a\xe4b" * 3, f"text/html; charset={label}").text
    assert b"x".decode(charsets.codec(charsets._LABELS[label]), "replace") is not None
