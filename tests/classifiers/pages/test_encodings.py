"""A page is decoded by what its bytes are, not by what it says of them."""
# ruff: noqa: RUF001 - the sentences are in their languages

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.datasets import LabelledText
from classifiers.pages.charset import charsets, detection
from classifiers.pages.charset.encodings import decode
from classifiers.pages.charset.letters import LetterModel
from classifiers.training.letters import decomposed, is_held_out, train

GERMAN = "Die Bäckerei an der Ecke öffnet früh, und über dem Fluß hängt schon Nebel."
FRENCH = "Le marché d'été commence très tôt, et les légumes sont déjà vendus à midi."
SPANISH = "El niño pequeño soñaba con una montaña más alta que todas las demás."
POLISH = "Wczoraj wieczorem poszliśmy nad rzekę, żeby zobaczyć, jak słońce zachodzi."
CZECH = "Příští týden pojedeme vlakem do hor, protože tam už leží čerstvý sníh."
HUNGARIAN = "Az őszi erdőben csend van, a hűvös szél zörgeti a lehullott leveleket."
TURKISH = "Yağmur dindikten sonra çocuklar dışarı çıkıp çamurlu bahçede koşuştular."
RUSSIAN = "Вчера вечером мы долго гуляли вдоль реки и говорили о будущей поездке."
UKRAINIAN = "Учора ввечері ми довго гуляли біля річки й говорили про майбутню подорож."
BULGARIAN = "Снощи дълго се разхождахме край реката и говорихме за лятната почивка."
GREEK = "Χθες το βράδυ περπατήσαμε δίπλα στο ποτάμι και μιλήσαμε για το ταξίδι."
HEBREW = "אתמול בערב הלכנו לאורך הנהר ודיברנו על הטיול שלנו בקיץ הבא."
ARABIC = "مشينا مساء أمس على ضفة النهر وتحدثنا طويلا عن رحلتنا القادمة في الصيف."
THAI = "เมื่อวานตอนเย็นเราเดินเล่นริมแม่น้ำและคุยกันเรื่องการเดินทางครั้งต่อไป"
JAPANESE = "昨日の夕方、私たちは川のそばを散歩しながら、次の旅行について話しました。"
KOREAN = "어제 저녁 우리는 강가를 걸으며 다음 여행에 대해 오랫동안 이야기했습니다."
CHINESE = "昨天晚上我们在河边散步,说了很久关于下一次旅行的事,大家都很高兴。"
TAIWANESE = "昨天晚上我們在河邊散步,說了很久關於下一次旅行的事,大家都很高興。"

ICELANDIC = "Þetta er íslenska, og það er mjög gott að búa við sjóinn á Íslandi."
LATVIAN = "Vakar vakarā mēs ilgi staigājām gar upi un runājām par nākamo ceļojumu."
LITHUANIAN = "Vakar vakare ilgai vaikščiojome palei upę ir kalbėjomės apie kitą kelionę."
ESTONIAN = "Eile õhtul jalutasime kaua jõe ääres ja rääkisime järgmisest reisist."
ESPERANTO = "Hieraŭ vespere ni longe promenis ĉe la rivero kaj parolis pri la aliĝo."
VIETNAMESE = "Chiều hôm qua chúng tôi đi dạo bên bờ sông và nói về chuyến đi sắp tới."

