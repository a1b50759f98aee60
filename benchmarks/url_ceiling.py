"""What stands in the way of the URL model: the evidence that unseen URLs have.

    python -m benchmarks.url_splits URLS.tsv.gz --domains 0 --models FOLDER
    python -m benchmarks.url_ceiling URLS.tsv.gz --models FOLDER [--domains 0] [--rivals]

Divides the URLs in the five languages of a tenth of the registered domains, at most 20 of a domain
and language, by the first kind of evidence that they have for their language:

- `mark`: a top-level domain or a code of the language;
- `path`: words of the path or query, read by word lists (`benchmarks.url_words`);
- `host`: words of the host;
- `other`: only marks or words of another language;
- `none`: no mark, and no words that one language leads in.

For each kind: its share of the URLs, the share of its URLs on which one of the model's five
answers is wrong, and the mean F1 if all its URLs were right. `oracle` has all URLs of the first
three kinds right, and one answer for all others: the best constant. `read` has the first three
kinds right, and the model's answers for the others. `named` says Yes where the model's one
calibrated answer gives a language half of the probability, if it is as frequent as the four other
languages together and no further one is possible. `--rivals` adds

- `py3langid` and `fasttext`, which learned the same rows in random order: its first answer;
- `fasttext_even`: Yes as in `named`, from its probabilities divided by the languages' frequencies;
- `both`: the evidence of the model, and half of the logarithm of these.

Prints one JSON line for each tenth, and tables on standard error.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.url_words import WordLists, names_of
from classifiers.lab import evaluation
from classifiers.lab.datasets import LabelledUrl, open_dataset, split
from classifiers.lab.training.examples import FIVE
from classifiers.lab.training.urltraining import capped, in_proportion, is_reliable, usable
from classifiers.urls.batch import encode
from classifiers.urls.cctld import GENERIC, top_level_domain
from classifiers.urls.clues import find_clues
from classifiers.urls.marks import mark_table
from classifiers.urls.model import UrlModel

KINDS: Final = ("mark", "path", "host", "other", "none")
EVIDENT: Final = KINDS[:3]
MOST: Final = 20
"""URLs of one domain and language."""

LEAST_SHARE: Final = 1e-6
"""The least probability of fastText that counts."""

Rows = Sequence[LabelledUrl]
Decisions = evaluation.Decisions
Nats = npt.NDArray[np.float64]
Kinds = npt.NDArray[np.str_]


def kinds_of(rows: Rows, lists: WordLists) -> Kinds:
    """The first kind of evidence of each URL for the language of its label, (n_urls,)."""
    found = np.full(len(rows), "none", "<U5")
    for code in sorted({row.language for row in rows}):
        chosen = [at for at, row in enumerate(rows) if row.language == code]
        urls = [rows[at].url for at in chosen]
        for at, url, signs in zip(chosen, urls, signs_of(urls, code), strict=True):
            found[at] = _kind(code, signs, *(lists.language_of(part) for part in names_of(url)))
    return found


def signs_of(urls: Sequence[str], language: str) -> list[set[int]]:
    """The marks of each URL: 1 for the language, -1 for another."""
    table, batch = mark_table(language), encode(urls)
    rows = find_clues(batch.buffer, len(batch), table.keys)
    signs = np.append(table.signs, 0)[rows].tolist()  # a row of -1 is no mark
    return [set(each) - {0} for each in signs]


def _kind(code: str, signs: set[int], host: str | None, path: str | None) -> str:
    """The kind of evidence for a language, from the marks and the languages of the words."""
    if 1 in signs:
        return "mark"
    if path == code:
        return "path"
    if host == code:
        return "host"
    return "other" if signs or host or path else "none"


def mean_f1(decisions: Decisions, columns: evaluation.Columns) -> float:
    """The mean F1 of the languages in percent (Baykan 2013, 3.3)."""
    found = evaluation.measures(evaluation.confusion(decisions, columns))
    return round(100 * evaluation.macro_f1(found), 2)


def with_constant(truth: Decisions, is_evident: npt.NDArray[np.bool_]) -> Decisions:
    """The truth where there is evidence, and for each language the better constant elsewhere."""
    columns = truth.argmax(axis=1)
    result = truth.copy()
    for at in range(truth.shape[1]):
        tried = []
        for constant in (False, True):
            column = np.where(is_evident, truth[:, at], constant)
            both = np.where(np.arange(truth.shape[1]) == at, column[:, None], truth)
            found = evaluation.measures(evaluation.confusion(both, columns))[at].f1
            tried.append((found, constant, column))
        result[:, at] = max(tried, key=lambda each: each[:2])[2]
    return result


def ceiling(truth: Decisions, said: Decisions, kinds: Kinds) -> dict[str, Any]:
    """The figures of some URLs: truth and the model's answers (n_urls, 5), and kinds (n_urls,)."""
    columns = truth.argmax(axis=1)
    is_wrong = (said != truth).any(axis=1)
    is_evident = np.isin(kinds, EVIDENT)

    def mended(is_right: npt.NDArray[np.bool_]) -> float:
        return mean_f1(np.where(is_right[:, None], truth, said), columns)

    return {
        "urls": len(kinds),
        "model": mean_f1(said, columns),
        "oracle": mean_f1(with_constant(truth, is_evident), columns),
        "read": mended(is_evident),
        "kinds": {
            kind: {
                "urls": round(100 * float(chosen.mean()), 1),
                "wrong": round(100 * float(is_wrong[chosen].mean()), 1) if chosen.any() else None,
                "of_wrong": round(100 * float(chosen[is_wrong].mean()), 1),
                "if_right": mended(chosen),
            }
            for kind in KINDS
            for chosen in [kinds == kind]
        },
    }


