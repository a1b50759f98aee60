"""Test cases from labelled pages and texts, and method answers with their CPU time.

Each page is parsed once and identified once by each method. `page_tables` formats the answers.
"""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from langfocus.classifiers.datasets.texts import LabelledPage, LabelledText
from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.pages import methods
from langfocus.classifiers.pages.method import (
    MIN_REFERENCE_LENGTH,
    NOTHING,
    PageMethod,
    Surroundings,
)
from langfocus.classifiers.pages.parse import MAX_CHARACTERS, ParsedPage, parse_page

DEFAULT_METHODS: Final = ("composite", "langdetect", "cavnar-trenkle", "nfc", "cai", "tamura")
MAIN_KINDS: Final = ("sentence", "udhr-paragraph")
"""Kinds of texts measured together: sentences, as on pages."""
UNKNOWN: Final = "unknown"
"""Key of a missing answer in answer counts."""
SHORT: Final = ((5, 24), (25, 49))
"""Least and greatest length of pages cut by `shortened`, in turn, in characters."""

Progress = Callable[[str, int, int | None], None]
"""Called with the task name, the finished steps, and the total steps (None if unknown)."""

Labelled = TypeVar("Labelled", LabelledText, LabelledPage)

_MS: Final = 1e6
_NAN: Final = float("nan")
_NO_ADDRESS: Final = "http://page.invalid/"


@dataclass(frozen=True, slots=True)
class Case:
    """A parsed page with its surroundings and the correct answer."""

    language: str
    kind: str
    page: ParsedPage
    surroundings: Surroundings = NOTHING

    @property
    def characters(self) -> int:
        """Length of the kept visible text."""
        return len(self.page.text)


@dataclass(frozen=True)
class Cases:
    """Test cases of a study: pages or texts."""

    sort: str
    """`pages` or `texts`."""
    cases: tuple[Case, ...]
    parse_ms: float = _NAN
    """CPU time of parsing a page; nan for texts."""

    @property
    def main_places(self) -> list[int]:
        """Case indices of the main kinds; every case index without main kinds."""
        main = [place for place, case in enumerate(self.cases) if case.kind in MAIN_KINDS]
        return main or list(range(len(self.cases)))


@dataclass
class MethodRun:
    """A method's answers for cases, in case order."""

    name: str
    knows: frozenset[str]
    """Possible answers; empty if every language is possible."""
    cases: Sequence[Case]
    answers: list[str | None] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    """Names of the deciding evidence; `none` without an answer."""
    cpu_ns: int = 0

    @property
    def ms_per_page(self) -> float:
        """Return the CPU time per page without parsing; nan without cases."""
        return self.cpu_ns / _MS / len(self.answers) if self.answers else _NAN

    def known(self, places: Iterable[int]) -> list[int]:
        """Return the places whose language is a possible answer."""
        return [at for at in places if not self.knows or self.cases[at].language in self.knows]

    def answers_in(self, language: str) -> list[int]:
        """Return the places of cases answered with a language."""
        return [at for at, answer in enumerate(self.answers) if answer == language]

    def decided_by(self, evidence: str) -> list[int]:
        """Return the places of cases decided by an evidence."""
        return [at for at, kind in enumerate(self.decided) if kind == evidence]

    def answered(self, places: Iterable[int]) -> list[int]:
        """Return the places with an answer."""
        return [at for at in places if self.answers[at] is not None]

    def right(self, places: Iterable[int]) -> float:
        """Return the percentage of correct answers; nan without cases."""
        return percent(self.answers[at] == self.cases[at].language for at in places)

    def macro_right(self, places: Iterable[int]) -> float:
        """Return the mean of `right` over the cases' languages."""
        shares = [self.right(group) for group in grouped(self.cases, places).values()]
        return sum(shares) / len(shares) if shares else _NAN

    def confusion(self) -> dict[str, dict[str, int]]:
        """Language -> answer or UNKNOWN -> cases."""
        groups = grouped(self.cases, range(len(self.cases)))
        counts = {
            code: Counter(self.answers[at] or UNKNOWN for at in groups[code]) for code in groups
        }
        return {code: dict(counts[code].most_common()) for code in sorted(counts)}


