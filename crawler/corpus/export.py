"""Text exports to files in any format, packed or not."""

import fcntl
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from gzip import GzipFile
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast, get_args, get_type_hints

from langfocus.crawler.corpus.building import Corpus, CorpusSummary, OnProgress, TextOptions
from langfocus.crawler.corpus.formats import WRITERS, written
from langfocus.crawler.corpus.item import FIELDS, OtherParagraph, PageItem
from langfocus.crawler.errors import CrawlError, SettingError
from langfocus.crawler.run.whole_file import replacing

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

PACKINGS: Final = ("gz", "zst")
"""Endings of packed files, after the format's ending; Parquet packs itself."""

_ROWS: Final = 250
"""Rows per Parquet row group, which bounds memory."""


def format_of(path: Path | None, name: str | None = None) -> str:
    """Return the format with a name or for a file name, JSON lines for standard output.

    Raises `SettingError` for an unknown name or ending.
    """
    packing = _packing(path) if path else ""
    ending = (path.with_suffix("") if path and packing else path or Path("x.jsonl")).suffix
    kind = name or ending.removeprefix(".")
    if (kind == "parquet" and not packing) or WRITERS.knows(kind):
        return kind
    known = ", ".join((*WRITERS.names(), "parquet"))
    packed = " or ".join(f".{ending}" for ending in PACKINGS)
    told = f"--format {name}: not " if name else f"--output {path}: its name must end in "
    raise SettingError(f"{told}one of {known}; {packed} may end a file name, but for parquet")


def _packing(path: Path) -> str:
    """Return the packing for a file name, "" if unpacked."""
    ending = path.suffix.removeprefix(".")
    return ending if ending in PACKINGS else ""


def export(
    paths: Sequence[Path],
    path: Path | None,
    kind: str,
    options: TextOptions | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> CorpusSummary:
    """Write page texts into a file, replaced atomically; None: standard output.

    `paths` are runs, WARC files, packages, folders of these, or folders of HTML files. The work
    folder beside the file survives an interruption, and the next export resumes. Raises
    `CrawlError` for a path without pages and `SettingError` if the format cannot be written there.
    """
    if kind == "parquet" or (path and _packing(path) == "zst"):
        _arrow()  # raise for a missing pyarrow before any page is read
    if kind == "parquet" and path is None:
        raise SettingError("parquet needs --output FILE")
    with _working(path) as work, _opened(path) as file:
        corpus = Corpus(paths, work, options, on_progress)
        if kind == "parquet":
            _write_parquet(iter(corpus), file)
        else:
            for piece in written(kind, corpus):
                file.write(piece)
            file.flush()
    return corpus.summary


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """Yield a work folder; delete the folder if the block succeeds or the folder is empty.

    Raises `CrawlError` if another process uses the folder.
    """
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CrawlError(f"{folder}: another export works in it") from error
        try:
            yield folder
        except BaseException:
            if len(list(folder.iterdir())) == 1:
                shutil.rmtree(folder)
            raise
        shutil.rmtree(folder)


@contextmanager
def _working(path: Path | None) -> Iterator[Path]:
    if path is not None:
        with work_folder(path.with_name(f"{path.name}.parts")) as folder:
            yield folder
        return
    with tempfile.TemporaryDirectory(prefix="langfocus-") as temporary:
        yield Path(temporary)


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[bytes]]:
    """Yield a binary file that replaces `path` after the block, if the block succeeds."""
    if path is None:
        yield sys.stdout.buffer
        return
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        packing = _packing(path)
        if packing == "gz":
            # No name, no time: equal texts give equal bytes.
            with GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                yield cast(IO[bytes], packed)
        elif packing == "zst":
            with _arrow().CompressedOutputStream(file, "zstd") as packed:
                yield packed
        else:
            yield file


def _write_parquet(items: Iterator[PageItem], file: IO[bytes]) -> None:
    """Write items as rows, compressed with Zstandard."""
    import pyarrow
    from pyarrow import parquet

    schema = _schema()
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while rows := [item.as_dict() for item in islice(items, _ROWS)]:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise SettingError("Parquet and .zst files need pyarrow: pip install pyarrow") from error
    return pyarrow


def _schema() -> "pyarrow.Schema":
    """Return the Parquet columns, the fields of `PageItem`."""
    arrow = _arrow()
    of_type = {
        str: arrow.string(),
        int: arrow.int64(),
        float: arrow.float64(),
        bool: arrow.bool_(),
        list[str]: arrow.list_(arrow.string()),
        list[int]: arrow.list_(arrow.int64()),
        list[OtherParagraph]: arrow.list_(
            arrow.struct([(name, arrow.string()) for name in OtherParagraph.__annotations__])
        ),
    }
    hints = get_type_hints(PageItem)
    kinds = {name: {hints[name], *get_args(hints[name])} & of_type.keys() for name in FIELDS}
    return arrow.schema([(name, of_type[kind]) for name, (kind,) in kinds.items()])
