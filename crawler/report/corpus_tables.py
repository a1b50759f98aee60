"""The figures of a corpus as tables."""

from crawler.corpus.building import CorpusSummary
from crawler.report.formatting import language_name
from crawler.report.printer import Printer
from crawler.report.table import Table, counts_table

_MOST = 10


def print_corpus(corpus: CorpusSummary, printer: Printer | None = None) -> None:
    """Print what a corpus has, and what was left out and why."""
    printer = printer or Printer()
    rate = corpus.as_dict()["words_per_megabyte"]
    rows = [
        ("pages", corpus.pages),
        ("words", corpus.words),
        ("words per downloaded MB", None if rate is None else round(rate)),
        ("copies of other pages", corpus.copies),
        ("lines that hosts repeat", corpus.repeated_lines),
        ("extractor", corpus.extractor),
    ]
    printer.table(Table("Corpus", ("figure", "value"), rows))
    named = {language_name(code): number for code, number in corpus.languages.items()}
    title = "Languages of paragraphs"
    printer.table(counts_table(title, ("language", "paragraphs"), named, _MOST))
    title = "Pages that were left out"
    printer.table(counts_table(title, ("reason", "pages"), +corpus.left_out, _MOST))
