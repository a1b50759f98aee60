"""`langfocus graph`: the figures of a Web graph, in the form of Tamura 2007."""

from __future__ import annotations

import argparse
from pathlib import Path

from langfocus.crawler.commands.base import Parser, language_code, natural, publish
from langfocus.crawler.errors import GraphError, SettingError

DESCRIPTION = (
    "Prints Tables 1, 4 and 5 and Figures 1 and 2 of Tamura et al. 2007 for any Web graph: "
    "pages by language and top-level domain, links by the languages of their ends and of "
    "their servers, pages by distance from the seeds, and distances of relevant pages from "
    "each other. For a graph that was generated to the paper, the figures of the paper are "
    "printed beside ours."
)

_MANUAL = """\
With --from the paths before the folder are the sources of the graph: folders of crawls with
-s LANGFOCUS_LINKS=True, WARC files, tables (docs/graphs.md). With --generate the graph is a Web
with the measured quantities of Tamura 2007, at scale 1 18,344,127 pages (1.4 GB).

examples:
  langfocus graph --from runs/de-focus graphs/de --target de
  langfocus graph --from one.warc.gz two.warc.gz graphs/archive --target fr
  langfocus graph --generate graphs/thai --scale 0.02
  langfocus graph graphs/docs --target fr --html graph.html --json graph.json
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    folders = "graph folder; with --from, the sources, then the graph folder"
    parser.add_paths("paths", "GRAPH_FOLDER", folders)
    made = "build the graph from the sources"
    parser.add_argument("--from", action="store_true", dest="is_built", help=made)
    target = "target language (default: the graph's)"
    parser.add_argument("--target", metavar="LANG", help=target)
    parser.add_argument("--generate", action="store_true", help="generate the graph")
    share = "with --generate: share of the paper's pages (default: 1)"
    parser.add_argument("--scale", metavar="X", type=float, default=1.0, help=share)
    other = "with --generate: seed of the random numbers (default: 0)"
    parser.add_argument("--random-state", metavar="N", type=natural, default=0, help=other)
    parser.add_report_files()


def run(opts: argparse.Namespace) -> None:
    """Build the graph with --from or --generate, then print and write the figures."""
    from langfocus.crawler.simulate.figures import graph_figures
    from langfocus.crawler.simulate.graph_report import graph_report
    from langfocus.crawler.simulate.plan import language_in
    from langfocus.crawler.simulate.webgraph import WebGraph

    folder = _made(opts)
    graph = WebGraph.open(folder)
    figures = graph_figures(graph, language_in(graph, opts.target, "--target"))
    publish(graph_report(figures, graph.provenance, folder.resolve().name), opts)


def _made(opts: argparse.Namespace) -> Path:
    """Return the graph folder; build the graph first with --from or --generate."""
    *sources, folder = opts.paths
    if opts.is_built and opts.generate:
        raise SettingError("give either --from or --generate, not both")
    if opts.is_built != bool(sources):
        raise SettingError(
            "name sources and a folder: langfocus graph --from SOURCE... GRAPH_FOLDER"
            if opts.is_built
            else "name one folder of a graph: langfocus graph GRAPH_FOLDER"
        )
    if opts.is_built and not opts.target:
        raise SettingError("--target LANG is needed: the target language of the graph")
    if opts.is_built:
        from langfocus.crawler.simulate.build import build

        build(sources, folder, language_code(opts.target, "--target"))
    elif opts.generate:
        from langfocus.crawler.simulate.generator import generate
        from langfocus.crawler.simulate.measures import WebMeasures

        if not 0 < opts.scale <= 1:
            raise SettingError(f"--scale {opts.scale}: a number above 0, at most 1, is needed")
        if (folder / "graph.json").exists():
            raise GraphError(f"{folder}: there is a graph already")
        generate(WebMeasures(opts.scale), random_state=opts.random_state).write(folder)
    return Path(folder)
