"""The speed benchmark serves pages that weigh as much as real ones, and counts all processes."""

import gzip
import sys
from pathlib import Path
from statistics import mean, median

from benchmarks.crawling import Spent, spent
from benchmarks.heavy import KB, Heavy, gzipped
from benchmarks.speed import Crawled, crawled

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
    assert spent([sys.executable, "-c", program]).seconds[-1] >= 0.2


def test_a_page_is_measured_after_a_quarter_of_the_pages_and_the_start_before_a_request(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.tsv"
    rows = [f"{time}\t200\tpage" for time in range(10, 18)]
    log.write_text("\n".join(["time\tstatus\tkind", "8\t200\trobots", *rows, "9\t404\tpage"]))
    cpu = Spent([0.0, 8.0, 12.0, 17.0], [0.0, 2.0, 9.0, 9.5])
    assert crawled(log, cpu) == Crawled(pages=8, seconds=9.0, start_s=2.0, page_ms=100.0)
