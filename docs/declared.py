"""The reference, made from the declarations of the program when the site is built.

A page names a part with `{declared} PART`. Each declaration becomes an object with a place of its
own in the index and the search, and a link to it.
"""

import inspect
import re
from argparse import SUPPRESS, Action
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from docutils import nodes
from scrapy.settings import default_settings as scrapys
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from langfocus.crawler import settings
from langfocus.crawler.commands import COMMANDS
from langfocus.crawler.commands.base import parser_of
from langfocus.crawler.corpus.item import PageItem
from langfocus.crawler.frontier.base import Record
from langfocus.crawler.options.config import ARGUMENTS, SETTINGS
from langfocus.crawler.options.knob import Knob
from langfocus.crawler.report.details import reasons
from langfocus.crawler.report.harvest import Summary
from langfocus.crawler.run.page_row import PageRow

_FIELD: Final = re.compile(r"    (\w+): ([^=#]+?)(?: = [^#]+?)?(?:  # (.*))?$")


class Entry(NamedTuple):
    """A declaration: its name, its meaning, and facts such as unit and default."""

    name: str
    text: str
    facts: Mapping[str, str] = {}


def knobs(of: Mapping[str, Knob]) -> Iterator[Entry]:
    """Yield the declared arguments or settings."""
    for name, one in of.items():
        is_number = one.kind in (int, float)
        has_default = one.default not in (None, "", ())
        help_, _, told = one.help.partition(" (default: ")
        otherwise = "required" if help_.endswith("; required") else "none"
        facts = {
            "unit": unit_of(one),
            "values": ", ".join(f"`{choice}`" for choice in one.choices),
            "least": f"{one.least:,}" if is_number and one.least else "",
            "default": f"`{one.default}`" if has_default else told.removesuffix(")") or otherwise,
            "reason": one.why,
        }
        yield Entry(name, help_, facts)


def unit_of(one: Knob) -> str:
    """Return the unit of a number, with which its help begins."""
    return re.split(r" |;|,", one.help)[0] if one.kind in (int, float) else ""


def field_comments(cls: type) -> dict[str, tuple[str, str]]:
    """Return type and comment of each field; the comment stands beside or above it."""
    found, above = {}, ""
    for line in inspect.getsource(cls).splitlines():
        if line.startswith("    # "):
            above += f"{line.removeprefix('    # ')} "
            continue
        if match := _FIELD.match(line):
            found[match[1]] = match[2], above.strip() or match[3] or ""
        above = ""
    return found


def fields_of(cls: type, *others: type) -> Iterator[Entry]:
    """Yield the fields of a class; what it does not tell of one, another class does."""
    for name, (kind, told) in field_comments(cls).items():
        texts = [told, *(field_comments(other).get(name, ("", ""))[1] for other in others)]
        of_crawl = "the argument of the crawl" if name in ARGUMENTS else ""
        yield Entry(name, next(filter(None, texts), of_crawl), {"type": f"`{kind}`"})


_COUNTED: Final = {
    **{"link": "links", "queued": "queued URLs", "page": "pages"},
    "file": "files that pages embed, under `embeds`",
}


def counted(*kinds: str) -> Iterator[Entry]:
    """Yield the outcomes, or the counters of some kinds of things."""
    for reason in reasons().values():
        if reason.kind in kinds:
            of = _COUNTED.get(reason.kind, "")
            yield Entry(reason.name, reason.meaning, {"counts": of, "advice": reason.advice})


def scrapy_settings() -> Iterator[Entry]:
    """Yield the settings of Scrapy with another value here, those with a comment for users."""
    for line in inspect.getsource(settings).splitlines():
        if match := re.match(r"([A-Z_]+) = .*  # (.*)", line):
            name, told = match.groups()
            facts = {"default": getattr(settings, name), "Scrapy's": getattr(scrapys, name)}
            yield Entry(name, told, {key: f"`{value}`" for key, value in facts.items()})


def flags(command: str) -> Iterator[tuple[str, Entry]]:
    """Yield the signature and the declaration of each argument of a command."""
    for action in parser_of(command)._actions:
        if action.default is not SUPPRESS:
            names = ", ".join(action.option_strings)
            signature = f"{names} {_value(action)}".strip()
            yield signature, Entry(names, action.help or "", _told(action))


def _value(action: Action) -> str:
    """Return the value that a flag takes, as its usage shows it."""
    if action.nargs == 0:
        return ""
    names = action.metavar or (None if action.choices else action.dest.upper())
    text = " ".join(names) if isinstance(names, tuple) else names or "VALUE"
    return f"{text} ..." if action.nargs in ("+", "*") else text


def _told(action: Action) -> dict[str, str]:
    has_default = action.default not in (None, False, [])
    return {
        "values": ", ".join(f"`{choice}`" for choice in action.choices or ()),
        "default": f"`{action.default}`" if has_default else "",
    }


PARTS: Final[Mapping[str, Callable[[], list[Entry]]]] = {
    "argument": lambda: list(knobs(ARGUMENTS)),
    "setting": lambda: [*knobs(SETTINGS), *scrapy_settings()],
    "outcome": lambda: list(counted("outcome")),
    "counter": lambda: list(counted("link", "queued", "page")),
    "file": lambda: list(counted("file")),
    "figure": lambda: list(fields_of(Summary)),
    "column": lambda: list(fields_of(PageRow, Record)),
    "field": lambda: list(fields_of(PageItem, PageRow, Record)),
}
"""The kinds of objects in the reference, with all declarations of each."""


def _body(entry: Entry) -> str:
    facts = "; ".join(f"*{name}* {escaped(value)}" for name, value in entry.facts.items() if value)
    return "\n\n".join(part for part in (escaped(entry.text), facts) if part)


def escaped(text: str) -> str:
    """Return a text with the signs of Markdown that are outside of code as signs."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*<[\]^])", r"\\\1", p) for p in parts)


def written(kind: str, entries: list[Entry]) -> str:
    """Return the objects of one kind in Markdown."""
    return "\n\n".join(f"```{{{kind}}} {one.name}\n{_body(one)}\n```" for one in entries)


def command_text(name: str) -> str:
    """Return the description of a command: its flags as objects, then its manual."""
    parser = parser_of(name)
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    lines = [escaped(parser.description or COMMANDS[name].help), f"```text\n{usage}\n```"]
    lines.append(f"```{{program}} langfocus {name}\n```")
    for signature, entry in flags(name):
        kind = "option" if entry.name else "describe"
        lines.append(f"```{{{kind}}} {signature}\n{_body(entry)}\n```")
    manual = parser.epilog or ""
    if name == "crawl":  # its arguments and settings have pages of their own
        manual = re.sub(r"(?ms)^(arguments|settings) \(-\w NAME=VALUE\):\n.*?\n\n", "", manual)
    return "\n\n".join([*lines, f"```text\n{manual.strip()}\n```"])


class Declared(SphinxDirective):
    """`{declared} PART`: all declarations of a kind, or the commands, each a section."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the objects of the part."""
        part = self.arguments[0]
        self.env.note_dependency(str(Path(__file__)))
        if part != "commands":
            return self.parse_text_to_nodes(written(part, PARTS[part]()))
        text = "\n\n".join(f"## langfocus {name}\n\n{command_text(name)}" for name in COMMANDS)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the kinds of objects and the directive."""
    for kind in PARTS:
        app.add_object_type(kind, kind, indextemplate=f"pair: %s; {kind}")
    app.add_directive("declared", Declared)
    return {"parallel_read_safe": True}
