"""Training of the text model on labelled texts.

Language values are n-gram counts; only the probability of a known language is fitted. A model from
the other folds (of five) scores each text, alone and joined to a page, once with the text's
language and once without. The answer without the language simulates the shipped model's answer to
an unknown language.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.datasets.rows import stable_share
from langfocus.classifiers.datasets.texts import NEWS, LabelledText
from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.pages.text.scripts import utf16_units, vote
from langfocus.classifiers.pages.text.textengine import (
    MAX_LEAD,
    ScriptModel,
    TextModel,
    language_of,
    model_script,
    typicality_facts,
)
from langfocus.classifiers.pages.text.textgrams import BEST, buckets
from langfocus.classifiers.tables import rows as table_rows

MIN_TEXTS: Final = 40
"""Minimum texts of a trained language in a script."""
BITS: Final = {"Latn": 17, "Hani": 17}
"""Script -> binary logarithm of the bucket count."""
OTHER_BITS: Final = 16
SINGLE_BITS: Final = 15
"""Binary logarithm of the bucket count for a single-language script."""
SMOOTHING: Final = 3000.0
"""N-grams of the script added to each language."""
OTHER_WEIGHT: Final = 0.5
"""Weight of an n-gram outside news, for a language with news: news texts are the same in every
language.
"""
VARIETIES: Final = {"zho_Hant": "zh-Hant", "yue_Hant": "zh-Hant"}
"""Text source -> column. Traditional Chinese has other signs than Simplified. SIB-200's Cantonese
texts have no sign of written Cantonese: they are in Standard Chinese.
"""
FAINTEST: Final = 0.1
"""Values below this number of nats count as 0, which shrinks the file."""
FOLDS: Final = 5
PAGE: Final = 20
"""Sentences per synthetic page."""
SIZES: Final = (1, 2, 5, PAGE)
MIXED_SIZES: Final = (5, PAGE)
"""Sentences per mixed page; MIXED_SHARE are in any language, like menus and names on the Web."""
MIXED_SHARE: Final = 0.2
SINGLES: Final = 60
"""Texts of a language and fold that are scored alone."""
UNKNOWN_SHARE: Final = 0.1
"""Assumed share of texts in an unknown language, for the confidence."""

Counts = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Sparse = Any


class Scored(NamedTuple):
    """Texts with scores of a model trained without these texts."""

    columns: Rows
    """Column of each text; -1 for an unknown language, (n_texts,)."""
    sizes: Rows
    """Sentences per text; negative for mixed languages, (n_texts,)."""
    n_features: npt.NDArray[np.float64]
    values: Counts
    """Nats, (n_texts, n_tags)."""
    best: Counts
    """Nats of an n-gram in the share BEST of a text that is most like a language, same shape."""


@dataclass(frozen=True)
class ScriptTexts:
    """Texts in one script."""

    script: str
    tags: tuple[str, ...]
    features: Sparse
    """N-gram counts, CSR (n_texts, n_buckets)."""
    columns: Rows
    """Column of each text, (n_texts,)."""
    weights: Counts
    """Weight of each text, (n_texts,)."""
    folds: Rows
    """Fold of each text, (n_texts,)."""
    shuffled: Sparse
    """Texts with shuffled letters, CSR (n_shuffled, n_buckets)."""

    @cached_property
    def total(self) -> Counts:
        """Weighted counts of all texts, (n_tags, n_buckets)."""
        return sum(map(self._counted, range(1, FOLDS)), self._counted(0))

    def _counted(self, fold: int) -> Counts:
        """Return the weighted counts of a fold, (n_tags, n_buckets)."""
        from scipy.sparse import csr_matrix

        rows = np.flatnonzero(self.folds == fold)
        place = (self.weights[rows], (self.columns[rows], np.arange(len(rows))))
        chosen = csr_matrix(place, shape=(len(self.tags), len(rows)))
        return np.asarray((chosen @ self.features[rows]).todense(), np.float32)

    @cached_property
    def scored(self) -> Scored:
        """Return texts, alone and as pages, scored by models of other folds."""
        parts: list[Scored] = []
        for fold in range(FOLDS):
            values = values_of(self.total - self._counted(fold))
            groups = {size: _groups(self, fold, size) for size in SIZES}
            parts += [self._pages(rows, values) for rows in groups.values() if rows]
            mixed = (_mixed(self, groups[size]) for size in MIXED_SIZES)
            pages = (self._pages(rows, values) for rows in mixed if rows)
            parts += [page._replace(sizes=-page.sizes) for page in pages]
            if fold == 0:
                none = np.full(self.shuffled.shape[0], -1)
                parts.append(_values(self.shuffled, none, np.ones_like(none), values))
        return Scored(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _pages(self, groups: list[Rows], values: tuple[Counts, Counts]) -> Scored:
        """Return the scores of synthetic pages; the first text names a page."""
        size, rows = len(groups[0]), np.concatenate(groups)
        sizes = np.full(len(groups), size)
        return _values(self.features[rows], self.columns[rows[::size]], sizes, values)

    @cached_property
    def typical(self) -> Counts:
        """Mean nats of an n-gram for each language in its own texts, (n_tags,)."""
        alone = (self.scored.sizes == 1) & (self.scored.columns >= 0)
        columns = self.scored.columns[alone]
        own = self.scored.values[alone, columns] / self.scored.n_features[alone]
        sums = np.bincount(columns, weights=own, minlength=len(self.tags))
        numbers = np.bincount(columns, minlength=len(self.tags))
        overall = own.mean() if len(own) else 0.0
        return np.where(numbers > 0, sums / np.maximum(numbers, 1), overall).astype(np.float32)

    @property
    def model(self) -> ScriptModel:
        """Return the model of all texts."""
        values, floors = values_of(self.total)
        values[values < FAINTEST] = 0
        scale = max(float(values.max()), 1e-6) / 127**2
        table = np.ascontiguousarray(np.rint(np.sqrt(values / scale)).astype(np.int8).T)
        return ScriptModel(self.script, self.tags, table, scale, floors, self.typical)


def train(rows: Iterable[LabelledText]) -> TextModel:
    """Return the model of all languages with MIN_TEXTS rows in a script.

    Equal rows give equal bytes. DatasetError without two such languages.
    """
    rows = list(rows)
    scripts = list(_by_script(rows))
    if sum(len(texts.tags) for texts in scripts) < 2:
        raise DatasetError(f"no two languages with {MIN_TEXTS} texts each: nothing to distinguish")
    models = {texts.script: texts.model for texts in scripts}
    return TextModel(models, _fitted(scripts), _facts(rows, scripts))


def _by_script(rows: Iterable[LabelledText]) -> Iterator[ScriptTexts]:
    """Yield the texts of each script with a trainable language."""
    grouped: defaultdict[str, list[tuple[LabelledText, str]]] = defaultdict(list)
    for row in in_all_scripts(rows):
        script = vote(utf16_units(row.text)).script
        if script is not None:
            tag = VARIETIES.get(row.source, row.language)
            grouped[model_script(script)].append((row, tag))
    for script, found in sorted(grouped.items()):
        n_texts = Counter(tag for _, tag in found)
        tags = tuple(sorted(tag for tag, n in n_texts.items() if n >= MIN_TEXTS))
        if tags:
            yield _script_texts(script, tags, found)


def in_all_scripts(rows: Iterable[LabelledText]) -> Iterator[LabelledText]:
    """Yield the rows, and again in each further alphabet of the row's language."""
    tables: defaultdict[tuple[str, str], list[list[str]]] = defaultdict(list)
    for key, rules in table_rows("transliterations.txt").items():
        language, script, _ = key.split()
        tables[language, script].append(rules.split(" "))
    for row in rows:
        yield row
        for alphabet in tables.get((row.language, vote(utf16_units(row.text)).script or ""), ()):
            yield row._replace(text=transliterated(row.text, alphabet))


