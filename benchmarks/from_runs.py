"""Three rounds of crawling a language that the URL model lacks: what `train --from-run` brings.

Round 1 crawls a web without a URL model of the language. Its sure pages add a classifier to the
model that ships, from which the language was taken before. Round 2 crawls another web with it, and
its pages are learned from, too; round 3 crawls a third web. In each round the orderings without a
model crawl the same web, since webs differ. The judge of the web gives the harvest rates; `known`
is the share of the pages in the language on hosts that the model has learned from. Results are kept
in the folder, so that the work can be done in pieces.

    python -m benchmarks.from_runs FOLDER --langs id,bn --pages 400
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import proxyweb
from classifiers.urls import modelfile
from classifiers.urls.posteriors import Evidence
from crawler.outputs.verified import VerifiedPages
from crawler.url import host_of

ROUNDS = (1, 2, 3)


def without(model: modelfile.Parameters, lang: str) -> modelfile.Parameters:
    """Return the model without the classifier of a language, which is still named by its codes."""
    if lang not in model.languages:
        return model
    at, size, old = model.languages.index(lang), len(model.languages), model.evidence
    kept = [each for each in range(size) if each != at]
    order = [*kept, *range(size, len(old.languages)), at]
    evidence = Evidence(
        tuple(old.languages[each] for each in order),
        old.mixing[kept][:, order],
        old.intercepts[order],
        old.keys,
        np.ascontiguousarray(old.nats[:, order]),
    )
    return replace(
        model,
        languages=tuple(model.languages[each] for each in kept),
        weights=model.weights[kept],
        scales=model.scales[kept],
        intercepts=model.intercepts[kept],
        evidence=evidence,
    )


def train(lang: str, runs: list[Path], base: Path, output: Path, at_least: int) -> str:
    """Train a model from runs by the command; return its line about the language."""
    command = [sys.executable, "-m", "langfocus", "train", "--from-run", *map(str, runs)]
    command += ["--languages", lang, "--extend", str(base), "--output", str(output)]
    command += ["--min-urls", str(at_least)]
    done = subprocess.run(command, cwd=proxyweb.ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[1]


class Rounds:
    """The crawls of one language; those that the folder has are not done again."""

    def __init__(self, lang: str, folder: Path, arguments: argparse.Namespace) -> None:
        self.lang, self.folder, self.arguments = lang, folder / lang, arguments
        self.folder.mkdir(parents=True, exist_ok=True)
        self.base = self.folder / "base.npz"
        modelfile.write(without(modelfile.read(modelfile.SHIPPED), lang), self.base)

    def run(self) -> Iterator[dict[str, Any]]:
        """Yield the result of each crawl."""
        learned: list[Path] = []
        models: list[Path] = []
        for number in ROUNDS:
            for strategy in self.arguments.without.split(","):
                yield self.crawl(number, strategy, self.base, learned)
            for strategy in self.arguments.with_model.split(","):
                for rounds, model in enumerate(models, 1):
                    yield self.crawl(number, strategy, model, learned[:rounds], rounds)
            first = f"{number}-{self.arguments.first}-0"
            learned.append(self.folder / (first if number == 1 else f"{number}-svm-{number - 1}"))
            models.append(self.model(number, learned))

    def model(self, number: int, learned: list[Path]) -> Path:
        """Return the model of the pages of all rounds so far."""
        output = self.folder / f"model-{number}.npz"
        if not output.exists() and number != ROUNDS[-1]:
            print("#", train(self.lang, learned, self.base, output, self.arguments.min_urls))
        return output

    def crawl(
        self, number: int, strategy: str, model: Path, learned: list[Path], rounds: int = 0
    ) -> dict[str, Any]:
        """Crawl the web of a round, unless that was done before, and return the judge's figures."""
        name = f"{number}-{strategy}-{rounds}"
        result = self.folder / f"{name}.json"
        if not result.exists():
            result.write_text(json.dumps(self._crawled(name, number, strategy, model, learned)))
        told: dict[str, Any] = json.loads(result.read_text())
        return {"lang": self.lang, "round": number, "strategy": strategy, "rounds": rounds, **told}

    def _crawled(
        self, name: str, number: int, strategy: str, model: Path, learned: list[Path]
    ) -> dict[str, Any]:
        web_folder, run = self.folder / f"{name}.web", self.folder / name
        with proxyweb.serve(web_folder, seed=number, hosts=self.arguments.hosts) as web:
            told = proxyweb.crawl(
                web,
                run,
                f"lang={self.lang}",
                f"strategy={strategy}",
                f"pages={self.arguments.pages}",
                f"seeds={','.join(web.seeds[self.lang][:3])}",
                DOWNLOAD_DELAY=self.arguments.delay,
                LANGFOCUS_URL_MODEL=model,
            )
        judged = web.judge(self.lang)
        truth = _truth(web_folder / "truth.tsv")
        return {
            "pages": told["pages"],
            "harvest_rate": judged["harvest_rate"],
            "coverage": judged["coverage"],
            "known": _known(run, learned, truth, self.lang),
            "labels": _labels(run, truth),
        }


def _truth(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["url"]: row["lang"] for row in csv.DictReader(lines, delimiter="\t")}


def _labels(run: Path, truth: dict[str, str]) -> dict[str, int]:
    """Return the number of sure pages of a run, and of those with a wrong language."""
    pages = list(VerifiedPages([run]))
    wrong = sum(truth.get(page.url) not in (page.language, None) for page in pages)
    return {"sure": len(pages), "wrong": wrong}


def _known(run: Path, learned: list[Path], truth: dict[str, str], lang: str) -> float | None:
    """Return the share of the run's pages in the language on hosts that were learned from."""
    if not learned:
        return None
    hosts = {host_of(page.url) for page in VerifiedPages(learned) if page.language == lang}
    own = [page.url for page in VerifiedPages([run]) if truth.get(page.url) == lang]
    return round(sum(host_of(url) in hosts for url in own) / max(len(own), 1), 3)


def main() -> None:
    """Crawl all languages and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--langs", default="id,bn")
    parser.add_argument("--without", default="soft,cctld", help="orderings without a model")
    parser.add_argument("--with-model", default="svm", help="orderings with the trained models")
    parser.add_argument("--first", default="soft", help="ordering whose pages are learned first")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--hosts", type=int, default=24000)
    parser.add_argument("--min-urls", type=int, default=30)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds, DOWNLOAD_DELAY")
    arguments = parser.parse_args()
    proxyweb.require()
    print("| language | web | ordering | learned from | pages | harvest | known |")
    print("|---|---:|---|---|---:|---:|---:|")
    for lang in arguments.langs.split(","):
        for row in Rounds(lang, arguments.folder, arguments).run():
            learned = {0: "-", 1: "round 1", 2: "rounds 1, 2"}[row["rounds"]]
            known = "" if row["known"] is None else f"{row['known']:.3f}"
            cells = (lang, row["round"], row["strategy"], learned, row["pages"])
            print(f"| {' | '.join(map(str, cells))} | {row['harvest_rate']:.3f} | {known} |")


if __name__ == "__main__":
    main()
