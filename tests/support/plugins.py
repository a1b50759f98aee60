"""Plug-ins that are installed for a test: a module and the metadata of its distribution."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from langfocus.plugins import LinkSource


def install(
    folder: Path,
    module: str,
    code: str,
    points: Mapping[str, str],
    *,
    version: str = "1.0",
    patch: pytest.MonkeyPatch | None = None,
) -> Path:
    """Install the distribution `my-MODULE`; `points` have a line of entry points for each group.

    With `patch` this process finds it too.
    """
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.py").write_text(dedent(code), encoding="utf-8")
    for old in folder.glob(f"my_{module}-*.dist-info/*"):
        old.unlink()
    about = folder / f"my_{module}-{version}.dist-info"
    about.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: my-{module}\nVersion: {version}\n"
    (about / "METADATA").write_text(metadata, encoding="utf-8")
    lines = (f"[langfocus.{group}]\n{line}\n" for group, line in points.items())
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    (about / "RECORD").write_text(f"{module}.py,,\n", encoding="utf-8")
    if patch is not None:
        patch.syspath_prepend(str(folder))
    return folder


class Latest:
    """An ordering and a filter for `SmallWeb`: the highest number first, and none with a 3."""

    rules = "none"

    def __init__(self, *made_for: object) -> None:
        pass

    def scores(self, urls: Sequence[str], source: LinkSource) -> list[float]:
        return [float(url.rpartition("/")[2].replace("x", "") or 0) for url in urls]

    def accepts(self, urls: Sequence[str], source: LinkSource) -> list[bool]:
        return [not url.endswith("3") for url in urls]


class Other(Latest):
    """Another one that does the same."""
