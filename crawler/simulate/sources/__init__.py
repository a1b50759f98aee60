"""The sources of graphs: run folders, WARC files, plain tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from crawler.errors import GraphError
from crawler.simulate.sources.source import GraphRow, GraphSource
from crawler.url import normalise

__all__ = ["GraphRow", "GraphSource", "sources_of"]

_WARC = (".warc", ".warc.gz")
_KINDS = (
    "the folder of a run, a folder with tables called pages and links, a WARC file, "
    "a table (.tsv, .tsv.gz, .parquet) or a list of seeds (.txt)"
)


class SeedList:
    """URLs where crawls begin, one a line; empty lines and those after `#` say nothing."""

    ordering = None

    def __init__(self, path: Path) -> None:
        self.name = f"seeds {path}"
        self.left_out: Counter[str] = Counter()
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise GraphError(f"{path}: cannot be read ({error})") from error
        self._seeds = []
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text and not text.startswith("#"):
                url = normalise(text)
                if url is None:
                    raise GraphError(f"{path}:{number}: {text[:80]!r} is no URL")
                self._seeds.append(url)

    def seeds(self) -> list[str]:
        """Return the URLs in their order."""
        return self._seeds

    def rows(self) -> Iterator[GraphRow]:
        """Yield nothing: a seed is no page yet."""
        return iter(())


def sources_of(paths: Sequence[Path], *, identify: str) -> list[GraphSource]:
    """Return the sources at these paths, in their order; raises `CrawlError`.

    `identify` names the method that tells the languages of pages in WARC files.
    """
    return [source for path in paths for source in _opened(Path(path), identify)]


def _opened(path: Path, identify: str) -> Iterator[GraphSource]:
    from crawler.simulate.sources.runs import RunSource
    from crawler.simulate.sources.table_files import ENDINGS, TableSource

    if not path.exists():
        raise GraphError(f"{path}: there is nothing; give {_KINDS}")
    if path.name == "run.db" or (path / "run.db").exists():
        yield RunSource(path)
    elif path.is_dir():
        yield from _of_folder(path)
    elif path.name.endswith(_WARC):
        yield _archive(path, identify)
    elif path.name.endswith(ENDINGS):
        yield TableSource(path)
    elif path.suffix == ".txt":
        yield SeedList(path)
    else:
        raise GraphError(f"{path}: not a source of a graph; give {_KINDS}")


def _archive(path: Path, identify: str) -> GraphSource:
    from classifiers.pages.text.fasttextengine import named_file
    from crawler.identification import page_method, page_reader
    from crawler.simulate.sources.archives import WarcSource

    return WarcSource(path, page_reader(page_method(identify, named_file())))


def _of_folder(folder: Path) -> Iterator[GraphSource]:
    from crawler.simulate.sources.table_files import ENDINGS, TableSource

    seeds = folder / "seeds.txt"
    if seeds.is_file():
        yield SeedList(seeds)
    found = [
        file
        for name in ("pages", "links")
        for ending in ENDINGS
        if (file := folder / f"{name}{ending}").is_file()
    ]
    if not any(file.name.startswith("pages") for file in found):
        raise GraphError(f"{folder}: neither a run nor a table called pages; give {_KINDS}")
    for file in found:
        yield TableSource(file)
