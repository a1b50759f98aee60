"""`langfocus crawl`: Scrapy's own command, with a manual and one-line errors for our spider."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import crawl as scrapy_crawl
from scrapy.settings import Settings

from crawler.command import ExitCode, LangfocusCommand, meanings
from crawler.ending import UNANSWERED
from crawler.errors import CrawlError, SettingError
from crawler.report.files import write_whole
from crawler.visit import NO_ADDRESS

if TYPE_CHECKING:
    from crawler.crawl import Crawl

_SPIDER = "langfocus"

_EXAMPLES = """\
A run is a folder: run.db, summary.json, report.html. To continue a crawl that was stopped or
killed, repeat the command with the same JOBDIR. A census (-a hosts=FILE) has tables of its own:
langfocus census --help.

examples:
  langfocus crawl -a lang=de -a web=sample -a pages=500
  langfocus crawl -a lang=fr -a pages=10000 -s LANGFOCUS_CONTACT=you@example.org
  langfocus crawl -a lang=th -a host_cap=0 -s LANGFOCUS_CONTACT=https://example.org/bot
  langfocus crawl -a lang=de -a web=archive -a archive=crawl.warc.gz -a seeds=http://x.de/
"""

_LEAST_ERROR = 400
_NOTHING_LEFT = "finished"
_STOPPED = {"shutdown", "cancelled"}
"""Finish reasons of a crawl that was stopped; "" is that of one which was killed or crashed."""


class CrawlCommand(LangfocusCommand, scrapy_crawl.Command):
    """Runs the spider `langfocus`. The crawl is opened first, so that an error is one line."""

    requires_crawler_process = True

    usage = "-a lang=LANG [-a NAME=VALUE] [-s NAME=VALUE] [--json FILE]"
    summary = "Crawl the part of the Web that is written in one language"
    description = (
        "Fetches the pages first that are most likely in the language of -a lang, checks the "
        "language of each page from its content, and reports the harvest rate: relevant pages / "
        "pages with a label."
    )
    json_help = "also write summary.json to FILE"

    def manual(self) -> str:
        """Return the rest of `--help`: arguments, settings, examples."""
        from crawler.config import ARGUMENTS, SETTINGS, manuals

        return "\n".join(
            [
                meanings("arguments (-a NAME=VALUE):", manuals(ARGUMENTS)),
                meanings("settings (-s NAME=VALUE):", manuals(SETTINGS)),
                _EXAMPLES,
            ]
        )

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Open the crawl, let Scrapy run it, and judge how it ended."""
        name = args[0] if args else _SPIDER
        if len(args) > 1 or name != _SPIDER:
            self._run_other(args, opts)
            return
        from crawler.spiders.printable_log import leave_out_settings

        if self.settings is None or self.settings["LOG_LEVEL"] != "DEBUG":
            leave_out_settings()
        from crawler.spiders.langfocus import LangfocusSpider

        crawl = LangfocusSpider.open(opts.spargs, self.settings or Settings())
        opts.spargs = {**opts.spargs, "crawl": crawl}
        scrapy_crawl.Command.run(self, [name], opts)
        self._judge(crawl)
        if opts.json is not None and crawl.finish_reason:
            summary = crawl.run.folder / "summary.json"
            write_whole(opts.json, summary.read_text(encoding="utf-8"))

    def _run_other(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run a spider of the project in which the command was called."""
        loader = self.crawler_process.spider_loader if self.crawler_process else None
        spiders = loader.list() if loader else []
        forgotten = [arg for arg in args if "=" in arg]
        if forgotten:
            raise SettingError(f"{forgotten[0]}: an argument needs -a before it: -a {forgotten[0]}")
        if len(args) > 1 or args[0] not in spiders:
            near = get_close_matches(args[0], spiders, n=1)
            advice = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingError(f"there is no spider {' '.join(args)!r}{advice}")
        scrapy_crawl.Command.run(self, args, opts)

    def _judge(self, crawl: Crawl) -> None:
        """Fail if the crawl did not reach its end or fetched no page."""
        continuation = f"the same command with -s JOBDIR={crawl.run.folder} continues"
        if crawl.fault and crawl.worker is not None and crawl.worker.is_lost:
            raise CrawlError(crawl.fault)
        if crawl.fault:
            raise CrawlError(f"{crawl.fault}; {continuation}")
        if not crawl.finish_reason:
            if sys.stderr.isatty():
                sys.stderr.write("\n")  # the line of progress has no end
            report = f"its report is old or missing, langfocus report {crawl.run.folder} writes it"
            self.fail(f"stopped at once: {report}; {continuation}", ExitCode.INTERRUPTED)
        elif crawl.finish_reason in _STOPPED:
            self.fail(f"stopped; {continuation}", ExitCode.INTERRUPTED)
        elif crawl.finish_reason == UNANSWERED:
            self.fail(_unanswered(crawl.ending.failures))
        elif crawl.counts().pages == 0:
            self.fail(f"no page was fetched{_outcomes(crawl.run.folder)}")
        elif crawl.finish_reason == _NOTHING_LEFT and not crawl.counts().labelled:
            self._judge_statuses(crawl.run.folder)

    def _judge_statuses(self, folder: Path) -> None:
        """Fail if every page of a run is an error of its server."""
        from crawler.report.harvest import summarise

        statuses = summarise(folder).statuses
        if statuses and all(int(status) >= _LEAST_ERROR for status in statuses):
            named = {f"status {status}": number for status, number in statuses.items()}
            self.fail(f"no seed gave a page{_in_words(named, 'URL')}")


def _unanswered(reasons: Mapping[str, int]) -> str:
    told = _in_words(reasons, "host")
    if set(reasons) == {NO_ADDRESS}:
        told = ": names cannot be resolved here"
    return f"no seed answered{told}; try -a web=sample"


def _outcomes(folder: Path) -> str:
    from crawler.report.harvest import summarise

    return _in_words(summarise(folder).outcomes, "URL")


def _in_words(reasons: Mapping[str, int], noun: str) -> str:
    """Return reasons with the number of hosts or URLs, the most frequent first."""
    from crawler.fetching import REASONS

    told = (
        f"{REASONS.get(name, name)}: {number:,} {noun}{'s' if number > 1 else ''}"
        for name, number in Counter(reasons).most_common()
    )
    return f"; {', '.join(told)}" if reasons else ""
