"""Sends bytes that no server should send to every part of the crawl that reads answers of servers.

The claim: no input makes a reader of the crawl fail, hang or use memory without bound. The laws in
`benchmarks.fuzztargets` say what each reader must do instead.

Inputs are changes of small seeds. If atheris is installed, it chooses the inputs that reach new
lines (`--engine plain` does without it). Each target runs in a process that may use `HANG_S`
seconds of CPU for one input and raise its peak memory by `MEMORY_BYTES`. A process that dies or
hangs is a failure too. Failures of one kind count once; `--save` gets a shortened input of each.
Prints a JSON line for each target; exits with 1 if something failed.

    python -m benchmarks.fuzz --seconds 60 --target all --random-state 1 --save failures
"""

import argparse
import faulthandler
import json
import logging
import mmap
import multiprocessing
import os
import platform
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

NAMES: Final = (
    "page",
    "links",
    "url",
    "language",
    "robots",
    "answers",
    "unpacking",
    "archive",
)
HANG_S: Final = 3.0
SILENCE_S: Final = 40.0
"""Seconds without a new input after which a process is killed. They are far more than one input may
take, since the machine may be busy.
"""
MEMORY_BYTES: Final = 1 << 28
ADDRESS_SPACE_BYTES: Final = 1 << 34
"""Memory limit of a whole process, which protects the machine. At the limit the parser crashes,
since it does not check its allocations; so the limit does not judge an input.
"""
MAX_INPUT: Final = 20_000
_HEAD = struct.Struct("<QI")
# Compiled code must not be instrumented, and training code is not a target.
_LEFT_OUT = [
    "classifiers.tables.language_names",
    "classifiers.pages.text.textmodel",
    "classifiers.training.solver",
    "classifiers.urls",
    "classifiers.weights",
]


class Hung(BaseException):
    """An input took too much CPU time; no reader may catch this."""


class Journal:
    """Number and bytes of the input in progress, in a file that another process can read."""

    def __init__(self, path: Path) -> None:
        """Open a journal; create it if the file does not exist."""
        with path.open("a+b") as file:
            file.truncate(_HEAD.size + MAX_INPUT)
            self._memory = mmap.mmap(file.fileno(), 0)

    def note(self, tried: int, data: bytes) -> None:
        """Record the input before it is tried."""
        self._memory[: _HEAD.size] = _HEAD.pack(tried, len(data))
        self._memory[_HEAD.size : _HEAD.size + len(data)] = data

    def read(self) -> tuple[int, bytes]:
        """Return the number of inputs tried and the last one."""
        tried, size = _HEAD.unpack(self._memory[: _HEAD.size])
        return tried, self._memory[_HEAD.size : _HEAD.size + size]


class Trial:
    """Tests inputs against one law and keeps one failure of each kind."""

    def __init__(
        self, name: str, law: Callable[[bytes], None], journal: Journal, save: Path
    ) -> None:
        """Write failures of the target `name` into the folder `save`."""
        self._name, self._law, self._journal, self._save = name, law, journal, save
        self.tried = journal.read()[0]
        self._known = {path.name for path in save.glob(f"{name}-*")}
        signal.signal(signal.SIGPROF, self._stop)

    def __call__(self, data: bytes) -> None:
        """Try an input."""
        data = bytes(data[:MAX_INPUT])
        self.tried += 1
        self._journal.note(self.tried, data)
        failure = self._failure(data)
        if failure is None:
            return
        name = f"{self._name}-{blake2b(_kind(failure).encode(), digest_size=4).hexdigest()}"
        if name not in self._known:
            self._known.add(name)
            data = self._shortened(data, _kind(failure))
            told = "".join(traceback.format_exception(failure))
            save_failure(self._save / name, data, _kind(failure), told)

    def _failure(self, data: bytes) -> BaseException | None:
        peak = _peak_bytes()
        signal.setitimer(signal.ITIMER_PROF, HANG_S)
        try:
            self._law(data)
            if _peak_bytes() - peak > MEMORY_BYTES:
                raise MemoryError(f"more than {MEMORY_BYTES >> 20} MB of memory")
        except (Exception, Hung) as failure:
            return failure
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return None

    def _stop(self, number: int, frame: object) -> None:
        raise Hung(f"more than {HANG_S:g} s of CPU time")

    def _shortened(self, data: bytes, kind: str, tries: int = 400) -> bytes:
        """Return a shorter input that fails in the same way."""
        size = len(data) // 2
        while size and tries > 0:
            at = 0
            while at < len(data) and tries > 0:
                shorter = data[:at] + data[at + size :]
                tries -= 1
                self._journal.note(self.tried, shorter)
                failure = self._failure(shorter)
                if failure is not None and _kind(failure) == kind:
                    data = shorter
                else:
                    at += size
            size //= 2
        return data


