"""`langfocus evaluate` on short pages that are cut from labelled ones, with recorded neighbours."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from classifiers.papers.page_cases import SHORT
from tests.support.commandline import call
from tests.support.smallweb import SENTENCES

PAGES_EACH = 6


def url(language: str, number: int) -> str:
    return f"http://{language}.org/{number}"


def archive(path: Path) -> Path:
    """Pages in three languages; each links to all others of its language and to one other."""
    records = b""
    for language, sentence in SENTENCES.items():
        for number in range(PAGES_EACH):
            targets = [url(language, other) for other in range(PAGES_EACH)] + [url("en", 0)]
            links = "".join(f"<a href={target}>{n}</a> " for n, target in enumerate(targets))
            http = f"HTTP/1.1 200 -\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{links}"
            block = f"{http}<p>{sentence * 4}</p>".encode()
            head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url(language, number)}"
            records += gzip.compress(
                f"{head}\r\nContent-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"
            )
    path.write_bytes(records)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = ["url\tlang"]
    rows += [f"{url(code, n)}\t{code}" for code in SENTENCES for n in range(PAGES_EACH)]
    rows[1] = f"{url('de', 0)}\tfr"  # a page that was not translated
    (tmp_path / "labels.tsv").write_text("\n".join(rows))
    return archive(tmp_path / "web.warc.gz")


def test_short_pages_have_a_table_of_their_own_and_neighbours_of_a_graph(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, file = tmp_path / "graph", tmp_path / "figures.json"
    assert call("graph", "--from", data, graph, "--target", "de") == 0
    arguments = ["--labels", tmp_path / "labels.tsv", "--graph", graph]
    methods = ["--methods", "nfc", "inlinks", "outlinks"]
    assert call("evaluate", data, "short", *arguments, *methods, "--json", file) == 0
    printed = capsys.readouterr().out
    assert "cut: to 5-24 and 25-49 characters in turn" in printed
    assert "left out, because their text is short or not in the language of the label: 1" in printed
    assert "are in one language" in printed
    found: dict[str, Any] = json.loads(file.read_text())
    rows = {
        row["shown"][0]: row["figures"]
        for table in found["tables"]
        if table["name"] == "lengths"
        for row in table["rows"]
    }
    assert set(rows) == {"< 25", "25-50", "all"}
    assert rows["< 25"]["inlinks"] == 100.0
    assert rows["< 25"]["outlinks"] == 100.0
    assert set(found["measured"]["data"]) == {"web.warc.gz", "labels.tsv", "graph"}
    assert SHORT == ((5, 24), (25, 49))


@pytest.mark.parametrize(
    ("labels", "message"),
    [("url\tx\n", "expected the columns url and lang"), ("", "no column url")],
)
def test_a_table_without_languages_is_one_line(
    data: Path, tmp_path: Path, labels: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "labels.tsv").write_text(labels)
    assert call("evaluate", data, "--labels", tmp_path / "labels.tsv", "--methods", "nfc") == 1
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
