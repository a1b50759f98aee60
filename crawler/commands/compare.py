"""`langfocus compare`: one crawl per strategy from the same seeds, and the figures of all."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from langfocus.crawler.commands.base import ExitCode, Parser, meanings, pairs, parts
from langfocus.crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from langfocus.crawler.report.harvest import Summary

DESCRIPTION = (
    "Crawls once per strategy from the same seeds. Shows for each strategy the visited hosts, "
    "the share of pages without a label, the share of pages in the target language, and that "
    "share over time. These are Tables XVII, XVIII, XIX and Figure 7 of Baykan et al. 2013, "
    "with the paper's figures next to ours."
)

_STRATEGIES = "random,cctld,svm,focus"
_PAGES = "1000"
"""Pages of each crawl in Baykan 2013, Table XVII."""

_OF_THE_PAPER = {
    **{"pages": _PAGES, "filter": "none", "host_cap": "10"},
    **{"least_yield": "0", "versions": "all"},
}
"""Default arguments of a comparison, from the paper's crawls, which fetch all versions of a page.

`host_queue` is the host cap: the first discovered URLs of a host are queued (Baykan 2013, 5.2).
"""

_MANUAL = """\
The crawls run one after the other, each in a new folder inside the folder of the comparison:
JOBDIR, or a new one under runs/. compare.html and compare.json are written there. The same JOBDIR
continues a comparison that was interrupted or ended with a crawl that failed.

examples:
  langfocus compare -a lang=de -a web=sample
  langfocus compare -a lang=de,fr,it -a strategies=random,svm -a pages=5000 -s JOBDIR=runs/three
  langfocus compare -a lang=th -a strategies=bfs,soft -a filter=server -s DOWNLOAD_DELAY=2
  langfocus compare -a lang=de -a strategies=random,focus -a filters=none,both-conservative
