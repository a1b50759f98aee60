"""The codes of the project, and its differences from CLDR."""

from typing import Final

# Without nb, sh and tw: see OWN.
ISO_639_1: Final = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da"
    " de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy"
    " hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg"
    " li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nd ne ng nl nn no nr nv ny oc oj om or os"
    " pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te"
    " tg th ti tk tl tn to tr ts tt ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
# Languages with their own encyclopedia, news, software or identifier of text.
ISO_639_3: Final = (
    "ace ady ang arc ast awa azb ban bar bas bem bho bik bjn bpy brx bua bug ceb chm chr cjk ckb"
    " crh crs csb din doi dsb dyu egl ext fon frp frr fur gaa gag gcf gcr gez glk gor got grc gsw"
    " guc guw haw hbo hif hmn hne hsb ilo inh jam jbo kaa kab kac kam kbd kbp kea kha kmb koi kok"
    " krc kri ksh lad lez lfn lif lij lmo loz lrc ltg lua luo lus mad mag mai mdf mfe min mni mos"
    " mrj mwl myv mzn nap nds new nia nov nqo nso nus nyn pag pam pap pcd pcm pdc pfl pms pnt prg"
    " raj rom rue rup sah sat scn sco sdh sgs shi shn sma smj smn sms srn stq syr szl taq tcy tet"
    " tok tpi trv tum tyv tzm udm umb vec vep vls vro war xal xmf yue zea zgh zza"
)
KNOWN: Final = frozenset(f"{ISO_639_1} {ISO_639_3}".split())
CHINESE: Final = "cdo cjy cmn cpx czh czo gan hak hsn lzh mnp nan wuu"
ARABIC: Final = "acm acq acx aeb afb ajp apc arq ars ary arz shu"

# Codes of other standards for which CLDR has another answer or none.
OWN: Final[dict[str, str]] = {
    "nb": "no", "nob": "no", "nor": "no", "nno": "nn",
    "sh": "sr", "hbs": "sr", "cnr": "sr", "scc": "sr", "scr": "hr",
    "fil": "tl", "tgl": "tl", "tw": "ak", "twi": "ak", "aka": "ak", "fat": "ak",
    "fuv": "ff", "pbt": "ps", "quy": "qu", "uzs": "uz", "pnb": "pa", "lah": "pa",
    **dict.fromkeys(CHINESE.split(), "zh"),
    **dict.fromkeys(ARABIC.split(), "ar"),
}  # fmt: skip

TAGS: Final[dict[str, str]] = {"az-arab": "azb", "zh-yue": "yue"}
"""Language and second part of a tag -> the code, where the language alone has another one."""

# Code -> CLDR's code of the same language.
CLDR: Final[dict[str, str]] = {"tl": "fil"}

ENGLISH: Final[dict[str, str]] = {
    "azb": "South Azerbaijani", "cjk": "Chokwe", "gaa": "Gã",
    "gcf": "Guadeloupean Creole French", "gcr": "Guianese Creole French", "guw": "Gun",
    "hbo": "Ancient Hebrew", "hne": "Chhattisgarhi", "kbp": "Kabiyè", "lif": "Limbu",
    "taq": "Tamasheq",
}  # fmt: skip
"""Names of ISO 639-3 for the codes that CLDR does not name, or names like another code (Ga)."""

NAMES: Final[dict[str, str]] = {
    "bengali": "bn", "fulah": "ff", "fulani": "ff", "haitian": "ht", "limburgan": "li",
    "panjabi": "pa", "pushto": "ps", "tonga": "to",
    "castellano": "es", "castilian": "es", "chichewa": "ny", "euskera": "eu", "farsi": "fa",
    "filipino": "tl", "frisian": "fy", "gaelic": "gd", "hanyu": "zh", "isindebele": "nd",
    "kirghiz": "ky", "mandarin": "zh", "modern greek": "el", "moldovan": "ro", "nynorsk": "nn",
    "bokmål": "no", "norsk bokmål": "no", "odia": "or", "oriya": "or", "ossetian": "os",
    "persian": "fa", "provençal": "oc", "putonghua": "zh", "sami": "se", "scots gaelic": "gd",
    "serbo-croatian": "sr", "sinhalese": "si", "slovene": "sl", "sorani": "ckb", "kurmanji": "ku",
    "srpski": "sr", "tagalog": "tl", "uighur": "ug", "valencià": "ca", "valencian": "ca",
    "bahasa indonesia": "id", "bahasa melayu": "ms", "bahasa malaysia": "ms", "català": "ca",
    "汉语": "zh", "漢語": "zh", "简体中文": "zh", "繁體中文": "zh", "正體中文": "zh",
    "български език": "bg", "українська мова": "uk", "русский язык": "ru", "српски језик": "sr",
}  # fmt: skip
"""Names in use that CLDR does not list."""

COMPOSITE: Final[dict[str, tuple[str, ...]]] = {
    "Hans": ("Hani",),
    "Hant": ("Hani",),
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
}
"""Script of CLDR that no character has (UAX 24) -> the scripts of its characters."""

NOT_COUNTED: Final[dict[str, str]] = {"az": "Arab", "hi": "Latn", "kok": "Latn", "zh": "Latn"}
"""Code -> a script of CLDR that does not count: romanised text, or a code of its own (`azb`)."""

CONSTRUCTED: Final = frozenset({"Dsrt", "Shaw"})
"""Scripts that were invented for English and are not in use."""

MORE_SCRIPTS: Final[dict[str, str]] = {
    "ace": "Arab", "bjn": "Arab", "crh": "Latn", "gcf": "Latn", "gcr": "Latn", "guw": "Latn",
    "hbo": "Hebr", "kk": "Latn", "kr": "Arab", "lad": "Latn", "lif": "Limb", "min": "Arab",
    "taq": "Tfng", "tzm": "Tfng",
}  # fmt: skip
"""Spellings that Babel's part of CLDR leaves out: official, common, or in FLORES-200."""

ALSO_ACCEPTED: Final[dict[str, str]] = {"no": "nb", "tl": "fil"}
"""Code -> another code of the same language on servers: a site may know only `nb` and answer a
request for `no` in English."""
