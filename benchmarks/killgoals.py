"""What is wrong with a run whose processes were killed and that ended when a goal was reached.

Another crawl that reaches the goal may have other pages. So the end is judged by the definition of
the goal, and each record by the web.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from benchmarks.killweb import HOST_CAP, KillWeb
from tests.support.crawls import rows, summary

LANGUAGE: Final = "de"

Labels = Sequence[tuple[str, str | None, int]]
"""Outcome, language and words of each record, in the order of settling."""

_LABELS = """\
SELECT outcome, IIF(is_copy, 'copy', language), COALESCE(words_read, 0) FROM pages ORDER BY id"""


def given_goals(arguments: Iterable[str]) -> dict[str, float]:
    """Return the goals with a number among the arguments of a crawl, NAME=VALUE."""
    found = dict(argument.split("=", 1) for argument in arguments)
    return {name: float(found[name]) for name in _REACHED if name in found}


def misended(run: Path, goals: Mapping[str, float]) -> list[str]:
    """Return what is wrong with the end of a run that had to reach one of some goals."""
    reason, labels = summary(run)["finish_reason"], rows(run, _LABELS)
    if reason not in goals:
        return [f"ended by {reason!r}, not by {' or '.join(goals)}"]
    wrong = [f"{name}={goals[name]:g}: beyond it" for name in goals if _beyond(name, goals, labels)]
    if not _REACHED[reason](labels, goals[reason]):
        wrong.append(f"{reason}={goals[reason]:g}: not reached")
    return wrong


def _beyond(name: str, goals: Mapping[str, float], labels: Labels) -> bool:
    """Return True if the goal was already reached without the last record that counts for it."""
    return _REACHED[name](labels[: _before(name, labels)], goals[name])


def _before(name: str, labels: Labels) -> int:
    """Return the number of records before the last that counts for a goal.

    After the goal of words no record may follow; after those of pages and relevant
    pages, others may that were in progress.
    """
    counts = _COUNTS_FOR.get(name)
    if counts is None:
        return len(labels) - 1
    return max((n for n, label in enumerate(labels) if counts(label)), default=0)


def _is_page(label: tuple[str, str | None, int]) -> bool:
    return label[0] == "page"


def _is_relevant(label: tuple[str, str | None, int]) -> bool:
    return _is_page(label) and label[1] == LANGUAGE


_REACHED: Final[Mapping[str, Callable[[Labels, float], bool]]] = {
    "pages": lambda labels, number: sum(map(_is_page, labels)) >= number,
    "relevant": lambda labels, number: sum(map(_is_relevant, labels)) >= number,
    "words": lambda labels, number: (
        sum(words for _, language, words in labels if language == LANGUAGE) >= number
    ),
}
_COUNTS_FOR: Final = {"pages": _is_page, "relevant": _is_relevant}


def missing_links(web: KillWeb, run: Path, records: Iterable[str]) -> list[str]:
    """Return the URLs that the settled ones lead to and that are neither queued nor settled."""
    known = {url for (url,) in rows(run, "SELECT url FROM urls")}
    found = {link for url in records for link in web.leads_to(url)}
    wrong = [
        f"{url}: found, not in the queue"
        for url in found - known
        if not (web.is_crowded(url) or web.is_optional(url))
    ]
    taken = Counter(urlsplit(url).netloc for url in known)
    crowds: dict[str, set[str]] = defaultdict(set)
    for url in filter(web.is_crowded, found):
        crowds[urlsplit(url).netloc].add(url)
    return wrong + [
        f"{host}: {taken[host]} URLs of {len(urls)} that were found"
        for host, urls in crowds.items()
        if taken[host] < min(HOST_CAP, len(urls))
    ]
