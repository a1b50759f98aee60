"""What is wrong with the WARC files and the export of a run whose processes were killed."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from benchmarks.crawling import rows
from langfocus.crawler.corpus.building import TextOptions
from langfocus.crawler.corpus.export import export
from langfocus.crawler.frontier.base import PAGE
from langfocus.crawler.run.folder import reading

_SETTLED = "SELECT url FROM pages WHERE status IS NOT NULL"
_ROWS = "SELECT url, file, start, length FROM archived"
_PAGES = """\
SELECT url, fetched_at FROM pages WHERE outcome = ?
AND language = (SELECT value FROM meta WHERE key = 'lang')"""
_ANSWERS = ("response", "revisit")


def misarchived(folders: Sequence[Path]) -> list[str]:
    """Return the differences between the pages of run folders and their WARC files, by warcio.

    Every settled URL with an answer must have exactly one answer in the files, with a request and
    the right digests. The files must have no other bytes than those of the table `archived`.
    """
    settled = Counter(url for folder in folders for (url,) in rows(folder, _SETTLED))
    known = {row for folder in folders for row in rows(folder, _ROWS)}
    wrong: list[str] = []
    found = list(_answers(folders, wrong))
    kept = Counter(url for url, *_ in found if not url.endswith(("/robots.txt", "/tdmrep.json")))
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


def misexported(run: Path, file: Path) -> list[str]:
    """Return the differences between the pages of a run and its export to a file.

    Every page in the language must be there once, and no other page. Each copy must name a page
    that was fetched before.
    """
    done = export([run], file, "jsonl", TextOptions(keeps_copies=True, keeps_repeated=True))
    exported = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = Counter(item["url"] for item in exported)
    with reading(run) as connection:
        expected = dict(connection.execute(_PAGES, (PAGE,)).fetchall())
    wrong = [f"{url}: exported {number} times" for url, number in found.items() if number > 1]
    wrong += [f"{url}: no text" for url in expected.keys() - found.keys()]
    wrong += [f"{url}: a text without its page" for url in found.keys() - expected.keys()]
    for item in exported:
        url, earlier = item["url"], item["duplicate_of"]
        if earlier is not None and not expected.get(earlier, 1e99) <= expected.get(url, 0.0):
            wrong.append(f"{url}: a copy of {earlier}, which is no earlier page")
    kept = done.left_out.keys() - {"in another language", "without a language"}
    return wrong + [f"{done.left_out[reason]} pages left out: {reason}" for reason in sorted(kept)]
