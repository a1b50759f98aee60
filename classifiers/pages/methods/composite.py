"""The default method: all evidence of a page and its surroundings in one sum.

Every piece of evidence adds to the logarithm of the odds of a language: the letters and n-grams of
the text, declarations, and encodings of one language. If the page alone leaves a doubt, its URL and
the pages that link to it are added (Hayati 2004, 5.4). The evidence of the text is bounded: a page
that begins in English, but declares Danish twice and is in the domain of Denmark, is Danish. The
weights were set on real pages. The confidence is the probability that they give.

Unlike in Cai 2009, 3.2.3, no evidence goes first: each counts by how often it was right.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from classifiers import languages
from classifiers.pages.charset.encodings import STRONG_LANGUAGES, WEAK_LANGUAGES
from classifiers.pages.declared import meant
from classifiers.pages.method import (
    MIN_REFERENCE_LENGTH,
    NOTHING,
    Neighbour,
    PageLanguage,
    Surroundings,
    by_ranking,
    unknown,
)
from classifiers.pages.methods.alone import by_declaration, by_encoding
from classifiers.pages.parse import ParsedPage
from classifiers.pages.text.scripts import ScriptVote, fits, letters_of
from classifiers.pages.text.textengine import (
    TWINS,
    LangfocusEngine,
    TextReading,
    is_rare,
    shipped_engine,
)

if TYPE_CHECKING:
    from classifiers.urls.model import UrlModel

NAME: Final = "composite"

MAX_TEXT: Final = 7.0
"""Nats of the text against a language at most."""
MIN_LETTERS: Final = 3
"""Letters from which a text counts; a sign of Chinese, Japanese or Korean counts as three."""
LETTERS_PER_NAT: Final = 12
"""Letters of a text for each nat against languages of other scripts, up to MAX_TEXT."""
CANDIDATES: Final = 12
"""Candidates by the text; other languages need other evidence, such as a declaration."""
DECLARED: Final = 5.5
"""Nats for a language other than English that is declared; those are right on 99.8 % of pages."""
DECLARED_AGAIN: Final = 1.0
"""Nats for another place that declares the same language."""
DECLARED_AMONG_OTHERS: Final = 2.0
"""Nats for a page that lists its translations and itself as the one in that language."""
DECLARED_RARE: Final = 10.5
"""Nats for a declared language without a profile. No tool writes it by default, and its text may be
hard to distinguish from that of a neighbour with a larger Web (Galician, Bosnian, Latin
Serbian).
"""
LISTED: Final = 4.0
"""Nats for the one language beside English in a list (`de, en`): some sites list those of all of
their pages on each. It was chosen below DECLARED; no labelled page has such a list."""
DISPUTED: Final = 2.0
"""Nats for a declared language if two are declared, or if the text contradicts a rare one."""
MAX_TWIN: Final = 3.0
"""Nats of the text at most between two languages that can hardly be told apart."""
MAX_NONE: Final = 6.0
"""Nats at most for a text in no known language."""
UNSEEN: Final = 2.0
"""Nats by which a certain language that the text model lacks is behind all such languages."""
CONTRADICTED: Final = 0.45
"""Nats of the text against a declared rare language, per square root of its letters, from which the
text contradicts it. Galician beside Spanish stays below it, Breton on an English page does not."""
DECLARED_ENGLISH: Final = 1.0
"""Nats for English if nothing else is declared; tools write it by default."""
STRONG_ENCODING: Final = 6.0
"""Nats for the language of an encoding that is used for it alone, if the letters fit."""
EMPTY_ENCODING: Final = 2.5
"""Nats for such an encoding if the text is in ASCII: English pages in Thai encodings exist."""
WEAK_ENCODING: Final = 2.0
DOUBT: Final = 0.95
"""Probability among the known languages below which the URL and the neighbours count."""
URL_WEIGHT: Final = 0.7
"""Factor of the nats of the URL: for languages with few learned URLs they are too large."""
URL_MOST: Final = 5.0
"""Nats of the URL for a language at most. A URL is no evidence against all known languages."""
URL_LIKELY: Final = 3.0
"""Nats from which the URL adds a candidate."""
INLINK_NATS: Final = 3.0
OUTLINK_NATS: Final = 0.7
MAX_NEIGHBOURS: Final = 10
"""Neighbours that are counted (Hayati 2004, 5.4)."""
MAX_NEIGHBOUR_NATS: Final = 9.0
THIN: Final = 0.25
"""Confidence below which the language is unknown."""
EVEN: Final = 0.5
"""Probability of no known language that is as large as that of all known ones together."""
MOST_NONE: Final = 0.35
"""The same up to which a language with a small Web is named for a long text alone; chosen with each
language left out of the model in turn (docs/page-identification.md)."""
SUPPORT: Final = 1.0
"""Nats of other evidence from which a text is not alone."""
LONG_TEXT: Final = 200
"""Letters from which a text is long."""
NO_LANGUAGE: Final = "none"
"""Stands for all languages that are not known, and for texts in no language."""


@dataclass
class _Scales:
    """The odds of each language so far, in nats, with the evidence for them."""

    reading: TextReading
    nats: dict[str, float] = field(default_factory=dict)
    pieces: list[tuple[str, str, float, str]] = field(default_factory=list)
    """The evidence that was added: (kind, language, nats, words)."""
    floor: float = 0.0
    """Nats of a language without any evidence."""
    none: float | None = None
    """Nats of a text in no known language; None without enough letters."""
    without_url: str | None = None
    """The answer of all evidence but the URL; None if the URL was not asked."""

    @property
    def ballot(self) -> ScriptVote:
        return self.reading.ballot

    def add(self, kind: str, language: str, nats: float, words: str) -> None:
        if language not in self.nats:
            self.nats[language] = self._start(language)
        self.nats[language] += nats
        self.pieces.append((kind, language, nats, words))

    def _start(self, language: str) -> float:
        """Nats of the text for a language that is not among the first candidates."""
        if language in self.reading.codes:
            return -min(self.reading.behind(language), MAX_TEXT)
        return self.floor if self.none is None else max(self.floor, self.none - UNSEEN)

    def ranking(self) -> list[tuple[str, float]]:
        """The languages with their probabilities; NO_LANGUAGE stands for all unknown ones."""
        if not self.nats:
            return []
        nats = self.nats if self.none is None else {**self.nats, NO_LANGUAGE: self.none}
        first = max(nats.values())
        chances = {code: math.exp(each - first) for code, each in nats.items()}
        total = sum(chances.values())
        ordered = sorted(chances.items(), key=lambda item: (-item[1], item[0]))
        return [(code, chance / total) for code, chance in ordered]


class Composite:
    """The default method. About 0.3 ms for a page with 2,000 characters of text."""

    name = NAME

    def __init__(self, engine: LangfocusEngine) -> None:
        self.engine = engine
        self.languages: frozenset[str] = frozenset()
        self.kinds = ("encoding", "declaration", "text")

    def alone(self, kind: str, page: ParsedPage, surroundings: Surroundings) -> str | None:
        """The language by one kind of evidence alone; None if it tells none."""
        if kind == "encoding":
            return by_encoding(page)
        if kind == "declaration":
            return by_declaration(page)
        return by_ranking(self.engine.rank(page.text)).language

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The language of a page with the probability that the evidence gives it."""
        scales = _Scales(self.engine.read(page.text))
        if scales.ballot.letters < MIN_LETTERS:
            surroundings = NOTHING  # such a page gets no label
        _weigh_text(scales)
        _weigh_declarations(scales, page)
        _weigh_encoding(scales, page)
        ranking = scales.ranking()
        if _is_doubtful(scales, ranking):
            _weigh_neighbours(scales, "inlinks", surroundings.inlinks, INLINK_NATS)
            _weigh_neighbours(scales, "outlinks", surroundings.outlinks, OUTLINK_NATS)
            scales.without_url = _named(scales, scales.ranking())
            _weigh_url(scales, surroundings.url)
            ranking = scales.ranking()
        return self._answer(page, scales, ranking)

    def _answer(
        self, page: ParsedPage, scales: _Scales, ranking: list[tuple[str, float]]
    ) -> PageLanguage:
        if not ranking:
            return unknown(_nothing(page, scales.ballot))
        if _share_of_none(ranking) > _most_none(scales, ranking):
            return unknown(f"the text is in no known language: {_reason(scales, ranking)}")
        ranking = sorted(ranking, key=lambda pair: pair[0] == NO_LANGUAGE)
        language, confidence = ranking[0]
        reason = _reason(scales, ranking)
        if confidence < THIN:
            return unknown(f"too little evidence: {reason}")
        reading = scales.reading
        shares = self.engine.shares(page.text, reading, language) if reading.codes else ()
        decided = _decisive(scales, language)
        return PageLanguage(language, confidence, decided, reason, shares)


