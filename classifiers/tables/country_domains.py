"""The languages of top-level domains that CLDR does not give.

:mod:`classifiers.languages` asks CLDR for every country code that is not in these tables.
"""

# ruff: noqa: RUF001 -- letters of other alphabets that look like Latin ones are meant.

from __future__ import annotations

from typing import Final

TABLE_I: Final[dict[str, str]] = {
    "en": "au ca cg edu gb gh gov ie ke mil mw ng nz sd tz ug uk um us za zm",
    "de": "at ch de li lu",
    "fr": "bf ci cm dz fr gf gn ht mg ml ne pf sn td tf tn",
    "es": "ar bo cl co cu ec es gt mx pe pr ve",
    "it": "it va",
}
"""Language -> its country codes (Baykan 2013, 2.1, Table I); these win over all other sources."""

WRITTEN: Final[dict[str, str]] = {"es": "py", "en": "vu zw", "fr": "bi"}
"""Language -> countries that write it, but mostly speak another of their official languages.

CLDR counts speakers. Table I uses the written language of such countries (`bo`, `mg`, `zm`), and so
do the labelled URLs: all 73 of `py` are Spanish, none is Guaraní.
"""

GENERIC: Final = (
    "ac ag ai as bz cc cf cx fm ga gg gq gs hm im io me ms nu pn pw sc sh st sx tc tk tl to tv vc"
    " vg ws"
)
"""Country codes that are sold worldwide.

They have no language here, although one may be the most frequent on their sites (English in `io`,
Russian in `ag` and `tk`, Swedish in `nu`). `is`, `la`, `ly` and `so` are sold abroad, too, but keep
the language of their country, whose sites are there.
"""

WITHOUT_A_DOMAIN: Final = "bl bq cp cq dg ea eh ic mf qo ta un xk xx zz"
"""Region codes of CLDR for which the root zone has no domain."""

OTHER: Final[dict[str, str]] = {
    # Domains of languages and cultures.
    "br": "bzh",
    "ca": "cat",
    "cy": "cymru wales",
    "eu": "eus",
    "gl": "gal",
    "ku": "krd",
    "tt": "tatar",
    # Cities, regions, and words that only one language has. Those of several are in SHARED.
    "de": "bayern berlin cologne gmbh hamburg haus immobilien jetzt kaufen koeln nrw reise reisen"
    " ruhr saarland schule tirol versicherung wien zuerich vermögensberater vermögensberatung",
    "en": "boston kiwi london melbourne nyc sydney vegas",
    "es": "abogado futbol juegos madrid tienda viajes",
    "fi": "helsinki",
    "fr": "alsace maison paris quebec",
    "ja": "kyoto nagoya okinawa osaka ryukyu tokyo yokohama"
    " コム セール ストア クラウド ポイント ファッション みんな 家電 書籍 通販 食品",
    "nl": "amsterdam gent vlaanderen",
    "pt": "rio",
    "sv": "stockholm",
    "tr": "ist istanbul",
    # Country and generic domains in other letters, one language to each spelling.
    "ar": "اليمن سوريا السعوديه السعودیة السعودیۃ"
    " الاردن البحرين الجزائر السعودية المغرب امارات تونس سودان سورية عراق عمان فلسطين قطر مصر"
    " موريتانيا ابوظبي عرب شبكة كوم موقع",
    "as": "ভাৰত",
    "be": "бел",
    "bg": "бг ею",
    "bn": "বাংলা ভারত",
    "el": "ελ ευ",
    "fa": "ایران ايران همراه",
    "gu": "ભારત",
    "he": "ישראל קום",
    "hi": "भारत कॉम नेट संगठन",
    "hy": "հայ",
    "ka": "გე",
    "kk": "қаз",
    "kn": "ಭಾರತ",
    "ko": "한국 닷넷 닷컴 삼성",
    "ks": "بارت",
    "lo": "ລາວ",
    "mk": "мкд",
    "ml": "ഭാരതം",
    "mn": "мон",
    "ms": "مليسيا",
    "or": "ଭାରତ",
    "pa": "ਭਾਰਤ",
    "ru": "su moscow рф рус москва дети онлайн сайт орг ком католик",
    "sa": "भारतम्",
    "sat": "भारोत",
    "sd": "ڀارت",
    "si": "ලංකා",
    "sr": "срб",
    "ta": "இந்தியா இலங்கை சிங்கப்பூர்",
    "te": "భారత్",
    "th": "ไทย คอม",
    "uk": "укр",
    "ur": "بھارت پاکستان پاكستان",
    "zh": "taipei 中国 中國 台湾 台灣 臺灣 香港 澳門 澳门 新加坡 佛山 广东 公司 公益 网络"
    " 网站 网址 网店 在线 中文网 移动 组织机构 机构 政务 政府 集团 商标 商城 商店 慈善 招聘"
    " 新闻 时尚 游戏 娱乐 购物 信息 企业 健康 世界 八卦 我爱你 餐厅 手机 点看 微博 天主教",
}
"""Language -> top-level domains that are no current ISO 3166 codes, as people write them."""

SHARED: Final[dict[str, str]] = {
    "af": "capetown",
    "ca": "barcelona",
    "co": "corsica",
    "de": "brussels immo swiss",
    "en": "africa capetown durban joburg scot",
    "es": "barcelona casa lat ltda moda",
    "fr": "africa brussels corsica immo sarl swiss voyage",
    "fy": "frl",
    "gd": "scot",
    "gsw": "alsace swiss zuerich",
    "it": "casa moda srl swiss voto",
    "nds": "hamburg",
    "nl": "brussels frl",
    "pt": "lat ltda",
    "ro": "srl",
    "rm": "swiss",
    "sco": "scot",
    "zu": "durban joburg",
}
"""Language -> top-level domains that it shares with others; they have no single language."""
