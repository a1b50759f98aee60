"""Three rounds of crawling a language that the URL model lacks: what `train --from-run` brings.

The language is taken out of the model that ships. Round 1 crawls a web without a URL model of it.
The sure pages of that crawl add a classifier (`langfocus train --from-run`). Round 2 crawls another
web with it, and its pages are learned from, too; round 3 crawls a third web. Since webs differ, the
orderings without a model crawl the web of each round, and so does the perfect crawl.

The crawls run in this process (`benchmarks.focus_crawl`), on the webs of `benchmarks.proxyweb` and
by the measure of its judge. An ordering is `ORDERING[/FILTER]`, with `+model` if it needs the
trained model. `known` is the share of a crawl's sure pages in the language on hosts that the model
has learned from. A cell is the harvest rate divided by that of the perfect crawl, the mean over the
chains of three webs, with the lowest and the highest.

    python -m benchmarks.from_runs FOLDER --langs id,bn --kinds plain,hard --pages 300
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.focus_crawl import KeptReadings, KnownCrawl, Strategy
from benchmarks.focus_perfect import PageLinks, PerfectCrawl
from benchmarks.focus_webs import GeneratedWeb
from benchmarks.proxyweb import require
from classifiers.errors import DatasetError
from classifiers.lab.datasets import LabelledUrl
from classifiers.lab.training.extension import extend
from classifiers.lab.training.urltraining import Options
from classifiers.urls import modelfile
from classifiers.urls.posteriors import Evidence
from crawler.outputs.verified import VerifiedPages
from crawler.url import host_of

ROUNDS = (1, 2, 3)
WITH_MODEL = "+model"
OPTIONS = Options(min_urls=30, word_lists=False)
"""Those of the command."""

Line = dict[str, Any]


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


def trained(base: Path, lang: str, runs: list[Path], output: Path) -> str:
    """Write the model that the runs extend, as the command does; return what it has learned."""
    rows = [
        LabelledUrl(page.url, page.language, "crawled", page.run) for page in VerifiedPages(runs)
    ]
    parameters, (told,) = extend(modelfile.read(base), rows, [lang], OPTIONS)
    modelfile.write(parameters, output)
    return f"{told.urls} URLs on {told.domains} domains against {told.negatives}: F1 {told.f1}"


@dataclass
class Chain:
    """The three rounds of a language on three webs."""

    lang: str
    folder: Path
    learned: list[Path] = field(default_factory=list)
    models: list[Path] = field(default_factory=list)

    @property
    def base(self) -> Path:
        """Return the file of the model without the language."""
        path = self.folder / "base.npz"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            modelfile.write(without(modelfile.read(modelfile.SHIPPED), self.lang), path)
        return path

    def crawls(self, orderings: Iterable[str]) -> Iterator[tuple[str, Path, int]]:
        """Yield the crawls of the next round: ordering, model, and the rounds it learned."""
        for ordering in orderings:
            if not ordering.endswith(WITH_MODEL):
                yield ordering, self.base, 0
                continue
            for rounds, model in enumerate(self.models, 1):
                yield ordering.removesuffix(WITH_MODEL), model, rounds

    def learn(self, run: Path) -> None:
        """Train the next model from this run and the earlier ones."""
        self.learned.append(run)
        model = self.folder / f"model-{len(self.learned)}.npz"
        try:
            print(f"# {self.lang}: {trained(self.base, self.lang, self.learned, model)}")
        except DatasetError as error:
            print(f"# {error}")
        else:
            self.models.append(model)


@dataclass(frozen=True)
class Round:
    """The crawls of a round on one web, for one language."""

    web: GeneratedWeb
    links: PageLinks
    readings: KeptReadings
    chain: Chain
    number: int
    arguments: argparse.Namespace

    def lines(self) -> Iterator[Line]:
        """Yield the result of each crawl, then learn from the round."""
        lang, pages = self.chain.lang, self.arguments.pages
        best = sum(PerfectCrawl(self.web, self.links, lang).course(pages))
        next_run = None
        for ordering, model, rounds in self.chain.crawls(self.arguments.orderings.split(",")):
            name = ordering.replace("/", "-")
            run = self.chain.folder / f"{self.number}-{name}-{rounds}"
            crawl = KnownCrawl(self.web, lang, self.readings, model, run)
            course = crawl.course(Strategy.read(ordering), pages)
            wanted = self.arguments.first if self.number == 1 else self.arguments.then
            if ordering == wanted and (rounds == self.number - 1 or not self.chain.models):
                next_run = run
            yield {
                "web": self.web.name,
                "lang": lang,
                "round": self.number,
                "ordering": ordering,
                "learned": rounds,
                "pages": len(course.relevant),
                "relevant": sum(course.relevant),
                "perfect": best,
                "known": self._known(run, self.chain.learned[:rounds]),
                "labels": self._labels(run),
            }
        if next_run is not None and self.number < ROUNDS[-1]:
            self.chain.learn(next_run)

    def _known(self, run: Path, learned: list[Path]) -> float | None:
        lang = self.chain.lang
        hosts = {host_of(page.url) for page in VerifiedPages(learned) if page.language == lang}
        own = [page.url for page in VerifiedPages([run]) if page.language == lang]
        return sum(host_of(url) in hosts for url in own) / len(own) if learned and own else None

    def _labels(self, run: Path) -> tuple[int, int]:
        """Return the number of sure pages, and of those with a wrong label."""
        pages = list(VerifiedPages([run]))
        return len(pages), sum(self.web.language(page.url) != page.language for page in pages)


def table(lines: list[Line], lang: str, kind: str) -> str:
    """Return the relevant pages of each ordering by round, divided by those of the perfect one."""
    own = [line for line in lines if line["lang"] == lang and line["web"].startswith(kind)]
    rows = ["| ordering | learned from | round 1 | round 2 | round 3 | known |"]
    rows.append("|---|---|---:|---:|---:|---:|")
    learned = {0: "-", 1: "round 1", 2: "rounds 1 and 2"}
    for ordering, rounds in dict.fromkeys((line["ordering"], line["learned"]) for line in own):
        alike = [x for x in own if (x["ordering"], x["learned"]) == (ordering, rounds)]
        cells = [_cell([x for x in alike if x["round"] == number]) for number in ROUNDS]
        known = [x["known"] for x in alike if x["known"] is not None]
        cells.append(f"{statistics.mean(known):.2f}" if known else "")
        rows.append(f"| {ordering} | {learned[rounds]} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(lines: list[Line]) -> str:
    shares = [line["relevant"] / line["perfect"] for line in lines]
    if not shares:
        return ""
    return f"{statistics.mean(shares):.3f} ({min(shares):.3f}-{max(shares):.3f})"


def crawl_all(arguments: argparse.Namespace) -> Iterator[Line]:
    """Yield the results of all crawls; each web is made once."""
    langs = arguments.langs.split(",")
    for kind in arguments.kinds.split(","):
        for chain in map(int, arguments.chains.split(",")):
            folder = arguments.folder / f"{kind}-{chain}"
            chains = {lang: Chain(lang, folder / lang) for lang in langs}
            for number in ROUNDS:
                web = GeneratedWeb(f"{kind}-{3 * (chain - 1) + number}")
                readings = KeptReadings(arguments.folder / "readings", web.name)
                links = PageLinks(web)
                for lang in langs:
                    work = Round(web, links, readings, chains[lang], number, arguments)
                    yield from work.lines()


def main() -> None:
    """Crawl all languages and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="a new folder for the runs and models")
    parser.add_argument("--langs", default="id,bn")
    parser.add_argument("--kinds", default="plain,hard")
    parser.add_argument("--chains", default="1", help="of three webs: 2 has the webs 4, 5 and 6")
    parser.add_argument(
        "--orderings", default="cctld,soft,soft/hard,svm+model,svm/hard+model", help="in this order"
    )
    parser.add_argument("--first", default="soft", help="ordering whose first round is learned")
    parser.add_argument("--then", default="svm/hard", help="that of the second round")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--out", type=Path, help="file to which a JSON line is added a crawl")
    parser.add_argument("--with", dest="earlier", type=Path, help="file with earlier lines")
    arguments = parser.parse_args()
    require()
    earlier = arguments.earlier.read_text().splitlines() if arguments.earlier else []
    lines = [json.loads(line) for line in earlier]
    for line in crawl_all(arguments):
        lines.append(line)
        print(json.dumps(line), file=sys.stderr, flush=True)
        if arguments.out:
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    for lang in dict.fromkeys(line["lang"] for line in lines):
        for kind in dict.fromkeys(line["web"].rpartition("-")[0] for line in lines):
            print(f"\n{lang}, {kind}\n\n{table(lines, lang, kind)}")


if __name__ == "__main__":
    main()
