"""The option `identify` selects the method that labels crawled pages."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.servers import processes
from langfocus.classifiers.pages.methods import FASTTEXT_FILE
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.opening import open_crawl
from tests.crawler.frontier.test_frontier_contract import lease_now
from tests.support.crawls import environment, rows
from tests.support.fasttextmodel import write_model

GERMAN = "<p>" + "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 4


def test_pages_in_a_language_that_a_model_of_fasttext_adds_are_relevant(tmp_path: Path) -> None:
    pytest.importorskip("fasttext")
    words = "ногай тили казак сёз бар уьшин"  # noqa: RUF001
    model = write_model(tmp_path / "tiny.bin", {"nog_Cyrl": words})
    given = {"lang": "Nogai", "strategy": "bfs", "seeds": "http://a.example/,http://b.example/"}
    config = replace(Config.read(given), run_folder=tmp_path / "run", delay_s=0.0, fasttext=model)
    crawl = open_crawl(config)
    crawl.start()
    for body in (f"<p>{words * 4}", GERMAN):
        answer = Download("", 200, body.encode(), "text/html; charset=utf-8")
        lease = lease_now(crawl.frontier, crawl.clock())
        crawl.visitor.answered(lease, replace(answer, url=lease.url))
    assert crawl.queue.counts().relevant == 1
    crawl.close("finished")
    outcomes_found = rows(tmp_path / "run", "SELECT language, method FROM pages")
    assert outcomes_found == [("nog", "fasttext"), ("de", "text")]


@pytest.mark.parametrize("command", ["crawl", "compare"])
def test_a_method_without_its_model_is_refused_before_anything_is_written(
    tmp_path: Path, command: str
) -> None:
    pytest.importorskip("fasttext")
    arguments = ["-a", "lang=de", "-a", "identify=fasttext", "-s", f"JOBDIR={tmp_path / 'run'}"]
    without = {**environment(None), FASTTEXT_FILE: str(tmp_path / "none.ftz")}
    done = processes.run("langfocus", command, *arguments, environment=without)
    assert done.returncode == 2
    assert f"{FASTTEXT_FILE}: {tmp_path / 'none.ftz'}: no such model file" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
