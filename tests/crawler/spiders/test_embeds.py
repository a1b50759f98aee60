"""With `-a embeds=true` a crawl archives the files that its pages embed, politely and once."""

import gzip
import shutil
import signal
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.servers.loopback import Access, loopback
from benchmarks.servers.processes import HANG_S
from langfocus.command_line import main
from langfocus.crawler.sources.contract import NO_HEADERS, Answer
from tests.support.crawls import finished, rows, started, summary, wait_for
from tests.support.smallweb import SENTENCES

SITE, CDN = "http://site.example.de/", "http://cdn.example.net/"
DELAY_S = 0.03
MOST_BYTES = 100_000


def page(lang: str, body: str) -> bytes:
    return f"<html><body><p>{SENTENCES[lang] * 3}</p>{body}</body></html>".encode()


def img(*names: str) -> str:
    return "".join(f"<img src='{name}'>" for name in names)


HOME = f"""<link rel=stylesheet href=a.css>{img("logo")}<iframe src=frame.html></iframe>
<img srcset="{CDN}green.png 1x, small.png 2x" style="background:url(data:image/png;base64,x)">
{
    img(
        "red.png",
        "loop1",
        "to-private",
        "denied/x.png",
        "gone.png",
        "large.bin",
        "soft",
        "kept-out.png",
        "busy.png",
        "bomb.css",
        "http://blocked.example/x.png",
        "to-cdn",
    )
}
<a href=two.html>zwei</a><a href=en.html>en</a>"""
PNG, CSS, HTML = "image/png", "text/css", "text/html; charset=utf-8"


def answer(kind: str, body: bytes, *more: tuple[str, str], status: int = 200) -> Answer:
    return Answer(status, (("Content-Type", kind), *more), body)


def to(url: str) -> Answer:
    return answer(PNG, b"", ("Location", url), status=302)


FILES = {
    "robots.txt": answer("text/plain", b"User-agent: *\nDisallow: /denied/"),
    "": answer(HTML, page("de", HOME)),
    "two.html": answer(
        HTML, page("de", f"Zwei {img('red.png', 'two.png')}<a href=3.html>drei</a>")
    ),
    "3.html": answer(HTML, page("de", "Drei <a href=4.html>vier</a>")),
    "4.html": answer(HTML, page("de", "Vier <a href=logo>Logo</a>")),
    "en.html": answer(HTML, page("en", img("never.png"))),
    "frame.html": answer(HTML, page("fr", img("in-frame.png"))),
    "soft": answer(HTML, page("en", img("never.png"))),
    "a.css": answer(CSS, b"@import 'b.css'; p { background: url(bg.png) }"),
    "b.css": answer(CSS, b"@import url(a.css); @font-face { src: url(font.woff) }"),
    "bomb.css": answer(CSS, gzip.compress(bytes(60_000_000), 1), ("Content-Encoding", "gzip")),
    "loop1": to("/loop2"),
    "loop2": to("/loop1"),
    "to-private": to("http://10.0.0.1/x.png"),
    "to-cdn": to(f"{CDN}moved.png"),
    "large.bin": answer(PNG, bytes(MOST_BYTES + 1)),
    "kept-out.png": answer(PNG, b"secret", ("X-Robots-Tag", "noarchive")),
}
PICTURES = "red small two bg in-frame green moved never".split()
NAMES = ("logo", "font.woff", *(f"{one}.png" for one in PICTURES))


