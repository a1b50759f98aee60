"""The language of a page is read from its encoding, its declarations and its text."""
# ruff: noqa: RUF001 - the sentences are in their languages

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from langfocus.classifiers.errors import LanguageError, MissingPackageError, ModelError
from langfocus.classifiers.pages import methods
from langfocus.classifiers.pages.method import (
    NOTHING,
    Neighbour,
    PageLanguage,
    PageMethod,
    Surroundings,
)
from langfocus.classifiers.pages.parse import parse_page
from langfocus.classifiers.pages.text.scripts import utf16_units, vote
from langfocus.classifiers.pages.text.textengine import shipped_engine
from langfocus.classifiers.papers.page_cases import text_page
from langfocus.classifiers.tables import rows
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.classifiers.urls.model import UrlModel

LINES = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").splitlines()
SENTENCES = dict(line.split(": ", 1) for line in LINES)


def page_of(
    html: str, charset: str = "utf-8", surroundings: Surroundings = NOTHING, **headers: str
) -> PageLanguage:
    kind = f"text/html; charset={charset}"
    page = parse_page(html.encode(charset), content_type=kind, url="http://example.org/", **headers)
    return methods.method().identify(page, surroundings)


@pytest.mark.parametrize("language", SENTENCES)
def test_a_page_without_declarations_is_read(language: str) -> None:
    found = page_of(f"<p>{SENTENCES[language]}")
    assert (found.language, found.method) == (language, "text")
    assert 0.3 < found.confidence <= 1


@pytest.mark.parametrize("language", SENTENCES)
def test_a_declaration_that_fits_makes_the_answer_surer(language: str) -> None:
    found = page_of(f"<html lang={language}><p>{SENTENCES[language]}")
    assert found.language == language
    assert found.confidence >= page_of(f"<p>{SENTENCES[language]}").confidence
    assert f"html lang={language}" in found.reason


def test_no_answer_depends_on_how_a_python_adds_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    # The sum of floats is more exact from Python 3.12 on; math.fsum is the same in all versions.
    added: list[float] = []

    def plain_sum(values: Iterable[Any], start: Any = 0, /) -> Any:
        listed = list(values)
        added.extend(value for value in listed if isinstance(value, float))
        return exact(listed, start)

    exact = sum
    monkeypatch.setattr("builtins.sum", plain_sum)
    for language, sentence in SENTENCES.items():
        page_of(f"<html lang={language}><p>{sentence * 5}")
        page_of(f"<p>{sentence}", surroundings=Surroundings(url=f"http://a.{language}/"))
    assert list(UrlModel.load().identify_many(["http://wetter.de/nachrichten", "http://a.ru/"]))
    assert added == []


def test_of_declarations_that_differ_the_one_that_the_text_bears_out_stands() -> None:
    html = f'<html lang="fr"><meta property="og:locale" content="es_ES"><p>{SENTENCES["es"]}'
    assert page_of(html).language == "es"


def test_english_beside_another_language_counts_for_nothing() -> None:
    html = '<html lang="en"><meta property="og:locale" content="de_DE"><p>Kontakt Impressum'
    found = page_of(html)
    assert (found.language, found.method) == ("de", "declaration")
    assert "og:locale=de_DE" in found.reason
    assert "lang=en" not in found.reason


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("eu", "Atzo arratsaldean luze ibili ginen ibaiaren ondoan, hizketan."),
        ("gl", "Onte pola tarde paseamos moito tempo a carón do río e falamos da viaxe."),
        ("bs", "Jučer navečer smo dugo šetali pored rijeke i razgovarali o putovanju."),
        ("sr", "Juče uveče smo dugo šetali pored reke i razgovarali o putovanju."),
        ("nn", "I går kveld gjekk vi lenge langs elva og snakka om den neste reisa vår."),
        ("fy", "Juster jûn rûnen wy lang by de rivier lâns en praten oer de reis."),
        ("oc", "Ièr de ser nos passegèrem longtemps al bòrd de la ribièra."),
    ],
)
def test_a_language_beside_a_larger_neighbour_is_known_by_its_declaration(
    language: str, text: str
) -> None:
    assert page_of(f'<html lang="{language}"><p>{text}').language == language


@pytest.mark.parametrize(
    ("country", "language"), [("se", "sv"), ("br", "pt"), ("ee", "et"), ("cz", "cs"), ("si", "sl")]
)
def test_a_country_declared_instead_of_a_language_stands_for_its_language(
    country: str, language: str
) -> None:
    assert page_of(f'<html lang="{country}"><p>{SENTENCES[language]}').language == language