def _is_doubtful(scales: _Scales, ranking: list[tuple[str, float]]) -> bool:
    """Whether the page alone leaves a doubt between known languages, or is in none of them."""
    none = _share_of_none(ranking)
    best = max((share for code, share in ranking if code != NO_LANGUAGE), default=0.0)
    return none > _most_none(scales, ranking) or best < DOUBT * (1 - none)


def _named(scales: _Scales, ranking: list[tuple[str, float]]) -> str:
    """The language that a ranking names, NO_LANGUAGE if none."""
    if not ranking or _share_of_none(ranking) > _most_none(scales, ranking):
        return NO_LANGUAGE
    first = next(pair for pair in ranking if pair[0] != NO_LANGUAGE)
    return first[0] if first[1] >= THIN else NO_LANGUAGE


def _share_of_none(ranking: list[tuple[str, float]]) -> float:
    """The probability that the page is in no known language."""
    return dict(ranking).get(NO_LANGUAGE, 0.0)


def _most_none(scales: _Scales, ranking: list[tuple[str, float]]) -> float:
    """The share of NO_LANGUAGE up to which the best language is named.

    A page in an unknown language often resembles a known one with a small Web: such a language
    needs more than an even chance if a long text is all there is for it.
    """
    language = next((code for code, _ in ranking if code != NO_LANGUAGE), "")
    others = (nats for kind, code, nats, _ in scales.pieces if kind != "text" and code == language)
    is_supported = sum(others) >= SUPPORT
    is_short = scales.ballot.letters < LONG_TEXT
    return EVEN if is_supported or is_short or not is_rare(language) else MOST_NONE


