"""All that is public, one name a line: from declarations, and from the files of small crawls.

    python -m tests.support.public

writes `docs/reference/public.txt`.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastwarc.warc import ArchiveIterator

import langfocus
from benchmarks.servers.processes import run
from langfocus import Run
from langfocus.crawler.commands import COMMANDS
from langfocus.crawler.commands.base import ExitCode
from langfocus.crawler.commands.plugins import registries
from langfocus.crawler.corpus.item import FIELDS
from langfocus.crawler.options import json_log
from langfocus.crawler.options.config import ARGUMENTS, RENAMED, SETTINGS
from langfocus.crawler.report.comparison import comparison_report
from langfocus.crawler.report.details import reasons
from langfocus.crawler.run.schema import columns_of
from langfocus.crawler.spiders import addon
from tests.support.crawls import ROOT, environment, finished

FILE = ROOT / "docs" / "reference" / "public.txt"
UPDATE = "add a line to CHANGELOG.md, then run: python -m tests.support.public"
TABLES = ("pages", "sessions", "counts")
"""The tables of run.db that others may read."""

KEYED_BY_DATA = {
    *(f"summary.json {name}" for name in ("languages", "outcomes", "statuses", "methods")),
    *(
        f"{file} {name}"
        for file in ("summary.json", "compare.json runs[]")
        for name in ("days", "types", "countries", "top_level_domains", "modified_years")
    ),
    *(f"summary.json {name}" for name in ("counts", "settings")),
    *(f"live.json {name}" for name in ("outcomes", "drops")),
    *(f"census.json {name}" for name in ("addresses", "by_country", "by_country *", "decided")),
    *(f"census.json {name}" for name in ("languages", "methods", "outcomes", "servers")),
    *(f"graph --json {name}" for name in ("pages_by", "pages_by *")),
    "export --json paragraph_languages",
}
"""Objects whose keys are languages, outcomes and the like."""

HOSTS = {"LANGFOCUS_SAMPLE_HOSTS": 12}


def public() -> list[str]:
    """Return all lines in order."""
    sys.path.append(str(ROOT / "docs"))
    with TemporaryDirectory() as work:
        return sorted({*declared(), *names(), *of_files(Path(work))})


def declared() -> Iterator[str]:
    """Yield options, columns, fields, outcomes, counters and exit codes."""
    flags: Callable[[str], Any] = import_module("declared").flags
    for command in COMMANDS:
        yield f"command {command}"
        for signature, entry in flags(command):
            yield f"command {command} {signature or entry.name}"
            for value in re.findall("`(.+?)`", entry.facts["values"]):
                yield " ".join(filter(None, ("command", command, entry.name, value)))
    for kind, knobs in {"argument": ARGUMENTS, "setting": SETTINGS}.items():
        for name, knob in knobs.items():
            yield f"{kind} {name} = {knob.default!r}"
            yield from (f"{kind} {name}={choice}" for choice in knob.choices)
    for name in (addon.SCHEDULER, addon.DROP_OTHERS, *addon._ARGUMENTS):
        yield f"setting {name} of langfocus.Addon"
    yield f"setting {json_log.VARIABLE} of the environment: text or json"
    for path in (ROOT / "crawler" / "spiders").glob("*.py"):
        for name in re.findall(r'"(langfocus/[a-z_]+)"', path.read_text("utf-8")):
            yield f"stat {name}"
    for registry in registries():
        yield f"entry points {registry.group}"
        yield from (f"entry points {registry.group}: {name}" for name in registry)
    yield from (f"renamed {former} -> {now}" for former, now in RENAMED.items())
    for kind, name in reasons():
        yield f"{kind if kind in ('outcome', 'file') else 'counter'} {name}"
    yield from (f"run.db {table}.{column}" for table in TABLES for column in columns_of(table))
    yield from (f"item {name}" for name in FIELDS)
    yield from (f"exit code {code.value} {code.name}" for code in ExitCode)


def names() -> Iterator[str]:
    """Yield the names of Python with the arguments of functions."""
    folder = Path(langfocus.__file__).parent
    paths = (*folder.glob("*.py"), *folder.glob("*/__init__.py"))
    others = [path for path in paths if "\n__all__ =" in path.read_text("utf-8")]
    for path in others:
        module = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        found = import_module(module)
        for name in found.__all__:
            yield from members(f"{module}.{name}", getattr(found, name))
    for old, (new, removal) in langfocus._RENAMED.items():
        yield f"python langfocus.{old}: now langfocus.{new}, until {removal}"


def members(name: str, of: object) -> Iterator[str]:
    """Yield a function with its arguments, or a class with its members of this project."""
    if not inspect.isclass(of):
        yield f"python {name}{arguments(of) if callable(of) else ''}"
        return
    yield f"python {name}"
    for part in of.__mro__:
        if part.__module__.partition(".")[0] == "langfocus":
            own = {**vars(part), **getattr(part, "__annotations__", {})}
            for key in own:
                value = inspect.getattr_static(part, key, None)
                function = getattr(value, "__func__", value)
                shown = arguments(function) if inspect.isfunction(function) else ""
                is_protocol = getattr(part, "_is_protocol", False)
                is_public = key[0] != "_" and not key.startswith("test_")
                if is_public or key == "__call__" or (key == "__init__" and not is_protocol):
                    yield f"python {name}.{key}{shown}"


def arguments(function: Any) -> str:
    """Return the arguments of a function without their types, which Python versions print apart."""
    signature = inspect.signature(function)
    bare = [
        one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def of_files(work: Path) -> Iterator[str]:
    """Yield the fields in the files of crawls and in the output of commands."""
    first, second = work / "first", work / "second"
    of_crawl = {**HOSTS, "LANGFOCUS_LINKS": True, "LOG_LEVEL": "INFO", "STATS_DUMP": True}
    done = finished("lang=de", "web=sample", "pages=8", JOBDIR=first, **of_crawl)
    for name in re.findall(r"'langfocus/([\w/]+)':", done.stdout + done.stderr):
        yield f"stat langfocus/{re.sub('/.*', '/*', name)}"
    finished("lang=de", "web=sample", "pages=9", f"since={first}", JOBDIR=second, **HOSTS)
    (work / "hosts.txt").write_text("www.kueche-arzt.de\n", "utf-8")
    finished(f"hosts={work / 'hosts.txt'}", "web=sample", JOBDIR=work / "census", **HOSTS)
    of_summary = set(keys("summary.json", read(second / "summary.json")))
    yield from of_summary
    yield from keys("live.json", read(second / "live.json"))
    yield from keys("census.json", read(work / "census" / "census.json"))
    compared = {"de": {"focus": Run(first).summary, "bfs": Run(second).summary}}
    folders = {("de", "focus"): str(first), ("de", "bfs"): str(second)}
    for line in keys(
        "compare.json", {"is_complete": True, **comparison_report(compared, folders).figures}
    ):
        if line.replace("compare.json runs[]", "summary.json") not in of_summary:
            yield line
    for line in (first / "index.cdxj").read_text("utf-8").splitlines():
        yield from keys("index.cdxj", json.loads(line.split(" ", 2)[2]))
    for path in (*first.glob("*.warc.gz"), *second.glob("*.warc.gz")):
        yield from of_warc(path)
    figures = work / "figures.json"
    values = {
        "export": ("export", first, "--output", work / "texts.jsonl"),
        "graph": ("graph", "--from", first, work / "graph", "--target", "de"),
    }
    for name, words in values.items():
        done = run(
            "langfocus", *map(str, (*words, "--json", figures)), environment=environment(None)
        )
        assert done.returncode == 0, done.stderr
        yield from keys(f"{name} --json", read(figures))


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def keys(name: str, value: object) -> Iterator[str]:
    """Yield the paths of the fields of JSON: `report.json sources[] name`."""
    if isinstance(value, list):
        for one in value:
            yield from keys(f"{name}[]", one)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            path = f"{name} {'*' if name in KEYED_BY_DATA else key}"
            yield path
            yield from keys(path, one)


def of_warc(path: Path) -> Iterator[str]:
    """Yield the headers of records, and the fields of `warcinfo` and `metadata`."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file, parse_http=False):
            kind = record.headers["WARC-Type"]
            yield from (f"warc {kind} {name}" for name, _ in record.headers.items())
            if kind in ("warcinfo", "metadata"):
                lines = record.reader.read().decode().splitlines()
                yield from (f"warc {kind} {line.partition(':')[0]}:" for line in lines if line)


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in public()), "utf-8")
