"""The figures of a corpus as tables."""

from crawler.corpus.building import CorpusSummary
from crawler.report.formatting import language_name, percent
from crawler.report.printer import Printer
from crawler.report.table import Table

_MOST = 10


def print_corpus(told: CorpusSummary, printer: Printer | None = None) -> None:
    """Print what a corpus has, and what was left out and why."""
    printer = printer or Printer()
    figures = told.as_dict()
    rate = figures["words_per_megabyte"]
    rows = [
        ("pages", f"{told.pages:,}"),
        ("words", f"{told.words:,}"),
        ("words per downloaded MB", "-" if rate is None else f"{rate:,.0f}"),
        ("copies of other pages", f"{told.copies:,}"),
        ("lines that hosts repeat", f"{told.repeated_lines:,}"),
        ("extractor", told.extractor),
    ]
    printer.table(Table("Corpus", ("figure", "value"), rows))
    paragraphs = told.languages.total()
    shares = [
        (language_name(code), f"{number:,}", percent(number / paragraphs))
        for code, number in told.languages.most_common(_MOST)
    ]
    printer.table(Table("Languages of paragraphs", ("language", "paragraphs", "share"), shares))
    rows = [(reason, f"{number:,}") for reason, number in (+told.left_out).most_common()]
    printer.table(Table("Pages that were left out", ("reason", "pages"), rows))