def test_a_list_of_languages_is_weaker_than_one_language() -> None:
    listed = page_of("<p>Kontakt Impressum", content_language="de, en")
    alone = page_of("<p>Kontakt Impressum", content_language="de")
    assert (listed.language, alone.language) == ("de", "de")
    assert "HTTP Content-Language=de, en: +4.0" in listed.reason
    assert listed.confidence < alone.confidence
    assert page_of(f"<p>{SENTENCES['en']}", content_language="de, en").language == "en"


@pytest.mark.parametrize(
    ("charset", "language"),
    [
        ("tis-620", "th"),
        ("shift_jis", "ja"),
        ("euc-kr", "ko"),
        ("gb2312", "zh"),
        ("iso-8859-7", "el"),
    ],
)
def test_an_encoding_of_one_language_is_evidence(charset: str, language: str) -> None:
    found = page_of(f"<p>{SENTENCES[language]}", charset)
    assert found.language == language
    assert re.search(r"encoding [\w-]+: \+6", found.reason)


@pytest.mark.parametrize("html", ["", "<p>12 34 !?", "<p>😀", "<img src=x>", "<p>x"])
def test_a_page_without_text_has_no_language(html: str) -> None:
    found = page_of(html)
    assert (found.language, found.confidence, found.method) == (None, 0.0, "none")
    assert re.match("no text|no letters|too few letters|too little evidence", found.reason)


LIES = ("de", "en-US", "fr", "fi", "id", "ru", "fy")
PLACES = {
    "html lang": '<html lang="{0}"><p>{1}',
    "body and element": '<html><body lang="{0}"><div lang="{0}">{1}</div>',
    "META": '<meta http-equiv="content-language" content="{0}"><p>{1}',
    "og:locale": '<meta property="og:locale" content="{0}"><p>{1}',
    "hreflang of itself": '<link rel=alternate hreflang="{0}" href="http://example.org/"><p>{1}',
    "JSON-LD": '<script type="application/ld+json">{{"inLanguage": "{0}"}}</script><p>{1}',
}
EVERYWHERE = "".join(PLACES.values())


@pytest.mark.parametrize("place", [*PLACES, "everywhere"])
@pytest.mark.parametrize("language", ["en", "es", "ru", "sw", "th", "tr", "zh"])
def test_no_declaration_outweighs_a_text(place: str, language: str) -> None:
    text = SENTENCES.get(language) or "Jana jioni tulitembea kando ya mto na kuzungumza sana."
    template = PLACES.get(place, EVERYWHERE)
    for lie in LIES:
        header = lie if place == "everywhere" else None
        found = page_of(template.format(lie, text), content_language=header)  # type: ignore[arg-type]
        assert (found.language, found.method) == (language, "text")


@pytest.mark.parametrize(
    "charset", ["windows-874", "shift_jis", "euc-kr", "gb2312", "iso-8859-7", "windows-1258"]
)
def test_no_false_charset_outweighs_a_text(charset: str) -> None:
    body = f"<html lang=vi><p>{SENTENCES['en'] * 2}".encode()
    page = parse_page(body, content_type=f"text/html; charset={charset}", url="")
    found = methods.method().identify(page)
    assert (found.language, found.method) == ("en", "text")


@pytest.mark.parametrize("text", ["", "Kontakt", "Photo 12", SENTENCES["en"], SENTENCES["no"]])
def test_neither_its_address_nor_its_links_name_a_page(text: str) -> None:
    germans = 10 * (Neighbour("de", 900),)
    around = Surroundings("http://www.nachrichten.de/zeitung/", germans, germans)
    assert page_of(f"<p>{text}", surroundings=around) == page_of(f"<p>{text}")


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("bs", "Jučer navečer smo dugo šetali uz rijeku i razgovarali o sljedećem putovanju."),
        ("no", "Det er en god dag for alle som vil være med i dag, og vi kan gå til byen"),
        ("ms", SENTENCES["id"]),
        ("nn", SENTENCES["no"]),
        ("yue", SENTENCES["zh"] * 3),
    ],
)
def test_a_declaration_settles_what_the_text_leaves_open(declared: str, text: str) -> None:
    alone, found = page_of(f"<p>{text}"), page_of(f"<html lang={declared}><p>{text}")
    assert (alone.language != declared, alone.method) == (True, "text")
    assert (found.language, found.method) == (declared, "text+declaration")


