"""The crawls of a comparison: what is to be crawled, and crawling it, one process at a time."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from crawler.errors import CrawlError, SettingError
from crawler.options import CrawlOptions
from crawler.report.harvest import Summary, summarise
from crawler.strategies import ORDERINGS

DEFAULT_STRATEGIES = "random,cctld,svm"
DEFAULT_PAGES = "1000"
"""The size of the crawls in Baykan 2013, Table XVII."""

_STOPPED = {"shutdown", "cancelled"}
"""Finish reasons of a crawl that was interrupted and may go on."""


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
            # -P: a folder in which somebody stands may hold a crawler of its own.
            *(sys.executable, "-P", "-m", "langfocus", "crawl"),
            *(part for name, value in spider.items() for part in ("-a", f"{name}={value}")),
            *(part for setting in settings for part in ("-s", setting)),
        ]


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


def crawl_all(plan: Plan, announce: Callable[[str], None]) -> Iterator[tuple[str, str, Summary]]:
    """Language, strategy and figures of one crawl after the other, as each of them ends.

    Raises CrawlStopped at the first that fails or is interrupted. A crawl that was done before is
    only looked at. `announce` gets a line before each crawl, whose own progress goes to standard
    error.
    """
    crawls = list(plan.crawls())
    for place, (lang, strategy, folder) in enumerate(crawls, start=1):
        announce(f"[{place}/{len(crawls)}] {lang} {strategy}: {folder}")
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


def _listed(value: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))


def _log(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.log")
