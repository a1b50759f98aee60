"""The pages around a page in a recorded graph are evidence for its language."""

from dataclasses import replace
from pathlib import Path

import pytest

from classifiers.pages.method import MIN_REFERENCE_LENGTH, Neighbour
from crawler.errors import GraphError
from crawler.simulate.build import build
from crawler.simulate.recorded_links import RecordedLinks
from crawler.simulate.webgraph import WebGraph

PAGES = """\
url	language	status
http://a.de/	de	200
http://a.de/short		200
http://b.fr/	fr	200
http://c.de/	de	200
http://d.de/gone	de	404
"""
LINKS = """\
source	target
http://a.de/	http://a.de/short
http://a.de/	http://c.de/
http://c.de/	http://a.de/short
http://d.de/gone	http://a.de/short
http://a.de/short	http://b.fr/
http://a.de/short	http://a.de/short
http://a.de/short	http://unknown.de/
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pages.tsv").write_text(PAGES)
    (tmp_path / "links.tsv").write_text(LINKS)
    build([tmp_path / "pages.tsv", tmp_path / "links.tsv"], tmp_path / "g", "de")
    return tmp_path / "g"


def languages(neighbours: tuple[Neighbour, ...]) -> list[str]:
    assert {one.characters for one in neighbours} <= {MIN_REFERENCE_LENGTH}
    return sorted(str(one.language) for one in neighbours)


def test_neighbours_are_downloaded_pages_with_a_language(folder: Path) -> None:
    links = RecordedLinks(WebGraph.open(folder))
    found = links.around("http://A.de/short#top")
    assert languages(found.inlinks) == ["de", "de"]
    assert languages(found.outlinks) == ["fr"]
    nothing = links.around("http://elsewhere.de/")
    assert (nothing.url, nothing.inlinks, nothing.outlinks) == ("http://elsewhere.de/", (), ())
    assert links.around("no URL").inlinks == ()


def test_the_agreement_of_links_counts_pages_with_languages(folder: Path) -> None:
    # Only http://a.de/ -> http://c.de/ has a language at both ends.
    assert RecordedLinks(WebGraph.open(folder)).agreement() == (1.0, 1)


def test_a_graph_without_urls_has_no_neighbours(folder: Path) -> None:
    with pytest.raises(GraphError, match="has no URLs"):
        RecordedLinks(replace(WebGraph.open(folder), url_start=None, url_bytes=None))
