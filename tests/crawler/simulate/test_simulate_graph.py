"""A Web graph comes back from its folder as it was, or is refused in one line."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.classifiers.pages.method import MIN_REFERENCE_LENGTH, Neighbour
from langfocus.crawler.errors import GraphError
from langfocus.crawler.simulate.build import build
from langfocus.crawler.simulate.recorded_links import RecordedLinks
from langfocus.crawler.simulate.webgraph import PAGE, UNKNOWN, WebGraph, packed
from tests.support.simulatedwebs import random_graph


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random_graph(1).write(tmp_path / "web")
    return tmp_path / "web"


def test_a_graph_comes_back_from_its_folder(folder: Path) -> None:
    graph = replace(random_graph(1), provenance={}, scores={})
    again = WebGraph.open(folder)
    for field in fields(graph):
        before, after = getattr(graph, field.name), getattr(again, field.name)
        if isinstance(before, np.ndarray):
            assert after.dtype == before.dtype
            assert after.tolist() == before.tolist()
            assert isinstance(after, np.memmap)
            assert not after.flags.writeable
        elif field.name != "folder":
            assert after == before
    assert again.folder == folder


def test_only_downloaded_pages_are_relevant() -> None:
    graph = random_graph(4, statuses=[PAGE, UNKNOWN])
    is_thai = (graph.page_language == 0) & (graph.page_status == PAGE)
    assert graph.relevant().tolist() == is_thai.tolist()
    assert 0 < is_thai.sum() < graph.n_pages < graph.n_vertices


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), max_size=9))
@settings(max_examples=50)
def test_packed_texts_are_the_texts(texts: list[str]) -> None:
    starts, data = packed(texts)
    assert [data[a:b].tobytes().decode() for a, b in pairwise(starts.tolist())] == texts


def test_what_a_graph_does_not_have_is_said(folder: Path) -> None:
    bare = replace(WebGraph.open(folder), url_start=None, url_bytes=None)
    assert not bare.has_urls
    with pytest.raises(GraphError, match="no URLs"):
        bare.url(0)
    with pytest.raises(GraphError, match="no page in 'xx'"):
        bare.relevant("xx")


def test_a_graph_is_not_written_over_another_and_one_that_was_not_finished_is_none(
    folder: Path,
) -> None:
    with pytest.raises(GraphError, match="there is a graph already"):
        random_graph(2).write(folder)
    (folder / "graph.json").unlink()
    with pytest.raises(GraphError, match=r"has no graph\.json"):
        WebGraph.open(folder)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def change_facts(path: Path, **facts: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda web: (web / "page_server.npy").unlink(), "page_server is missing"),
        (lambda web: cut(web / "link_target.npy"), "link_target.npy: cannot be read"),
        (lambda web: (web / "seeds.npy").write_bytes(b""), "seeds.npy: cannot be read"),
        (lambda web: (web / "graph.json").write_text("{"), "graph.json: no graph of this version"),
        (
            lambda web: change_facts(web / "graph.json", version=2),
            r"Invalid enum value 2 - at `\$\.version`",
        ),
        (lambda web: change_facts(web / "graph.json", servers=None), r"no graph .*\$\.servers"),
        (lambda web: change_facts(web / "graph.json", servers=3), "server_domain has 12 rows"),
        (lambda web: change_facts(web / "graph.json", languages=["th"]), "page_language has 1"),
        (lambda web: change_facts(web / "graph.json", target="ja"), "no page in 'ja'"),
        (lambda web: np.save(web / "seeds.npy", np.zeros(1)), "not a column of int32"),
        (lambda web: np.save(web / "seeds.npy", np.array([160], np.int32)), "seeds has 160"),
        (lambda web: np.save(web / "seeds.npy", np.zeros(0, np.int32)), "one seed"),
        (lambda web: np.save(web / "page_status.npy", np.zeros(9, np.int8)), "9 rows, not 160"),
        (
            lambda web: np.save(web / "link_start.npy", np.zeros(161, np.int64)),
            "does not rise from 0",
        ),
        (lambda web: (web / "url_start.npy").unlink(), "belong together"),
    ],
)
def test_damage_is_found_before_anything_crawls(
    folder: Path, harm: Callable[[Path], None], message: str
) -> None:
    harm(folder)
    with pytest.raises(GraphError, match=message) as caught:
        WebGraph.open(folder)
    assert "\n" not in str(caught.value)


PAGES = """\
url	language	more
http://a.de/	de	x
http://a.de/short		x
http://b.fr/	fr	x
http://c.de/	de	x
http://d.de/odd		x
"""
LINKS = """\
source	target
http://a.de/	http://a.de/short
http://a.de/	http://c.de/
http://c.de/	http://a.de/short
http://d.de/odd	http://a.de/short
http://a.de/short	http://b.fr/
http://a.de/short	http://a.de/short
http://a.de/short	http://unknown.de/
"""


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "pages.tsv").write_text(PAGES)
    (tmp_path / "links.tsv").write_text(LINKS)
    build([tmp_path / "pages.tsv", tmp_path / "links.tsv"], tmp_path / "g", "de")
    return tmp_path / "g"


def languages(neighbours: tuple[Neighbour, ...]) -> list[str]:
    assert {one.characters for one in neighbours} <= {MIN_REFERENCE_LENGTH}
    return sorted(str(one.language) for one in neighbours)


def test_neighbours_are_downloaded_pages_with_a_language(recorded: Path) -> None:
    links = RecordedLinks(WebGraph.open(recorded))
    found = links.around("http://A.de/short#top")
    assert languages(found.inlinks) == ["de", "de"]
    assert languages(found.outlinks) == ["fr"]
    nothing = links.around("http://elsewhere.de/")
    assert (nothing.url, nothing.inlinks, nothing.outlinks) == ("http://elsewhere.de/", (), ())
    assert links.around("no URL").inlinks == ()
    # Only http://a.de/ -> http://c.de/ has a language at both ends.
    assert links.agreement() == (1.0, 1)


def test_a_graph_without_urls_has_no_neighbours(recorded: Path) -> None:
    with pytest.raises(GraphError, match="has no URLs"):
        RecordedLinks(replace(WebGraph.open(recorded), url_start=None, url_bytes=None))