def test_written_cantonese_stays_what_it_is() -> None:
    text = "佢哋嘅屋企喺邊度？我唔知道，你咪自己去問佢囉。呢度冇嘢食，我哋去第二度啦。" * 3
    assert page_of(f"<html lang=zh-HK><p>{text}").language == "yue"


def test_a_declaration_names_a_page_of_a_few_words() -> None:
    found = page_of("<html lang=fi><p>Photo 12")
    assert (found.language, found.method) == ("fi", "declaration")


@pytest.mark.parametrize(
    ("declared", "gibberish"),
    [
        ("fi", "Krfwz plomb dvexi rhotam qelsu vandirq smoth urbelc jontiv hargle." * 3),
        ("fi", "mbdsu urbtam lusu pes takorkor glekr sengle nor urb mbdkorurb van glejonko sl" * 2),
        ("cy", "vexismoqel krmikr urbgle krela vantam tam mi plovexiurb sl"),
    ],
)
def test_a_declaration_names_no_other_language_than_its_own(declared: str, gibberish: str) -> None:
    assert page_of(f"<p>{gibberish}").language is None
    assert page_of(f"<html lang={declared}><p>{gibberish}").language in (None, declared)


def test_a_text_that_resembles_a_small_language_needs_other_evidence() -> None:
    corsican = (  # the Universal Declaration of Human Rights; the nearest known one is Sicilian
        "Cunsidarendu ch’ellu ci voli à ricunnoscia a dignità propria di tutti i membri di a"
        " famiglia umana è i so diritti pari ed inalienabili par ch’elli sianu fundati a libertà, a"
        " ghjustizia è a paci ind’u mondu, Cunsidarendu chì, ùn cunniscendu o sprizzendu i diritti"
        " di l’omu, si hè ghjuntu à atti barbari chì a cuscenza umana ni hè rivultata"
    )
    alone = page_of(f"<p>{corsican}")
    assert alone.language is None
    assert "in no known language: scn" in alone.reason
    assert page_of(f"<html lang=scn><p>{corsican}").language == "scn"


UPPER_SORBIAN = (
    "Hdyž je zyma, sedźimy wječor doma a čitamy knihi.",
    "Nan je wčera na torhošću jabłuka a kruwy předał.",
    "Naša maćerka pječe za swjedźeń wulki tykanc z twarohom.",
    "W lěću dźemy rano zahe do lěsa a zběramy hriby.",
    "Susodźic hólc jězdźi z kolesom do susodneje wsy k přećelam.",
    "Po wobjedźe smy psa pytali, ale wón bě so pod blidom schował.",
    "Dźěd powěda nam stare bajki wo wódnym mužu a lutkach.",
    "Jutře změje naša sotra narodniny a chce ze wšěmi rejować.",
    "Na łuce za domom kćěja čerwjene a módre kwětki.",
    "Pósćel přinjese ćežki paket a mały list z Drježdźan.",
)
LOWER_SORBIAN = (
    "Gaž jo zyma, sejźimy wjacor doma a cytamy knigły.",
    "Nan jo cora na wikach jabłuka a kšuwy pśedał.",
    "Naša maś pjaco za swěźeń wjeliki tykańc z twarogom.",
    "W lěśe źomy zajtša jěsno do góle a zběramy grjiby.",
    "Susedojc gólc jězdźi z kólasom do susedneje jsy k pśijaśelam.",
    "Pó wobjeźe smy psa pytali, ale wón jo se pód blidom schował.",
    "Stary nan wulicujo nam stare bajki wó wódnem mužu a lutkach.",
    "Witśe změjo naša sotša narodny źeń a co ze wšyknymi rejowaś.",
    "Na łuce za domom kwitu cerwjene a módre kwětki.",
    "Listonosa pśinjaso śěžki paket a mały list z Drježdźan.",
)


@pytest.mark.parametrize("between", [" ", "<p>", "<br>"])
def test_many_sentences_that_name_a_small_language_one_by_one_are_in_it(between: str) -> None:
    assert page_of(f"<p>{between.join(UPPER_SORBIAN)}").language == "hsb"


