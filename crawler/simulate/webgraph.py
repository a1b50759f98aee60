"""The link graph of a Web on disk: a folder with a memory-mapped file per column.

A vertex is a URL, seen as a page or only as a link target; its number is its row. A page is a
vertex with a recorded download. `graph.json` has the format version, the counts, the languages and
the provenance; each column is a `.npy` file. The shapes are V vertices, L links, S servers:

    page_server      int32 (V,)    server of a vertex, 0 to S - 1
    page_directory   int32 (V,)    directory of a vertex, unique over all servers, -1: the server's
                                   root (Tamura 2007, 4.3)
    page_language    int16 (V,)    index into `languages`, -1: none, or not known
    page_status      int8 (V,)     UNKNOWN, PAGE, FAILED or REDIRECT
    link_start       int64 (V+1,)  where the links of a vertex begin in `link_target`
    link_target      int32 (L,)    vertices, in the page's link order
    seeds            int32 (n,)    seed vertices in crawl order

Optional columns: `server_domain` int16 (S,) as an index into `domains` (-1: none), and URLs in
UTF-8 (`url_start` int64 (V+1,), `url_bytes` uint8).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from langfocus.crawler.errors import GraphError

# Read by code of classifiers.compiled.
UNKNOWN: Final = 0
"""Status of an unfetched URL: in a simulation it stays queued for ever, as in Tamura 2007, Fig. 7.
"""
PAGE: Final = 1
"""Status of a downloaded page; it counts for N_a, and for N_r if relevant."""
FAILED: Final = 2
"""Status of a URL without a page: dequeued in its turn, without any count."""
REDIRECT: Final = 3
"""Status of a redirect; its target has the same distance from the seeds."""

Column = npt.NDArray[Any]
Scalar = TypeVar("Scalar", bound=np.generic)


class _Kind(NamedTuple):
    """Column type, length and value range; length and range may be unset.

    A length or range end is the name of a graph count.
    """

    type: type
    length: str = ""
    least: int = 0
    end: str = ""


_COLUMNS: Final[Mapping[str, _Kind]] = {
    "page_server": _Kind(np.int32, "vertices", 0, "servers"),
    "page_directory": _Kind(np.int32, "vertices", -1, "directories"),
    "page_language": _Kind(np.int16, "vertices", -1, "languages"),
    "page_status": _Kind(np.int8, "vertices", 0, "statuses"),
    "link_start": _Kind(np.int64, "starts"),
    "link_target": _Kind(np.int32, "", 0, "vertices"),
    "seeds": _Kind(np.int32, "", 0, "vertices"),
    "server_domain": _Kind(np.int16, "servers", -1, "domains"),
    "url_start": _Kind(np.int64, "starts"),
    "url_bytes": _Kind(np.uint8),
}
_OPTIONAL: Final = ("server_domain", "url_start", "url_bytes")
_CHUNK: Final = 1 << 22
_URLS_AT_ONCE: Final = 50_000


@dataclass(frozen=True)
class WebGraph:
    """A link graph and its columns, memory-mapped if opened from a folder.

    `languages` are codes, `target` is the target language, `provenance` the maker's description
    of the origin.
    """

    languages: tuple[str, ...]
    target: str
    n_servers: int
    n_directories: int
    page_server: npt.NDArray[np.int32]
    page_directory: npt.NDArray[np.int32]
    page_language: npt.NDArray[np.int16]
    page_status: npt.NDArray[np.int8]
    link_start: npt.NDArray[np.int64]
    link_target: npt.NDArray[np.int32]
    seeds: npt.NDArray[np.int32]
    server_domain: npt.NDArray[np.int16] | None = None
    domains: tuple[str, ...] = ()
    url_start: npt.NDArray[np.int64] | None = None
    url_bytes: npt.NDArray[np.uint8] | None = None
    scores: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    """Scores of an ordering, (V,), higher is fetched earlier; not written to disk."""
    provenance: Mapping[str, object] = field(default_factory=dict)
    folder: Path | None = None

    @classmethod
    def open(cls, folder: Path | str) -> "WebGraph":
        """Open a folder written by `write`.

        Every number is validated once (a second for 100 million links), so that no simulation reads
        outside a column. Raises `GraphError` for a folder that is no graph, of another version, or
        damaged.
        """
        folder = Path(folder)
        facts = _facts(folder)
        names = [n for n in _COLUMNS if n not in _OPTIONAL or (folder / f"{n}.npy").is_file()]
        graph = cls(
            languages=facts.languages,
            target=facts.target,
            n_servers=facts.servers,
            n_directories=facts.directories,
            domains=facts.domains,
            provenance=facts.provenance,
            folder=folder,
            **{name: _column(folder, name) for name in names},
        )
        graph.check()
        return graph

    def write(self, folder: Path | str) -> None:
        """Create a folder and write all columns, then `graph.json`.

        A folder without `graph.json` is no graph, so an interrupted write is detected. Raises
        `GraphError` for a number out of range or a folder with a graph.
        """
        self.check()
        folder = Path(folder)
        if (folder / "graph.json").exists():
            raise GraphError(f"{folder}: there is a graph already")
        folder.mkdir(parents=True, exist_ok=True)
        for name, (column, _) in self._columns().items():
            np.save(folder / f"{name}.npy", column, allow_pickle=False)
        facts = {
            "version": 1,
            "vertices": self.n_vertices,
            "pages": self.n_pages,
            "links": self.n_links,
            "servers": self.n_servers,
            "directories": self.n_directories,
            "languages": list(self.languages),
            "target": self.target,
            "domains": list(self.domains),
            "provenance": dict(self.provenance),
        }
        text = json.dumps(facts, ensure_ascii=False, indent=1)
        (folder / "graph.json").write_text(text + "\n", encoding="utf-8")

    # Counts, links and texts.

    @property
    def n_vertices(self) -> int:
        """Number of URLs, downloaded or seen as link targets."""
        return len(self.page_server)

    @property
    def n_links(self) -> int:
        """Number of links; a page's repeated links count once."""
        return len(self.link_target)

    @cached_property
    def n_pages(self) -> int:
        """Number of downloaded pages."""
        return int(np.count_nonzero(self.page_status == PAGE))

    def language_index(self, target: str | None = None) -> int:
        """Return the index of a language; raises `GraphError` for a language without pages."""
        target = self.target if target is None else target
        try:
            return self.languages.index(target)
        except ValueError:
            known = ", ".join(self.languages[:12])
            raise GraphError(f"the graph has no page in {target!r}; it knows {known}") from None

    def relevant(self, target: str | None = None) -> npt.NDArray[np.bool_]:
        """Return a mask of vertices that are pages in the target language, (V,)."""
        is_relevant: npt.NDArray[np.bool_] = self.page_language == self.language_index(target)
        is_relevant &= self.page_status == PAGE
        return is_relevant

    def links(self, vertex: int) -> npt.NDArray[np.int32]:
        """Return the link targets of a vertex."""
        return self.link_target[self.link_start[vertex] : self.link_start[vertex + 1]]

    @property
    def has_urls(self) -> bool:
        """True if vertices have URLs."""
        return self.url_start is not None

    def url(self, vertex: int) -> str:
        """Return the URL of a vertex; raises `GraphError` for a graph without URLs."""
        if self.url_start is None or self.url_bytes is None:
            raise GraphError("the graph has no URLs")
        data = self.url_bytes[self.url_start[vertex] : self.url_start[vertex + 1]]
        return data.tobytes().decode("utf-8", "surrogatepass")

    def urls(self) -> Iterator[tuple[int, list[str]]]:
        """Yield a first vertex and consecutive URLs, up to the last vertex."""
        for first in range(0, self.n_vertices, _URLS_AT_ONCE):
            last = min(first + _URLS_AT_ONCE, self.n_vertices)
            yield first, [self.url(vertex) for vertex in range(first, last)]

    def check(self) -> None:
        """Raise `GraphError` where a column has another length or type, or a number is wrong."""
        counts = {
            "vertices": self.n_vertices,
            "starts": self.n_vertices + 1,
            "servers": self.n_servers,
            "directories": self.n_directories,
            "languages": len(self.languages),
            "domains": len(self.domains),
            "statuses": REDIRECT + 1,
        }
        place = "" if self.folder is None else f"{self.folder}: "
        for name, (column, kind) in self._columns().items():
            if column.dtype != kind.type or column.ndim != 1:
                raise GraphError(f"{place}{name} is not a column of {np.dtype(kind.type)}")
            length = counts.get(kind.length, len(column))
            if len(column) != length:
                raise GraphError(f"{place}{name} has {len(column)} rows, not {length}")
        if not self.n_vertices or not len(self.seeds):
            raise GraphError(f"{place}a graph has at least one vertex and one seed")
        if (self.url_start is None) != (self.url_bytes is None):
            raise GraphError(f"{place}url_start and url_bytes belong together")
        self.language_index()
        for name, (column, kind) in self._columns().items():
            if kind.end:
                _check_range(f"{place}{name}", column, kind.least, counts[kind.end])
        _check_starts(f"{place}link_start", self.link_start, self.n_links)
        if self.url_start is not None and self.url_bytes is not None:
            _check_starts(f"{place}url_start", self.url_start, len(self.url_bytes))

    def _columns(self) -> dict[str, tuple[Column, _Kind]]:
        """Return the graph's columns by name."""
        columns = {name: (getattr(self, name), kind) for name, kind in _COLUMNS.items()}
        return {name: pair for name, pair in columns.items() if pair[0] is not None}


