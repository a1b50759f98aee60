"""Default method: the text decides the language, and a declaration breaks near ties.

Every piece of evidence adds to the log-odds of a language. Text n-grams count in full, so with
enough text a declaration or an encoding decides only between nearly equally probable languages. The
odds of a short text are bounded by text length, so a declaration may decide the language. The
page's URL and links are not read: a crawl selected the page by URL and links, so the harvest rate
would measure the crawl's own guesses.

Unlike Cai 2009, 3.2.3, no declaration overrides the text.
"""

import math
import re
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

from langfocus.classifiers import languages
from langfocus.classifiers.languages import declared_languages
from langfocus.classifiers.pages.charset.encodings import (
    DECLARING,
    STRONG_LANGUAGES,
    WEAK_LANGUAGES,
)
from langfocus.classifiers.pages.method import (
    NOTHING,
    PageLanguage,
    Surroundings,
    by_ranking,
    unknown,
)
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.classifiers.pages.text.filler import without_filler
from langfocus.classifiers.pages.text.scripts import SCRIPTS, ScriptVote, fits
from langfocus.classifiers.pages.text.textengine import (
    COMMON,
    HAN_LANGUAGES,
    LangfocusEngine,
    TextReading,
    shipped_engine,
)
from langfocus.classifiers.tables import rows

_DIGIT: Final = re.compile(r"\d")
_SENTENCE_END: Final = re.compile(r"[.!?\u0964\u06d4\u061f]\s|\n")

MIN_LETTERS: Final = 3
"""Least letters in a text with evidence; a Chinese, Japanese or Korean sign counts as three."""
LETTERS_PER_NAT: Final = 5
"""Text letters per nat against a language with other evidence: from 33 letters on a declaration
cannot outweigh a clear text."""
DECLARED_PART: Final = 0.34
"""Least share of the main text in the declared language for the page to be in the declared
language."""
OPENING: Final = (0.5, 0.6)
"""Main text share below which an opening in another language (first value) or in English (second)
is ignored: a consent form, a notice or a licence precedes the article."""
CLEAR: Final = 10.0
"""Least lead in nats of the remaining text's language over the ignored opening's; twins lead less.
"""
TWO_LANGUAGES: Final = 0.97
"""Share of a text in two languages above which a third language is excluded."""
CANDIDATES: Final = 12
"""Candidates by the text; further languages need other evidence, such as a declaration."""
DECLARED: Final = 5.5
"""Nats for a declared language other than English; such declarations are right on 99.8 % of pages.
"""
DECLARED_AGAIN: Final = 1.0
"""Nats for a repeated declaration of the same language at another place."""
LISTED: Final = 4.0
"""Nats for the only language beside English in a list (`de, en`): some sites list every site
language on each page. Chosen below DECLARED; no labelled page has such a list."""
DISPUTED: Final = 2.0
"""Nats for a declared language if two are declared."""
DECLARED_ENGLISH: Final = 1.0
"""Nats for English without another declaration; tools declare English by default."""
MAX_LEAD: Final = 7.0
"""Nats at most by which the text alone excludes a candidate, so that no confidence is 1: the text
may be in an unconsidered language."""
MAX_TWIN: Final = 3.0
"""Nats of text evidence at most between two hardly distinguishable languages."""
WRITTEN_AS: Final = {"yue": "zh"}
"""Languages whose pages are mostly written in another language: only a declaration distinguishes.
"""
MAX_NONE: Final = 6.0
"""Nats at most for a text in an unknown language."""
UNSEEN: Final = 5.0
"""Nats by which a language missing from the text model trails every missing language together: a
declaration wins only if the text hardly fits a known language."""
UNSEEN_NEAR: Final = (3.6, 3.5)
"""UNSEEN if a short, or a long text reads as a language near the declared language. 1 % of English
pages would be Scots if declared as Scots; pages in Scots resemble English less."""
UNSEEN_SCRIPT: Final = 3.0
"""UNSEEN if the declaration includes the script of the text (`pa-Arab`)."""
STRONG_ENCODING: Final = 6.0
"""Nats for the language of a single-language encoding, if the letters fit."""
EMPTY_ENCODING: Final = 3.5
"""Nats for a single-language encoding of ASCII text: English pages in Thai encodings exist."""
WEAK_ENCODING: Final = 2.0
THIN: Final = 0.25
"""Confidence below which the language is unknown."""
EVEN: Final = 0.5
"""Probability of an unknown language at even odds with the known languages together."""
MOST_NONE: Final = 0.35
"""Largest probability of an unknown language at which a long text alone gets a language; chosen
with each language left out of the model in turn (docs/page-identification.md)."""
MOST_NONE_LARGE: Final = 0.2
"""MOST_NONE for languages that many unknown languages resemble; 1 % of large-language pages have
more."""
LARGE: Final = frozenset({"de", "en", "es", "fr", "it", "pt", "ru"})
MOST_NONE_AGREED: Final = 0.7
"""MOST_NONE for a small language identified in many single sentences: the model saw little training
text, so a long text resembles the training text less."""
MANY_SENTENCES: Final = 8
"""Least number of agreeing sentences: eight sentences in an unknown language seldom get the same
language, while five often do."""
SENTENCE: Final = 20
"""Least characters of a sentence with a reliable language."""
AGREED: Final = 0.95
"""Least share of sentences identified as the language."""
SUPPORT: Final = 1.0
"""Least nats of other evidence for a text not to be alone."""
UNLIKE: Final = 1.0
"""Log-odds of a known language below which a text may be codes, or few words repeated."""
REPEATED: Final = 0.25
"""Share of distinct words below which repeated words count once: colour charts, parts lists.
"""
LONG_TEXT: Final = 200
"""Least letters of a long text."""
FONT_SCRIPTS: Final = frozenset(
    "Beng Deva Gujr Guru Khmr Knda Laoo Mlym Mymr Orya Sinh Taml Telu Tibt".split()
)
"""Scripts that fonts displayed for ASCII letters before Unicode was usual."""
FONT_CAPITALS: Final = 0.15
"""Share of words with an inner capital above which a font may display another script."""