ROUND_TRIPS = [
    (GERMAN, "iso-8859-1", "windows-1252"),
    (FRENCH, "iso-8859-1", "windows-1252"),
    (SPANISH, "windows-1252", "windows-1252"),
    (POLISH, "iso-8859-2", "iso-8859-2"),
    (CZECH, "windows-1250", "windows-1250"),
    (HUNGARIAN, "iso-8859-2", "iso-8859-2"),
    (TURKISH, "windows-1254", "windows-1254"),
    (RUSSIAN, "windows-1251", "windows-1251"),
    (RUSSIAN, "koi8-r", "koi8-r"),
    (RUSSIAN, "iso-8859-5", "iso-8859-5"),
    (RUSSIAN, "ibm866", "ibm866"),
    (UKRAINIAN, "windows-1251", "windows-1251"),
    (BULGARIAN, "windows-1251", "windows-1251"),
    (GREEK, "windows-1253", "windows-1253"),
    (HEBREW, "windows-1255", "windows-1255"),
    (ARABIC, "windows-1256", "windows-1256"),
    (THAI, "tis-620", "windows-874"),
    (JAPANESE, "shift_jis", "shift_jis"),
    (JAPANESE, "euc-jp", "euc-jp"),
    (JAPANESE, "iso-2022-jp", "iso-2022-jp"),
    (KOREAN, "euc-kr", "euc-kr"),
    (CHINESE, "gb2312", "gb18030"),
    (TAIWANESE, "big5", "big5"),
    (ICELANDIC, "iso-8859-1", "windows-1252"),
    (LATVIAN, "windows-1257", "windows-1257"),
    (LITHUANIAN, "windows-1257", "windows-1257"),
    (LITHUANIAN, "iso-8859-4", "iso-8859-4"),
    (ESTONIAN, "windows-1252", "windows-1252"),
    (ESPERANTO, "iso-8859-3", "iso-8859-3"),
    (decomposed(VIETNAMESE), "windows-1258", "windows-1258"),
    (RUSSIAN, "ibm855", "ibm855"),
    (RUSSIAN, "mac_cyrillic", "x-mac-cyrillic"),
    (KOREAN, "johab", "johab"),
]


def page(text: str, encoding: str, declared: str | None) -> bytes:
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={declared}">'
    html = f"<html><head>{meta if declared else ''}</head><body><p>{text * 2}</p></body></html>"
    return html.encode(encoding)


@pytest.mark.parametrize(("text", "encoding", "name"), ROUND_TRIPS)
def test_a_declared_encoding_is_used(text: str, encoding: str, name: str) -> None:
    for decoded in (
        decode(page(text, encoding, encoding)),
        decode(page(text, encoding, None), f'text/html; charset="{encoding}"'),
    ):
        assert text in decoded.text
        assert decoded.charset == name


@pytest.mark.parametrize(("text", "encoding", "name"), ROUND_TRIPS)
@pytest.mark.parametrize("declared", [None, "iso-8859-1"])
def test_an_encoding_is_found_without_its_declaration(
    text: str, encoding: str, name: str, declared: str | None
) -> None:
    decoded = decode(page(text, encoding, declared))
    assert text in decoded.text
    # Hungarian and Russian use the bytes that two encodings share.
    same = {"iso-8859-2": "windows-1250", "koi8-r": "koi8-u"}
    assert decoded.charset in {name, same.get(name)}


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1251", "shift_jis", "nonsense", None])
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, THAI, JAPANESE])
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


def test_http_goes_before_meta() -> None:
    body = page(RUSSIAN, "koi8-r", "windows-1251")
    assert decode(body, "text/html; charset=koi8-r").charset == "koi8-r"


def test_the_last_valid_meta_counts() -> None:
    first = b'<meta charset="windows-1251"><meta charset="koi8-r"><meta charset="made-up">'
    assert decode(first + RUSSIAN.encode("koi8-r")).charset == "koi8-r"


def test_a_declaration_that_the_bytes_contradict_is_dropped() -> None:
    body = page(GERMAN, "iso-8859-1", "utf-8")
    assert GERMAN in decode(body, "text/html; charset=utf-8").text


