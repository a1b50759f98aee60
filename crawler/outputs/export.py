"""Files with the pages of runs: JSON lines, Parquet, plain text."""

import gzip
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final

from crawler.errors import SettingError
from crawler.outputs.page_item import KeptItems, PageItem
from crawler.outputs.parquet import ParquetWriter, check_parquet
from crawler.run_reader import reading
from crawler.whole_file import replacing

FORMATS: Final = ("jsonl", "parquet", "txt")


@dataclass(slots=True)
class Exported:
    """The numbers of an export. `duplicates` were left out if only clean pages were wanted."""

    pages: int = 0
    words: int = 0
    duplicates: int = 0
    damaged: int = 0


def format_of(path: Path | None, given: str | None) -> str:
    """Return the format of a file: the given one, else that of its name, else JSON lines.

    Raises `SettingError` for a name of another format.
    """
    if given is not None:
        return given
    if path is None:
        return FORMATS[0]
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind not in FORMATS:
        raise SettingError(f"--output {path}: name the format: --format {', '.join(FORMATS)}")
    return kind


def export(
    runs: Sequence[Path], path: Path | None, kind: str, *, is_clean: bool = False
) -> Exported:
    """Write the pages of runs whose text they keep; None: to standard output.

    With `is_clean`, and in plain text always, near-duplicates and pages without words are left out.
    A file is replaced as a whole at the end. Raises `RunFolderError` for a folder without a run and
    `SettingError` if the format cannot be written there.
    """
    if kind == "parquet":
        check_parquet()
        if path is None:
            raise SettingError("--format parquet needs --output FILE")
    told = Exported()
    with _opened(path) as file:
        write, end = _writer(file, kind)
        for item in _items(runs, told):
            is_copy = item.duplicate_of is not None
            told.duplicates += is_copy
            if (is_clean or kind == "txt") and (is_copy or not item.words):
                continue
            write(item)
            told.pages += 1
            told.words += 0 if is_copy else item.words or 0
        end()
    return told


def _items(runs: Iterable[Path], told: Exported) -> Iterator[PageItem]:
    for run in runs:
        with reading(run) as connection:
            items = KeptItems(connection)
            yield from items
            told.damaged += items.damaged


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[bytes]]:
    """Yield a binary file that replaces `path` after the block, if the block succeeds."""
    if path is None:
        yield sys.stdout.buffer
        return
    with replacing(path) as unfinished, unfinished.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
                yield file  # type: ignore[misc]  # it is a binary file
        else:
            yield raw


def _writer(file: IO[bytes], kind: str) -> tuple[Callable[[PageItem], None], Callable[[], None]]:
    """Return the function that writes an item, and the one that ends the file."""
    if kind == "parquet":
        parquet = ParquetWriter(file)
        return parquet.write, parquet.close
    line_of = _text_of if kind == "txt" else _json_of

    def write(item: PageItem) -> None:
        file.write(line_of(item).encode("utf-8", "replace"))

    return write, file.flush


def _json_of(item: PageItem) -> str:
    return json.dumps(asdict(item), ensure_ascii=False) + "\n"


def _text_of(item: PageItem) -> str:
    """Return the text of a page with an empty line after it."""
    return f"{item.text}\n\n"
