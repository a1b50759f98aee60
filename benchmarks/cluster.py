"""A crawl with shards on a Redis Cluster beside one frontier: harvest, politeness, speed, kills.

    python -m benchmarks.cluster [--langs ru,it,id] [--pages 1000 4000] [--servers 1 2 3]
    python -m benchmarks.cluster --kills 20

Four workers (`langfocus crawl --workers`) crawl a generated web (`benchmarks.proxyweb`) for each
language until the highest number of pages: first with one shard on one server, then with 16 shards
on clusters of some servers. Harvest after each number of pages, pages of a host and the least time
between two requests of a host come from the log of the web's server. The processor time of the
Redis servers and of the crawl is divided by the pages, since all of them share the processors of
one machine.

With `--kills`, workers and masters of a cluster of three with a replica each are killed
(`benchmarks.killloop`). Each result is a line of JSON with its commit, its date and its command;
after them comes a table. Exit code 1 if the kills did any harm.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import date
from itertools import product
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import mean
from typing import Any, Final

from benchmarks import killloop, proxyweb
from benchmarks.crawling import ROOT, command, summary
from benchmarks.markdown import markdown
from benchmarks.servers.rediscluster import RedisCluster
from langfocus.crawler.report.provenance import provenance
from langfocus.crawler.report.table import Table

_LINKS: Final = ("stored", "seen", "host_full", "domain_full", "rejected")
_SHOWN: Final = {
    "language": "lang",
    "pages": "pages",
    "servers": "servers",
    "shards": "shards",
    "harvest": "harvest",
    "most of a host": "max_pages_per_host",
    "least gap, s": "min_gap_s",
    "pages/s": "pages_per_s",
    "links/s": "links_per_s",
    "busiest server, ms a page": "busiest_ms",
    "all servers": "servers_ms",
    "crawl": "crawl_ms",
}
"""The columns of the table, and what they show of a result."""
_STEP: Final = 200
"""Pages between two harvest rates; each rate counts the pages since the previous rate."""
_LONGEST_S: Final = 1200.0
"""Seconds after which a crawl is given up."""


def crawl(lang: str, servers: int, shards: int, given: argparse.Namespace) -> dict[str, Any]:
    """Crawl one web; return the figures of its judge, and seconds and milliseconds a page."""
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        (folder / "redis").mkdir()
        cluster = RedisCluster(folder / "redis", servers)
        stack.callback(cluster.kill)
        with proxyweb.serve(folder / "web", seed=given.web) as web:
            line = command(
                *(f"lang={lang}", f"strategy={given.strategy}", f"pages={max(given.pages)}"),
                f"seeds={','.join(web.seeds[lang][:3])}",
                JOBDIR=folder / "run",
                DOWNLOAD_DELAY=given.delay,
                LANGFOCUS_FRONTIER=cluster.url,
                LANGFOCUS_SHARDS=shards,
                LANGFOCUS_QUIET=True,
                LANGFOCUS_WARC=False,
            )
            line = [sys.executable, "-m", "langfocus", "crawl", *line[5:]]
            before, began_at = _spent_s(), time.monotonic()
            subprocess.run(
                [*line, f"--workers={given.workers}"],
                cwd=ROOT,
                env=web.environment,
                check=True,
                timeout=_LONGEST_S,
                stderr=subprocess.DEVNULL,
            )
            seconds, spent_s = time.monotonic() - began_at, _spent_s() - before
            of_servers = [_spent_by(cluster.client(place)) for place in range(servers)]
        judged = web.judge(lang)
        facts = summary(folder / "run")
    links, each_ms = sum(facts["counts"].get(name, 0) for name in _LINKS), 1000 / facts["pages"]
    return {
        **{"lang": lang, "pages": facts["pages"], "servers": servers, "shards": shards},
        "harvest": {n: round(mean(judged["harvest_by_200"][: n // _STEP]), 4) for n in given.pages},
        **{name: judged[name] for name in ("max_pages_per_host", "refetched")},
        "min_gap_s": judged["min_gap_same_host_s"],
        "seconds": round(facts["seconds"], 1),
        "seconds_with_start": round(seconds, 1),
        "pages_per_s": round(facts["pages"] / facts["seconds"], 1),
        "links_per_s": round(links / facts["seconds"], 1),
        "busiest_ms": round(max(of_servers) * each_ms, 3),
        "servers_ms": round(sum(of_servers) * each_ms, 3),
        "crawl_ms": round(spent_s * each_ms, 2),
    }


def _spent_s() -> float:
    """Return the processor time of ended child processes."""
    spent = getrusage(RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _spent_by(client: Any) -> float:
    usage = client.info("cpu")
    return float(usage["used_cpu_user"] + usage["used_cpu_sys"])


def kills(given: argparse.Namespace) -> dict[str, Any]:
    """Kill workers and masters; return what `benchmarks.killloop` found."""
    line = [f"--kills={given.kills}", f"--pages={60 * given.kills}", "--frontier=cluster"]
    line += [f"--strategy={given.strategy}", "--latency=0.2", f"--shards={given.shards}"]
    line += [f"--workers={given.workers}", f"--random-state={given.web}"]
    with tempfile.TemporaryDirectory() as folder:
        return killloop.measure(killloop.parser().parse_args(line), Path(folder))


def main(words: Sequence[str] | None = None) -> int:
    """Print the results; 1 if kills did any harm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--langs", default="ru,it,id")
    parser.add_argument(
        "--pages", type=int, nargs="+", default=[1000, 4000], help=f"multiples of {_STEP}"
    )
    parser.add_argument("--servers", type=int, nargs="+", default=[3])
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--strategy", default="focus")
    parser.add_argument("--delay", type=float, default=0.2, help="DOWNLOAD_DELAY, seconds")
    parser.add_argument("--web", type=int, default=1, help="the seed of the web, or of the kills")
    parser.add_argument("--kills", type=int, default=0, help="kill so many processes instead")
    parser.add_argument("--output", type=Path, help="a file for the lines of JSON")
    given = parser.parse_args(words)
    if any(pages < _STEP or pages % _STEP for pages in given.pages):
        parser.error(f"--pages: multiples of {_STEP} are needed")
    command = ["python", "-m", "benchmarks.cluster", *(sys.argv[1:] if words is None else words)]
    measured = provenance(command, [], date.today())
    rows: list[dict[str, Any]] = []

    def note(result: dict[str, Any]) -> None:
        rows.append(result)
        text = json.dumps({**result, "measured": measured})
        print(text, flush=True)
        if given.output:
            with given.output.open("a", encoding="utf-8") as file:
                file.write(f"{text}\n")

    if given.kills:
        note(kills(given))
        return int(bool(rows[0]["wrong_in_all"]))
    proxyweb.require()
    of_servers = [(1, 1), *((number, given.shards) for number in given.servers)]
    runs = [*product(given.langs.split(","), of_servers)]
    for place, (lang, (servers, shards)) in enumerate(runs, start=1):
        line = f"crawl {place} of {len(runs)}: {lang}, {shards} shards on {servers} servers"
        print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)
        note(crawl(lang, servers, shards, given))
    for row in rows:
        row["harvest"] = " ".join(f"{rate:.3f}" for rate in row["harvest"].values())
    shown = [[str(row[name]) for name in _SHOWN.values()] for row in rows]
    table = Table("Shards beside one frontier", list(_SHOWN), shown, text_columns=1)
    print("\n".join(["", table.title, "", *markdown(table)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
