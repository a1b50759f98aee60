"""`scrapy graph`: what a Web graph is made of, as Tamura 2007 shows a data set."""

import argparse
import sys
import textwrap
from pathlib import Path

from scrapy.commands import ScrapyCommand

from crawler.errors import GraphError, SettingError
from crawler.report.files import write_whole

_MANUAL = """\
A graph is a folder with graph.json and a file for each column (docs/simulation.md). Distances
are numbers of links from the nearest seed. A relevant page is one in the target language, a
relevant server one with such a page. What was never fetched is known only as the target of links.

examples:
  scrapy graph graphs/thai
  scrapy graph graphs/docs --target fr --html graph.html --json graph.json
"""

_INTERRUPTED = 130


class Command(ScrapyCommand):
    """Prints the tables and figures of one graph."""

    requires_crawler_process = False

    def syntax(self) -> str:
        """How the command is called."""
        return "GRAPH_FOLDER [--target LANG] [--json FILE] [--html FILE]"

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
        parser.add_argument(
            "--json", metavar="FILE", type=Path, help="write the figures to FILE, as JSON"
        )
        parser.add_argument(
            "--html", metavar="FILE", type=Path, help="write them to FILE with plots, as HTML"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Look at the one graph named."""
        if len(args) != 1 or args[0].startswith("-"):
            self._fail("name one folder of a graph: scrapy graph GRAPH_FOLDER", 2)
            return
        try:
            self._show(Path(args[0]), opts)
        except SettingError as error:
            self._fail(str(error), 2)
        except (GraphError, OSError) as error:
            self._fail(str(error), 1)
        except KeyboardInterrupt:
            self._fail("interrupted", _INTERRUPTED)

    def _show(self, folder: Path, opts: argparse.Namespace) -> None:
        from crawler.report.sheets import WidePrinter, check_places, json_text, print_sheets
        from crawler.report.web_graph import graph_json, graph_page, graph_sheets
        from crawler.simulate.figures import graph_figures
        from crawler.simulate.graph import WebGraph
        from crawler.simulate.plan import language_in

        check_places(opts.json, opts.html)
        graph = WebGraph.open(folder)
        figures = graph_figures(graph, language_in(graph, opts.target, "--target"))
        print_sheets(graph_sheets(figures, graph.provenance), WidePrinter())
        if opts.json:
            write_whole(opts.json, json_text(graph_json(figures, graph.provenance)))
        if opts.html:
            write_whole(opts.html, graph_page(figures, graph.provenance, folder.resolve().name))
            print(opts.html)

    def _fail(self, message: str, code: int) -> None:
        print(f"scrapy graph: {message}", file=sys.stderr)
        self.exitcode = code
