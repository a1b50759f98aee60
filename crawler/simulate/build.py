"""A graph of crawls, archives and tables; some 600 bytes of memory for a URL and 10 for a link."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.errors import ClassifierError
from classifiers.urls.cctld import top_level_domain
from crawler.errors import CrawlError, GraphError, SettingError
from crawler.simulate.sources import GraphRow, rows_of
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN, WebGraph, packed
from crawler.url import directory_of, fingerprint, host_of

_MOST_DOMAINS: Final = np.iinfo(np.int16).max
_RANKS: Final = {UNKNOWN: 0, FAILED: 1, REDIRECT: 2, PAGE: 3}
"""Where several sources give a status for a URL, the highest counts."""


def build(sources: Sequence[Path], folder: Path, target: str) -> WebGraph:
    """Write the graph of all sources into `folder` and return it, opened.

    `sources` are folders of runs, WARC files, tables and lists of seeds (see
    `crawler.simulate.sources`). For one URL a page counts more than a redirect, a redirect more
    than a failure, and of two pages the first; the next one fills in what it lacks. Crawls begin at
    the seeds of the sources, else at the first page.

    `provenance` of the graph counts under `left_out` the rows and links that are not in it, by
    reason. Raises `CrawlError` where a source cannot be read, no page is in the `target` language,
    or `folder` has a graph already.
    """
    folder = Path(folder)
    if (folder / "graph.json").exists():
        raise GraphError(f"{folder}: there is a graph already")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        assembly = _Assembly()
        for source in sources:
            for row in rows_of(Path(source), assembly.left_out):
                assembly.add(row)
        assembly.graph(target, sources).write(folder)
    except CrawlError:
        raise
    except ClassifierError as error:
        raise SettingError(str(error)) from error
    except OSError as error:
        raise GraphError(f"{folder}: cannot be written: {error}") from error
    finally:
        with suppress(OSError):
            folder.rmdir()  # nothing is in it where it failed
    return WebGraph.open(folder)


class _Assembly:
    """A graph while its sources are read: the facts of each URL by its number."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._numbers: dict[int, int] = {}
        self._urls: list[str] = []
        self._status, self._language = array("b"), array("h")
        self._links: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
        self._has_own_links: set[int] = set()
        self._languages: dict[str, int] = {}
        self._seeds: dict[int, None] = {}
        self._first_page: int | None = None

    def add(self, row: GraphRow) -> None:
        """Take in a row of a source."""
        vertex = self._vertex(row.url)
        if row.is_seed:
            self._seeds[vertex] = None
        # In the order in which a row names them.
        targets = [self._vertex(url) for url in row.links or ()]
        rank, before = _RANKS[row.status], _RANKS[self._status[vertex]]
        if rank > before:
            if self._status[vertex] == REDIRECT:
                self._links.pop(vertex, None)
                self._has_own_links.discard(vertex)
            self._status[vertex] = row.status
        if row.status == PAGE:
            self._first_page = vertex if self._first_page is None else self._first_page
            if row.language and self._language[vertex] < 0:
                number = self._languages.setdefault(row.language, len(self._languages))
                self._language[vertex] = number
        if row.links is None:
            return
        if row.status == UNKNOWN:  # a table of links has them in any number of rows
            self._links[vertex].extend(targets)
        elif rank >= before and vertex not in self._has_own_links:
            self._has_own_links.add(vertex)
            self._links[vertex].extend(targets)

    def _vertex(self, url: str) -> int:
        """The number of a URL, which is added if it is new."""
        vertex = self._numbers.setdefault(fingerprint(url), len(self._urls))
        if vertex == len(self._urls):
            self._urls.append(url)
            self._status.append(UNKNOWN)
            self._language.append(-1)
        return vertex

    def graph(self, target: str, sources: Sequence[Path]) -> WebGraph:
        """Return the graph; raises `GraphError` where no page is in the `target` language."""
        if self._first_page is None:
            raise GraphError("there is no page in the sources, so there is no graph")
        if target not in self._languages:
            known = ", ".join(list(self._languages)[:12]) or "none"
            raise GraphError(f"the sources have no page in {target!r}; languages: {known}")
        n_links = np.zeros(len(self._urls), np.int64)
        link_target = array("i")
        for vertex, status in enumerate(self._status):
            targets = dict.fromkeys(self._links.get(vertex, ()))
            # A URL that is not among the pages has no links, whatever a table of links says.
            if status == UNKNOWN:
                self.left_out["links of URLs that are not among the pages"] += len(targets)
            else:
                n_links[vertex] = len(targets)
                link_target.extend(targets)
                is_known = status != PAGE or vertex in self._links
                self.left_out["pages whose links are not known"] += not is_known
        url_start, url_bytes = packed(self._urls)
        return WebGraph(
            languages=tuple(self._languages),
            target=target,
            page_language=np.array(self._language, np.int16),
            page_status=np.array(self._status, np.int8),
            link_start=np.concatenate(([0], np.cumsum(n_links))),
            link_target=np.array(link_target, np.int32),
            seeds=np.array(list(self._seeds) or [self._first_page], np.int32),
            url_start=url_start,
            url_bytes=url_bytes,
            provenance={
                "source": ", ".join(map(str, sources)),
                "left_out": dict(+self.left_out),
            },
            **_server_columns(self._urls),
        )


def _server_columns(urls: Sequence[str]) -> dict[str, Any]:
    """The columns of a graph about servers and directories."""
    servers: dict[str, int] = {}
    directories: dict[str, int] = {}
    server, directory = array("i"), array("i")
    for url in urls:
        server.append(servers.setdefault(host_of(url), len(servers)))
        name = directory_of(url, 1)
        is_root = name.count("/") == 1
        directory.append(-1 if is_root else directories.setdefault(name, len(directories)))
    domains, server_domain = _domains(list(servers))
    return {
        "n_servers": len(servers),
        "n_directories": len(directories),
        "page_server": np.array(server, np.int32),
        "page_directory": np.array(directory, np.int32),
        "domains": domains,
        "server_domain": server_domain,
    }


def _domains(names: Sequence[str]) -> tuple[tuple[str, ...], npt.NDArray[np.int16]]:
    """Return the top-level domains of servers and the index of each server's, -1: none."""
    domains: dict[str, int] = {}
    indexes = np.full(len(names), -1, np.int16)
    for at, name in enumerate(names):
        domain = top_level_domain(name)
        is_name = bool(domain) and not domain.isdigit()
        if is_name and (domain in domains or len(domains) < _MOST_DOMAINS):
            indexes[at] = domains.setdefault(domain, len(domains))
    return tuple(domains), indexes
