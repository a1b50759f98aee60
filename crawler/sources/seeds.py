"""The URLs that a crawl starts from, as the user gives them."""

import re
from collections.abc import Iterable
from pathlib import Path

from langfocus.classifiers.tables.suffixes import suffix_reader
from langfocus.crawler.errors import SettingError
from langfocus.crawler.politeness.network import has_bad_port
from langfocus.crawler.url import normalise
from langfocus.crawler.whole_file import read_regular

_MAX_FILE_BYTES = 256 * 1024 * 1024
_HTTP = ("http://", "https://")
_IS_HTTP = re.compile(r"https?:[/\\]", re.IGNORECASE)
_LINE_END = re.compile("\r\n|\r|\n")
# A scheme, but not a host with a port (`example.org:8080`).
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|$))")
_PATH = re.compile(r"(?:https?://)?(?!https?:)[^/?#]+[/?#].", re.IGNORECASE)
_NAME = re.compile(r"[^\s@\[\]\"'=,]+")
_HOST = re.compile(r"(?:localhost|\[[0-9A-Fa-f:.]+\])(?::\d+)?")


def read_seeds(value: str, label: str) -> tuple[str, ...]:
    """Return the normalised seed URLs of an argument, each once; raises `SettingError`.

    `value` is the path of a file with one URL a line, or URLs with commas between them. A comma in
    a path separates URLs only before a space or a scheme. A URL without a scheme is one of http.
    `label` is the name that messages use.
    """
    path = Path(value)
    if not value.lower().startswith(_HTTP) and (_exists(path) or not _are_urls(value)):
        return read_seed_file(path, f"{label}={value}")
    return _urls(((f"URL {n}", text) for n, text in enumerate(_parts(value), 1)), label)


def read_seed_file(path: Path, label: str) -> tuple[str, ...]:
    """Return the normalised URLs of a file, each once; raises `SettingError`.

    The file is UTF-8. Empty lines and lines that begin with `#` do not count; of a table, the first
    column does.
    """
    try:
        text = read_regular(path, _MAX_FILE_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise SettingError(f"{label}: cannot be read: {error}") from error
    lines = enumerate(_LINE_END.split(text), start=1)
    return _urls(
        ((f"line {n}", line) for n, line in lines if not line.lstrip().startswith("#")), str(path)
    )


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
    if not urls:
        raise SettingError(f"{origin}: no URL to start from")
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
    """Return True if all texts between commas begin with a host that may be registered."""
    domain_of = suffix_reader(has_platforms=False)
    parts = [part.strip() for part in _parts(value) if part.strip()]
    return bool(parts) and all(
        part.lower().startswith(_HTTP) or (_url(part) and domain_of(part).suffix) for part in parts
    )
