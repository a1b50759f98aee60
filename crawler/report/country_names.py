"""The English names of countries."""

from functools import cache

from babel import localedata


def country_name(code: str) -> str:
    """The English name of a country by its code of ISO 3166-1; the code itself without a name."""
    return _names().get(code, code)


@cache
def _names() -> dict[str, str]:
    return dict(localedata.load("en")["territories"])
