"""`langfocus plugins`: the installed plug-ins, and why one cannot be loaded."""

import argparse
from collections.abc import Iterator
from typing import Any

from langfocus.classifiers.errors import PluginError
from langfocus.classifiers.plugins import Plugin, Registry, imported
from langfocus.crawler.commands.base import Parser, write_json

DESCRIPTION = (
    "Lists the plug-ins of all installed packages: their kinds, names and versions, and the error "
    "of each one that cannot be loaded. docs/plugins.md shows how to write one."
)

_MANUAL = """\
A plug-in is chosen by its name wherever the name of a part is given, and so is any other object by
its dotted path, package.module:attribute.

examples:
  langfocus plugins
  langfocus plugins --json plugins.json
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_file("--json", "also write the list to FILE, as JSON")


def registries() -> list[Registry[Any]]:
    """Return the registries of all kinds of parts."""
    from langfocus.classifiers.pages.methods import METHODS
    from langfocus.classifiers.urls.plugin_models import URL_MODELS
    from langfocus.crawler.corpus.extraction import EXTRACTORS
    from langfocus.crawler.corpus.formats import WRITERS
    from langfocus.crawler.sources.contract import WEBS
    from langfocus.crawler.sources.seeds import SEEDS
    from langfocus.crawler.strategies import ORDERINGS
    from langfocus.crawler.strategies.filters import FILTERS

    return [ORDERINGS, FILTERS, METHODS, URL_MODELS, EXTRACTORS, WRITERS, WEBS, SEEDS]


def run(opts: argparse.Namespace) -> None:
    """Print the installed plug-ins."""
    from langfocus.crawler.report.table import WIDE, Printer, Table

    found = list(_found())
    write_json(opts.json, {"plugins": [{**one._asdict(), "error": error} for one, error in found]})
    head = (*Plugin._fields, "error")
    rows = [(*one, error) for one, error in found]
    printer = Printer(width=WIDE)
    printer.table(Table("Plug-ins", head, rows, text_columns=len(head)))
    if not found:
        groups = ", ".join(registry.group for registry in registries())
        printer.line(f"no plug-in is installed; the groups of entry points are {groups}")


def _found() -> Iterator[tuple[Plugin, str]]:
    """Yield each installed plug-in, and why it cannot be used."""
    for registry in registries():
        for plugin in registry.installed():
            error = f"the built-in {registry.kind} of this name is used"
            if plugin.name not in registry:
                try:
                    error = ""
                    registry.plugin(plugin.name)
                    imported(plugin)
                except PluginError as fault:
                    error = str(fault)
            yield plugin, error
