"""Every console block and every Python block of the README and the guide runs, page by page.

A page begins in a folder with the files of `GIVEN` alone, and its blocks run in their order. After
`$ COMMAND` its output may be shown, where `…` stands for anything. A crawl of the Internet finds
`DocumentWeb` instead, with short delays and few pages. A block below `<!-- not run: REASON -->` is
left out. Where there is no redis-server, a command with `--workers` is left out, and the page is
skipped when all else on it has run.
"""

import doctest
import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

import langfocus.crawling  # noqa: F401  it has its own `run_child`, before a test replaces it
from benchmarks.servers import processes
from benchmarks.servers.loopback import loopback
from langfocus.crawler.commands.base import parser_of
from tests.crawler.commands.test_compare import forked
from tests.crawler.commands.test_page_study_command import write_pages
from tests.support.commandline import call
from tests.support.crawls import ROOT, environment
from tests.support.documentweb import DocumentWeb
from tests.support.geodatabase import database
from tests.support.redisserver import NO_SERVER
from tests.support.smallweb import SENTENCES

MARK = r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?"
BLOCK = re.compile(rf"(?ms){MARK}```(?P<kind>console|python|pycon)\n(?P<text>.*?)^```")
GUIDE = sorted(path for path in (ROOT / "docs").rglob("*.md") if "research" not in path.parts)
PAGES = [path for path in (ROOT / "README.md", *GUIDE) if BLOCK.search(path.read_text("utf-8"))]
TABLE = re.compile(r"^\| ([^|]*?) +\| +([^|]*?) \|$", re.MULTILINE)
FEW = ["-a", "pages=20"]
ALONE = ["-s", "LANGFOCUS_READERS=0"]
"""A crawl of few pages ends before a reader has loaded its models, which takes a second."""
QUICK = ["-s", "DOWNLOAD_DELAY=0.01", "-s", "LANGFOCUS_PATIENCE=0.01"]
SMALL = "baselines --urls 12 --languages en de".split()
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
Command = tuple[str, str]


def commands(block: str) -> Iterator[Command]:
    """Yield each command of a console block with the output that is shown."""
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def as_tested(words: list[str], shown: str) -> list[str]:
    """Return a command with few pages, and without hosts of the Internet."""
    given = dict(word.split("=", 1) for word in words if re.match(r"[\w-]+=", word))
    if words[1] in ("crawl", "compare"):
        few = [] if shown or "hosts" in given else [*FEW, *ALONE]
        if words[1] == "compare" and "strategies" not in given:
            few = [*few, "-a", "strategies=svm"]
        if given.get("web") == "sample":
            return [*words, *few]
        words = [word.replace("https://", "http://") for word in words]
        if not {"seeds", "hosts"} & set(given):
            lines = (ROOT / "seeds" / f"{given['lang']}.txt").read_text("utf-8").splitlines()[1:5]
            few = [*few, "-a", f"seeds={','.join(lines).replace('https://', 'http://')}"]
        return [*words, *few, *QUICK]
    if words[1] == "simulate":  # test_simulate_commands runs all strategies of the paper
        return [*words, "-a", "strategies=bfs,soft"]
    return [*words, *SMALL] if words[1:3] == ["evaluate", "sample"] else words


