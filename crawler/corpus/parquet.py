"""Items of pages as a Parquet file, written in groups of rows so that memory stays bounded."""

from typing import IO, TYPE_CHECKING, Any, get_args, get_type_hints

from crawler.corpus.item import FIELDS, OtherParagraph, PageItem
from crawler.errors import SettingError

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

_ROWS = 250


class ParquetWriter:
    """Writes items into a binary file, compressed with Zstandard."""

    def __init__(self, file: IO[bytes]) -> None:
        """Begin a file; raises `SettingError` if pyarrow is missing."""
        self._schema = schema()
        from pyarrow import parquet

        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, item: PageItem) -> None:
        """Add an item."""
        self._rows.append(item.as_dict())
        if len(self._rows) >= _ROWS:
            self._write_group()

    def close(self) -> None:
        """Write the last rows and the end of the file."""
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if self._rows:
            import pyarrow

            self._writer.write_table(pyarrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


def schema() -> "pyarrow.Schema":
    """Return the columns of a file, the fields of `PageItem`; `SettingError` without pyarrow."""
    try:
        import pyarrow as arrow
    except ImportError as error:
        raise SettingError(
            "Parquet files need pyarrow: pip install 'langfocus[parquet]'"
        ) from error
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
