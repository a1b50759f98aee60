"""What strangers wrote, on a terminal: no command prints a control character of theirs."""

import gzip
import logging
import os
import re
import sys
import zipfile
from collections.abc import Mapping
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from benchmarks.servers import processes
from langfocus.crawler.commands import COMMANDS
from tests.crawler.sources.test_web_archive import http, record
from tests.support.commandline import call as call_here
from tests.support.crawls import environment
from tests.support.keptpages import KeptPages, german, html
from tests.support.terminal import Terminal

ATTACK = "\x1b]0;owned\x07\x9b2J\x7f\u202e\u2066\u2028"
NAME = f"{ATTACK}\udcff"  # the end is a byte that is not UTF-8
OWN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
"""Colours and movements of the program itself; the attack has others."""

CALLS = {
    "export": ["WACZ", "RUN", "RUN --output NEW.wacz", "MISSING"],
    "census": ["WACZ", "WACZ EMPTY", "RUN", "MISSING", "EMPTY"],
    "identify": [
        *("pages WACZ FOLDER", "pages MISSING", "pages WACZ --method ATTACK", "urls LIST"),
        *("urls --explain LIST", "ATTACK", "urls MISSING"),
    ],
    "crawl": [
        "-a lang=de -a web=archive -a archive=WACZ -a seeds=http://a.de/ -L INFO -s JOBDIR=NEW",
        "-a lang=de -a web=archive -a archive=MISSING -a seeds=http://a.de/",
        "-a lang=de -a web=archive -a archive=EMPTY -a seeds=http://a.de/ -s JOBDIR=NEW",
        "-a lang=de -a web=sample -a seeds=LIST -a pages=9 -s JOBDIR=NEW -s LANGFOCUS_READERS=0",
        "-a lang=de -a web=sample -a block=LIST -a pages=9 -s JOBDIR=NEW -s LANGFOCUS_READERS=0",
        "-a lang=de -a web=sample -a scope=LIST -a pages=9 -s JOBDIR=NEW -s LANGFOCUS_READERS=0",
        *(
            "-a lang=ATTACK",
            "-a lang=de -a ATTACK=1",
            "-a lang=de -s LANGFOCUS_LINKS=ATTACK",
            "ATTACK",
        ),
    ],
    "compare": [
        "-a lang=ATTACK",
        "-a lang=de -a web=archive -a archive=EMPTY -a seeds=http://a.de/ -s JOBDIR=NEW",
    ],
    "report": [
        *("RUN", "MISSING", "RUN --explain ATTACK", "RUN --sample NEW.csv", "RUN --labels LIST"),
        "RUN --watch",
    ],
    "key": ["MISSING/k --agent https://a.de", "LIST --agent https://a.de", "NEW --agent ATTACK"],
    "plugins": ["ATTACK", "--json MISSING/x"],
    "seeds": ["de LIST --output NEW", "de MISSING", "ATTACK"],
    "takedown": ["RUN ATTACK", "RUN b.de", "MISSING a.de"],
    "merge": ["NEW RUN", "NEW MISSING", "NEW RUN redis://ATTACK"],
    "train": ["ROWS --output NEW", "MISSING", "LIST"],
    "evaluate": ["ROWS", "MISSING", "sample ATTACK"],
    "graph": ["MISSING", "FOLDER", "--from RUN NEW --target de", "--from WACZ NEW --target de"],
    "simulate": ["MISSING", "FOLDER -a ATTACK=1"],
}


