"""Memory of a long crawl: of its process, and of its page readers.

    python -m benchmarks.run --only memory

Crawls a generated web from the home pages of all hosts; a page has about 30 links. URLs in other
languages do not wait, because no web of this kind has 100,000 pages in one language. The resident
memory of each process is sampled every second. The claim: after the first fifth of the crawl,
memory grows little.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import proxyweb
from benchmarks.claim import Claim
from benchmarks.crawling import ROOT, children
from benchmarks.speed import home_pages

HOSTS: Final = 36_000
"""With 10 pages of a host, enough for 100,000 pages."""

MOST_MB: Final = 1500.0
"""Of the crawl's process at its end, for 100,000 pages."""


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process; 0 if it has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0.0
    return int(pages) * os.sysconf("SC_PAGESIZE") / 1e6


def descendants(pid: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    return [found for child in children(pid) for found in (child, *descendants(child))]


def curves(pages: int, *, is_heavy: bool) -> tuple[list[float], list[float]]:
    """Crawl; return the memory of the crawl's process and of its largest other one, by second."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            proxyweb.serve(folder / "web", seed=1, hosts=HOSTS) as served,
            proxyweb.fronted(served, is_heavy=True) if is_heavy else nullcontext(served) as web,
        ):
            seeds = home_pages(web, HOSTS, folder / "seeds.txt")
            arguments = ("lang=de", f"seeds={seeds}", f"pages={pages}")
            command = proxyweb.command_of(folder / "run", *arguments, LANGFOCUS_PATIENCE=0)
            with subprocess.Popen(command, cwd=ROOT, env=web.environment) as crawl:
                own, others = [], []
                while crawl.poll() is None:
                    own.append(resident_mb(crawl.pid))
                    others.append(max(map(resident_mb, descendants(crawl.pid)), default=0.0))
                    time.sleep(1)
    return own, others


def claims(pages: int, *, is_heavy: bool = False) -> Iterator[Claim]:
    """Yield the greatest memory, and how much it grew after the first fifth."""
    proxyweb.require()
    what = f"{pages:,} pages of 240 KB" if is_heavy else f"{pages:,} pages"
    found = curves(pages, is_heavy=is_heavy)
    for name, curve in zip(("crawl", "largest reader"), found, strict=True):
        fifth = max(1, len(curve) // 5)
        grown = median(curve[-fifth:]) - median(curve[fifth : 2 * fifth])
        yield Claim(f"memory of the {name}, {what}", [max(curve)], "MB")
        yield Claim(f"memory of the {name}, grown after a fifth", [grown], "MB")
        if name == "crawl":
            yield Claim(
                f"memory of the {name}, left of {MOST_MB:g}", [MOST_MB - max(curve)], "MB", 0
            )
