"""Each page of the documents has one outline, says each paragraph once, and names what exists."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

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
