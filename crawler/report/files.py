"""Files that are whole or not there."""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> Path:
    """`path`, which holds `text` from now on; nobody ever reads half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return path