@dataclass
class _Scales:
    """Accumulated odds per language, in nats, and the evidence."""

    reading: TextReading
    nats: dict[str, float] = field(default_factory=dict)
    text: tuple[str, float, str] | None = None
    """The text's first language, the lead in nats, and a description."""
    pieces: list[tuple[str, str, float, str]] = field(default_factory=list)
    """Further evidence: (kind, language, nats, description)."""
    none: float | None = None
    """Nats for a text in an unknown language; None without enough letters."""
    scripted: set[str] = field(default_factory=set)
    """Languages declared with the script of the text."""
    is_agreed: bool = False
    """Whether many single sentences are identified as the text's first language."""

    @property
    def ballot(self) -> ScriptVote:
        return self.reading.ballot

    @property
    def bound(self) -> float:
        """Return the nats of text evidence at most against a language with other evidence."""
        return self.ballot.letters / LETTERS_PER_NAT

    def add(self, kind: str, language: str, nats: float, words: str) -> None:
        before = self.nats[language] if self.support(language) else self._start(language)
        self.nats[language] = before + nats
        self.pieces.append((kind, language, nats, words))

    def _start(self, language: str) -> float:
        """Return the text's nats for a language with other evidence."""
        if self.none is None:
            return 0.0
        codes = self.reading.codes
        if codes[0] == WRITTEN_AS.get(language):
            return -min(MAX_TWIN, self.bound)
        if language in self.reading.twins:
            return -min(self.reading.behind(language) or MAX_TWIN, self.bound, MAX_TWIN)
        behind = self.reading.behind(language) if language in codes else math.inf
        if language in codes and not (language in self.scripted and codes[0] in _near(language)):
            return -min(behind, self.bound)
        if len(codes) == 1 and codes[0] not in HAN_LANGUAGES:
            return -min(MAX_TWIN, self.bound)  # the letters are the only text evidence
        is_long = self.ballot.letters >= LONG_TEXT
        unseen = UNSEEN
        if codes[0] in _near(language):
            unseen = UNSEEN_SCRIPT if language in self.scripted else UNSEEN_NEAR[is_long]
        return max(-self.bound, -behind, self.none - unseen)

    def support(self, language: str | None) -> dict[str, float]:
        """Return the nats for a language by evidence kind, without the text."""
        by_kind: dict[str, float] = {}
        for kind, code, nats, _ in self.pieces:
            if code == language:
                by_kind[kind] = by_kind.get(kind, 0.0) + nats
        return by_kind

    def ranking(self) -> tuple[list[tuple[str, float]], float]:
        """Return languages with probabilities, best first, and the probability of none."""
        if not self.nats:
            return [], 0.0
        first = max(self.nats.values())
        chances = {code: math.exp(nats - first) for code, nats in self.nats.items()}
        none = 0.0 if self.none is None else math.exp(self.none - first)
        total = math.fsum(chances.values()) + none
        ordered = sorted(chances.items(), key=lambda item: (-item[1], item[0]))
        return [(code, chance / total) for code, chance in ordered], none / total


