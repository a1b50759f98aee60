"""What methods of page identification answer about labelled pages and texts, and at what cost.

Each page is parsed once and each method asked once about it. The tables of what came out are in
`page_tables`.
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

from classifiers.errors import MissingPackageError, ModelError, StudyError
from classifiers.lab.datasets import Dataset, LabelledPage, LabelledText, stable_share
from classifiers.lab.datasets.texts import is_held_out
from classifiers.pages import methods
from classifiers.pages.method import NOTHING, Neighbour, PageMethod, Surroundings
from classifiers.pages.parse import MAX_CHARACTERS, ParsedPage, parse_page

DEFAULT_METHODS: Final = (
    "composite",
    "langdetect-arrays",
    "langdetect",
    "cavnar-trenkle",
    "nfc",
    "cai",
    "tamura",
)

Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and of how much, None if nobody knows."""

Labelled = TypeVar("Labelled", LabelledText, LabelledPage)

_MS: Final = 1e6
_STEP_S: Final = 0.1
_NO_ADDRESS: Final = "http://page.invalid/"

MAX_INLINKS: Final = 10
"""Pages linking to one that are simulated at most (Hayati 2004, 5.4)."""

_SAME_LANGUAGE = 0.95
_INLINK_CHARACTERS = 1000
# So much rarer is each further inlink; the mean of 0..10 becomes 4.0.
_RARER = 0.9


@dataclass(frozen=True, slots=True)
class Case:
    """A parsed page, what is known about it, and the right answer."""

    language: str
    kind: str
    page: ParsedPage
    surroundings: Surroundings = NOTHING

    @property
    def characters(self) -> int:
        """Return the length of the visible text, as far as it is kept."""
        return len(self.page.text)


@dataclass
class MethodRun:
    """What one method answered about all cases, in their order."""

    name: str
    knows: frozenset[str]
    """Languages that it can answer; empty where it can answer any."""
    answers: list[str | None] = field(default_factory=list)
    confidences: array[float] = field(default_factory=lambda: array("d"))
    decided: list[str] = field(default_factory=list)
    """Names of the evidence, `none` where there is no answer."""
    cpu_ns: int = 0

    @property
    def ms_per_page(self) -> float:
        """Return CPU time, without that of parsing; nan without cases."""
        return self.cpu_ns / _MS / len(self.answers) if self.answers else float("nan")

    def can_answer(self, language: str) -> bool:
        """Whether the method knows a language."""
        return not self.knows or language in self.knows


@dataclass(frozen=True)
class Cases:
    """The cases of a study, all of one sort."""

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
    """Which rows of labelled data are asked about."""

    languages: Collection[str] = ()
    """All where none are named."""
    kinds: Collection[str] = ()
    """All where none are named."""
    held_out: float = 1.0
    """The share that `scrapy train` leaves out if it is told the same."""
    limit: int | None = None
    """At most so many; None for all."""

    def has(self, row: LabelledText | LabelledPage) -> bool:
        """Whether a row is chosen, but for the limit."""
        is_wanted = not self.languages or row.language in self.languages
        is_of_kind = not self.kinds or row.kind in self.kinds
        return is_wanted and is_of_kind and is_held_out(row, self.held_out)


def selected(data: Dataset[Labelled], choice: Choice) -> Iterator[Labelled]:
    """The rows that are chosen, in their order.

    Of more than the limit those with the smallest hashes of what they hold are taken, so that the
    same rows stand for the data whatever their order is; the data are read twice then.
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


def cases_of_pages(rows: Iterable[LabelledPage], on_progress: Progress | None = None) -> Cases:
    """The pages parsed; only their URLs are known of their surroundings."""
    cases: list[Case] = []
    ticks, cpu_ns = _Ticks("parsing", None, on_progress), 0
    for row in rows:
        before = time.process_time_ns()
        page = parse_page(row.body, content_type=None, url=row.url or _NO_ADDRESS)
        cpu_ns += time.process_time_ns() - before
        cases.append(Case(row.language, row.kind, page, Surroundings(url=row.url)))
        ticks.tell(len(cases))
    return Cases("pages", tuple(cases), cpu_ns / _MS / len(cases) if cases else float("nan"))


def cases_of_texts(rows: Iterable[LabelledText], *, seed: int | None = None) -> Cases:
    """The texts as pages; with a seed their surroundings are simulated as in `surroundings`."""
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
    """Simulated surroundings of a short page that holds a text, always the same for that text.

    Up to ten inlinks, 4.0 on average and each number rarer than the one before, from pages of
    1,000 characters. Each is in the language of the text with a probability of 0.95 (counted on
    799 links, Hayati 2004, 5.3), else in another of `languages`. The URL is in a domain that is no
    country's.
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
    """The methods of those names, and the reasons why others are left out.

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
    """What a method answers about each case.

    One case of each language goes before and is not timed, so that the time of reading files is
    not in the figure.
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
    """Tells how far something has come, ten times a second at most."""

    def __init__(self, what: str, total: int | None, on_progress: Progress | None) -> None:
        self._what = what
        self._total = total
        self._on_progress = on_progress
        self._told = 0.0

    def tell(self, done: int) -> None:
        if self._on_progress and (now := time.monotonic()) > self._told + _STEP_S:
            self._on_progress(self._what, done, self._total)
            self._told = now
