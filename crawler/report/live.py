"""The state of a running crawl: one value for panel, files, dashboard and metrics."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

import msgspec

from langfocus.crawler.errors import RunFolderError, one_line
from langfocus.crawler.frontier.base import PAGE
from langfocus.crawler.report.formatting import duration, iso_time, percent, share_of, size
from langfocus.crawler.report.page import RELOAD_S, Chart, Points, Report
from langfocus.crawler.report.table import Table
from langfocus.crawler.run.whole_file import read_regular, write_whole

LIVE_JSON: Final = "live.json"
LIVE_HTML: Final = "live.html"
WRITTEN_EVERY_S: Final = RELOAD_S

FETCH_BUCKETS_S: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of `Snapshot.fetches`, whose last count is for longer fetches."""

Limit = Literal["politeness", "network", "reading", "frontier", "queue"]
"""The bottleneck of the next page: host delays, open requests, readers, the crawl's own process, or
an empty queue.
"""

LIMITS: Final[Mapping[Limit, str]] = {
    "politeness": "politeness: no host may be contacted now",
    "network": "network: all requests are in progress",
    "reading": "reading: answers wait for a reader",
    "frontier": "frontier: the crawl's own processor time",
    "queue": "queue: nothing is queued, links must be found first",
}

State = Literal["running", "ending", "finished"]

_MOST_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class About:
    """Constant facts about a crawl."""

    title: str  # language and strategy, or "census"
    lang: str
    strategy: str
    filter: str
    web: str
    is_census: bool
    is_learned: bool  # scores are probabilities


@dataclass(frozen=True, slots=True)
class Goal:
    """A number at which the crawl ends; `left_s` is None if the remaining time is unknown."""

    name: str  # "pages", "relevant", "words", "bytes", "hosts", or "hours", in seconds
    done: float
    of: float
    left_s: float | None = None


@dataclass(frozen=True, slots=True)
class LastPage:
    """A page with its score before the fetch and its language after it.

    The score is a probability if the ordering learns (`About.is_learned`).
    """

    url: str
    score: float
    language: str | None
    is_relevant: bool


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker of a shared crawl, with its mean speed."""

    name: str
    pages_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All displayed figures of a crawl at `at`, unix seconds.

    In a shared crawl, counts and hosts are totals of all workers; after `together` so are outcomes,
    drops, errors, fetches and the last 200 pages. All other figures are this worker's.
    """

    about: About
    state: State
    reason: str  # why it is finished or ending, "" if that is not known
    at: float
    started_at: float  # of the first session, unix seconds
    elapsed_s: float  # of all sessions
    goals: tuple[Goal, ...]
    pages: int
    labelled: int
    relevant: int
    hosts_with_page: int
    queued: int
    expected: int | None  # queued URLs that are expected in the language; None: not known
    in_flight: int
    pages_per_s: float  # of the last ten seconds
    last_relevant: int  # among the last 200 pages of this session
    last_labelled: int
    course: tuple[tuple[int, int], ...]  # relevant and labelled of equal parts of the pages so far
    outcomes: dict[str, int]
    drops: dict[str, int]
    errors: int
    hosts: dict[str, int]  # ready, resting, fetching, full, blocked
    limit: Limit | None
    fetch_s: float  # sum of all fetches, from the lease to the page that was read
    fetches: tuple[int, ...]  # numbers by `FETCH_BUCKETS_S`, with the longer ones at the end
    last: tuple[LastPage, ...]  # the newest first
    workers: tuple[WorkerState, ...] = ()
    embeds: dict[str, int] = field(default_factory=dict)  # files that pages embed, by outcome
    embed_bytes: int = 0
    layout: Literal[1] = 1

    @property
    def share(self) -> float | None:
        """The harvest rate; of a census the share of pages with a language."""
        if self.about.is_census:
            return share_of(self.labelled, self.pages)
        return share_of(self.relevant, self.labelled)

    @property
    def harvest_last(self) -> float | None:
        """The harvest rate of the last 200 pages."""
        return share_of(self.last_relevant, self.last_labelled)

    @property
    def goal(self) -> Goal | None:
        """The first goal to be reached, or None."""
        never = float("inf")
        key = lambda goal: (never if goal.left_s is None else goal.left_s, -goal.done / goal.of)  # noqa: E731
        return min(self.goals, key=key, default=None)