def groups(rows: Rows) -> dict[str, npt.NDArray[np.bool_]]:
    """The groups of URLs for which there is an aim."""
    is_generic = [top_level_domain(row.url) in GENERIC for row in rows]
    is_document = [row.label_kind == "document" for row in rows]
    return {
        "all": np.ones(len(rows), np.bool_),
        "generic": np.array(is_generic, np.bool_),
        "document": np.array(is_document, np.bool_),
    }


def measure(model: UrlModel, train: Rows, test: Rows, with_rivals: bool) -> dict[str, Any]:
    rows = capped([row for row in test if row.language in FIVE], MOST)
    urls = [row.url for row in rows]
    truth = np.array([[row.language == code for code in FIVE] for row in rows])
    said = model.scores(urls, FIVE) > 0
    kinds = kinds_of(rows, WordLists.of_wordfreq(FIVE))
    found = {
        name: ceiling(truth[chosen], said[chosen], kinds[chosen])
        for name, chosen in groups(rows).items()
    }
    others = {"named": named(model, urls)}
    if with_rivals:
        others |= rivals(model, train, urls)
    for other, answers in others.items():
        for name, chosen in groups(rows).items():
            found[name][other] = mean_f1(answers[chosen], truth[chosen].argmax(axis=1))
    return found


def named(model: UrlModel, urls: Sequence[str]) -> Decisions:
    """Yes or No by the calibrated answer among the five, half of the URLs in each in turn."""
    return is_half(evidence(model, urls))


def evidence(model: UrlModel, urls: Sequence[str]) -> Nats:
    """The model's evidence for the five languages, (n_urls, 5)."""
    columns = [model.named_languages.index(code) for code in FIVE]
    found: Nats = model.evidence(urls)[:, columns].astype(np.float64)
    return found


def is_half(nats: Nats) -> Decisions:
    """Whether the evidence (n_urls, n_languages) for a language is above the mean of the others."""
    likely = np.exp(nats - nats.max(axis=1, keepdims=True))
    others = (likely.sum(axis=1, keepdims=True) - likely) / (nats.shape[1] - 1)
    said_yes: Decisions = likely > others
    return said_yes


def rivals(model: UrlModel, train: Rows, urls: Sequence[str]) -> Mapping[str, Decisions]:
    """The answers of py3langid and fastText, and of fastText and the model together."""
    from benchmarks import url_rivals

    rows = in_proportion([row for row in train if row.language in FIVE and is_reliable(row)], MOST)
    random.Random(0).shuffle(rows)
    counts = Counter(row.language for row in rows)
    shares = fasttext_shares(rows, urls)
    nats: Nats = np.log(shares) - np.log([counts[code] / len(rows) for code in FIVE])
    found = {
        "fasttext": shares == shares.max(axis=1, keepdims=True),
        "fasttext_even": is_half(nats),
        "both": is_half(evidence(model, urls) + nats / 2),
    }
    for each in url_rivals.of_py3langid():
        if each.decide is not None:
            found["py3langid"] = each.decide([each.prepare(url) for url in urls])
    return found


def fasttext_shares(rows: Rows, urls: Sequence[str]) -> Nats:
    """The probabilities of the five languages by fastText, trained on rows, (n_urls, 5)."""
    from benchmarks.url_rivals import trained_fasttext, words

    labels, shares = trained_fasttext(rows, 0).predict([words(url) for url in urls], k=len(FIVE))
    found = np.full((len(urls), len(FIVE)), LEAST_SHARE)
    for at, (codes, each) in enumerate(zip(labels, shares, strict=True)):
        for code, share in zip(codes, each, strict=True):
            place = FIVE.index(code.removeprefix("__label__"))
            found[at, place] = max(float(share), LEAST_SHARE)
    return found


def shown(split_name: str, found: Mapping[str, Any]) -> str:
    """The figures as tables for people."""
    titles = ("urls", "wrong", "of_wrong", "if_right")
    lines = []
    for name, group in found.items():
        others = ", ".join(f"{key} {value}" for key, value in group.items() if key != "kinds")
        lines += [
            f"{split_name}, {name}: {others}",
            "".join(f"{each:>10}" for each in ("", *titles)),
        ]
        lines += [
            f"{kind:>10}" + "".join(f"{row[each]!s:>10}" for each in titles)
            for kind, row in group["kinds"].items()
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("urls", type=Path)
    parser.add_argument(
        "--models", type=Path, required=True, help="folder of `url_splits --models`"
    )
    parser.add_argument("--domains", type=int, nargs="*", default=[0], metavar="SEED")
    parser.add_argument("--rivals", action="store_true", help="fastText and py3langid as well")
    args = parser.parse_args()
    rows = usable(open_dataset(args.urls))
    for seed in args.domains:
        train, test = split(rows, seed=seed)
        model = UrlModel.load(args.models / f"domains-{seed}.npz")
        found = measure(model, train, test, args.rivals)
        facts = {
            "benchmark": "url_ceiling",
            "date": datetime.now(UTC).date().isoformat(),
            "split": f"domains {seed}",
            "model_version": model.version,
        }
        print(json.dumps({**facts, **found}), flush=True)
        print(shown(facts["split"], found), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
