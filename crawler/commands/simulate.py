"""`langfocus simulate`: comparison of strategies on a Web graph, without fetching."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.command import LangfocusCommand, meanings, natural, naturals, pairs, positive
from crawler.errors import SettingError

if TYPE_CHECKING:
    from crawler.report.printer import Printer
    from crawler.report.table import Table
    from crawler.report.watching import Watch
    from crawler.simulate.advice import Advice
    from crawler.simulate.figures import GraphFigures
    from crawler.simulate.plan import SimulatedCrawl, SimulationPlan
    from crawler.simulate.webgraph import WebGraph

_COVERAGE = 0.9
_RESAMPLES = 200
_ADVICE_STATES = (0, 1, 2, 3, 4)

_MANUAL = """\
Without strategies and filters, all strategies of the paper are simulated: bfs, hard and soft
focused, the three filters that know irrelevant servers or directories, and perfect, which knows
where the relevant pages are. So are random, cctld, svm and focus, where the graph has what they
need: domains of servers for cctld, URLs for svm. Strategies, filters and numbers are those of
`langfocus crawl`: copy the arguments to crawl as it was simulated.

The first random state starts at the seeds of the graph. With --random-seeds N each other random
state starts at N relevant pages that it draws. Without it, a random state only changes the draws
of random and cctld.

With --random-webs N a generated graph is the first of N Webs; the others have the same measures and
the random states that follow. Repeated simulations are compared pair by pair.

Advice compares the strategies on resamples of seeds and servers (docs/simulation.md).

examples:
  langfocus simulate graphs/thai --html simulation.html --jobs 2
  langfocus simulate graphs/thai -a strategies=bfs,soft,svm -a filters=none,server -a tolerances=10
  langfocus simulate graphs/docs -a lang=fr -a filters=directory-conservative \\
      -a directory_depth=1,2,3
  langfocus simulate graphs/docs --random-states 1,2,3,4,5 --random-seeds 3 --json simulation.json
  langfocus simulate graphs/thai --random-webs 10 --against "soft server-conservative T=10"
  langfocus simulate graphs/docs --advise --coverage 0.9 --least servers
"""


class SimulateCommand(LangfocusCommand):
    """Simulates several strategies on one graph."""

    usage = "GRAPH_FOLDER [-a NAME=VALUE] [--advise] [--json FILE] [--html FILE]"
    summary = "Compare crawling strategies on a Web graph, without fetching anything"
    description = (
        "Crawls a recorded or generated Web graph with several strategies, filters and "
        "tolerances, and shows Figures 4 to 8 of Tamura et al. 2007: relevant pages missed by "
        "distance, coverage, harvest rate, queue size, servers accessed. With --advise it names "
        "the strategy that reaches a coverage at the least cost, and the confidence of this choice."
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
        _add_advice(parser.add_argument_group("Advice"))

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Simulate, then print and write the figures, also after an interruption."""
        from crawler.report.progress import Display
        from crawler.report.watching import Watch
        from crawler.simulate.webgraph import WebGraph

        if len(args) != 1:
            raise SettingError("name one folder of a graph: langfocus simulate GRAPH_FOLDER")
        _check_advice(opts)
        folder = Path(args[0])
        graph = WebGraph.open(folder)
        found = _Found(folder, graph, _plan(graph, opts))
        try:
            with Display(sys.stderr) as display:
                _simulate(found, opts, Watch(found.plan, display))
        except KeyboardInterrupt:
            done = f"{len(found.results)} of {len(found.plan)}"
            raise KeyboardInterrupt(f"interrupted after {done} crawls") from None
        finally:
            if found.results:
                self._publish(found, opts)

    def _publish(self, found: _Found, opts: argparse.Namespace) -> None:
        from crawler.report.files import write_whole
        from crawler.report.graph_json import graph_json
        from crawler.report.printer import WIDE, Printer
        from crawler.report.provenance import provenance
        from crawler.report.simulation_json import advice_json, simulation_json
        from crawler.report.simulation_page import SimulatedGraph, simulation_page
        from crawler.report.simulation_tables import simulation_tables
        from crawler.simulate.figures import graph_figures

        graph, plan, results, advice = found.graph, found.plan, found.results, found.advice
        figures = graph_figures(graph, plan.lang)
        printer = Printer(width=WIDE)
        _print(found, figures, printer, opts.against)
        tables = simulation_tables(plan, results, opts.against)
        content = {
            "measured": provenance(
                ["langfocus", *sys.argv[1:]],
                [found.folder / "graph.json"],
                date.today(),
                modules=("crawler/simulate", "crawler/strategies"),
            ),
            "graph": graph_json(figures, graph.provenance),
            **simulation_json(plan, results, opts.against),
            "advice": None if advice is None else advice_json(advice),
            "tables": [_without_time(table).as_json(_name(table.title)) for table in tables],
        }
        self.write_json(opts, content)
        if opts.html:
            simulated = SimulatedGraph(
                name=found.folder.resolve().name,
                provenance=graph.provenance,
                figures=figures,
                against=opts.against,
            )
            page = simulation_page(simulated, plan, results, advice)
            printer.line(str(write_whole(opts.html, page)))


