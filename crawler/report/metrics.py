"""The figures of a running crawl in the text format 0.0.4 of Prometheus.

No label has a host or a URL: the number of time series does not grow with the crawl.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Final, get_args

from langfocus.crawler.report.live import FETCH_BUCKETS_S, Limit, Snapshot

_PREFIX: Final = "langfocus_"
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

_Samples = Mapping[str, float | None]
"""Values by name ending; None values are skipped."""


def metrics(snapshot: Snapshot) -> str:
    """Return the figures of a snapshot."""
    lines = []
    for name, kind, meaning, samples in _families(snapshot):
        lines += [f"# HELP {_PREFIX}{name} {meaning}", f"# TYPE {_PREFIX}{name} {kind}"]
        known = {end: value for end, value in samples.items() if value is not None}
        lines += [f"{_PREFIX}{name}{end} {value:.15g}" for end, value in known.items()]
    return "\n".join([*lines, ""])


def _families(s: Snapshot) -> Iterator[tuple[str, str, str, _Samples]]:
    about = {name: getattr(s.about, name) for name in ("lang", "strategy", "filter", "web")}
    labels = ",".join(f"{name}={_quoted(value)}" for name, value in about.items())
    yield "info", "gauge", "What is crawled, and how.", {f"{{{labels}}}": 1}
    yield "running", "gauge", "0 after the end of the crawl.", {"": s.state != "finished"}
    yield "pages_total", "counter", "Settled URLs.", _by("outcome", s.outcomes)
    yield "labelled_pages_total", "counter", "Pages with a label.", {"": s.labelled}
    yield "relevant_pages_total", "counter", "Pages in the language.", {"": s.relevant}
    yield "errors_total", "counter", "Settled URLs that failed.", {"": s.errors}
    yield "drops_total", "counter", "Links and URLs not queued.", _by("reason", s.drops)
    yield "harvest_ratio", "gauge", "Relevant pages / pages with a label.", {"": s.share}
    yield "harvest_last_ratio", "gauge", "The same, of the last 200.", {"": s.harvest_last}
    yield "queued_urls", "gauge", "Queued URLs.", {"": s.queued}
    yield "expected_urls", "gauge", "Queued URLs expected in the language.", {"": s.expected}
    yield "fetching_urls", "gauge", "URLs with a lease.", {"": s.in_flight}
    yield "hosts", "gauge", "Hosts by what they allow now.", _by("state", s.hosts)
    limits = {name: int(name == s.limit) for name in get_args(Limit)}
    yield "limited_by", "gauge", "1 at what the next page waits for.", _by("part", limits)
    yield "page_seconds", "histogram", "Seconds of a page.", _histogram(s)
    yield "elapsed_seconds", "gauge", "Seconds of all sessions.", {"": s.elapsed_s}
    yield "goal", "gauge", "What ends the crawl.", _by("goal", {g.name: g.of for g in s.goals})
    done = {goal.name: goal.done for goal in s.goals}
    yield "goal_done", "gauge", "How much of each goal is done.", _by("goal", done)
    yield "files", "gauge", "Files that pages embed (-a embeds).", _by("outcome", s.embeds)
    yield "file_bytes", "gauge", "Their bytes.", {"": s.embed_bytes}
    yield "workers", "gauge", "Workers of a shared crawl.", {"": len(s.workers)}


def _by(label: str, numbers: Mapping[str, float]) -> _Samples:
    return {f"{{{label}={_quoted(name)}}}": number for name, number in numbers.items()}


def _histogram(s: Snapshot) -> _Samples:
    bounds = [*(f"{bound:g}" for bound in FETCH_BUCKETS_S), "+Inf"]
    counts = zip(bounds, accumulate(s.fetches), strict=True)
    buckets: dict[str, float] = {f'_bucket{{le="{bound}"}}': count for bound, count in counts}
    return {**buckets, "_sum": s.fetch_s, "_count": sum(s.fetches)}


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'
