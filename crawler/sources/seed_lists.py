"""Seed URLs from other lists: runs, indexes of archives, Common Crawl's web-languages."""

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.languages import parse_language
from langfocus.crawler.errors import SettingError
from langfocus.crawler.sources.cdxj import index_lines
from langfocus.crawler.sources.seeds import SeedFile, read_seed_file
from langfocus.crawler.sources.yields import host_yields
from langfocus.crawler.url import host_of, normalise

_URL: Final = re.compile(r"https?://[^\s<>|\"'`\])]{1,2000}", re.IGNORECASE)
_OTHERS: Final = ("informative links", "additional information", "scripts", "thank you", "#")
"""The parts of a web-languages file whose links are about the language, not in it."""


def seeds_in(path: Path, lang: str) -> list[str]:
    """Return the URLs for a language from a run, an index (CDXJ), a Markdown file or a seed list.

    Of a run and an index there is one URL per host. Raises `SettingError` and `RunFolderError`.
    """
    if path.is_dir():
        return [one.url for one in host_yields([path], lang)]
    try:
        if path.suffix == ".md":
            return list(_of_markdown(path.read_text(encoding="utf-8", errors="replace")))
        if ".cdxj" in path.suffixes[-2:]:
            return list({host_of(url): url for url in reversed([*_of_index(path, lang)])}.values())
    except (OSError, EOFError, zlib.error) as error:
        raise SettingError(f"{path}: cannot be read: {error}") from error
    seeds = read_seed_file(path, str(path))
    if isinstance(seeds, SeedFile):
        raise SettingError(
            f"{path}: {seeds.number:,} URLs: -a seeds reads such a large list itself"
        )
    return list(seeds)


def _of_markdown(text: str) -> Iterator[str]:
    is_wanted = True
    for line in text.splitlines():
        if line.lower().startswith(_OTHERS) or line.rstrip().endswith(":"):
            is_wanted = not line.lower().startswith(_OTHERS) or line.startswith("# ")
        if is_wanted:
            yield from filter(None, map(normalise, _URL.findall(line)))


def _of_index(path: Path, lang: str) -> Iterator[str]:
    """Yield the URLs of HTML answers; of an index with languages those in this language."""
    for line in index_lines(path):
        try:
            entry = json.loads(line[line.index(b"{") :])
            code = parse_language(entry.get("languages", lang).partition(",")[0])
        except (ValueError, AttributeError, RecursionError, LanguageError):
            continue
        is_page = str(entry.get("status")) == "200" and "html" in str(entry.get("mime"))
        if is_page and code == lang and (url := normalise(str(entry.get("url")))):
            yield url