def save_failure(path: Path, data: bytes, kind: str, told: str) -> None:
    """Write an input and the failure that it caused."""
    path.with_name(path.name).write_bytes(data)
    path.with_name(path.name + ".json").write_text(json.dumps({"kind": kind, "told": told[-4000:]}))


def _kind(failure: BaseException) -> str:
    """Return the kind of a failure: its type and place. One repair ends all failures of a kind."""
    frames = traceback.extract_tb(failure.__traceback__)
    ours = [f for f in frames if Path(f.filename).parts[-2:][0] != "benchmarks"] or frames
    last = ours[-1]
    said = str(failure).partition(":")[0] if type(failure).__name__ == "BrokenLaw" else ""
    return f"{type(failure).__name__} {said} {Path(last.filename).name}:{last.lineno}"


def changed(data: bytes, other: bytes, tokens: list[bytes], chance: random.Random) -> bytes:
    """Return an input changed in one to eight places."""
    made = bytearray(data)
    for _ in range(1 << chance.randrange(4)):
        at = chance.randint(0, len(made))
        size = min(chance.choice((1, 1, 2, 4, 16, 64, 512)), len(made) - at)
        kind = chance.randrange(8)
        if kind == 0:
            del made[at : at + size]
        elif kind == 1:
            made[at:at] = chance.randbytes(chance.choice((1, 1, 2, 8)))
        elif kind == 2 and size:
            made[at] ^= 1 << chance.randrange(8)
        elif kind == 3:
            start = chance.randint(0, len(other))
            made[at : at + chance.choice((0, size))] = other[
                start : start + chance.choice((4, 40, 400))
            ]
        elif kind == 4:
            made[at:at] = made[at : at + size] * chance.choice((1, 2, 50))
        elif kind == 5 and size:
            made[at : at + size] = chance.randbytes(1) * size
        else:
            made[at : at + chance.choice((0, 0, size))] = chance.choice(tokens)
    return bytes(made[:MAX_INPUT])


def _run_plainly(
    trial: Trial, seeds: list[bytes], tokens: list[bytes], seconds: float, chance: random.Random
) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = chance.choice(seeds)
        trial(changed(data, chance.choice(seeds), tokens, chance))


def _run_guided(
    trial: Trial, seeds: list[bytes], tokens: list[bytes], seconds: float, number: int
) -> None:
    """Let atheris choose; does not return."""
    atheris = import_module("atheris")

    folder = Path(tempfile.mkdtemp())
    (folder / "corpus").mkdir()
    for at, seed in enumerate(seeds):
        (folder / "corpus" / str(at)).write_bytes(seed)
    words = ("".join(f"\\x{byte:02x}" for byte in token) for token in tokens)
    (folder / "tokens").write_text("".join(f'"{word}"\n' for word in words))
    limits = {
        "max_total_time": max(1, round(seconds)),
        "seed": number,
        "max_len": MAX_INPUT,
        "timeout": 10**6,
        "rss_limit_mb": 0,
        "verbosity": 0,
        # The Python traceback says more about a crash.
        **dict.fromkeys(("handle_segv", "handle_bus", "handle_abrt", "handle_ill"), 0),
        "artifact_prefix": f"{folder}/",
        "dict": folder / "tokens",
    }
    arguments = [sys.argv[0], *(f"-{name}={value}" for name, value in limits.items())]
    atheris.Setup([*arguments, str(folder / "corpus")], trial)
    atheris.Fuzz()


