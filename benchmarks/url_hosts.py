"""Listed places judged by URLs of other sources: `python -m benchmarks.url_hosts URLS`.

The model learns two thirds of the registered domains. Of the last third, each source of labels is
judged in turn: the places are those of the other sources, and the URLs those of the source on the
same registered domains, at most two of a domain and language.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from langfocus.classifiers.datasets.rows import (
    LabelledUrl,
    LabelledUrls,
    domain_reader,
    stable_share,
)
from langfocus.classifiers.training.hosts import UNLISTED_KINDS, with_hosts
from langfocus.classifiers.training.urls import Options, fit, is_reliable, usable
from langfocus.classifiers.urls.model import UrlModel

JUDGED: Final = 2
"""The third that is judged."""
MOST: Final = 2
FREQUENT: Final = frozenset("en de fr es it ru".split())
SURE: Final = 0.9
_SAME: Final = {"adguard_regional": "easylist"}


def list_of(source: str) -> str:
    """Return the list that a source is a version of."""
    name = source.removesuffix("_history").removesuffix("_commit_urls").removesuffix("_regional")
    name = name.removesuffix("_secteur_public").removesuffix("_extensions")
    return _SAME.get(source, name)


def judged(rows: Sequence[LabelledUrl], source: str) -> list[LabelledUrl]:
    """Return a list's URLs on registered domains that other lists have too."""
    domain = domain_reader()
    others = {domain(row.url) for row in rows if list_of(row.source) != source}
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for row in rows:
        place = domain(row.url), row.language
        is_judged = list_of(row.source) == source and row.label_kind not in UNLISTED_KINDS
        if is_judged and place[0] in others and seen[place] < MOST:
            seen[place] += 1
            kept.append(row)
    return kept


def count(model: UrlModel, rows: Sequence[LabelledUrl]) -> Counter[str]:
    """Return how many URLs there are, how many are right, and surely wrong."""
    found: Counter[str] = Counter()
    for row, answer in zip(rows, model.identify_many([row.url for row in rows]), strict=True):
        is_right = answer.language == row.language
        kind = "frequent" if row.language in FREQUENT else "other"
        found.update([f"{kind} URLs"] + [f"{kind} right"] * is_right)
        found["surely wrong"] += not is_right and answer.confidence > SURE
    return found


def main() -> None:
    """Print the counts without and with listed places."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("urls", type=Path)
    domain = domain_reader()
    known = usable(LabelledUrls(parser.parse_args().urls))
    thirds = [int(3 * stable_share(domain(row.url), 0, "words")) for row in known]
    pairs = list(zip(known, thirds, strict=True))
    model = fit([row for row, third in pairs if third != JUDGED], Options())
    rows = [row for row, third in pairs if third == JUDGED and is_reliable(row)]
    without, with_places = Counter[str](), Counter[str]()
    for source in sorted({list_of(row.source) for row in rows}):
        of_source = judged(rows, source)
        others = with_hosts(model, (row for row in rows if list_of(row.source) != source))
        without += count(model, of_source)
        with_places += count(others, of_source)
    for name, found in (("without places", without), ("with places", with_places)):
        print(f"{name}: {', '.join(f'{found[key]:,} {key}' for key in sorted(found))}")


if __name__ == "__main__":
    main()
