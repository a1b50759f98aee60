"""What is wrong with the WARC files of a run whose processes were killed, as warcio reads them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from tests.support.crawls import rows

_SETTLED = "SELECT url FROM pages WHERE status IS NOT NULL"
_ROWS = "SELECT url, file, start, length FROM archived"
_ANSWERS = ("response", "revisit")


def misarchived(folders: Sequence[Path]) -> list[str]:
    """Return the differences between the pages of run folders and their WARC files.

    Every settled URL with an answer must have exactly one answer in the files, with a request and
    the right digests. The files must have no other bytes than those of the table `archived`.
    """
    settled = Counter(url for folder in folders for (url,) in rows(folder, _SETTLED))
    known = {row for folder in folders for row in rows(folder, _ROWS)}
    wrong: list[str] = []
    found = list(_answers(folders, wrong))
    kept = Counter(url for url, *_ in found if not url.endswith("/robots.txt"))
    wrong += [f"{url}: {n} times in the WARC files" for url, n in kept.items() if n > 1]
    wrong += [f"{url}: not in the WARC files" for url in settled.keys() - kept.keys()]
    wrong += [f"{url}: in the WARC files, not settled" for url in kept.keys() - settled.keys()]
    wrong += [f"{row}: not at its place in the WARC files" for row in known - set(found)]
    wrong += [f"{row}: not in the table of the run" for row in set(found) - known]
    return wrong


def _answers(folders: Iterable[Path], wrong: list[str]) -> Iterator[tuple[str, str, int, int]]:
    """Yield URL, file, offset and length of each answer; faults are added to `wrong`."""
    for path in (path for folder in folders for path in sorted(folder.glob("pages-*"))):
        kinds: Counter[str] = Counter()
        with path.open("rb") as file:
            records = ArchiveIterator(file, check_digests="raise")
            try:
                for record in records:
                    record.raw_stream.read()
                    kinds[record.rec_type] += 1
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    if record.rec_type in _ANSWERS:
                        offset = records.get_record_offset()
                        yield url, path.name, offset, records.get_record_length()
            except ArchiveLoadFailed as error:
                wrong.append(f"{path.name}: {error}")
        if kinds["request"] != kinds["response"] + kinds["revisit"] or kinds["warcinfo"] != 1:
            wrong.append(f"{path.name}: {dict(kinds)}")
