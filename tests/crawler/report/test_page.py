"""The page of a report: texts from the Web stay texts."""

from functools import cache
from io import StringIO
from itertools import pairwise

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.markdown import markdown
from langfocus.crawler.report.formatting import duration, printable, size
from langfocus.crawler.report.page import Chart, Command, Part, Report
from langfocus.crawler.report.table import Printer, Table, counts_table


def page_of(text: str) -> BeautifulSoup:
    """A page that has a text in every place where a text can be."""
    table = Table(text, (text, "b"), [(text, text)], paper=[(text,)], notes=[text], text_columns=2)
    lines = {text: [(1.0, 1.0), (2.0, 3.0)], "other": [(1.0, 2.0)]}
    chart = Chart(title=text, lines=lines, x_label=text, y_label=text, caption=text, table=table)
    report = Report(title=text, lead=text, cards=[(text, text)], parts=[chart, table, text])
    return BeautifulSoup(report.html(), "html.parser")


@cache
def plain_elements() -> list[str]:
    return [element.name for element in page_of("plain").find_all(True)]


@settings(deadline=None)
@given(st.text(min_size=1, max_size=50))
def test_any_text_stays_text(text: str) -> None:
    elements = [element.name for element in page_of(text).find_all(True)]
    assert elements == plain_elements()


@pytest.mark.parametrize(
    "text", ['"><script>alert(1)</script>', "<img src=x onerror=alert(1)>", "{{ 7 * 7 }}", "&lt;b"]
)
def test_hostile_text_is_shown_as_it_is(text: str) -> None:
    soup = page_of(text)
    assert not soup.find_all(["script", "img"])
    assert [cell.get_text() for cell in soup.find_all("td")] == [text] * 6
    assert text in [label.get_text() for label in soup.select(".labels span")]
    assert page_of("x\u202egpj.exe").h1.get_text() == "x?gpj.exe"  # type: ignore[union-attr]


def test_a_table_has_its_texts_left_its_notes_below_and_the_paper_apart() -> None:
    table = page_of("t").select("section .table")[-1]
    assert [cell.get("class") for cell in table.find_all("td")] == [["text"]] * 3
    assert len(table.select("tr.paper")) == 1
    note = table.find_next_sibling("p")
    assert note is not None
    assert note.get_text() == "t"


def test_a_column_of_shares_has_bars_by_its_longest() -> None:
    table = Table("t", ("", "share"), [("a", 0.2), ("b", 0.05), ("c", None)], [("paper", 0.4)])
    soup = BeautifulSoup(Report(title="t", lead="", parts=[table]).html(), "html.parser")
    bars = [cell.get("style") for cell in soup.select("td:last-child")]
    assert bars == ["--bar:50.0%", "--bar:12.5%", None, "--bar:100.0%"]


def test_the_tables_of_a_report_are_those_with_rows_and_those_of_its_charts() -> None:
    one, other = (Table(name, ("a",), [("b",)]) for name in ("one", "other"))
    chart, empty = (
        Chart(title="c", lines={}, y_label="y", table=other),
        Table("nothing", ("a",), []),
    )
    report = Report(title="t", lead="", parts=[one, chart, empty, "text"])
    assert report.tables() == [one, other]
    assert "nothing" not in report.html()


def test_equal_lines_are_one_and_each_has_a_colour_of_its_own() -> None:
    chart = Chart(
        title="c",
        lines={"a": [(0, 1), (10, 2)], "b": [(0, 1), (10, 2)], "c": [(5, None), (8, 4)], "d": []},
        y_label="y",
    )
    assert [line.label for line in chart.drawn] == ["c", "a = b"]
    assert len({line.hue for line in chart.drawn}) == 2
    assert [line.path for line in chart.drawn] == [
        "M80.00 0.00h0",
        "M0.00 75.00h0L100.00 50.00",
    ]
    assert [tick.text for tick in chart.y_ticks] == ["0", "1", "2", "3", "4"]
    assert [tick.text for tick in chart.x_ticks] == ["0", "2", "4", "6", "8", "10"]


