"""Data card of an export: Markdown with the metadata parsed by data set hubs."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

from langfocus.classifiers import languages
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.crawler.corpus.building import CorpusSummary
from langfocus.crawler.corpus.item import PageItem

_SIZES: Final = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
_LARGEST: Final = "100M<n<1B"
_READ_BY_HUBS: Final = (".jsonl", ".parquet", ".csv", ".txt")
_OF_ITEMS: Final = (".jsonl", ".parquet")
_TYPES: Final = {str: "string", int: "int64", float: "float64", bool: "bool"}
_ROWS: Final = 20
_ESCAPED: Final = str.maketrans({"|": "\\|", "\n": " ", "<": "&lt;", "`": "\\`"})


def card_of(corpus: CorpusSummary, file: Path, command: str, today: date) -> str:
    """Return the card of a corpus that `command` wrote into `file`.

    The head is YAML, as in a data set's README.md on Hugging Face.
    """
    codes = [code for code in corpus.page_languages if code in PROJECT_CODES]
    title = f"{', '.join(map(languages.name, codes[:3])) or 'Texts'}: texts of Web pages"
    days = sorted(corpus.days)
    facts = {
        "pages": f"{corpus.pages:,}",
        "words": f"{corpus.words:,}",
        "hosts": f"{len(corpus.hosts):,}",
        "fetched": f"{days[0]} to {days[-1]}" if days else "unknown",
        "main text by": corpus.extractor,
        "made on": today.isoformat(),
        "made by": f"langfocus {version('langfocus')}",
    }
    parts = [
        _head(corpus, codes, file, title),
        f"# {title}\n",
        "Each text is the main text of a page, without lines that its host repeats and without "
        "near-duplicates.\n",
        _table(("figure", "value"), facts.items()),
        _counts("Languages", "language", corpus.page_languages),
        _counts("Hosts", "host", corpus.hosts),
        _counts("Licenses that pages name", "license", corpus.licenses),
        "The texts belong to their authors. A page that names no license grants none.\n",
        _counts("Pages that were left out", "reason", +corpus.left_out),
        f"## Command\n\n    {command}\n",
    ]
    return "\n".join(part for part in parts if part)


def _head(corpus: CorpusSummary, codes: Sequence[str], file: Path, title: str) -> str:
    size = next((name for most, name in _SIZES if corpus.pages < most), _LARGEST)
    lines = [
        "---",
        f"pretty_name: {json.dumps(title)}",
        *(["language:", *(f"- {code}" for code in codes)] if codes else []),
        "license: other",
        "size_categories:",
        f"- {size}",
        "task_categories:",
        "- text-generation",
    ]
    if any(ending in file.suffixes for ending in _READ_BY_HUBS):
        lines += ["configs:", "- config_name: default", f"  data_files: {json.dumps(file.name)}"]
    if any(ending in file.suffixes for ending in _OF_ITEMS):
        # Type inference fails on a field that is empty in the first rows and filled later.
        features = json.dumps(_features(get_type_hints(PageItem)))
        lines += ["dataset_info:", "  config_name: default", f"  features: {features}"]
    return "\n".join([*lines, "---", ""])


def _features(hints: dict[str, Any]) -> list[dict[str, Any]]:
    """Return fields in the format of the library `datasets`."""
    return [{"name": name, **_kind(hint)} for name, hint in hints.items()]


def _kind(hint: Any) -> dict[str, Any]:
    """Return a type: `dtype` for a scalar; `list` with the item type or the item fields."""
    options = (hint,) if get_origin(hint) is list else (*get_args(hint), hint)
    hint = next(option for option in options if option is not NoneType)
    if get_origin(hint) is not list:
        return {"dtype": _TYPES[hint]}
    (value,) = get_args(hint)
    return {"list": _TYPES.get(value) or _features(get_type_hints(value))}


def _counts(title: str, name: str, counts: Counter[str]) -> str:
    """Return a section with the most frequent values; "" for none."""
    if not counts:
        return ""
    first = counts.most_common(_ROWS)
    rows = [(value, f"{number:,}") for value, number in first]
    if len(counts) > _ROWS:
        others = counts.total() - sum(number for _, number in first)
        rows.append((f"{len(counts) - _ROWS:,} others", f"{others:,}"))
    return f"## {title}\n\n{_table((name, 'pages'), rows)}"


def _table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|--:|"]
    lines += [f"| {' | '.join(cell.translate(_ESCAPED) for cell in row)} |" for row in rows]
    return "\n".join([*lines, ""])
