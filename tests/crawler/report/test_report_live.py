"""What a terminal, a pipe and another process see of a crawl; the clock stands still."""

import html
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from io import StringIO
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from langfocus.crawler.commands.report import watch
from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.report.live import (
    LIVE_JSON,
    About,
    Goal,
    LastPage,
    Snapshot,
    WorkerState,
    decoded,
    goal_of,
    live_html,
    live_json,
    read_live,
)
from langfocus.crawler.report.progress import Display, Progress, line, panel, spark
from langfocus.crawler.report.terminal import MARK

HOSTS = {"ready": 3, "resting": 1310, "fetching": 64, "full": 24, "blocked": 12}
HOSTILE = (
    LastPage("http://a.de/\x1b]0;x\x07\x1b[2J\u202eabc\n\r\x9b", -2.3149, "ja", False),
    LastPage("http://b.de/" + "\u65e5\U0001f600" * 200, 4096.0, None, False),
    LastPage("http://c.de/" + "x" * 8000, 0.93, "de", True),
)


def snapshot(**changed: Any) -> Snapshot:
    """A crawl of 812 pages."""
    values: dict[str, Any] = {
        "about": About("de svm", "de", "svm", "hard", "live", False, False),
        **{"state": "running", "reason": "", "at": 1e9, "started_at": 9e8, "elapsed_s": 75.0},
        **{"pages": 812, "labelled": 800, "relevant": 797, "hosts_with_page": 1, "queued": 1234},
        **{"goals": (), "expected": 99, "in_flight": 64, "pages_per_s": 40.2},
        **{
            "last_relevant": 198,
            "last_labelled": 200,
            "course": ((10, 10), (0, 10), (0, 0), (10, 20)),
        },
        **{"outcomes": {"page": 812, "dns": 5}, "drops": {"host_full": 9, "rejected": 4}},
        **{"errors": 5, "hosts": HOSTS, "limit": "politeness", "last": HOSTILE},
        **{"fetch_s": 1.0, "fetches": (0,) * 9},
    }
    return Snapshot(**{**values, **changed})


