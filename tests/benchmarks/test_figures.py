"""The figures of the README and the guide are those of the code that is there."""

import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from benchmarks import figures, live
from benchmarks.figures import code_of, digest, filled, stale
from benchmarks.live import GROUPS, Group
from tests.support.crawls import ROOT

CONTENT = figures.read()
NUMBER = re.compile(r"\d[\d,.]* ?%|\b\d+\.\d+ times\b|\b20\d\d-\d\d-\d\d at [0-9a-f]{7}")
"""A share, a ratio, or the date of a measurement."""
NOT_MEASURED = {
    "sample-web.md": None,  # the shares by which the web is made
    "languages.md": None,  # written from the models that ship
    "report.md": {"95 %", "100 %"},
    "papers.md": {"30 %", "58 %"},  # figures of a paper
    "page-identification.md": {"5 %"},  # the share of kana by which a text is Japanese
}
"""Pages with shares that nobody measured: rules and intervals; None: all of the page's."""


@pytest.fixture(scope="module", autouse=True)
def _equal_files_are_parsed_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "code_of", cache(code_of))
        yield


@pytest.fixture(scope="module")
def stale_groups() -> list[str]:
    return stale(CONTENT)


@pytest.mark.parametrize("name", GROUPS)
def test_the_code_under_a_figure_has_not_changed_since_it_was_measured(
    name: str, stale_groups: list[str]
) -> None:
    group = GROUPS[name]
    assert name not in stale_groups, (
        f"run `make figures ONLY={name}` (about {group.minutes} minutes"
        + (", needs ../shared)" if group.is_outside else ")")
    )


def test_the_pages_have_the_figures_of_the_file_and_use_each_of_them() -> None:
    assert list(figures.different(CONTENT)) == []
    text = "".join(page.read_text("utf-8") for page in figures.pages())
    used = {mark[2] for mark in figures.MARK.finditer(text)}
    assert used == {f"{group}.{name}" for group in CONTENT for name in CONTENT[group]["figures"]}
    assert len(re.findall("<!-- =", text)) == 2 * len(list(figures.MARK.finditer(text)))


def test_all_groups_together_take_less_than_half_an_hour() -> None:
    assert list(CONTENT) == list(GROUPS)
    assert sum(group.minutes for group in GROUPS.values()) <= 30
    for name in GROUPS:
        assert CONTENT[name]["command"] == f"python -m benchmarks.figures --only {name}"
        assert {"date", "commit", "versions"} <= CONTENT[name].keys()


def measured_in(page: Path) -> Iterator[str]:
    """Yield the shares, ratios and dates in the sentences of a page that are not marked."""
    text = re.sub(r"(?ms)^```.*?^```|^(?: {4}.*\n)+|`[^`\n]*`", "", page.read_text("utf-8"))
    allowed = NOT_MEASURED.get(page.name, set())
    if allowed is not None:
        yield from (
            found for found in NUMBER.findall(figures.MARK.sub("", text)) if found not in allowed
        )


@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_outside_of_the_research_notes_has_only_live_figures(page: Path) -> None:
    assert list(measured_in(page)) == []


def test_a_mark_of_no_figure_is_an_error() -> None:
    content = {"harvest": {"figures": {"de": 99.75, "hosts": 11594}}}
    text = "<!-- =harvest.de -->1<!-- = --> % of <!-- =harvest.hosts --><!-- = --> hosts"
    assert re.sub("<!--.*?-->", "", filled(text, content)) == "99.75 % of 11,594 hosts"
    with pytest.raises(LookupError, match=r"harvest\.fr: there is no such figure"):
        filled("<!-- =harvest.fr -->1<!-- = -->", content)


# What counts as a change.

