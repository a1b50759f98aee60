"""`scrapy graph`: what a Web graph is made of, as Tamura 2007 shows a data set."""

import argparse
import sys
import textwrap
from pathlib import Path

from scrapy.commands import ScrapyCommand

from classifiers import languages
from classifiers.pages.methods import DEFAULT_METHOD
from crawler.errors import CrawlError, GraphError, SettingError
from crawler.report.files import write_whole

_MANUAL = """\
A graph is a folder with graph.json and a file for each column (docs/simulation.md). Distances
are numbers of links from the nearest seed. A relevant page is one in the target language, a
relevant server one with such a page. What was never fetched is known only as the target of links.

With --from the arguments before the folder are what the graph is made of: folders of crawls with
-s LANGFOCUS_LINKS=True, WARC and WAT files, tables (docs/graphs.md). With --generate it is a Web
with the measured quantities of Tamura 2007, at scale 1 18,344,127 pages (1.4 GB).

examples:
  scrapy graph graphs/thai
  scrapy graph --from runs/de-svm graphs/de --target de
  scrapy graph --from one.warc.gz two.warc.gz graphs/archive --target fr --directory-depth 3
  scrapy graph --generate graphs/thai --scale 0.02
  scrapy graph graphs/docs --target fr --html graph.html --json graph.json
"""

_INTERRUPTED = 130


class Command(ScrapyCommand):
    """Prints the tables and figures of one graph."""

    requires_crawler_process = False

    def syntax(self) -> str:
        """How the command is called."""
        return "[--from SOURCE... | --generate] GRAPH_FOLDER [--target LANG] [--json FILE]"

    def short_desc(self) -> str:
        """One line in the list of commands."""
        return "Print what a Web graph is made of: languages, links, distances"

    def long_desc(self) -> str:
        """What --help begins with."""
        return (
            "Prints Tables 1, 4 and 5 and Figures 1 and 2 of Tamura et al. 2007 for any Web graph: "
            "pages by language and top-level domain, links by the languages of their ends and of "
            "their servers, pages by distance from the seeds, and how far relevant pages are from "
            "each other. Beside a graph that was generated to the paper stand the paper's figures. "
            "Exits with 1 if the folder is no graph or lacks the language."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options beside Scrapy's own."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = textwrap.fill(self.long_desc(), 95)
        parser.epilog = _MANUAL
        parser.add_argument(
            "--target", metavar="LANG", help="language to look for (default: the graph's own)"
        )
        making = parser.add_argument_group("making a graph")
        making.add_argument(
            "--from", action="store_true", dest="is_built", help="make it from the sources named"
        )
        making.add_argument("--generate", action="store_true", help="make up a Web")
        making.add_argument(
            "--directory-depth", metavar="N", type=int, default=1, help="directories of a unit (1)"
        )
        making.add_argument(
            "--orderings", metavar="NAMES", default="", help="score all URLs by svm, cctld"
        )
        making.add_argument(
            "--identify", metavar="METHOD", default=DEFAULT_METHOD, help="language of WARC pages"
        )
        making.add_argument(
            "--seeds", metavar="URLS", default="", help="where crawls begin, commas between them"
        )
        making.add_argument(
            "--scale", metavar="X", type=float, default=1.0, help="times the pages of the paper (1)"
        )
        making.add_argument("--random-state", metavar="N", type=int, default=0)
        parser.add_argument(
            "--json", metavar="FILE", type=Path, help="write the figures to FILE, as JSON"
        )
        parser.add_argument(
            "--html", metavar="FILE", type=Path, help="write them to FILE with plots, as HTML"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Look at the one graph named."""
        if opts.is_built and opts.generate:
            self._fail("a graph is made --from sources or by --generate, not both", 2)
            return
        if any(arg.startswith("-") for arg in args) or (
            len(args) < 2 if opts.is_built else len(args) != 1
        ):
            self._fail(f"name one folder of a graph: scrapy graph {self.syntax()}", 2)
            return
        folder = Path(args[-1])
        try:
            if opts.is_built:
                _build([Path(arg) for arg in args[:-1]], folder, opts)
            elif opts.generate:
                _generate(folder, opts)
            self._show(folder, opts)
        except SettingError as error:
            self._fail(str(error), 2)
        except (CrawlError, OSError) as error:
            self._fail(str(error), 1)
        except KeyboardInterrupt:
            self._fail("interrupted", _INTERRUPTED)

    def _show(self, folder: Path, opts: argparse.Namespace) -> None:
        from crawler.report.files import check_places, json_text
        from crawler.report.graph_json import graph_json
        from crawler.report.graph_page import graph_page
        from crawler.report.graph_tables import graph_tables
        from crawler.report.printer import WIDE, Printer
        from crawler.simulate.figures import graph_figures
        from crawler.simulate.plan import language_in
        from crawler.simulate.webgraph import WebGraph

        check_places(opts.json, opts.html)
        graph = WebGraph.open(folder)
        figures = graph_figures(graph, language_in(graph, opts.target, "--target"))
        printer = Printer(width=WIDE)
        for table in graph_tables(figures, graph.provenance):
            printer.table(table)
        if opts.json:
            write_whole(opts.json, json_text(graph_json(figures, graph.provenance)))
        if opts.html:
            write_whole(opts.html, graph_page(figures, graph.provenance, folder.resolve().name))
            print(opts.html)

    def _fail(self, message: str, code: int) -> None:
        print(f"scrapy graph: {message}", file=sys.stderr)
        self.exitcode = code


def _build(sources: list[Path], folder: Path, opts: argparse.Namespace) -> None:
    from crawler.simulate.build import build

    target = languages.canonical(opts.target or "")
    if target is None:
        raise SettingError("--target LANG is needed: the language that the graph is made for")
    build(
        sources,
        folder,
        target=target,
        directory_depth=opts.directory_depth,
        orderings=_listed(opts.orderings),
        identify=opts.identify,
        seeds=_listed(opts.seeds),
    )


def _generate(folder: Path, opts: argparse.Namespace) -> None:
    from crawler.simulate.generate import WebMeasures, generate

    if not 0 < opts.scale <= 1:
        raise SettingError(f"--scale {opts.scale}: a number above 0, at most 1, is needed")
    if (folder / "graph.json").exists():
        raise GraphError(f"{folder}: there is a graph already")
    measures = WebMeasures() if opts.scale == 1 else WebMeasures().scaled(opts.scale)
    generate(measures, random_state=opts.random_state).write(folder)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