@pytest.mark.parametrize(
    "sentences",
    [UPPER_SORBIAN[:5], UPPER_SORBIAN[:5] * 3, LOWER_SORBIAN],
    ids=["few sentences", "few sentences again and again", "a near language without a model"],
)
def test_sentences_name_no_language_if_they_are_few_or_unlike_it(sentences: tuple[str]) -> None:
    found = page_of(f"<p>{' '.join(sentences)}")
    assert found.language is None
    assert "in no known language: hsb" in found.reason


def test_a_mixed_page_has_the_language_of_its_larger_part() -> None:
    german, english = SENTENCES["de"], SENTENCES["en"]
    assert page_of(f"<p>{english}<p>{german * 5}").language == "de"
    assert page_of(f"<p>{english * 5}<p>{german}").language == "en"
    assert page_of(f"<p>{SENTENCES['ru'] * 3}<p>Home Login Contact {english}").language == "ru"


def test_the_reason_names_the_evidence() -> None:
    reason = page_of(f"<p>{SENTENCES['de']}").reason
    assert re.fullmatch(r"de [01]\.\d\d \(text: \+\d+\.\d\); against \w+ 0\.\d\d", reason)
    greek = page_of("<p>Χθες το βράδυ περπατήσαμε δίπλα στο ποτάμι").reason
    assert "(Greek letters: +" in greek


def test_methods_are_found_by_name() -> None:
    assert next(iter(methods.METHODS)) == methods.DEFAULT_METHOD
    assert methods.method().name == methods.DEFAULT_METHOD
    with pytest.raises(LanguageError, match="composite"):
        methods.method("tea leaves")


KANJI = "会社概要 採用情報 製品情報 営業案内 東京都千代田区 駐車場完備 価格表 検索 総合受付"
OPEN = "会社案内 事業内容 所在地 東京 大阪 京都 神戸"
"""Signs of Japanese addresses and menus that Chinese has, too."""
NAMED = "周末大家一起到「タカシマヤ」百貨公司逛逛，那裡還有「ユニクロ」的專櫃，離車站只要五分鐘"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (KANJI, "ja"),
        (NAMED, "zh"),
        ("昨天我们去了一家卖ラーメン的小店，味道很好，老板还送了我们两个鸡蛋", "zh"),
        ("佢講我俚明日一起去喫飯，嗰隻店子冇開門，佢話下次再去", "zh"),  # Gan
        ("佢今晡日毋來，𠊎兜自家去食飯，佢講天光日正來", "zh"),  # Hakka
        ("我哋尋日喺公園行咗好耐，買咗啲嘢食先返屋企", "yue"),
    ],
)
def test_signs_tell_chinese_and_japanese_apart(text: str, language: str) -> None:
    assert page_of(f"<p>{text}").language == language


@pytest.mark.parametrize(
    ("declared", "text", "language"),
    [
        ("ja", OPEN, "ja"),
        ("zh-TW", OPEN, "zh"),
        ("ja", OPEN * 9, "ja"),
        ("zh-TW", NAMED, "zh"),
        ("zh", SENTENCES["ja"], "ja"),
        ("ja", SENTENCES["zh"], "zh"),
        ("zh", KANJI, "ja"),
    ],
)
def test_a_declaration_decides_between_chinese_and_japanese_where_signs_do_not(
    declared: str, text: str, language: str
) -> None:
    assert page_of(f"<html lang={declared}><p>{text}").language == language


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("de", "سلام"),
        ("ar", "Hallo"),
        ("ru", "Home"),
        ("zh", "ホーム"),
        ("el", "Да"),
        ("hi", "கடை"),
        ("ko", "Über uns"),
    ],
)
def test_no_declaration_names_a_language_of_another_script(declared: str, text: str) -> None:
    assert page_of(f"<html lang={declared}><p>{text}").language != declared
    assert page_of(f"<html lang={declared}><p>12").language == declared


@pytest.mark.parametrize("language", ["es", "fi", "sw", "tr", "vi"])
def test_a_clause_is_enough_against_a_false_declaration(language: str) -> None:
    text = SENTENCES.get(language) or "Jana jioni tulitembea kando ya mto na kuzungumza"
    for lie in ("de", "id", "en"):
        assert page_of(f"<html lang={lie}><p>{text[:48]}").language == language


