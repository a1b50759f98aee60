"""`scrapy compare`: one crawl per strategy from the same seeds, and what each brought in."""

import argparse
import json
import os
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.utils.conf import arglist_to_dict

from classifiers.errors import ClassifierError
from classifiers.pages.methods import DEFAULT_METHOD
from crawler.commands.comparing import DEFAULT_PAGES, DEFAULT_STRATEGIES, Plan, crawl_all, make_plan
from crawler.errors import CrawlError, SettingError
from crawler.identification import page_method
from crawler.options import ARGUMENTS
from crawler.report.files import write_whole
from crawler.report.harvest import Summary
from crawler.strategies import ORDERINGS, make_ordering

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
            for lang, strategy, summary in crawl_all(plan, _announce):
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
        plan.settings = [*_settings(settings), *_logging(opts)]
        for lang in plan.languages:
            for strategy in plan.strategies:
                # Said now rather than by the last crawl.
                make_ordering(strategy, lang, model=_model(settings))
        page_method(given.get("identify", DEFAULT_METHOD))
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


def _announce(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _publish(
    plan: Plan, runs: dict[str, dict[str, Summary]], *, is_complete: bool, copy: Path | None
) -> None:
    from crawler.report.comparison_page import comparison_page, print_comparison
    from crawler.report.comparison_tables import comparison_json
    from crawler.report.printer import Printer

    folders = {key: os.fspath(folder) for key, folder in plan.folders.items()}
    content: dict[str, Any] = {"is_complete": is_complete, **comparison_json(runs, folders)}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_whole(plan.folder / "compare.json", text)
    if copy is not None:
        write_whole(copy, text)
    page = write_whole(plan.folder / "compare.html", comparison_page(runs))
    printer = Printer()
    print_comparison(runs, printer)
    printer.line(str(page))


def _settings(given: Mapping[str, str]) -> list[str]:
    """The settings of every crawl; the folder is another for each of them."""
    return [f"{name}={value}" for name, value in given.items() if name != "JOBDIR"]


def _logging(opts: argparse.Namespace) -> list[str]:
    """Scrapy's options for the log, as settings of every crawl."""
    wanted = {
        "LOG_LEVEL": opts.loglevel,
        "LOG_FILE": opts.logfile,
        "LOG_ENABLED": "False" if opts.nolog else None,
    }
    return [f"{name}={value}" for name, value in wanted.items() if value]


def _pairs(given: list[str], option: str) -> dict[str, str]:
    try:
        return dict(arglist_to_dict(given))
    except ValueError:
        raise SettingError(f"{option} takes NAME=VALUE") from None


def _model(settings: Mapping[str, str]) -> Path | None:
    return Path(settings["LANGFOCUS_URL_MODEL"]) if settings.get("LANGFOCUS_URL_MODEL") else None
