"""Memory of a crawl on a Web that attacks it, for minutes, with a limited address space.

The claim: the memory of a crawl does not grow with the number of hosts, robots.txt files and names
that a hostile Web shows it, and the healthy hosts beside them are crawled. Four kinds of hosts:

- 20 farms: every name of a registered domain answers, with links to 30 more of its names and to
  other farms; half of the farms write German, so their pages earn them slots without end;
- 20 robots farms: the same, and each host has a robots.txt of 512 KB with rules of its own;
- blackholes: domains whose name server never answers; every page links to ten of their names;
- healthy hosts: ten pages each, linked from the first page.

The crawl has its default caps. It has `--address-space-mb` as its limit (RLIMIT_AS). The command
samples its resident memory each second, writes the curve as TSV, and prints one JSON line.

    python -m benchmarks.hostile_memory --seconds 600 --curve curve.tsv
"""

import argparse
import asyncio
import hashlib
import json
import multiprocessing
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.crawls import command, environment
from tests.support.nameserver import name_server
from tests.support.smallweb import SENTENCES

HEALTHY_HOSTS = 200
HEALTHY_PAGES = 10
NAMES_PER_PAGE = 30
FARMS_PER_PAGE = 3
FARMS = 20
BLACKHOLES_PER_PAGE = 10
BLACKHOLE = "hole.de"
PORTAL = "portal.de"
WORD = "seite"
ROBOTS_BYTES = 512 * 1024
WRITTEN = {False: SENTENCES["en"], True: SENTENCES["de"]}


class Everywhere(Mapping[str, str]):
    """The address of any name: names of one registered domain share one."""

    def __getitem__(self, name: str) -> str:
        digest = hashlib.sha256(".".join(name.split(".")[-2:]).encode()).digest()
        return f"127.{digest[0]}.{digest[1]}.{digest[2] % 250 + 1}"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def number(text: str) -> int:
    """A number that follows from a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def domain_number(host: str) -> int:
    """The number of a domain, which tells its kind: a farm, a robots farm or healthy.

    All domains have the same word, so that the URL model prefers none.
    """
    return int(host.split(".")[-2].removeprefix(WORD))


def is_healthy(host: str) -> bool:
    """Return True for the hosts beside the farms."""
    domain = host.split(".")[-2]
    return domain.startswith(WORD) and domain_number(host) >= 2 * FARMS


def page(host: str, path: str, port: int) -> str:
    """The page of a URL."""
    here = number(host + path)
    healthy = host != PORTAL and is_healthy(host)
    if host == PORTAL:
        links = [f"n.{WORD}{2 * FARMS + n}.de" for n in range(HEALTHY_HOSTS)]
        links += [f"n.{WORD}{n}.de" for n in range(2 * FARMS)]
    elif healthy:
        links = [f"{host}:{port}/{n}" for n in range(1, HEALTHY_PAGES)]
    else:
        domain = host.partition(".")[2]
        first = FARMS if domain_number(host) >= FARMS else 0
        links = [f"n{here + n}.{domain}" for n in range(NAMES_PER_PAGE)]
        links += [f"n.{WORD}{first + (here + n) % FARMS}.de" for n in range(FARMS_PER_PAGE)]
    if not healthy:
        links += [f"d{n}.m{here + n}-{BLACKHOLE}" for n in range(BLACKHOLES_PER_PAGE)]
    addresses = [link if "/" in link else f"{link}:{port}/" for link in links]
    german = host == PORTAL or healthy or domain_number(host) % 2 == 0
    text = "<p>".join(f"{WRITTEN[german]} {here}" for _ in range(5))
    return text + "".join(f"<a href='http://{address}'>x</a>" for address in addresses)


def robots(host: str) -> str:
    """A large robots.txt with rules of its own, for hosts of robots farms."""
    if host == PORTAL or not FARMS <= domain_number(host) < 2 * FARMS:
        return ""
    rules, rule = ["User-agent: *"], number(host)
    while len(rules) * 20 < ROBOTS_BYTES:
        rules.append(f"Disallow: /{rule + len(rules):x}")
    return "\n".join(rules)


def serve(told: Connection, seconds: float) -> None:
    """Answer for every host, on every loopback address."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1]
            lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            host, _, port = lines["Host"].partition(":")
            is_robots = path == "/robots.txt"
            body = (robots(host) if is_robots else page(host, path, int(port))).encode()
            kind = b"text/plain" if is_robots else b"text/html"
            writer.write(
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: %s\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (kind, len(body), body)
            )
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the crawl went away
        finally:
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(connection, "0.0.0.0", 0, backlog=1000)
        told.send(server.sockets[0].getsockname()[1])
        await asyncio.sleep(seconds)

    asyncio.run(run())


