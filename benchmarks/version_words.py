"""URLs in a language that would be taken for another version of a page: real URLs with labels.

All URLs of `../shared/data/urls` count as known, those in the language as expected and relevant. A
URL in the language that has a twin among them is not fetched. Its twin is the same page, or its
code is a word (`/om/`, "about" in Swedish). Prints a JSON line for each language; `--show` prints
the URLs. `expected`: if the URL itself is expected in the language, as nearly all are.

    python -m benchmarks.version_words --langs en,de,fr,es,it,pt,nl,ru,pl,ja,ar,sv --show 5
"""

import argparse
import csv
import gzip
import json
import sys
from random import Random

from benchmarks.proxyweb import URLS
from langfocus.crawler.strategies.versions import Versions
from langfocus.crawler.url import fingerprint, normalise

MOST = 30_000


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--langs", default="en,de,fr,es,it,pt,nl,ru,pl,ja,ar,sv")
    parser.add_argument("--show", type=int, default=0)
    args = parser.parse_args()
    if not URLS.exists():
        sys.exit(f"skipped: {URLS} is not here")
    with gzip.open(URLS, "rt", encoding="utf-8", newline="") as file:
        rows = [
            (normalise(row["url"]), row["lang"]) for row in csv.DictReader(file, delimiter="\t")
        ]
    known = {fingerprint(url): (url, lang) for url, lang in reversed(rows) if url}
    for target in args.langs.split(","):
        versions = Versions(target)
        own = [url for url, lang in known.values() if lang == target]
        own = Random(1).sample(own, min(MOST, len(own)))
        line: dict[str, int | str] = {"lang": target, "urls": len(own)}
        for is_expected in (True, False):
            found: list[tuple[str, str]] = []
            for url in own:
                twins = versions.twins(url, is_expected=is_expected)
                keys = frozenset().union(*twins) & known.keys()
                meant = [known[key] for key in keys if key != fingerprint(url)]
                twin = [
                    of for of, lang in meant if lang == target or fingerprint(of) in twins.queued
                ]
                found += [(url, twin[0])] if twin else []
            line["expected" if is_expected else "not expected"] = len(found)
            for url, other in found[: args.show]:
                print(f"{url}  {other}")
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
