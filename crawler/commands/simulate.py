"""`langfocus simulate`: comparison of strategies on a Web graph, without fetching."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.command import LangfocusCommand, meanings, naturals, pairs, positive
from crawler.errors import SettingError

if TYPE_CHECKING:
    from crawler.report.table import Table
    from crawler.simulate.plan import SimulatedCrawl, SimulationPlan
    from crawler.simulate.webgraph import WebGraph

_MANUAL = """\
Without strategies and filters, all strategies of the paper are simulated: bfs, hard and soft
focused, the three filters that know irrelevant servers or directories, and perfect, which knows
where the relevant pages are. So are random, cctld, svm and focus, where the graph has what they
need: domains of servers for cctld, URLs for svm. Strategies, filters and numbers are those of
`langfocus crawl`: copy the arguments to crawl as it was simulated.

A random state changes the draws of random and cctld, and nothing else.

examples:
  langfocus simulate graphs/thai --html simulation.html --jobs 2
  langfocus simulate graphs/thai -a strategies=bfs,soft,svm -a filters=none,server -a tolerances=10
  langfocus simulate graphs/docs -a lang=fr -a filters=directory-conservative \\
      -a directory_depth=1,2,3
  langfocus simulate graphs/docs -a strategies=random,cctld --random-states 1,2,3 --json FILE
"""


class SimulateCommand(LangfocusCommand):
    """Simulates several strategies on one graph."""

    usage = "GRAPH_FOLDER [-a NAME=VALUE] [--json FILE] [--html FILE]"
    summary = "Compare crawling strategies on a Web graph, without fetching anything"
    description = (
        "Crawls a recorded or generated Web graph with several strategies, filters and "
        "tolerances, and shows Figures 4 to 8 of Tamura et al. 2007: relevant pages missed by "
        "distance, coverage, harvest rate, queue size, servers accessed."
    )
    json_help = "write all figures to FILE, as JSON"
    pairs_help = "argument of the simulation (may be repeated)"
    files = ("json", "html")

    def manual(self) -> str:
        """Return the rest of `--help`: arguments, details, examples."""
        from crawler.simulate.plan import ARGUMENTS

        return meanings("arguments (-a NAME=VALUE):", ARGUMENTS) + "\n" + _MANUAL

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--html", metavar="FILE", type=Path, help="write tables and plots to FILE"
        )
        _add_simulation(parser.add_argument_group("Simulation"))

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Simulate, then print and write the figures, also after an interruption."""
        from crawler.report.progress import Display
        from crawler.report.watching import Watch
        from crawler.simulate.plan import make_plan, simulate_all
        from crawler.simulate.webgraph import WebGraph

        if len(args) != 1:
            raise SettingError("name one folder of a graph: langfocus simulate GRAPH_FOLDER")
        folder = Path(args[0])
        graph = WebGraph.open(folder)
        plan = make_plan(
            pairs(opts.spargs), graph, random_states=opts.random_states, limit=opts.limit
        )
        found = _Found(folder, graph, plan)
        try:
            with Display(sys.stderr) as display:
                watch = Watch(plan, display)
                for result in simulate_all(graph, plan, jobs=opts.jobs, on_progress=watch.pages):
                    found.results.append(result)
                    watch.done(result)
        except KeyboardInterrupt:
            done = f"{len(found.results)} of {len(plan)}"
            raise KeyboardInterrupt(f"interrupted after {done} crawls") from None
        finally:
            if found.results:
                self._publish(found, opts)

    def _publish(self, found: _Found, opts: argparse.Namespace) -> None:
        from crawler.report.files import write_whole
        from crawler.report.graph import graph_json
        from crawler.report.printer import WIDE, Printer
        from crawler.report.provenance import provenance
        from crawler.report.simulation import simulation_json, simulation_page
        from crawler.simulate.figures import graph_figures

        graph, plan, results = found.graph, found.plan, found.results
        figures = graph_figures(graph, plan.lang)
        page = simulation_page(
            plan, results, figures, graph.provenance, found.folder.resolve().name
        )
        printer = Printer(width=WIDE)
        for table in page.tables():
            printer.table(table)
        content = {
            "measured": provenance(
                ["langfocus", *sys.argv[1:]],
                [found.folder / "graph.json"],
                date.today(),
                modules=("crawler/simulate", "crawler/strategies"),
            ),
            "graph": graph_json(figures, graph.provenance),
            **simulation_json(plan, results),
            "tables": [_without_time(table).as_json(_name(table.title)) for table in page.tables()],
        }
        self.write_json(opts, content)
        if opts.html:
            printer.line(str(write_whole(opts.html, page.html())))


@dataclass(slots=True)
class _Found:
    """The results so far of the simulations of one graph."""

    folder: Path
    graph: WebGraph
    plan: SimulationPlan
    results: list[SimulatedCrawl] = field(default_factory=list)


def _name(title: str) -> str:
    """The name of a table in JSON: its title in lower case, without spaces and signs."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))


def _without_time(table: Table) -> Table:
    """The table without running times, which differ from one run to the next."""
    if table.head[-1] != "time":
        return table
    return replace(table, head=table.head[:-1], rows=[row[:-1] for row in table.rows])


def _add_simulation(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--random-states",
        metavar="N,N",
        type=naturals,
        default=(0,),
        help="simulate random and cctld once for each (default: 0)",
    )
    group.add_argument("--limit", metavar="N", type=positive, help="end each crawl after N pages")
    group.add_argument(
        "--jobs", metavar="N", type=positive, default=2, help="crawls at once (default: 2)"
    )
