"""What is wrong with the export of a run whose processes were killed."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from crawler.corpus.building import TextOptions
from crawler.corpus.export import export
from crawler.frontier.base import PAGE
from crawler.run import reading

_PAGES = """\
SELECT url, fetched_at FROM pages WHERE outcome = ?
AND language = (SELECT value FROM meta WHERE key = 'lang')"""


def misexported(run: Path, file: Path) -> list[str]:
    """Return the differences between the pages of a run and its export to a file.

    Every page in the language must be there once, and no other page. Each copy must name a page
    that was fetched before.
    """
    told = export([run], file, "jsonl", TextOptions(keeps_copies=True, keeps_repeated=True))
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
    kept = told.left_out.keys() - {"in another language", "without a language"}
    return wrong + [f"{told.left_out[reason]} pages left out: {reason}" for reason in sorted(kept)]


def differing(run: Path, other: Path, file: Path, is_left_out: Callable[[str], bool]) -> list[str]:
    """Return the URLs whose texts are not the same bytes at the same place in two exports.

    Some URLs are left out: those of hosts of which a crawl takes any ten.
    """
    one, two = (_exported(each, file, is_left_out) for each in (run, other))
    wrong = [
        f"{a} and {b}: not the same text"
        for (a, x), (b, y) in zip(one, two, strict=False)
        if (a, x) != (b, y)
    ]
    return wrong + [f"{len(one)} texts and {len(two)} without kills"] * (len(one) != len(two))


def _exported(run: Path, file: Path, is_left_out: Callable[[str], bool]) -> list[tuple[str, str]]:
    export([run], file, "jsonl", TextOptions(keeps_copies=True, keeps_repeated=True))
    items = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [(item["url"], item["text"]) for item in items if not is_left_out(item["url"])]
