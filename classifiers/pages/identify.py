"""The language of a page, from all that the page says.

A declaration of another language than English is right on 99.8 % of pages and is believed if
the letters of the text fit it; where the script is Latin, the beginning of the text must not
speak against it either. English is declared by tools as much as by authors (right on 80 %), so
such pages and those without a declaration are read. Languages without a profile are known by
declaration and script only.
"""

from classifiers import languages
from classifiers.pages.encodings import STRONG_LANGUAGES, WEAK_LANGUAGES
from classifiers.pages.engines import DEFAULT_ENGINE, Ranking, TextEngine
from classifiers.pages.engines import engine as engine_named
from classifiers.pages.method import PageLanguage
from classifiers.pages.parse import ParsedPage
from classifiers.pages.scripts import ScriptVote, utf16_units, vote

MIN_LETTERS = 20
"""Letters below which a text says nothing by itself."""

_CHECKED_CHARACTERS = 300
# A declared language stands if the text gives it at least this share of the best one's
# probability.
_TOLERANCE = 0.2
# How often a believed declaration and a believed encoding are right.
_DECLARED_CONFIDENCE = 0.998
_WEAK_CONFIDENCE = 0.9

_SCRIPT_OF_VOTE = {"Jpan": ("Hira", "Kana"), "Kore": ("Hang",)}
_SCRIPT_NAMES = {
    "Arab": "Arabic",
    "Cyrl": "Cyrillic",
    "Grek": "Greek",
    "Hani": "Chinese",
    "Hebr": "Hebrew",
    "Jpan": "Japanese",
    "Kore": "Korean",
    "Latn": "Latin",
    "Thai": "Thai",
}


def identify(page: ParsedPage, *, engine: TextEngine | str = DEFAULT_ENGINE) -> PageLanguage:
    """The language that a page is written in; the same answer for the same page.

    Evidence in this order: an encoding of one language, a declaration, the text. LanguageError
    for an engine that is not known.
    """
    reader = engine_named(engine) if isinstance(engine, str) else engine
    ballot = vote(utf16_units(page.text))
    if ballot.script is None:
        return PageLanguage(None, 0.0, "none", "no text")
    return (
        _by_encoding(page, ballot)
        or _by_declaration(page, ballot, reader)
        or _by_text(page, ballot, reader)
    )


def _by_encoding(page: ParsedPage, ballot: ScriptVote) -> PageLanguage | None:
    language = STRONG_LANGUAGES.get(page.charset)
    if language is None or ballot.script == "Latn" or not fits(language, ballot):
        return None
    reason = f"encoding {page.charset} and {_letters(ballot)}"
    return PageLanguage(language, _DECLARED_CONFIDENCE, "encoding", reason)


def _by_declaration(
    page: ParsedPage, ballot: ScriptVote, reader: TextEngine
) -> PageLanguage | None:
    declared = _declared(page)
    if declared is None:
        return None
    language, evidence = declared
    if not fits(language, ballot) or not _stands(language, page.text, ballot, reader):
        return None
    reason = f"{evidence} fits {_letters(ballot)}"
    return PageLanguage(language, _DECLARED_CONFIDENCE, "declaration", reason)


def _declared(page: ParsedPage) -> tuple[str, str] | None:
    """The one language beside English that a page declares, and where; None if they differ."""
    found: dict[str, str] = {}
    for declaration in page.declarations:
        language = languages.canonical(declaration.tag)
        if language is not None and language != "en":
            found.setdefault(language, f"{declaration.source}={declaration.tag}")
    return next(iter(found.items())) if len(found) == 1 else None


def fits(language: str, ballot: ScriptVote) -> bool:
    """Whether a language is written in the script that won."""
    if ballot.script is None:
        return False
    written_in = languages.scripts(language)
    return not written_in.isdisjoint(_SCRIPT_OF_VOTE.get(ballot.script, (ballot.script,)))


def _stands(language: str, text: str, ballot: ScriptVote, reader: TextEngine) -> bool:
    """Whether the beginning of a text in Latin letters lets a declaration stand."""
    if ballot.script != "Latn" or ballot.letters < MIN_LETTERS or language not in reader.languages:
        return True
    ranking = reader.rank(text[:_CHECKED_CHARACTERS])
    if not ranking:
        return True
    return dict(ranking).get(language, 0.0) >= _TOLERANCE * ranking[0][1]


def _by_text(page: ParsedPage, ballot: ScriptVote, reader: TextEngine) -> PageLanguage:
    if ballot.letters < MIN_LETTERS:
        return PageLanguage(None, 0.0, "none", "too little text")
    ranking = reader.rank(page.text)
    known = [(languages.canonical(code), share) for code, share in ranking]
    if not known or known[0][0] is None:
        return PageLanguage(None, 0.0, "none", f"no engine knows {_letters(ballot)}")
    language, confidence = known[0]
    weak = WEAK_LANGUAGES.get(page.charset)
    if weak in dict(ranking[:2]) and confidence < _WEAK_CONFIDENCE:
        reason = f"encoding {page.charset}, {_text_reason(ranking)}"
        return PageLanguage(weak, _WEAK_CONFIDENCE, "encoding", reason)
    return PageLanguage(language, min(confidence, 1.0), "text", _text_reason(ranking))


def _text_reason(ranking: Ranking) -> str:
    (first, share), *rest = ranking
    against = f" against {rest[0][0]} {rest[0][1]:.2f}" if rest else ""
    return f"text: {first} {share:.2f}{against}"


def _letters(ballot: ScriptVote) -> str:
    script = ballot.script or "no"
    return f"{_SCRIPT_NAMES.get(script, script)} letters"
