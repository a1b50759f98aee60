"""The codes of the project, and its differences from CLDR."""

from __future__ import annotations

from typing import Final

# Without nb and sh: see OWN.
ISO_639_1: Final = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da"
    " de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy"
    " hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg"
    " li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nd ne ng nl nn no nr nv ny oc oj om or os"
    " pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te"
    " tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
# Languages with their own encyclopedia, news or software.
ISO_639_3: Final = (
    "ace ady ang arc ary arz ast awa ban bar bas bem bho bik bjn bpy brx bua bug ceb chm chr ckb"
    " crh csb doi dsb egl ext fon frp frr fur gag gez glk gor got gsw guc haw hif hsb ilo inh jam"
    " jbo kaa kab kbd kea koi kok krc ksh lad lez lfn lij lmo lrc ltg luo mad mai mdf min mni"
    " mos mrj mwl myv mzn nap nds new nia nov nqo nso nyn pag pam pap pcd pcm pdc pfl pms pnt"
    " prg raj rom rue rup sah sat scn sco sgs shi shn sma smj smn sms srn stq syr szl tcy tet"
    " tok tpi trv tum tyv tzm udm vec vep vls vro war xal xmf zea zgh zza"
)
KNOWN: Final = frozenset(f"{ISO_639_1} {ISO_639_3}".split())
CHINESE: Final = "cdo cjy cmn cpx czh czo gan hak hsn lzh mnp nan wuu yue"
ARABIC: Final = "acm acq acx aeb afb ajp apc arq ars shu"

# Codes of other standards for which CLDR has another answer or none.
OWN: Final[dict[str, str]] = {
    "nb": "no", "nob": "no", "nor": "no", "nno": "nn",
    "sh": "sr", "hbs": "sr", "cnr": "sr", "scc": "sr", "scr": "hr",
    "fil": "tl", "tgl": "tl", "twi": "tw", "aka": "ak", "fat": "ak",
    "azb": "az", "pnb": "pa", "lah": "pa",
    **dict.fromkeys(CHINESE.split(), "zh"),
    **dict.fromkeys(ARABIC.split(), "ar"),
}  # fmt: skip

# Code -> CLDR's code of the same language.
CLDR: Final[dict[str, str]] = {"tl": "fil", "tw": "ak"}

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

ROMANISED: Final = frozenset({"hi", "kok", "zh"})
"""Languages that CLDR also has in Latin letters, which do not count as their script."""

CONSTRUCTED: Final = frozenset({"Dsrt", "Shaw"})
"""Scripts that were invented for English and are not in use."""

MORE_SCRIPTS: Final[dict[str, str]] = {"crh": "Latn", "kk": "Latn", "lad": "Latn"}
"""Official or common spellings that Babel's part of CLDR leaves out."""

ALSO_ACCEPTED: Final[dict[str, str]] = {"no": "nb", "tl": "fil"}
"""Code -> another code of the same language on servers: a site may know only `nb` and answer a
request for `no` in English."""
