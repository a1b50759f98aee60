"""`scrapy train` and `scrapy identify`, run as a user runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from classifiers.urls.model import UrlModel
from tests.classifiers.lab.datasets.test_odp import dump, page
from tests.classifiers.lab.training.test_urltraining import rows, write

ROOT = Path(__file__).parents[3]


def scrapy(*args: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *args],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        env=environment,
        check=False,
    )


def records(output: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


def test_identify_urls_writes_a_line_for_each_line_of_standard_input() -> None:
    lines = ["http://www.wetter-nachrichten.de/", "", "http://a.com/\xff"]
    done = scrapy("identify", "urls", stdin="\n".join(lines).encode("latin-1") + b"\n")
    assert done.returncode == 0, done.stderr
    found = records(done.stdout)
    assert [set(each) for each in found] == [{"url", "language", "confidence", "scores"}] * 3
    assert found[0]["language"] == "de"
    assert found[1]["language"] is None
    scores = found[0]["scores"]
    assert isinstance(scores, dict)
    assert set(scores) == set(UrlModel.load().languages)


def test_identify_urls_explains_what_counts_most() -> None:
    lines = b"http://www.wetter-nachrichten.de/\n\n"
    done = scrapy("identify", "urls", "--explain", "3", stdin=lines)
    assert done.returncode == 0, done.stderr
    german, empty = records(done.stdout)
    found = german["explain"]
    assert isinstance(found, list)
    assert len(found) == 3
    weights = [abs(weight) for _, weight in found]
    assert weights == sorted(weights, reverse=True)
    assert ".de" in [text for text, _ in found]
    assert empty["explain"] == []


def test_identify_pages_reads_files_and_lists_and_reports_what_it_cannot_read(
    tmp_path: Path,
) -> None:
    page = tmp_path / "a.html"
    sentence = "Der Wetterbericht sagt für morgen Regen und Wind an der Küste voraus. "
    page.write_text(f"<html><body><p>{sentence * 5}</p></body></html>", encoding="utf-8")
    missing = tmp_path / "none.html"
    listing = tmp_path / "pages.tsv"
    listing.write_text(f"{page}\thttp://a.de/\n{missing}\n", encoding="utf-8")
    output = tmp_path / "out.jsonl"
    done = scrapy("identify", "pages", str(page), "--list", str(listing), "--json", str(output))
    found = records(output.read_bytes())
    assert done.returncode == 1
    assert [each["source"] for each in found] == [str(page), str(page), str(missing)]
    assert [each["language"] for each in found] == ["de", "de", None]
    assert set(found[0]) == {"source", "language", "confidence", "method", "charset", "reason"}
    assert "cannot be read" in str(found[2]["reason"])


def test_train_writes_a_model_that_identify_uses(tmp_path: Path) -> None:
    data, model = write(tmp_path / "u.tsv", rows()), tmp_path / "m.npz"
    figures = tmp_path / "figures.json"
    options = ["--output", str(model), "--buckets", "4096", "--json", str(figures)]
    options += ["--no-word-lists"]
    done = scrapy("train", str(data), *options)
    assert done.returncode == 0, done.stderr
    assert b"mean F1" in done.stdout
    assert json.loads(figures.read_text())["evaluation"]["five"]["mean_f1"] > 90
    urls = "http://verein.com/zeitung-straße\n".encode()
    answer = records(scrapy("identify", "urls", "--model", str(model), stdin=urls).stdout)[0]
    assert answer["language"] == "de"


def test_train_reads_a_dump_of_a_directory_whatever_its_name(tmp_path: Path) -> None:
    places = {"de": "Top/World/Deutsch/A", "fr": "Top/Arts", "it": "Top/Regional"}
    listed = [page(row.url, places[row.language]) for row in rows(40)]
    data, model = dump(tmp_path, *listed, name="directory"), tmp_path / "m.npz"
    options = ["--format", "odp", "--output", str(model), "--buckets", "4096", "--no-evaluate"]
    done = scrapy("train", str(data), *options)
    assert done.returncode == 0, done.stderr
    assert b"80 usable URLs, 40 rows left out (Top/Regional 40)" in done.stdout
    assert UrlModel.load(model).languages == ("de", "en")


@pytest.mark.parametrize(
    "args",
    [
        ["train", "none.tsv"],
        ["train", "pyproject.toml"],
        ["train", "seeds"],
        ["train", "pyproject.toml", "--format", "odp"],
        ["identify", "urls", "none.txt"],
        ["identify", "urls", "--model", "pyproject.toml", "README.md"],
        ["identify", "pages", "--list", "none.tsv"],
        ["identify", "pages", "README.md", "--method", "guess"],
        ["identify", "pages", "README.md", "--method", "guess", "--json", "none/x.jsonl"],
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_1(args: list[str]) -> None:
    done = scrapy(*args)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.startswith(b"langfocus: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        ["train"],
        ["train", "a", "b"],
        ["train", "a", "--languages", "nolanguage"],
        ["train", "a", "--format", "csv"],
        ["identify"],
        ["identify", "poems"],
        ["identify", "pages"],
        ["identify", "urls", "a", "b"],
        ["identify", "urls", "--list", "a"],
        ["identify", "urls", "--explain", "0"],
        ["identify", "urls", "--method", "nfc"],
        ["identify", "urls", "a", "--explain", "b"],
        ["identify", "pages", "--explain"],
        ["identify", "pages", "a.html", "--model", "m.npz"],
    ],
)
def test_wrong_arguments_are_a_usage_error(args: list[str]) -> None:
    done = scrapy(*args)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["train", "identify", "evaluate"])
def test_help_has_a_description_an_output_and_an_example(command: str) -> None:
    text = scrapy(command, "--help").stdout.decode()
    for expected in ("usage:", "output", "examples:", f"scrapy {command}", "--json"):
        assert expected in text
