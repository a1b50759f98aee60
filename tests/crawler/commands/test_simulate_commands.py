"""`langfocus graph` and `langfocus simulate`, called as a person calls them."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from langfocus.crawler.report.progress import Display
from langfocus.crawler.simulate import measures
from langfocus.crawler.simulate.webgraph import WebGraph
from tests.support.commandline import call
from tests.support.simulatedwebs import random_graph


@pytest.fixture(scope="module")
def graph() -> WebGraph:
    return random_graph(4, vertices=600, servers=30)


@pytest.fixture(scope="module")
def folder(graph: WebGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs") / "small"
    graph.write(folder)
    return folder


def assert_is_self_contained(page: str) -> None:
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?!#)", page)
    assert "default-src 'none'" in page


def test_a_graph_is_printed_and_written(
    folder: Path, graph: WebGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, figures = tmp_path / "graph.html", tmp_path / "graph.json"
    assert call("graph", folder, "--html", page, "--json", figures) == 0
    printed = capsys.readouterr().out
    for name in ("Table 1", "Table 4", "Table 5", "Figure 1", "Figure 2"):
        assert name in printed
        assert name in page.read_text(encoding="utf-8") + printed
    assert "paper" not in printed
    assert printed.isascii()
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["pages"] == graph.n_pages
    assert sum(sum(row.values()) for row in found["pages_by"].values()) == graph.n_pages
    assert sum(sum(row["all"]) for row in found["by_page"]) == graph.n_links
    assert_is_self_contained(page.read_text(encoding="utf-8"))


def test_another_language_can_be_the_target(
    folder: Path, graph: WebGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("graph", folder, "--target", "English", "--json", tmp_path / "e.json") == 0
    found = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))
    assert found["target"] == "en"
    assert found["relevant_pages"] == graph.n_pages - int(graph.relevant().sum())


def test_the_papers_figures_stand_beside_a_graph_that_was_made_to_them(
    graph: WebGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provenance = {"source": "generated", "measures": "Tamura 2007"}
    made = replace(graph, provenance=provenance)
    made.write(tmp_path / "made")
    assert call("graph", tmp_path / "made") == 0
    printed = capsys.readouterr().out
    for figure in ("1,722,771 (9.4 %)", "23,980,308 (71.8 %)", "286,429 (1.1 %)"):
        assert figure in printed
    assert not measures.is_made_to({**provenance, "source": "recorded"})
    assert not measures.is_made_to({"source": "generated"})


def test_all_strategies_of_the_paper_are_simulated_printed_and_written(
    folder: Path, graph: WebGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "s.html"
    assert call("simulate", folder, "--html", page, "--json", tmp_path / "s.json") == 0
    found = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    captured = capsys.readouterr()
    html = page.read_text(encoding="utf-8")
    for number in (1, 2, 4, 5, 6, 7, 8):
        assert f"Figure {number}" in captured.out
        assert f"Figure {number}" in html
    assert captured.out.isascii()
    assert sum(line.startswith("[") for line in captured.err.splitlines()) == 17
    assert "[17/17]" in captured.err
    assert_is_self_contained(html)
    assert html.count("<svg") == 5 + 1
    assert "bfs, soft, soft server T=20 and 6 more found most: 98.0 %" in html
    assert len(found["simulations"]) == 17
    bfs = found["simulations"][0]
    assert bfs["name"] == "bfs"
    assert 0 < bfs["points"][-1] <= graph.n_pages == found["graph"]["pages"]
    assert "largest queue" in captured.out


def test_a_crawl_that_was_limited_is_marked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("simulate", folder, "-a", "strategies=bfs", "-a", "pages=50") == 0
    assert "* ended after 50 pages" in capsys.readouterr().out


def test_a_web_of_which_nothing_can_be_fetched_is_shown_as_it_is(
    graph: WebGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = replace(
        graph,
        page_status=np.zeros(graph.n_vertices, np.int8),
        page_language=np.full(graph.n_vertices, -1, np.int16),
    )
    nothing.write(tmp_path / "nothing")
    for command in ("graph", "simulate"):
        page = tmp_path / "n.html"
        assert call(command, tmp_path / "nothing", "--html", page) == 0
        assert_is_self_contained(page.read_text(encoding="utf-8"))
    assert re.search(r"perfect[ |]+0[ |]+0\.0 %", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("graph", 2, "the following arguments are required: GRAPH_FOLDER"),
        ("graph GRAPH GRAPH", 2, "name one folder"),
        ("graph NONE", 1, "not the folder of a graph"),
        ("graph DAMAGED", 1, "link_target.npy: cannot be read"),
        ("graph --from NONE NONE", 2, "--target"),
        ("graph --from GRAPH", 2, "name sources and a folder"),
        ("graph --from NONE/x.tsv NONE/new --target de", 1, "x.tsv"),
        ("graph --generate NONE/new --scale 2", 2, "--scale 2"),
        ("simulate GRAPH GRAPH", 2, "not understood"),
        ("simulate GRAPH -a strategies=fast", 2, "-a strategies=fast: not there"),
        ("simulate GRAPH -a lang=fr", 1, "no page in 'fr'"),
        ("simulate GRAPH -a lang", 2, "-a takes NAME=VALUE"),
        ("simulate GRAPH -a random_state=1,2", 2, "one number for all simulations"),
    ],
)
def test_what_cannot_be_looked_at_is_said_in_one_line(
    line: str,
    code: int,
    message: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(folder, tmp_path / "damaged")
    (tmp_path / "damaged" / "link_target.npy").write_bytes(b"no numbers")
    names = {"GRAPH": folder, "NONE": tmp_path, "DAMAGED": tmp_path / "damaged"}
    command, *words = line.split()
    for name, path in names.items():
        words = [word.replace(name, str(path)) for word in words]
    assert call(command, *words) == code
    captured = capsys.readouterr()
    assert captured.err.startswith("langfocus: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_an_interruption_keeps_what_was_done(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(display: Display, line: str) -> None:
        if line.startswith("[2/17]"):
            raise KeyboardInterrupt

    monkeypatch.setattr(Display, "tell", interrupt)
    assert call("simulate", folder, "--json", tmp_path / "s.json") == 130
    captured = capsys.readouterr()
    assert "interrupted after 2 of 17 crawls" in captured.err
    found = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert len(found["simulations"]) == 2


def test_a_graph_is_generated_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "thai"
    assert call("graph", "--generate", folder, "--scale", 0.001) == 0
    printed = capsys.readouterr().out
    assert "paper: Thai" in printed
    (inside, outside), *_ = re.findall(r"\| Thai .*?\((.*?) %\).*?\((.*?) %\)", printed)
    assert (float(inside), float(outside)) == pytest.approx((3.2, 6.2), abs=1)
    assert WebGraph.open(folder).n_pages == 18_344
    assert call("graph", "--generate", folder, "--scale", 0.001) == 1
    assert "a graph already" in capsys.readouterr().err