@cache
def shipped() -> Composite:
    """The method with the text model that ships; one for each process."""
    return Composite(shipped_engine())


def _weigh_text(scales: _Scales) -> None:
    """Add the evidence of letters and n-grams, at most MAX_TEXT against any language."""
    reading = scales.reading
    if reading.ballot.letters < MIN_LETTERS or not reading.codes:
        return
    bound = min(MAX_TEXT, reading.ballot.letters / LETTERS_PER_NAT)
    scales.floor = -bound
    first, twins = float(reading.nats[0]), _twins_of(reading.codes[0])
    for code, nats in zip(reading.codes, reading.nats[:CANDIDATES].tolist(), strict=False):
        scales.nats[code] = -min(first - nats, MAX_TWIN if code in twins else MAX_TEXT)
    total = math.log(sum(math.exp(nats) for nats in scales.nats.values()))
    scales.none = max(-bound, min(total - reading.known, MAX_NONE))
    words = "text" if len(reading.codes) > 1 else letters_of(reading.ballot)
    lead = min(bound, -sorted(scales.nats.values())[-2]) if len(scales.nats) > 1 else bound
    scales.pieces.append(("text", reading.codes[0], lead, words))


def _twins_of(code: str) -> frozenset[str]:
    """The languages that can hardly be told from a language."""
    return next((twins - {code} for twins in TWINS if code in twins), frozenset())


def _weigh_declarations(scales: _Scales, page: ParsedPage) -> None:
    """Add the declarations of each language together; further places count little."""
    found: dict[str, list[str]] = {}
    alone: set[str] = set()
    for declaration in page.declarations:
        codes = _meant(declaration.tag, scales)
        alone.update(codes if len(codes) == 1 else ())
        for code in codes:
            if _may_be(code, scales.ballot):
                found.setdefault(code, []).append(f"{declaration.source}={declaration.tag}")
    others = {code: places for code, places in found.items() if code != "en"}
    for code, places in others.items():
        nats = DISPUTED if len(others) > 1 else _declared_nats(code, scales) + _again(places)
        if code not in alone:
            nats = min(nats, LISTED)
        scales.add("declaration", code, nats, ", ".join(places[:3]))
    if "en" in found and not others:
        scales.add("declaration", "en", DECLARED_ENGLISH, found["en"][0])


def _again(places: list[str]) -> float:
    """Nats for further places; `lang` and `xml:lang` of one element are one."""
    if any(place.startswith("hreflang") for place in places):
        return DECLARED_AMONG_OTHERS
    return DECLARED_AGAIN * any(not place.startswith("html") for place in places[1:])


