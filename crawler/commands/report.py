"""`langfocus report`: figures recomputed from a `run.db`, and samples to check them."""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from langfocus.crawler.commands.base import Parser, positive, publish
from langfocus.crawler.errors import RunFolderError, SettingError

DESCRIPTION = (
    "Prints the figures of a crawl (pages, harvest rate, hosts, languages, outcomes) and "
    "writes summary.json and report.html into its folder. All figures are computed from "
    "run.db in that folder. The crawl may still be running. report.html is one file that "
    "needs no network and no scripts."
)

_NUMBER = 200
_RANDOM_STATE = 0
_WATCHED_EVERY_S = 1.0
_STALE_S = 60.0
"""Oldest state of a running crawl; states are written every 10 s, less often by a busy machine."""

_MANUAL = """\
--sample draws pages for a person who checks the harvest rate, more of them where the identifier may
be wrong. Open the new FILE (CSV) in a spreadsheet program, open each URL, and write into the column
`label` yes (it is in the language of the crawl), no, or ? if you cannot tell. With --labels FILE
the harvest rate then has an interval that includes the errors of the identifier.

examples:
  langfocus report runs/FOLDER
  langfocus report runs/FOLDER --sample labels.csv --number 400
  langfocus report runs/FOLDER --labels labels.csv
  langfocus report runs/FOLDER --explain http://www.example.de/
  langfocus report runs/FOLDER --watch
  langfocus report runs/2026-10 runs/2026-11 --html months.html
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    several = "folder of a crawl; several are compared, each with the one before it"
    parser.add_paths("folders", "RUN_FOLDER", several)
    parser.add_path("--labels", "FILE", "include a person's labels of a sample in the report")
    parser.add_file("--sample", "only write a sample of pages for labelling into a new FILE")
    number = f"approximate number of sampled pages (default: {_NUMBER})"
    parser.add_argument("--number", metavar="N", type=positive, default=_NUMBER, help=number)
    watch = "only show the running crawl, from its live.json, until it ends"
    parser.add_argument("--watch", action="store_true", help=watch)
    why = "only explain why and when this URL was fetched"
    parser.add_argument("--explain", metavar="URL", help=why)
    parser.add_file("--html", "write the comparison of several crawls to FILE")
    parser.add_file("--json", "write the figures of several crawls to FILE, as JSON")


def run(opts: argparse.Namespace) -> None:
    """Print and rewrite the report of a folder, write a sample, watch, explain, or compare runs."""
    folders = [path.parent if path.name == "run.db" else path for path in opts.folders]
    given = (opts.labels, opts.sample, opts.explain, opts.watch or None)
    if sum(option is not None for option in given) > 1:
        raise SettingError("--labels, --sample, --explain and --watch: give one of them")
    if len(folders) == 1:
        if opts.html or opts.json:
            raise SettingError(
                "--html and --json are for several crawls; the folder of one has report.html and "
                "summary.json"
            )
        _report_one(folders[0], opts)
        return
    if any(option is not None for option in given):
        raise SettingError("--labels, --sample, --explain and --watch are for one crawl")
    from langfocus.crawler.report.series import series_report

    publish(series_report(folders), opts)


def _report_one(folder: Path, opts: argparse.Namespace) -> None:
    from langfocus.crawler.report.crawl import explain
    from langfocus.crawler.report.run_report import report
    from langfocus.crawler.report.table import WIDE, Printer

    if opts.watch:
        watch(folder, time.time, time.sleep)
    elif opts.sample is not None:
        _draw_sample(folder, opts.sample, opts.number)
    elif opts.explain is not None:
        sentences, table = explain(folder, opts.explain)
        printer = Printer(width=WIDE)
        for line in (*sentences, ""):
            printer.line(line)
        printer.table(table)
    else:
        print(report(folder, opts.labels, is_quiet=False).page)


def watch(folder: Path, now: Callable[[], float], sleep: Callable[[float], object]) -> None:
    """Show a crawl until it ends; raises `RunFolderError` if its state is stale."""
    from langfocus.crawler.report.live import read_live, utc
    from langfocus.crawler.report.progress import Display, Progress

    with Display(sys.stdout) as display:
        progress = Progress(display)
        while (snapshot := read_live(folder)).state != "finished":
            if now() - snapshot.at > _STALE_S:
                raise RunFolderError(
                    f"{folder}: its state is of {utc(snapshot.at)}: the crawl was killed "
                    f"or its machine sleeps; langfocus report {folder} shows its figures"
                )
            progress.show(snapshot)
            sleep(_WATCHED_EVERY_S)
        progress.close(snapshot)


def _draw_sample(folder: Path, file: Path, number: int) -> None:
    from langfocus.crawler.report.labels import draw_sample, language_of, write_sample
    from langfocus.crawler.run.folder import reading

    if file.exists():
        raise SettingError(f"{file}: exists already, and may have labels; name another file")
    with reading(folder) as connection:
        sample = draw_sample(connection, language_of(connection), number, _RANDOM_STATE)
    if not sample.pages:
        raise RunFolderError(f"{folder}: the run has no pages yet")
    write_sample(file, sample)
    print(f"{file}: {len(sample.pages):,} of {sample.of:,} pages")
