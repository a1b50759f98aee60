"""The answer of each kind of evidence alone, for counts such as Table 4-4 of Cai 2009."""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

from classifiers.pages.charset.encodings import STRONG_LANGUAGES
from classifiers.pages.declared import meant
from classifiers.pages.method import NOTHING, PageMethod, Surroundings
from classifiers.pages.parse import ParsedPage

DECLARING: Final = frozenset({"http", "meta"})
"""Sources of a declared encoding; a detected one is no declaration."""


@runtime_checkable
class ByEvidence(Protocol):
    """A method that joins several kinds of evidence."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of its kinds of evidence."""

    def alone(self, kind: str, page: ParsedPage, surroundings: Surroundings) -> str | None:
        """The language by one kind of evidence alone; None if it tells none."""


def answers_of(
    method: PageMethod, page: ParsedPage, surroundings: Surroundings = NOTHING
) -> dict[str, str | None]:
    """Return the answer of each kind of evidence of a method; its own if it has no kinds."""
    if isinstance(method, ByEvidence):
        return {kind: method.alone(kind, page, surroundings) for kind in method.kinds}
    return {method.name: method.identify(page, surroundings).language}


def by_declaration(page: ParsedPage) -> str | None:
    """Return the language of the first declaration that names one."""
    return next((code for one in page.declarations for code in meant(one.tag)), None)


def by_encoding(page: ParsedPage) -> str | None:
    """Return the language that the declared encoding is used for alone."""
    return STRONG_LANGUAGES.get(page.charset) if page.charset_source in DECLARING else None
