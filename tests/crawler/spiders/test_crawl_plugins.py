"""Crawls with plug-ins: what the run keeps of them, and how it ends and goes on without them."""

from pathlib import Path

import pytest

from benchmarks.servers import processes
from tests.support.crawls import environment, rows, summary
from tests.support.plugins import install

SAMPLE = ["lang=de", "web=sample"]
CODE = """\
class Alphabetical:
    def __init__(self, language, model):
        pass

    def scores(self, urls, source):
        return [-float(ord(url.split("//")[1][0])) for url in urls]


class Other(Alphabetical):
    pass


class Broken(Alphabetical):
    def scores(self, urls, source):
        return [1 / (source.depth < 1)] * len(urls)
"""


def crawl(
    installed: Path, *arguments: str, code: int = 0, command: str = "crawl", **settings: object
) -> str:
    """Run a crawl to its end in the folder of all that is installed; return its messages.

    The path of its readers has the folder too.
    """
    line = [word for text in (*SAMPLE, *arguments) for word in ("-a", text)]
    given = {"LANGFOCUS_SAMPLE_HOSTS": 100, "LANGFOCUS_READERS": 0, **settings}
    line += [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    variables = {**environment(None), "PYTHONPATH": str(installed)}
    done = processes.run("langfocus", command, *line, environment=variables, folder=installed)
    assert done.returncode == code, done.stderr
    return done.stderr


def installed(folder: Path, version: str = "1.0", path: str = "alphabet:Alphabetical") -> Path:
    points = {"orderings": f"alphabetical = {path}\nbroken = alphabet:Broken"}
    return install(folder, "alphabet", CODE, points, version=version)


PLUGIN = {
    "kind": "ordering",
    "name": "alphabetical",
    "path": "alphabet:Alphabetical",
    "distribution": "my-alphabet",
    "version": "1.0",
}


def test_a_run_keeps_its_plug_ins_and_says_when_they_change(tmp_path: Path) -> None:
    packages, folder = installed(tmp_path / "packages"), tmp_path / "run"
    asked = ["strategy=alphabetical", "filter=none"]
    assert "plug-in" not in crawl(packages, *asked, "pages=20", JOBDIR=folder)
    assert summary(folder)["plugins"] == [PLUGIN]
    scores = [score for (score,) in rows(folder, "SELECT score FROM pages WHERE depth > 0")]
    assert {score for score in scores if score < -ord("z") or score % 1} == set()
    assert f"langfocus-plugins: {' '.join(PLUGIN.values())}\r\n" in archived(folder)

    installed(packages, "2.0")
    said = crawl(packages, *asked, "pages=40", JOBDIR=folder)
    assert (
        "the run used the ordering of plug-in alphabetical (my-alphabet 1.0); "
        "it goes on with plug-in alphabetical (my-alphabet 2.0)"
    ) in said
    assert summary(folder)["plugins"] == [PLUGIN, {**PLUGIN, "version": "2.0"}]

    installed(packages, "2.0", "alphabet:Other")
    said = crawl(packages, *asked, "pages=50", JOBDIR=folder, code=1)
    assert "holds a crawl with parts=ordering alphabetical=alphabet:Alphabetical, not" in said

    (tmp_path / "empty").mkdir()
    said = crawl(tmp_path / "empty", *asked, "pages=50", JOBDIR=folder, code=2)
    assert said.startswith("langfocus: -a strategy=alphabetical: no such strategy; there are ")
    assert said.endswith("; the run used plug-in alphabetical (my-alphabet 2.0)\n")
    assert summary(folder)["pages"] == 40


def archived(folder: Path) -> str:
    """Return the text of the `warcinfo` records of a run."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    texts = ""
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            records = ArchiveIterator(file, record_types=WarcRecordType.warcinfo)
            texts += "".join(record.reader.read().decode() for record in records)
    return texts


def test_a_dotted_path_names_a_module_of_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    folder = tmp_path / "run"
    crawl(tmp_path, "strategy=mine:Alphabetical", "pages=5", JOBDIR=folder)
    (plugin,) = summary(folder)["plugins"]
    assert (plugin["name"], plugin["distribution"]) == ("mine:Alphabetical", "")
    said = crawl(tmp_path, "strategy=mine:Nothing", code=2, JOBDIR=folder)
    assert said == (
        "langfocus: plug-in mine:Nothing: AttributeError: module 'mine' has no attribute "
        "'Nothing'\n"
    )


@pytest.mark.parametrize("readers", [0, 1])
def test_a_plug_in_that_raises_is_named_and_its_pages_are_settled(
    tmp_path: Path, readers: int
) -> None:
    packages, folder = installed(tmp_path / "packages"), tmp_path / "run"
    said = crawl(packages, "strategy=broken", "pages=10", JOBDIR=folder, LANGFOCUS_READERS=readers)
    assert "plug-in broken (my-alphabet 1.0): ZeroDivisionError: " in said
    found = summary(folder)
    assert found["finish_reason"] == "finished"
    assert found["outcomes"]["error"] > 0
    assert found["queued"] == 0


WEB = """\
from langfocus.crawler.sources.contract import Answer, Unreachable

HTML = (("Content-Type", "text/html; charset=utf-8"),)
TEXT = "<p>Der Wald ist im Herbst sehr still, und die Wege sind voller Blätter."


class Small:
    def __init__(self, archive):
        self.folder = archive

    def seeds(self, language):
        return [f"http://{language}.example/"]

    def respond(self, url, headers):
        path = url.partition(".example/")[2]
        if path == "robots.txt" and "bad." not in url:
            return Answer(404)
        if path == "gone":
            raise Unreachable("refused", url)
        if path == "wrong":
            return TEXT
        if path not in ("", "a"):
            raise LookupError(path)
        links = "".join(f"<a href=/{name}>" for name in ("a", "gone", "wrong", "bug"))
        return Answer(200, HTML, f"{TEXT}<a href=http://bad.example/>{links}".encode())


def seeds(language):
    yield f"{language}.example/a"
    yield f"http://{language}.example"


def endless(language):
    while True:
        yield "http://a.example/"


def numbers(language):
    return [1]
"""


def test_pages_and_seeds_of_plug_ins_are_crawled_and_failures_are_settled(tmp_path: Path) -> None:
    points = {"webs": "small = smallest:Small", "seeds": "two = smallest:seeds"}
    packages = install(tmp_path / "packages", "smallest", WEB, points)
    folder = tmp_path / "run"
    asked = ["web=small", "strategy=bfs", "filter=none", "archive=/some/where"]
    said = crawl(packages, *asked, "seeds=two", JOBDIR=folder)
    for fault in ("TypeError: str in place of an Answer", "LookupError: bug"):
        assert f"plug-in small (my-smallest 1.0): {fault}" in said
    found = rows(folder, "SELECT url, outcome, depth FROM pages ORDER BY url")
    assert found == [
        ("http://bad.example/", "error", 1),
        ("http://de.example/", "page", 0),
        ("http://de.example/a", "page", 0),
        ("http://de.example/bug", "error", 1),
        ("http://de.example/gone", "refused", 1),
        ("http://de.example/wrong", "error", 1),
    ]
    figures = summary(folder)
    assert figures["web"] == "small /some/where"
    assert [plugin["kind"] for plugin in figures["plugins"]] == ["web", "seeds"]
    assert " -a seeds=two" in figures["command"]
    said = crawl(packages, *asked, "seeds=http://de.example/", JOBDIR=folder)
    assert "the run used the seeds of plug-in two (my-smallest 1.0); it goes on without it" in said
    crawl(packages, *asked, JOBDIR=tmp_path / "own")
    assert summary(tmp_path / "own")["seeds"] == ["http://de.example/"]


def test_a_comparison_crawls_with_a_plug_in(tmp_path: Path) -> None:
    packages, folder = installed(tmp_path / "packages"), tmp_path / "runs"
    asked = ["strategies=alphabetical,bfs", "pages=5"]
    crawl(packages, *asked, command="compare", JOBDIR=folder)
    assert summary(folder / "de-alphabetical")["plugins"] == [PLUGIN]
    assert summary(folder / "de-bfs")["plugins"] == []
