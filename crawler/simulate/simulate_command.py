"""`langfocus simulate`: comparison of strategies on a Web graph, without fetching."""

from __future__ import annotations

import argparse
import sys

from langfocus.crawler.commands.base import Parser, meanings, measured, pairs, publish

DESCRIPTION = (
    "Crawls a recorded or generated Web graph with several strategies, filters and "
    "tolerances, and shows Figures 4 to 8 of Tamura et al. 2007: relevant pages missed by "
    "distance, coverage, harvest rate, queue size, servers accessed."
)

_JOBS = 2
"""Simulations at once; the results do not depend on it."""

_MANUAL = """\
Without strategies and filters, all of the paper are simulated, and random, cctld, svm and focus
where the graph has what they need (docs/simulation.md). Strategies, filters and numbers mean what
they mean for `langfocus crawl`.

examples:
  langfocus simulate graphs/thai --html simulation.html
  langfocus simulate graphs/thai -a strategies=bfs,soft,svm -a filters=none,server -a tolerances=10
  langfocus simulate graphs/docs -a lang=fr -a filters=directory-conservative
  langfocus simulate graphs/docs -a strategies=random,cctld -a random_state=1 --json FILE
"""


def arguments(parser: Parser) -> None:
    """Add the command's arguments, and the simulation's arguments to the manual."""
    from langfocus.crawler.simulate.plan import ARGUMENTS

    parser.epilog = meanings("arguments (-a NAME=VALUE):", ARGUMENTS) + "\n" + _MANUAL
    parser.add_path("folder", "GRAPH_FOLDER", "graph folder")
    parser.add_pairs("-a", "argument of the simulation (may be repeated)")
    parser.add_report_files()


def run(opts: argparse.Namespace) -> None:
    """Simulate, then print and write the figures, also after an interruption."""
    from langfocus.crawler.report.progress import Display
    from langfocus.crawler.simulate.figures import SimulatedCrawl, graph_figures, simulate_all
    from langfocus.crawler.simulate.plan import make_plan
    from langfocus.crawler.simulate.simulation_report import progress_line, simulation_report
    from langfocus.crawler.simulate.webgraph import WebGraph

    graph = WebGraph.open(opts.folder)
    plan = make_plan(pairs(opts.spargs), graph)
    results: list[SimulatedCrawl] = []
    try:
        with Display(sys.stderr) as display:
            for number, result in enumerate(simulate_all(graph, plan, jobs=_JOBS), 1):
                results.append(result)
                display.tell(f"[{number}/{len(plan)}] {progress_line(result)}")
                if display.is_terminal:
                    display.count("simulations", number, len(plan))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted after {len(results)} of {len(plan)} crawls") from None
    finally:
        if results:
            figures = graph_figures(graph, plan[0].target)
            name = opts.folder.resolve().name
            report = simulation_report(plan, results, figures, graph.provenance, name)
            publish(report, opts, measured=measured([opts.folder / "graph.json"]))
