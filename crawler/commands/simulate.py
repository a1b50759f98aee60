"""`scrapy simulate`: strategies compared on a Web graph, before anything is fetched."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.utils.conf import arglist_to_dict

from classifiers.errors import ClassifierError
from crawler.errors import GraphError, SettingError
from crawler.report.files import write_whole
from crawler.simulate.advice import COSTS
from crawler.simulate.plan import ARGUMENTS

if TYPE_CHECKING:
    from crawler.report.watching import Watch
    from crawler.simulate.advice import Advice
    from crawler.simulate.plan import SimulatedCrawl, SimulationPlan
    from crawler.simulate.webgraph import WebGraph

_INTERRUPTED = 130
_ADVICE_STATES = (0, 1, 2, 3, 4)

_ARGUMENT_LINES = "\n".join(
    textwrap.fill(f"  {name:<16} {meaning}", 95, subsequent_indent=" " * 19, break_on_hyphens=False)
    for name, meaning in ARGUMENTS.items()
)

_MANUAL = f"""\
arguments (-a NAME=VALUE):
{_ARGUMENT_LINES}

With neither strategies nor filters all strategies of the paper are simulated: bfs, hard and soft
focused, the three filters that know irrelevant servers or directories, and perfect, which knows
where the relevant pages are. Strategies, filters and numbers are those of `scrapy crawl
langfocus`, so what was simulated can be crawled by copying the arguments.

The first random state begins at the graph's seeds. With --random-seeds N each other one begins at
N relevant pages that it draws; without, it only makes random and cctld draw otherwise.

Advice compares the strategies on resamples of seeds and servers (docs/simulation.md).

examples:
  scrapy simulate graphs/thai --html simulation.html --jobs 2
  scrapy simulate graphs/thai -a strategies=bfs,soft,svm -a filters=none,server -a tolerances=10
  scrapy simulate graphs/docs -a lang=fr -a filters=directory-conservative -a directory_depth=1,2,3
  scrapy simulate graphs/docs --random-states 1,2,3,4,5 --random-seeds 3 --json simulation.json
  scrapy simulate graphs/docs --advise --coverage 0.9 --least servers
"""


class Command(ScrapyCommand):
    """Simulates several strategies on one graph."""

    requires_crawler_process = False

    def syntax(self) -> str:
        """How the command is called."""
        return "GRAPH_FOLDER [-a NAME=VALUE] [--advise] [--json FILE] [--html FILE]"

    def short_desc(self) -> str:
        """One line in the list of commands."""
        return "Compare crawling strategies on a Web graph, without fetching anything"

    def long_desc(self) -> str:
        """What --help begins with."""
        return (
            "Crawls a recorded or generated Web graph with several strategies, filters and "
            "tolerances, and shows Figures 4 to 8 of Tamura et al. 2007: relevant pages missed by "
            "distance, coverage, harvest rate, queue size, servers accessed. With --advise it "
            "names the strategy that reaches a coverage at the least cost, and says how sure that "
            "is."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options beside Scrapy's own."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = textwrap.fill(self.long_desc(), 95)
        parser.epilog = _MANUAL
        parser.add_argument(
            "-a",
            dest="spargs",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="argument of the simulation (may be repeated)",
        )
        parser.add_argument(
            "--random-states",
            metavar="N,N",
            type=_naturals,
            help="simulate once for each (default: 0; with --advise 0,1,2,3,4)",
        )
        parser.add_argument(
            "--random-seeds",
            metavar="N",
            type=_natural,
            help="seeds that each random state but the first draws, 0: the graph's "
            "(default: 0; with --advise as many as the graph has, if there are so many)",
        )
        parser.add_argument(
            "--limit", metavar="N", type=_positive, help="end each crawl after N pages"
        )
        parser.add_argument(
            "--jobs", metavar="N", type=_positive, default=2, help="crawls at once (default: 2)"
        )
        parser.add_argument("--json", metavar="FILE", type=Path, help="write all figures to FILE")
        parser.add_argument(
            "--html", metavar="FILE", type=Path, help="write tables and plots to FILE"
        )
        group = parser.add_argument_group("Advice")
        group.add_argument("--advise", action="store_true", help="name the best strategy")
        group.add_argument(
            "--coverage",
            metavar="SHARE",
            type=float,
            help="of the relevant pages, that is to be reached (default: 0.9)",
        )
        group.add_argument(
            "--least", choices=COSTS, help="what it should take the least of (default: pages)"
        )
        group.add_argument(
            "--resamples",
            metavar="N",
            type=_positive,
            help="drawn for each random state (default: 200)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Simulate, print, write."""
        if len(args) != 1 or args[0].startswith("-"):
            self._fail("name one folder of a graph: scrapy simulate GRAPH_FOLDER", 2)
            return
        try:
            self._simulate(Path(args[0]), opts)
        except SettingError as error:
            self._fail(str(error), 2)
        except (GraphError, ClassifierError, OSError) as error:
            self._fail(str(error), 1)
        except KeyboardInterrupt:
            self._fail("interrupted", _INTERRUPTED)

    def _simulate(self, folder: Path, opts: argparse.Namespace) -> None:
        from crawler.report.files import check_places
        from crawler.report.watching import Watch
        from crawler.simulate.webgraph import WebGraph

        check_places(opts.json, opts.html)
        _check_advice(opts)
        graph = WebGraph.open(folder)
        plan = _plan(graph, opts)
        results: list[SimulatedCrawl] = []
        advice = None
        try:
            with Watch(plan) as watch:
                advice = _results(graph, plan, opts, results, watch)
        except KeyboardInterrupt:
            self._fail(f"interrupted after {len(results)} of {len(plan)} crawls", _INTERRUPTED)
        if results:
            _publish(folder, graph, plan, results, advice, opts)

    def _fail(self, message: str, code: int) -> None:
        print(f"scrapy simulate: {message}", file=sys.stderr)
        self.exitcode = code