SOURCE = '''"""A module."""

LIMIT = 10  # a comment


def kept(n: int) -> bool:
    """Return True below the limit."""
    return n < LIMIT
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small checkout."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "cap.py").write_text(SOURCE)
    (tmp_path / "url-1.npz").write_bytes(b"model")
    (tmp_path / "other.py").write_text(SOURCE)
    return tmp_path


def fake() -> live.Figures:
    yield "one", 1


FAKE = Group(fake, "rules url-*.npz", 1)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("rules/cap.py", "10", "11"),
        ("rules/cap.py", "n < LIMIT", "n <= LIMIT"),
        ("rules/cap.py", "LIMIT = 10", 'LIMIT = "# 10"'),
        ("rules/new.py", "", "X = 1"),
        ("url-1.npz", "model", "other"),
    ],
)
def test_a_change_of_code_or_model_makes_a_figure_stale(
    name: str, old: str, new: str, tree: Path
) -> None:
    before, path = digest(FAKE, tree), tree / name
    path.write_text((path.read_text() if path.exists() else "").replace(old, new))
    assert digest(FAKE, tree) != before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("rules/cap.py", "a comment", "words"),
        ("rules/cap.py", "True below the limit.", "whether\n\n    n is allowed."),
        ("rules/cap.py", "\n\n\n", "\n\n"),
        ("other.py", "10", "11"),
    ],
)
def test_a_change_of_words_or_of_other_files_does_not(
    name: str, old: str, new: str, tree: Path
) -> None:
    before, path = digest(FAKE, tree), tree / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert digest(FAKE, tree) == before


def test_a_removed_file_makes_a_figure_stale_and_a_pattern_of_nothing_is_an_error(
    tree: Path,
) -> None:
    before = digest(FAKE, tree)
    shutil.copy(tree / "other.py", tree / "rules")
    assert digest(FAKE, tree) != before
    (tree / "url-1.npz").unlink()
    with pytest.raises(LookupError, match="url-"):
        digest(FAKE, tree)


def test_the_way_of_measuring_is_part_of_the_code(tree: Path) -> None:
    def other() -> live.Figures:
        yield "one", 2

    assert digest(FAKE._replace(measure=other), tree) != digest(FAKE, tree)


def test_the_code_of_a_module_has_no_comments_and_no_docstrings() -> None:
    assert code_of(SOURCE) == "LIMIT = 10\ndef kept(n: int) -> bool:\n    return n < LIMIT"


def test_an_edit_of_the_frontier_makes_the_harvest_stale(tmp_path: Path) -> None:
    for pattern in GROUPS["harvest"].code.split():
        for source in ROOT.glob(pattern):
            target = tmp_path / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    assert digest(GROUPS["harvest"], tmp_path) == digest(GROUPS["harvest"])
    rules = tmp_path / "crawler" / "frontier" / "rules.py"
    rules.write_text(f"{rules.read_text()}\nTOLERANCE = 1\n")
    assert digest(GROUPS["harvest"], tmp_path) != digest(GROUPS["harvest"])


def test_only_what_is_stale_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "figures.json").write_text(
        json.dumps({"old": {"code": "0", "figures": {"one": 7}}})
    )
    monkeypatch.setattr(figures, "FILE", tmp_path / "figures.json")
    monkeypatch.setattr(figures, "pages", lambda: [tmp_path / "page.md"])
    (tmp_path / "page.md").write_text("<!-- =old.one -->7<!-- = -->")
    groups = {"old": Group(fake, "pyproject.toml", 1)}
    for module in (figures, live):
        monkeypatch.setattr(module, "GROUPS", groups)
    monkeypatch.setattr("sys.argv", ["figures", "--check"])
    assert figures.main() == 1
    assert "old: its code has changed" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["figures"])
    assert figures.main() == 0
    assert (tmp_path / "page.md").read_text() == "<!-- =old.one -->1<!-- = -->"
    monkeypatch.setattr("sys.argv", ["figures", "--check"])
    assert figures.main() == 0
    (tmp_path / "page.md").write_text("<!-- =old.one -->2<!-- = -->")
    assert figures.main() == 1