def package(path: Path) -> Path:
    """A package with such names of members, a damaged one, and such URLs, heads and titles."""
    page = html(german(1)).replace(b"Titel", ATTACK.encode())
    page += f"<a href='http://b.de/{ATTACK}'>x</a>".encode()
    answer = http(page, f"Content-Type: text/html; charset={ATTACK}", f"X-{ATTACK}: {ATTACK}")
    good = [record("http://a.de/", answer), record(f"http://a.de/{ATTACK}", answer)]
    bad = [record("http://c.de/", f"{ATTACK} no status".encode()), record("x:", kind=ATTACK)]
    with zipfile.ZipFile(path, "w") as members:
        members.writestr(f"archive/{ATTACK}.warc.gz", b"".join(map(gzip.compress, good)))
        members.writestr(f"archive/0{ATTACK}.warc.gz", b"".join(map(gzip.compress, bad)) + b"x")
        members.writestr(f"archive/1{ATTACK}.warc.gz", ATTACK.encode())
    return path


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What the words of the calls stand for; all names are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    empty, rows, urls = (folder / f"{NAME}.{end}" for end in ("wacz", "tsv", "txt"))
    with zipfile.ZipFile(empty, "w") as members:
        members.writestr(f"archive/{ATTACK}.warc.gz", b"")
    rows.write_text(f"http://a.de/{ATTACK}\tde\n" * 9, encoding="utf-8")
    urls.write_text(f"http://a.de/{ATTACK}\n{ATTACK}\n", encoding="utf-8")
    saved = folder / f"saved{NAME}"
    saved.mkdir()
    (saved / f"{NAME}.html").write_bytes(html(german(1)))
    pages = KeptPages(folder / f"run{NAME}")
    page = html(german(2)).replace(b"Titel", ATTACK.encode())
    pages.settle_all([("http://a.de/", page), ("http://b.de/", page)])
    archive = package(folder / f"0{NAME}.wacz")
    found = {"WACZ": archive, "EMPTY": empty, "ROWS": rows, "LIST": urls, "FOLDER": saved}
    return {**found, "RUN": pages.folder, "MISSING": folder / f"none{NAME}"}


def shown(call: str, places: dict[str, Path], *, is_terminal: bool) -> str:
    """What a command prints."""
    for word, place in places.items():
        call = call.replace(word, str(place))
    words = [word.replace("ATTACK", NAME) for word in call.split(" ")]
    clean = {**environment(None), "TERM": "xterm-256color", "LANGFOCUS_CONTACT": "a@example.org"}
    # A process has one reactor, and what the processes of an export print is not in this one.
    if words[0] in ("crawl", "compare") or (words[0] == "export" and is_terminal):
        module = "tests.support.terminal" if is_terminal else "langfocus"
        done = processes.run(module, *words, environment=clean)
        code, printed, errors = done.returncode, done.stdout, done.stderr
    else:
        code, printed, errors = said_here(words, clean, Terminal if is_terminal else TextIOWrapper)
    assert code in (0, 1, 2), errors
    assert "owned" in printed + errors
    if is_terminal:
        return OWN.sub("", printed + errors)
    # Texts that a pipe gets are the texts of the pages.
    return errors if call.startswith("export") else printed + errors


def said_here(
    words: list[str], clean: Mapping[str, str], kind: type[TextIOWrapper]
) -> tuple[int, str, str]:
    """Call a command in this process, which keeps its imports: exit code, output and errors."""
    output, errors = BytesIO(), BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ.keys() - clean.keys():
            patch.delenv(name)
        for name, value in clean.items():
            patch.setenv(name, value)
        streams = [  # that are closed when nothing names them
            kind(output, "utf-8", "strict", write_through=True),
            kind(errors, "utf-8", "backslashreplace", write_through=True),
        ]
        # pytest's own handlers would keep texts that its processes cannot send each other.
        patch.setattr(logging.root, "handlers", [])
        for name, stream in zip(("stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        code = call_here(*words)
        return code, output.getvalue().decode(), errors.getvalue().decode()


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "pipe"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_a_control_character(
    name: str, is_terminal: bool, places: dict[str, Path], tmp_path: Path
) -> None:
    for number, call in enumerate(CALLS[name]):
        new = {"NEW": tmp_path / f"{number}{NAME}"}
        text = shown(f"{name} {call}", places | new, is_terminal=is_terminal)
        controls = {letter for letter in text if not letter.isprintable()} - {"\n", "\t"}
        assert (call, controls) == (call, set())
        assert "Traceback" not in text
