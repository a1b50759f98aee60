"""`langfocus crawl`, and `scrapy crawl langfocus`: a crawl with a manual and one-line errors."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections import Counter
from collections.abc import Mapping
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import TYPE_CHECKING, Any, cast

from scrapy.commands import crawl as scrapy_crawl
from scrapy.settings import Settings

from langfocus.classifiers.plugins import object_at
from langfocus.crawler.commands.base import (
    Parser,
    ended,
    meanings,
    not_understood,
    pairs,
    positive,
    settings_of,
)
from langfocus.crawler.errors import CrawlError, SettingError
from langfocus.crawler.frontier.base import UNCHANGED
from langfocus.crawler.session.visit import NO_ADDRESS
from langfocus.crawler.settings import BOT_NAME

if TYPE_CHECKING:
    from langfocus.crawler.session.crawl import Crawl
    from langfocus.crawler.spiders.langfocus import Spider

DESCRIPTION = (
    "Fetches the pages first that are most likely in the language of -a lang, checks the "
    "language of each page from its content, and reports the harvest rate: relevant pages / "
    "pages with a label."
)

_EXAMPLES = """\
A run is a folder: run.db, summary.json, report.html. The same command with its JOBDIR continues it.
A census (-a hosts=FILE) fetches the portal page (/) of each host; langfocus census shows tables.

examples:
  langfocus crawl -a lang=de -a web=sample -a pages=500
  langfocus crawl -a lang=fr -a pages=10000 -s LANGFOCUS_CONTACT=you@example.org
  langfocus crawl -a lang=th -a host_cap=0 -s LANGFOCUS_CONTACT=https://example.org/bot
  langfocus crawl -a lang=de -a web=archive -a archive=crawl.warc.gz -a seeds=http://x.de/
  langfocus crawl -a lang=de -a web=sample -a pages=5000 --workers 4
  langfocus crawl -a hosts=hosts.txt -s LANGFOCUS_CONTACT=you@example.org
"""

_LEAST_ERROR = 400
_NOTHING_LEFT = "finished"
_STOPPED = {"shutdown", "cancelled"}
"""Finish reasons of a stopped crawl; a killed or crashed crawl has ""."""


class CrawlCommand(scrapy_crawl.Command):
    """`scrapy crawl`: runs our spider like `langfocus crawl`, other spiders like Scrapy."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the named spider."""
        if args[:1] != [BOT_NAME]:
            super().run(args, opts)
            return
        gc.disable()  # until the scheduler is open, as in `langfocus.command_line`
        settings = self.settings or Settings()
        self.exitcode = ended(lambda: _crawl(args[1:], opts.spargs, settings, self.crawler_process))


def arguments(parser: Parser) -> None:
    """Add the command's arguments, and the crawl's arguments to the manual."""
    from langfocus.crawler.options.config import ARGUMENTS, SETTINGS

    parser.usage = (
        "langfocus crawl -a lang=LANG [-a NAME=VALUE] [-s NAME=VALUE] [--workers N] [-O FILE]"
    )
    parser.add_pairs("-a", "argument of the crawl (may be repeated)")
    parser.add_pairs("-s", "setting of langfocus or Scrapy (may be repeated)")
    level = "log level (default: WARNING); INFO logs each URL, DEBUG Scrapy's internals too"
    parser.add_argument("-L", dest="level", metavar="LEVEL", help=level)
    parser.add_argument(
        "-o", dest="output", metavar="FILE", action="append", help="append pages to a feed"
    )
    parser.add_argument(
        "-O", dest="overwrite_output", metavar="FILE", action="append", help="write a feed anew"
    )
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="crawl into one run with N processes on this machine (docs/many-workers.md)",
    )
    parser.add_argument(
        "--spider",
        metavar="FILE.py:CLASS",
        help="a spider of your own, derived from langfocus.Spider (or MODULE:CLASS)",
    )
    parser.epilog = "\n".join(
        [
            meanings("arguments (-a NAME=VALUE):", {n: k.manual for n, k in ARGUMENTS.items()}),
            meanings("settings (-s NAME=VALUE):", {n: k.manual for n, k in SETTINGS.items()}),
            _EXAMPLES,
        ]
    )


def run(opts: argparse.Namespace) -> None:
    """Crawl; raise an error if the crawl did not end well."""
    from scrapy.utils.conf import feed_process_params_from_cli

    from langfocus.crawler.spiders.scrapy_settings import config_of, crawler_process

    settings, spider = settings_of(opts), None
    if opts.spider:
        spider = _spider(opts.spider)
    if opts.level is not None:
        settings.set("LOG_LEVEL", opts.level, priority="cmdline")
    if opts.workers:
        gc.enable()
        from langfocus.crawler.commands.workers import crawl_by_workers

        if opts.output or opts.overwrite_output:
            raise SettingError("-o, -O: not with --workers; langfocus export writes the texts")
        if spider is not None:
            raise SettingError("--spider: not with --workers, which runs langfocus' own spider")
        arguments = pairs(opts.spargs)
        config = config_of(arguments, settings)
        crawl_by_workers(opts.workers, arguments, pairs(opts.set, "-s"), config)
        return
    if opts.output or opts.overwrite_output:
        feeds = feed_process_params_from_cli(
            settings, opts.output or [], overwrite_output=opts.overwrite_output
        )
        settings.set("FEEDS", feeds, priority="cmdline")
    if spider is not None:
        _crawl_own(spider, pairs(opts.spargs), crawler_process(settings))
    else:
        _crawl([], pairs(opts.spargs), settings, crawler_process(settings))


