"""Facts that are written by hand or copied, and the place of all files that ship."""

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def rows(name: str) -> dict[str, str]:
    """Return the lines `code: text` of a file in this folder, as code -> text."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def shipped_folder(name: str, in_checkout: str) -> Path:
    """Return the folder of files that ship.

    An installed package has it as `langfocus/NAME`. A checkout has it at the path `in_checkout`.
    """
    installed = _ROOT / "langfocus" / name
    return installed if installed.is_dir() else _ROOT / in_checkout
