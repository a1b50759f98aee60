"""Runs methods of page identification on labelled pages and texts, and measures their CPU time.

Each page is parsed once and given to each method once. `page_tables` makes tables of the answers.
"""

from __future__ import annotations

import random
import time
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from heapq import nsmallest
from itertools import islice
from typing import Final, TypeVar

from classifiers.datasets import Dataset, LabelledPage, LabelledText, stable_share
from classifiers.datasets.texts import is_held_out
from classifiers.errors import MissingPackageError, ModelError, StudyError
from classifiers.pages import methods
from classifiers.pages.method import (
    MIN_REFERENCE_LENGTH,
    NOTHING,
    Neighbour,
    PageMethod,
    Surroundings,
)
from classifiers.pages.parse import MAX_CHARACTERS, ParsedPage, parse_page

DEFAULT_METHODS: Final = (
    "composite",
    "langdetect",
    "cavnar-trenkle",
    "nfc",
    "cai",
    "tamura",
)

Progress = Callable[[str, int, int | None], None]
"""Called with the name of a task, the steps done, and all steps (None if unknown)."""

Labelled = TypeVar("Labelled", LabelledText, LabelledPage)

_MS: Final = 1e6
_STEP_S: Final = 0.1
_NO_ADDRESS: Final = "http://page.invalid/"

MAX_INLINKS: Final = 10
"""Greatest number of simulated pages that link to one (Hayati 2004, 5.4)."""

SHORT: Final = ((5, 24), (25, 49))
"""Least and greatest characters of the pages that `shortened` cuts, in turn."""

_SAME_LANGUAGE = 0.95
_INLINK_CHARACTERS = 1000
# Ratio of the probabilities of n + 1 and n inlinks; it makes the mean of 0..10 equal 4.0.
_RARER = 0.9


@dataclass(frozen=True, slots=True)
class Case:
    """A parsed page with its surroundings and the right answer."""

    language: str
    kind: str
    page: ParsedPage
    surroundings: Surroundings = NOTHING

    @property
    def characters(self) -> int:
        """Return the length of the visible text that was kept."""
        return len(self.page.text)


@dataclass
class MethodRun:
    """The answers of one method about all cases, in their order."""

    name: str
    knows: frozenset[str]
    """Languages that it can answer; empty if it can answer any."""
    answers: list[str | None] = field(default_factory=list)
    confidences: array[float] = field(default_factory=lambda: array("d"))
    decided: list[str] = field(default_factory=list)
    """Names of the deciding evidence; `none` if there is no answer."""
    cpu_ns: int = 0

    @property
    def ms_per_page(self) -> float:
        """Return the CPU time per page without parsing; nan without cases."""
        return self.cpu_ns / _MS / len(self.answers) if self.answers else float("nan")

    def can_answer(self, language: str) -> bool:
        """Whether the method knows a language."""
        return not self.knows or language in self.knows


@dataclass(frozen=True)
class Cases:
    """The cases of a study: pages or texts."""

    sort: str
    """`pages` or `texts`."""
    cases: tuple[Case, ...]
    parse_ms: float = float("nan")
    """CPU time of parsing one page; nan for texts."""


def text_page(text: str) -> ParsedPage:
    """A page whose visible text is `text`, without links and declarations."""
    return replace(_empty_page(), text=" ".join(text.split())[:MAX_CHARACTERS])


@cache
def _empty_page() -> ParsedPage:
    return parse_page(b"", content_type=None, url="")


@dataclass(frozen=True)
class Choice:
    """Selects rows of labelled data."""

    languages: Collection[str] = ()
    """Empty for all."""
    kinds: Collection[str] = ()
    """Empty for all."""
    held_out: float = 1.0
    """The share of rows that training leaves out for the same value."""
    limit: int | None = None
    """Most rows; None for all."""

    def has(self, row: LabelledText | LabelledPage) -> bool:
        """Whether a row is selected, apart from the limit."""
        is_wanted = not self.languages or row.language in self.languages
        is_of_kind = not self.kinds or row.kind in self.kinds
        return is_wanted and is_of_kind and is_held_out(row, self.held_out)


def selected(data: Dataset[Labelled], choice: Choice) -> Iterator[Labelled]:
    """The rows that are selected, in their order.

    If there are more than the limit, those with the smallest hashes of their content are taken:
    the same rows for any order of the data. The data are then read twice.
    """

    def rows() -> Iterator[Labelled]:
        return (row for row in data if choice.has(row))

    if choice.limit is None:
        return rows()
    smallest = nsmallest(choice.limit, map(_rank, rows()))
    chosen = frozenset(smallest)
    return islice((row for row in rows() if _rank(row) in chosen), len(smallest))


def _rank(row: LabelledText | LabelledPage) -> float:
    text = row.name if isinstance(row, LabelledPage) else f"{row.language}:{row.text}"
    return stable_share(text, 0, "page study")


def cases_of_pages(
    rows: Iterable[LabelledPage],
    on_progress: Progress | None = None,
    around: Callable[[str], Surroundings] = Surroundings,
) -> Cases:
    """The parsed pages; `around` gives the surroundings of a URL, by default the URL alone."""
    cases: list[Case] = []
    ticks, cpu_ns = _Ticks("parsing", None, on_progress), 0
    for row in rows:
        before = time.process_time_ns()
        page = parse_page(row.body, content_type=None, url=row.url or _NO_ADDRESS)
        cpu_ns += time.process_time_ns() - before
        cases.append(Case(row.language, row.kind, page, around(row.url)))
        ticks.tell(len(cases))
    return Cases("pages", tuple(cases), cpu_ns / _MS / len(cases) if cases else float("nan"))