def together(own: Snapshot, name: str, others: Mapping[str, str]) -> Snapshot:
    """Return a worker's snapshot, merged with the other workers' snapshots.

    `others` is the `live_json` by worker name; other versions are skipped.
    """
    all_of = {name: own}
    for other, text in others.items():
        with suppress(msgspec.MsgspecError):
            all_of[other] = decoded(text)
    found = list(all_of.values())
    outcomes = sum((Counter(one.outcomes) for one in found), Counter[str]())
    drops = sum((Counter(one.drops) for one in found), Counter[str]())
    return replace(
        own,
        started_at=min(one.started_at for one in found),
        outcomes=dict(outcomes.most_common()),
        drops=dict(drops.most_common()),
        errors=sum(one.errors for one in found),
        last_relevant=sum(one.last_relevant for one in found),
        last_labelled=sum(one.last_labelled for one in found),
        fetch_s=sum(one.fetch_s for one in found),
        fetches=tuple(map(sum, zip(*(one.fetches for one in found), strict=False))),
        workers=tuple(_worker(name, one) for name, one in sorted(all_of.items())),
    )


def _worker(name: str, snapshot: Snapshot) -> WorkerState:
    pages = snapshot.outcomes.get(PAGE, 0)
    return WorkerState(name, pages / max(snapshot.elapsed_s, 1.0))


# --- The files


def live_json(snapshot: Snapshot) -> str:
    """Return the text of `live.json`."""
    return msgspec.json.encode(snapshot).decode() + "\n"


def decoded(text: str | bytes) -> Snapshot:
    """Return the snapshot in a text of `live_json`; raises `msgspec.MsgspecError`."""
    return msgspec.json.decode(text, type=Snapshot)


def write_live(folder: Path, snapshot: Snapshot) -> None:
    """Replace the live files of a run folder; raises `OSError`."""
    write_whole(folder / LIVE_JSON, live_json(snapshot))
    write_whole(folder / LIVE_HTML, live_html(snapshot))


