"""The command table, and the crawl commands, one module each.

Heavy packages are imported in functions, for fast help and errors.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

_HELP: Final = {
    "crawl": "Crawl the part of the Web that is written in one language",
    "compare": "Crawl with several strategies and compare their harvest rates",
    "report": "Print the figures of a crawl and write its report.html; draw pages to check it",
    "export": "Write the texts of a crawl as JSON lines, Parquet or plain text, or pack it as WACZ",
    "seeds": "Write one seed list from runs, indexes, web-languages and the list that ships",
    "takedown": "Remove hosts from a crawl: its queue, WARC files and exports",
    "merge": "Make one run and one report of the shares of a crawl's workers",
    "census": "Count Web servers by country and their portal pages by language, as in Cai 2009",
    "identify": "Identify the language of URLs or pages",
    "key": "Make the key with which a crawl signs its requests, and its public directory",
    "plugins": "List the installed plug-ins, and why one cannot be loaded",
    "train": "Train the URL model: page languages from URLs alone",
    "evaluate": "Compare URL classifiers as in Baykan 2013, or methods of identifying pages",
    "graph": "Print the figures of a Web graph: languages, links, distances",
    "simulate": "Compare crawling strategies on a Web graph, without fetching anything",
}
_ELSEWHERE: Final = {
    "census": "census.command",
    "train": "studies.train_command",
    "evaluate": "studies.evaluate_command",
    "graph": "simulate.graph_command",
    "simulate": "simulate.simulate_command",
}
"""Modules of the laboratory's commands."""


class Listed(NamedTuple):
    """A command in the overview; `crawler.commands.base` defines the module's contents."""

    module: str  # dotted path, imported when the command runs
    help: str


COMMANDS: Final[Mapping[str, Listed]] = {
    name: Listed(f"langfocus.crawler.{_ELSEWHERE.get(name, f'commands.{name}')}", line)
    for name, line in _HELP.items()
}
"""Name -> module and help line, in the order for a newcomer."""
