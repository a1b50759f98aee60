"""Languages of top-level domains that CLDR lacks.

:mod:`classifiers.languages` looks every other country code up in CLDR.
"""

from typing import Final

from langfocus.classifiers.tables import rows

TABLE_I: Final = rows("table-i.txt")
"""Language -> country codes (Baykan 2013, 2.1, Table I); wins over every other source."""

WRITTEN: Final[dict[str, str]] = {"es": "py", "en": "vu zw", "fr": "bi"}
"""Language -> countries that write the language, but mostly speak another official language.

CLDR counts speakers. Table I uses the written language of such countries (`bo`, `mg`, `zm`). So do
the labelled URLs: all 73 of `py` are Spanish, none is Guaraní.
"""

GENERIC: Final = (
    "ac ag ai as bz cc cf cx fm ga gg gq gs hm im io me ms nu pn pw sc sh st sx tc tk tl to tv vc"
    " vg ws"
)
"""Country codes sold worldwide.

These codes have no language here, although a language may dominate the sites (English in `io`,
Russian in `ag` and `tk`, Swedish in `nu`). `is`, `la`, `ly` and `so` are sold abroad, too, but keep
the country's language, because the country's sites use the domain.
"""

WITHOUT_A_DOMAIN: Final = "bl bq cp cq dg ea eh ic mf qo ta un xk xx zz"
"""CLDR region codes without a domain in the root zone."""

OTHER: Final = rows("own-domains.txt")
"""Language -> top-level domains outside the current ISO 3166 codes, in native spelling.

The list holds domains of languages and cultures, cities and regions, and words unique to a
language; and country and generic domains in other letters, with one language per spelling.
"""

SHARED: Final = rows("shared-domains.txt")
"""Language -> top-level domains shared with other languages; no single language is assigned."""