class Composite:
    """The default method. About 0.25 ms for a page with 2,000 characters of text."""

    name = "composite"
    languages: frozenset[str] = frozenset()
    """Empty: any language may be declared."""

    def __init__(self, engine: LangfocusEngine) -> None:
        self.engine = engine

    def answers(self, page: ParsedPage) -> dict[str, str | None]:
        """Return the language by each evidence kind alone; None without evidence."""
        is_declared = page.charset_source in DECLARING
        declared = (declared_languages(place.tag) for place in page.declarations)
        return {
            "encoding": STRONG_LANGUAGES.get(page.charset) if is_declared else None,
            "declaration": next(chain.from_iterable(declared), None),
            "text": by_ranking(self.engine.rank(page.text)).language,
        }

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """Identify the language of a page, with the probability given the evidence.

        The surroundings are not read.
        """
        scales = _Scales(self._reading(page))
        _weigh_text(scales)
        scales.is_agreed = self._is_agreed(scales, page)
        by_text = _answer(scales, page)
        _weigh_declarations(scales, page)
        _weigh_encoding(scales, page)
        return _settled(scales, page, by_text) if scales.pieces else by_text

    def _is_agreed(self, scales: _Scales, page: ParsedPage) -> bool:
        """Return True if many sentences agree on a small language of a doubtful long text."""
        first = scales.reading.codes[:1]
        none = 1 / (1 + math.exp(scales.reading.known))
        is_open = MOST_NONE < none <= MOST_NONE_AGREED
        if not first or first[0] in COMMON or not is_open or scales.ballot.letters < LONG_TEXT:
            return False
        sentences = {*map(str.strip, _SENTENCE_END.split(page.prose or page.text))}
        named = [self.engine.read(text).codes[:1] for text in sentences if len(text) >= SENTENCE]
        return len(named) >= MANY_SENTENCES and named.count(first) >= AGREED * len(named)

    def _reading(self, page: ParsedPage) -> TextReading:
        """Return the text evidence; the main language's evidence for a text in two languages."""
        reading = self.engine.read(page.text, page.prose)
        if reading.codes[:1] == ("la",) and (rest := without_filler(page.text)) != page.text:
            around = self.engine.read(rest)
            return around if around.codes[:1] != ("la",) else self.engine.read("")
        if reading.known < UNLIKE and (words := _words_if_few(page.text)) is not None:
            return self.engine.read(words)
        if not page.prose or len(reading.parts) < 2:
            return reading
        (first, share), (_, further) = list(reading.parts.items())[:2]
        declared = [code for place in page.declarations for code in declared_languages(place.tag)]
        opening, opened = reading.opening
        if 0 < opened < (DECLARED_PART if opening in declared else OPENING[opening == "en"]):
            main = self.engine.read(page.text, page.prose, without=opening)
            if main.behind(opening) >= CLEAR:
                return main
        chosen = max(declared, key=lambda code: reading.parts.get(code, 0.0), default=first)
        if chosen in reading.twins or reading.parts.get(chosen, 0.0) < DECLARED_PART:
            chosen = first
        if chosen == first and share + further < TWO_LANGUAGES:
            return reading  # pieces in an unknown language resemble several
        return self.engine.read(page.text, page.prose, chosen)


def _words_if_few(text: str) -> str | None:
    """Return the distinct words without digits if a text repeats few words, else None."""
    words = [word for word in text.split() if not _DIGIT.search(word)]
    once = [*dict.fromkeys(words)]
    return " ".join(once) if len(once) < REPEATED * len(words) else None