"""


class Planned(NamedTuple):
    """A crawl of a comparison; `arguments` are for `-a`."""

    lang: str
    strategy: str
    folder: Path
    arguments: Mapping[str, str]


def arguments(parser: Parser) -> None:
    """Add the command's arguments, and the comparison's arguments to the manual."""
    from langfocus.crawler.options.config import ARGUMENTS
    from langfocus.crawler.strategies import ORDERINGS

    parser.usage = "langfocus compare -a lang=LANG[,LANG] [-a NAME=VALUE] [-s NAME=VALUE]"
    parser.add_pairs("-a", "argument of the comparison or of all crawls (may be repeated)")
    parser.add_pairs("-s", "setting of all crawls (may be repeated)")
    own = {
        "lang": "target languages, separated by commas (-a lang=de,fr), a crawl of each; de+fr is "
        "one crawl of both; required",
        "strategies": f"strategies to compare, of {', '.join(ORDERINGS)} and plug-ins (default "
        f"{_STRATEGIES}: those of the paper and the default of a crawl)",
        "filters": "filters to compare, each with each strategy: random tells the filter's part, "
        "other strategies with the same filter their own (default: filter alone)",
        "pages": f"pages of each crawl (default {_PAGES}, as in the paper)",
        "...": "every other argument of a crawl, the same for all crawls: "
        + ", ".join(name for name in ARGUMENTS if name not in {"lang", "strategy", "pages"}),
    }
    parser.epilog = meanings("arguments (-a NAME=VALUE):", own) + "\n" + _MANUAL


def run(opts: argparse.Namespace) -> None:
    """Crawl, then print the tables, also after an unfinished comparison."""
    from langfocus.crawler.report.progress import Display
    from langfocus.crawler.run.folder import RUNS

    settings = pairs(opts.set, "-s")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folder = Path(settings.pop("JOBDIR", "") or RUNS / f"compare-{stamp}")
    crawls = planned(pairs(opts.spargs), settings, folder)
    folder.mkdir(parents=True, exist_ok=True)
    done: list[tuple[Planned, Summary]] = []
    announce = Display(sys.stderr).tell
    try:
        for place, crawl in enumerate(crawls, start=1):
            name = f"{crawl.lang} {crawl.strategy}"
            announce(f"[{place}/{len(crawls)}] {name}: {crawl.folder}")
            done.append((crawl, _crawled(crawl, settings)))
    finally:
        if done:
            _publish(folder, done, is_complete=len(done) == len(crawls))


def planned(given: Mapping[str, str], settings: Mapping[str, str], folder: Path) -> list[Planned]:
    """Return the crawls of all languages and strategies, in crawl order.

    Raises `SettingError` for arguments that are invalid in one of the crawls.
    """
    from langfocus.crawler.options.config import Config
    from langfocus.crawler.session.preparation import prepare
    from langfocus.crawler.strategies import ORDERINGS

    if "strategy" in given:
        raise SettingError("-a strategy: a comparison has several; use -a strategies=NAME,NAME")
    if {"filter", "filters"} <= given.keys():
        raise SettingError("-a filter and -a filters exclude each other; use -a filters=NAME,NAME")
    arguments = {**_OF_THE_PAPER, **given}
    arguments.setdefault("host_queue", arguments["host_cap"])
    tags = parts(arguments.pop("lang", "")) or ("",)
    strategies = parts(arguments.pop("strategies", _STRATEGIES))
    filters = parts(arguments.pop("filters", "")) or (arguments["filter"],)
    if not strategies:
        raise SettingError("-a strategies is empty; name some of " + ", ".join(ORDERINGS))
    found = {}
    for tag, strategy, rule in product(tags, strategies, filters):
        own = {**arguments, "lang": tag, "strategy": strategy, "filter": rule}
        config = Config.read(own, settings)
        try:
            prepare(replace(config, web="live", archive=None))  # an archive is opened by its crawl
        except SettingError as error:
            raise SettingError(f"the crawl with {strategy}: {error}") from error
        label = strategy if rule == "none" or len(filters) == 1 else f"{strategy} {rule}"
        name = f"{'+'.join(config.targets)}-{label}".replace(" ", "-")
        found[name] = Planned(config.lang, label, folder / name, own)
    return list(found.values())


def _crawled(crawl: Planned, settings: Mapping[str, str]) -> Summary:
    """Crawl, unless the run is complete, and return the figures.

    Raises `CrawlError` for a failed crawl, `KeyboardInterrupt` for an interrupted crawl.
    """
    from langfocus.crawler.commands.child import command, run_child
    from langfocus.crawler.report.harvest import summarise
    from langfocus.crawler.shared.crew import End

    settings = {"LANGFOCUS_WARC": "False", **settings}
    name = f"{crawl.lang} {crawl.strategy}"
    continuation = f"the same command with -s JOBDIR={crawl.folder.parent} continues"
    try:
        with _signals_interrupt():
            end = run_child(command(crawl.arguments, settings, crawl.folder))
    except KeyboardInterrupt:
        end = End(ExitCode.INTERRUPTED, "")
    if end.code == ExitCode.INTERRUPTED:
        raise KeyboardInterrupt(f"interrupted during {name}; {continuation}")
    if end.code != ExitCode.DONE:
        raise CrawlError(f"the crawl {name} failed: {end}; {continuation}")
    return summarise(crawl.folder)


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block at each termination signal."""
    watched = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in watched}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _publish(folder: Path, done: list[tuple[Planned, Summary]], *, is_complete: bool) -> None:
    """Write the files of the comparison and print the tables."""
    from langfocus.crawler.report.comparison import comparison_report
    from langfocus.crawler.report.formatting import json_text
    from langfocus.crawler.report.table import Printer
    from langfocus.crawler.run.whole_file import write_whole

    runs: dict[str, dict[str, Summary]] = {}
    for crawl, summary in done:
        runs.setdefault(crawl.lang, {})[crawl.strategy] = summary
    folders = {(crawl.lang, crawl.strategy): str(crawl.folder) for crawl, _ in done}
    report = comparison_report(runs, folders)
    content = {"is_complete": is_complete, **report.figures}
    write_whole(folder / "compare.json", json_text(content))
    page = write_whole(folder / "compare.html", report.html())
    printer = Printer()
    report.print(printer)
    printer.line(str(page))
