"""What cannot be crawled is said in one line, with an exit code, and nothing is written."""

from pathlib import Path

import pytest

from tests.support.crawls import crawl, rows, summary


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "-a lang is missing"),
        (["lang=xx"], "-a lang=xx: no such language"),
        (["lang=de", "strategy=best"], "-a strategy=best: no such strategy"),
        (["lang=de", "filter=soft"], "-a filter=soft: no such filter"),
        (["lang=de", "tolerance=-1"], "-a tolerance=-1: a whole number"),
        (["lang=de", "pages=0"], "-a pages=0: a whole number"),
        (["lang=de", "pages=ten"], "-a pages=ten: a whole number"),
        (["lang=de", "page=10"], "-a page: no such argument"),
        (["lang=de", "web=moon"], "-a web=moon: no such web"),
        (["lang=de", "seeds=no-such-file.txt"], "-a seeds=no-such-file.txt: cannot be read"),
        (["lang=de", "seeds=pyproject.toml"], "URL 1 is not an http(s) URL"),
        (["lang=kl", "web=sample"], "the sample web has no pages in kl"),
        (["lang=de", "web=archive"], "go together"),
        (["lang=de", "web=archive", "archive=x.warc.gz"], "-a seeds is missing"),
        (["lang=de", "web=archive", "archive=x.warc.gz", "seeds=http://a.de/"], "x.warc.gz"),
        (["lang=de", "web=archive", "archive=README.md", "seeds=http://a.de/"], "README.md"),
    ],
)
def test_a_bad_argument_is_one_line(arguments: list[str], told: str, tmp_path: Path) -> None:
    done = crawl(*arguments, JOBDIR=tmp_path / "run")
    assert done.returncode != 0
    assert told in done.stderr
    assert done.stderr.startswith("langfocus: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DOWNLOAD_DELAY", "fast"),
        ("DOWNLOAD_DELAY", "-1"),
        ("RETRY_TIMES", "nan"),
        ("LANGFOCUS_PATIENCE", ""),
        ("LANGFOCUS_LIVE_INTERVAL", "often"),
    ],
)
def test_a_bad_setting_is_one_line(name: str, value: str, tmp_path: Path) -> None:
    done = crawl("lang=de", "web=sample", JOBDIR=tmp_path / "run", **{name: value})
    assert done.returncode != 0
    assert done.stderr == f"langfocus: {name}={value}: a number of at least 0 is needed\n"
    assert not (tmp_path / "run").exists()


def test_any_number_of_connections_is_understood(tmp_path: Path) -> None:
    done = crawl("lang=de", "web=sample", "pages=20", JOBDIR=tmp_path, CONCURRENT_REQUESTS=0)
    assert done.returncode == 0, done.stderr
    assert summary(tmp_path)["pages"] == 20


def test_an_unreadable_model_is_one_line(tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    model.write_bytes(b"PK\x03\x04 not a model")
    done = crawl(
        "lang=de", "strategy=svm", "web=sample", JOBDIR=tmp_path / "run", LANGFOCUS_URL_MODEL=model
    )
    assert done.returncode != 0
    assert done.stderr.startswith("langfocus: ")
    assert "model.npz" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_run_folder_of_another_crawl_is_left_as_it_was(tmp_path: Path) -> None:
    done = crawl("lang=de", "strategy=bfs", "web=sample", "pages=20", JOBDIR=tmp_path)
    assert done.returncode == 0, done.stderr
    before = summary(tmp_path), rows(tmp_path, "SELECT * FROM meta")
    done = crawl("lang=fr", "strategy=bfs", "web=sample", "pages=40", JOBDIR=tmp_path)
    assert done.returncode != 0
    assert "holds a crawl with lang=de, not lang=fr" in done.stderr
    assert done.stderr.count("\n") == 1
    assert (summary(tmp_path), rows(tmp_path, "SELECT * FROM meta")) == before


def test_a_crawl_that_fetched_nothing_says_so(tmp_path: Path) -> None:
    done = crawl(
        "lang=de",
        "seeds=http://no-such-host.invalid/",
        JOBDIR=tmp_path,
        LANGFOCUS_RETRY_DELAY=0,
        DOWNLOAD_DELAY=0,
    )
    assert done.returncode != 0
    assert "not one page could be fetched" in done.stderr
    assert summary(tmp_path)["outcomes"] == {"dns": 1}


def test_a_folder_with_something_else_in_its_run_db_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.db").write_bytes(b"this is no database" * 100)
    done = crawl("lang=de", "strategy=bfs", "web=sample", JOBDIR=tmp_path)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "run.db").read_bytes() == b"this is no database" * 100


def test_the_manual_names_every_argument_and_setting() -> None:
    import subprocess
    import sys

    from crawler import settings
    from crawler.options import ARGUMENTS
    from tests.support.crawls import ROOT, environment

    told = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "--help"],
        cwd=ROOT,
        env=environment(None),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    ours = {name for name in vars(settings) if name.startswith("LANGFOCUS_")}
    assert ours == set(settings.DESCRIPTIONS)
    for name in [*ARGUMENTS, *settings.DESCRIPTIONS]:
        assert f"  {name} " in told
