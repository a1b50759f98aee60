"""Every command on the page about the papers does what it says, on small data."""

import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from benchmarks.servers import processes
from benchmarks.servers.loopback import loopback
from langfocus.classifiers.papers.baykan import custom, special
from langfocus.classifiers.training import methods
from langfocus.crawler.simulate.generator import generate
from langfocus.crawler.simulate.measures import WebMeasures
from tests.crawler.commands.test_compare import forked
from tests.crawler.commands.test_page_study_command import write_linked, write_pages
from tests.support.commandline import call
from tests.support.crawls import environment
from tests.support.geodatabase import database
from tests.support.portalweb import PortalWeb
from tests.support.smallweb import SENTENCES
from tests.support.studyurls import SYLLABLES, labelled, write

PAPERS = (Path(__file__).parents[1] / "docs" / "papers.md").read_text(encoding="utf-8")
COMMANDS: list[str] = re.findall(r"`langfocus ([^`]+)`", PAPERS)
NAMES = {"DATA": "urls.tsv", "OTHER": "other.tsv", "PAGES": "pages", "COUNTRY.mmdb": "geo.mmdb"}
SMALLER = "--urls 12 --languages en de".split()
"""Arguments that make an experiment on URLs small."""


def words(language: str) -> frozenset[str]:
    """A dictionary that is loaded at once."""
    return frozenset(SYLLABLES[language])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The files and folders that the commands name."""
    folder = tmp_path_factory.mktemp("papers")
    write(folder / "urls.tsv", labelled(40))
    write(folder / "other.tsv", labelled(20, seed=1))
    hosts = sorted({row.url.split("/")[2] for row in labelled(40)})
    (folder / "HOSTS").write_text("".join(f"{host}\t81.2.69.160\n" for host in hosts))
    (folder / "geo.mmdb").write_bytes(database({"81.2.69.0/24": "GB"}))
    write_pages(folder / "pages", repeat=17)
    (folder / "FILE").write_text(f"<html lang=de><p>{SENTENCES['de'] * 3}</p>")
    write_linked(folder)
    (folder / "hosts.txt").write_text("\n".join(PortalWeb(10).lines()))
    generate(WebMeasures(0.0001), random_state=5).write(folder / "graphs" / "thai")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SCRAPY_SETTINGS_MODULE", "langfocus.crawler.settings")
        small = partial(custom.CustomFeatures, dictionary=words, cities=words)
        patch.setattr(custom, "CustomFeatures", small)
        patch.setattr(special, "N_CHOSEN", 3)
        patch.setattr("langfocus.crawler.commands.child.run_child", forked)
        patch.setattr("langfocus.crawler.studies.url_evaluation.FOLDS", 2)
        assert call("graph", "--from", "docs.warc.gz", "graphs/docs", "--target", "de") == 0
        yield folder


@pytest.fixture(scope="module")
def _runs(folder: Path) -> None:
    """The runs that commands count, and a sample of one that a person has labelled."""
    for name, strategy in (("de", "svm"), ("de-focus", "focus"), ("de-random", "random")):
        arguments = "lang=de", "web=sample", "pages=30", f"strategy={strategy}"
        crawl = [word for argument in arguments for word in ("-a", argument)]
        crawl += ["-s", f"JOBDIR=runs/{name}", "-s", "LANGFOCUS_READERS=0"]
        ran("crawl", *crawl, folder=folder)
    assert call("report", "runs/de", "--sample", "labelled.csv") == 0
    head, *rows = (folder / "labelled.csv").read_text().splitlines()
    labelled = [row + ("yes" if number % 2 else "no") for number, row in enumerate(rows)]
    (folder / "labelled.csv").write_text("\n".join([head, *labelled]) + "\n")


@pytest.fixture(scope="module")
def _census(folder: Path) -> None:
    """The run of the page's only crawl, which is a census."""
    (line,) = (command for command in COMMANDS if command.startswith("crawl "))
    fast = ["-s", "DOWNLOAD_DELAY=0.01", "-s", "RETRY_TIMES=0", "-s", "LANGFOCUS_READERS=0"]
    with loopback(PortalWeb(10)) as proxy:
        ran(*shlex.split(line), *fast, folder=folder, proxy=proxy.url)


def ran(*arguments: str, folder: Path, proxy: str | None = None) -> None:
    """Run a command that crawls, in a process of its own."""
    words = environment(proxy)
    done = processes.run("langfocus", *arguments, environment=words, folder=folder)
    assert done.returncode == 0, done.stderr


def test_each_item_of_the_papers_has_a_command() -> None:
    numbers = re.findall(
        r"^\| ([0-9]+) \|.*`(?:langfocus|python -m) [a-z].*`", PAPERS, flags=re.MULTILINE
    )
    assert numbers == [str(number) for number in range(1, 28)]


def test_the_training_of_a_method_on_the_papers_runs(folder: Path) -> None:
    (line,) = re.findall(r"`python -m langfocus.classifiers.training.methods ([^`]+)`", PAPERS)
    methods.main([NAMES.get(word, word) for word in shlex.split(line)])
    assert (folder / "byte-ngrams.npz").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_on_the_papers_runs(
    command: str, folder: Path, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> None:
    name, *arguments = shlex.split(command)
    line = [NAMES.get(word, word) for word in arguments]
    if name == "report":
        request.getfixturevalue("_runs")
    if "--labels" in line:
        line = ["labelled.csv" if word == "sample.csv" else word for word in line]
    if name == "evaluate" and arguments[0] in ("DATA", "sample"):
        line += SMALLER
    if "--generate" in line:
        line += ["--scale", "0.0001"]
    if name == "compare":
        line += ["-a", "pages=30", "-s", f"JOBDIR={folder / 'runs' / 'compared'}"]
        line += ["-s", "LANGFOCUS_READERS=0"]
    if name in ("crawl", "census"):
        request.getfixturevalue("_census")
    if name != "crawl":
        assert call(name, *line) == 0, capfd.readouterr().err
