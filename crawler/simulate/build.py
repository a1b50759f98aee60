"""A graph on disk, made from crawls, archives and tables.

URLs are known by their fingerprints, so that memory holds about 100 bytes of one and neither its
text nor any link; those go through files in the graph's folder.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import numpy as np
import numpy.typing as npt

from classifiers.errors import ClassifierError
from crawler.errors import CrawlError, GraphError, SettingError
from crawler.simulate.sources import GraphRow, GraphSource, sources_of
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN, WebGraph, packed
from crawler.url import directory_of, fingerprint, host_of, normalise

Scalar = TypeVar("Scalar", bound=np.generic)

_URLS_AT_A_TIME = 100_000
_LEAST_SLOTS = 1 << 16
_FULL = 0.6
"""The part of a table's slots that may be taken."""
_MOST_BYTES = np.iinfo(np.int32).max
_MOST_DOMAINS = np.iinfo(np.int16).max
_RANKS: Final[Mapping[int, int]] = {UNKNOWN: 0, FAILED: 1, REDIRECT: 2, PAGE: 3}
"""Where several sources give a status for a URL, the highest counts."""
_SCORED: Final = ("svm", "cctld")
"""Orderings whose scores depend on nothing but the URL."""

_REPEATED = "URLs that were known before"
_LINKS_AGAIN = "links of pages whose links were known"
_ORPHANS = "links of URLs that are not among the pages"
_WITHOUT_LINKS = "pages whose links are not known"


@dataclass(frozen=True)
class GraphOptions:
    """How a graph is made of its sources.

    Crawls look for pages in `target`. `directory_depth` directories of a path make a unit.
    `orderings` are scored for every URL; the scores that a run recorded are taken as they are.
    `identify` names the method that tells the languages of pages in WARC files. Crawls begin at
    `seeds`, else at the seeds of the sources, else at the first page.
    """

    target: str
    directory_depth: int = 1
    orderings: Sequence[str] = ()
    identify: str = "composite"
    seeds: Sequence[str] = ()

    def check(self) -> None:
        """Raise `SettingError` for an ordering without scores and for a depth below 1."""
        for name in self.orderings:
            if name not in _SCORED:
                raise SettingError(
                    f"{name} does not score URLs; those that do are {', '.join(_SCORED)}"
                )
        if self.directory_depth < 1:
            raise SettingError(f"directory_depth={self.directory_depth}: 1 or more is needed")


def build(sources: Sequence[Path], folder: Path, options: GraphOptions) -> WebGraph:
    """Write the graph of all sources into `folder` and return it, opened.

    `sources` are folders of runs, WARC and WAT files, tables and lists of seeds (see
    `crawler.simulate.sources`). For one URL a page counts more than a redirect, a
    redirect more than a failure, and of two pages the first counts. The next page fills in facts
    that the first one lacks (a WAT file knows no languages).

    `provenance` of the graph counts under `left_out` the rows and links that are not in it, by
    reason. Raises `CrawlError` where a source cannot be read, no page is in `options.target`, or
    `folder` has a graph already.
    """
    options.check()
    given = _normal_seeds(options.seeds)
    folder = Path(folder)
    if (folder / "graph.json").exists():
        raise GraphError(f"{folder}: there is a graph already")
    try:
        opened = sources_of(sources, identify=options.identify)
        provenance = _provenance(opened, options)
        folder.mkdir(parents=True, exist_ok=True)
        with _assembly(folder, options) as assembly:
            for number, source in enumerate(opened, 1):
                assembly.read(source, number)
            told = [url for source in opened for url in source.seeds()]
            assembly.graph(given or told, provenance).write(folder)
    except CrawlError:
        raise
    except ClassifierError as error:
        raise SettingError(str(error)) from error
    except OSError as error:
        raise GraphError(f"{folder}: cannot be written: {error}") from error
    finally:
        with suppress(OSError):
            folder.rmdir()  # nothing is in it where it failed
    return WebGraph.open(folder, check=False)


@contextmanager
def _assembly(folder: Path, options: GraphOptions) -> Iterator["_Assembly"]:
    """An assembly whose files are in a folder of their own, which is deleted at the end."""
    with (
        tempfile.TemporaryDirectory(prefix=".", dir=folder) as spool,
        closing(_Assembly(Path(spool), options)) as assembly,
    ):
        yield assembly


def _normal_seeds(seeds: Sequence[str]) -> list[str]:
    urls = []
    for text in seeds:
        url = normalise(text)
        if url is None:
            raise SettingError(f"seed {text!r} is no URL")
        urls.append(url)
    return urls