def output(command: str, shown: str, folder: Path, proxy: str) -> str:
    """Run a command of a console block; return its output and its errors."""
    variables, given = {**environment(proxy), "PATH": PATH}, b""
    if " | langfocus " in command:
        first, command = command.split(" | ", 1)
        given = subprocess.run(["bash", "-c", first], capture_output=True, check=True).stdout
    if not command.startswith("langfocus "):
        line = ["bash", "-c", command.replace("https://", "http://")]
        done = subprocess.run(
            line, cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
    else:
        words = as_tested(shlex.split(command, comments=True), shown)
        found = [sorted(map(str, folder.glob(word))) if "*" in word else [] for word in words]
        words = [each for word, of in zip(words, found, strict=True) for each in of or [word]]
        if words[1] == "train":  # it takes a minute; its arguments are right
            assert parser_of("train").parse_known_intermixed_args(words[2:])[1] == []
            return ""
        # The crawls of `compare` are forks of a process that has imported all; this process keeps
        # the dictionaries that `evaluate` reads for seven seconds.
        if words[1] in ("compare", "evaluate"):
            with redirect_stdout(TextIOWrapper(BytesIO(), "utf-8", write_through=True)) as printed:
                assert call(*words[1:]) == 0, command
            printed.seek(0)
            return printed.read()
        done = processes.run(*words, environment=variables, folder=folder, input=given)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def agrees(shown: str, found: str) -> bool:
    """Return True if an output is the one that is shown; of a crawl's table see `figures_agree`."""
    if "| harvest rate  " in shown:
        return figures_agree(*(dict(TABLE.findall(text)) for text in (shown, found)))
    lines = [re.escape(line.rstrip()).replace("…", ".*") for line in shown.strip().splitlines()]
    pattern = "\n".join(r"(?s:.*?)" if line == ".*" else line for line in lines)
    return re.fullmatch(pattern, "\n".join(map(str.rstrip, found.strip().splitlines()))) is not None


def figures_agree(shown: Mapping[str, str], found: Mapping[str, str]) -> bool:
    """Return True if two crawls have the same rows, as many pages and about the same harvest.

    The methods that identified pages are rows too, and may differ by a page.
    """
    rates = [float(table["harvest rate"].rstrip(" %")) for table in (shown, found)]
    are_same = all(shown[name] == found[name] for name in ("pages", "finish reason"))
    names = [[name for name in table if "of these by" not in name] for table in (shown, found)]
    return are_same and names[0] == names[1] and abs(rates[0] - rates[1]) < 3


def run_python(kind: str, text: str, names: dict[str, Any]) -> None:
    if kind == "python":
        exec(re.sub(r"\bpages=\d+", "pages=20", text), names)
        return
    test = doctest.DocTestParser().get_doctest(text.replace("…", "..."), names, "block", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, clear_globs=False).failed == 0
    names.update(test.globs)


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    with loopback(DocumentWeb()) as running:
        yield running.url


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_the_page_runs(
    page: Path, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("langfocus.crawler.commands.child.run_child", forked)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "langfocus.crawler.settings")
    monkeypatch.setenv("http_proxy", proxy)
    text = page.read_text("utf-8")
    if prepare := GIVEN.get(page.stem):
        prepare(tmp_path, text)
    names: dict[str, Any] = {}
    left_out: list[str] = []
    for block in BLOCK.finditer(text):
        if block["reason"]:
            continue
        if block["kind"] != "console":
            run_python(block["kind"], block["text"], names)
            continue
        for command, shown in commands(block["text"]):
            if "--workers" in command and shutil.which("redis-server") is None:
                left_out.append(command)
                continue
            found = output(command, shown, tmp_path, proxy)
            assert not shown.strip() or agrees(shown, found), f"{command}\n{found}"
    if left_out:
        pytest.skip(f"{NO_SERVER}: {left_out}")


def test_commands_stand_in_blocks_that_are_run() -> None:
    """Commands in indented text or in a block of another kind would not be run."""
    for page in GUIDE:
        text = BLOCK.sub("", page.read_text("utf-8"))
        assert re.findall(r"^(?: {4}|\$ )(?:langfocus|python|pip) .*", text, re.MULTILINE) == []


@pytest.mark.parametrize(
    ("shown", "is_right"),
    [("a 1 b\n", True), ("a … b", True), ("…\n", True), ("a 2 b", False), ("a …\nb", False)],
)
def test_an_output_is_compared(shown: str, is_right: bool) -> None:
    assert agrees(shown, "a 1 b\n") == is_right


def given_data(folder: Path, text: str) -> None:
    xml, table = (re.findall(rf"(?ms)^```{kind}\n(.*?)^```", text)[0] for kind in ("xml", "text"))
    (folder / "content.rdf.u8.gz").write_bytes(gzip.compress(xml.encode()))
    head, row = table.splitlines()
    rows = [
        f"{text * 3}\t{lang}\tsentence\tx" for lang, text in SENTENCES.items() for _ in range(9)
    ]
    (folder / "texts.tsv.gz").write_bytes(gzip.compress("\n".join([head, row, *rows, ""]).encode()))
    write_pages(folder / "pages", repeat=17)


def given_census(folder: Path, text: str) -> None:
    (folder / "hosts.txt").write_text("a.de\nb.is\nc.com\n")
    (folder / "GeoLite2-Country.mmdb").write_bytes(database({"81.2.69.0/24": "GB"}))


def given_graphs(folder: Path, text: str) -> None:
    (folder / "pages.tsv").write_text("url\tlanguage\nhttp://a.th/\tth\nhttp://b.th/\ten\n")
    (folder / "links.tsv").write_text("source\ttarget\nhttp://a.th/\thttp://b.th/\n")
    (folder / "seeds.tsv").write_text("seed\nhttp://a.th/\n")


GIVEN: Mapping[str, Callable[[Path, str], object]] = {
    "census": given_census,
    "data": given_data,
    "graphs": given_graphs,
    "politeness": lambda folder, text: (folder / "block.txt").write_text("example.org\n"),
}
