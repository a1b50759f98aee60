"""Facts about languages and top-level domains that are written by hand or copied."""

from __future__ import annotations

from pathlib import Path


def rows(name: str) -> dict[str, str]:
    """Return the lines `code: text` of a file in this folder, as code -> text."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)
