"""The figures of the model card: classifiers/models/README.md, between its two marks.

    python -m benchmarks.url_card

Reads them from the model that ships: `langfocus train` writes its data and its evaluation into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langfocus.classifiers.languages import name
from langfocus.classifiers.training.examples import FIVE
from langfocus.classifiers.urls.model import SHIPPED, UrlModel
from langfocus.crawler.report.formatting import falling

CARD = SHIPPED.with_name("README.md")
SPLIT = "domains 0"
"""The domains on which `langfocus train` measures."""

BEGIN, END = "<!-- begin: figures -->", "<!-- end: figures -->"


def listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{key} {count:,}" for key, count in falling(counts).items())


def cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def data(model: UrlModel) -> Iterator[str]:
    facts, size = model.facts, SHIPPED.stat().st_size
    yield (
        f"`{SHIPPED.name}`, version `{model.version}`, {size / 1e6:.1f} MB,"
        f" {len(model.languages)} languages, {1 << model.bits:,} buckets."
    )
    yield ""
    yield (
        f"{facts['rows']:,} labelled URLs, of which {facts['rows_used']:,} were used; with their"
        f" paths and made-up paths {facts['examples']:,} examples."
    )
    yield ""
    yield f"- label kinds: {listed(facts['label_kinds'])}"
    yield f"- sources: {listed(facts['sources'])}"
    yield f"- languages: {listed(facts['languages'])}"
    rules = ", ".join(f"{code} ({rule})" for code, rule in facts["top_level_domains"].items())
    yield f"- decided by top-level domains, alone or beside the classifier: {rules or 'none'}"
    yield ""


def of_five(evaluation: Mapping[str, Any]) -> Iterator[str]:
    yield "| unseen | URLs | mean F1 | en | de | fr | es | it | ccTLD |"
    yield "|---|" + "---:|" * 8
    table = evaluation["five"]
    languages = [cell(table["languages"][code]["F1"]) for code in FIVE]
    cells = [f"{table['urls']:,}", f"**{cell(table['mean_f1'])}**", *languages]
    yield f"| {SPLIT} | {' | '.join([*cells, cell(evaluation['cctld']['mean_f1'])])} |"
    yield ""


def of_all(figures: Mapping[str, Any], counts: Mapping[str, int]) -> Iterator[str]:
    yield "| language | trained on | URLs | P | R | p(-\\|-) | F1 | F1 of ccTLD |"
    yield "|---|" + "---:|" * 7
    for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        row = figures["all"]["languages"].get(code)
        if row is None or count < 200:
            continue
        measures = [cell(row[key]) for key in ("P", "R", "p(-|-)", "F1")]
        baseline = cell(figures["all_cctld"]["languages"][code]["F1"])
        cells = [f"{count:,}", f"{row['urls']:,}", *measures, baseline]
        yield f"| {code} {name(code)} | {' | '.join(cells)} |"
    yield ""


def of_naming(measured: Mapping[str, Any], n_named: int) -> Iterator[str]:
    """Return the first answers under the default prior."""
    found = measured["default"]
    yield ""
    yield f"### The first answer, of {n_named} languages"
    yield ""
    yield (
        f"{measured['urls']:,} URLs of {measured['sites']:,} unseen domains ({SPLIT}), at most"
        f" three of each, default prior: {cell(found['right'])} % are right; the mean over"
        f" languages beside the five with ten domains or more is {cell(found['macro'])} %. The"
        " expected calibration error under the prior, whose shares the languages have, is"
        f" {cell(found['reliability']['error'])}."
    )
    yield ""
    yield "| confidence | share of answers under the prior | right |"
    yield "|---:|---:|---:|"
    for share, said, was in found["reliability"]["bins"]:
        yield f"| {cell(said)} | {cell(share)} | {cell(was)} |"
    yield ""
    low = sorted(
        (each["right"], code)
        for code, each in found["languages"].items()
        if each["sites"] >= 10 and each["right"] < 75
    )
    named = "; ".join(f"{code} {cell(right)}" for right, code in low)
    yield f"Below 75 % with ten domains or more: {named}."


def figures(model: UrlModel) -> str:
    evaluation = model.facts["evaluation"]
    lines = [*data(model), "### The five languages of the paper", "", *of_five(evaluation)]
    lines += ["### Every language with 200 URLs or more to learn from", ""]
    lines += of_all(evaluation, model.facts["languages"])
    lines.append(
        f"All {len(model.languages)} languages: mean F1 {cell(evaluation['all']['mean_f1'])}"
        f" (ccTLD {cell(evaluation['all_cctld']['mean_f1'])})."
    )
    return "\n".join([*lines, *of_naming(evaluation["naming"], len(model.named_languages))])


def main() -> None:
    before, _, rest = CARD.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    text = figures(UrlModel.load())
    CARD.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