def _check_advice(opts: argparse.Namespace) -> None:
    for name in ("coverage", "least", "resamples"):
        if getattr(opts, name) is not None and not opts.advise:
            raise SettingError(f"--{name} belongs to --advise")


def _plan(graph: WebGraph, opts: argparse.Namespace) -> SimulationPlan:
    from crawler.simulate.plan import language_in, make_plan, possible_seeds

    try:
        given = dict(arglist_to_dict(opts.spargs))
    except ValueError:
        raise SettingError("-a takes NAME=VALUE") from None
    states, seeds = opts.random_states, opts.random_seeds
    if states is None:
        states = _ADVICE_STATES if opts.advise else (0,)
    if seeds is None:
        seeds = 0
        if opts.advise:
            lang = language_in(graph, given.get("lang"), "-a lang")
            seeds = min(len(graph.seeds), len(possible_seeds(graph, lang)))
    return make_plan(given, graph, random_states=states, drawn_seeds=seeds, limit=opts.limit)


def _results(
    graph: WebGraph,
    plan: SimulationPlan,
    opts: argparse.Namespace,
    results: list[SimulatedCrawl],
    watch: Watch,
) -> Advice | None:
    """Simulate all of a plan, adding each result as soon as it is there."""

    def add(result: SimulatedCrawl) -> None:
        results.append(result)
        watch.done(result)

    if opts.advise:
        from crawler.simulate.advice import advise

        return advise(
            graph,
            plan,
            coverage=0.9 if opts.coverage is None else opts.coverage,
            least=opts.least or "pages",
            resamples=opts.resamples or 200,
            jobs=opts.jobs,
            on_progress=watch.pages,
            on_result=add,
        )
    from crawler.simulate.plan import simulate_all

    for result in simulate_all(graph, plan, jobs=opts.jobs, on_progress=watch.pages):
        add(result)
    return None


def _publish(
    folder: Path,
    graph: WebGraph,
    plan: SimulationPlan,
    results: Sequence[SimulatedCrawl],
    advice: Advice | None,
    opts: argparse.Namespace,
) -> None:
    from crawler.report.advice_text import advice_lines, advice_table
    from crawler.report.files import json_text
    from crawler.report.graph_json import graph_json
    from crawler.report.graph_tables import figure_1, figure_2
    from crawler.report.printer import WIDE, Printer
    from crawler.report.simulation_groups import groups_of
    from crawler.report.simulation_json import advice_json, simulation_json
    from crawler.report.simulation_page import SimulatedGraph, simulation_page
    from crawler.report.simulation_tables import commands_table, simulation_tables
    from crawler.simulate.figures import graph_figures

    printer = Printer(width=WIDE)
    figures = graph_figures(graph, plan.lang)
    for table in (*simulation_tables(plan, results), figure_1(figures), figure_2(figures)):
        printer.table(table)
    commands = commands_table(plan, groups_of(plan, results))
    printer.line(f"{commands.title}:")
    for _, command in commands.rows:
        printer.line(f"  {command}")
    printer.line()
    if advice is not None:
        printer.table(advice_table(advice))
        for line in advice_lines(advice):
            printer.line(line)
    if opts.json:
        content = {
            "graph": graph_json(figures, graph.provenance),
            **simulation_json(plan, results),
            "advice": None if advice is None else advice_json(advice),
        }
        write_whole(opts.json, json_text(content))
    if opts.html:
        simulated = SimulatedGraph(
            name=folder.resolve().name, provenance=graph.provenance, figures=figures
        )
        write_whole(opts.html, simulation_page(simulated, plan, results, advice))
        printer.line(str(opts.html))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is not 0 or more")
    return value


def _naturals(text: str) -> tuple[int, ...]:
    return tuple(_natural(part) for part in text.split(","))
