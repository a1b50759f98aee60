r"""The findings of Tamura 2007, chapter 5, beside those of simulations, as a table of a document.

    langfocus graph --generate web
    langfocus simulate web --json simulation.json
    python -m benchmarks.simulation_findings simulation.json \
        --json docs/research/simulation/findings.json

The simulation has the strategies of the paper, which are the default. Two million pages of the
paper are as large a part of a smaller Web. The files of several Webs, which were generated with
other random states, give a table of the relevant pages that each strategy missed on them:

    langfocus graph --generate web-N --scale 0.1 --random-state N
    langfocus simulate web-N --json web-N.json
    python -m benchmarks.simulation_findings web-*.json --json docs/research/simulation/webs.json
"""

import argparse
import json
import sys
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from crawler.report.files import json_text, write_whole
from crawler.report.formatting import percent
from crawler.report.printer import WIDE, Printer
from crawler.report.table import Table
from crawler.simulate.repeated import estimate

PAGES = 18_344_127
TWO_MILLION = 2_000_000
_TOLERANCES = (5, 10, 20)
_NEAR = 6
"""The distance within which the paper tells the misses of hard focused crawling (5.2)."""
_LIMIT = 0.01
"""The miss ratio that the paper finds for server-based filters at most (5.2)."""

Crawl = Mapping[str, Any]


class Findings:
    """The simulations of a file by strategy, and figures of them as texts."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.scale = content["graph"]["pages"] / PAGES
        self._crawls = {crawl["name"]: crawl for crawl in content["simulations"]}

    def harvest(self, name: str, pages: float) -> float:
        """Return the harvest rate in percent after so many pages of a Web of the paper's size."""
        return 100 * _harvest(self._crawls[name], pages * self.scale)

    def missed(self, name: str, distance: int = 99) -> float:
        """Return the percentage of relevant pages missed within a distance."""
        return 100 * _missed(self._crawls[name], distance)

    def millions(self, name: str, value: Callable[[Crawl], float]) -> str:
        """Return a number of pages, scaled to the paper's Web, in millions."""
        return f"{value(self._crawls[name]) / self.scale / 1e6:.1f} million"

    def thousands(self, name: str) -> str:
        """Return the servers accessed, scaled to the paper's Web."""
        number = self._crawls[name]["figures_5_to_8"]["servers"][-1]
        return f"{number / self.scale:,.0f}"


def _harvest(crawl: Crawl, pages: float) -> float:
    figures = crawl["figures_5_to_8"]
    at = min(bisect_left(figures["pages"], pages), len(figures["pages"]) - 1)
    return float(figures["relevant"][at] / figures["pages"][at])


def _missed(crawl: Crawl, distance: int) -> float:
    row = crawl["figure_4"][min(distance, len(crawl["figure_4"]) - 1)]
    return float(row["missed"] / row["relevant"])


def _queue_at(crawl: Crawl, pages: float) -> float:
    figures = crawl["figures_5_to_8"]
    return float(
        figures["queue"][min(bisect_left(figures["pages"], pages), len(figures["queue"]) - 1)]
    )


def _largest_queue(crawl: Crawl) -> float:
    return float(max(crawl["figures_5_to_8"]["queue"]))


def harvest_rows(found: Findings) -> list[tuple[str, str, str]]:
    """Return the findings about the harvest rate (5.2, Fig. 6)."""
    soft = found.harvest("soft", TWO_MILLION)
    hard = found.harvest("soft hard", TWO_MILLION)
    above = "; ".join(
        f"T = {t}: {found.harvest(f'soft server T={t}', TWO_MILLION) - soft:.1f}"
        for t in _TOLERANCES
    )
    begins = found.harvest("perfect", 100_000)
    ends = found.harvest("perfect", PAGES)
    return [
        (
            "harvest rate over the first two million pages (Fig. 6)",
            "about 70 %",
            f"soft {soft:.1f} %, hard {hard:.1f} %",
        ),
        ("server-based filters above hard and soft there", "2 to 3 points", above),
        (
            "perfect",
            "harvest 92 % rising to about 99 %",
            f"{begins:.1f} % in the first 100,000 pages, {ends:.1f} % in the end",
        ),
    ]


def miss_rows(found: Findings) -> list[tuple[str, str, str]]:
    """Return the findings about missed pages (5.2, Fig. 4)."""
    both = [(f"soft server T={t}", f"soft server-conservative T={t}") for t in _TOLERANCES]
    five, ten, twenty = (
        f"{found.missed(one):.1f} % aggressive, {found.missed(other):.1f} % conservative"
        for one, other in both
    )
    directory = "soft directory-conservative T=10"
    return [
        (
            "hard focused within distance 6 (Fig. 4)",
            "nearly 10 %",
            f"{found.missed('soft hard', 6):.1f} %; {found.missed('soft hard'):.1f} % at any "
            "distance",
        ),
        (
            "miss ratio of server-based filters (Fig. 4)",
            "at most 1 %, curves almost flat",
            f"T = 10: {ten}. T = 20: {twenty}",
        ),
        ("T has to be greater than 5", "10 or more", f"T = 5 misses {five}"),
        (
            "directory-based: a miss ratio that grows with distance",
            "between server-based and hard",
            f"{found.missed(directory, 4):.1f} % within 4, {found.missed(directory, 6):.1f} % "
            f"within 6, {found.missed(directory):.1f} % at any distance (T = 10)",
        ),
        (
            "soft, BFS, perfect miss nothing",
            "0",
            ", ".join(f"{found.missed(name):.1f}" for name in ("soft", "bfs", "perfect")),
        ),
    ]


