"""The crawls of Baykan 2013, 5.2, with the paper's own SVM beside ours: Tables XVII to XIX.

Each crawl begins at one page, as in the paper, on a generated web. Every ordering crawls twice:
with many connections and a delay between two requests to a host, and with one connection and no
delay, as a crawler that is one loop does. The paper's SVM learns from labelled URLs as in 3.2.

The question behind it: in the paper the SVM visits fewer hosts than ccTLD. Prints a JSON line for
each crawl. `--json` writes the table of docs/research/url-study.md after each crawl; crawls that
the file has already are not repeated, so the command can be interrupted and called again.

    python -m benchmarks.paper_crawls --langs de,fr --json docs/research/url-study/crawls.json
"""

import argparse
import contextlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import proxyweb
from classifiers.datasets import open_dataset
from classifiers.papers.baykan.algorithms import classifier
from classifiers.papers.baykan.study.samples import draw, sample
from crawler.report import baykan
from crawler.report.files import json_text, write_whole
from crawler.report.provenance import provenance
from crawler.report.table import Table
from crawler.strategies import orderings

FIVE = ("en", "de", "fr", "es", "it")
ORDERINGS = ("random", "cctld", "svm", "svm-perf")
LOOP: dict[str, object] = {"CONCURRENT_REQUESTS": 1, "DOWNLOAD_DELAY": 0}

MODULES = (
    "benchmarks/paper_crawls.py",
    "classifiers/papers/baykan/algorithms",
    "classifiers/papers/baykan/features",
    "classifiers/models",
    "classifiers/urls",
    "crawler/frontier",
    "crawler/strategies",
)


def settings_of(delay: float) -> dict[str, dict[str, object]]:
    """Return the two ways to crawl."""
    return {"one connection": LOOP, "64 connections": {"DOWNLOAD_DELAY": delay}}


def train(lang: str, urls: int, folder: Path) -> Path:
    """Train the paper's SVM of a language, and return the file that it is in."""
    corpus = draw(open_dataset(proxyweb.URLS), FIVE, urls=urls)
    own = sample(corpus, lang)
    chosen = [corpus.urls[at] for at in own.places]
    fitted = classifier("svm-perf:allgrams-from-word", lang).fit(chosen, own.y)
    path = folder / f"{lang}.pickle"
    # Its vocabulary and weights have no other format. The crawl's process reads them from this
    # folder, which only this user can write to and which ends with the script.
    path.write_bytes(pickle.dumps(fitted))
    return path


def crawl_with(model: Path, command: Sequence[str]) -> None:
    """Run a command of Scrapy in which the ordering `svm` asks the paper's SVM."""
    from scrapy.cmdline import execute

    import crawler.strategies

    fitted = pickle.loads(model.read_bytes())

    def made(language: str, _: Path | None) -> orderings.Ordering:
        def score_urls(urls: Sequence[str]) -> Sequence[float]:
            scores: list[float] = fitted.decision_function(list(urls)).tolist() if urls else []
            return scores

        return orderings.Confidence(score_urls)

    crawler.strategies._MAKERS["svm"] = made
    execute(["scrapy", *command])


def crawled(
    web: proxyweb.Served,
    folder: Path,
    arguments: Mapping[str, object],
    settings: Mapping[str, object],
    model: Path | None,
) -> dict[str, Any]:
    """Crawl once, with the ordering `svm` by `model` if there is one, and return the summary."""
    if model is None:
        given = [f"{name}={value}" for name, value in arguments.items()]
        return proxyweb.crawl(web, folder, *given, **settings)
    command = [sys.executable, "-m", "benchmarks.paper_crawls", "--model", str(model), "--"]
    command += ["crawl", "langfocus"]
    for name, value in arguments.items():
        command += ["-a", f"{name}={value}"]
    for name, value in {"JOBDIR": folder, "LANGFOCUS_QUIET": True, **settings}.items():
        command += ["-s", f"{name}={value}"]
    environment = {**os.environ, "http_proxy": f"http://127.0.0.1:{web.port}"}
    subprocess.run(
        command, cwd=proxyweb.ROOT, env=environment, check=True, stderr=subprocess.DEVNULL
    )
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return summary