# Own sentences, and the first article of the Universal Declaration of Human Rights.
NEAR = {
    "sco": "The auld kirk staunds on the brae abuin the toun, an monie fowk gang there ilka "
    "Sabbath tae hear the meenister. Ma faither wis born in a wee hoose doon by the "
    "watter.",
    "gsw": "Geschter simmer z Züri gsi und händ im Niederdorf es Bier trunke. Es hät vil Lüt "
    "gha, aber mir händ glich no en Platz gfunde.",
    "nds": "Güstern sünd wi na den Markt gahn un hebbt Appeln un Tüffeln köfft. Denn hebbt wi "
    "mit den Naver snackt, de hett vertellt, dat sien Jung nu in Hamborg arbeidt.",
    "pcm": "Di govment don tok sey dem go build new road for di village, but pipol neva see "
    "anytin. Wetin dey happen na sey money don finish.",
    "lfn": "Tota umanas nase libre e egal en dinia e diretos. Los es donada con razona e "
    "consiensa e debe ata la un la otra en un spirito de fratia.",
    "ia": "Tote le esseres human nasce libere e equal in dignitate e in derectos. Illes es "
    "dotate de ration e de conscientia e debe ager le unes verso le alteres in un spirito "
    "de fraternitate.",
    "myv": "Весе ломантне чачить олякс ды правасост весе вейкетьстэ. Сынст ули превест ды "
    "визькстэ чарькодемаст, сынь вейке-вейкень коряс должны прок братт улемс.",
    "tcy": "ಮಾತ ನರಮಾನಿಲ್ಲಾ ಪುಟ್ಟುನಗ ಸ್ವತಂತ್ರ ಬೊಕ್ಕ ಸಮಾನ ಗೌರವ ಬೊಕ್ಕ ಹಕ್ಕುಲೆನ್ ಪಡೆದಿನಕುಲು.",
    "hif": "Aaj ham log bajaar gaya raha, uske baad ghar aae ke khana banaya aur sab log khaais.",
}


@pytest.mark.parametrize("language", NEAR)
def test_a_language_that_the_model_lacks_is_declared(language: str) -> None:
    assert page_of(f"<html lang={language}><p>{NEAR[language]}").language == language


@pytest.mark.parametrize(
    ("declared", "language"),
    [("sco", "en"), ("pcm", "en"), ("gsw", "de"), ("nds", "de"), ("lfn", "es"), ("myv", "ru")],
)
def test_a_text_that_is_clearly_in_a_near_language_is_in_it(declared: str, language: str) -> None:
    assert page_of(f"<html lang={declared}><p>{SENTENCES[language]}").language == language
    far = "tr" if language != "ru" else "fi"
    assert page_of(f"<html lang={declared}><p>{SENTENCES[far]}").language == far


@pytest.mark.parametrize("language", ["sco", "nds", "pcm", "myv"])
def test_a_long_text_in_an_unknown_language_is_not_named_after_a_large_one(language: str) -> None:
    assert page_of(f"<p>{(NEAR[language] + ' ') * 3}").language is None


# The first article of the Universal Declaration of Human Rights, in letters that were learned from
# transliterated texts.
TRANSLITERATED = {
    "pa": "سارے انسان آزاد تے حقوق تے عزت دے لحاظ نال برابر پیدا ہوندے نیں۔ اوہناں نوں عقل تے ضمیر"
    " دتا گیا اے تے اوہناں نوں اک دوجے نال بھائی چارے دا سلوک کرنا چاہیدا اے۔",
    "kk": "بارلىق ادامدار تۋمىسىنان ازات جانە قادىر-قاسيەتى مەن قۇقىقتارى تەڭ بولىپ"
    " دۇنيەگە كەلەدى.",
    "uz": "Барча одамлар эркин, қадр-қиммат ва ҳуқуқларда тенг бўлиб туғиладилар. Улар ақл ва"
    " виждон соҳибидирлар ва бир-бирлари ила биродарларча муомала қилишлари зарур.",
    "az": "Бүтүн инсанлар ләјагәт вә һүгугларына ҝөрә азад вә бәрабәр доғулурлар. Онларын шүурлары"
    " вә виҹданлары вар вә бир-бирләринә мүнасибәтдә гардашлыг руһунда давранмалыдырлар.",
    "crh": "Бутюн инсанлар сербестлик, менлик ве укъукъларда мусавий олып дюньягъа келелер. Олар "
    "акъыл ве виждан саибидирлер ве бири-бирилерине къардашчасына мунасебетте булунмалыдырлар.",
}


