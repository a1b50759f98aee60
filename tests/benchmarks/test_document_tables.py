import json
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchmarks.docs_tables import filled
from benchmarks.markdown import table_json
from langfocus.classifiers.papers.table import Cell, MeasureTable, Row
from langfocus.crawler.errors import SettingError
from langfocus.crawler.report.provenance import ROOT, provenance, sha256
from langfocus.crawler.report.table import Table

MEASURED = {
    "date": "2026-01-02",
    "command": "langfocus evaluate urls.tsv words",
    "data": {"urls.tsv": "ab" * 32},
    "versions": {"numpy": "2.0"},
}
STUDY = MeasureTable(
    "words",
    "Words",
    "Baykan 2013, Table IX",
    ("language", "classifier"),
    ("P", "F1"),
    (
        Row(
            ("English", "NB words"),
            (Cell(88.3, 0.4, 84.9), Cell(float("nan"), 0.0, 90.0)),
            is_best_in_paper=True,
            key={"language": "en"},
        ),
        Row(("German", "NB words"), (Cell(97.9), Cell(97.7, 0.3, 96.2)), is_best=True),
    ),
    headline=1,
    notes=("a note",),
)
PLAIN = Table("Harvest", ["web", "rate"], [["1", "95.3 %"]], notes=["one web"])
MARK = "<!-- table: figures.json {} -->\n{}<!-- end of table -->"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    content: dict[str, Any] = {
        "measured": MEASURED,
        "experiments": [{"tables": [STUDY.as_json()]}],
        "crawls": table_json(PLAIN, "harvest")
        | {"rows": [["one", 1200], ["two", 0.25], ["no", None]]},
    }
    (tmp_path / "figures.json").write_text(json.dumps(content))
    return tmp_path


def test_a_marked_table_is_written_between_its_lines_and_the_rest_stays(folder: Path) -> None:
    text = f"before\n\n{MARK.format('words', '')}\n\nafter {MARK.format('x', '')}\n"
    new = filled(text, folder)
    assert new.startswith("before\n\n<!-- table: figures.json words -->\n\n**Words (Baykan 2013")
    assert "| English | NB words | 88.3 (84.9) | - | 0.0 | 90.0\\* | - |" in new
    assert "| German | NB words | 97.9 | 97.7\\* | 0.3 | 96.2 | +1.5 |" in new
    assert "\n\na note\n" in new
    assert (
        "Measured 2026-01-02; `langfocus evaluate urls.tsv words`; "
        "urls.tsv (SHA-256 abababababab); numpy 2.0." in new
    )
    assert new.endswith(f"after {MARK.format('x', '')}\n")


def test_a_written_document_does_not_change_and_a_changed_one_is_mended(folder: Path) -> None:
    written = filled(MARK.format("harvest", "old\n") + "\n", folder)
    assert "| one | 1,200 |\n| two | 0.2 |\n| no | - |" in written
    assert filled(written, folder) == written
    assert filled(written.replace("1,200", "1,300"), folder) == written


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MARK.format("poems", ""), "has no table 'poems'"),
        (MARK.format("words", "").replace("figures", "none"), "cannot be read"),
        ("<!-- table: figures.json words -->\n", "has no end"),
    ],
)
def test_a_mark_that_cannot_be_followed_is_one_line(folder: Path, text: str, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        filled(text, folder)


def test_figures_without_date_and_versions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "figures.json").write_text(json.dumps(table_json(PLAIN, "harvest")))
    with pytest.raises(SettingError, match="has no 'measured'"):
        filled(MARK.format("harvest", ""), tmp_path)


def test_the_provenance_names_files_without_their_folders(tmp_path: Path) -> None:
    data = tmp_path / "urls.tsv"
    data.write_text("url\n")
    line = ["langfocus", "evaluate", str(data), "words"]
    found = provenance(line, [data], date(2026, 1, 2))
    assert found["command"] == "langfocus evaluate urls.tsv words"
    assert found["date"] == "2026-01-02"
    assert found["data"] == {"urls.tsv": sha256(data)}
    assert set(found["versions"]) == {"Python", "langfocus", "numpy", "scipy", "scikit-learn"}
    if (ROOT / ".git").exists():
        head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True)
        assert head.startswith(found["commit"].partition(" ")[0])


def test_the_hash_of_a_folder_follows_names_and_contents(tmp_path: Path) -> None:
    found = set()
    for folder, name, content in [("x", "a", "1"), ("y", "a", "2"), ("z", "b", "2")]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content)
        found.add(sha256(tmp_path / folder))
    assert len(found) == 3
