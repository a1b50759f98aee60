"""Sends bytes that no server should send to every part of the crawl that reads answers of servers.

    pip install atheris
    python -m benchmarks.fuzz --seconds 60 --target all --random-state 1 --save failures

The claim: no input makes a reader of the crawl fail, hang or use memory without bound. The laws in
`benchmarks.fuzztargets` say what each reader must do instead. atheris changes small seeds and
keeps the inputs that reach new lines. An input that breaks a law, takes more than `HANG_S` seconds
or half a gigabyte more than its process had ends the process and is written into the folder
`--save`. Prints a JSON line for each target; exits with 1 if an input failed.
"""

import argparse
import json
import logging
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any, Final

NAMES: Final = ("page", "links", "url", "language", "robots", "answers", "unpacking", "archive")
HANG_S: Final = 20
"""Seconds of one input. They are far more than one input may take, as the machine may be busy."""
MEMORY_MB: Final = 512
MAX_INPUT: Final = 20_000
# Compiled code must not be instrumented, and training code is not a target.
_LEFT_OUT = [
    "langfocus.classifiers.pages.text",
    "langfocus.classifiers.training",
    "langfocus.classifiers.urls",
    "langfocus.classifiers.weights",
]


def fuzz(name: str, seconds: float, number: int, save: Path) -> dict[str, Any]:
    """Try one target for about `seconds` seconds in a process of its own."""
    save.mkdir(parents=True, exist_ok=True)
    line = [sys.executable, "-m", "benchmarks.fuzz", "--child", str(save)]
    line += ["--target", name, "--seconds", str(seconds), "--random-state", str(number)]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    tried = re.findall(r"^(?:#|stat::number_of_executed_units: )(\d+)", done.stderr, re.MULTILINE)
    said = "" if done.returncode == 0 else done.stderr[-3000:]
    return {"target": name, "inputs": int(tried[-1]) if tried else 0, "failure": said}


def child(name: str, seconds: float, number: int, save: Path) -> None:
    """Let atheris choose inputs; does not return."""
    atheris = import_module("atheris")
    logging.disable(logging.CRITICAL)
    with atheris.instrument_imports(include=["langfocus"], exclude=_LEFT_OUT):
        targets, seeds = map(import_module, ("benchmarks.fuzztargets", "benchmarks.fuzzseeds"))
    law, folder = targets.LAWS[name], Path(tempfile.mkdtemp())
    (folder / "corpus").mkdir()
    for at, seed in enumerate(seeds.SEEDS[name]):
        law(seed[:MAX_INPUT])  # The time of a first compilation counts for no input.
        (folder / "corpus" / str(at)).write_bytes(seed[:MAX_INPUT])
    words = ("".join(f"\\x{byte:02x}" for byte in token) for token in targets.TOKENS)
    (folder / "tokens").write_text("".join(f'"{word}"\n' for word in words))
    held_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    limits = {
        "max_total_time": max(1, round(seconds)),
        "seed": number,
        "max_len": MAX_INPUT,
        "timeout": HANG_S,
        "rss_limit_mb": held_mb + MEMORY_MB,
        "print_final_stats": 1,
        "artifact_prefix": f"{save / name}-",
        "dict": folder / "tokens",
    }
    arguments = [sys.argv[0], *(f"-{name}={value}" for name, value in limits.items())]
    atheris.Setup([*arguments, str(folder / "corpus")], law)
    atheris.Fuzz()


def main() -> int:
    """Try the targets one after the other and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--target", choices=["all", *NAMES], default="all")
    parser.add_argument("--random-state", type=int, default=1)
    parser.add_argument("--save", type=Path, help="folder for inputs that fail")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.target, options.seconds, options.random_state, options.child)
    save = options.save or Path(tempfile.mkdtemp(prefix="fuzz-"))
    facts = {"date": time.strftime("%Y-%m-%d"), "python": platform.python_version()}
    failures = 0
    for name in NAMES if options.target == "all" else [options.target]:
        found = fuzz(name, options.seconds, options.random_state, save)
        failures += bool(found["failure"])
        print(json.dumps({**facts, "seconds": options.seconds, **found}), flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
