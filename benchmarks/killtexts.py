"""What is wrong with the texts of a run whose processes were killed, and with their export."""

import json
from collections import Counter
from pathlib import Path

from crawler.outputs.export import export
from crawler.report.harvest import summarise
from tests.support.crawls import rows

_PAGES = (
    "SELECT url, id FROM pages WHERE outcome = 'page'"
    " AND language = (SELECT value FROM meta WHERE key = 'lang')"
)


def misexported(run: Path, file: Path) -> list[str]:
    """Return the differences between the pages of a run, their texts and their export to a file.

    Every page in the language must have one text, and no other page one. The export must have each
    once, with the words of the run. Each copy must name a page that was settled before.
    """
    told = export([run], file, "jsonl")
    exported = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = Counter(item["url"] for item in exported)
    expected = dict(rows(run, _PAGES))
    wrong = [f"{url}: exported {number} times" for url, number in found.items() if number > 1]
    wrong += [f"{url}: no text" for url in expected.keys() - found.keys()]
    wrong += [f"{url}: a text without its page" for url in found.keys() - expected.keys()]
    for item in exported:
        url, earlier = item["url"], item["duplicate_of"]
        if earlier is not None and not expected.get(earlier, 1 << 60) < expected.get(url, 0):
            wrong.append(f"{url}: a copy of {earlier}, which is no earlier page")
    words = summarise(run).corpus.words
    if told.words != words:
        wrong.append(f"{told.words} words exported, {words} in the run")
    return wrong + [f"{told.damaged} damaged texts"] * bool(told.damaged)
