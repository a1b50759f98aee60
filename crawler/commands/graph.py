"""`langfocus graph`: the figures of a Web graph, in the form of Tamura 2007."""

from __future__ import annotations

import argparse
from pathlib import Path

from crawler.command import LangfocusCommand, language_code, parts
from crawler.errors import GraphError, SettingError

_MANUAL = """\
A graph is a folder with graph.json and a file for each column (docs/simulation.md). A distance is
the number of links from the nearest seed. A relevant page is one in the target language, a relevant
server one with such a page. Pages that were not fetched are known only as targets of links.

With --from the arguments before the folder are the sources of the graph: folders of crawls with
-s LANGFOCUS_LINKS=True, WARC files, tables (docs/graphs.md). With --generate the graph is a
Web with the measured quantities of Tamura 2007, at scale 1 18,344,127 pages (1.4 GB).

examples:
  langfocus graph graphs/thai
  langfocus graph --from runs/de-focus graphs/de --target de
  langfocus graph --from one.warc.gz two.warc.gz graphs/archive --target fr --directory-depth 3
  langfocus graph --generate graphs/thai --scale 0.02
  langfocus graph graphs/docs --target fr --html graph.html --json graph.json
"""


class GraphCommand(LangfocusCommand):
    """Prints the tables and figures of one graph; --from or --generate makes the graph first."""

    usage = "[--from SOURCE... | --generate] GRAPH_FOLDER [--target LANG] [--json FILE]"
    summary = "Print the figures of a Web graph: languages, links, distances"
    description = (
        "Prints Tables 1, 4 and 5 and Figures 1 and 2 of Tamura et al. 2007 for any Web graph: "
        "pages by language and top-level domain, links by the languages of their ends and of "
        "their servers, pages by distance from the seeds, and distances of relevant pages from "
        "each other. For a graph that was generated to the paper, the figures of the paper are "
        "printed beside ours."
    )
    json_help = "write the figures to FILE, as JSON"
    files = ("json", "html")

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _MANUAL

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--html", metavar="FILE", type=Path, help="write the figures and plots to FILE"
        )
        parser.add_argument(
            "--target", metavar="LANG", help="target language (default: that of the graph)"
        )
        _add_making(parser.add_argument_group("Making a graph from sources"))
        _add_generating(parser.add_argument_group("Generating a graph"))

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Make the graph if --from or --generate is given, then print and write its figures."""
        if opts.is_built and opts.generate:
            raise SettingError("give either --from or --generate, not both")
        if len(args) < 2 if opts.is_built else len(args) != 1:
            raise SettingError(f"name one folder of a graph: langfocus graph {self.usage}")
        folder = Path(args[-1])
        if opts.is_built:
            _build([Path(arg) for arg in args[:-1]], folder, opts)
        elif opts.generate:
            _generate(folder, opts)
        self._show(folder, opts)

    def _show(self, folder: Path, opts: argparse.Namespace) -> None:
        from crawler.report.files import write_whole
        from crawler.report.graph import graph_json, graph_page
        from crawler.report.printer import WIDE, Printer
        from crawler.simulate.figures import graph_figures
        from crawler.simulate.plan import language_in
        from crawler.simulate.webgraph import WebGraph

        graph = WebGraph.open(folder)
        figures = graph_figures(graph, language_in(graph, opts.target, "--target"))
        page = graph_page(figures, graph.provenance, folder.resolve().name)
        printer = Printer(width=WIDE)
        for table in page.tables():
            printer.table(table)
        self.write_json(opts, graph_json(figures, graph.provenance))
        if opts.html:
            print(write_whole(opts.html, page.html()))


def _add_making(group: argparse._ArgumentGroup) -> None:
    from classifiers.pages.methods import DEFAULT_METHOD

    group.add_argument(
        "--from", action="store_true", dest="is_built", help="make the graph from these sources"
    )
    group.add_argument(
        "--directory-depth",
        metavar="N",
        type=int,
        default=1,
        help="depth of a directory: the number of path segments that count (default: 1)",
    )
    group.add_argument(
        "--orderings",
        metavar="NAME,NAME",
        default="",
        help="score all URLs by these orderings: svm, cctld (default: none)",
    )
    group.add_argument(
        "--identify",
        metavar="METHOD",
        default=DEFAULT_METHOD,
        help=f"method that identifies the pages of WARC files (default: {DEFAULT_METHOD})",
    )
    group.add_argument(
        "--seeds", metavar="URL,URL", default="", help="seeds of crawls (default: of the sources)"
    )


def _add_generating(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--generate", action="store_true", help="generate it")
    group.add_argument(
        "--scale",
        metavar="X",
        type=float,
        default=1.0,
        help="share of the pages of the paper to generate (default: 1)",
    )
    group.add_argument(
        "--random-state",
        metavar="N",
        type=int,
        default=0,
        help="seed of a generated graph, a whole number (default: 0)",
    )


def _build(sources: list[Path], folder: Path, opts: argparse.Namespace) -> None:
    from crawler.simulate.build import GraphOptions, build

    if not opts.target:
        raise SettingError("--target LANG is needed: the target language of the graph")
    target = language_code(opts.target, "--target")
    build(
        sources,
        folder,
        GraphOptions(
            target=target,
            directory_depth=opts.directory_depth,
            orderings=parts(opts.orderings),
            identify=opts.identify,
            seeds=parts(opts.seeds),
        ),
    )


def _generate(folder: Path, opts: argparse.Namespace) -> None:
    from crawler.simulate.generator import generate
    from crawler.simulate.measures import WebMeasures

    if not 0 < opts.scale <= 1:
        raise SettingError(f"--scale {opts.scale}: a number above 0, at most 1, is needed")
    if (folder / "graph.json").exists():
        raise GraphError(f"{folder}: there is a graph already")
    measures = WebMeasures() if opts.scale == 1 else WebMeasures().scaled(opts.scale)
    generate(measures, random_state=opts.random_state).write(folder)
