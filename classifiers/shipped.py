"""The place of files that ship: the installed package, or a checkout."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]


def shipped_folder(name: str, in_checkout: str) -> Path:
    """Return the folder of files that ship.

    An installed package has it as `langfocus/NAME`. A checkout has it at the path `in_checkout`.
    """
    installed = _ROOT / "langfocus" / name
    return installed if installed.is_dir() else _ROOT / in_checkout
