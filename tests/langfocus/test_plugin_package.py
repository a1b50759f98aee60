"""A package of plug-ins, one of each kind, is built, installed and used; the documents show it."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.servers import processes
from langfocus.plugins import (
    AcceptsLinks,
    Extractor,
    IdentifiesPages,
    LinkSource,
    ScoresLinks,
    ScoresUrls,
    SeedProvider,
    Web,
    Writer,
)
from tests.langfocus.test_packaging import built
from tests.plugins.alphabet import alphabet
from tests.support.crawls import ROOT, environment, rows, summary

PACKAGE = ROOT / "tests" / "plugins" / "alphabet"
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
ORDERING: ScoresLinks = alphabet.Alphabetical("de", None)
FILTER: AcceptsLinks = alphabet.WithoutQueries("de")
METHOD: IdentifiesPages = alphabet.CommonWords()
MODEL: ScoresUrls = alphabet.Codes()
EXTRACTOR: Extractor = alphabet.paragraphs
FORMAT: Writer = alphabet.counts
PAGES: Web = alphabet.Village(None)
SEEDS: SeedProvider = alphabet.square
CRAWL = """
crawl -a lang=de -a web=sample -a pages=40 -a strategy=alphabetical -a filter=plain
 -a identify=common-words -s LANGFOCUS_URL_MODEL=codes -s LANGFOCUS_SAMPLE_HOSTS=100
 -s JOBDIR=run -s LANGFOCUS_READERS=1
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return a folder with the wheel of the package, the first one on the path of a command."""
    return built("standard", tmp_path / "wheel", PACKAGE)


def run(installed: Path, line: str) -> None:
    """Run a command to its end."""
    search = {**environment(None), "PYTHONPATH": str(installed)}  # of the readers too
    done = processes.run("langfocus", *line.split(), environment=search, folder=installed)
    assert done.returncode == 0, done.stderr


def test_the_package_is_listed_and_all_of_its_parts_are_used(installed: Path) -> None:
    run(installed, "plugins --json plugins.json")
    listed = json.loads((installed / "plugins.json").read_text())["plugins"]
    assert len(listed) == 8
    about = {(one["distribution"], one["version"], one["error"]) for one in listed}
    assert about == {("langfocus-alphabet", "1.0", "")}

    run(installed, CRAWL)
    folder = installed / "run"
    found = summary(folder)
    assert [one["name"] for one in found["plugins"]] == [
        *("alphabetical", "plain", "common-words", "codes"),
    ]
    assert found["pages"] == 40
    assert set(found["methods"]) == {"words"}
    assert set(found["languages"]) <= {"de", "en", "fr"}
    scored = rows(folder, "SELECT url, score FROM pages WHERE depth > 0 AND parent IS NOT NULL")
    assert scored
    for url, score in scored:
        assert "?" not in url
        assert score == ORDERING.scores([url], LinkSource())[0]

    run(installed, "export run --extractor paragraphs --output texts.counts")
    lines = (installed / "texts.counts").read_text().splitlines()
    assert lines
    assert all(re.fullmatch(r"http\S+\t\d+", line) for line in lines)
    run(installed, "crawl -a lang=de -a web=village -a seeds=square -s JOBDIR=village")
    urls = rows(installed / "village", "SELECT url FROM pages WHERE outcome = 'page'")
    assert urls == [("http://village.example/market",)]


def test_the_documents_show_the_package() -> None:
    code = (PACKAGE / "alphabet.py").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    parts = [re.sub(r"(?m)^(?:from|import) .*\n", "", block).strip() for block in blocks]
    assert len(parts) == 10
    tests = (ROOT / "tests/plugins/alphabet/test_alphabet.py").read_text(encoding="utf-8")
    assert [part for part in parts if part not in f"{code}{tests}"] == []
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert block.strip() in (PACKAGE / "pyproject.toml").read_text(encoding="utf-8")
    groups = re.findall(r'entry-points."(.+)"', (PACKAGE / "pyproject.toml").read_text())
    assert re.findall(r"`(langfocus\.\w+)` \| `", PAGE) == groups
