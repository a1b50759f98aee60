"""The pages of runs whose language is sure from the page itself, to learn from their URLs.

A page whose language came from its URL or from its neighbours, as some methods have it, is left
out: a URL model that learned from it would learn its own guesses.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Final, NamedTuple

from crawler.errors import RunFolderError
from crawler.run import reading

LEAST_CONFIDENCE: Final = 0.9
"""Confidence from which a label is sure: of 1,546 labelled real pages 1,455 reach it, all of them
right. From 0.98 only 1,061 do, and a model of the
pages of one crawl is worse for it."""

OF_PAGE: Final = frozenset(
    {"text", "text+declaration", "text+encoding", "declaration", "encoding", "fasttext"}
)
"""Evidence of the page itself; others are its URL and the pages around it."""

_PAGES: Final = (
    "SELECT url, language, status BETWEEN 200 AND 299, confidence, method FROM pages"
    " WHERE outcome = 'page' ORDER BY id"
)


class VerifiedPage(NamedTuple):
    """A URL, the language of its page, and the name of its run's folder."""

    url: str
    language: str
    run: str


@dataclass(slots=True)
class VerifiedPages:
    """The sure pages of some runs, each URL once, in the order of the runs.

    Iteration raises `RunFolderError` for a folder without a readable run.
    """

    runs: Sequence[Path]
    reasons: Counter[str] = field(default_factory=Counter)
    """Reason -> pages that were left out, in the latest iteration so far."""

    def __iter__(self) -> Iterator[VerifiedPage]:
        """Yield the pages, and count those that are left out in `reasons`."""
        self.reasons.clear()
        counts = Counter(run.resolve().name for run in self.runs)
        for run in self.runs:
            # With the name of the parent folder where two names are alike.
            path = run.resolve()
            name = path.name if counts[path.name] == 1 else f"{path.parent.name}/{path.name}"
            with reading(run) as connection:
                for url, language, *facts in connection.execute(_PAGES):
                    reason = _fault(language, *facts)
                    if reason:
                        self.reasons[reason] += 1
                    else:
                        yield VerifiedPage(url, language, name)

    def targets(self) -> list[str]:
        """Return the languages that the runs were crawled for, each once; a census has none."""
        found: dict[str, None] = {}
        for run in self.runs:
            with reading(run) as connection:
                row = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
            if row and row[0]:
                found[row[0]] = None
        return list(found)


def named_runs(names: Sequence[str]) -> list[Path]:
    """Return the run folders that names or patterns (`runs/is-*`) give, each once.

    Folders of a pattern without a run are left out. Raises `RunFolderError` for a pattern without
    any run and for a name that is no run.
    """
    found: dict[Path, None] = {}
    for name in names:
        # A name with a bracket may be that of a folder, so it is tried first.
        paths = [Path(name), *map(Path, sorted(glob(name)))]  # noqa: PTH207  a Path has no absolute patterns
        runs = [path for path in paths if (path / "run.db").is_file()]
        if not runs:
            raise RunFolderError(f"{name}: no folder of a run; it has no run.db")
        found |= dict.fromkeys(runs)
    return list(found)


def _fault(
    language: str | None, is_success: int | None, confidence: float | None, method: str | None
) -> str:
    """Return why a page is no example, "" if it is one."""
    if not is_success:
        return "status of an error"
    if language is None:
        return "no language"
    if method not in OF_PAGE:
        return f"told by {method}"
    return "doubtful" if (confidence or 0) < LEAST_CONFIDENCE else ""