def _spider(text: str) -> type[Spider]:
    """Return the spider of `--spider`; raises `SettingError`."""
    from langfocus.crawler.commands.child import IMPORTING
    from langfocus.crawler.spiders.langfocus import Spider

    place, _, name = text.rpartition(":")
    os.environ[IMPORTING] = text
    try:
        if place.endswith(".py"):
            # The file is not the running program, and multiprocessing recognises this name.
            spec = spec_from_loader("__mp_main__", SourceFileLoader("__mp_main__", place))
            module = sys.modules["__mp_main__"] = module_from_spec(cast(ModuleSpec, spec))
            cast(SourceFileLoader, module.__loader__).exec_module(module)
            found = getattr(module, name)
        else:
            found = object_at(text, from_folder=True)
    except CrawlError:
        raise
    except Exception as error:
        raise SettingError(f"--spider {text}: {type(error).__name__}: {error}") from error
    finally:
        del os.environ[IMPORTING]
    if not (isinstance(found, type) and issubclass(found, Spider)):
        raise SettingError(f"--spider {text}: not derived from langfocus.Spider")
    return found


def _crawl_own(spider: type[Spider], arguments: dict[str, str], process: Any) -> None:
    """Run a spider of the user's own to its end."""
    from langfocus.crawler.spiders.printable_log import leave_out_settings

    leave_out_settings(process.settings)
    task = process.crawl(crawler := process.create_crawler(spider), **arguments)
    process.start()
    if not task.cancelled() and (error := task.exception()):
        raise error
    own: Any = crawler.spider
    _judge(own.crawl)


def _crawl(rest: list[str], arguments: dict[str, str], settings: Settings, process: Any) -> None:
    """Open the crawl, with one-line errors, and run it by Scrapy to its end."""
    if rest:
        raise not_understood(rest[0], "langfocus crawl")
    from langfocus.crawler.session.opening import open_crawl
    from langfocus.crawler.spiders.langfocus import LangfocusSpider
    from langfocus.crawler.spiders.printable_log import leave_out_settings
    from langfocus.crawler.spiders.scrapy_settings import config_of

    leave_out_settings(settings)
    crawl = open_crawl(config_of(arguments, settings))
    process.crawl(LangfocusSpider, crawl=crawl)
    process.start()
    _judge(crawl)


def _judge(crawl: Crawl) -> None:
    """Raise an error for a crawl that did not reach its end or fetched no page."""
    from langfocus.crawler.session.ending import UNANSWERED

    folder = crawl.run.folder
    continuation = f"the same command with -s JOBDIR={folder} continues"
    ending = crawl.ending
    if ending.fault and crawl.worker is not None and crawl.worker.stored.is_lost:
        raise CrawlError(ending.fault)
    if ending.fault:
        raise CrawlError(f"{ending.fault}; {continuation}")
    if not ending.finish_reason:
        if sys.stderr.isatty():
            sys.stderr.write("\n")  # after the unterminated progress line
        report = f"its report is old or missing, langfocus report {folder} writes it"
        raise KeyboardInterrupt(f"stopped at once: {report}; {continuation}")
    if ending.finish_reason in _STOPPED:
        raise KeyboardInterrupt(f"stopped; {continuation}")
    if ending.finish_reason == UNANSWERED:
        reasons = ending.failures
        cause = ": names cannot be resolved here"
        cause = cause if set(reasons) == {NO_ADDRESS} else _in_words(reasons, "host")
        raise CrawlError(f"no seed answered{cause}; try -a web=sample")
    counts = crawl.queue.counts()
    if counts.labelled or (counts.pages and ending.finish_reason != _NOTHING_LEFT):
        return
    from langfocus.crawler.report.harvest import summarise

    summary = summarise(folder)
    if not counts.pages and UNCHANGED not in summary.outcomes:
        raise CrawlError(f"no page was fetched{_in_words(summary.outcomes, 'URL')}")
    statuses = {f"status {status}": number for status, number in summary.statuses.items()}
    if statuses and all(int(status) >= _LEAST_ERROR for status in summary.statuses):
        raise CrawlError(f"no seed gave a page{_in_words(statuses, 'URL')}")


def _in_words(reasons: Mapping[str, int], noun: str) -> str:
    """Return reasons with their counts of hosts or URLs, the most frequent first."""
    from langfocus.crawler.report.details import meaning

    parts = [
        f"{meaning(name)}: {number:,} {noun}{'s' if number > 1 else ''}"
        for name, number in Counter(reasons).most_common()
    ]
    return f"; {', '.join(parts)}" if reasons else ""