def _settled(scales: _Scales, page: ParsedPage, by_text: PageLanguage) -> PageLanguage:
    """Return the answer from all evidence.

    Without evidence for the new language beside the text, the text's answer is kept.
    """
    answer = _answer(scales, page)
    support = scales.support(answer.language)
    if answer.language == by_text.language or answer.language is None:
        return answer
    if not support:
        return by_text
    kind = max(support, key=lambda kind: (support[kind], kind))
    is_long = scales.bound >= DECLARED + DECLARED_AGAIN  # no declaration outweighs the text
    return replace(answer, method=f"text+{kind}" if is_long else kind)


def _answer(scales: _Scales, page: ParsedPage) -> PageLanguage:
    """Return the answer from the evidence so far, with the text as the deciding evidence."""
    ranking, none = scales.ranking()
    if not ranking:
        few = "too few letters" if scales.ballot.letters else "no letters of a known script"
        return unknown(few if page.text else "no text")
    reason = _reason(scales, ranking, none)
    language, confidence = ranking[0]
    if none > _most_none(scales, language, has_prose=bool(page.prose)):
        return unknown(f"the text is in no known language: {reason}")
    if confidence < THIN:
        return unknown(f"too little evidence: {reason}")
    return PageLanguage(language, confidence, "text", reason)


def _most_none(scales: _Scales, language: str, *, has_prose: bool) -> float:
    """Return the largest probability of an unknown language at which a language is answered.

    A page in an unknown language often resembles a known language, so a long text without other
    evidence needs more than even odds. Pages without main text contain names and single words.
    """
    if scales.is_agreed and language == scales.reading.codes[0]:
        return MOST_NONE_AGREED
    is_alone = math.fsum(scales.support(language).values()) < SUPPORT
    if scales.ballot.letters < LONG_TEXT or not is_alone or (language in COMMON and not has_prose):
        return EVEN
    return MOST_NONE_LARGE if language in LARGE else MOST_NONE


class OwnComposite(Composite):
    """The default method with a text model of one's own."""

    def __init__(self, path: Path) -> None:
        """Load a model file; raises ModelError."""
        super().__init__(LangfocusEngine(path))
        self.name, self.languages = path.name, frozenset(self.engine.model.languages)

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """Identify the language of a page; declared languages beyond the model do not count."""
        found = super().identify(page)
        if found.language is None or found.language in self.languages:
            return found
        return unknown(f"the text model does not know {found.language}")


@cache
def shipped() -> Composite:
    """Return the method with the shipped text model; one per process."""
    return Composite(shipped_engine())


def _weigh_text(scales: _Scales) -> None:
    """Add the evidence of letters and n-grams."""
    reading = scales.reading
    if reading.ballot.letters < MIN_LETTERS or not reading.codes:
        return
    first, twins = float(reading.nats[0]), reading.twins
    for code, nats in zip(reading.codes, reading.nats[:CANDIDATES].tolist(), strict=False):
        scales.nats[code] = max(nats - first, -MAX_TWIN if code in twins else -MAX_LEAD)
    total = math.log(math.fsum(map(math.exp, scales.nats.values())))
    scales.none = max(-scales.bound, min(total - reading.known, MAX_NONE))
    words = "text" if len(reading.codes) > 1 else f"{languages.name(reading.codes[0])} letters"
    lead = first - float(reading.nats[1]) if len(reading.codes) > 1 else scales.bound
    scales.text = reading.codes[0], lead, words


@cache
def _near(language: str) -> frozenset[str]:
    """Return the known languages that texts in an unknown language resemble."""
    groups = rows("near-languages.txt").items()
    return frozenset(
        near for known, all_ in groups if language in all_.split() for near in known.split()
    )


