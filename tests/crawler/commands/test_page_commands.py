"""`langfocus identify pages`, called as a person calls it."""

import gzip
import json
import os
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from langfocus.classifiers.pages import documents
from langfocus.classifiers.pages.documents import parse_document
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.crawler.reading import time_limit
from tests.crawler.sources.test_web_archive import http, record, write
from tests.support.commandline import call
from tests.support.pdf import pdf, text_of

TEXT = "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 3
GERMAN = f"<p>{TEXT}"
GREEK = "<p>" + "Σήμερα και ήλιος λάμπει πάνω από τη λίμνη και τα παιδιά παίζουν. " * 3
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


class Identified(NamedTuple):
    """The records of a command, its exit code and its messages."""

    records: list[dict[str, Any]]
    code: int
    errors: str


@pytest.fixture
def identify(capsys: pytest.CaptureFixture[str]) -> Callable[..., Identified]:
    """Call the command."""

    def run(*arguments: object) -> Identified:
        code = call("identify", "pages", *arguments)
        printed = capsys.readouterr()
        return Identified(
            [json.loads(line) for line in printed.out.splitlines()], code, printed.err
        )

    return run


@pytest.fixture
def german(tmp_path: Path) -> Path:
    """A German page in a file."""
    file = tmp_path / "a.html"
    file.write_text(GERMAN, encoding="utf-8")
    return file


def test_a_folder_is_walked(identify: Callable[..., Identified], tmp_path: Path) -> None:
    below = tmp_path / "web" / "below"
    below.mkdir(parents=True)
    (tmp_path / "web" / "z.html").write_text(GERMAN, encoding="utf-8")
    (below / "page").write_text(GERMAN, encoding="utf-8")
    (below / "style.css").write_text("p { color: red }", encoding="utf-8")
    records, code, _ = identify(tmp_path / "web")
    found = [(each["source"], each["language"]) for each in records]
    assert found == [(str(tmp_path / "web" / "z.html"), "de"), (str(below / "page"), "de")]
    assert code == 0


def test_files_and_standard_input_are_read_and_a_missing_file_is_a_line(
    identify: Callable[..., Identified], german: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(GREEK.encode("utf-16"))))
    missing = german.with_name("none.html")
    records, code, errors = identify(german, missing, "-")
    assert [each["source"] for each in records] == [str(german), str(missing), "-"]
    assert [each["language"] for each in records] == ["de", None, "el"]
    assert set(records[0]) == {"source", "language", "confidence", "method", "charset", "reason"}
    assert records[1]["reason"] == "cannot be read: No such file or directory"
    assert (code, errors.count("\n")) == (1, 1)


def test_binary_files_are_refused(identify: Callable[..., Identified], tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    samples = {"a.png": PNG, "b.pdf": b"%PDF-1.7\n", "c.elf": b"\x7fELF\x02", "d": os.urandom(999)}
    for name, data in samples.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "e.html").write_text(GERMAN, encoding="utf-16")
    records, code, _ = identify(*sorted(tmp_path.iterdir()))
    assert code == 1
    assert [each["language"] for each in records] == [None] * 4 + ["de"]
    reasons = dict.fromkeys(samples, "no page: binary data") | {"b.pdf": "no page: damaged"}
    assert [each["reason"] for each in records[:4]] == list(reasons.values())


def test_a_document_that_ends_its_process_is_a_line(
    identify: Callable[..., Identified], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(body: bytes, url: str) -> ParsedPage | None:
        return parse_document(body, url) if b"Catalog" in body else os._exit(134)

    pytest.importorskip("pypdfium2")
    monkeypatch.setattr(documents, "parse_document", parse)
    bodies = {"a.pdf": b"%PDF-1.7\n", "b.pdf": pdf(text_of(TEXT)), "c.html": GERMAN.encode()}
    for name, body in bodies.items():
        (tmp_path / name).write_bytes(body)
    records, code, _ = identify(tmp_path)
    assert [each["language"] for each in records] == [None, "de", "de"]
    assert (records[0]["reason"], code) == (time_limit.ENDED, 1)


def test_a_warc_file_gives_a_line_for_each_response(
    identify: Callable[..., Identified], tmp_path: Path, german: Path
) -> None:
    page = http(GERMAN.encode(), "Content-Type: text/html; charset=utf-8")
    greek = http(GREEK.encode("iso-8859-7"), "Content-Type: text/html; charset=iso-8859-7")
    path = write(
        tmp_path / "a.warc.gz",
        record("http://a.de/", b"software: x", kind="warcinfo"),
        record("http://a.de/", page),
        record("http://b.de/", page, kind="request"),
        record("http://b.de/", b"GET /"),
        record("http://a.gr/", greek),
        record("http://a.de/x", http(b"", status=404)),
        record("http://a.de/y", http(PNG, "Content-Type: image/png")),
        record("http://a.de/z", http(PNG)),
        record("http://a.de/robots.txt", http(b"Disallow: /", "Content-Type: text/plain")),
    )
    damaged_at = path.read_bytes().index(gzip.compress(record("http://b.de/", b"GET /"))[10:]) - 10
    records, code, _ = identify(path, german)
    assert [(each["source"], each["language"] or each["reason"]) for each in records] == [
        ("http://a.de/", "de"),
        (str(path), f"at byte {damaged_at}: no HTTP status line in this response"),
        ("http://a.gr/", "el"),
        ("http://a.de/x", "HTTP status 404"),
        ("http://a.de/y", "no page: image/png"),
        ("http://a.de/z", "no page: binary data"),
        ("http://a.de/robots.txt", "no page: a robots.txt or tdmrep.json"),
        (str(german), "de"),
    ]
    assert records[2]["charset"] == "iso-8859-7"
    assert code == 1


def test_a_warc_file_without_responses_is_a_line_with_a_reason(
    identify: Callable[..., Identified], tmp_path: Path
) -> None:
    path = write(tmp_path / "a.warc", record("http://a.de/", b"a: b", kind="metadata"))
    (only,), code, _ = identify(path)
    reason = "no answer of a server in this WARC file"
    assert (only["source"], only["reason"], code) == (str(path), reason, 1)


def test_a_page_without_letters_has_a_language_by_its_address_alone(
    identify: Callable[..., Identified], tmp_path: Path
) -> None:
    page = http(b"<img src=x> 12", "Content-Type: text/html")
    path = write(tmp_path / "a.warc", record("http://www.wetterbericht.de/", page))
    (default,), _, _ = identify(path)
    (by_address,), code, _ = identify(path, "--method", "top-level-domain")
    assert (default["language"], by_address["language"], code) == (None, "de", 0)
