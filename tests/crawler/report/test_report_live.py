"""The live line, with a clock that stands still unless a test moves it."""

import re
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.base import Counts
from crawler.report.progress import Display, LiveLine


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class Crawl:
    """Counts pages and tells them to a line; a second passes when a test says so."""

    def __init__(self, stream: StringIO, *, pages: int = 0, is_census: bool = False) -> None:
        self.now = 500.0
        self.pages = self.labelled = self.relevant = pages
        display = Display(stream, lambda: self.now)
        self.line = LiveLine(
            display, lambda: self.now, "de svm", self.counts(), is_census=is_census
        )

    def counts(self, queued: int = 3, hosts: int = 1) -> Counts:
        return Counts(queued, 0, hosts, self.pages, self.labelled, self.relevant)

    def page(self, is_relevant: bool | None, *, seconds: float = 0.0) -> None:
        self.pages += 1
        self.labelled += is_relevant is not None
        self.relevant += is_relevant is True
        self.line.record(is_relevant)
        self.now += seconds
        self.line.show(self.counts())

    def text(self) -> str:
        return self.line.text(self.now)


def screen(stream: Terminal) -> list[str]:
    """The lines that a terminal of 80 columns shows now, without its cursor."""
    lines, at = [""], 0
    for mark, text in re.findall(
        r"(\x1b\[[?\d]*[A-Za-z]|[\r\n])|([^\x1b\r\n]+)", stream.getvalue()
    ):
        if mark == "\n":
            at += 1
            lines += [""] * (at == len(lines))
        elif mark == "\x1b[1A":
            at -= 1
        elif mark == "\x1b[2K":
            lines[at] = ""
        lines[at] += text
    return [line for line in lines if line]


@pytest.fixture(autouse=True)
def _has_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def test_the_line_names_every_figure_and_a_narrow_terminal_keeps_hosts_and_speed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawl = Crawl(StringIO(), pages=611)
    for number in range(201):
        crawl.page(number % 100 != 0)
    crawl.now += 5
    assert crawl.text() == (
        "de svm  812 pages  harvest 99.6 % (last 200: 99.0 %)  queue 3  hosts 1  40.2 pages/s"
    )
    monkeypatch.setenv("COLUMNS", "60")
    narrow = Crawl(Terminal(), pages=1_012_345)
    assert narrow.text() == "de svm  1,012,345 pages  100.0 %  hosts 1  0.0/s"


def test_pages_without_a_label_are_pages_but_in_no_rate() -> None:
    crawl = Crawl(StringIO())
    assert "0 pages  harvest - (last 200: -)" in crawl.text()
    crawl.page(None)
    assert "1 pages  harvest - (last 200: -)" in crawl.text()
    crawl.page(True)
    crawl.page(False)
    assert "3 pages  harvest 50.0 % (last 200: 50.0 %)" in crawl.text()
    census = Crawl(StringIO(), is_census=True)
    census.page(None)
    census.page(False)
    assert "2 pages  with a language 50.0 %  queue" in census.text()


@given(st.lists(st.sampled_from([True, False, None]), max_size=500))
def test_the_last_200_are_the_last_200(labels: list[bool | None]) -> None:
    crawl = Crawl(StringIO())
    for label in labels:
        crawl.page(label)
    last = [label for label in labels[-200:] if label is not None]
    rate = f"{100 * sum(last) / len(last):.1f} %" if last else "-"
    assert f"(last 200: {rate})" in crawl.text()


def test_a_file_gets_one_plain_line_every_so_often() -> None:
    stream = StringIO()
    crawl = Crawl(stream)
    for _ in range(90):
        crawl.page(True, seconds=1)
    crawl.line.close()
    lines = stream.getvalue().splitlines()
    assert [line.split("  ")[1] for line in lines] == ["30 pages", "60 pages", "90 pages"]


def test_a_terminal_gets_one_line_in_place_that_fits_and_one_end() -> None:
    stream = Terminal()
    crawl = Crawl(stream)
    for _ in range(10):
        crawl.page(True, seconds=0.1)
    assert "\n" not in stream.getvalue()
    drawn = re.findall(r"de svm  [\d,]+ pages", stream.getvalue())
    assert drawn == [f"de svm  {pages} pages" for pages in (2, 4, 6, 8, 10)]
    crawl.line.close()
    crawl.line.close()
    assert screen(stream) == ["de svm  10 pages  100.0 %  hosts 1  10.0/s"]


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_closing_leaves_the_last_figures_once(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    stream = Terminal() if term == "dumb" else StringIO()
    crawl = Crawl(stream)
    crawl.page(True)
    crawl.line.close()
    crawl.line.close()
    crawl.now += 100
    crawl.line.show(crawl.counts())
    assert stream.getvalue().startswith("de svm  1 pages")
    assert stream.getvalue().count("\n") == 1


@pytest.mark.parametrize(("until", "then", "speed"), [(40, 5, "5.0/s"), (55, 0, "50.0/s")])
def test_the_speed_is_that_of_the_last_ten_seconds(until: int, then: int, speed: str) -> None:
    crawl = Crawl(Terminal())
    for second in range(60):
        for _ in range(100 if second < until else then):
            crawl.page(True)
        crawl.now += 1
        crawl.line.show(crawl.counts())
    assert crawl.text().rsplit("  ", 1)[1] == speed
