"""Items of pages as a Parquet file, written in groups of rows so that memory stays bounded."""

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, get_type_hints

from crawler.corpus.item import FIELDS, OtherParagraph, PageItem
from crawler.errors import SettingError

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

_ROWS = 1000
_MOST_CHARACTERS = 32_000_000
"""Characters of texts from which a group of rows is written early."""


class ParquetWriter:
    """Writes items into a binary file, compressed with Zstandard."""

    def __init__(self, file: IO[bytes]) -> None:
        """Begin a file; raises `SettingError` if pyarrow is missing."""
        arrow = _arrow()
        from pyarrow import parquet

        self._schema = schema()
        self._table = arrow.Table.from_pylist
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._characters = 0

    def write(self, item: PageItem) -> None:
        """Add an item."""
        self._rows.append(item.as_dict())
        self._characters += len(item.text or "")
        if len(self._rows) >= _ROWS or self._characters >= _MOST_CHARACTERS:
            self._write_group()

    def close(self) -> None:
        """Write the last rows and the end of the file."""
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if self._rows:
            self._writer.write_table(self._table(self._rows, schema=self._schema))
        self._rows, self._characters = [], 0


def check_parquet() -> None:
    """Raise `SettingError` if Parquet files cannot be written."""
    _arrow()


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise SettingError(
            "Parquet files need pyarrow: pip install 'langfocus[parquet]'"
        ) from error
    return pyarrow


def schema() -> "pyarrow.Schema":
    """Return the columns of a file: the fields of `PageItem`."""
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
    return arrow.schema([(name, of_type[_needed(hints[name])]) for name in FIELDS])


def _needed(hint: Any) -> Any:
    """Return the type of a value other than None."""
    others: Sequence[Any] = [
        part for part in getattr(hint, "__args__", ()) if part is not type(None)
    ]
    return others[0] if type(None) in getattr(hint, "__args__", ()) else hint