def cost_rows(found: Findings) -> list[tuple[str, str, str]]:
    """Return the findings about where crawls halt, queues and servers (5.2, 5.3)."""
    ten, aggressive = "soft server-conservative T=10", "soft server T=10"

    def pages(name: str) -> str:
        return found.millions(name, lambda crawl: crawl["pages"])

    def there(name: str) -> str:
        return found.millions(name, lambda crawl: _queue_at(crawl, TWO_MILLION * found.scale))

    def largest(name: str) -> str:
        return found.millions(name, _largest_queue)

    return [
        (
            "where the filters halt (Fig. 5)",
            "hard soon after 2 million pages, conservative ones with most of the relevant pages",
            f"hard after {pages('soft hard')}, server-conservative T = 10 after {pages(ten)} with "
            f"{100 - found.missed(ten):.1f} %",
        ),
        (
            "the aggressive filter covers more at a low efficiency in the end",
            "higher coverage than the conservative one",
            f"{100 - found.missed(aggressive):.2f} % against {100 - found.missed(ten):.2f} % "
            f"(T = 10) for {pages(aggressive)} pages against {pages(ten)}",
        ),
        (
            "queues of soft and of the aggressive filter grow after two million pages (Fig. 7)",
            "strongly",
            f"soft {there('soft')} there, {largest('soft')} in the end; aggressive T = 20 "
            f"{there('soft server T=20')} and {largest('soft server T=20')}",
        ),
        (
            "the conservative filter's queue hardly grows any more (Fig. 7)",
            "flat",
            f"T = 10: {there(ten)} there, {largest(ten)} at most; hard and directory-based lower: "
            f"{largest('soft hard')} and {largest('soft directory-conservative T=10')}",
        ),
        (
            "servers accessed (Fig. 8)",
            "conservative server-based the most appropriate",
            f"{found.thousands(ten)} of 574,111, hard {found.thousands('soft hard')}; aggressive "
            f"{found.thousands('soft server T=5')} to {found.thousands('soft server T=20')}",
        ),
    ]


def distance_row(content: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the farthest pair of relevant pages (3.3, Fig. 2)."""
    farthest = max(row["distance"] for row in content["graph"]["figure_2"] if row["relevant_pages"])
    return ("farthest pair of relevant pages (3.3, Fig. 2)", "10", str(farthest))


def findings_table(content: Mapping[str, Any]) -> Table:
    """Return the findings on one Web."""
    found = Findings(content)
    return Table(
        f"Findings of Tamura 2007, chapter 5, on one Web of {content['graph']['pages']:,} pages",
        ("finding", "paper", "here"),
        [*harvest_rows(found), *miss_rows(found), *cost_rows(found), distance_row(content)],
        notes=["Numbers of pages and servers are those of a Web of the paper's size."],
        text_columns=3,
    )


def misses_table(contents: Sequence[Mapping[str, Any]]) -> Table:
    """Return the shares of relevant pages missed on several Webs, and the cost in pages."""
    webs = [{crawl["name"]: crawl for crawl in one["simulations"]} for one in contents]
    rows = []
    for name in webs[0]:
        crawls = [web[name] for web in webs]
        missed = [_missed(crawl, 99) for crawl in crawls]
        rows.append(
            (
                name,
                _estimated([_missed(crawl, _NEAR) for crawl in crawls]),
                _estimated(missed),
                percent(min(missed)),
                percent(max(missed)),
                f"{sum(ratio <= _LIMIT for ratio in missed)} of {len(missed)}",
                percent(mean(crawl["harvest_rate"] for crawl in crawls)),
                f"{mean(crawl['pages'] for crawl in crawls):,.0f}",
            )
        )
    return Table(
        f"Relevant pages missed, on {len(webs)} Webs",
        (
            *("strategy", f"within {_NEAR}", "any distance", "least", "greatest", "at most 1 %"),
            *("harvest", "pages"),
        ),
        rows,
        notes=[
            "Means over the Webs. The figure after ± is half of the 95 % confidence interval "
            "(Student's t)."
        ],
    )


def _estimated(shares: Sequence[float]) -> str:
    found = estimate(shares)
    half = 0.0 if found.high is None else found.high - found.mean
    return f"{100 * found.mean:.2f} % ±{100 * half:.2f}"


def main() -> int:
    """Print the table and write the file."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("simulations", type=Path, nargs="+")
    parser.add_argument("--json", type=Path, required=True)
    given = parser.parse_args()
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in given.simulations]
    if len(contents) == 1:
        name, table = "findings", findings_table(contents[0])
    else:
        name, table = "misses", misses_table(contents)
    Printer(width=WIDE).table(table)
    small = {"measured": contents[0]["measured"], "tables": [table.as_json(name)]}
    print(write_whole(given.json, json_text(small)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