def _weigh_declarations(scales: _Scales, page: ParsedPage) -> None:
    """Add the declarations per language; repeated places count little."""
    places_of: dict[str, list[str]] = {}
    alone: set[str] = set()
    for declaration in page.declarations:
        codes = _declared_in(declaration.tag, scales)
        alone.update(codes if len(codes) == 1 else ())
        script = _script_of(declaration.tag)
        if script == scales.ballot.script:
            scales.scripted.update(codes)
        for code in codes:
            is_near = script is None and not _near(code).isdisjoint(scales.reading.codes[:1])
            fitting = is_near or code in scales.scripted or _may_be(code, scales.ballot)
            if fitting or _may_be_font(code, scales, page.text):
                places_of.setdefault(code, []).append(f"{declaration.source}={declaration.tag}")
    others = {code: places for code, places in places_of.items() if code != "en"}
    for code, places in others.items():
        is_read = code in scales.reading.codes
        nats = DISPUTED if len(others) > 1 else DECLARED + is_read * _again(places)
        if code not in alone:
            nats = min(nats, LISTED)
        scales.add("declaration", code, nats, ", ".join(places[:3]))
    if "en" in places_of and not others:
        scales.add("declaration", "en", DECLARED_ENGLISH, places_of["en"][0])


def _script_of(tag: str) -> str | None:
    """Return the script in a tag; Western Punjabi is in Arabic letters."""
    first, *further = tag.strip().replace("_", "-").lower().split("-")[:3]
    named = "Arab" if first == "pnb" else next((x.title() for x in further if len(x) == 4), None)
    return named if named in SCRIPTS else None


def _again(places: list[str]) -> float:
    """Return the nats for repeated places; `lang` and `xml:lang` on the same element count once."""
    return DECLARED_AGAIN * any(not place.startswith("html") for place in places[1:])


def _declared_in(tag: str, scales: _Scales) -> tuple[str, ...]:
    """Return the declared languages; a country code may replace the country's language.

    `se` is Northern Sami, but Sweden on a page that reads as Swedish.
    """
    language = languages.language_of_tld(tag.strip()) if len(tag.strip()) == 2 else None
    if language is not None and scales.reading.codes[:1] == (language,):
        return (language,)
    return declared_languages(tag)


def _weigh_encoding(scales: _Scales, page: ParsedPage) -> None:
    words = f"encoding {page.charset}"
    strong, weak = STRONG_LANGUAGES.get(page.charset), WEAK_LANGUAGES.get(page.charset)
    if strong is not None:
        fitting = scales.ballot.script != "Latn" and _may_be(strong, scales.ballot)
        in_ascii = scales.ballot.script == "Latn" and page.text.isascii()
        if fitting or "Latn" in languages.scripts(strong):
            scales.add("encoding", strong, STRONG_ENCODING, words)
        elif in_ascii and page.charset_source in DECLARING:
            scales.add("encoding", strong, EMPTY_ENCODING, words)
    elif weak is not None and _may_be(weak, scales.ballot):
        scales.add("encoding", weak, WEAK_ENCODING, words)


def _may_be(language: str, ballot: ScriptVote) -> bool:
    """Return True if the language uses the winning script, or if the text has no letters."""
    return ballot.script is None or fits(language, ballot)


def _may_be_font(language: str, scales: _Scales, text: str) -> bool:
    """Return True if ASCII letters may encode Indian letters, displayed by a font (Kruti Dev).

    Such a text is in no known language, and has capitals inside words.
    """
    is_open = scales.ballot.script == "Latn" and scales.none is not None and scales.none > 0
    if not is_open or FONT_SCRIPTS.isdisjoint(languages.scripts(language)):
        return False
    words = text.split()
    inside = sum(not word.isupper() and word[1:] != word[1:].lower() for word in words)
    return inside > FONT_CAPITALS * len(words)


def _reason(scales: _Scales, ranking: list[tuple[str, float]], none: float) -> str:
    """Describe the evidence for the first language, and name the second language."""
    language, confidence = ranking[0]
    evidence = [scales.text] if scales.text else []
    evidence += [piece[1:] for piece in scales.pieces]
    parts = [f"{words}: +{n:.1f}" for code, n, words in evidence if code == language and n > 0]
    rivals = [*ranking[1:2], ("none", none)] if none else ranking[1:2]
    against = "; against {} {:.2f}".format(*max(rivals, key=lambda x: x[1])) if rivals else ""
    return f"{language} {confidence:.2f} ({', '.join(parts) or 'nothing against it'}){against}"
