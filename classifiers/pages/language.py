"""The language of a page, by any of the methods."""

from __future__ import annotations

from classifiers.pages.method import NOTHING, PageLanguage, PageMethod, Surroundings
from classifiers.pages.methods import DEFAULT_METHOD, method
from classifiers.pages.parse import ParsedPage

__all__ = ["PageLanguage", "identify"]


def identify(
    page: ParsedPage,
    surroundings: Surroundings = NOTHING,
    *,
    by: PageMethod | str = DEFAULT_METHOD,
) -> PageLanguage:
    """The language that a page is written in; the same answer for the same page.

    `by` is a method or the name of one. LanguageError for a name that is not known.
    """
    chosen = method(by) if isinstance(by, str) else by
    return chosen.identify(page, surroundings)
