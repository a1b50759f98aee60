"""A multilingual web behind a loopback proxy, and its judge, for the other benchmarks.

A program outside of the project provides the web, the log and the judge. If it is missing, the
benchmarks say so and end. Nothing leaves the machine.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import crawls

ROOT = crawls.ROOT
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
    return crawls.command(*arguments, **{"JOBDIR": folder, "LANGFOCUS_QUIET": True, **settings})


def crawl(web: Served, folder: Path, *arguments: str, **settings: object) -> dict[str, Any]:
    """Run `scrapy crawl langfocus` through the proxy and return its `summary.json`."""
    command = command_of(folder, *arguments, **settings)
    subprocess.run(command, cwd=ROOT, env=web.environment, check=True, stderr=subprocess.DEVNULL)
    return crawls.summary(folder)
