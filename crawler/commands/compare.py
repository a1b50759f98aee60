"""`langfocus compare`: one crawl per strategy from the same seeds, and the figures of all."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.child import command, run_child
from crawler.commands.base import ExitCode, Parser, meanings, pairs, parts
from crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.report.harvest import Summary

    Runs = dict[str, dict[str, Summary]]

DESCRIPTION = (
    "Crawls once per strategy from the same seeds. Shows for each strategy the visited hosts, "
    "the share of pages without a label, the share of pages in the target language, and that "
    "share over time. These are Tables XVII, XVIII, XIX and Figure 7 of Baykan et al. 2013, "
    "with the paper's figures next to ours."
)

_STRATEGIES = "random,cctld,svm,focus"
_PAGES = "1000"
"""The size of the crawls in Baykan 2013, Table XVII."""

_OF_THE_PAPER = {"pages": _PAGES, "filter": "none", "host_cap": "10"}
"""The arguments that the paper's crawls have, where a comparison gives none of its own.

The queue takes the first URLs of a host that are found (Baykan 2013, 5.2): `host_queue` is the cap.
"""

_MANUAL = """\
The crawls run one after the other, each in a new folder inside the folder of the comparison:
JOBDIR, or a new one under runs/. Then the tables are printed, and compare.html and compare.json
are written there. The log of each crawl is beside its folder.

To continue an interrupted comparison, repeat the command with the same JOBDIR. The comparison ends
at the first crawl that fails; the tables then show the crawls before it.

examples:
  langfocus compare -a lang=de -a web=sample
  langfocus compare -a lang=de,fr,it -a strategies=random,svm -a pages=5000 -s JOBDIR=runs/three
  langfocus compare -a lang=th -a strategies=bfs,soft -a filter=server -s DOWNLOAD_DELAY=2
"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every strategy for every language, with the same arguments and settings."""

    languages: tuple[str, ...]
    strategies: tuple[str, ...]
    arguments: Mapping[str, str]
    settings: Mapping[str, str]
    folder: Path

    @property
    def continuation(self) -> str:
        """The message that says how to continue after an interruption."""
        return f"the same command with -s JOBDIR={self.folder} continues"

    def crawls(self) -> Iterator[tuple[str, str, Path]]:
        """Language, strategy and run folder of every crawl, in the order of crawling."""
        for lang in self.languages:
            for strategy in self.strategies:
                yield lang, strategy, self.folder / f"{lang}-{strategy}"

    def command(self, lang: str, strategy: str, folder: Path) -> list[str]:
        """The command line of one crawl."""
        arguments = {**self.arguments, "lang": lang, "strategy": strategy}
        log = {"LOG_FILE": str(_log(folder)), "LANGFOCUS_WARC": "False"}
        return command(arguments, log | dict(self.settings), folder)


def arguments(parser: Parser) -> None:
    """Add the arguments of the command, and those of a comparison to the manual."""
    from crawler.config import ARGUMENTS
    from crawler.strategies import ORDERINGS

    parser.usage = "langfocus compare -a lang=LANG[,LANG] [-a NAME=VALUE] [-s NAME=VALUE]"
    parser.add_pairs("-a", "argument of the comparison or of its crawls (may be repeated)")
    parser.add_pairs("-s", "setting of all crawls (may be repeated)")
    own = {
        "lang": "target language; several with commas between them (-a lang=de,fr); required",
        "strategies": f"strategies to compare, of {', '.join(ORDERINGS)} (default "
        f"{_STRATEGIES}: those of the paper and the default of a crawl)",
        "pages": f"pages of each crawl (default {_PAGES}, as in the paper)",
        "...": "every other argument of a crawl, the same for all crawls: "
        + ", ".join(name for name in ARGUMENTS if name not in {"lang", "strategy", "pages"}),
    }
    parser.epilog = meanings("arguments (-a NAME=VALUE):", own) + "\n" + _MANUAL