def frozen(column: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return a column as the only array type accepted by the compiled functions."""
    view = np.asarray(column).view(np.ndarray)
    view.flags.writeable = False
    return view


def packed(texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return texts as starts (n + 1,) and bytes in UTF-8, as columns hold them."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=starts[1:])
    return starts, np.frombuffer(b"".join(encoded), np.uint8)


class _Facts(msgspec.Struct):
    """Fields of `graph.json`, parsed by `open`."""

    version: Literal[1]
    servers: int
    directories: int
    languages: tuple[str, ...]
    target: str
    domains: tuple[str, ...] = ()
    provenance: dict[str, Any] = {}


def _facts(folder: Path) -> _Facts:
    path = folder / "graph.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Facts)
    except FileNotFoundError:
        raise GraphError(f"{folder}: not the folder of a graph: it has no graph.json") from None
    except (OSError, msgspec.MsgspecError) as error:
        raise GraphError(f"{path}: no graph of this version ({error})") from error


def _column(folder: Path, name: str) -> Any:
    path = folder / f"{name}.npy"
    try:
        column = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise GraphError(f"{folder}: the column {name} is missing") from None
    except (OSError, ValueError, EOFError) as error:
        raise GraphError(f"{path}: cannot be read ({' '.join(str(error).split())})") from error
    if not isinstance(column, np.ndarray) or column.ndim != 1:
        raise GraphError(f"{path}: not a column")
    return column


def _check_range(place: str, column: Column, least: int, end: int) -> None:
    if not len(column):
        return
    lowest, highest = int(column.min()), int(column.max())
    if lowest < least or highest >= end:
        seen = lowest if lowest < least else highest
        raise GraphError(f"{place} has {seen}, which is not in {least}..{end - 1}")


def _check_starts(place: str, starts: npt.NDArray[np.int64], end: int) -> None:
    is_whole = starts[0] == 0 and starts[-1] == end
    for first in range(0, len(starts) - 1, _CHUNK):
        part = starts[first : first + _CHUNK + 1]
        is_whole = is_whole and bool((part[1:] >= part[:-1]).all())
    if not is_whole:
        raise GraphError(f"{place} does not rise from 0 to {end}")
