"""The crawls of a comparison, one process at a time."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from crawler.command import ExitCode, parts
from crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from crawler.report.harvest import Summary

DEFAULT_STRATEGIES = "random,cctld,svm,focus"
DEFAULT_PAGES = "1000"
"""The size of the crawls in Baykan 2013, Table XVII."""

_OF_THE_PAPER = {"pages": DEFAULT_PAGES, "filter": "none", "host_cap": "10"}
"""The arguments that the paper's crawls have, where a comparison gives none of its own.

The queue takes the first URLs of a host that are found (Baykan 2013, 5.2): `host_queue` is the cap.
"""


class ComparedCrawlError(CrawlError):
    """A crawl of the comparison failed, or could not be started."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every strategy for every language, with the same arguments and settings."""

    languages: tuple[str, ...]
    strategies: tuple[str, ...]
    arguments: Mapping[str, str]
    settings: Sequence[str]
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
        spider = {**self.arguments, "lang": lang, "strategy": strategy}
        settings = [
            f"LOG_FILE={_log(folder)}",
            "LANGFOCUS_WARC=False",
            *self.settings,
            f"JOBDIR={folder}",
            "LANGFOCUS_QUIET=True",
        ]
        return [
            # -P: the current folder may contain another package `crawler`.
            *(sys.executable, "-P", "-m", "langfocus", "crawl"),
            *(part for name, value in spider.items() for part in ("-a", f"{name}={value}")),
            *(part for setting in settings for part in ("-s", setting)),
        ]


def make_comparison(
    given: Mapping[str, str], folder: Path, settings: Sequence[str] = ()
) -> Comparison:
    """The crawls of the arguments; raises SettingError for arguments that no crawl takes."""
    from crawler.config import Config
    from crawler.strategies import ORDERINGS

    if "strategy" in given:
        raise SettingError("-a strategy: a comparison has several; use -a strategies=NAME,NAME")
    arguments = {**_OF_THE_PAPER, **given}
    arguments.setdefault("host_queue", arguments["host_cap"])
    tags = _each_once(arguments.pop("lang", "")) or ("",)
    strategies = _each_once(arguments.pop("strategies", DEFAULT_STRATEGIES))
    if not strategies:
        raise SettingError("-a strategies is empty; name some of " + ", ".join(ORDERINGS))
    languages = [
        Config.read({**arguments, "lang": tag, "strategy": strategy}).lang
        for tag in tags
        for strategy in strategies
    ]
    return Comparison(tuple(dict.fromkeys(languages)), strategies, arguments, settings, folder)


def crawl_all(
    comparison: Comparison, announce: Callable[[str], None]
) -> Iterator[tuple[str, str, "Summary"]]:
    """Language, strategy and figures of each crawl, as soon as it ends.

    Raises ComparedCrawlError at the first crawl that fails, KeyboardInterrupt at the first that is
    interrupted. A crawl that was finished before is not repeated. `announce` gets a line before
    each crawl, whose own progress goes to standard error.
    """
    from crawler.report.harvest import summarise

    crawls = list(comparison.crawls())
    for place, (lang, strategy, folder) in enumerate(crawls, start=1):
        announce(f"[{place}/{len(crawls)}] {lang} {strategy}: {folder}")
        code, is_interrupted = _run(comparison.command(lang, strategy, folder))
        if is_interrupted or code == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt(
                f"interrupted during {lang} {strategy}; {comparison.continuation}"
            )
        if code != ExitCode.DONE:
            raise ComparedCrawlError(
                f"the crawl {lang} {strategy} failed with exit code {code}{_reason(folder)}; "
                f"{comparison.continuation}"
            )
        yield lang, strategy, summarise(folder)


def _run(command: Sequence[str]) -> tuple[int, bool]:
    """Exit code of a crawl, and True if this process was asked to stop meanwhile.

    The crawl runs in a separate process group, so that it gets each Ctrl-C only once, from here. At
    the first it stops in order; at the second it stops at once.
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
    """The last line of the crawl's log as the end of a message; empty without a log."""
    try:
        lines = _log(folder).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {last[:300]}" if last else ""


def _each_once(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(parts(value)))


def _log(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.log")
