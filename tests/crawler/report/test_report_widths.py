"""Reports on a phone and on a desktop, measured in Chromium: nothing is hidden, cut or ragged."""

import html
import json
import re
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from langfocus.crawler.report.comparison import comparison_report
from langfocus.crawler.report.crawl import write_report
from langfocus.crawler.report.harvest import summarise
from langfocus.crawler.report.live import live_html
from langfocus.crawler.report.series import series_report
from tests.crawler.report.test_report_live import snapshot
from tests.support.report_run import Row, make_run

CHROMIUM: Final = shutil.which("chromium") or shutil.which("google-chrome")
WIDTHS: Final = (360, 390, 768, 1000, 1280)
MEASURED: Final = """\
const right = e => e.getBoundingClientRect().right;
function measured(page) {
  const all = name => [...page.document.querySelectorAll(name)];
  const cards = all("dl div"), rows = new Map();
  for (const card of cards) {
    const top = card.getBoundingClientRect().top;
    rows.set(top, Math.max(rows.get(top) || 0, right(card)));
  }
  return {
    hidden: all(".table, html").filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText),
    ragged: [...rows.values()].filter(e => Math.abs(e - right(cards[0].parentElement)) > 1),
    plots: all(".plot").map(e => e.clientWidth / page.document.querySelector("main p").clientWidth),
    labels: all(".labels span").filter(e => right(e) > page.innerWidth).map(e => e.innerText),
    tables: all("section table").length,
  };
}
onload = () => {
  const pages = [...document.querySelectorAll("iframe")];
  const found = pages.map(page => measured(page.contentWindow));
  document.body.textContent = JSON.stringify(found);
};
"""


def pages(folder: Path) -> list[str]:
    """The pages of a crawl, of a running one, of a comparison and of months."""
    for place, month in enumerate(("2026-10", "2026-11-with-a-long-name", "2026-12")):
        rows = [
            Row(
                url=f"http://{'very-' * (n % 5)}long-host-name{n % 40}.example{n % 19}.de/{n}",
                host=f"{'very-' * (n % 5)}long-host-name{n % 40}.example{n % 19}.de",
                language=("de", "de", "en", None)[n % 4],
                outcome="page" if n % 7 else "redirect",
                bytes=10**6 * n,
                queued=n**2,
            )
            for n in range(1, 900 - place)
        ]
        counts = {"ignored_nofollow": 123_456, "host_full": 7}
        make_run(folder / month, rows, counts=counts).close()
    months = sorted(path for path in folder.iterdir())
    write_report(months[0])
    with closing(make_run(None, rows[:500])) as one:
        summary = summarise(one)
    runs = {lang: dict.fromkeys(("svm", "bfs", "focus"), summary) for lang in ("de", "en")}
    return [
        (months[0] / "report.html").read_text("utf-8"),
        live_html(snapshot(state="finished")),
        comparison_report(runs, {}).html(),
        series_report(months).html(),
    ]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], dict[str, Any]]:
    """What Chromium measured, by page and width."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    folder = tmp_path_factory.mktemp("widths")
    shown = pages(folder / "runs")
    frames = [
        f'<iframe width="{width}" height="9000" srcdoc="{html.escape(page)}"></iframe>'
        for page in shown
        for width in WIDTHS
    ]
    whole = folder / "all.html"
    whole.write_text(f"<!DOCTYPE html>{''.join(frames)}<script>{MEASURED}</script>", "utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'home'}")
    command = [CHROMIUM, *options, "--dump-dom", whole.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    measured = re.search(r"<body>(\[.*\])</body>", done.stdout, re.DOTALL)
    assert measured, done.stdout[:300]
    places = [(page, width) for page in range(len(shown)) for width in WIDTHS]
    return dict(zip(places, json.loads(html.unescape(measured[1])), strict=True))


@pytest.mark.parametrize("width", WIDTHS)
def test_every_column_is_inside_of_the_page_and_rows_of_cards_are_full(
    width: int, found: dict[tuple[int, int], dict[str, Any]]
) -> None:
    for page in range(4):
        measured = found[page, width]
        assert measured["hidden"] == measured["ragged"] == measured["labels"] == []
        assert measured["tables"] >= 2
        assert min(measured["plots"], default=1) >= 0.7, page
    assert len(found[0, width]["plots"]) == 2
