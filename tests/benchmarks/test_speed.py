"""The speed benchmark serves pages that weigh as much as real ones, and counts all processes."""

import gzip
import sys
from pathlib import Path
from statistics import mean, median

from benchmarks.crawling import processor_s
from benchmarks.heavy import KB, Heavy, gzipped
from benchmarks.speed import Crawled, cost

BODY = b'<html><head><title>a</title></head><body><ul><li><a href="http://b.de/">b</a></li></body>'


def test_a_heavy_page_has_many_links_and_is_a_gzip_file(tmp_path: Path) -> None:
    truth = tmp_path / "truth.tsv"
    truth.write_text("url\tlang\thost_lang\nhttp://a.de/\tde\tde\nhttp://a.de/b?c&d\tde\tde\n")
    parts = Heavy(truth).page("a.de", "", BODY)
    page = gzip.decompress(gzipped(parts))
    assert page == b"".join(part.plain for part in parts)
    assert (page.count(b"<a "), page.count(b'href="/b?c&amp;d"')) == (121, 1)
    assert page.index(b"<style>") < page.index(b"</head>") < page.index(b"<li>")
    assert page.endswith(b"</body>")
    assert mean(KB) == 240
    assert median(KB) == 116


def test_processor_time_counts_the_processes_that_nobody_waits_for() -> None:
    program = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ours, theirs = os.pipe()
if os.fork():
    os.close(theirs)
    os.read(ours, 1)
else:
    while time.process_time() < 0.2: pass
    time.sleep(0.3)
"""
    spent = processor_s([sys.executable, "-c", program])
    assert spent >= 0.2


def test_a_page_costs_the_difference_of_two_crawls_and_the_rest_is_the_start() -> None:
    page_ms, start_s = cost(Crawled(4000, 20.0, 14.0), Crawled(1000, 6.0, 5.0))
    assert (round(page_ms, 6), round(start_s, 6)) == (3.0, 2.0)
