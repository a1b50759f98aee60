"""The spider of the guide that fills a search index: no settled page is missing after a kill."""

import json
import re
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from benchmarks.servers import processes
from tests.crawler.spiders.test_own_spiders import line, plain_environment, ran
from tests.support.crawls import ROOT, rows

GUIDE = (ROOT / "docs" / "spiders.md").read_text("utf-8")
SPIDER = next(code for code in re.findall(r"(?ms)^```python\n(.*?)^```", GUIDE) if "_bulk" in code)
STUCK = 4


@dataclass
class BulkStub:
    """An index that speaks the bulk protocol of OpenSearch.

    The first request gets 429. In the second, every other document gets 429, and the first one 400,
    for ever. A later request gets no answer before `released`.
    """

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    requests: int = 0
    refused: str = ""
    is_stuck: Event = field(default_factory=Event)
    released: Event = field(default_factory=Event)

    def answer(self, path: str, kind: str, body: bytes) -> tuple[int, dict[str, Any]]:
        self.requests += 1
        number = self.requests
        if (path, kind, body[-1:]) != ("/pages/_bulk", "application/x-ndjson", b"\n"):
            self.faults.append(f"{path} {kind}")
        if number == 1:
            return 429, {}
        if number == STUCK and not self.released.is_set():
            self.is_stuck.set()
            self.released.wait()
            return 503, {}
        read = [json.loads(text) for text in body.splitlines()]
        items = []
        for place, (action, document) in enumerate(zip(read[::2], read[1::2], strict=True)):
            key, status = action["index"]["_id"], 201
            if number == 2:
                self.refused, status = self.refused or key, 429 if place % 2 else 201
            if key == self.refused:
                status = 400
            self.sent[key] += 1
            if status == 201:
                self.documents[key] = document
            items.append({"index": {"_id": key, "status": status}})
        return 200, {"errors": number == 2, "items": items}


@pytest.fixture
def stub() -> Iterator[tuple[BulkStub, str]]:
    index = BulkStub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = index.answer(self.path, self.headers["Content-Type"], body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                """The crawl was killed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield index, f"http://127.0.0.1:{server.server_port}/pages"
        index.released.set()
        server.shutdown()
        thread.join()


def test_a_killed_and_continued_crawl_leaves_no_settled_page_out_of_the_index(
    tmp_path: Path, stub: tuple[BulkStub, str]
) -> None:
    index, url = stub
    (tmp_path / "indexed.py").write_text(SPIDER)
    given = {
        "JOBDIR": tmp_path / "run",
        "LANGFOCUS_SAMPLE_HOSTS": 300,
        "LOG_LEVEL": "ERROR",
        "LOG_FILE": "log",
    }
    given |= {
        "CONCURRENT_REQUESTS": 16,
        "LANGFOCUS_WARC": False,
        "LANGFOCUS_QUIET": True,
        "DOWNLOAD_DELAY": 0,
    }
    arguments = ("lang=de", "web=sample", "pages=50", f"index_url={url}")
    more = [word for one in arguments for word in ("-a", one)]
    words = line("runspider", tmp_path / "indexed.py", given, *more)
    with processes.started(*words, environment=plain_environment(), folder=tmp_path) as one:
        processes.wait_until(index.is_stuck.is_set, one)
        one.send_signal(signal.SIGKILL)
        one.wait()
    index.released.set()
    of_run = "SELECT url, language FROM pages WHERE language = 'de' AND status = 200"
    before = rows(tmp_path / "run", of_run)
    done = ran(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    settled = rows(tmp_path / "run", of_run)
    assert 0 < len(before) < len(settled)
    keys = {sha256(url.encode()).hexdigest(): url for url, _ in settled}
    assert keys.keys() - index.documents.keys() == {index.refused}
    assert f"{index.refused}: status 400" in (tmp_path / "log").read_text()
    assert all(
        key == sha256(one["url"].encode()).hexdigest() for key, one in index.documents.items()
    )
    assert all(one["language"] == "de" and "text" in one for one in index.documents.values())
    assert index.sent[index.refused] == 1 < max(index.sent.values())
    assert index.faults == []