def test_a_few_damaged_bytes_do_not_undo_a_declaration() -> None:
    body = page(RUSSIAN * 20, "utf-8", "utf-8")[:-5] + b"\xff</p>"
    decoded = decode(body)
    assert decoded.charset == "utf-8"
    assert RUSSIAN in decoded.text


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("latin1", "windows-1252"),
        (" ISO-8859-1 ", "windows-1252"),
        ("gb2312", "gb18030"),
        ("x-sjis", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("TIS-620", "windows-874"),
        ("iso-8859-9", "windows-1254"),
        ("unicode", "utf-16le"),
        ("utf8", "utf-8"),
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


def test_a_late_declaration_counts() -> None:
    head = "<script>" + "var a = 1;" * 500 + "</script>"
    body = f"{head}<meta charset=windows-1251><p>{RUSSIAN}".encode("cp1251")
    assert decode(body).source == "meta"


def test_what_a_page_declares_is_told_even_if_it_is_not_believed() -> None:
    body = b'<meta charset="GB2312"><meta charset="Latin1"><meta charset="none">'
    decoded = decode(body + RUSSIAN.encode("utf-8"), "text/html; charset=utf-8")
    assert (decoded.charset, decoded.source) == ("utf-8", "http")
    assert decoded.declared == "windows-1252"
    assert decode(b"<p>nothing").declared is None


def test_xml_declares_its_encoding() -> None:
    body = f'<?xml version="1.0" encoding="windows-1251"?><p>{UKRAINIAN}</p>'
    decoded = decode(body.encode("cp1251"))
    assert (decoded.declared, decoded.source) == ("windows-1251", "meta")


@pytest.mark.parametrize("label", ["utf-7", "x-user-defined", "replacement"])
def test_an_encoding_that_hides_markup_is_not_believed(label: str) -> None:
    body = f"<meta charset={label}><p>+ADw-script+AD4- {GERMAN}".encode("cp1252")
    decoded = decode(body, f"text/html; charset={label}")
    assert "+ADw-script" in decoded.text
    assert GERMAN in decoded.text


@pytest.mark.parametrize("declared", ["utf-16", "utf-16le", "utf-16be"])
def test_a_page_is_not_utf_16_because_it_says_so(declared: str) -> None:
    for encoding in ("utf-8", "cp1252"):
        body = page(GERMAN, "utf-8", declared).decode("utf-8").encode(encoding)
        assert GERMAN in decode(body, f"text/html; charset={declared}").text


@pytest.mark.parametrize("damage", [b"\xff", b"\xed\xa0\xbd\xed\xb8\x80", b"\xc0\xaf", b"\xe9 "])
@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-1", None])
def test_utf_8_with_a_few_broken_bytes_is_utf_8(damage: bytes, declared: str | None) -> None:
    body = page(GERMAN, "utf-8", declared) + damage
    decoded = decode(body)
    assert decoded.charset == "utf-8"
    assert GERMAN in decoded.text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(JAPANESE, "shift_jis"), (CHINESE, "gb2312"), (KOREAN, "euc-kr"), (TAIWANESE, "big5")],
)
@pytest.mark.parametrize("declared", [True, False])
def test_a_cut_character_at_the_end_costs_only_itself(
    text: str, encoding: str, declared: bool
) -> None:
    whole = page(text, encoding, encoding if declared else None)
    cut = whole + text[0].encode(encoding)[:1]
    assert decode(cut).text.rstrip("\ufffd") == whole.decode(encoding)


@pytest.mark.parametrize(
    ("most", "encoding", "pasted"),
    [
        (JAPANESE, "shift_jis", JAPANESE.encode("euc-jp")),
        (CHINESE, "gb2312", CHINESE.encode("utf-8")),
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


@given(st.binary(max_size=400), st.none() | st.text(max_size=40))
def test_no_bytes_make_decoding_raise(body: bytes, content_type: str | None) -> None:
    decoded = decode(body, content_type)
    assert decoded.text.isascii() or decoded.text
    assert decoded == decode(body, content_type)


@pytest.mark.parametrize("label", sorted(charsets._LABELS))
def test_every_label_has_a_codec(label: str) -> None:
    assert "a" in decode(b"a\xe4b" * 3, f"text/html; charset={label}").text
    assert b"x".decode(charsets.codec(charsets._LABELS[label]), "replace") is not None
