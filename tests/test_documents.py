"""Pages of the documentation have one outline, no repeated paragraph, and only existing names."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from langfocus.crawler.commands import COMMANDS
from langfocus.crawler.commands.base import parser_of
from langfocus.crawler.commands.plugins import registries
from langfocus.crawler.options.config import ARGUMENTS
from langfocus.crawler.simulate import plan
from tests.support.crawls import ROOT

FENCE = re.compile(r"(?ms)^(`{3,})\S*[^\n]*\n.*?^\1$")
GENERATED = re.compile(r"(?s)<!-- table: .*?<!-- end of table -->")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "seeds" / "README.md",
    ROOT / "classifiers" / "models" / "README.md",
]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def prose(text: str) -> str:
    """Return a page without its code blocks and its generated tables."""
    return GENERATED.sub("", FENCE.sub("", text))


def repeated(parts: Iterable[str]) -> list[str]:
    return [part for part, count in Counter(parts).items() if count > 1]


def faults_of_outline(text: str) -> list[str]:
    """Return doubled titles, doubled paragraphs and skipped levels."""
    heads = re.findall(r"(?m)^(#+) (.+)$", prose(text))
    levels = [len(marks) for marks, _ in heads]
    faults = [f"twice: {title}" for title in repeated(title for _, title in heads)]
    long = [part.strip() for part in prose(text).split("\n\n") if len(part) > 80]
    faults += [f"twice: {part[:60]}" for part in repeated(long)]
    faults += [
        f"a level is skipped: {heads[at + 1][1]}"
        for at, level in enumerate(levels[:-1])
        if levels[at + 1] > level + 1
    ]
    return faults


@every_page
def test_a_page_has_one_outline_and_says_each_paragraph_once(page: Path) -> None:
    assert faults_of_outline(page.read_text("utf-8")) == []


RULE = "The rules of a host are obeyed. A file that cannot be read forbids its host for an hour."


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (f"# A\n\n## B\n\n{RULE}\n\n## C\n\n```console\n## B\n# A\n```\n", []),
        ("# A\n\n## B\n\n### C\n\n## B\n", ["twice: B"]),
        (f"# A\n\n{RULE}\n\n## B\n\n{RULE}\n", [f"twice: {RULE[:60]}"]),
        ("# A\n\n### B\n", ["a level is skipped: B"]),
    ],
)
def test_the_outline_of_a_page_is_checked(text: str, faults: list[str]) -> None:
    assert faults_of_outline(text) == faults


COMMIT = re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,8}\b")

AS_OF = re.compile(r"as of 20\d\d-\d\d-\d\d at (?:commit )?([0-9a-f]{7,8})\b")

# Names.

RESEARCH = [page for page in PAGES if "research" in page.parts]
PRESENT = [
    page
    for page in PAGES
    if page.name != "CHANGELOG.md"
    and not (page in RESEARCH and AS_OF.search(page.read_text("utf-8")))
]
"""Pages that are of now: all but the changelog, and notes that are of a commit as a whole."""
CODE = [
    path
    for folder in ("crawler", "classifiers", "benchmarks", "docs", "langfocus")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not {"langfocus/crawler", "langfocus/classifiers"}
    & set(map(str, path.relative_to(ROOT).parents))
]
PACKAGES = "benchmarks|classifiers|crawler|langfocus|tests"
PATH = re.compile(rf"(?<![\w/.-])(?:{PACKAGES}|docs|seeds)/[a-z][\w./*-]*[\w*]")
MODULE = re.compile(rf"(?<![\w/.-])(?:{PACKAGES})(?:\.\w+)+(?![\w/])")
SETTING = re.compile(r"\bLANGFOCUS_[A-Z_]+[A-Z]\b")
ARGUMENT = re.compile(r"-a ([a-z_]+)=")
KNOWN = {*ARGUMENTS, *plan.ARGUMENTS, "strategies", "identifies"}
"""Arguments of a crawl, a simulation, a comparison, and the spider of a rival."""
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+")
COMMAND = re.compile(r"(?m)(?:^ {4}|`|\$ )langfocus ([a-z]+)")
PUBLIC = (ROOT / "docs" / "reference" / "public.txt").read_text("utf-8")
FOREIGN = {"--hypothesis-profile", "--profile", "--upgrade"}
FOREIGN |= {"--headless", "--host-resolver-rules", "--remote-debugging-port", "--user-data-dir"}
FOREIGN |= {"--force-webrtc-ip-handling-policy"}
"""Flags of other programs."""


def exists(path: str, root: Path = ROOT) -> bool:
    return any(root.glob(path))


@cache
def is_module(name: str) -> bool:
    """Return True for a module, or for a word in one; names may lack the package `langfocus`."""
    for parts in (name.split("."), name.removeprefix("langfocus.").split(".")):
        for end in range(len(parts), 0, -1):
            base = ROOT.joinpath(*parts[:end])
            files = [base.with_suffix(".py"), base / "__init__.py"]
            if file := next((each for each in files if each.is_file()), None):
                word = parts[min(end, len(parts) - 1)]
                if end == len(parts) or re.search(rf"\b{word}\b", file.read_text("utf-8")):
                    return True
                break
    return False


@cache
def flags() -> frozenset[str]:
    """Return all flags of the commands, and those that the benchmarks declare."""
    found = {
        option
        for name in COMMANDS
        for action in parser_of(name)._actions
        for option in action.option_strings
    }
    texts = [
        path.read_text("utf-8") for path in (*CODE, ROOT / "Makefile", ROOT / "pyproject.toml")
    ]
    found |= {flag for text in texts for flag in re.findall(r"\"(--[\w-]+)\"", text)}
    return frozenset(found | FOREIGN)


def missing_names(text: str) -> Iterator[str]:
    """Yield names of paths, modules, settings, arguments and flags that do not exist."""
    paths = (name.rstrip(".") for name in PATH.findall(text))
    yield from (name for name in paths if not exists(name) and f"\nstat {name}" not in PUBLIC)
    groups = {registry.group for registry in registries()}
    yield from (name for name in MODULE.findall(text) if not is_module(name) | (name in groups))
    yield from (name for name in SETTING.findall(text) if f"\nsetting {name} " not in PUBLIC)
    yield from (f"-a {name}" for name in ARGUMENT.findall(text) if name not in KNOWN)
    yield from (flag for flag in FLAG.findall(text) if flag not in flags())
    yield from (name for name in COMMAND.findall(text) if name not in COMMANDS)


def quoted(text: str) -> str:
    """Return what a page has in backticks and blocks, without parts that name a commit."""
    text = "\n\n".join(part for part in text.split("\n\n") if not COMMIT.search(part))
    return "\n".join([*re.findall(r"`[^`\n]+`", text), *(m[0] for m in FENCE.finditer(text))])


@pytest.mark.parametrize("page", PRESENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_name_that_a_page_quotes_exists(page: Path) -> None:
    assert sorted(set(missing_names(quoted(page.read_text("utf-8"))))) == []


def words_of(path: Path) -> str:
    """Return the docstrings, messages and help texts of a module, and its comments."""
    text = path.read_text("utf-8")
    nodes = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    strings = [value for value in nodes if isinstance(value, str) and " " in value]
    return "\n".join([*strings, *re.findall(r"(?m)^\s*# .*", text)])


def test_every_name_in_a_docstring_or_a_help_text_exists() -> None:
    found = {
        str(path.relative_to(ROOT)): sorted(set(missing_names(words_of(path)))) for path in CODE
    }
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "`crawler/options/config.py` `langfocus.crawler.options.config.Config` `-a lang=de`"
            " `LANGFOCUS_WARC`",
            [],
        ),
        ("`crawler/gone.py`", ["crawler/gone.py"]),
        ("`benchmarks.gone`", ["benchmarks.gone"]),
        ("`langfocus.crawler.options.config.Gone`", ["langfocus.crawler.options.config.Gone"]),
        ("`-s LANGFOCUS_GONE=1`", ["LANGFOCUS_GONE"]),
        ("`-a gone=1`", ["-a gone"]),
        ("`langfocus export --gone`", ["--gone"]),
        ("`langfocus gone FILE`", ["gone"]),
    ],
)
def test_a_name_that_is_gone_is_found(text: str, names: list[str]) -> None:
    assert list(missing_names(text)) == names


# Commands.

RUN = re.compile(r"python -m ((?:benchmarks|classifiers|crawler|langfocus)(?:\.[a-z]\w*)+)")


def git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


@cache
def is_at(commit: str, path: str) -> bool:
    return git("cat-file", "-e", f"{commit}:{path}").returncode == 0


def files_of(module: str) -> list[str]:
    path = module.replace(".", "/")
    return [f"{path}.py", f"{path}/__main__.py", f"{path}/__init__.py"]


def lost_commands(text: str) -> Iterator[str]:
    """Yield modules of commands that are neither here nor at the commit that their part names.

    A part names its commit itself, or its section's title does, or the page.
    """
    of_page, of_section = AS_OF.findall(text)[:1], list[str]()
    for part in re.split(r"\n\s*\n", text):
        if part.startswith("#"):
            of_section = COMMIT.findall(part)
        for module in RUN.findall(part):
            if any((ROOT / path).is_file() for path in files_of(module)):
                continue
            commits = COMMIT.findall(part) or of_section or of_page
            if not any(is_at(commit, path) for commit in commits for path in files_of(module)):
                yield f"{module} at {', '.join(commits) or 'no commit'}"


@pytest.fixture
def _history() -> None:
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("needs the history of git: a full clone")


@pytest.mark.usefixtures("_history")
@pytest.mark.parametrize("page", RESEARCH, ids=lambda page: page.name)
def test_a_command_of_the_research_notes_is_here_or_at_its_commit(page: Path) -> None:
    text = page.read_text("utf-8")
    assert list(lost_commands(text)) == []
    dates = re.findall(r"20\d\d-\d\d-\d\d (?:at|in) (?:commit )?([0-9a-f]{7,8})\b", text)
    assert [commit for commit in dates if not is_at(commit, "README.md")] == []


@pytest.mark.usefixtures("_history")
@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("`python -m benchmarks.run --only urls`", []),
        ("2026-11-23 at f80761a6, `python -m benchmarks.page_lies TEXTS`", []),
        ("as of 2026-11-23 at f80761a6\n\n`python -m benchmarks.page_lies TEXTS`", []),
        ("`python -m benchmarks.page_lies`", ["benchmarks.page_lies at no commit"]),
        ("0461188: `python -m benchmarks.page_lies`", ["benchmarks.page_lies at 0461188"]),
    ],
)
def test_a_command_that_is_lost_is_found(text: str, lost: list[str]) -> None:
    assert list(lost_commands(text)) == lost


@pytest.mark.parametrize(
    "page",
    [page for page in PRESENT if page not in RESEARCH],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_a_command_of_the_guide_is_here(page: Path) -> None:
    for module in RUN.findall(page.read_text("utf-8")):
        assert import_module(module)


def test_a_tutorial_has_no_command_that_the_site_or_a_forge_cuts() -> None:
    """A block of code is 91 columns wide on the site, on a screen of 1280 pixels."""
    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        blocks = re.findall(r"(?ms)^```console\n(.*?)^```", page.read_text("utf-8"))
        assert [line for block in blocks for line in block.splitlines() if len(line) > 91] == []


@every_page
def test_no_line_begins_with_a_figure(page: Path) -> None:
    """Markdown reads a line that begins with a comment as HTML, and shows its links as text."""
    assert re.findall(r"(?m)^\s*<!-- =.*", page.read_text("utf-8")) == []
