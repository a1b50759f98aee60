"""`scrapy graph` and `scrapy simulate`, run as a user runs them."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scrapy.cmdline import execute

from crawler.simulate import tamura
from crawler.simulate.graph import WebGraph
from tests.simulatedwebs import random_graph

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "crawler.settings")


@pytest.fixture(scope="module")
def graph() -> WebGraph:
    graph = random_graph(4, vertices=600, servers=30)
    return replace(graph, page_bytes=np.full(graph.n_vertices, 1000, np.int32))


@pytest.fixture(scope="module")
def folder(graph: WebGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs") / "small"
    graph.write(folder)
    return folder


def scrapy(*args: object) -> int:
    with pytest.raises(SystemExit) as exit_:
        execute(["scrapy", *map(str, args)])
    return int(exit_.value.code or 0)


def assert_is_self_contained(page: str) -> None:
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?!#)", page)
    assert "default-src 'none'" in page


# scrapy graph


def test_a_graph_is_printed_and_written(
    folder: Path, graph: WebGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, figures = tmp_path / "graph.html", tmp_path / "graph.json"
    assert scrapy("graph", folder, "--html", page, "--json", figures) == 0
    printed = capsys.readouterr().out
    for name in ("Table 1", "Table 4", "Table 5", "Figure 1", "Figure 2"):
        assert name in printed
        assert name in page.read_text(encoding="utf-8") + printed
    assert "paper" not in printed
    assert printed.isascii()
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["pages"] == graph.n_pages
    assert sum(row["pages"] for row in found["table_1"]) == graph.n_pages
    assert sum(row["relevant"] for row in found["figure_1"]) <= found["relevant_pages"]
    assert sum(sum(row["all"]) for row in found["table_4"]) == graph.n_links
    assert_is_self_contained(page.read_text(encoding="utf-8"))


def test_another_language_can_be_the_target(
    folder: Path, graph: WebGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scrapy("graph", folder, "--target", "English", "--json", tmp_path / "e.json") == 0
    found = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))
    assert found["target"] == "en"
    assert found["relevant_pages"] == graph.n_pages - int(graph.relevant().sum())


def test_the_papers_figures_stand_beside_a_graph_that_was_made_to_them(
    graph: WebGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measures = {
        "target": "th",
        "page_links": dict(zip("abc", [[*a, *b] for a, b in tamura.TABLE_4], strict=True)),
        "server_links": dict(zip("ab", [[*a, *b] for a, b in tamura.TABLE_5], strict=True)),
    }
    made = replace(graph, provenance={"source": "generated", "measures": measures})
    made.write(tmp_path / "made")
    assert scrapy("graph", tmp_path / "made") == 0
    printed = capsys.readouterr().out
    for figure in ("1,722,771 (9.4 %)", "23,980,308 (71.8 %)", "286,429 (1.1 %)"):
        assert figure in printed
    assert not tamura.is_made_to({"source": "recorded", "measures": measures})
    measures["page_links"] = dict.fromkeys("abc", [1, 1, 1, 1])
    assert not tamura.is_made_to({"source": "generated", "measures": measures})
    assert not tamura.is_made_to({"source": "generated"})


@pytest.mark.parametrize("command", ["graph", "simulate"])
def test_what_cannot_be_looked_at_is_said_in_one_line(
    command: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(folder, damaged)
    (damaged / "link_target.npy").write_bytes(b"no numbers")
    for args, code, message in (
        ((), 2, "name one folder of a graph"),
        ((folder, folder), 2, "name one folder of a graph"),
        ((tmp_path,), 1, "not the folder of a graph"),
        ((damaged,), 1, "link_target.npy: cannot be read"),
        ((folder, "--json", tmp_path / "no" / "x.json"), 2, "there is no such folder"),
    ):
        assert scrapy(command, *args) == code
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"scrapy {command}: ")
        assert message in captured.err
        assert captured.err.count("\n") == 1
