"""`langfocus compare`: one crawl per strategy from the same seeds, and the figures of all."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.command import LangfocusCommand, pairs
from crawler.errors import SettingError

if TYPE_CHECKING:
    from crawler.commands.comparing import Comparison
    from crawler.report.harvest import Summary

    Runs = dict[str, dict[str, Summary]]

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


class CompareCommand(LangfocusCommand):
    """Compares strategies by a crawl with each of them."""

    usage = "-a lang=LANG[,LANG] [-a strategies=NAME,NAME] [-a NAME=VALUE] [--json FILE]"
    summary = "Crawl with several strategies and compare their harvest rates"
    description = (
        "Crawls once per strategy from the same seeds. Shows for each strategy the visited hosts, "
        "the share of pages without a label, the share of pages in the target language, and that "
        "share over time. These are Tables XVII, XVIII, XIX and Figure 7 of Baykan et al. 2013, "
        "with the paper's figures next to ours."
    )
    json_help = "also write compare.json to FILE"
    pairs_help = "argument of the comparison or of its crawls (may be repeated)"

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _arguments() + "\n" + _MANUAL

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl, then print the tables, also those of an unfinished comparison."""
        from crawler.commands.comparing import crawl_all
        from crawler.report.progress import Display

        if args:
            raise SettingError(f"{args[0]}: not understood; see langfocus compare --help")
        comparison = self._comparison(opts)
        runs: Runs = {}
        is_complete = False
        try:
            for lang, strategy, summary in crawl_all(comparison, Display(sys.stderr).tell):
                runs.setdefault(lang, {})[strategy] = summary
            is_complete = True
        finally:
            if runs:
                self._publish(comparison, runs, opts, is_complete=is_complete)

    def _comparison(self, opts: argparse.Namespace) -> Comparison:
        from crawler.commands.comparing import make_comparison

        settings = pairs(opts.set, "-s")
        comparison = make_comparison(
            pairs(opts.spargs),
            self._folder(settings.pop("JOBDIR", None)),
            [*(f"{name}={value}" for name, value in settings.items()), *_logging(opts)],
        )
        _check_strategies(comparison, settings)
        comparison.folder.mkdir(parents=True, exist_ok=True)
        return comparison

    def _folder(self, jobdir: str | None) -> Path:
        if jobdir:
            return Path(jobdir)
        from crawler.opening import RUNS

        return RUNS / f"compare-{time.strftime('%Y%m%d-%H%M%S')}"

    def _publish(
        self, comparison: Comparison, runs: Runs, opts: argparse.Namespace, *, is_complete: bool
    ) -> None:
        from crawler.report.comparison_page import comparison_page, print_comparison
        from crawler.report.comparison_tables import comparison_json
        from crawler.report.files import json_text, write_whole
        from crawler.report.printer import Printer

        folders = {
            (lang, strategy): os.fspath(folder)
            for lang, strategy, folder in comparison.crawls()
            if strategy in runs.get(lang, {})
        }
        content: dict[str, Any] = {"is_complete": is_complete, **comparison_json(runs, folders)}
        write_whole(comparison.folder / "compare.json", json_text(content))
        self.write_json(opts, content)
        page = write_whole(comparison.folder / "compare.html", comparison_page(runs))
        printer = Printer()
        print_comparison(runs, printer)
        printer.line(str(page))


def _arguments() -> str:
    from crawler.command import meanings
    from crawler.commands.comparing import DEFAULT_PAGES, DEFAULT_STRATEGIES
    from crawler.config import ARGUMENTS
    from crawler.strategies import ORDERINGS

    own: Mapping[str, str] = {
        "lang": "target language; several with commas between them (-a lang=de,fr); required",
        "strategies": f"strategies to compare, of {', '.join(ORDERINGS)} (default "
        f"{DEFAULT_STRATEGIES}: those of the paper and the default of a crawl)",
        "pages": f"pages of each crawl (default {DEFAULT_PAGES}, as in the paper)",
        "...": "every other argument of a crawl, the same for all crawls: "
        + ", ".join(name for name in ARGUMENTS if name not in {"lang", "strategy", "pages"}),
    }
    return meanings("arguments (-a NAME=VALUE):", own)


def _check_strategies(comparison: Comparison, settings: Mapping[str, str]) -> None:
    """Raise the error of a wrong strategy, goal or model before the first crawl begins."""
    from classifiers.pages.methods import DEFAULT_METHOD
    from classifiers.pages.text.fasttextengine import VARIABLE, named_file
    from crawler.config import Config
    from crawler.preparation import check_goals
    from crawler.reading import page_method
    from crawler.strategies import make_ordering

    given = comparison.arguments
    url_model, fasttext = settings.get("LANGFOCUS_URL_MODEL"), settings.get(VARIABLE)
    for lang in comparison.languages:
        for strategy in comparison.strategies:
            ordering = make_ordering(strategy, lang, model=Path(url_model) if url_model else None)
            config = Config.read({**given, "lang": lang, "strategy": strategy}, settings)
            try:
                check_goals(config, doubts=ordering.doubts_up_to is not None)
            except SettingError as error:
                raise SettingError(f"the crawl with {strategy}: {error}") from error
    identify = comparison.arguments.get("identify", DEFAULT_METHOD)
    page_method(identify, named_file(Path(fasttext) if fasttext else None))


def _logging(opts: argparse.Namespace) -> list[str]:
    """Scrapy's options for the log, as settings of every crawl."""
    wanted = {
        "LOG_LEVEL": opts.loglevel,
        "LOG_FILE": opts.logfile,
        "LOG_ENABLED": "False" if opts.nolog else None,
    }
    return [f"{name}={value}" for name, value in wanted.items() if value]
