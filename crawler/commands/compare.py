"""`scrapy compare`: one crawl per strategy from the same seeds, and what each brought in."""

import argparse
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.utils.conf import arglist_to_dict

from classifiers.errors import ClassifierError
from crawler.errors import CrawlError, SettingError
from crawler.options import ARGUMENTS, CrawlOptions
from crawler.report.files import write_whole
from crawler.report.harvest import Summary, summarise
from crawler.strategies import ORDERINGS, make_ordering

DEFAULT_STRATEGIES = "random,cctld,svm"
DEFAULT_PAGES = "1000"
"""The size of the crawls in Baykan 2013, Table XVII."""

_STOPPED = {"shutdown", "cancelled"}
"""Finish reasons of a crawl that was interrupted and may go on."""

_MANUAL = f"""\
arguments (-a NAME=VALUE):
  lang         language to look for; several with commas between them (-a lang=de,fr); required
  strategies   strategies to compare, of {", ".join(ORDERINGS)}
               (default {DEFAULT_STRATEGIES}, as in the paper)
  pages        pages of each crawl (default {DEFAULT_PAGES}, as in the paper)
  and every other argument of the spider, the same for all crawls:
  {", ".join(name for name in ARGUMENTS if name not in {"lang", "strategy", "pages"})}

The crawls run one after the other, each in a folder of its own below the folder of the
comparison: JOBDIR, or a new one under runs/. Afterwards the tables are printed, and compare.html
and compare.json are written there. The log of each crawl stands beside its folder.

A comparison that was interrupted goes on with the same command and the same JOBDIR. The first
crawl that fails ends it: the tables then show the crawls before it. The exit code is 0 only if
every crawl was done.

examples:
  scrapy compare -a lang=de -a web=sample
  scrapy compare -a lang=de,fr,it -a strategies=random,svm -a pages=5000 -s JOBDIR=runs/three
  scrapy compare -a lang=th -a strategies=bfs,soft -a filter=server -s DOWNLOAD_DELAY=2
"""


class CrawlStopped(CrawlError):
    """A crawl of the comparison that did not end by itself, or could not be run."""


@dataclass(slots=True)
class Plan:
    """What is to be crawled: every strategy for every language, with the same arguments."""

    languages: list[str]
    strategies: list[str]
    arguments: dict[str, str]
    settings: list[str]
    folder: Path
    folders: dict[tuple[str, str], Path] = field(default_factory=dict)

    @property
    def way_on(self) -> str:
        """What a person does after an interruption."""
        return f"the same command with -s JOBDIR={self.folder} goes on"

    def crawls(self) -> Iterator[tuple[str, str, Path]]:
        """Language, strategy and run folder of every crawl, in the order of crawling."""
        for lang in self.languages:
            for strategy in self.strategies:
                yield lang, strategy, self.folder / f"{lang}-{strategy}"

    def command(self, lang: str, strategy: str, folder: Path) -> list[str]:
        """The command line of one crawl."""
        spider = {**self.arguments, "lang": lang, "strategy": strategy}
        settings = [
            f"LOG_FILE={_log(folder)}",
            *self.settings,
            f"JOBDIR={folder}",
            "LANGFOCUS_QUIET=True",
        ]
        return [
            *(sys.executable, "-m", "scrapy", "crawl", "langfocus"),
            *(part for name, value in spider.items() for part in ("-a", f"{name}={value}")),
            *(part for setting in settings for part in ("-s", setting)),
        ]


