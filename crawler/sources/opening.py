"""Webs by their names."""

from pathlib import Path

from crawler.errors import SettingError
from crawler.sources.contract import Web

KINDS = ("live", "sample", "archive")
"""The names of the Webs."""


def open_web(kind: str, *, archive: Path | None, hosts: int) -> Web | None:
    """Return the Web with that name, None for the live one.

    `archive` is the WARC file of an archive, `hosts` the size of the sample web. Raises
    `SettingError` for another name or an archive without a file, and `ArchiveError` for a file that
    cannot be replayed.
    """
    if kind == "live":
        return None
    if kind == "sample":
        from crawler.sources.sample import SampleWeb

        return SampleWeb(hosts=hosts)
    if kind != "archive":
        raise SettingError(f"there is no web {kind!r}: choose one of {', '.join(KINDS)}")
    if archive is None:
        raise SettingError("the web 'archive' needs a file to replay")
    from crawler.sources.archive import ArchiveWeb

    return ArchiveWeb(archive)
