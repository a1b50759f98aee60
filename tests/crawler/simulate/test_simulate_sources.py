"""Graphs are read from runs, archives and tables, and what is left out has a reason."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from langfocus.crawler.errors import CrawlError, GraphError
from langfocus.crawler.frontier import outlinks
from langfocus.crawler.frontier.base import PAGE, REDIRECT, Lease, Record
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.run.folder import open_run
from langfocus.crawler.simulate import webgraph as graph_module
from langfocus.crawler.simulate.build import build
from langfocus.crawler.simulate.webgraph import FAILED, UNKNOWN, WebGraph
from langfocus.crawler.strategies.filters import make_filter
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import directory_of
from tests.crawler.sources.test_web_archive import record
from tests.support.crawls import rows
from tests.support.report_run import META
from tests.support.smallweb import SENTENCES


def links(*urls: str) -> list[Link]:
    return [Link(url, 0.0) for url in urls]


def settle(folder: Path, *, keeps_links: bool) -> None:
    """A seed that links to three URLs, a redirect among them, and a page in another language."""
    run = open_run(folder, META | {"seeds": ["http://a.de/"]}, 0.0)
    rules = FrontierRules(filter=make_filter("hard"), host_cap=2, keeps_links=keeps_links)
    frontier = SqliteFrontier(run.connection, rules, now=0.0)
    frontier.seed(links("http://a.de/"), 0.0)

    def next_lease() -> Lease:
        lease = frontier.next(0.0)
        assert lease is not None
        frontier.send(lease, None, now=0.0)
        return lease

    german = Record(PAGE, 1.0, 200, is_download=True, is_relevant=True, language="de", bytes=70)
    english = Record(PAGE, 2.0, 200, is_download=True, language="en", bytes=50)
    found = links("http://b.de/old", "http://a.de/", "http://a.de/2", "http://a.de/3")
    frontier.admit(next_lease(), german, found, now=0.0)
    frontier.admit(next_lease(), Record(REDIRECT, 2.0, 301), links("http://b.de/new"), now=0.0)
    frontier.admit(next_lease(), english, links("http://c.de/", "http://a.de/"), now=0.0)
    frontier.admit(next_lease(), Record("timeout", 3.0), now=0.0)
    run.connection.close()


@pytest.mark.parametrize("urls", [[], ["http://a.de/"], ["http://a.de/ü", "http://\ud800/"]])
def test_links_are_read_as_they_were_written(urls: list[str]) -> None:
    assert outlinks.read(outlinks.written(urls)) == urls
    with pytest.raises(ValueError, match="decompressing"):
        outlinks.read(b"x")


def contents_of(graph: WebGraph) -> dict[str, tuple[int, str | None, list[str]]]:
    """Status, language and links of each URL."""
    return {
        graph.url(vertex): (
            int(graph.page_status[vertex]),
            None if (index := graph.page_language[vertex]) < 0 else graph.languages[index],
            [graph.url(target) for target in graph.links(vertex).tolist()],
        )
        for vertex in range(graph.n_vertices)
    }


def left_out(graph: WebGraph) -> object:
    return graph.provenance["left_out"]


def test_a_graph_of_a_run_has_its_pages_redirects_failures_and_all_of_their_links(
    tmp_path: Path,
) -> None:
    settle(tmp_path / "run", keeps_links=True)
    graph = build([tmp_path / "run"], tmp_path / "graph", "de")
    assert contents_of(graph) == {
        "http://a.de/": (
            graph_module.PAGE,
            "de",
            ["http://b.de/old", "http://a.de/", "http://a.de/2", "http://a.de/3"],
        ),
        "http://b.de/old": (graph_module.REDIRECT, None, ["http://b.de/new"]),
        "http://a.de/2": (graph_module.PAGE, "en", ["http://c.de/", "http://a.de/"]),
        "http://b.de/new": (FAILED, None, []),
        "http://a.de/3": (UNKNOWN, None, []),
        "http://c.de/": (UNKNOWN, None, []),
    }
    assert [graph.url(seed) for seed in graph.seeds.tolist()] == ["http://a.de/"]
    assert graph.page_server.tolist() == [0, 1, 0, 0, 1, 2]
    assert graph.domains == ("de",)
    assert left_out(graph) == {}
    assert rows(tmp_path / "run", "SELECT host FROM hosts WHERE host = 'c.de'") == []
    assert [path.name for path in (tmp_path / "graph").iterdir() if path.suffix != ".npy"] == [
        "graph.json"
    ]


def test_a_run_with_damaged_links_or_without_links_makes_no_graph(tmp_path: Path) -> None:
    settle(tmp_path / "run", keeps_links=True)
    with closing(sqlite3.connect(tmp_path / "run" / "run.db")) as connection, connection:
        connection.execute("UPDATE links SET urls = x'00' WHERE page = 1")
    settle(tmp_path / "none", keeps_links=False)
    for name, fault in (
        ("run", r"damaged links of http://a\.de/ \(Error -5"),
        ("none", "crawl with -s LANGFOCUS_LINKS=True"),
    ):
        with pytest.raises(GraphError, match=fault):
            build([tmp_path / name], tmp_path / "graph", "de")
        assert not (tmp_path / "graph").exists()


def pages(folder: Path, *rows: str, name: str = "pages.tsv") -> Path:
    folder.mkdir(exist_ok=True)
    opened = gzip.open if name.endswith(".gz") else open
    with opened(folder / name, "wt", encoding="utf-8") as file:
        file.write("".join(f"{row}\n" for row in rows))
    return folder / name


def linked(folder: Path, *rows: str, name: str = "links.tsv") -> Path:
    return pages(folder, "source\ttarget", *rows, name=name)


def made(folder: Path, *rows: str) -> WebGraph:
    """The graph of the table of pages in a folder and of links."""
    tables = [folder / "pages.tsv", linked(folder, *rows)]
    return build(tables, folder / "graph", "de")


WEB = (
    "url\tlanguage",
    "http://a.de/\tde",
    "HTTP://www.A.de:80/x/1\tde",
    "http://a.de/x/y/2\ten",
    "http://a.de/\ten",
    "http://b.com/odd\t",
    "nonsense\tde",
    "http://a.de/cut",
)
LINKS = (
    "http://a.de/\thttp://www.a.de/x/1",
    "http://b.com/odd\thttp://a.de/",
    "http://a.de/\thttp://b.com/odd",
    "http://a.de/\thttp://a.de/x/y/2",
    "http://a.de/\thttp://www.a.de/x/1#top",
    "http://a.de/\thttp://a.de/picture.jpg",
    "http://a.de/x/y/2\thttp://d.org/x/y/z/",
    "http://nobody.de/\thttp://d.org/",
    "http://a.de/\tmailto:a@b.de",
)


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_a_graph_of_plain_tables(tmp_path: Path, packing: str) -> None:
    tables = [
        pages(tmp_path, *WEB, name=f"pages.tsv{packing}"),
        linked(tmp_path, *LINKS, name=f"links.tsv{packing}"),
    ]
    graph = build(tables, tmp_path / "graph", "de")
    expected = {
        "http://a.de/": (
            graph_module.PAGE,
            "de",
            ["http://www.a.de/x/1", "http://b.com/odd", "http://a.de/x/y/2"],
        ),
        "http://www.a.de/x/1": (graph_module.PAGE, "de", []),
        "http://a.de/x/y/2": (graph_module.PAGE, "en", ["http://d.org/x/y/z/"]),
        "http://b.com/odd": (graph_module.PAGE, None, ["http://a.de/"]),
        "http://nobody.de/": (UNKNOWN, None, []),
        "http://d.org/x/y/z/": (UNKNOWN, None, []),
        "http://d.org/": (UNKNOWN, None, []),
    }
    assert contents_of(graph) == expected
    assert left_out(graph) == {
        "rows with an invalid URL": 1,
        "cut short": 1,
        "links of URLs that are not among the pages": 1,
        "pages whose links are not known": 1,
    }
    assert graph.url(int(graph.seeds[0])) == "http://a.de/"
    with pytest.raises(GraphError, match="there is a graph already"):
        build(tables, tmp_path / "graph", "de")


def test_directories_are_the_first_of_their_paths(tmp_path: Path) -> None:
    pages(tmp_path, *WEB)
    graph = made(tmp_path, *LINKS, "http://a.de/\thttp://d.org/x/y/q/")
    vertices: dict[int, set[str]] = {}
    for vertex, directory in enumerate(graph.page_directory.tolist()):
        vertices.setdefault(directory, set()).add(directory_of(graph.url(vertex), 1))
    assert {name for name in vertices.pop(-1) if name.count("/") > 1} == set()
    assert sorted(map(len, vertices.values())) == [1, 1]
    assert graph.n_directories == 2


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (["url\tanswer", "http://a.de/\tde"], r"has the columns url, answer; a table of pages"),
        (["url\tlanguage", "http://a.de/\u00fc" * 200_000], r"pages\.tsv:2: a line of 1048576"),
        ([], r"pages\.tsv: has the columns ; a table of pages"),
        (["url\tlanguage", "http://a.de/\ten"], "no page in 'de'; languages: en"),
        (["url\tlanguage"], "there is no page in the sources"),
    ],
)
def test_a_table_that_makes_no_graph_is_refused(
    tmp_path: Path, rows: list[str], fault: str
) -> None:
    with pytest.raises(GraphError, match=fault) as error:
        build([pages(tmp_path, *rows)], tmp_path / "graph", "de")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "graph").exists()


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "page.html").touch()
    (tmp_path / "table.tsv").write_text("http://a.de/\tde\n")
    packed = pages(tmp_path, *WEB * 50, name="cut.tsv.gz")
    packed.write_bytes(packed.read_bytes()[:-20])
    (tmp_path / "cut.warc.gz").write_bytes(answer("http://a.de/", page("de"))[:-9])
    for name, fault in (
        ("nothing", "there is nothing; give the folder of a run"),
        ("empty", "not a source of a graph"),
        ("page.html", "not a source of a graph"),
        ("table.tsv", "has the columns http://a.de/, de"),
        ("cut.tsv.gz", r"cut\.tsv\.gz:\d+: cannot be read"),
        ("cut.warc.gz", "no answer of a server can be read"),
    ):
        with pytest.raises(CrawlError, match=fault):
            build([tmp_path / name], tmp_path / "graph", "de")


def test_the_first_source_that_fetched_a_url_counts(tmp_path: Path) -> None:
    settle(tmp_path / "run", keeps_links=True)
    rows = ("url\tlanguage", "http://a.de/3\tfr", "http://b.de/new\tfr", "http://a.de/\tnl")
    languages = pages(tmp_path / "one", *rows)
    more = linked(tmp_path / "one", "http://a.de/2\thttp://x.de/")
    graph = build([tmp_path / "run", languages, more], tmp_path / "graph", "de")
    found = contents_of(graph)
    assert found["http://a.de/3"] == (graph_module.PAGE, "fr", [])
    assert found["http://b.de/new"] == (FAILED, None, [])
    assert found["http://a.de/"][1] == "de"
    assert found["http://a.de/2"][2] == ["http://c.de/", "http://a.de/", "http://x.de/"]
    assert [graph.url(seed) for seed in graph.seeds.tolist()] == ["http://a.de/"]


def answer(url: str, body: str = "", status: int = 200, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status} -\r\nContent-Type: text/html; charset=utf-8\r\n{more}\r\n"
    return gzip.compress(record(url, (head + body).encode()))


def page(language: str, *targets: str, head: str = "") -> str:
    anchors = "".join(f'<a href="{target}">x</a> ' for target in targets)
    return f"<html><head>{head}</head><body><p>{SENTENCES[language] * 3}</p>{anchors}</body></html>"


def test_pages_of_an_archive_are_read_as_a_crawl_reads_them(tmp_path: Path) -> None:
    archive = tmp_path / "web.warc.gz"
    archive.write_bytes(
        gzip.compress(record("", b"software: none\r\n", "warcinfo"))
        + answer("http://a.de/robots.txt", "User-agent: *")
        + answer("http://www.A.de/", page("de", "/old", "b.html#top", "x.css", "/a/a/a/a/a/"))
        + answer("http://www.a.de/old", status=301, more="Location: new/\r\n")
        + answer("http://www.a.de/b.html", page("fr", "http://c.de/", "/"))
        + answer("http://www.a.de/b.html", page("de", "/old"))
        + answer("http://www.a.de/no", page("de", "/"), 404)
        + answer("http://www.a.de/n", page("de", "/", head="<meta name=robots content=nofollow>"))
        + gzip.compress(record("http://a.de/seen", b"HTTP/1.1 200 OK\r\n\r\n", "revisit"))
    )
    graph = build([archive], tmp_path / "graph", "de")
    assert contents_of(graph) == {
        "http://www.a.de/": (
            graph_module.PAGE,
            "de",
            ["http://www.a.de/old", "http://www.a.de/b.html"],
        ),
        "http://www.a.de/old": (graph_module.REDIRECT, None, ["http://www.a.de/new/"]),
        "http://www.a.de/b.html": (graph_module.PAGE, "fr", ["http://c.de/", "http://www.a.de/"]),
        "http://www.a.de/no": (FAILED, None, []),
        "http://www.a.de/n": (graph_module.PAGE, "de", []),
        "http://www.a.de/new/": (UNKNOWN, None, []),
        "http://c.de/": (UNKNOWN, None, []),
    }
    assert left_out(graph) == {}
    assert graph.url(int(graph.seeds[0])) == "http://www.a.de/"