def transliterated(text: str, rules: Iterable[str]) -> str:
    """Return a text in other letters, in lower case unless rules contain capitals."""
    text = unicodedata.normalize("NFC", text)
    for rule in rules:
        letters, _, others = rule.partition(">")
        text = re.sub(letters, others, text if letters.isupper() else text.lower())
    return text


def _script_texts(
    script: str, tags: tuple[str, ...], found: Iterable[tuple[LabelledText, str]]
) -> ScriptTexts:
    column = {tag: at for at, tag in enumerate(tags)}
    kept = [(row, column[tag]) for row, tag in found if tag in column]
    with_news = {at for row, at in kept if row.kind == NEWS}
    bits = BITS.get(script, OTHER_BITS if len(tags) > 1 else SINGLE_BITS)
    texts = [row.text for row, _ in kept]
    is_other = [row.kind != NEWS and at in with_news for row, at in kept]
    chance = np.random.default_rng(0)
    some = texts[:: max(1, len(texts) // 1000)]
    shuffled = ["".join(chance.permutation(list(text))) for text in some]
    return ScriptTexts(
        script,
        tags,
        matrix(texts, script, bits),
        np.array([at for _, at in kept]),
        np.where(is_other, OTHER_WEIGHT, 1.0).astype(np.float32),
        np.array([int(FOLDS * stable_share(text, 0, "fold")) for text in texts]),
        matrix(shuffled, script, bits),
    )


def matrix(texts: Sequence[str], script: str, bits: int) -> Sparse:
    """Return the n-gram counts of texts as a CSR matrix, (n_texts, 1 << bits)."""
    from scipy.sparse import csr_matrix

    counted = [np.unique(buckets(text, script, bits), return_counts=True) for text in texts]
    names, counts = (np.concatenate(each) for each in zip(*counted, strict=True))
    pointers = np.cumsum([0, *(len(names) for names, _ in counted)])
    place = (counts.astype(np.float32), names.astype(np.int32), pointers)
    return csr_matrix(place, shape=(len(texts), 1 << bits))


def values_of(counts: Counts) -> tuple[Counts, Counts]:
    """Return nats per n-gram above the floor, (n_tags, n_buckets), and the floors, (n_tags,)."""
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares = counts / totals
    background = shares.mean(axis=0)
    ratio = np.divide(counts, background, out=np.zeros_like(counts), where=background > 0)
    floors = np.log(SMOOTHING / (totals[:, 0] + SMOOTHING))
    return np.log1p(ratio / SMOOTHING).astype(np.float32), floors.astype(np.float32)


def _groups(texts: ScriptTexts, fold: int, size: int) -> list[Rows]:
    """Return the rows of each synthetic page with `size` texts in a fold."""
    groups: list[Rows] = []
    for column in range(len(texts.tags)):
        rows = np.flatnonzero((texts.folds == fold) & (texts.columns == column))
        n_groups = min(len(rows) // size, SINGLES)
        # Spread over all sources: the rows are in source order.
        order = np.random.default_rng(column).permutation(rows)
        groups += list(order[: n_groups * size].reshape(n_groups, size))
    return groups


def _mixed(texts: ScriptTexts, groups: list[Rows]) -> list[Rows]:
    """Return pages with MIXED_SHARE of their sentences replaced by sentences in any language."""
    chance = np.random.default_rng(0)
    for rows in groups:
        n_others = int(MIXED_SHARE * len(rows))
        rows[-n_others:] = chance.integers(len(texts.columns), size=n_others)
    return groups


def _values(features: Sparse, columns: Rows, sizes: Rows, values: tuple[Counts, Counts]) -> Scored:
    """Return text scores; `sizes` are the consecutive feature rows per text."""
    shape = len(columns), -1, len(values[1])
    counts = np.asarray(features.sum(axis=1), np.float32)
    nats = (features @ values[0].T + counts * values[1]).reshape(shape)
    counts = counts.reshape(len(columns), -1, 1)
    n_features = counts.sum(axis=(1, 2))
    read = n_features > 0
    best = _best(nats[read] / np.maximum(counts[read], 1), counts[read])
    whole = nats[read].sum(axis=1)
    return Scored(columns[read], sizes[read], n_features[read].astype(np.float64), whole, best)


def _best(values: Counts, counts: Counts) -> Counts:
    """Return the mean of the largest values (n_texts, n_sentences, n_tags) in the share BEST."""
    order = np.argsort(-values, axis=1)
    sizes = np.take_along_axis(np.broadcast_to(counts, values.shape), order, axis=1)
    most = BEST * counts.sum(axis=1, keepdims=True)
    parts = np.clip(most - (np.cumsum(sizes, axis=1) - sizes), 0, sizes)
    best: Counts = (np.take_along_axis(values, order, axis=1) * parts).sum(axis=1) / most[:, 0]
    return best


def _fitted(scripts: Sequence[ScriptTexts]) -> npt.NDArray[np.float64]:
    """Return the fitted coefficients of `typicality_facts`."""
    from sklearn.linear_model import LogisticRegression

    cases = [_cases(each, is_left_out) for each in scripts for is_left_out in (False, True)]
    variables, is_known, weights = (np.concatenate(each) for each in zip(*cases, strict=True))
    if is_known.all():
        return np.array([10.0, 0, 0, 0, 0, 0])
    odds = UNKNOWN_SHARE / (1 - UNKNOWN_SHARE)
    weights[~is_known] *= odds * weights[is_known].sum() / weights[~is_known].sum()
    model = LogisticRegression(C=1e3, fit_intercept=False, max_iter=2000)
    model.fit(variables, is_known, sample_weight=weights / weights.mean())
    return np.asarray(model.coef_[0], np.float64)


def _cases(texts: ScriptTexts, is_left_out: bool) -> tuple[Any, Any, Any]:
    """Return the variables, known-language labels and weights of a script's texts.

    With `is_left_out`, no text may be identified as its language. A text identified as another
    known language is uninformative and skipped.
    """
    scored = texts.scored
    languages = np.array(list(map(language_of, texts.tags)))
    own = np.where(scored.columns >= 0, languages[scored.columns], "")
    is_own = own[:, None] == languages[None, :]
    values = np.where(is_own & is_left_out, -np.inf, scored.values).astype(np.float64)
    first = values.argmax(axis=1)
    is_right = (languages[first] == own) & (scored.columns >= 0)
    usable = np.isfinite(values).any(axis=1) & (is_left_out | is_right)
    best = values[np.arange(len(values)), first]
    others = np.where(languages[None, :] == languages[first][:, None], -np.inf, values)
    second = others.max(axis=1)
    with np.errstate(invalid="ignore"):
        leads = (best - second) / scored.n_features
        lead = np.where(np.isfinite(second), leads, MAX_LEAD)
        deficit = texts.typical[first] - scored.best[np.arange(len(values)), first]
    variables = typicality_facts(deficit, lead, scored.n_features)[usable]
    pairs = list(zip(scored.sizes.tolist(), own.tolist(), strict=True))
    per_size = Counter(pairs)
    weights = np.array([1 / per_size[pair] for pair in pairs])
    return variables, is_right[usable] & (not is_left_out), weights[usable]


def _facts(rows: Sequence[LabelledText], scripts: Sequence[ScriptTexts]) -> dict[str, Any]:
    """Return the training data and the cross-validated accuracy in numbers."""
    facts: dict[str, dict[str, Any]] = {}
    right: defaultdict[tuple[str, str, int], list[bool]] = defaultdict(list)
    for texts in scripts:
        languages = list(map(language_of, texts.tags))
        for at, code in enumerate(languages):
            entry = facts.setdefault(code, {"sentences": 0, "scripts": []})
            entry["sentences"] += int((texts.columns == at).sum())
            if texts.script not in entry["scripts"]:
                entry["scripts"].append(texts.script)
        columns, sizes, _, values, _ = texts.scored
        for column, size, first in zip(columns, sizes, values.argmax(axis=1), strict=True):
            if column >= 0:
                code = languages[column]
                right[code, texts.script, int(size)].append(languages[first] == code)
    for code, entry in facts.items():
        for name, size in (("sentence", 1), ("page", PAGE)):
            answers = {script: right[code, script, size] for script in entry["scripts"]}
            entry[name] = _percent([*chain.from_iterable(answers.values())])
            if len(answers) > 1:
                by_script = {script: _percent(flags) for script, flags in answers.items()}
                entry.setdefault("by_script", {})[name] = by_script
    return {
        "texts": len(rows),
        "languages": dict(sorted(facts.items())),
        "kinds": dict(sorted(Counter(row.kind for row in rows).items())),
    }


def _percent(are_right: Sequence[bool]) -> float | None:
    return round(100 * math.fsum(are_right) / len(are_right), 1) if are_right else None
