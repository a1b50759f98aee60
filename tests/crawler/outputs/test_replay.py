"""pywb and Chromium show an archived page as they show the page itself.

pywb is found on the path, or in the folder that LANGFOCUS_PYWB names.
"""

import os
import shutil
import struct
import subprocess
import urllib.request
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from benchmarks.servers.loopback import free_port, loopback
from benchmarks.servers.processes import wait_until
from langfocus.crawler.sources.contract import NO_HEADERS, Answer
from tests.support.crawls import finished
from tests.support.smallweb import SENTENCES

CHROMIUM = shutil.which("chromium")
PYWB = shutil.which("wayback", path=os.environ.get("LANGFOCUS_PYWB", os.environ["PATH"]))
SITE, CDN = "http://site.example.de/", "http://cdn.example.net/"


def png(*colour: int) -> bytes:
    """Return a square of one colour."""
    rows = zlib.compress(b"".join(b"\0" + bytes(colour) * 40 for _ in range(40)))
    head = struct.pack(">IIBBBBB", 40, 40, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


PAGE = f"""<!doctype html><html lang=de><meta charset=utf-8><link rel=stylesheet href=a.css>
<p>{SENTENCES["de"] * 3}</p><img src=red.png><img srcset="{CDN}green.png 1x">
<div style="background: url(blue.png)"></div><iframe src=frame.html></iframe>
<script src=a.js></script>"""
FILES = {
    SITE: ("text/html", PAGE.encode()),
    f"{SITE}a.css": ("text/css", b"@import 'b.css'; body { background: #eee url(grey.png) }"),
    f"{SITE}b.css": ("text/css", b"p { color: #306 } div { width: 40px; height: 40px }"),
    f"{SITE}a.js": ("text/javascript", b"document.body.append('JS', new Image(9, 9))"),
    f"{SITE}frame.html": ("text/html", b"<body style='background: #fc0'><img src=in.png>"),
    f"{SITE}red.png": ("image/png", png(200, 0, 0)),
    f"{SITE}blue.png": ("image/png", png(0, 0, 200)),
    f"{SITE}grey.png": ("image/png", png(220, 220, 250)),
    f"{SITE}in.png": ("image/png", png(9, 99, 9)),
    f"{CDN}green.png": ("image/png", png(0, 200, 0)),
}


class SiteWeb:
    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        kind, body = FILES.get(url, ("", b""))
        return Answer(200, (("Content-Type", kind),), body) if kind else Answer(404)


def picture(url: str, folder: Path, *flags: str) -> bytes:
    """Return the screenshot of a page."""
    line = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *("--window-size=500,500", "--virtual-time-budget=5000", "--no-proxy-server"),
        *(f"--user-data-dir={folder / 'profile'}", f"--screenshot={folder / 'a.png'}"),
    ]
    subprocess.run([*line, *flags, url], check=True, capture_output=True, timeout=60)
    return (folder / "a.png").read_bytes()


@contextmanager
def replayed(runs: Mapping[str, Path], folder: Path) -> Iterator[str]:
    """Yield the address of a pywb with a collection for each run."""
    lines = ["framed_replay: false", "collections:"]
    for name, run in runs.items():
        lines += [f"  {name}:", f"    archive_paths: {run}/", f"    index_paths: {run}/index.cdxj"]
    (folder / "config.yaml").write_text("\n".join([*lines, ""]))
    (folder / "templates").mkdir()
    (folder / "templates" / "banner.html").write_text("")
    port = free_port()
    pywb = subprocess.Popen(
        [str(PYWB), "-p", str(port), "-b", "127.0.0.1"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        with suppress(OSError):
            urllib.request.urlopen(address).close()
            return True
        return False

    try:
        wait_until(answers)
        yield address
    finally:
        pywb.kill()
        pywb.wait()


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.skipif(PYWB is None, reason="needs pywb: LANGFOCUS_PYWB=FOLDER has its command")
def test_a_replayed_page_looks_like_the_page_only_with_its_files(tmp_path: Path) -> None:
    settings = {"DOWNLOAD_DELAY": 0.01, "CONCURRENT_REQUESTS": 2}
    runs = {name: tmp_path / name for name in ("with", "without")}
    with loopback(SiteWeb()) as proxy:
        for name, run in runs.items():
            embeds = f"embeds={name == 'with'}"
            finished("lang=de", f"seeds={SITE}", embeds, proxy=proxy.url, JOBDIR=run, **settings)
        here = f"--host-resolver-rules=MAP * 127.0.0.1:{proxy.port}"
        original = picture(SITE, tmp_path, here)
    with replayed(runs, tmp_path) as address:
        shown = {name: picture(f"{address}/{name}/mp_/{SITE}", tmp_path) for name in runs}
    assert shown["with"] == original
    assert shown["without"] != original
