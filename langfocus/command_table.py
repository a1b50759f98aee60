"""The commands, each with its line of help.

The lines are here so that `langfocus --help` loads no command. A test compares the names with the
modules of `crawler.commands`.
"""

from typing import Final

COMMANDS: Final = {
    "crawl": "Crawl the part of the Web that is written in one language",
    "compare": "Crawl with several strategies and compare their harvest rates",
    "report": "Print the figures of a crawl and write its report.html",
    "sample": "Draw pages of a crawl for a person to label",
    "warc": "Write the CDXJ index of a crawl's WARC files, and pack them as WACZ",
    "export": "Write the texts of a crawl as JSON lines, Parquet or plain text",
    "takedown": "Remove hosts from a crawl: its queue, WARC files and exports",
    "merge": "Make one run and one report of the shares of a crawl's workers",
    "census": "Count Web servers by country and their portal pages by language, as in Cai 2009",
    "identify": "Identify the language of URLs or of pages",
    "train": "Train the model that reads a page's language from its URL, or one that reads pages",
    "evaluate": "Compare URL classifiers as in Baykan 2013, or methods of identifying pages",
    "graph": "Print the figures of a Web graph: languages, links, distances",
    "simulate": "Compare crawling strategies on a Web graph, without fetching anything",
}
"""Name -> its line of help, in the order that a newcomer needs."""
