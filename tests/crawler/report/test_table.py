"""One table in a terminal, a pipe and Markdown."""

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from crawler.report.formatting import duration, printable, size
from crawler.report.table import Printer, Table, counts_table, markdown

CELLS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=9)


class Terminal(StringIO):
    """A stream that says that it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def printed(table: Table, stream: StringIO, width: int = 80) -> str:
    Printer(stream, width=width).table(table)
    return stream.getvalue()


def test_text_is_left_figures_are_right_and_rows_of_a_paper_follow_the_others() -> None:
    rows = [("ours", "b", "1")]
    table = Table("t", ("name", "code", "pages"), rows, [("theirs", "c", "2")], text_columns=2)
    lines = printed(table, StringIO()).splitlines()
    assert lines[4:6] == ["| ours   | b    |     1 |", "| theirs | c    |     2 |"]
    assert markdown(table)[1:] == ["| :-- | :-- | --: |", "| ours | b | 1 |", "| theirs | c | 2 |"]


def test_notes_follow_the_table_in_lines_that_fit() -> None:
    table = Table("t", ("n",), [("1",)], notes=["word " * 30])
    *_, first, second, last = printed(table, StringIO()).splitlines()
    assert first == second == f"  {'word ' * 15}".rstrip()
    assert last == ""
    assert markdown(table)[-1] == "word " * 30


def test_a_table_without_rows_is_not_printed_and_small_counts_are_put_together() -> None:
    assert printed(Table("t", ("a",), [], notes=["n"]), StringIO()) == ""
    counts = {chr(97 + kind): 20 - kind for kind in range(13)}
    table = counts_table("Outcomes", ("outcome", "URLs"), counts, 10)
    assert table.texts[-2:] == [["j", "11", "6.0 %"], ["3 others", "27", "14.8 %"]]


def test_a_terminal_gets_unicode_and_a_pipe_gets_ascii() -> None:
    table = Table("Größe", ("n",), [("5 ±1",)])
    assert "Größe" in printed(table, Terminal())
    assert "±" in printed(table, Terminal())
    plain = printed(table, StringIO())
    assert plain.isascii()
    assert "5 +-1" in plain


@given(st.lists(CELLS, min_size=2, max_size=2))
def test_a_cell_of_markdown_is_one_cell(cells: list[str]) -> None:
    line = markdown(Table("t", ("a", "b"), [cells]))[2]
    unescaped = line.replace("\\|", "")
    assert unescaped.count("|") == 3


def test_text_that_looks_like_markup_is_shown_as_it_is() -> None:
    stream = StringIO()
    printer = Printer(stream)
    printer.table(Table("[bold]t", ("a", "b"), [("[red]x[/red]", ":smile:")]))
    printer.line("[/nothing]")
    assert "[red]x[/red]" in stream.getvalue()
    assert ":smile:" in stream.getvalue()
    assert stream.getvalue().endswith("[/nothing]\n")


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
