"""When, by which code, from which data and with which versions figures were measured."""

from __future__ import annotations

import ast
import hashlib
import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = ("langfocus", "numpy", "scipy", "scikit-learn")
"""The packages whose versions figures may depend on; a caller can name others."""

ROOT: Final = Path(__file__).resolve().parents[2]
"""The folder of the packages: a checkout, or where they are installed."""

_BLOCK: Final = 1 << 20


def provenance(
    command: Sequence[str],
    data: Iterable[Path],
    today: date,
    packages: Sequence[str] = PACKAGES,
    modules: Sequence[str] = (),
) -> dict[str, Any]:
    """The date, the command, the code, the SHA-256 of each file or folder of data, and versions.

    `command` is the list of words that were typed. Of a path only the last name is kept, so that
    the result does not name folders of one machine. `modules` are the patterns of the files and
    folders of `ROOT` that the figures depend on, such as "classifiers/urls" or
    "classifiers/models/url-*.npz". OSError if data or modules cannot be read.
    """
    return {
        "date": today.isoformat(),
        "command": shlex.join(Path(word).name if "/" in word else word for word in command),
        "commit": _commit(modules),
        "modules": list(modules),
        "digest": code_digest(modules),
        "data": {path.name: sha256(path) for path in data},
        "versions": {"Python": platform.python_version(), **_versions(packages)},
    }


def sha256(path: Path) -> str:
    """The SHA-256 of a file, or of the names and contents of a folder's files in order."""
    digest = hashlib.sha256()
    if not path.is_dir():
        _add(path, digest)
        return digest.hexdigest()
    for file in sorted(each for each in path.rglob("*") if each.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        _add(file, digest)
    return digest.hexdigest()


def code_digest(modules: Sequence[str], root: Path = ROOT) -> str:
    """The SHA-256 of the code and the models that patterns name (`provenance`).

    Comments, docstrings and the layout of Python do not count, nor do pages of documentation.
    Versions of Python agree. FileNotFoundError if a pattern names nothing.
    """
    digest = hashlib.sha256()
    for file in sorted({file for module in modules for file in _files(root, module)}):
        digest.update(f"{file.relative_to(root).as_posix()}\0".encode())
        if file.suffix == ".py":
            digest.update(ascii(_shape(ast.parse(file.read_bytes()))).encode())
        else:
            _add(file, digest)
    return digest.hexdigest()


def _files(root: Path, module: str) -> Iterator[Path]:
    found = list(root.glob(module))
    if not found:
        raise FileNotFoundError(f"{module}: no such code in {root}")
    for path in found:
        for file in path.rglob("*") if path.is_dir() else (path,):
            if file.is_file() and file.suffix != ".md" and "__pycache__" not in file.parts:
                yield file


def _shape(node: Any) -> Any:
    """The tree without places, texts that stand alone, and fields that only new Pythons have."""
    if isinstance(node, ast.AST):
        fields = [(name, _shape(value)) for name, value in ast.iter_fields(node)]
        return type(node).__name__, [field for field in fields if field[1] not in (None, [])]
    if isinstance(node, list):
        return [_shape(each) for each in node if not _is_text(each)]
    return node


def _is_text(node: Any) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _commit(modules: Sequence[str]) -> str | None:
    """The commit of the checkout, with a note if its modules were changed; None if it is none."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return None

    def told(*words: str) -> str:
        done = subprocess.run([git, *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - git itself
        return done.stdout.strip()

    changed = " with changes" if modules and told("status", "--porcelain", "--", *modules) else ""
    return f"{told('rev-parse', '--short', 'HEAD')}{changed}"


def _add(file: Path, digest: Any) -> None:
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