def _provenance(sources: Sequence[GraphSource], options: GraphOptions) -> Mapping[str, object]:
    return {
        "made_by": "build",
        "sources": [source.name for source in sources],
        "directory_depth": options.directory_depth,
        "identify": options.identify,
    }


class _Numbering:
    """Numbers for keys of 64 bits, from 0 on in the order in which they come.

    A key takes 20 to 40 bytes, and half as much again while the table grows.
    """

    def __init__(self) -> None:
        self.known = 0
        self._keys, self._numbers = _table(_LEAST_SLOTS)

    def number(
        self, keys: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Return the number of each key and whether it is new there."""
        from crawler.simulate import joining

        while self.known + len(keys) > _FULL * len(self._keys):
            larger = _table(2 * len(self._keys))
            joining.move(self._keys, self._numbers, *larger)
            self._keys, self._numbers = larger
        told = np.empty(len(keys), np.int32)
        is_new = np.empty(len(keys), np.bool_)
        self.known = joining.number(keys, self._keys, self._numbers, self.known, told, is_new)
        return told, is_new


def _table(slots: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    from crawler.simulate import joining

    return np.zeros(slots, np.int64), np.full(slots, joining.FREE, np.int32)


@dataclass
class _Vertices:
    """The facts about each URL; the arrays are longer than there are URLs.

    `source` is the number of the source that gave the links, 0: none. Links that were written
    before `links_from`, as a number of links, do not count any more. A `score` is NaN where no run
    has one.
    """

    server: npt.NDArray[np.int32]
    directory: npt.NDArray[np.int32]
    language: npt.NDArray[np.int16]
    status: npt.NDArray[np.int8]
    size: npt.NDArray[np.int32]
    url_length: npt.NDArray[np.int32]
    source: npt.NDArray[np.int32]
    links_from: npt.NDArray[np.int64]
    score: npt.NDArray[np.float32]

    @classmethod
    def empty(cls) -> "_Vertices":
        """Return none."""
        return cls(
            server=np.empty(0, np.int32),
            directory=np.empty(0, np.int32),
            language=np.empty(0, np.int16),
            status=np.empty(0, np.int8),
            size=np.empty(0, np.int32),
            url_length=np.empty(0, np.int32),
            source=np.empty(0, np.int32),
            links_from=np.empty(0, np.int64),
            score=np.empty(0, np.float32),
        )

    def make_room(self, number: int) -> None:
        """Make room for that many; values that are not set later are unknown."""
        missing = number - len(self.server)
        if missing > 0:
            missing = max(missing, len(self.server) // 2)
            unknown = {"language": -1, "directory": -1, "score": np.nan}
            for name, column in vars(self).items():
                more = np.full(missing, unknown.get(name, 0), column.dtype)
                setattr(self, name, np.concatenate((column, more)))


class _Assembly:
    """A graph while its sources are read; its texts and links are in files of `spool`."""

    def __init__(self, spool: Path, options: GraphOptions) -> None:
        self._spool = spool
        self._depth = options.directory_depth
        self._orderings = options.orderings
        self._target = options.target
        self._numbering, self._directories = _Numbering(), _Numbering()
        self._vertices = _Vertices.empty()
        self._servers: dict[str, int] = {}
        self._languages: dict[str, int] = {}
        self._left_out: Counter[str] = Counter()
        self._first_page = -1
        self._n_links = 0
        self._has_scores = False
        self._urls: list[str] = []
        self._rows: list[GraphRow] = []
        self._url_file: BinaryIO = (spool / "urls").open("wb")
        self._link_file: BinaryIO = (spool / "links").open("wb")

    # Reading.

    def read(self, source: GraphSource, number: int) -> None:
        """Take in all that a source knows; `number` is above 0."""
        takes_scores = source.ordering in self._orderings
        self._has_scores = self._has_scores or takes_scores
        for row in source.rows():
            self._rows.append(row)
            self._urls.append(row.url)
            self._urls.extend(row.links or ())
            if len(self._urls) >= _URLS_AT_A_TIME:
                self._take_in(source, number, takes_scores=takes_scores)
        self._take_in(source, number, takes_scores=takes_scores)
        self._left_out.update(source.left_out)

    def _take_in(self, source: GraphSource, number: int, *, takes_scores: bool) -> None:
        vertices = self._vertices_of(self._urls)
        pairs: list[npt.NDArray[np.int32]] = []
        at = 0
        for row in self._rows:
            links = row.links or ()
            vertex, targets = int(vertices[at]), vertices[at + 1 : at + 1 + len(links)]
            at += 1 + len(links)
            is_told = self._settle(vertex, row)
            if takes_scores and row.score is not None:
                self._vertices.score[vertex] = row.score
            if row.links is not None and is_told:
                self._add_links(vertex, targets, source, number, pairs)
        if pairs:
            np.concatenate(pairs).tofile(self._link_file)
        self._rows, self._urls = [], []

    def _settle(self, vertex: int, row: GraphRow) -> bool:
        """Note the facts of a row about its URL; False if more is known already."""
        known = self._vertices
        rank, before = _RANKS[row.status], _RANKS[int(known.status[vertex])]
        if rank < before and rank:
            self._left_out[_REPEATED] += 1
            return False
        if rank > before:
            if int(known.status[vertex]) == REDIRECT:
                known.source[vertex], known.links_from[vertex] = 0, self._n_links
            known.status[vertex] = row.status
        elif rank and rank == before and not self._fills(vertex, row):
            self._left_out[_REPEATED] += 1
            return False
        if row.status == PAGE:
            if self._first_page < 0:
                self._first_page = vertex
            if row.language and known.language[vertex] < 0:
                known.language[vertex] = self._languages.setdefault(
                    row.language, len(self._languages)
                )
            if not known.size[vertex]:
                known.size[vertex] = min(row.bytes, _MOST_BYTES)
        return True

    def _fills(self, vertex: int, row: GraphRow) -> bool:
        """True if a row adds facts about a known page."""
        known = self._vertices
        return (
            (row.language is not None and known.language[vertex] < 0)
            or (row.links is not None and not known.source[vertex])
            or (row.bytes > 0 and not known.size[vertex])
        )

    def _add_links(
        self,
        vertex: int,
        targets: npt.NDArray[np.int32],
        source: GraphSource,
        number: int,
        pairs: list[npt.NDArray[np.int32]],
    ) -> None:
        by = int(self._vertices.source[vertex])
        if by and not (by == number and source.has_scattered_links):
            self._left_out[_LINKS_AGAIN] += len(targets)
            return
        self._vertices.source[vertex] = number
        if len(targets):
            links = np.empty((len(targets), 2), np.int32)
            links[:, 0], links[:, 1] = vertex, targets
            pairs.append(links)
            self._n_links += len(targets)

    def _vertices_of(self, urls: Sequence[str]) -> npt.NDArray[np.int32]:
        keys = np.fromiter(map(fingerprint, urls), np.int64, len(urls))
        known = self._numbering.known
        vertices, is_new = self._numbering.number(keys)
        self._add_vertices([urls[at] for at in np.flatnonzero(is_new).tolist()], known)
        return vertices

    def _add_vertices(self, urls: Sequence[str], first: int) -> None:
        end = first + len(urls)
        self._vertices.make_room(end)
        texts = [url.encode("utf-8", "surrogatepass") for url in urls]
        self._url_file.write(b"".join(texts))
        self._vertices.url_length[first:end] = [len(text) for text in texts]
        servers = self._servers
        self._vertices.server[first:end] = [
            servers.setdefault(host, len(servers)) for host in map(host_of, urls)
        ]
        below = [
            (at, directory)
            for at, url in enumerate(urls, first)
            if (directory := directory_of(url, self._depth)).count("/") > 1
        ]
        if below:
            keys = np.fromiter((fingerprint(name) for _, name in below), np.int64, len(below))
            numbers, _ = self._directories.number(keys)
            self._vertices.directory[[at for at, _ in below]] = numbers

    # The graph.

    def close(self) -> None:
        """Close the files of texts and links."""
        self._url_file.close()
        self._link_file.close()

    def graph(self, seeds: Sequence[str], provenance: Mapping[str, object]) -> WebGraph:
        """Return the graph; its long columns are files of the spool."""
        seed_vertices = self._seeds(seeds)
        self.close()
        known, n = self._vertices, self._numbering.known
        self._check_language()
        link_start, link_target = self._links(n)
        url_start = _starts(known.url_length[:n])
        url_bytes = _mapped(self._spool / "urls", np.dtype(np.uint8))
        is_page = known.status[:n] == PAGE
        self._left_out[_WITHOUT_LINKS] += int(np.count_nonzero(is_page & (known.source[:n] == 0)))
        left_out = {reason: number for reason, number in self._left_out.items() if number}
        scores = {name: self._scores(name, url_start, url_bytes) for name in self._orderings}
        return WebGraph(
            languages=tuple(self._languages),
            target=self._target,
            n_directories=self._directories.known,
            page_server=known.server[:n],
            page_directory=known.directory[:n],
            page_language=known.language[:n],
            page_status=known.status[:n],
            link_start=link_start,
            link_target=link_target,
            seeds=seed_vertices,
            page_bytes=known.size[:n],
            url_start=url_start,
            url_bytes=url_bytes,
            scores=scores,
            provenance={**provenance, "left_out": left_out},
            **_server_columns(list(self._servers)),
        )

    def _check_language(self) -> None:
        if self._first_page < 0:
            raise GraphError("there is no page in the sources, so there is no graph")
        if self._target not in self._languages:
            known = ", ".join(list(self._languages)[:12]) or "none"
            raise GraphError(f"the sources have no page in {self._target!r}; languages: {known}")

    def _seeds(self, urls: Sequence[str]) -> npt.NDArray[np.int32]:
        if not urls:
            return np.array([self._first_page], np.int32)
        vertices = self._vertices_of(urls)
        return np.array(list(dict.fromkeys(vertices.tolist())), np.int32)

    def _links(self, n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        from crawler.simulate import joining

        pairs = _mapped(self._spool / "links", np.dtype(np.int32))
        valid_from = self._vertices.links_from[:n]
        start = np.empty(n + 1, np.int64)
        # A URL that gave no page has no links, whatever a table of links says.
        is_void = self._vertices.status[:n] <= UNKNOWN
        valid_from[is_void] = self._n_links
        joining.count(pairs, valid_from, start)
        n_links = int(start[-1])
        self._left_out[_ORPHANS] += self._n_links - n_links
        target: npt.NDArray[np.int32] = _new_file(self._spool / "targets", n_links)
        joining.sort(pairs, valid_from, start, target)
        joining.without_repeats(start, target, np.empty(n, np.int32))
        return start, target[: start[-1]]

    def _scores(
        self,
        ordering: str,
        starts: npt.NDArray[np.int64],
        texts: npt.NDArray[np.uint8],
    ) -> npt.NDArray[np.float32]:
        from crawler.strategies import SEED, make_ordering

        rule = make_ordering(ordering, self._target)
        n = len(starts) - 1
        scores = np.empty(n, np.float32)
        for first in range(0, n, _URLS_AT_A_TIME):
            end = min(n, first + _URLS_AT_A_TIME)
            scores[first:end] = rule.scores(list(_texts(starts[first : end + 1], texts)), SEED)
        if ordering == "svm" and self._has_scores:
            written = self._vertices.score[:n]
            np.copyto(scores, written, where=~np.isnan(written))
        return scores


def _starts(lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _texts(starts: npt.NDArray[np.int64], texts: npt.NDArray[np.uint8]) -> Iterator[str]:
    offset = int(starts[0])
    data = texts[offset : int(starts[-1])].tobytes()
    places = (starts - offset).tolist()
    for at in range(len(places) - 1):
        yield data[places[at] : places[at + 1]].decode("utf-8", "surrogatepass")


def _mapped(path: Path, kind: "np.dtype[Scalar]") -> npt.NDArray[Scalar]:
    if not path.stat().st_size:
        return np.empty(0, kind)
    column: np.memmap[Any, np.dtype[Scalar]] = np.memmap(path, kind, "r")
    return column.view(np.ndarray)


def _new_file(path: Path, length: int) -> npt.NDArray[np.int32]:
    if not length:
        return np.empty(0, np.int32)
    column: np.memmap[Any, np.dtype[np.int32]] = np.memmap(path, np.int32, "w+", shape=(length,))
    return column.view(np.ndarray)


def _server_columns(names: Sequence[str]) -> dict[str, Any]:
    """The columns of a graph about its servers."""
    domains, server_domain = _domains(names)
    server_start, server_bytes = packed(names)
    return {
        "n_servers": len(names),
        "domains": domains,
        "server_domain": server_domain,
        "server_start": server_start,
        "server_bytes": server_bytes,
    }


def _domains(names: Sequence[str]) -> tuple[tuple[str, ...], npt.NDArray[np.int16]]:
    """Return the top-level domains of servers and the index of each server's, -1: none."""
    from classifiers.urls.cctld import top_level_domain

    domains: dict[str, int] = {}
    indexes = np.full(len(names), -1, np.int16)
    for at, name in enumerate(names):
        domain = top_level_domain(name)
        is_name = bool(domain) and not domain.isdigit()
        if is_name and (domain in domains or len(domains) < _MOST_DOMAINS):
            indexes[at] = domains.setdefault(domain, len(domains))
    return tuple(domains), indexes