def shortened(cases: Cases, judge: PageMethod, seed: int = 0) -> tuple[Cases, int]:
    """Short pages, cut from the texts of longer ones; and the number of pages left out.

    Each page keeps words from a place in its text: fewer than 25 characters, or 25 to 49, in turn
    (Hayati 2004, Table 5.1). A page is left out if its text has fewer than MIN_REFERENCE_LENGTH
    characters, or if `judge` reads another language from it than its label: the words may then be
    untranslated. Declarations stay; links and neighbours are those of the whole page.
    """
    kept: list[Case] = []
    for case in cases.cases:
        is_long = case.characters >= MIN_REFERENCE_LENGTH
        if is_long and judge.identify(case.page).language == case.language:
            place = f"{seed}:{len(kept)}:{case.surroundings.url}"
            text = _cut(case.page.text, SHORT[len(kept) % len(SHORT)], random.Random(place))
            page = replace(case.page, text=text)
            kept.append(replace(case, page=page, kind=f"{case.kind}, cut"))
    return replace(cases, cases=tuple(kept)), len(cases.cases) - len(kept)


def _cut(text: str, lengths: tuple[int, int], chance: random.Random) -> str:
    """Words of a text with a length between two bounds; text without spaces is cut anywhere."""
    least, most = lengths
    length = chance.randint(least, most)
    words = text[chance.randrange(max(1, len(text) - 4 * most)) :].split(" ")[1:] or [text]
    found = ""
    for word in words:
        if found and len(found) + 1 + len(word) > length:
            break
        found = f"{found} {word}".strip()[:length]
    return found if len(found) >= least else " ".join(words)[:length]


def cases_of_texts(rows: Iterable[LabelledText], *, seed: int | None = None) -> Cases:
    """The texts as pages; with a seed, `surroundings` simulates their links."""
    rows = list(rows)
    languages = sorted({row.language for row in rows})
    return Cases(
        "texts",
        tuple(
            Case(
                row.language,
                row.kind,
                text_page(row.text),
                NOTHING if seed is None else surroundings(row, languages, seed),
            )
            for row in rows
        ),
    )


def surroundings(row: LabelledText, languages: Sequence[str], seed: int = 0) -> Surroundings:
    """Simulated surroundings of a short page with a text, always the same for that text.

    Up to ten inlinks from pages of 1,000 characters, 4.0 on average; larger numbers are rarer. Each
    is in the language of the text with a probability of 0.95 (counted on 799 links, Hayati 2004,
    5.3), else in another of `languages`. The URL is in a generic domain.
    """
    chance = random.Random(f"{seed}:{row.language}:{row.text}")
    others = [language for language in languages if language != row.language]
    weights = [_RARER**number for number in range(MAX_INLINKS + 1)]
    (number,) = chance.choices(range(MAX_INLINKS + 1), weights)
    inlinks = []
    for _ in range(number):
        is_same = chance.random() < _SAME_LANGUAGE or not others
        language = row.language if is_same else chance.choice(others)
        inlinks.append(Neighbour(language, _INLINK_CHARACTERS))
    return Surroundings(f"http://www.{chance.randrange(10**6)}.net/", tuple(inlinks))


def found_methods(named: Sequence[str] = ()) -> tuple[list[PageMethod], dict[str, str]]:
    """The methods with those names, and the reasons why others are left out.

    Without names: those of DEFAULT_METHODS that can be loaded. StudyError for an unknown name;
    MissingPackageError or ModelError if the package or the file of a named one is missing.
    """
    for name in named:
        if name not in methods.names():
            known = ", ".join(methods.names())
            raise StudyError(f"no method is called {name!r}; choose one of: {known}")
    found, left_out = [], {}
    for name in dict.fromkeys(named or DEFAULT_METHODS):
        try:
            found.append(methods.method(name))
        except (MissingPackageError, ModelError) as error:
            if named:
                raise
            left_out[name] = str(error)
    return found, left_out


def asked(
    method: PageMethod, cases: Sequence[Case], on_progress: Progress | None = None
) -> MethodRun:
    """The answers of a method for all cases.

    One case of each language is answered first without timing, so that the time does not include
    reading files.
    """
    for case in {case.language: case for case in cases}.values():
        method.identify(case.page, case.surroundings)
    run = MethodRun(method.name, method.languages)
    ticks = _Ticks(method.name, len(cases), on_progress)
    for case in cases:
        before = time.process_time_ns()
        answer = method.identify(case.page, case.surroundings)
        run.cpu_ns += time.process_time_ns() - before
        run.answers.append(answer.language)
        run.confidences.append(answer.confidence)
        run.decided.append(answer.method)
        ticks.tell(len(run.answers))
    return run


class _Ticks:
    """Reports progress at most ten times a second."""

    def __init__(self, what: str, total: int | None, on_progress: Progress | None) -> None:
        self._what = what
        self._total = total
        self._on_progress = on_progress
        self._told = 0.0

    def tell(self, done: int) -> None:
        if self._on_progress and (now := time.monotonic()) > self._told + _STEP_S:
            self._on_progress(self._what, done, self._total)
            self._told = now