def _child(name: str, seconds: float, number: int, journal: Path, save: Path, engine: str) -> None:
    """Try inputs on a target for some seconds."""
    logging.disable(logging.CRITICAL)
    with journal.with_name("log").open("wb") as log:
        os.dup2(log.fileno(), 2)
    faulthandler.enable()
    if engine == "atheris":
        atheris = import_module("atheris")

        with atheris.instrument_imports(include=["crawler", "classifiers"], exclude=_LEFT_OUT):
            from benchmarks import fuzztargets
    else:
        from benchmarks import fuzztargets
    target = fuzztargets.TARGETS[name]
    seeds = [seed[:MAX_INPUT] for seed in target.seeds()]
    trial = Trial(name, target.law, Journal(journal), save)
    for seed in seeds:
        # The time of a first compilation must not count for an input.
        with suppress(Exception):
            target.law(seed)
    for seed in seeds:
        trial(seed)
    _bound_memory()
    if engine == "atheris":
        _run_guided(trial, seeds, fuzztargets.TOKENS, seconds, number)
    else:
        _run_plainly(trial, seeds, fuzztargets.TOKENS, seconds, random.Random(number))


def _peak_bytes() -> int:
    """Return the peak memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _bound_memory() -> None:
    """Limit the memory of this process."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))


def fuzz(name: str, seconds: float, number: int, save: Path, engine: str) -> dict[str, Any]:
    """Try one target for about `seconds` seconds and return the failures found."""
    save.mkdir(parents=True, exist_ok=True)
    before = set(save.glob(f"{name}-*.json"))
    end, restarts = time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        journal = Journal(path)
        while (left := end - time.monotonic()) > 0:
            arguments = (name, left, number + restarts, path, save, engine)
            process = multiprocessing.get_context("spawn").Process(target=_child, args=arguments)
            process.start()
            _watch(process, journal)
            if process.exitcode:
                kind = f"the process ended with {process.exitcode}"
                told = path.with_name("log").read_text("utf-8", "replace")
                save_failure(save / f"{name}-died{restarts}", journal.read()[1], kind, told)
                restarts += 1
            else:
                break
        tried = journal.read()[0]
    failures = sorted(set(save.glob(f"{name}-*.json")) - before)
    return {
        "target": name,
        "inputs": tried,
        "failures": [json.loads(path.read_text())["kind"] for path in failures],
    }


def _watch(process: Any, journal: Journal) -> None:
    """Wait for a process; kill it if it tries no new input for a long time."""
    last, since = -1, time.monotonic()
    while process.is_alive():
        process.join(1.0)
        tried = journal.read()[0]
        if tried != last:
            last, since = tried, time.monotonic()
        elif time.monotonic() - since > SILENCE_S:
            process.kill()
            process.join()


def main() -> int:
    """Read the arguments, try the targets one after the other, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--target", choices=["all", *NAMES], default="all")
    parser.add_argument("--random-state", type=int, default=1)
    parser.add_argument("--save", type=Path, help="folder for inputs that fail")
    known = "atheris" if find_spec("atheris") else "plain"
    parser.add_argument("--engine", choices=["atheris", "plain"], default=known)
    options = parser.parse_args()
    save = options.save or Path(tempfile.mkdtemp(prefix="fuzz-"))
    has_failed = False
    for name in NAMES if options.target == "all" else [options.target]:
        found = fuzz(name, options.seconds, options.random_state, save, options.engine)
        has_failed |= bool(found["failures"])
        print(
            json.dumps(
                {
                    "benchmark": "fuzz",
                    "date": time.strftime("%Y-%m-%d"),
                    "python": platform.python_version(),
                    "engine": options.engine,
                    "seconds": options.seconds,
                    "random_state": options.random_state,
                    **found,
                }
            ),
            flush=True,
        )
    if has_failed:
        print(f"inputs that fail are in {save}", file=sys.stderr)
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
