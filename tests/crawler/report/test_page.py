"""The page of a report: texts from the Web stay texts."""

import json
import sys
from pathlib import Path
from subprocess import run

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.report.page import Page, Section
from crawler.report.plots import Plot
from crawler.report.table import Table


def page_of(text: str) -> BeautifulSoup:
    """A page that has a text in every place where a text can be."""
    table = Table(text, (text, "b"), [(text, text)], paper=[(text,)], notes=[text], text_columns=2)
    plot = Plot(
        name="p", title=text, map="<svg></svg>", caption=text, table=table, shades=[(0.5, text)]
    )
    section = Section(title=text, plots=[plot], notes=[text], tables=[table, table])
    page = Page(title=text, lead=text, cards=[(text, text)], parts=[section, plot, table, text])
    return BeautifulSoup(page.html(), "html.parser")


@settings(deadline=None)
@given(st.text(min_size=1, max_size=50))
def test_any_text_stays_text(text: str) -> None:
    elements = [element.name for element in page_of(text).find_all(True)]
    assert elements == [element.name for element in page_of("plain").find_all(True)]


@pytest.mark.parametrize(
    "text", ['"><script>alert(1)</script>', "<img src=x onerror=alert(1)>", "{{ 7 * 7 }}", "&lt;b"]
)
def test_hostile_text_is_shown_as_it_is(text: str) -> None:
    soup = page_of(text)
    assert not soup.find_all(["script", "img"])
    shown = [cell.get_text() for cell in soup.find_all("td")]
    assert shown == [text] * 15


def test_a_letter_that_hides_others_is_shown_as_a_question_mark() -> None:
    assert page_of("x\u202egpj.exe").h1.get_text() == "x?gpj.exe"  # type: ignore[union-attr]


def test_a_table_has_its_texts_left_its_notes_below_and_the_paper_apart() -> None:
    soup = page_of("t")
    table = soup.select("section .table")[-1]
    assert [cell.get("class") for cell in table.find_all("td")] == [["text"]] * 3
    assert len(table.select("tr.paper")) == 1
    note = table.find_next_sibling("p")
    assert note is not None
    assert note.get_text() == "t"


def test_a_table_without_rows_is_not_shown() -> None:
    page = Page(title="t", lead="", parts=[Table("nothing", ("a", "b"), [])])
    assert "nothing" not in page.html()
    assert "<table" not in page.html()
    assert not page.tables()


def test_the_tables_of_a_page_are_those_of_its_plots_too() -> None:
    one, other, third = (Table(name, ("a",), [("b",)]) for name in ("one", "other", "third"))
    plot = Plot(name="p", title="p", table=other)
    section = Section(title="s", plots=[plot], tables=[third], is_folded=True)
    assert Page(title="t", lead="", parts=[one, section, "text"]).tables() == [one, other, third]


def test_a_crawl_loads_no_plots_and_no_templates_before_its_end() -> None:
    code = (
        "import sys, json, crawler.report.crawl;"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    root = Path(__file__).parents[3]
    done = run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert not {"matplotlib", "jinja2", "scrapy"} & set(json.loads(done.stdout))
