"""The tables of one crawl."""

from collections.abc import Mapping
from typing import Final, TextIO

from crawler.report.formatting import duration, language_name, number, percent, size
from crawler.report.harvest import Summary
from crawler.report.printer import Printer
from crawler.report.table import Table

_MOST_ROWS = 10
_ENDS: Final = {
    None: "running or killed",
    "finished": "finished (nothing was left to fetch)",
    "unanswered": "unanswered (no seed answered)",
    "expected": "expected (nothing expected in the language was left to fetch)",
}


def print_summary(summary: Summary, stream: TextIO | None = None) -> None:
    """Print the tables at the end of a crawl, to standard output by default."""
    printer = Printer(stream)
    title = f"{language_name(summary.lang)} ({summary.lang}), strategy {summary.strategy}"
    printer.table(Table(title, ("", "Run"), headline(summary)))
    printer.table(language_table(summary, _MOST_ROWS, name="language"))
    printer.table(
        Table("Outcomes", ("outcome", "URLs", "share"), shares(summary.outcomes, _MOST_ROWS))
    )
    for advice in summary.advice:
        printer.line(f"advice: {advice}")


def headline(summary: Summary) -> list[tuple[str, str]]:
    """The main figures of a run, as pairs of a name and a figure."""
    rows = [
        ("pages", f"{summary.pages:,}"),
        ("pages with a label", f"{summary.labelled:,}"),
        (f"relevant (in {language_name(summary.lang)})", f"{summary.relevant:,}"),
        ("harvest rate", percent(summary.harvest_rate)),
        ("harvest rate, last 200 pages", percent(summary.harvest_last_200)),
        ("pages without a label", f"{summary.unlabelled:,}"),
        ("hosts", f"{summary.hosts:,}"),
        ("most URLs of one host", f"{summary.max_urls_per_host:,}"),
        ("downloaded", size(summary.bytes)),
        ("time", duration(summary.seconds)),
        ("pages per second", number(summary.pages_per_second)),
        ("finish reason", finish(summary)),
    ]
    beyond = summary.counts.get("domain_full", 0) + summary.outcomes.get("domain_full", 0)
    if beyond:
        rows.insert(8, ("URLs beyond the cap of their domain", f"{beyond:,}"))
    rows += calibration_rows(summary)
    rows += change_rows(summary)
    if summary.coverage is not None:
        rows.insert(5, ("coverage", percent(summary.coverage)))
    if summary.copies:
        rows.insert(3, ("copies (their text stands on many domains)", f"{summary.copies:,}"))
    rows[2:2] = method_rows(summary)
    return rows


def method_rows(summary: Summary) -> list[tuple[str, str]]:
    """How many labels each kind of evidence gave, the most frequent first."""
    return [(f"of these by {name}", f"{count:,}") for name, count in summary.methods.items()]


def calibration_rows(summary: Summary) -> list[tuple[str, str]]:
    """The errors of the probabilities; none if the ordering does not learn."""
    if summary.brier is None or summary.calibration_error is None:
        return []
    return [
        ("Brier score of the probabilities", f"{summary.brier:.4f}"),
        ("calibration error", percent(summary.calibration_error)),
    ]


def change_rows(summary: Summary) -> list[tuple[str, str]]:
    """The changes since an earlier run; none if there is no such run."""
    changes = summary.changes
    if changes is None:
        return []
    stayed = f"{changes.stayed:,} ({changes.not_modified:,} by the server's word)"
    numbers = (
        ("changed", changes.changed),
        ("vanished", changes.vanished),
        ("moved", changes.moved),
        ("not reached", changes.failed),
        ("not asked for", changes.not_asked),
    )
    return [
        ("pages of the earlier run", f"{changes.earlier:,}"),
        ("of these stayed", stayed),
        *((f"of these {name}", f"{count:,}") for name, count in numbers),
        ("new pages", f"{changes.new:,}"),
    ]


def finish(summary: Summary) -> str:
    """Why a run ended; it is unknown during the run and after a kill."""
    return _ENDS.get(summary.finish_reason) or str(summary.finish_reason)


def language_table(summary: Summary, most: int, *, name: str = "") -> Table:
    """The most frequent languages with their share of the labelled pages; `name` is the header."""
    named = {f"{language_name(code)} ({code})": n for code, n in summary.languages.items()}
    return Table("Languages", (name, "pages", "share"), shares(named, most))


def shares(counts: Mapping[str, int], most: int = _MOST_ROWS) -> list[tuple[str, str, str]]:
    """The first `most` counts as (name, count, share of all); the others together in one row."""
    total = sum(counts.values())
    shown = dict(list(counts.items())[:most])
    rest = total - sum(shown.values())
    if rest:
        shown[f"{len(counts) - most} others"] = rest
    return [(label, f"{count:,}", percent(count / total)) for label, count in shown.items()]
