"""A multilingual web behind a loopback proxy, and its judge, for the other benchmarks.

A program outside of the project provides the web, the log and the judge. If it is missing, the
benchmarks say so and end. Nothing leaves the machine.

    python -m benchmarks.proxyweb PORT FOLDER

This program is TLS in front of the proxy at PORT: it answers CONNECT, speaks for every host with a
certificate of its own making, kept in FOLDER, and prints `ready PORT` of its own. The requests of a
tunnel go on in plain HTTP. The links of an answer become `https:` links.
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
def over_tls(web: Served) -> Iterator[Served]:
    """Serve a running web over TLS too, on another port."""
    command = [sys.executable, "-m", "benchmarks.proxyweb", str(web.port), str(web.folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as tunnels:
        try:
            ready = tunnels.stdout.readline() if tunnels.stdout else ""
            yield replace(web, port=int(ready.split()[1]))
        finally:
            tunnels.terminate()


class Tunnels:
    """Answers the requests of tunnels with the answers of a proxy on a port of this machine."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self._port = port
        self._context = context

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it is closed."""
        with suppress(asyncio.IncompleteReadError, OSError):
            head = await reader.readuntil(b"\r\n\r\n")
            host = head.split(None, 2)[1].removesuffix(b":443")
            if head.startswith(b"CONNECT "):
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                await writer.start_tls(self._context)
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(await self._answer(host, head))
                    await writer.drain()
        writer.close()

    async def _answer(self, host: bytes, head: bytes) -> bytes:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._port)
        method, path, rest = head.split(b" ", 2)
        outer.write(b"%s http://%s%s %s" % (method, host, path, rest))
        answer = await inner.readuntil(b"\r\n\r\n")
        length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await inner.readexactly(length) if method != b"HEAD" else b""
        outer.close()
        secure = body.replace(b"http://", b"https://")
        answer = answer.replace(b"Location: http://", b"Location: https://")
        return answer.replace(b"Length: %d" % length, b"Length: %d" % len(secure)) + secure


async def serve_tls(port: int, folder: Path) -> None:
    """Serve until this process is ended."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder))
    tunnels = Tunnels(port, context)
    server = await asyncio.start_server(tunnels.serve, "127.0.0.1", 0, limit=1 << 20)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve_tls(int(sys.argv[1]), Path(sys.argv[2])))