class Command(ScrapyCommand):
    """Compares strategies by crawling with each of them."""

    requires_crawler_process = False

    def syntax(self) -> str:
        """How the command is called."""
        return "-a lang=LANG[,LANG] [-a strategies=NAME,NAME] [-a NAME=VALUE] [--json FILE]"

    def short_desc(self) -> str:
        """One line in the list of commands."""
        return "Crawl with several strategies and compare their harvest rates"

    def long_desc(self) -> str:
        """What --help begins with."""
        return (
            "Crawls once per strategy from the same seeds and shows, strategy by strategy, the "
            "visited hosts, the pages without a label, the share of pages in the desired language, "
            "and that share over time: the counterparts of Tables XVII, XVIII, XIX and Fig. 7 of "
            "Baykan et al. 2013, whose own figures stand beside ours where there are any."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options beside Scrapy's own."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = textwrap.fill(self.long_desc(), 95)
        parser.epilog = _MANUAL
        parser.add_argument(
            "-a",
            dest="spargs",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="argument of the comparison or of the spider (may be repeated)",
        )
        parser.add_argument(
            "--json", metavar="FILE", type=Path, help="write compare.json to FILE too"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl, compare, print."""
        try:
            plan = self._plan(args, opts)
        except (SettingError, ClassifierError, OSError) as error:
            self._fail(str(error))
            return
        runs: dict[str, dict[str, Summary]] = {}
        try:
            for lang, strategy, summary in _crawl_all(plan):
                runs.setdefault(lang, {})[strategy] = summary
        except (CrawlError, OSError) as error:
            self._fail(str(error))
        except KeyboardInterrupt:
            self._fail(f"interrupted; {plan.way_on}")
        if runs:
            _publish(plan, runs, is_complete=not self.exitcode, copy=opts.json)

    def _plan(self, args: Sequence[str], opts: argparse.Namespace) -> Plan:
        if args:
            raise SettingError(f"{args[0]}: not understood; scrapy compare --help tells what is")
        given = _pairs(opts.spargs, "-a")
        settings = _pairs(opts.set, "-s")
        plan = make_plan(given, self._folder(settings.get("JOBDIR")))
        plan.settings = [f"{name}={value}" for name, value in settings.items() if name != "JOBDIR"]
        if opts.loglevel:
            plan.settings.append(f"LOG_LEVEL={opts.loglevel}")
        for lang in plan.languages:
            for strategy in plan.strategies:
                # Said now rather than by the last crawl.
                make_ordering(strategy, lang, model=_model(settings))
        plan.folder.mkdir(parents=True, exist_ok=True)
        return plan

    def _folder(self, jobdir: str | None) -> Path:
        if jobdir:
            return Path(jobdir)
        runs = self.settings.get("LANGFOCUS_RUNS", "runs") if self.settings else "runs"
        return Path(runs) / f"compare-{time.strftime('%Y%m%d-%H%M%S')}"

    def _fail(self, message: str) -> None:
        print(f"scrapy compare: {message}", file=sys.stderr)
        self.exitcode = 1


def make_plan(given: Mapping[str, str], folder: Path) -> Plan:
    """The crawls that arguments ask for; raises SettingError for what no crawl could use."""
    if "strategy" in given:
        raise SettingError("-a strategy: a comparison has several; use -a strategies=NAME,NAME")
    own = {"lang", "strategies"}
    arguments = {
        "pages": DEFAULT_PAGES,
        **{name: value for name, value in given.items() if name not in own},
    }
    tags = _listed(given.get("lang", "")) or [""]
    strategies = _listed(given.get("strategies", DEFAULT_STRATEGIES))
    if not strategies:
        raise SettingError("-a strategies is empty; name some of " + ", ".join(ORDERINGS))
    languages = [
        CrawlOptions.read({**arguments, "lang": tag, "strategy": strategy}).lang
        for tag in tags
        for strategy in strategies
    ]
    return Plan(list(dict.fromkeys(languages)), strategies, arguments, [], folder)


def _crawl_all(plan: Plan) -> Iterator[tuple[str, str, Summary]]:
    crawls = list(plan.crawls())
    for place, (lang, strategy, folder) in enumerate(crawls, start=1):
        print(f"[{place}/{len(crawls)}] {lang} {strategy}: {folder}", file=sys.stderr, flush=True)
        code, is_interrupted = _run(plan.command(lang, strategy, folder))
        if is_interrupted:
            raise CrawlStopped(f"interrupted during {lang} {strategy}; {plan.way_on}")
        if code != 0:
            failure = f"failed with exit code {code}{_reason(folder)}"
            raise CrawlStopped(f"the crawl {lang} {strategy} {failure}; {plan.way_on}")
        summary = summarise(folder)
        if summary.finish_reason in _STOPPED:
            raise CrawlStopped(f"the crawl {lang} {strategy} was stopped; {plan.way_on}")
        plan.folders[lang, strategy] = folder
        yield lang, strategy, summary


def _run(command: Sequence[str]) -> tuple[int, bool]:
    """Exit code of a crawl, and whether this process was told to stop meanwhile.

    The crawl has a process group of its own: a Ctrl-C reaches it once, through here, and it ends in
    good order; at a second one it gives up.
    """
    signals: list[int] = []
    children: list[subprocess.Popen[bytes]] = []

    def forward(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        for child in children:
            child.send_signal(number if number == signal.SIGINT else signal.SIGTERM)

    watched = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, forward) for number in watched}
    try:
        children.append(subprocess.Popen(command, process_group=0))  # noqa: S603 - our own
        if signals:
            children[0].terminate()
        return children[0].wait(), bool(signals)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _reason(folder: Path) -> str:
    """The last line that a crawl logged, to be put behind a message."""
    try:
        lines = _log(folder).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {last[:300]}" if last else ""


def _publish(
    plan: Plan, runs: dict[str, dict[str, Summary]], *, is_complete: bool, copy: Path | None
) -> None:
    from crawler.report.comparison import as_json
    from crawler.report.comparison_html import comparison_page, print_comparison
    from crawler.report.tables import Printer

    folders = {key: os.fspath(folder) for key, folder in plan.folders.items()}
    content: dict[str, Any] = {"is_complete": is_complete, **as_json(runs, folders)}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_whole(plan.folder / "compare.json", text)
    if copy is not None:
        write_whole(copy, text)
    page = write_whole(plan.folder / "compare.html", comparison_page(runs))
    printer = Printer()
    print_comparison(runs, printer)
    printer.line(str(page))


def _pairs(given: list[str], option: str) -> dict[str, str]:
    try:
        return dict(arglist_to_dict(given))
    except ValueError:
        raise SettingError(f"{option} takes NAME=VALUE") from None


def _listed(value: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))


def _model(settings: Mapping[str, str]) -> Path | None:
    return Path(settings["LANGFOCUS_URL_MODEL"]) if settings.get("LANGFOCUS_URL_MODEL") else None


def _log(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.log")
