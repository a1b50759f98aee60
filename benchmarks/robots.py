"""Memory and time of robots.txt files, compared with Protego, Scrapy's own parser.

The claim: a hundred files of 512 KB take at most 16 MiB and what one file costs; Protego's parsed
rules for the same files take gigabytes. A question to an ordinary file takes microseconds.

Each file is read in a process of its own, which then keeps the rules of `--origins` origins, as a
crawl does, and reports how far its memory grew. Prints one JSON line for each kind of file.
`--files FOLDER` also asks both about the real robots.txt files in a folder, such as the test data
of Protego's source package, and counts and lists the answers that differ.

    python -m benchmarks.robots --origins 100
    python -m benchmarks.robots --files protego-0.7.0/tests/test_data
"""

import argparse
import json
import multiprocessing
import random
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from protego import Protego

from crawler.frontier.base import KeptRobots
from crawler.politeness.robots import MAX_ROBOTS_BYTES, Robots
from crawler.politeness.robots_rules import rules_for

BOTS = ("langfocus", "bingbot", "MJ12bot")
QUESTIONS = 20
HEAD = b"User-agent: *\n"
PATH = "/some/ordinary/path-of-a-page.html?with=query"

KINDS = {
    "short rules": b"".join(b"Disallow:/%x\n" % number for number in range(40_000)),
    "long rules": b"".join(b"Disallow: /%0100d/\n" % number for number in range(5_000)),
    "wildcards": b"".join(b"Disallow: /*%x*p*e$\n" % number for number in range(30_000)),
    "one rule of wildcards": b"Disallow: " + b"/*p" * 170_000,
    "escapes": "".join(f"Disallow:/ツ{number}%61\n" for number in range(25_000)).encode(),
    "groups": b"".join(b"User-agent: b%d\nDisallow: /\n" % number for number in range(20_000)),
    "ordinary": b"".join(b"Disallow: /folder%d/\n" % number for number in range(30)),
}


class Nowhere:
    """A store that forgets everything, as if each file had been fetched just now."""

    def robots(self, origin: str) -> KeptRobots | None:
        """Return None."""

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Do nothing."""

    def set_delay(self, host: str, delay_s: float) -> None:
        """Do nothing."""


def ours(body: bytes, origins: int) -> dict[str, float]:
    """Return milliseconds and megabytes of our rules for that number of origins."""
    robots = Robots(Nowhere(), "langfocus")

    def keep(number: int) -> Callable[[str], object]:
        robots.keep(f"http://{number}.de/", 200, body, 0.0)
        return lambda path: robots.verdict(f"http://{number}.de{path}", 1.0)

    return measured(keep, origins)


def protegos(body: bytes, origins: int) -> dict[str, float]:
    """Return milliseconds and megabytes of Protego's rules for that number of origins."""
    kept = []

    def keep(number: int) -> Callable[[str], object]:
        text = body[:MAX_ROBOTS_BYTES].decode("utf-8-sig", "replace")
        kept.append(Protego.parse(text))
        return lambda path: kept[-1].can_fetch(f"http://{number}.de{path}", "langfocus")

    return measured(keep, origins)


def measured(keep: Callable[[int], Callable[[str], object]], origins: int) -> dict[str, float]:
    """Return the least time of a file and of a question, and the growth of this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read_s, asked_s = [], []
    for number in range(origins):
        began = time.process_time()
        ask = keep(number)
        read_s.append(time.process_time() - began)
        began = time.process_time()
        ask(PATH)
        asked_s.append(time.process_time() - began)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "read_ms": round(1e3 * min(read_s), 3),
        "asked_ms": round(1e3 * min(asked_s), 3),
        "grown_mb": round(grown / 1024, 1),
    }


def compared(kind: str, origins: int) -> dict[str, object]:
    """Return the figures of both for one kind of file, each from a new process."""
    spawn = multiprocessing.get_context("spawn")
    body = HEAD + KINDS[kind]
    told: dict[str, object] = {"kind": kind, "bytes": len(body), "origins": origins}
    for who in (ours, protegos):
        with spawn.Pool(1) as pool:
            told[who.__name__] = pool.apply(who, (body, origins))
    return told


def questions(text: str, chance: random.Random) -> list[str]:
    """Return URLs that the rules of a file are about, and some others."""
    rules = re.findall(r"(?im)^\s*(?:dis)?allow\s*:\s*([/*][^\s#]*)", text)
    chance.shuffle(rules)
    paths = ["/", "/index.html", "/a/b/c.html?x=1"]
    for rule in rules[:QUESTIONS]:
        path = "/" + rule.replace("*", "xx").rstrip("$").lstrip("/")
        paths += [path, f"{path}foo", f"{path}?a=b", f"/x{path}"]
    return [f"http://a.de{path}" for path in paths]


def differences(file: Path, chance: random.Random) -> Iterator[tuple[str, str, str, bool]]:
    """Yield file, bot, URL and whether the answers differ."""
    body = file.read_bytes()
    text = body.decode("utf-8-sig", "replace")
    theirs = Protego.parse(text)
    urls = questions(text, chance)
    for bot in BOTS:
        rules = rules_for(bot, body)
        for url in urls:
            yield file.name, bot, url, rules.allows(url) != theirs.can_fetch(url, bot)


def compare_files(folder: Path, most: int) -> dict[str, object]:
    """Return the number of questions and, for each file, of answers that differ."""
    chance = random.Random(0)
    files = sorted(path for path in folder.iterdir() if path.is_file())
    files = chance.sample(files, min(most, len(files)))
    asked, other = 0, Counter[str]()
    for file in files:
        for name, bot, url, differs in differences(file, chance):
            asked += 1
            if differs:
                other[name] += 1
                sys.stderr.write(f"{name}\t{bot}\t{url}\n")
    return {"files": len(files), "asked": asked, "differ": sum(other.values()), "in": dict(other)}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--origins", type=int, default=100)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS)
    parser.add_argument("--files", type=Path)
    parser.add_argument("--most", type=int, default=10_000)
    given = parser.parse_args()
    if given.files:
        print(json.dumps(compare_files(given.files, given.most)))
        return
    for kind in given.kinds:
        print(json.dumps(compared(kind, given.origins)), flush=True)


if __name__ == "__main__":
    main()
