"""Harvest rate by the judge of a generated multilingual web (Baykan 2013, Table XIX's counterpart).

Runs one crawl from three seeds for each web, language, strategy and rule. The rates come from the
server's own log. Prints one JSON line for each crawl, then the means as a table.
The rule `paper` has no filter and the first ten URLs of a host that are found (Baykan 2013, 5.2);
`default` has the filter and the queue of a crawl that names none.

    python -m benchmarks.harvest --langs de,fr,es,it --strategies random,cctld,svm --pages 1000
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import proxyweb
from benchmarks.claim import Claim

RULES = {"paper": ("filter=none", "host_queue=10"), "default": ()}
"""The arguments of a crawl by each rule."""

LEAST = {"random": None, "cctld": None, "svm": 98.0, "focus": 98.0}
"""The strategies, and the least harvest rate of German pages on web 1, %."""

_JUDGED = ("harvest_rate", "coverage", "hosts", "max_pages_per_host", "refetched")
"""Figures of the judge that are told by the same name."""


def claims(counts: Sequence[int]) -> Iterator[Claim]:
    """Yield the harvest rate of German pages on web 1 after some numbers of pages."""
    proxyweb.require()
    for pages, (strategy, least) in product(counts, LEAST.items()):
        judged = run(1, "de", strategy, "default", pages)
        name = f"harvest rate of German, {pages:,} pages: {strategy}"
        floor = least if pages == 1000 else None
        yield Claim(name, [100 * judged["harvest_rate"]], "%", floor)


def run(seed: int, lang: str, strategy: str, rule: str, pages: int) -> dict[str, Any]:
    """Crawl one web with one strategy by one rule and return the judge's figures."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with proxyweb.serve(folder / "web", seed=seed) as web:
            facts = proxyweb.crawl(
                web,
                folder / "run",
                f"lang={lang}",
                f"strategy={strategy}",
                f"pages={pages}",
                *RULES[rule],
                f"seeds={','.join(web.seeds[lang][:3])}",
                DOWNLOAD_DELAY=0.2,
            )
        judged = web.judge(lang)
    if facts["pages"] != pages:
        crawl = f"web {seed} {lang} {strategy} {rule}"
        print(f"# {crawl}: only {facts['pages']} pages, nothing was left")
    return {
        **{"web": seed, "lang": lang, "strategy": strategy, "rule": rule, "pages": facts["pages"]},
        **{name: judged[name] for name in _JUDGED},
        "told_harvest_rate": round(facts["harvest_rate"], 4),
        "judged_pages": judged["pages"],
        "forbidden": judged["requests"].get("forbidden", 0),
        "min_gap_s": judged["min_gap_same_host_s"],
        "seconds": round(facts["seconds"], 1),
    }


def main() -> None:
    """Crawl all webs, languages and strategies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--langs", default="de,fr,es,it")
    parser.add_argument("--strategies", default="random,cctld,svm")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--webs", default="1,2,3")
    arguments = parser.parse_args()
    proxyweb.require()
    seeds = [int(seed) for seed in arguments.webs.split(",")]
    means = []
    for lang, strategy, rule in product(
        arguments.langs.split(","), arguments.strategies.split(","), RULES
    ):
        rates = []
        for seed in seeds:
            result = run(seed, lang, strategy, rule, arguments.pages)
            rates.append(result["harvest_rate"])
            print(json.dumps(result), flush=True)
        means.append(f"{lang}  {strategy:7}  {rule:7}  {statistics.mean(rates):.4f}")
    print(f"mean harvest rates over {len(seeds)} webs", *means, sep="\n")


if __name__ == "__main__":
    main()
