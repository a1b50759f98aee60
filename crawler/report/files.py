"""Texts and JSON as files."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawler.errors import SettingError
from crawler.whole_file import replacing


def write_whole(path: Path, text: str) -> Path:
    """`path`, after writing the text to it in one step: no reader sees half of it."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def json_text(content: Mapping[str, Any]) -> str:
    """The text of a JSON file; figures that are not a number are null."""
    return json.dumps(_defined(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def check_places(*paths: Path | None) -> None:
    """Raise SettingError for a file that is to be written into a folder that does not exist."""
    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise SettingError(f"{path}: its folder does not exist")


def _defined(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _defined(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value
