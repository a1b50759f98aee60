"""The languages of top-level domains that CLDR does not give.

:mod:`classifiers.languages` asks CLDR for every country code that is not in these tables.
"""

from typing import Final

from langfocus.classifiers.tables import rows

TABLE_I: Final = rows("table-i.txt")
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

OTHER: Final = rows("own-domains.txt")
"""Language -> top-level domains that are no current ISO 3166 codes, as people write them.

They are domains of languages and cultures, of cities and regions, and words that only one language
has; and country and generic domains in other letters, one language to each spelling.
"""

SHARED: Final = rows("shared-domains.txt")
"""Language -> top-level domains that it shares with others; they have no single language."""
