"""The seed URLs of a crawl, as specified by the user.

A large file is read twice: it is checked before the crawl starts, and its URLs are queued while the
crawl fetches (`crawler.sources.unread_seeds`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from os import SEEK_CUR
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from langfocus.classifiers.plugins import Plugin, Registry
from langfocus.classifiers.tables.suffixes import suffix_reader
from langfocus.crawler.errors import SettingError
from langfocus.crawler.politeness.network import has_bad_port
from langfocus.crawler.run.whole_file import open_regular
from langfocus.crawler.url import normalise

FIRST_BYTES: Final = 512 * 1024
"""Of a file of seeds so many bytes are queued before the first fetch: some 15,000 URLs."""

_HTTP = ("http://", "https://")
_IS_HTTP = re.compile(r"https?:[/\\]", re.IGNORECASE)
_LINE_END = re.compile("\r\n|\r|\n")
# A scheme, but not a host with a port (`example.org:8080`).
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|$))")
_PATH = re.compile(r"(?:https?://)?(?!https?:)[^/?#]+[/?#].", re.IGNORECASE)
_NAME = re.compile(r"[^\s@\[\]\"'=,]+")
_HOST = re.compile(r"(?:localhost|\[[0-9A-Fa-f:.]+\])(?::\d+)?")


@dataclass(frozen=True, slots=True)
class SeedFile:
    """A seed file too large to be queued at once; all its lines are valid."""

    path: Path
    digest: str  # of its bytes
    number: int  # of its URLs; one that is named again counts again
    first: tuple[str, ...]  # the normalised URLs of its first block, each once
    first_bytes: int  # of that block


Seeds = Sequence[str] | SeedFile


class SeedProvider(Protocol):
    """A plug-in that yields seeds."""

    def __call__(self, language: str, /) -> Iterable[str]:
        """Return the URLs at which a crawl for a language begins, a million at most.

        Each session and each worker calls it; seeds that are known already change nothing.
        """


SEEDS: Final = Registry[SeedProvider]("seeds", "langfocus.seeds", {})
"""Plug-ins alone: every other value is a URL or a file."""

_MOST_PROVIDED: Final = 1_000_000


def first_of(seeds: Seeds) -> Sequence[str]:
    """Return the seeds that are queued before the first fetch."""
    return seeds.first if isinstance(seeds, SeedFile) else seeds


def read_seeds(value: str, label: str) -> Seeds | Plugin:
    """Return the normalised seed URLs of an argument, each once; raises `SettingError`.

    `value` is the path of a file with one URL a line, or URLs with commas between them. A comma in
    a path separates URLs only before a space or a scheme. A URL without a scheme is one of http.
    Any other name may be that of a plug-in (`provided`).
    `label` is the name that messages use.
    """
    path = Path(value)
    if not value.lower().startswith(_HTTP) and (_exists(path) or not _are_urls(value)):
        plugin = None if _exists(path) else SEEDS.plugin(value)
        return plugin or read_seed_file(path, f"{label}={value}")
    urls = _urls(((f"URL {n}", text) for n, text in enumerate(_parts(value), 1)), label)
    if not urls:
        raise SettingError(f"{label}: no URL to start from")
    return urls


def provided(plugin: Plugin, language: str) -> Seeds:
    """Return the normalised seed URLs of a plug-in; raises `SettingError` and `PluginError`."""
    provide = SEEDS.load(plugin.name)
    with plugin.blamed(SettingError):
        lines = list(islice(provide(language), _MOST_PROVIDED + 1))
        if len(lines) > _MOST_PROVIDED:
            raise ValueError(f"more than {_MOST_PROVIDED:,} seeds; write them to a file")
        urls = _urls(((f"URL {n}", text) for n, text in enumerate(lines, 1)), str(plugin))
    if not urls:
        raise SettingError(f"{plugin}: no URL to start from")
    return urls


def read_seed_file(path: Path, label: str) -> Seeds:
    """Return the distinct, normalised URLs of a file; raises `SettingError`.

    The file is UTF-8. Empty lines and lines that begin with `#` are skipped; of a table, the first
    column is read.
    """
    try:
        with open_regular(path) as file:
            return _checked(file, path)
    except SettingError:
        raise
    except (OSError, ValueError) as error:
        raise SettingError(f"{label}: cannot be read: {error}") from error


def _checked(file: BinaryIO, path: Path) -> Seeds:
    digest, number, line = blake2b(digest_size=16), 0, 1
    first: tuple[str, ...] = ()
    first_bytes = size = 0
    for block in iter(lambda: read_block(file, FIRST_BYTES), b""):
        digest.update(block)
        texts = lines_of(block)
        urls = _urls(((f"line {n}", text) for n, text in enumerate(texts, line)), str(path))
        first, first_bytes = first or urls, first_bytes or len(block)
        number, line, size = number + len(urls), line + len(texts) - 1, size + len(block)
    if not number:
        raise SettingError(f"{path}: no URL to start from")
    if size == first_bytes:
        return first
    return SeedFile(path, digest.hexdigest(), number, first, first_bytes)


def read_block(file: BinaryIO, most_bytes: int) -> bytes:
    """Return the next whole lines of a file, b"" at its end; a longer line is cut."""
    block = file.read(most_bytes)
    if len(block) < most_bytes:
        return block
    end = (block.rfind(b"\n") + 1 or block.rfind(b"\r") + 1) or len(block)
    file.seek(end - len(block), SEEK_CUR)
    return block[:end]


def lines_of(block: bytes) -> list[str]:
    """Return the lines of a block, comments as empty lines; raises ValueError."""
    lines = _LINE_END.split(block.decode("utf-8-sig"))
    return ["" if line.lstrip().startswith("#") else line for line in lines]


def urls_of(block: bytes) -> list[str]:
    """Return the URLs of a block that was checked before."""
    return list(filter(None, map(_url, filter(None, map(first_column, lines_of(block))))))


def _urls(texts: Iterable[tuple[str, str]], origin: str) -> tuple[str, ...]:
    urls = []
    for place, line in texts:
        text = first_column(line)
        if not text:
            continue
        url = _url(text)
        if url is None:
            raise SettingError(f"{origin}: {place} is not an http(s) URL: {text[:80]}")
        if has_bad_port(url):
            raise SettingError(f"{origin}: {place} has a port that no browser opens: {url[:80]}")
        urls.append(url)
    return tuple(dict.fromkeys(urls))


def first_column(line: str) -> str:
    """Return the text before the first tab; browsers would remove the tab and join the columns."""
    return line.strip().partition("\t")[0].rstrip()


def _url(text: str) -> str | None:
    if _IS_HTTP.match(text):
        return normalise(text)
    bare = text.removeprefix("//")
    host = re.split(r"[/\\?#]", bare, maxsplit=1)[0]
    is_name = "." in host[1:-1] and _NAME.fullmatch(host)
    if _SCHEME.match(bare) or not (is_name or _HOST.fullmatch(host)):
        return None
    return normalise(f"http://{bare}")


def _parts(value: str) -> list[str]:
    """Return the URLs between commas; a path may have commas (`/news,100.html`)."""
    parts: list[str] = []
    for part in value.split(","):
        is_of_path = parts and _PATH.match(parts[-1].strip()) and part.strip() == part != ""
        if is_of_path and "://" not in part:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _are_urls(value: str) -> bool:
    """Return True if all comma-separated texts begin with a registrable host."""
    domain_of = suffix_reader(has_platforms=False)
    parts = [part.strip() for part in _parts(value) if part.strip()]
    return bool(parts) and all(
        part.lower().startswith(_HTTP) or (_url(part) and domain_of(part).suffix) for part in parts
    )