@dataclass(slots=True)
class _Found:
    """The results so far of the simulations of one graph."""

    folder: Path
    graph: WebGraph
    plan: SimulationPlan
    results: list[SimulatedCrawl] = field(default_factory=list)
    advice: Advice | None = None


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
        help="simulate once for each (default: 0; with --advise 0,1,2,3,4)",
    )
    group.add_argument(
        "--random-seeds",
        metavar="N",
        type=natural,
        help="seeds that each random state but the first draws, 0: those of the graph "
        "(default: 0; with --advise the number of the graph's seeds, if that many can be drawn)",
    )
    group.add_argument(
        "--random-webs",
        metavar="N",
        type=positive,
        help="simulate on N Webs: a generated graph, and others drawn anew with its measures",
    )
    group.add_argument(
        "--against",
        metavar="STRATEGY",
        help="the strategy that repeated simulations compare the others with, as the tables name "
        "it (default: the first)",
    )
    group.add_argument("--limit", metavar="N", type=positive, help="end each crawl after N pages")
    group.add_argument(
        "--jobs", metavar="N", type=positive, default=2, help="crawls at once (default: 2)"
    )


def _add_advice(group: argparse._ArgumentGroup) -> None:
    from crawler.simulate.advice import COSTS

    group.add_argument("--advise", action="store_true", help="name the best strategy")
    group.add_argument(
        "--coverage",
        metavar="SHARE",
        type=float,
        help=f"share of the relevant pages to reach (default: {_COVERAGE})",
    )
    group.add_argument("--least", choices=COSTS, help="the cost to minimise (default: pages)")
    group.add_argument(
        "--resamples",
        metavar="N",
        type=positive,
        help=f"resamples of each random state (default: {_RESAMPLES})",
    )


def _check_advice(opts: argparse.Namespace) -> None:
    for name in ("coverage", "least", "resamples"):
        if getattr(opts, name) is not None and not opts.advise:
            raise SettingError(f"--{name} belongs to --advise")


def _plan(graph: WebGraph, opts: argparse.Namespace) -> SimulationPlan:
    from crawler.report.paired_tables import reference
    from crawler.simulate.plan import language_in, make_plan, possible_seeds

    if opts.random_webs is not None:
        return _plan_of_webs(graph, opts)
    given = pairs(opts.spargs)
    states, seeds = opts.random_states, opts.random_seeds
    if states is None:
        states = _ADVICE_STATES if opts.advise else (0,)
    if seeds is None:
        seeds = 0
        if opts.advise:
            lang = language_in(graph, given.get("lang"), "-a lang")
            seeds = min(len(graph.seeds), len(possible_seeds(graph, lang)))
    plan = make_plan(given, graph, random_states=states, drawn_seeds=seeds, limit=opts.limit)
    reference(plan, opts.against)
    return plan


def _plan_of_webs(graph: WebGraph, opts: argparse.Namespace) -> SimulationPlan:
    from crawler.report.paired_tables import reference
    from crawler.simulate.plan import make_plan
    from crawler.simulate.webs import states_of_webs

    if opts.advise or opts.random_states is not None or opts.random_seeds is not None:
        raise SettingError(
            "--random-webs has no other repetition: leave out --advise, --random-states and "
            "--random-seeds"
        )
    states = states_of_webs(graph, opts.random_webs)
    plan = make_plan(pairs(opts.spargs), graph, random_states=states, limit=opts.limit)
    reference(plan, opts.against)
    return replace(plan, draws_webs=True)


def _simulate(found: _Found, opts: argparse.Namespace, watch: Watch) -> None:
    """Simulate all of the plan; each result is added as soon as it is ready."""

    def add(result: SimulatedCrawl) -> None:
        found.results.append(result)
        watch.done(result)

    if opts.advise:
        from crawler.simulate.advice import Aim, advise

        found.advice = advise(
            found.graph,
            found.plan,
            Aim(
                coverage=_COVERAGE if opts.coverage is None else opts.coverage,
                least=opts.least or "pages",
                resamples=opts.resamples or _RESAMPLES,
            ),
            jobs=opts.jobs,
            on_progress=watch.pages,
            on_result=add,
        )
    else:
        from crawler.simulate.plan import simulate_all

        for result in simulate_all(
            found.graph,
            found.plan,
            jobs=opts.jobs,
            on_progress=watch.pages,
            on_web=watch.web,
        ):
            add(result)


def _print(found: _Found, figures: GraphFigures, printer: Printer, against: str | None) -> None:
    from crawler.report.advice_text import advice_lines, advice_table
    from crawler.report.graph_tables import figure_1, figure_2
    from crawler.report.simulation_groups import groups_of
    from crawler.report.simulation_tables import commands_table, simulation_tables

    tables = simulation_tables(found.plan, found.results, against)
    for table in (*tables, figure_1(figures), figure_2(figures)):
        printer.table(table)
    commands = commands_table(found.plan, groups_of(found.plan, found.results))
    printer.line(f"{commands.title}:")
    for _, command in commands.rows:
        printer.line(f"  {command}")
    printer.line()
    if found.advice is not None:
        printer.table(advice_table(found.advice))
        for line in advice_lines(found.advice):
            printer.line(line)
