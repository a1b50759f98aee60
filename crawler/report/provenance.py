"""Provenance of measured figures: date, code, data and versions."""

from __future__ import annotations

import hashlib
import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = ("langfocus", "numpy", "scipy", "scikit-learn")
"""The packages whose versions figures may depend on; a caller can name others."""

ROOT: Final = Path(__file__).resolve().parents[2]
"""The folder of the packages: a checkout, or where they are installed."""


def provenance(
    command: Sequence[str],
    data: Iterable[Path],
    today: date,
    packages: Sequence[str] = PACKAGES,
) -> dict[str, Any]:
    """Return date, command, commit, the SHA-256 of each data file or folder, and versions.

    `command` is the list of typed words. Only the last name of a path is kept, so that no folder
    names of a machine are published. OSError for unreadable data.
    """
    return {
        "date": today.isoformat(),
        "command": shlex.join(Path(word).name if "/" in word else word for word in command),
        "commit": _commit(),
        "data": {path.name: sha256(path) for path in data},
        "versions": {"Python": platform.python_version(), **_versions(packages)},
    }


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of a folder's files in order."""
    digest = hashlib.sha256()
    is_folder = path.is_dir()
    for file in sorted(path.rglob("*")) if is_folder else [path]:
        if file.is_dir():
            continue
        if is_folder:
            digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        with file.open("rb") as opened:
            hashlib.file_digest(opened, lambda: digest)
    return digest.hexdigest()


def _commit() -> str | None:
    """Return the commit of the checkout, marked if files were changed; None without a checkout."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return None

    def output(*words: str) -> str:
        done = subprocess.run([git, *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - git itself
        return done.stdout.strip()

    changed = " with changes" if output("status", "--porcelain") else ""
    return f"{output('rev-parse', '--short', 'HEAD')}{changed}"


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