@pytest.mark.parametrize("language", TRANSLITERATED)
def test_a_language_is_named_in_letters_of_which_only_transliterated_texts_were_learned(
    language: str,
) -> None:
    for repeated in (1, 4):
        assert page_of(f"<p>{TRANSLITERATED[language] * repeated}").language == language


# The same article in letters that the model lacks.
OTHER_SCRIPTS = {
    "tt": "Barlıq keşelär dä azat häm üz abruyları häm xoquqları yağınnan tiñ bulıp tualar.",
    "tg": "Tamomi odamon ozod ba dunyo meoyand va az lihozi mançalatu huquq barobarand.",
    "tk": "Хемме адамлар өз мертебеси ве хукуклары боюнча дең ягдайда дүнйә инйәрлер. Олара аң хем"
    " выждан берлендир ве олар бири-бирлери билен доганлык рухундакы мынасыбетде болмалыдырлар.",
    "ms": "سموا مانسي دلاهيركن بيبس دان سام راتا دري سݢي كموليان دان حق٢. مريك ممڤوڽاي ڤميكيرن دان"
    " ڤراسان هاتي دان هندقله برتيندق دانتارا ساتو سام لاءين دڠن سماڠت ڤرساودارأن.",
    "tt-Latn": "Barlıq keşelär dä azat häm üz abruyları häm xoquqları yağınnan tiñ bulıp tualar.",
    "tg_Latn": "Tamomi odamon ozod ba dunyo meoyand va az lihozi mançalatu huquq barobarand.",
}


@pytest.mark.parametrize("tag", OTHER_SCRIPTS)
def test_a_language_is_declared_in_a_script_that_the_model_lacks(tag: str) -> None:
    assert page_of(f"<p>{OTHER_SCRIPTS[tag]}").language != tag[:2]
    assert page_of(f"<html lang={tag}><p>{OTHER_SCRIPTS[tag]}").language == tag[:2]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("mni", "ꯃꯤꯑꯣꯏꯕ ꯈꯨꯗꯤꯡꯃꯛ ꯄꯣꯛꯄ ꯃꯇꯝꯗ ꯅꯤꯡꯇꯝꯃꯤ"),
        ("chr", "ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᏠᏱ ᎤᎾᏕᎿ"),
        ("mn", "ᠬᠦᠮᠦᠨ ᠪᠦᠷ ᠲᠥᠷᠥᠵᠦ ᠮᠡᠨᠳᠡᠯᠡᠬᠦ ᠡᠷᠬᠡ"),
    ],
)
def test_letters_of_one_language_name_it_without_a_model(language: str, text: str) -> None:
    assert page_of(f"<p>{text}").language == language
    assert page_of(f"<html lang=hi><p>{text}").language == language
    assert page_of(f"<p>{SENTENCES['en']} {text[:3]}").language == "en"


@pytest.mark.parametrize("tag", ["tt-Cyrl", "tt-Arab", "Latn-tt", "ba"])
def test_a_tag_with_another_script_or_of_no_near_language_declares_none(tag: str) -> None:
    assert page_of(f"<html lang={tag}><p>{OTHER_SCRIPTS['tt-Latn']}").language != "tt"


@pytest.mark.parametrize(
    ("tag", "language"),
    [("ru-Latn", "de"), ("uk-Cyrl", "ru"), ("kk-Latn", "tr"), ("tt", "tr")],
)
def test_a_tag_of_another_script_does_not_outweigh_a_text(tag: str, language: str) -> None:
    assert page_of(f"<html lang={tag}><p>{SENTENCES[language] * 4}").language == language


def test_near_languages_have_codes() -> None:
    for known_ones, others in rows("near-languages.txt").items():
        assert {*known_ones.split(), *others.split()} <= PROJECT_CODES
        assert shipped_engine().languages >= {*known_ones.split()}


KRUTI_DEV = (  # a sentence of Hindi as that font has it
    "vkt lqcg ge cktkj x, Fks vkSj ogk¡ cgqr ls yksx FksA eSaus dqN Qy [kjhns vkSj ?kj okil vk "
    "x;kA esjh cgu us [kkuk cuk;k vkSj geus lkFk esa [kk;kA"
)


