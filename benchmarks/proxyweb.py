"""A multilingual web behind a loopback proxy, and its judge, for the other benchmarks.

A program outside of the project provides the web, the log and the judge. If it is missing, the
benchmarks say so and end. Nothing leaves the machine.

    python -m benchmarks.proxyweb PORT FOLDER [--heavy]

This program stands in front of the proxy at PORT and prints `ready PORT` of its own. It answers
CONNECT and speaks TLS for every host, with a certificate of its own making, kept in FOLDER. The
requests of a tunnel go on in plain HTTP. The links of an answer become `https:` links. With
`--heavy` pages have the weight of real ones, compressed (`benchmarks.heavy`).
"""

import asyncio
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.certificate import certificate
from benchmarks.crawling import ROOT, command, summary
from benchmarks.heavy import Heavy, gzipped

SHARED = ROOT.parent / "shared"
PROGRAM = SHARED / "bench" / "proxyweb.py"
URLS = SHARED / "data" / "urls" / "train.tsv.gz"
TEXTS = SHARED / "data" / "texts.tsv.gz"


@dataclass(frozen=True, slots=True)
class Served:
    """A running web on `port`; `folder` contains the files of its log and truth."""

    port: int
    folder: Path
    seeds: dict[str, list[str]]

    @property
    def address(self) -> str:
        """The address of the proxy."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a program that reaches the web."""
        return os.environ | {"http_proxy": self.address, "https_proxy": self.address}

    def judge(self, lang: str) -> dict[str, Any]:
        """Return the figures of a crawl for `lang` from the server's own log."""
        command = [sys.executable, str(PROGRAM), "judge", "--lang", lang]
        for name in ("log", "truth"):
            command += [f"--{name}", str(self.folder / f"{name}.tsv")]
        judged: dict[str, Any] = json.loads(subprocess.check_output(command))
        return judged


def require() -> None:
    """End with a reason if the web is missing."""
    missing = [str(path) for path in (PROGRAM, URLS, TEXTS) if not path.exists()]
    if missing:
        sys.exit(f"skipped: {missing[0]} is not here")


@contextmanager
def serve(folder: Path, *, seed: int, hosts: int = 12000, **options: float) -> Iterator[Served]:
    """Serve a web during the context; its log is complete after the end of the context."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(PROGRAM), "serve", "--urls", str(URLS), "--texts", str(TEXTS)]
    command += ["--hosts", str(hosts), "--seed", str(seed), "--log", str(folder / "log.tsv")]
    command += ["--truth", str(folder / "truth.tsv"), "--seeds-out", str(folder / "seeds.json")]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = int((server.stdout.readline() if server.stdout else "").split()[1])
            seeds = json.loads((folder / "seeds.json").read_text())
            yield Served(port, folder, seeds)
        finally:
            server.terminate()


def command_of(folder: Path, *arguments: str, **settings: object) -> list[str]:
    """Return the command line of a crawl into a run folder."""
    return command(*arguments, **{"JOBDIR": folder, "LANGFOCUS_QUIET": True, **settings})


def crawl(web: Served, folder: Path, *arguments: str, **settings: object) -> dict[str, Any]:
    """Run `scrapy crawl langfocus` through the proxy and return its `summary.json`."""
    line = command_of(folder, *arguments, **settings)
    subprocess.run(line, cwd=ROOT, env=web.environment, check=True, stderr=subprocess.DEVNULL)
    return summary(folder)


@contextmanager
def fronted(web: Served, *, is_heavy: bool) -> Iterator[Served]:
    """Serve a running web on another port: over TLS too, and with heavy pages."""
    command = [sys.executable, "-m", "benchmarks.proxyweb", str(web.port), str(web.folder)]
    command += ["--heavy"] * is_heavy
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as front:
        try:
            ready = front.stdout.readline() if front.stdout else ""
            yield replace(web, port=int(ready.split()[1]))
        finally:
            front.terminate()


class Front:
    """Answers requests, in tunnels or not, as a proxy on a port of this machine does."""

    def __init__(self, port: int, context: ssl.SSLContext, heavy: Heavy | None) -> None:
        self._port = port
        self._context = context
        self._heavy = heavy

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it is closed."""
        tunnel = b""
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, target, rest = head.split(b" ", 2)
                if method == b"CONNECT":
                    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                    await writer.start_tls(self._context)
                    tunnel = b"http://" + target.removesuffix(b":443")
                else:
                    head = b"%s %s%s %s" % (method, tunnel, target, rest)
                    writer.write(await self._answer(head, is_secure=bool(tunnel)))
                    await writer.drain()
        writer.close()

    async def _answer(self, request: bytes, *, is_secure: bool) -> bytes:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._port)
        outer.write(request)
        head = await inner.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await inner.readexactly(0 if request.startswith(b"HEAD ") else length)
        outer.close()
        if is_secure:
            body = body.replace(b"http://", b"https://")
            head = head.replace(b"Location: http://", b"Location: https://")
        head = head.replace(b"Length: %d" % length, b"Length: %d" % len(body))
        if self._heavy is None or b"</head>" not in body:
            return head + body
        host, _, path = request.split(b" ", 2)[1].removeprefix(b"http://").decode().partition("/")
        heavy = gzipped(self._heavy.page(host, path, body))
        fields = b"Encoding: gzip\r\nContent-Length: %d" % len(heavy)
        return head.replace(b"Length: %d" % len(body), fields) + heavy


async def serve_front(port: int, folder: Path, *, is_heavy: bool) -> None:
    """Serve until this process is ended."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder))
    front = Front(port, context, Heavy(folder / "truth.tsv") if is_heavy else None)
    server = await asyncio.start_server(front.serve, "127.0.0.1", 0, limit=1 << 20)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve_front(int(sys.argv[1]), Path(sys.argv[2]), is_heavy="--heavy" in sys.argv))
