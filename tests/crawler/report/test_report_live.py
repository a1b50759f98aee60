"""The live line, with a clock that stands still unless a test moves it."""

import re
from collections.abc import Callable
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.report.live import LiveLine, Totals
from crawler.report.progress import Display


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def written(stream: Terminal) -> list[str]:
    """The beginnings of the lines that were drawn, one over the other."""
    return re.findall(r"de svm  [\d,]+ pages", stream.getvalue())


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


class Clock:
    def __init__(self) -> None:
        self.now = 500.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _has_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_line_names_every_figure(clock: Clock) -> None:
    live = LiveLine(Display(StringIO(), clock), clock, "de svm", Totals(611, 600, 578))
    for number in range(201):
        live.record(number % 100 != 0)
    clock.now += 5
    live.show(13204, 262)
    assert live.text(clock.now) == (
        "de svm  812 pages  harvest 96.9 % (last 200: 99.0 %)  "
        "queue 13,204  hosts 262  40.2 pages/s"
    )


def test_pages_without_a_label_are_pages_but_in_no_rate(clock: Clock) -> None:
    live = LiveLine(Display(StringIO(), clock), clock, "de svm")
    assert "0 pages  harvest - (last 200: -)" in live.text(clock.now)
    live.record(None)
    assert "1 pages  harvest - (last 200: -)" in live.text(clock.now)
    live.record(True)
    live.record(False)
    assert "3 pages  harvest 50.0 % (last 200: 50.0 %)" in live.text(clock.now)


@given(st.lists(st.sampled_from([True, False, None]), max_size=500))
def test_the_last_200_are_the_last_200(labels: list[bool | None]) -> None:
    live = LiveLine(Display(StringIO()), lambda: 0.0, "de svm")
    for label in labels:
        live.record(label)
    last = [label for label in labels[-200:] if label is not None]
    rate = f"{100 * sum(last) / len(last):.1f} %" if last else "-"
    assert f"(last 200: {rate})" in live.text(0.0)


def test_a_file_gets_one_plain_line_every_so_often(clock: Clock) -> None:
    stream = StringIO()
    live = LiveLine(Display(stream, clock, every_s=30), clock, "fr cctld")
    for _ in range(90):
        live.record(True)
        clock.now += 1
        live.show(10, 2)
    live.close()
    assert stream.getvalue() == (
        "fr cctld  30 pages  harvest 100.0 % (last 200: 100.0 %)  queue 10  hosts 2  1.0 pages/s\n"
        "fr cctld  60 pages  harvest 100.0 % (last 200: 100.0 %)  queue 10  hosts 2  1.0 pages/s\n"
        "fr cctld  90 pages  harvest 100.0 % (last 200: 100.0 %)  queue 10  hosts 2  1.0 pages/s\n"
    )


def test_a_terminal_gets_one_line_in_place_and_one_end(clock: Clock) -> None:
    stream = Terminal()
    live = LiveLine(Display(stream, clock, refresh_s=0.2), clock, "de svm")
    for _ in range(10):
        live.record(True)
        clock.now += 0.1
        live.show(3, 1)
    assert "\n" not in stream.getvalue()
    assert written(stream) == [
        "de svm  2 pages",
        "de svm  4 pages",
        "de svm  6 pages",
        "de svm  8 pages",
        "de svm  10 pages",
    ]
    live.close()
    live.close()
    assert screen(stream) == [
        "de svm  10 pages  harvest 100.0 % (last 200: 100.0 %)  queue 3  hosts 1  10.0 pages/s"
    ]


def test_the_line_fits_the_terminal(clock: Clock) -> None:
    stream = Terminal()
    live = LiveLine(Display(stream, clock), clock, "de svm", Totals(10**9, 10**9, 10**9))
    clock.now += 1
    live.show(10**9, 10**9)
    (line,) = screen(stream)
    assert len(line) <= 80


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    live = LiveLine(Display(stream, clock, every_s=30), clock, "de svm")
    live.record(True)
    live.close()
    assert stream.getvalue().startswith("de svm  1 pages")
    assert stream.getvalue().count("\n") == 1


def test_closing_leaves_the_last_figures_once(clock: Clock) -> None:
    stream = StringIO()
    live = LiveLine(Display(stream, clock, every_s=30), clock, "de svm")
    live.record(True)
    live.close()
    live.close()
    clock.now += 100
    live.show(1, 1)
    assert stream.getvalue().count("1 pages") == 1
    assert stream.getvalue().count("\n") == 1


def speed(clock: Clock, pages_in_second: Callable[[int], int]) -> str:
    live = LiveLine(Display(StringIO(), clock, every_s=1), clock, "de svm")
    for second in range(60):
        for _ in range(pages_in_second(second)):
            live.record(True)
        clock.now += 1
        live.show(0, 0)
    return live.text(clock.now).rsplit("  ", 1)[1]


def test_the_speed_is_that_of_the_last_ten_seconds(clock: Clock) -> None:
    assert speed(clock, lambda second: 100 if second < 40 else 5) == "5.0 pages/s"
    assert speed(clock, lambda second: 100 if second < 55 else 0) == "50.0 pages/s"


def test_a_narrow_terminal_keeps_hosts_and_speed(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    totals = Totals(1_012_345, 1_000_000, 990_000)
    line = LiveLine(Display(Terminal(), clock), clock, "de focus", totals)
    line.show(123_456, 98_765)
    text = line.fitting(clock())
    assert text == "de focus  1,012,345 pages  99.0 %  hosts 98,765  0.0/s"
    monkeypatch.setenv("COLUMNS", "200")
    wide = LiveLine(Display(Terminal(), clock), clock, "de focus", totals)
    wide.show(123_456, 98_765)
    assert "queue 123,456  hosts 98,765" in wide.fitting(clock())