def percent(flags: Iterable[bool]) -> float:
    """Return the percentage of true flags; nan without flags."""
    every = list(flags)
    return 100 * sum(every) / len(every) if every else _NAN


def grouped(
    cases: Sequence[Case],
    places: Iterable[int],
    by: Callable[[Case], str] = lambda case: case.language,
) -> dict[str, list[int]]:
    """Return places grouped by a property of their cases."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for place in places:
        groups[by(cases[place])].append(place)
    return groups


def in_languages(data: Iterable[Labelled], languages: Collection[str]) -> Iterator[Labelled]:
    """Return the rows in the languages, all rows without languages."""
    return (row for row in data if not languages or row.language in languages)


def cases_of_pages(
    rows: Iterable[LabelledPage],
    on_progress: Progress | None = None,
    around: Callable[[str], Surroundings] = Surroundings,
) -> Cases:
    """Return the parsed pages; `around` maps a URL to surroundings, by default to the URL alone."""
    cases: list[Case] = []
    cpu_ns = 0
    for row in rows:
        before = time.process_time_ns()
        page = parse_page(row.body, content_type=None, url=row.url or _NO_ADDRESS)
        cpu_ns += time.process_time_ns() - before
        cases.append(Case(row.language, row.kind, page, around(row.url)))
        if on_progress:
            on_progress("parsing", len(cases), None)
    return Cases("pages", tuple(cases), cpu_ns / _MS / len(cases) if cases else _NAN)


def cases_of_texts(rows: Iterable[LabelledText]) -> Cases:
    """Return the texts as pages."""
    return Cases("texts", tuple(Case(row.language, row.kind, text_page(row.text)) for row in rows))


def visible_text(row: LabelledText | LabelledPage) -> LabelledText:
    """Return a labelled text, or the visible text of a labelled page."""
    if isinstance(row, LabelledText):
        return row
    page = parse_page(row.body, content_type=None, url=row.url)
    return LabelledText(page.text, row.language, row.kind, row.url)


def text_page(text: str) -> ParsedPage:
    """Return a page with the visible text `text`, without links and declarations."""
    empty = parse_page(b"", content_type=None, url="")
    return replace(empty, text=" ".join(text.split())[:MAX_CHARACTERS])


def shortened(cases: Cases, judge: PageMethod, seed: int = 0) -> tuple[Cases, int]:
    """Return short pages, cut from longer texts, and the number of skipped pages.

    Each page keeps words from a place in its text: fewer than 25 characters, or 25 to 49, in turn
    (Hayati 2004, Table 5.1). A page is skipped if its text is shorter than MIN_REFERENCE_LENGTH
    characters, or if `judge` identifies a language other than its label: the words may then be
    untranslated. Declarations stay; links and neighbours are unchanged from the whole page.
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
    text = ""
    for word in words:
        if text and len(text) + 1 + len(word) > length:
            break
        text = f"{text} {word}".strip()[:length]
    return text if len(text) >= least else " ".join(words)[:length]


def found_methods(named: Sequence[str] = ()) -> list[PageMethod]:
    """Return the named methods, by default DEFAULT_METHODS.

    StudyError for an unknown name; MissingPackageError or ModelError if a method's package or file
    is missing.
    """
    if unknown := [name for name in named if not methods.METHODS.knows(name)]:
        known = ", ".join(methods.METHODS.names())
        raise StudyError(f"no method is called {unknown[0]!r}; choose one of: {known}")
    return [methods.method(name) for name in dict.fromkeys(named or DEFAULT_METHODS)]


def run_of(
    method: PageMethod, cases: Sequence[Case], on_progress: Progress | None = None
) -> MethodRun:
    """Return a method's answers for all cases.

    A case of each language is identified first without timing, to exclude file loading from the
    time.
    """
    for case in {case.language: case for case in cases}.values():
        method.identify(case.page, case.surroundings)
    run = MethodRun(method.name, method.languages, cases)
    for case in cases:
        before = time.process_time_ns()
        answer = method.identify(case.page, case.surroundings)
        run.cpu_ns += time.process_time_ns() - before
        run.answers.append(answer.language)
        run.decided.append(answer.method)
        if on_progress:
            on_progress(method.name, len(run.answers), len(cases))
    return run