def run(opts: argparse.Namespace) -> None:
    """Crawl, then print the tables, also those of an unfinished comparison."""
    from crawler.report.progress import Display

    settings = pairs(opts.set, "-s")
    folder = _folder(settings.pop("JOBDIR", None))
    comparison = make_comparison(pairs(opts.spargs), folder, settings)
    folder.mkdir(parents=True, exist_ok=True)
    runs: Runs = {}
    is_complete = False
    try:
        for lang, strategy, summary in _crawl_all(comparison, Display(sys.stderr).tell):
            runs.setdefault(lang, {})[strategy] = summary
        is_complete = True
    finally:
        if runs:
            _publish(comparison, runs, is_complete=is_complete)


def _folder(jobdir: str | None) -> Path:
    from crawler.opening import RUNS

    return Path(jobdir) if jobdir else RUNS / f"compare-{time.strftime('%Y%m%d-%H%M%S')}"


def make_comparison(
    given: Mapping[str, str], folder: Path, settings: Mapping[str, str]
) -> Comparison:
    """The crawls of the arguments; raises SettingError for arguments that no crawl takes."""
    from crawler.config import Config
    from crawler.strategies import ORDERINGS

    if "strategy" in given:
        raise SettingError("-a strategy: a comparison has several; use -a strategies=NAME,NAME")
    arguments = {**_OF_THE_PAPER, **given}
    arguments.setdefault("host_queue", arguments["host_cap"])
    tags = parts(arguments.pop("lang", "")) or ("",)
    strategies = tuple(dict.fromkeys(parts(arguments.pop("strategies", _STRATEGIES))))
    if not strategies:
        raise SettingError("-a strategies is empty; name some of " + ", ".join(ORDERINGS))
    configs = [
        Config.read({**arguments, "lang": tag, "strategy": strategy}, settings)
        for tag in tags
        for strategy in strategies
    ]
    for config in configs:
        _check(config)
    languages = tuple(dict.fromkeys(config.lang for config in configs))
    return Comparison(languages, strategies, arguments, settings, folder)


def _check(config: Config) -> None:
    """Raise the error that ends a crawl at its beginning, but for those of its pages' source."""
    from crawler.preparation import prepare

    try:
        prepare(replace(config, web="live", archive=None))
    except SettingError as error:
        raise SettingError(f"the crawl with {config.strategy}: {error}") from error


def _crawl_all(
    comparison: Comparison, announce: Callable[[str], None]
) -> Iterator[tuple[str, str, Summary]]:
    """Language, strategy and figures of each crawl, as soon as it ends.

    Raises CrawlError at the first crawl that fails, KeyboardInterrupt at the first that is
    interrupted. A crawl that was finished before is not repeated. `announce` gets a line before
    each crawl, whose own progress goes to standard error.
    """
    from crawler.report.harvest import summarise

    crawls = list(comparison.crawls())
    for place, (lang, strategy, folder) in enumerate(crawls, start=1):
        announce(f"[{place}/{len(crawls)}] {lang} {strategy}: {folder}")
        try:
            with _signals_interrupt():
                code, _ = run_child(comparison.command(lang, strategy, folder))
        except KeyboardInterrupt:
            code = ExitCode.INTERRUPTED
        if code == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt(
                f"interrupted during {lang} {strategy}; {comparison.continuation}"
            )
        if code != ExitCode.DONE:
            raise CrawlError(
                f"the crawl {lang} {strategy} failed with exit code {code}{_reason(folder)}; "
                f"{comparison.continuation}"
            )
        yield lang, strategy, summarise(folder)


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block at each signal that asks the process to end."""
    watched = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in watched}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _log(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.log")


def _reason(folder: Path) -> str:
    """The last line of the crawl's log as the end of a message; empty without a log."""
    try:
        lines = _log(folder).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {last[:300]}" if last else ""


def _publish(comparison: Comparison, runs: Runs, *, is_complete: bool) -> None:
    from crawler.report.comparison import comparison_json, comparison_page, print_comparison
    from crawler.report.files import json_text, write_whole
    from crawler.report.printer import Printer

    folders = {
        (lang, strategy): os.fspath(folder)
        for lang, strategy, folder in comparison.crawls()
        if strategy in runs.get(lang, {})
    }
    content = {"is_complete": is_complete, **comparison_json(runs, folders)}
    write_whole(comparison.folder / "compare.json", json_text(content))
    page = write_whole(comparison.folder / "compare.html", comparison_page(runs))
    printer = Printer()
    print_comparison(runs, printer)
    printer.line(str(page))