def read_live(folder: Path) -> Snapshot:
    """Return the snapshot in a run folder; `RunFolderError` if missing or unreadable."""
    path = folder / LIVE_JSON
    try:
        return decoded(read_regular(path, _MOST_BYTES))
    except FileNotFoundError as error:
        raise RunFolderError(
            f"{folder}: has no {LIVE_JSON}; a crawl writes it some seconds after its start"
        ) from error
    except OSError as error:
        raise RunFolderError(f"{path}: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        fault = one_line(str(error))
        raise RunFolderError(f"{path} is not that of a crawl of this version: {fault}") from error


def live_html(snapshot: Snapshot) -> str:
    """Return the text of `live.html`: the snapshot as a page that reloads itself."""
    is_finished = snapshot.state == "finished"
    rate, title, rest = "harvest rate", "Harvest rate", "report.html"
    if snapshot.about.is_census:
        rate, title, rest = "with a language", "Pages with a language", "census.html"
    parts = [share_of(*part) for part in snapshot.course]
    line = [((n + 0.5) * snapshot.pages / len(parts), share) for n, share in enumerate(parts)]
    pages = [(page.url, page.language, f"{page.score:.2f}") for page in snapshot.last]
    rows = [(name, ", ".join(parts)) for name, parts in figures(snapshot).items() if parts]
    if goal := goal_of(snapshot):
        rows.insert(0, ("goal", goal))
    return Report(
        title=f"{snapshot.about.title}: {snapshot.state}",
        lead=f"{state_of(snapshot)}. As of {utc(snapshot.at)}.",
        period=(iso_time(snapshot.started_at), iso_time(snapshot.at)),
        cards=[
            (rate, snapshot.share),
            ("pages", snapshot.pages),
            ("time", duration(snapshot.elapsed_s)),
        ],
        parts=[
            *([_course(title, line)] if line else ()),
            Table("Figures", ("", ""), rows, text_columns=2),
            Table("Last pages", ("URL", "language", "score before"), pages, text_columns=2),
        ],
        is_reloaded=not is_finished,
        link=rest if is_finished else "",
    ).html()


def _course(title: str, line: Points) -> Chart:
    caption = "Each point is one of equal parts of the pages so far; the last one may be smaller."
    return Chart(title=title, lines={"": line}, y_label="", is_share=True, caption=caption)


def goal_of(snapshot: Snapshot) -> str:
    """Return the progress to the first goal as text; "" without a goal."""
    goal = snapshot.goal
    if goal is None:
        return ""
    noun = "relevant pages" if goal.name == "relevant" else goal.name
    whole = f"{goal.of:,.0f} {noun}"
    if goal.name in ("hours", "bytes"):
        whole = duration(goal.of) if goal.name == "hours" else size(int(goal.of))
    text = f"{percent(goal.done / goal.of)} of {whole}"
    if goal.left_s is not None and snapshot.state != "finished":
        text += f", {duration(goal.left_s)} left"
    return text


def figures(snapshot: Snapshot) -> dict[str, list[str]]:
    """Return the figures of panel and page as rows, by name."""
    hosts, expected = snapshot.hosts, snapshot.expected
    counts = [f"{snapshot.pages:,}"]
    rates = ["with a language", percent(snapshot.share)]
    if not snapshot.about.is_census:
        rates = [percent(snapshot.share), f"last 200 {percent(snapshot.harvest_last)}"]
        counts.append(f"relevant {snapshot.relevant:,}")
    counts += [f"errors {snapshot.errors:,}", f"{snapshot.pages_per_s:,.1f} pages/s"]
    now = state_of(snapshot)
    if snapshot.state == "ending":
        now += "; Ctrl-C stops now"
    elif snapshot.state == "running" and snapshot.limit:
        now = LIMITS[snapshot.limit]
    outcomes = {name: n for name, n in snapshot.outcomes.items() if name != PAGE}
    rows = {
        "labels" if snapshot.about.is_census else "harvest": rates,
        "pages": counts,
        "queue": [
            f"{snapshot.queued:,}",
            *([] if expected is None else [f"expected {expected:,}"]),
            f"in progress {snapshot.in_flight:,}",
        ],
        "hosts": [f"{name} {hosts[name]:,}" for name in ("ready", "resting", "full", "blocked")],
        "limit": [now],
        "drops": list(_named(snapshot.drops)),
        "other": list(_named(outcomes)),
    }
    if snapshot.embeds:
        rows["files"] = [size(snapshot.embed_bytes), *_named(snapshot.embeds)]
    if snapshot.workers:
        speeds = (f"{one.name} {one.pages_per_s:,.1f}/s" for one in snapshot.workers)
        rows["workers"] = [f"{len(snapshot.workers)}:", *speeds]
    return rows


def _named(counts: Mapping[str, int]) -> Iterator[str]:
    for name, number in counts.items():
        yield f"{name.replace('_', ' ')} {number:,}"


def state_of(snapshot: Snapshot) -> str:
    """Return the state of a crawl as words."""
    if snapshot.state == "ending":
        return f"Ending: waits for {snapshot.in_flight:,} requests"
    return f"Finished ({snapshot.reason})" if snapshot.state == "finished" else "Running"


def utc(at: float) -> str:
    """Return a time as `2026-11-23 22:55:01 UTC`."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
