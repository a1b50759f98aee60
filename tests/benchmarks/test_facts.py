"""The command that makes the tables of facts anew."""

import sys
from pathlib import Path

import pytest

from benchmarks import facts
from langfocus.classifiers.tables import rows


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return facts.made()


@pytest.fixture
def folder(texts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tables that are those of the installed packages."""
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(facts, "made", lambda: texts)
    monkeypatch.setattr(facts, "FOLDER", tmp_path)
    return tmp_path


def called(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", ["tables", *options])
    return facts.main()


def test_tables_that_packages_give_are_compared_with_them(texts: dict[str, str]) -> None:
    shipped = {
        path.name
        for path in facts.FOLDER.iterdir()
        if path.suffix in {".txt", ".dat"} and ", as in " in path.read_text("utf-8").split("\n")[0]
    }
    assert shipped == set(texts)


def test_equal_tables_have_no_difference(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(monkeypatch) == 0
    assert capsys.readouterr().out == ""
    assert "AD: ca " in (folder / "cldr-speakers.txt").read_text(encoding="utf-8")


def test_a_difference_is_shown_and_written_only_if_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "public-suffixes.dat"
    new = table.read_text(encoding="utf-8")
    old = new.replace("\nco.uk\n", "\nco.example\n")
    table.write_text(old, encoding="utf-8")
    assert called(monkeypatch) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line[0] in "+-" and "public" not in line] == [
        "-co.example",
        "+co.uk",
    ]
    assert table.read_text(encoding="utf-8") == old
    assert called(monkeypatch, "--write") == 0
    assert table.read_text(encoding="utf-8") == new
    assert called(monkeypatch) == 0


def test_what_is_made_can_be_read(
    texts: dict[str, str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr("langfocus.classifiers.tables.__file__", str(folder / "__init__.py"))
    for name in texts:
        if name.startswith(("cldr-", "names")):
            assert len(rows(name)) > 100, name
    assert rows("names.txt")["de"].split(" | ")[:2] == ["german", "austrian german"]
    assert "de" in rows("cldr-scripts.txt")["Latn"].split()