def run(arguments: argparse.Namespace, done: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    """Yield the figures of each crawl that is not done."""
    known = {(each["lang"], each["way"], each["ordering"]) for each in done}
    with tempfile.TemporaryDirectory() as name:
        for lang in arguments.langs.split(","):
            wanted = [
                (way, ordering)
                for way in settings_of(arguments.delay)
                for ordering in ORDERINGS
                if (lang, way, ordering) not in known
            ]
            is_trained = any(ordering == "svm-perf" for _, ordering in wanted)
            model = train(lang, arguments.urls, Path(name)) if is_trained else Path()
            for way, ordering in wanted:
                settings = settings_of(arguments.delay)[way]
                folder = Path(name) / f"{lang}-{way.partition(' ')[0]}-{ordering}"
                yield _one(lang, way, settings, ordering, model, folder, arguments)


def _one(
    lang: str,
    way: str,
    settings: Mapping[str, object],
    ordering: str,
    model: Path,
    folder: Path,
    arguments: argparse.Namespace,
) -> dict[str, Any]:
    with proxyweb.serve(folder / "web", seed=arguments.web, hosts=arguments.hosts) as web:
        is_paper = ordering == "svm-perf"
        given = {
            "lang": lang,
            "strategy": "svm" if is_paper else ordering,
            "pages": arguments.pages,
            "seeds": web.seeds[lang][0],
        }
        summary = crawled(web, folder / "run", given, settings, model if is_paper else None)
    judged = web.judge(lang)
    return {
        "lang": lang,
        "way": way,
        "ordering": ordering,
        "pages": summary["pages"],
        "hosts": summary["hosts"],
        "without_label": summary["unlabelled"] / summary["pages"],
        "in_language": summary["harvest_rate"],
        "judge": judged["harvest_rate"],
    }


def table(found: Sequence[Mapping[str, Any]]) -> Table:
    """Return the counterparts of Tables XVII, XVIII and XIX."""
    rows = []
    for each in found:
        ordering = each["ordering"].replace("svm-perf", "svm")
        published = [
            baykan.figure(of, each["lang"], ordering)
            for of in (baykan.VISITED_HOSTS, baykan.WITHOUT_LABEL, baykan.IN_LANGUAGE)
        ]
        hosts, *shares = published
        rows.append(
            [
                each["lang"],
                each["way"],
                {"svm": "svm (ours)", "svm-perf": "svm (the paper's)"}.get(
                    each["ordering"], each["ordering"]
                ),
                _beside(f"{each['hosts']}", None if hosts is None else f"{hosts:.0f}"),
                *(
                    _beside(f"{100 * each[name]:.1f}", None if of is None else f"{100 * of:.1f}")
                    for name, of in zip(("without_label", "in_language"), shares, strict=True)
                ),
            ]
        )
    head = ["language", "crawled with", "ordering", "hosts", "without label, %", "in language, %"]
    title = "Crawls from one page (in brackets: Baykan 2013, Tables XVII, XVIII, XIX)"
    return Table(title, head, rows, text_columns=3)


def _beside(ours: str, paper: str | None) -> str:
    return ours if paper is None else f"{ours} ({paper})"


def main() -> None:
    """Crawl, and print a line for each crawl."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--langs", default="de,fr")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--urls", type=int, default=5000, help="training URLs of each language")
    parser.add_argument("--hosts", type=int, default=12000)
    parser.add_argument("--web", type=int, default=1, help="seed of the web")
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.model:
        crawl_with(arguments.model, arguments.command)
        return
    proxyweb.require()
    old = arguments.json and arguments.json.exists()
    found: list[dict[str, Any]] = json.loads(arguments.json.read_text())["crawls"] if old else []
    with contextlib.suppress(KeyboardInterrupt):
        for each in run(arguments, found):
            found.append(each)
            print(json.dumps(each), flush=True)
            if arguments.json:
                write(arguments.json, found)


def write(path: Path, found: Sequence[Mapping[str, Any]]) -> None:
    """Write the crawls with their table."""
    command = ["python", "-m", "benchmarks.paper_crawls", *sys.argv[1:]]
    measured = provenance(command, [proxyweb.URLS, proxyweb.TEXTS], date.today(), modules=MODULES)
    ways = list(settings_of(0.0))
    ordered = sorted(
        found,
        key=lambda each: (
            each["lang"],
            ways.index(each["way"]),
            ORDERINGS.index(each["ordering"]),
        ),
    )
    content = {"measured": measured, "crawls": ordered, "table": table(ordered).as_json("crawls")}
    write_whole(path, json_text(content))


if __name__ == "__main__":
    main()