def test_letters_that_a_font_shows_as_others_are_in_the_declared_language() -> None:
    assert page_of(f"<p>{KRUTI_DEV}").language is None
    assert page_of(f"<html lang=hi><p>{KRUTI_DEV}").language == "hi"
    assert page_of(f"<html lang=ru><p>{KRUTI_DEV}").language is None
    assert page_of(f"<html lang=hi><p>{KRUTI_DEV.lower()}").language is None
    assert page_of(f"<html lang=hi><p>{SENTENCES['tr']}").language == "tr"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("hr", "U siječnju je tvrtka objavila izvješće o glazbi, a tisuće ljudi čekale su vlak."),
        ("bs", "Hiljade ljudi prošle sedmice pile su kahvu i čitale historiju općine."),
        ("sr", "Hiljade ljudi su prošle nedelje čitale istoriju opštine i slušale muziku."),
        ("hr", "Znanstvenici sa sveučilišta kažu da je sustav točan i da obitelj dobro živi."),
        ("sr", "Naučnici sa univerziteta kažu da je sistem tačan, i da deca uvek vole hleb."),
    ],
)
def test_words_tell_bosnian_croatian_and_serbian_apart(language: str, text: str) -> None:
    assert page_of(f"<p>{text}").language == language


@pytest.mark.parametrize("declared", ["", " lang=en", " lang=fi"])
def test_a_page_of_codes_is_in_no_other_language_than_it_declares(declared: str) -> None:
    chart = "".join(f"<li>RAL {n} K #{n * 1237 % 0xFFFFFF:06X}</li>" for n in range(100, 260))
    parts = "".join(f"<tr><td>Ref. AX{n}-B<td>QTY {n % 7}<td>PCS</tr>" for n in range(900, 999))
    for codes in (chart, f"<table>{parts}</table>"):
        found = page_of(f"<html{declared}><h1>Chart</h1>{codes}")
        assert found.language in (None, "en", declared[6:])
        assert found.confidence < 0.9 or found.language == declared[6:]


FILLERS = {
    "the usual one": "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod "
    "tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud.",
    "the German one": "Lorem ipsum dolor sit amet, consetetur sadipscing elitr, sed diam nonumy "
    "eirmod tempor invidunt ut labore. Stet clita kasd gubergren, no sea takimata sanctus est.",
    "a generated one": "Pellentesque habitant morbi tristique senectus et netus et malesuada "
    "fames ac turpis egestas. Vestibulum tortor quam, feugiat vitae, ultricies eget, tempor.",
    "its beginning": "LOREM IPSUM",
}
CICERO = (
    "Neque porro quisquam est, qui dolorem ipsum quia dolor sit amet, consectetur, adipisci velit, "
    "sed quia non numquam eius modi tempora incidunt ut labore et dolore magnam aliquam quaerat."
)


@pytest.mark.parametrize("kind", FILLERS)
def test_a_filler_text_is_in_no_language(kind: str) -> None:
    filler = FILLERS[kind]
    assert page_of(f"<p>{filler}").language is None
    assert page_of(f"<p>{9 * (filler + ' ')}").language is None
    for language in ("de", "ru", "es"):
        assert (
            page_of(f"<nav>{SENTENCES[language]}</nav><p>{3 * (filler + ' ')}").language == language
        )


def test_latin_is_latin() -> None:
    assert page_of(f"<p>{CICERO}").language == "la"
    assert page_of(f"<html lang=la><p>{CICERO} Risus ante omnia, et vita.").language == "la"


AWKWARD = ["", " ", "123 456", "\U0001f600 \ud800", "@@ :// @", "ϾϿ", "\u0300" * 50, "\x00" * 99]


def _installed(name: str) -> PageMethod:
    try:
        return methods.method(name)
    except (MissingPackageError, ModelError) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", methods.METHODS)
def test_every_method_has_an_answer_to_any_page(name: str) -> None:
    method = _installed(name)
    around = Surroundings("http://x.\udcff/", (Neighbour(None, 0),), (Neighbour("de", 999),))
    for text in [*AWKWARD, SENTENCES["de"], "a" * 5000, "漢" * 5000, "ab " * 2000]:
        found = method.identify(text_page(text), around)
        assert 0 <= found.confidence <= 1
        assert found.reason
        assert found.language is None or found.language in PROJECT_CODES


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", None),
        ("123 €", None),
        ("abc", "Latn"),
        ("abcdefgh привет", "Cyrl"),
        ("漢字とかな", "Jpan"),
        ("漢字", "Hani"),
        ("한국어 漢字", "Kore"),
        ("ქართული", "Geor"),
    ],
)
def test_scripts_are_voted_on_by_letters(text: str, script: str | None) -> None:
    assert vote(utf16_units(text)).script == script
