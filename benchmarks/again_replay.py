"""Pages that answered 304 are replayed from the earlier run, by us and by pywb.

    python -m benchmarks.again_replay [--pywb FOLDER]

Crawls a local web whose pages have an ETag, lets a fifth of the pages change, and crawls it again
with `-a since=`; both crawls keep WARC files. Then each page of the second run is asked for at the
time of that run, in our replay and, if `--pywb` is the folder `bin` of an environment that has
pywb, in a collection of pywb with the files of both runs. The body must be the one that the page
had at that time. pywb replays the answer 304 itself, without a body, so it is asked a second time
without the 304s in its index; it then takes the nearest record of the page. Prints one JSON line;
exit code 1 if a body is wrong in our replay or in the second one of pywb.
"""

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from crawler.sources.archive import ArchiveWeb
from crawler.sources.contract import NO_HEADERS, Answer
from tests.support.crawls import crawl, rows
from tests.support.loopback import loopback
from tests.support.smallweb import SmallWeb

_START_S = 60.0


@dataclass
class ChangingWeb:
    """A small web whose pages have an ETag; after `change` each fifth page is another."""

    pages: SmallWeb = field(default_factory=lambda: SmallWeb(pages=100))
    has_changed: bool = False

    def body(self, url: str) -> bytes:
        """Return the body that a page has now."""
        number = int(url.rpartition("/")[2])
        is_new = self.has_changed and number % 5 == 0
        return self.pages.respond(url).body + (b"<!-- changed -->" if is_new else b"")

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return a page, or 304 for one that the client has."""
        if url.endswith("/robots.txt"):
            return self.pages.respond(url)
        body = self.body(url)
        etag = f'"{len(body)}"'
        if headers.get("if-none-match") == etag:
            return Answer(304, (("ETag", etag),))
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"), ("ETag", etag)), body)


def crawled(web: ChangingWeb, folder: Path, since: Path | None = None) -> Path:
    """Crawl all pages into a folder with WARC files."""
    arguments = ["lang=de", "strategy=bfs", "host_cap=0", f"seeds={web.pages.url(0)}"]
    arguments += [] if since is None else [f"since={since}"]
    with loopback(web) as proxy:
        done = crawl(
            *arguments, proxy=proxy.url, JOBDIR=folder, DOWNLOAD_DELAY=0.01, LANGFOCUS_WARC=True
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return folder


def collect(programs: Path, folder: Path, runs: list[Path]) -> None:
    """Make a collection of pywb, named c, from the WARC files of runs."""
    add = [str(programs / "wb-manager"), "add", "c"]
    files = [str(path) for run in runs for path in sorted(run.glob("pages-*"))]
    for line in ([*add[:1], "init", "c"], [*add, *files]):
        subprocess.run(line, cwd=folder, check=True, capture_output=True)


def leave_out_304(folder: Path) -> None:
    """Remove the answers 304 from the index: pywb gives no digest to them alone."""
    index = folder / "collections" / "c" / "indexes" / "index.cdxj"
    lines = index.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = (line for line in lines if '"warc/revisit"' not in line or '"digest"' in line)
    index.write_text("".join(kept), encoding="utf-8")


@contextmanager
def wayback(programs: Path, folder: Path) -> Iterator[str]:
    """Serve the collection; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = [str(programs / "wayback"), "-p", str(port), "-b", "127.0.0.1"]
    with subprocess.Popen(
        line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/")
            yield f"http://127.0.0.1:{port}/c"
        finally:
            server.terminate()


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        try:
            with urlopen(address):  # an address of this machine
                return
        except URLError:
            time.sleep(0.2)
    raise RuntimeError(f"pywb did not start within {_START_S:.0f} s")


def replayed(collection: str, url: str, second: str) -> bytes:
    """Return the body that pywb gives for a page at a time, b"" for an error."""
    try:
        with urlopen(f"{collection}/{second}id_/{url}") as answer:
            return bytes(answer.read())
    except HTTPError:
        return b""


def judge(web: ChangingWeb, runs: list[Path]) -> dict[str, Any]:
    """Compare our replay of the pages of the last run with the pages."""
    ours = ArchiveWeb(",".join(str(run) for run in reversed(runs)))
    pages = _pages(runs[-1])
    return {
        "pages": len(pages),
        "answers_304": sum(status == 304 for _, status in pages),
        "wrong": [url for url, _ in pages if ours.respond(url).body != web.body(url)],
    }


def judge_pywb(web: ChangingWeb, run: Path, collection: str) -> list[str]:
    """Return the pages of the last run that pywb replays with another body."""
    times = dict(_times(run))
    return [url for url, _ in _pages(run) if replayed(collection, url, times[url]) != web.body(url)]


def _pages(run: Path) -> list[tuple[str, int]]:
    return rows(run, "SELECT url, status FROM pages WHERE outcome IN ('page', 'unchanged')")


def _times(run: Path) -> Iterator[tuple[str, str]]:
    """Yield the URLs of a run and the second of their records as wayback machines write it."""
    for url, date in rows(run, "SELECT url, date FROM archived"):
        yield url, "".join(filter(str.isdigit, date))[:14]


def main() -> int:
    """Print the JSON line; 1 if a body is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pywb", type=Path, help="folder with the programs of pywb")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, web = Path(name), ChangingWeb()
        first = crawled(web, folder / "first")
        web.has_changed = True
        runs = [first, crawled(web, folder / "second", first)]
        told = judge(web, runs)
        if arguments.pywb is not None:
            programs = arguments.pywb.resolve()
            collect(programs, folder, runs)
            with wayback(programs, folder) as collection:
                told["without_body_by_pywb"] = len(judge_pywb(web, runs[-1], collection))
            leave_out_304(folder)
            with wayback(programs, folder) as collection:
                told["wrong_by_pywb"] = judge_pywb(web, runs[-1], collection)
    print(json.dumps({"date": time.strftime("%Y-%m-%d"), **told}))
    return int(bool(told["wrong"] or told.get("wrong_by_pywb")))


if __name__ == "__main__":
    sys.exit(main())
