"""`scrapy train` and `scrapy identify`, run as a user runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from classifiers.urls.model import UrlModel
from tests.test_url_training import rows, write

ROOT = Path(__file__).parents[1]


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
    done = scrapy("train", str(data), *options)
    assert done.returncode == 0, done.stderr
    assert b"mean F1" in done.stdout
    assert json.loads(figures.read_text())["evaluation"]["five"]["mean_f1"] > 90
    urls = "http://verein.com/zeitung-straße\n".encode()
    answer = records(scrapy("identify", "urls", "--model", str(model), stdin=urls).stdout)[0]
    assert answer["language"] == "de"


@pytest.mark.parametrize(
    "args",
    [
        ["train", "none.tsv"],
        ["train", "pyproject.toml"],
        ["identify", "urls", "none.txt"],
        ["identify", "urls", "--model", "pyproject.toml", "README.md"],
        ["identify", "pages", "--list", "none.tsv"],
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
        ["train", "--languages", "nolanguage", "--", "a"],
        ["identify"],
        ["identify", "poems"],
        ["identify", "pages"],
        ["identify", "urls", "a", "b"],
        ["identify", "urls", "--list", "a"],
    ],
)
def test_wrong_arguments_are_a_usage_error(args: list[str]) -> None:
    done = scrapy(*args)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["train", "identify"])
def test_help_has_a_description_an_output_and_an_example(command: str) -> None:
    text = scrapy(command, "--help").stdout.decode()
    for expected in ("usage:", "output", "examples:", f"scrapy {command}", "--json"):
        assert expected in text