def rows_of(shown: Snapshot, width: int = 80, height: int = 24) -> list[str]:
    console = Console(file=StringIO(), width=width, height=height, record=True)
    console.print(panel(shown, width, height))
    return console.export_text().splitlines()


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class StandingTerminal(Terminal):
    """A terminal that takes nothing until it `goes_on`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.goes_on = Event(), Event()

    def write(self, text: str) -> int:
        self.is_asked.set()
        self.goes_on.wait()
        return super().write(text)


class Watched:
    """A progress on a stream; a second passes when a test says so."""

    def __init__(self, stream: StringIO, **how: Any) -> None:
        self.now, self.stream = 500.0, stream
        self.display = Display(stream, lambda: self.now)
        self.progress = Progress(self.display, **how)

    def show(self, seconds: float = 0.0, **changed: Any) -> None:
        self.now += seconds
        self.progress.show(snapshot(**changed))


def screen(stream: Terminal) -> list[str]:
    """The lines that a terminal of 80 columns shows now, without its cursor."""
    lines, at = [""], 0
    for mark, text in re.findall(
        r"(\x1b\[[?\d;]*[A-Za-z]|[\r\n])|([^\x1b\r\n]+)", stream.getvalue()
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
    for name, value in (("TERM", "xterm"), ("COLUMNS", "80"), ("LINES", "24")):
        monkeypatch.setenv(name, value)


def test_the_line_names_every_figure_and_a_narrow_terminal_keeps_hosts_and_speed() -> None:
    assert line(snapshot()) == (
        "de svm  812 pages  harvest 99.6 % (last 200: 99.0 %)  queue 1,234  hosts 1  40.2 pages/s"
    )
    assert line(snapshot(), 60) == "de svm  812 pages  99.6 %  hosts 1  40.2/s"
    empty = snapshot(pages=0, labelled=0, relevant=0, last_relevant=0, last_labelled=0)
    assert "0 pages  harvest - (last 200: -)" in line(empty)
    census = replace(snapshot().about, is_census=True)
    assert "812 pages  with a language 98.5 %  queue" in line(snapshot(about=census))


@pytest.mark.parametrize(("width", "height"), [(60, 24), (80, 24), (100, 30), (200, 50), (30, 9)])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"state": "ending"},
        {"goals": (Goal("pages", 812, 10**9, 1e7),), "expected": None, "limit": None},
        {"workers": tuple(WorkerState(f"host{n}:/a/b/c", 1.5) for n in range(50))},
        {"drops": {f"reason_{n}": 10**6 for n in range(50)}, "course": ((9, 9),) * 120},
        {"about": About("census", "", "bfs", "none", "live", True, False)},
        {"about": About("x" * 90, "de", "svm", "hard", "live", False, False), "last": ()},
    ],
)
def test_the_panel_fits_and_no_text_of_a_server_moves_the_cursor(
    width: int, height: int, changed: dict[str, Any]
) -> None:
    found = rows_of(snapshot(**changed), width, height)
    assert len(found) <= height
    assert found[0].rstrip().endswith("1 min 15 s")
    assert max(map(cell_len, found)) <= width
    assert all(row.isprintable() for row in found)


def test_a_goal_in_bytes_has_its_unit() -> None:
    found = snapshot(goals=(Goal("bytes", 5e9, 20e9),))
    assert goal_of(found) == "25.0 % of 20.0 GB"


def test_the_panel_has_every_figure() -> None:
    found = rows_of(snapshot(goals=(Goal("pages", 812, 1000, 4.7),)))
    assert re.sub(" +", " ", found[0]) == "de svm hard live running 1 min 15 s"
    assert found[1].endswith(" 81.2 % of 1,000 pages, 4.7 s left")
    assert (found[1].count("\u2501"), found[1].count("\u2500")) == (37, 8)
    assert [row.rstrip() for row in found[2:13]] == [
        "harvest  99.6 %  last 200 99.0 %  \u2588\u2581 \u2585",
        "pages    812  relevant 797  errors 5  40.2 pages/s",
        "queue    1,234  expected 99  in progress 64",
        "hosts    ready 3  resting 1,310  full 24  blocked 12",
        "limit    politeness: no host may be contacted now",
        "drops    host full 9  rejected 4",
        "other    dns 5",
        "before  after  page",
        " -2.31  ja     http://a.de/?]0;x??[2J?abc???",
        found[11].rstrip(),
        ("  0.93  de     http://c.de/" + "x" * 80)[:79],
    ]
    assert found[11].startswith(" first  -      http://b.de/")
    ending = rows_of(snapshot(state="ending"))
    assert "limit    Ending: waits for 64 requests; Ctrl-C stops now" in map(str.rstrip, ending)
    workers = (WorkerState("w1", 2.0), WorkerState("w2", 3.0))
    assert "workers  2:  w1 2.0/s  w2 3.0/s" in map(str.rstrip, rows_of(snapshot(workers=workers)))


def test_a_small_terminal_has_fewer_pages() -> None:
    assert len(rows_of(snapshot(last=HOSTILE * 3), height=16)) == 16
    assert not any("before" in row for row in rows_of(snapshot(), height=11))


@pytest.mark.parametrize(
    ("course", "width", "bars"),
    [
        ((), 9, ""),
        (((0, 8), (4, 8), (8, 8), (0, 0)), 9, "▁▅█ "),
        (((0, 4), (4, 4), (4, 4), (4, 4)), 2, "▅█"),
        (((0, 1), (1, 1), (1, 1), (1, 1)), 9, "▆"),
        (((9, 9),) * 120, 999, "█" * 40),
        (((1, 1),), -3, ""),
    ],
)
def test_a_sparkline_has_the_harvest_of_equal_parts(
    course: tuple[tuple[int, int], ...], width: int, bars: str
) -> None:
    assert spark(course, width) == bars


def test_a_terminal_that_stands_still_holds_up_no_crawl() -> None:
    terminal = StandingTerminal()
    progress = Watched(terminal).progress
    for pages in (1, 2, 3):
        progress.show_meanwhile(snapshot(pages=pages))
        assert terminal.is_asked.wait(60)
    assert terminal.getvalue() == ""
    terminal.goes_on.set()
    progress.close(snapshot(state="finished", pages=4))
    assert [row for row in screen(terminal) if "pages" in row] == [line(snapshot(pages=4), 80)]


def test_an_error_of_a_stream_is_raised_at_the_next_snapshot() -> None:
    terminal = Terminal()
    progress = Watched(terminal).progress
    terminal.close()
    progress.show_meanwhile(snapshot())
    progress._threads.submit(int).result()  # the thread has shown it
    with pytest.raises(ValueError, match="closed file"):
        progress.show_meanwhile(snapshot())


def test_a_file_gets_one_plain_line_every_so_often() -> None:
    watched = Watched(StringIO())
    for second in range(90):
        watched.show(1.0, pages=second + 1)
    watched.progress.close(snapshot(pages=90))
    watched.progress.close(snapshot(pages=90))
    watched.show(100.0)
    lines = watched.stream.getvalue().splitlines()
    assert [line.split("  ")[1] for line in lines] == ["30 pages", "60 pages", "90 pages"]


def test_a_terminal_gets_the_panel_in_place_messages_above_it_and_one_line_at_the_end() -> None:
    stream = Terminal()
    watched = Watched(stream)
    watched.show(pages=1)
    assert len([row for row in screen(stream) if row.startswith("pages")]) == 1
    watched.show(0.1, pages=2)  # too early
    watched.show(0.1, pages=3)
    watched.display.write("WARNING: one\n  two\x1b[2J\n")
    shown = screen(stream)
    assert shown[:3] == ["WARNING: one", "  two?[2J", shown[2]]
    assert [row for row in shown if row.startswith("pages")] == [
        "pages    3  relevant 797  errors 5  40.2 pages/s"
    ]
    watched.show(pages=4, state="ending")  # at once
    assert any(row.startswith("pages    4") for row in screen(stream))
    watched.progress.close(snapshot(pages=5))
    watched.progress.close(snapshot(pages=5))
    assert screen(stream) == [*shown[:2], "de svm  5 pages  99.6 %  hosts 1  40.2/s"]


class AsciiTerminal(Terminal):
    encoding = "ascii"


@pytest.mark.parametrize(
    ("stream", "term"), [(Terminal, "dumb"), (AsciiTerminal, "xterm"), (StringIO, "xterm")]
)
def test_closing_leaves_the_last_figures_once(
    stream: type[StringIO], term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    watched = Watched(stream())
    watched.show()
    watched.progress.close(snapshot())
    watched.progress.close(snapshot())
    watched.show(100.0)
    assert watched.stream.getvalue().startswith("de svm  812 pages")
    assert watched.stream.getvalue().count("\n") == 1


def test_a_narrower_terminal_is_cleared_since_it_broke_the_lines() -> None:
    watched = Watched(Terminal())
    console = watched.display._console
    assert console is not None
    for width, is_cleared in ((80, False), (90, False), (60, True)):
        console.width = width
        watched.show(1.0)
        assert ("\x1b[2J" in watched.stream.getvalue()) == is_cleared


def test_a_parent_process_gets_each_snapshot_as_a_line() -> None:
    watched = Watched(StringIO(), is_passed_on=True)
    watched.show(pages=1)
    watched.progress.close(snapshot(pages=2, state="finished"))
    lines = watched.stream.getvalue().split("\n")[:-1]
    assert [decoded(line.removeprefix(MARK)).pages for line in lines] == [1, 2]


def test_another_terminal_watches_a_crawl_until_it_ends_or_writes_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = iter(["running", "ending", "finished"])

    def write_next(_: float = 0.0) -> None:
        (tmp_path / LIVE_JSON).write_text(live_json(snapshot(state=next(states))))

    write_next()
    watch(tmp_path, lambda: 1e9 + 59.0, write_next)
    assert next(states, None) is None
    assert capsys.readouterr().out.count("de svm  812 pages") == 1
    states = iter(["running"])
    write_next()
    with pytest.raises(RunFolderError, match="its state is of 2001-09-09 01:46:40 UTC: the crawl"):
        watch(tmp_path, lambda: 1e9 + 61.0, write_next)


def test_the_file_gives_the_snapshot_back_and_anything_else_is_refused_in_one_line(
    tmp_path: Path,
) -> None:
    found = snapshot(state="ending", reason="shutdown", goals=(Goal("words", 1, 9, 0.5),))
    (tmp_path / LIVE_JSON).write_text(live_json(found))
    assert read_live(tmp_path) == found
    whole = live_json(replace(found, last=()))
    for text in ("", "{}", "[]", whole[:-9], whole.replace('"layout":1', '"layout":2'), "\x00" * 9):
        (tmp_path / LIVE_JSON).write_text(text)
        with pytest.raises(RunFolderError, match="is not that of a crawl") as refused:
            read_live(tmp_path)
        assert "\n" not in str(refused.value)
    (tmp_path / LIVE_JSON).unlink()
    (tmp_path / LIVE_JSON).symlink_to("/dev/zero")
    with pytest.raises(RunFolderError, match=r"live\.json: it is not a regular file$"):
        read_live(tmp_path)
    (tmp_path / LIVE_JSON).unlink()
    with pytest.raises(RunFolderError, match=r"has no live\.json"):
        read_live(tmp_path)


@pytest.mark.parametrize(("is_census", "rest"), [(False, "report.html"), (True, "census.html")])
def test_the_page_reloads_until_the_end_and_shows_urls_as_text(is_census: bool, rest: str) -> None:
    url = "http://a.de/\x1b]0;x\x07\u202e'\"<script>alert(1)</script>"
    last = (LastPage(url, 0.5, "de", True),)
    found = snapshot(limit="reading", goals=(Goal("pages", 1, 5),), last=last)
    found = replace(found, about=replace(found.about, is_census=is_census))
    page = live_html(found)
    assert '<noscript><meta http-equiv="refresh" content="10"></noscript>' in page
    (script,) = re.findall("<script>(.*?)</script>", page)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert html.unescape(page).count(policy) == 1
    assert script == "setTimeout(() => location.reload(), 10000)"
    assert "reading: answers wait for a reader" in page
    assert "20.0 % of 5 pages" in page
    assert "ready 3, resting 1,310, full 24, blocked 12" in page
    assert not {"\x1b", "\x07", "\u202e"} & set(page)
    assert "http://a.de/?]0;x??&#39;&#34;&lt;script&gt;" in page
    assert "From <time>1998-07-09T16:00:00Z</time> to <time>2001-09-09T01:46:40Z</time>" in page
    end = live_html(replace(found, state="finished", reason="pages"))
    assert "refresh" not in end
    assert "script" not in end.partition("</head>")[0]
    assert f'<a href="{rest}">' in end
    ending = live_html(replace(found, state="ending", in_flight=1234))
    assert "Ending: waits for 1,234 requests" in ending
