"""Harvest rate by the judge of a generated multilingual web (Baykan 2013, Table XIX's counterpart).

Runs one crawl from three seeds for each web, language and strategy. The rates come from the
server's own log. Prints one JSON line for each crawl, then the means as a table.

    python -m benchmarks.harvest --langs de,fr,es,it --strategies random,cctld,svm --pages 1000
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import proxyweb


def run(seed: int, lang: str, strategy: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Crawl one web with one strategy and return the judge's figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with proxyweb.serve(folder / "web", seed=seed) as web:
            told = proxyweb.crawl(
                web,
                folder / "run",
                f"lang={lang}",
                f"strategy={strategy}",
                f"pages={arguments.pages}",
                f"seeds={','.join(web.seeds[lang][:3])}",
                DOWNLOAD_DELAY=arguments.delay,
            )
        judged = web.judge(lang)
    if told["pages"] != arguments.pages:
        print(f"# web {seed} {lang} {strategy}: only {told['pages']} pages, nothing was left")
    return {
        "web": seed,
        "lang": lang,
        "strategy": strategy,
        "pages": told["pages"],
        "harvest_rate": judged["harvest_rate"],
        "told_harvest_rate": round(told["harvest_rate"], 4),
        "judged_pages": judged["pages"],
        "coverage": judged["coverage"],
        "hosts": judged["hosts"],
        "max_urls_per_host": told["max_urls_per_host"],
        "refetched": judged["refetched"],
        "forbidden": judged["requests"].get("forbidden", 0),
        "media": judged["requests"].get("media", 0),
        "min_gap_s": judged["min_gap_same_host_s"],
        "accept_language": list(judged["accept_language"]),
        "seconds": round(told["seconds"], 1),
    }


def main() -> None:
    """Crawl all webs, languages and strategies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--langs", default="de,fr,es,it")
    parser.add_argument("--strategies", default="random,cctld,svm")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--webs", default="1,2,3")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds, DOWNLOAD_DELAY")
    arguments = parser.parse_args()
    proxyweb.require()
    results = []
    for lang in arguments.langs.split(","):
        for strategy in arguments.strategies.split(","):
            for seed in map(int, arguments.webs.split(",")):
                results.append(run(seed, lang, strategy, arguments))
                print(json.dumps(results[-1]), flush=True)
    for lang in arguments.langs.split(","):
        for strategy in arguments.strategies.split(","):
            rows = [r for r in results if (r["lang"], r["strategy"]) == (lang, strategy)]
            mean = statistics.mean(r["harvest_rate"] for r in rows)
            print(f"{lang}  {strategy:7}  mean harvest rate {mean:.4f} over {len(rows)} webs")


if __name__ == "__main__":
    main()