@contextmanager
def hostile_web(seconds: float) -> Iterator[int]:
    """Serve the web in a process of its own; the value is its port."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(theirs, seconds), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.kill()
        process.join()


def resident_mb(pid: int) -> float:
    """Resident memory of a process, in MB; 0 when it has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0.0
    return int(pages) * resource.getpagesize() / 1e6


def watched(process: subprocess.Popen[bytes], seconds: float) -> list[float]:
    """Sample the memory of a crawl each second; end it after `seconds`, as Ctrl-C does."""
    curve, began = [], time.monotonic()
    while process.poll() is None and time.monotonic() - began < seconds:
        curve.append(round(resident_mb(process.pid), 1))
        time.sleep(1)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.wait(120)
    return curve


def outcomes(folder: Path) -> dict[str, object]:
    """What became of the URLs, and how many healthy pages there are among them."""
    with sqlite3.connect(folder / "run.db") as run:
        rows = run.execute("SELECT url, outcome FROM pages").fetchall()
    counts: dict[str, int] = {}
    hosts = {urlsplit(url).hostname or "" for url, _ in rows}
    for _, outcome in rows:
        counts[outcome] = counts.get(outcome, 0) + 1
    healthy = sum(
        outcome == "page" and is_healthy(urlsplit(url).hostname or "") for url, outcome in rows
    )
    return {"outcomes": counts, "hosts": len(hosts), "healthy_pages": healthy}


def measure(seconds: float, address_space_mb: int) -> tuple[dict[str, object], list[float]]:
    """Crawl the web; the result, and the curve of memory in MB, one value a second."""
    limit = address_space_mb * 1_000_000
    with (
        tempfile.TemporaryDirectory() as name,
        hostile_web(seconds + 300) as port,
        name_server(Everywhere(), BLACKHOLE) as names,
    ):
        folder = Path(name) / "run"
        line = command(
            "lang=de",
            f"seeds=http://{PORTAL}:{port}/",
            JOBDIR=folder,
            LANGFOCUS_DNS=names.address,
            LANGFOCUS_PRIVATE_ADDRESSES=True,
            LOG_LEVEL="ERROR",
        )
        log = Path(name) / "log"
        with log.open("wb") as file:
            crawl = subprocess.Popen(line, env=environment(None), stdout=file, stderr=file)
            resource.prlimit(crawl.pid, resource.RLIMIT_AS, (limit, limit))
            curve = watched(crawl, seconds)
        if crawl.returncode not in (0, 130):
            print(log.read_text(encoding="utf-8", errors="replace")[-3000:])
        told = outcomes(folder)
        size_mb = (folder / "run.db").stat().st_size / 1e6
    half = curve[len(curve) // 2 :]
    return {
        "seconds": len(curve),
        "exit": crawl.returncode,
        "peak_mb": max(curve),
        "mb_each_minute": curve[60::60],
        "second_half_grew_mb": round(max(half) - half[0], 1),
        "run_db_mb": round(size_mb),
        "healthy_pages_there_are": HEALTHY_HOSTS * HEALTHY_PAGES,
        **told,
    }, curve


def main() -> None:
    """Print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--address-space-mb", type=int, default=2500)
    parser.add_argument("--curve", type=Path, help="write the curve here, as TSV")
    arguments = parser.parse_args()
    result, curve = measure(arguments.seconds, arguments.address_space_mb)
    if arguments.curve:
        rows = (f"{second}\t{size}" for second, size in enumerate(curve))
        arguments.curve.write_text("second\tresident_mb\n" + "\n".join(rows) + "\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