class EmbeddingWeb:
    """German pages and their files on two hosts; a file is busy at first."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        self.asked[url] += 1
        name = url.removeprefix(SITE).removeprefix(CDN)
        if name == "busy.png":
            return answer(PNG, b"busy", status=503 if self.asked[url] == 1 else 200)
        if name in NAMES:
            return answer(PNG, b"\x89PNG" + name.encode())
        return FILES.get(name) or answer("text/plain", b"none", status=404)


class Crawled(NamedTuple):
    folder: Path
    sessions: tuple[list[Access], list[Access]]
    embeds: dict[str, str | None]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """A crawl that was killed among its files, and ended by the same command."""
    folder = tmp_path_factory.mktemp("embeds")
    (folder / "block.txt").write_text("blocked.example\n")
    block = f"block={folder / 'block.txt'}"
    arguments = ("lang=de", "strategy=bfs", f"seeds={SITE}", "embeds=true", "host_cap=9", block)
    settings = {
        **{"JOBDIR": folder / "run", "DOWNLOAD_DELAY": DELAY_S, "LANGFOCUS_RETRY_DELAY": 0.1},
        **{"LANGFOCUS_EMBED_BYTES": MOST_BYTES, "CONCURRENT_REQUESTS": 1},
    }
    with loopback(EmbeddingWeb(), answers=12) as proxy:
        with started(*arguments, proxy=proxy.url, **settings) as process:
            wait_for(proxy, 12, process)
            process.send_signal(signal.SIGKILL)
            assert process.wait(HANG_S) == -signal.SIGKILL
        killed_at, proxy.answers = len(proxy.log), None
        finished(*arguments, proxy=proxy.url, **settings)
        log = list(proxy.log)
    embeds = dict(rows(folder / "run", "SELECT url, outcome FROM embeds"))
    return Crawled(folder / "run", (log[:killed_at], log[killed_at:]), embeds)


def test_each_file_of_a_relevant_page_has_one_outcome(crawled: Crawled) -> None:
    fetched = "a.css b.css bg.png font.woff small.png red.png logo loop1 loop2 to-private busy.png"
    fetched += " to-cdn two.png in-frame.png"
    assert crawled.embeds == {
        **{SITE + name: "fetched" for name in fetched.split()},
        **{CDN + name: "fetched" for name in ("green.png", "moved.png")},
        **{SITE + name: "frame" for name in ("frame.html", "soft")},
        SITE + "denied/x.png": "robots",
        SITE + "gone.png": "error_status",
        SITE + "large.bin": "too_large",
        SITE + "bomb.css": "too_large",
        SITE + "kept-out.png": "noarchive",
        "http://10.0.0.1/x.png": "private_address",
        "http://blocked.example/x.png": "blocked",
    }


def test_a_kill_loses_no_file_and_repeats_none_but_those_in_progress(crawled: Crawled) -> None:
    kept = Counter(url for (url,) in rows(crawled.folder, "SELECT url FROM archived"))
    archived = {url for url, outcome in crawled.embeds.items() if outcome == "fetched"}
    assert archived <= set(kept)
    # An HTML file was also fetched as a page.
    assert {url for url, n in kept.items() if n > 1} <= {SITE + name for name in ("frame.html",)}
    for part in crawled.sessions:
        asked = Counter(access.url for access in part)
        assert [url for url, n in asked.items() if url in archived and n > 1] in (
            [],
            [f"{SITE}busy.png"],
        )


def test_files_keep_the_delay_of_their_host_with_the_pages(crawled: Crawled) -> None:
    for part in crawled.sessions:
        for host in {access.host for access in part}:
            of_host = [access for access in part if access.host == host]
            assert all(b.time - a.ended >= DELAY_S for a, b in pairwise(of_host))


def test_files_count_for_no_page_no_cap_and_no_rate(crawled: Crawled) -> None:
    facts = summary(crawled.folder)
    assert facts["outcomes"] == {"page": 6, "embedded": 1}
    assert facts["pages"] == 6
    assert facts["relevant"] == 4


def test_reports_count_files_and_bytes(crawled: Crawled) -> None:
    facts = summary(crawled.folder)
    assert facts["embeds"] == dict(Counter(crawled.embeds.values()).most_common())
    report = (crawled.folder / "report.html").read_text("utf-8")
    assert " Embedded files: 18 of 25 fetched (" in report


def test_a_take_down_removes_files(crawled: Crawled, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(crawled.folder, folder)
    assert main(["takedown", str(folder), "cdn.example.net"]) == 0
    left = rows(folder, "SELECT url FROM embeds UNION SELECT url FROM archived")
    assert left
    assert not [url for (url,) in left if url.startswith(CDN)]
