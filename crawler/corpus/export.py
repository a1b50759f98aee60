"""Files with the texts of pages, in any of the formats, packed or not."""

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
from langfocus.crawler.corpus.formats import WRITERS
from langfocus.crawler.corpus.item import FIELDS, OtherParagraph, PageItem
from langfocus.crawler.errors import CrawlError, SettingError
from langfocus.crawler.run.whole_file import replacing

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

FORMATS: Final = (*WRITERS, "parquet")
PACKINGS: Final = ("gz", "zst")
"""Endings of packed files, behind that of their format; Parquet packs itself."""

_ROWS: Final = 250
"""Rows of a group in a Parquet file, so that memory stays bounded."""


def format_of(path: Path | None) -> str:
    """Return the format of a file by its name, JSON lines for standard output.

    Raises `SettingError` for a name of another format.
    """
    if path is None:
        return FORMATS[0]
    packing = _packing(path)
    kind = (path.with_suffix("") if packing else path).suffix.removeprefix(".")
    if kind not in (WRITERS if packing else FORMATS):
        packed = " or ".join(f".{ending}" for ending in PACKINGS)
        raise SettingError(
            f"--output {path}: its name must end in one of {', '.join(FORMATS)}; "
            f"{packed} may follow, but for parquet"
        )
    return kind


def _packing(path: Path) -> str:
    """Return how a file is packed by its name, "" if it is not."""
    ending = path.suffix.removeprefix(".")
    return ending if ending in PACKINGS else ""


def export(
    paths: Sequence[Path],
    path: Path | None,
    kind: str,
    options: TextOptions | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> CorpusSummary:
    """Write the texts of pages into a file, which is replaced as a whole; None: standard output.

    `paths` are runs, WARC files, packages, or folders of them or of HTML files. The work folder
    beside the file stays after an interruption, and the next export goes on there. Raises
    `CrawlError` for a path without pages and `SettingError` if the format cannot be written there.
    """
    if kind == "parquet" or (path and _packing(path) == "zst"):
        _arrow()  # it is missing before anything is read, not after
    if kind == "parquet" and path is None:
        raise SettingError("parquet needs --output FILE")
    with _working(path) as work, _opened(path) as file:
        corpus = Corpus(paths, work, options, on_progress)
        if kind == "parquet":
            _write_parquet(iter(corpus), file)
        else:
            for text in WRITERS[kind](corpus):
                file.write(text.encode("utf-8", "replace"))
            file.flush()
    return corpus.summary


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """Yield a work folder, and delete it after the block if that succeeds or has left nothing.

    Raises `CrawlError` if another process works in it.
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
            # Without name and time: the same texts are the same bytes.
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
    """Return the columns of a file, the fields of `PageItem`."""
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
