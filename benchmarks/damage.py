"""Changes bytes of `run.db` and opens the run: no changed byte stops a crawl without a reason.

    python -m benchmarks.damage [--variants 1000] [--random-state 1]

Makes a run with something in every table. Each variant is a copy in which one byte, or up to eight
bytes in a row, has another value. The run is opened and crawled to its end. The claim: it is
refused in one line, or bad rows are set aside and named, or no value of a table is different, or
the different value is in a column that `docs/report.md` names. Prints one JSON line with
the number of variants by outcome. Exit code 1 if a variant ends in another way.
"""

import argparse
import json
import logging
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from crawler.run import connect
from tests.support.damagedrun import FOCUS_META, META, UNNOTICED, Content, content, judged, make_run

_LONGEST = 8


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return a copy with other values from a random place on."""
    copy = bytearray(data)
    length = chance.choice([1, 1, 1, 2, _LONGEST])
    first = chance.randrange(len(copy) - length)
    for place in range(first, first + length):
        copy[place] ^= chance.choice([1 << chance.randrange(8), chance.randrange(1, 256)])
    return bytes(copy)


def outcome_of(data: bytes, before: Content, meta: Mapping[str, object] = META) -> str:
    """Return how a damaged database was handled; an exception is an outcome too."""
    folder = Path(tempfile.mkdtemp())
    (folder / "run.db").write_bytes(data)
    try:
        return judged(folder, before, meta)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder)


def is_allowed(outcome: str) -> bool:
    """Return True for an outcome that the documentation promises."""
    kind, _, column = outcome.partition(" in ")
    return outcome in {"refused", "ended", "noticed", "harmless"} or (
        kind == "unnoticed" and column in UNNOTICED
    )


def main(line: Sequence[str] | None = None) -> int:
    """Print the JSON line; 1 if a variant ends in a way that is not documented."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--variants", type=int, default=1000)
    parser.add_argument("--random-state", type=int, default=1)
    parser.add_argument("--learns", action="store_true", help="a run of the ordering focus")
    arguments = parser.parse_args(line)
    logging.disable(logging.WARNING)
    meta = FOCUS_META if arguments.learns else META
    chance = random.Random(arguments.random_state)
    with tempfile.TemporaryDirectory() as folder:
        database = make_run(Path(folder), meta=meta)
        data = database.read_bytes()
        with closing(connect(database)) as connection:
            before = content(connection)
    outcomes = Counter(
        outcome_of(damaged(data, chance), before, meta) for _ in range(arguments.variants)
    )
    result = {
        "date": time.strftime("%Y-%m-%d"),
        "random_state": arguments.random_state,
        "bytes": len(data),
        "variants": outcomes.total(),
        "outcomes": dict(outcomes.most_common()),
    }
    print(json.dumps(result))
    return int(not all(map(is_allowed, outcomes)))


if __name__ == "__main__":
    sys.exit(main())
