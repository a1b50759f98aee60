"""The end-of-run table."""

from contextlib import closing
from io import StringIO
from typing import Any

from crawler.report.crawl_tables import print_summary, shares
from crawler.report.formatting import duration, printable, size
from crawler.report.harvest import summarise
from crawler.report.printer import Printer
from crawler.report.table import Table
from tests.support.report_run import Row, make_run


def printed(rows: list[Row], strategy: str = "svm", **meta: Any) -> str:
    stream = StringIO()
    with closing(make_run(None, rows, strategy=strategy, **meta)) as run:
        print_summary(summarise(run), stream)
    return stream.getvalue()


def cells(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_holds_the_figures_of_the_run() -> None:
    rows = [Row()] * 7 + [Row(language="en"), Row(language=None), Row(outcome="robots")]
    text = printed(rows)
    assert cells(text, "pages") == ["pages", "9"]
    assert cells(text, "pages without a label")[1] == "1"
    assert cells(text, "of these by ngrams")[1] == "8"
    assert cells(text, "harvest rate")[1] == "87.5 %"
    assert cells(text, "pages per second")[1] == "0.9"
    assert cells(text, "finish reason")[1] == "pages"
    assert cells(text, "English (en)")[1:] == ["1", "12.5 %"]
    assert cells(text, "robots")[1:] == ["1", "10.0 %"]


def test_a_pipe_gets_narrow_plain_ascii() -> None:
    text = printed([Row(language="nb"), Row(language="\x1b[31m" + "x" * 200)], strategy="\u2603")
    assert text.isascii()
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_run_that_nobody_ended_says_so() -> None:
    stream = StringIO()
    with closing(make_run(None, [Row()], sessions=[(1000.0, None, None)])) as run:
        print_summary(summarise(run), stream)
    assert cells(stream.getvalue(), "finish reason")[1] == "running or killed"


def test_an_empty_run_has_a_table() -> None:
    text = printed([])
    assert cells(text, "harvest rate")[1] == "-"
    assert "Languages" not in text


def test_text_that_looks_like_markup_is_shown_as_it_is() -> None:
    stream = StringIO()
    printer = Printer(stream)
    printer.table(Table("[bold]t", ("a", "b"), [("[red]x[/red]", ":smile:")]))
    printer.line("[/nothing]")
    assert "[red]x[/red]" in stream.getvalue()
    assert ":smile:" in stream.getvalue()
    assert stream.getvalue().endswith("[/nothing]\n")


def test_small_shares_are_put_together() -> None:
    counts = {chr(97 + number): 100 - number for number in range(13)}
    rows = shares(counts)
    assert len(rows) == 11
    assert rows[-1][:2] == ("3 others", str(90 + 89 + 88))


def test_units_suit_the_amount() -> None:
    assert [duration(s) for s in (0, 59.94, 60, 3599, 3600, 7265)] == [
        "0.0 s",
        "59.9 s",
        "1 min 0 s",
        "59 min 59 s",
        "1 h 0 min",
        "2 h 1 min",
    ]
    assert [size(n) for n in (0, 999, 1000, 5_250_000_000)] == ["0 B", "999 B", "1.0 kB", "5.2 GB"]
    assert printable("a\x1b[31mb\n\u202ec") == "a?[31mb??c"
