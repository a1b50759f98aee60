"""The commands of the project by name, and those of a crawl, one module each.

Heavy packages are imported in functions, so that help and errors are quick.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Listed(NamedTuple):
    """A command in the overview; `crawler.commands.base` says what its module has."""

    module: str  # dotted path, imported when the command runs
    help: str


_COMMANDS: Final = "langfocus.crawler.commands"
_SIMULATE: Final = "langfocus.crawler.simulate"
_STUDIES: Final = "langfocus.crawler.studies"

COMMANDS: Final[Mapping[str, Listed]] = {
    "crawl": Listed(
        f"{_COMMANDS}.crawl", "Crawl the part of the Web that is written in one language"
    ),
    "compare": Listed(
        f"{_COMMANDS}.compare", "Crawl with several strategies and compare their harvest rates"
    ),
    "report": Listed(
        f"{_COMMANDS}.report",
        "Print the figures of a crawl and write its report.html; draw pages to check it",
    ),
    "export": Listed(
        f"{_COMMANDS}.export",
        "Write the texts of a crawl as JSON lines, Parquet or plain text, or pack it as WACZ",
    ),
    "takedown": Listed(
        f"{_COMMANDS}.takedown", "Remove hosts from a crawl: its queue, WARC files and exports"
    ),
    "merge": Listed(
        f"{_COMMANDS}.merge", "Make one run and one report of the shares of a crawl's workers"
    ),
    "census": Listed(
        "langfocus.crawler.census.command",
        "Count Web servers by country and their portal pages by language, as in Cai 2009",
    ),
    "identify": Listed(f"{_COMMANDS}.identify", "Identify the language of URLs or of pages"),
    "train": Listed(
        f"{_STUDIES}.train_command", "Train the model that reads a page's language from its URL"
    ),
    "evaluate": Listed(
        f"{_STUDIES}.evaluate_command",
        "Compare URL classifiers as in Baykan 2013, or methods of identifying pages",
    ),
    "graph": Listed(
        f"{_SIMULATE}.graph_command",
        "Print the figures of a Web graph: languages, links, distances",
    ),
    "simulate": Listed(
        f"{_SIMULATE}.simulate_command",
        "Compare crawling strategies on a Web graph, without fetching anything",
    ),
}
"""Name -> module and line of help, in the order that a newcomer needs."""