def test_a_band_lies_around_its_line_and_a_part_without_a_figure_has_no_title() -> None:
    bands = {"a": [(0, 0.5, 1.5), (5, None, None), (10, 1.5, 2.0)]}
    chart = Chart(title="c", lines={"a": [(0, 1), (10, 2)]}, bands=bands, y_label="y")
    assert chart.drawn[0].band == "M0.00 25.00h0L100.00 0.00L100.00 25.00L0.00 75.00"
    bare = Chart(title="bare", lines={"a": [(0, None)]}, y_label="y")
    empty = Table("none", ("a",), [])
    parts: list[Part] = [chart, bare, empty, Command("asked", ""), Command("do", "x 'y'")]
    soup = BeautifulSoup(Report(title="t", lead="", parts=parts).html(), "html.parser")
    assert [heading.get_text() for heading in soup.find_all("h2")] == ["c", "do"]
    assert [code.get_text() for code in soup.find_all("code")] == ["x 'y'"]


def test_a_chart_without_a_line_is_shown_as_its_table() -> None:
    table = Table("Rates", ("pages", "1-150"), [["svm", 0.5]])
    for more, is_drawn in (([], False), ([(225.0, 0.4)], True)):
        lines = {"svm": [(75.0, 0.5), *more], "bfs": [(75.0, 0.1)]}
        chart = Chart(title="Rates", lines=lines, y_label="", table=table)
        page = Report(title="x", lead="", parts=[chart]).html()
        assert ("<svg" in page, "<details" in page) == (is_drawn, is_drawn)
        assert "1-150" in page


def test_the_marked_row_is_shown_however_small_it_is() -> None:
    table = counts_table(
        "t", ("language", "pages"), {"a": 3, "b": 2, "c": 1, "d": 0}, 1, marked="d"
    )
    assert [row[:2] for row in table.rows] == [("a", 3), ("d", 0), ("2 others", 3)]
    soup = BeautifulSoup(Report(title="t", lead="", parts=[table]).html(), "html.parser")
    assert [row.get_text().split() for row in soup.select("tr.marked")] == [
        ["d", "target", "0", "0.0", "%"]
    ]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_labels_keep_their_order_and_a_line_of_space(ends: list[float]) -> None:
    lines = {str(number): [(1.0, end)] for number, end in enumerate(ends)}
    chart = Chart(title="c", lines=lines, y_label="y", is_share=True)
    places = [line.label_at for line in chart.drawn]
    room = min(6.0, 100 / len(places))
    assert all(after - before > room - 1e-6 for before, after in pairwise(places))
    assert places[0] > -room
    assert places[-1] <= 100


def test_a_label_of_two_lines_has_more_space() -> None:
    names = ("short", "bfs both-conservative T=5 = soft both-conservative T=5", "long")
    lines = {name: [(1.0, 0.5 + number / 1e3)] for number, name in enumerate(names)}
    places = [line.label_at for line in Chart(title="c", lines=lines, y_label="y").drawn]
    assert [after - before for before, after in pairwise(places)] == pytest.approx([9, 9])


def test_a_table_stands_beside_another_only_if_its_figures_fit_half_of_a_page() -> None:
    short = Table("short", ("kind", "pages", "share"), [("relevant", 9, 0.5)])
    wide = Table("wide", ("kind", "all", "others"), [("relevant", "1,234 (5 %)" * 2, "9" * 20)])
    soup = BeautifulSoup(Report(title="t", lead="", parts=[short, wide]).html(), "html.parser")
    assert [section.get("class") for section in soup.select("section")] == [["narrow"], None]


@pytest.mark.parametrize(
    ("most", "is_share", "ticks"),
    [
        (0, False, ["0", "1"]),
        (7, False, ["0", "2", "4", "6", "8"]),
        (1234, False, ["0", "250", "500", "750", "1,000", "1,250"]),
        (1.0, True, ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]),
        (0.97, True, ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]),
        (0.012, True, ["0 %", "0.25 %", "0.5 %", "0.75 %", "1 %", "1.25 %"]),
    ],
)
def test_an_axis_has_round_numbers(most: float, is_share: bool, ticks: list[str]) -> None:
    chart = Chart(title="c", lines={"a": [(1, most)]}, y_label="y", is_share=is_share)
    assert [tick.text for tick in chart.y_ticks] == ticks


CELLS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=9)


class Terminal(StringIO):
    """A stream that reports to be a terminal."""

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