def _meant(tag: str, scales: _Scales) -> tuple[str, ...]:
    """The languages of a declaration; a country's code may stand in place of its language.

    `se` is Northern Sami, but on a page that reads as Swedish it is Sweden.
    """
    spoken = languages.language_of_tld(tag.strip()) if len(tag.strip()) == 2 else None
    if spoken is not None and scales.reading.codes[:1] == (spoken,):
        return (spoken,)
    return meant(tag)


def _declared_nats(language: str, scales: _Scales) -> float:
    if not is_rare(language):
        return DECLARED
    reading = scales.reading
    if reading.codes and language not in reading.codes:
        return DISPUTED if reading.known > UNSEEN else DECLARED_RARE
    most = max(MAX_TEXT, CONTRADICTED * math.sqrt(scales.ballot.letters))
    return DISPUTED if reading.behind(language) > most else DECLARED_RARE


def _weigh_encoding(scales: _Scales, page: ParsedPage) -> None:
    words = f"encoding {page.charset}"
    strong, weak = STRONG_LANGUAGES.get(page.charset), WEAK_LANGUAGES.get(page.charset)
    if strong is not None:
        fitting = scales.ballot.script != "Latn" and _may_be(strong, scales.ballot)
        in_ascii = scales.ballot.script == "Latn" and page.text.isascii()
        if fitting or "Latn" in languages.scripts(strong):
            scales.add("encoding", strong, STRONG_ENCODING, words)
        elif in_ascii and page.charset_source in {"http", "meta"}:
            scales.add("encoding", strong, EMPTY_ENCODING, words)
    elif weak is not None and _may_be(weak, scales.ballot):
        scales.add("encoding", weak, WEAK_ENCODING, words)


def _weigh_neighbours(
    scales: _Scales, kind: str, neighbours: Iterable[Neighbour], nats: float
) -> None:
    votes = Counter(
        neighbour.language for neighbour in _counted(neighbours) if neighbour.language is not None
    )
    for code, n in sorted(votes.items()):
        if _may_be(code, scales.ballot):
            words = f"{n} of {votes.total()} {kind}"
            scales.add(kind, code, min(nats * n, MAX_NEIGHBOUR_NATS), words)


def _counted(neighbours: Iterable[Neighbour]) -> Iterator[Neighbour]:
    long = (each for each in neighbours if each.characters >= MIN_REFERENCE_LENGTH)
    for _, neighbour in zip(range(MAX_NEIGHBOURS), long, strict=False):
        yield neighbour


def _weigh_url(scales: _Scales, url: str) -> None:
    """Add the evidence of the URL for candidates and for likely languages."""
    if not url:
        return
    model = _url_model()
    evidence = model.evidence([url])[0].tolist()
    for code, nats in zip(model.named_languages, evidence, strict=True):
        if nats > 0 and (code in scales.nats or nats > URL_LIKELY) and _may_be(code, scales.ballot):
            scales.add("URL", code, min(URL_WEIGHT * nats, URL_MOST), "URL")


@cache
def _url_model() -> UrlModel:
    from classifiers.urls.model import UrlModel

    return UrlModel.load()


def _may_be(language: str, ballot: ScriptVote) -> bool:
    """Whether a language may have letters of this script; with few letters any may."""
    return ballot.letters < LETTERS_PER_NAT or fits(language, ballot)


def _decisive(scales: _Scales, language: str) -> str:
    """The kind of evidence with the most nats for a language; the URL if it changed the answer."""
    if scales.without_url not in (None, language):
        return "URL"
    found: dict[str, float] = {}
    for kind, code, nats, _ in scales.pieces:
        if code == language:
            found[kind] = found.get(kind, 0.0) + nats
    return max(found, key=lambda kind: (found[kind], kind)) if found else "text"


def _reason(scales: _Scales, ranking: list[tuple[str, float]]) -> str:
    """The evidence for the first language, and the second language."""
    language, confidence = ranking[0]
    said = [
        f"{words}: +{nats:.1f}"
        for _, code, nats, words in scales.pieces
        if code == language and nats > 0
    ]
    against = f"; against {ranking[1][0]} {ranking[1][1]:.2f}" if len(ranking) > 1 else ""
    return f"{language} {confidence:.2f} ({', '.join(said) or 'nothing against it'}){against}"


def _nothing(page: ParsedPage, ballot: ScriptVote) -> str:
    if not page.text:
        return "no text"
    return "too few letters" if ballot.letters else "no letters of a known script"
