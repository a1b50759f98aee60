"""The live line, with a clock that stands still unless a test moves it."""

from collections.abc import Callable
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.report.live import LiveLine, Totals


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 500.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_line_names_every_figure(clock: Clock) -> None:
    live = LiveLine(
        StringIO(), clock, lang="de", strategy="svm", totals=Totals(611, 600, 578), every_s=1
    )
    for number in range(201):
        live.record(number % 100 != 0)
    clock.now += 5
    live.show(13204, 262)
    assert live.text(clock.now) == (
        "de svm  812 pages  harvest 96.9 % (last 200: 99.0 %)  "
        "queue 13,204  hosts 262  40.2 pages/s"
    )


def test_pages_without_a_label_are_pages_but_in_no_rate(clock: Clock) -> None:
    live = LiveLine(StringIO(), clock, lang="de", strategy="svm")
    assert "0 pages  harvest - (last 200: -)" in live.text(clock.now)
    live.record(None)
    assert "1 pages  harvest - (last 200: -)" in live.text(clock.now)
    live.record(True)
    live.record(False)
    assert "3 pages  harvest 50.0 % (last 200: 50.0 %)" in live.text(clock.now)


@given(st.lists(st.sampled_from([True, False, None]), max_size=500))
def test_the_last_200_are_the_last_200(labels: list[bool | None]) -> None:
    live = LiveLine(StringIO(), lambda: 0.0, lang="de", strategy="svm")
    for label in labels:
        live.record(label)
    last = [label for label in labels[-200:] if label is not None]
    rate = f"{100 * sum(last) / len(last):.1f} %" if last else "-"
    assert f"(last 200: {rate})" in live.text(0.0)


def test_a_file_gets_one_plain_line_every_so_often(clock: Clock) -> None:
    stream = StringIO()
    live = LiveLine(stream, clock, lang="fr", strategy="cctld", every_s=30)
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
    live = LiveLine(stream, clock, lang="de", strategy="svm", refresh_s=0.2)
    for _ in range(10):
        live.record(True)
        clock.now += 0.1
        live.show(3, 1)
    live.close()
    live.close()
    assert stream.getvalue().count("\r") == 6
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().endswith("\x1b[K\n")
    assert "\r\n" not in stream.getvalue()


def test_the_line_fits_the_terminal(clock: Clock) -> None:
    stream = Terminal()
    live = LiveLine(stream, clock, lang="de", strategy="svm", totals=Totals(10**9, 10**9, 10**9))
    live.show(10**9, 10**9)
    live.close()
    assert len(stream.getvalue().strip("\r\n").removesuffix("\x1b[K")) == 79


def test_closing_leaves_the_last_figures_once(clock: Clock) -> None:
    stream = StringIO()
    live = LiveLine(stream, clock, lang="de", strategy="svm", every_s=30)
    live.record(True)
    live.close()
    live.close()
    clock.now += 100
    live.show(1, 1)
    assert stream.getvalue().count("1 pages") == 1
    assert stream.getvalue().count("\n") == 1


def speed(clock: Clock, pages_in_second: Callable[[int], int]) -> str:
    live = LiveLine(StringIO(), clock, lang="de", strategy="svm", every_s=1)
    for second in range(60):
        for _ in range(pages_in_second(second)):
            live.record(True)
        clock.now += 1
        live.show(0, 0)
    return live.text(clock.now).rsplit("  ", 1)[1]


def test_the_speed_is_that_of_the_last_ten_seconds(clock: Clock) -> None:
    assert speed(clock, lambda second: 100 if second < 40 else 5) == "5.0 pages/s"
    assert speed(clock, lambda second: 100 if second < 55 else 0) == "50.0 pages/s"
