"""All claims against rivals, measured side by side: `make bench` and `make bench-check`.

    python -m benchmarks.run [--only speed urls] [--rounds 5]
    python -m benchmarks.run --check

Writes a file for each group of claims into docs/research/benchmarks/, from which
`benchmarks.docs_tables` makes the tables of docs/research/benchmarks.md: each has its own commit
and date. `--check` measures one short round, writes nothing, and exits with 1 if a claim is under
its floor. Let nothing else run on the machine.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

from benchmarks import frontier, harvest, killloop, memory, pages, speed, urls
from benchmarks.claim import Claim
from langfocus.crawler.report.formatting import json_text
from langfocus.crawler.report.provenance import ROOT, provenance
from langfocus.crawler.run.whole_file import write_whole

FOLDER: Final = ROOT / "docs" / "research" / "benchmarks"
DOCUMENT: Final = FOLDER.with_suffix(".md")
PACKAGES: Final = (
    "langfocus Scrapy scrapy-download-handlers-incubator wreq crawlee trafilatura beautifulsoup4"
    " langdetect scikit-learn fasttext-numpy2-wheel py3langid courlan pycld2"
    " lingua-language-detector"
).split()


class Group(NamedTuple):
    """Claims about one subject: how all of them are measured, and how they are checked."""

    title: str
    measured: Callable[..., Iterator[Claim]]
    checked: Callable[[], Iterator[Claim]]


GROUPS: Final = {
    "speed": Group(
        "Pages crawled a second, two cores, server included",
        lambda rounds: speed.claims(rounds, 2000),
        lambda: speed.claims(1, 2000, (5,), ("scrapy-wreq",)),
    ),
    "tls": Group(
        "Pages crawled a second over TLS, two cores, server included",
        lambda rounds: speed.claims(rounds, 2000, rivals=("scrapy", "scrapy-wreq"), is_tls=True),
        lambda: speed.claims(1, 2000, (240,), ("scrapy-wreq",), is_tls=True),
    ),
    "slow": Group(
        "Pages crawled a second by slow crawlers, two cores, server included",
        lambda rounds: speed.claims(rounds, 1000, (5,), speed.SLOW),
        lambda: speed.claims(1, 200, (5,), ("scrapy-langdetect",)),
    ),
    "urls": Group(
        "URLs scored a second of one core, in batches of 60, and F1 of five languages",
        urls.claims,
        lambda: urls.claims(1, n_rows=5000),
    ),
    "pages": Group(
        "Texts identified: right, mean over languages, and a second of one core",
        pages.claims,
        lambda: pages.claims(1),
    ),
    "frontier": Group(
        "URLs admitted and taken a second of one core, by the number of hosts",
        lambda rounds: frontier.claims(rounds, (100, 10_000, 1_000_000)),
        lambda: frontier.claims(1, (10_000,)),
    ),
    "harvest": Group(
        "Relevant pages in %, by the server's judge",
        lambda rounds: harvest.claims((1000, 4000)),
        lambda: harvest.claims((1000,)),
    ),
    "kills": Group(
        "Faults after SIGKILLs, by the server's log and the files",
        lambda rounds: killloop.claims(20),
        lambda: killloop.claims(4),
    ),
    "memory": Group(
        "Memory of a long crawl",
        lambda rounds: memory.claims(100_000),
        lambda: memory.claims(3000),
    ),
    "heavy-memory": Group(
        "Memory of a long crawl of heavy pages",
        lambda rounds: memory.claims(100_000, is_heavy=True),
        lambda: memory.claims(3000, is_heavy=True),
    ),
}


def table(name: str, title: str, claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the table of a document: the middle value, the least, the greatest, the floor."""
    rows = [
        [each.name, each.middle, min(each.values), max(each.values), each.unit, each.floor]
        for each in claims
    ]
    head = ["claim", "median", "least", "greatest", "unit", "floor"]
    return {"name": name, "title": title, "head": head, "rows": rows, "digits": 2}


def measured(names: Sequence[str], rounds: int) -> bool:
    """Measure groups and renew their tables; return True if all claims are kept."""
    is_kept = True
    for name in names:
        group = GROUPS[name]
        found = [_printed(claim) for claim in group.measured(rounds)]
        is_kept &= _are_kept(found)
        command = ["python", "-m", "benchmarks.run", *sys.argv[1:]]
        of = provenance(command, [], date.today(), PACKAGES)
        mark = f"<!-- table: {FOLDER.name}/{name}.json {name} -->\n"
        if mark not in (text := DOCUMENT.read_text("utf-8")):
            write_whole(DOCUMENT, f"{text}\n{mark}\n<!-- end of table -->\n")
        write_whole(
            FOLDER / f"{name}.json",
            json_text({"measured": of, "tables": [table(name, group.title, found)]}),
        )
    return is_kept


def _are_kept(claims: Sequence[Claim]) -> bool:
    """Return True if all claims of a group are kept; a group that claims nothing has failed."""
    return bool(claims) and all(claim.is_kept for claim in claims)


def _printed(claim: Claim) -> Claim:
    print(claim, flush=True)
    return claim


def main() -> int:
    """Measure or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if not given.check:
        return int(not measured(given.only, given.rounds))
    kept = [_are_kept([_printed(one) for one in GROUPS[name].checked()]) for name in given.only]
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
