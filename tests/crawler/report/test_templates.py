"""HTML files: texts from the Web stay texts."""

import json
import sys
from pathlib import Path
from subprocess import run

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from crawler.report.plots import Plot
from crawler.report.table import Table
from crawler.report.templates import render


def comparison(text: str) -> BeautifulSoup:
    """A page that has a text in every place where a text can be."""
    table = Table(text, (text, "b"), [(text, text)], paper=[(text,)], notes=[text], text_columns=2)
    html = render(
        "comparison.html",
        title=text,
        heading=text,
        lead=text,
        figures=[(text, text)],
        plots=[Plot(title=text, svg="<svg></svg>", caption=text, table=table)],
        tables=[table],
        paper=text,
    )
    return BeautifulSoup(html, "html.parser")


@settings(deadline=None)
@given(st.text(max_size=50))
def test_any_text_stays_text(text: str) -> None:
    elements = [element.name for element in comparison(text).find_all(True)]
    assert elements == [element.name for element in comparison("plain").find_all(True)]


@pytest.mark.parametrize(
    "text", ['"><script>alert(1)</script>', "<img src=x onerror=alert(1)>", "{{ 7 * 7 }}", "&lt;b"]
)
def test_hostile_text_is_shown_as_it_is(text: str) -> None:
    soup = comparison(text)
    assert not soup.find_all(["script", "img"])
    shown = [cell.get_text() for cell in soup.find_all("td")]
    assert shown == [text] * 6


def test_a_letter_that_hides_others_is_shown_as_a_question_mark() -> None:
    assert comparison("x\u202egpj.exe").h1.get_text() == "x?gpj.exe"  # type: ignore[union-attr]


def test_a_table_has_its_texts_left_its_notes_below_and_the_paper_apart() -> None:
    soup = comparison("t")
    table = soup.select("section .table")[-1]
    assert [cell.get("class") for cell in table.find_all("td")] == [["text"]] * 3
    assert len(table.select("tr.paper")) == 1
    note = table.find_next_sibling("p")
    assert note is not None
    assert note.get_text() == "t"


def test_a_table_without_rows_is_not_shown() -> None:
    html = render(
        "comparison.html",
        **dict.fromkeys(("title", "heading", "lead", "paper"), ""),
        figures=[],
        plots=[],
        tables=[Table("nothing", ("a", "b"), [])],
    )
    assert "nothing" not in html
    assert "<table" not in html


def test_a_value_that_a_template_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("comparison.html", title="t")


def test_a_crawl_loads_no_plots_and_no_templates_before_its_end() -> None:
    code = (
        "import sys, json, crawler.report.crawl_page, crawler.report.crawl_tables;"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    root = Path(__file__).parents[3]
    done = run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert not {"matplotlib", "jinja2", "scrapy"} & set(json.loads(done.stdout))
