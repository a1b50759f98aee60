"""`langfocus train`: the URL model, from labelled URLs or runs; methods for pages, from texts."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from classifiers.errors import DatasetError
from crawler.commands.base import Parser, language_codes, parts, positive, share, write_json
from crawler.errors import SettingError

if TYPE_CHECKING:
    from classifiers.datasets import (
        Dataset,
        LabelledPage,
        LabelledText,
        LabelledUrl,
    )
    from classifiers.training.extension import Added
    from classifiers.training.urls import Options

_URL_MODEL: Final = "url-model.npz"
_MIN_URLS: Final = 30

_MANUAL = """\
data:
  *.tsv            a table whose first line names the columns url, lang, label_kind, source
  *.rdf.u8         content.rdf.u8 of the Open Directory Project (DMOZ)
  *.parquet        Common Crawl's columnar index, a file or a folder of them (needs the extra
                   commoncrawl)
  *.cdxj, cdx-*    Common Crawl's CDXJ index, a file or a folder of them
  All but Parquet also as .gz; --format reads a file of another name. Rows that cannot be used are
  left out and counted by reason.
  With --method, one or more of: labelled texts (a .tsv with the columns text, lang, kind, source,
  or SIB-200's text, flores_code, split), or a folder of
  pages (pages.tsv and html.tar), whose visible text is used. top-level-domain learns from the URLs
  of such a folder, or from labelled URLs.
  With --from-run, folders of runs: their pages whose language is sure from the page itself (text,
  declaration or encoding, confidence 0.9 or more), never those that were told by their URL or by
  the pages around them. Without DATA they add a classifier to the model that ships (or to that of
  --extend) for each language that the runs were crawled for, or of --languages; all others stay
  as they are. With DATA both are learned from together, which takes minutes.

output:
  The model file: plain arrays, a classifier for each language. With --evaluate a model is first
  trained on nine tenths of the registered domains and measured on the last tenth; the model in the
  file is then trained on all rows. Same data, same options: same bytes. With --method nothing is
  measured; use `langfocus evaluate`.

examples:
  langfocus train sample                  (a small table that ships, for first steps)
  langfocus train urls.tsv.gz
  langfocus train urls.tsv.gz --output de-en.npz --languages de en --no-evaluate
  langfocus train urls.tsv.gz --json figures.json
  langfocus train --from-run runs/cy-soft --output cy.npz
      then: langfocus crawl -a lang=cy -s LANGFOCUS_URL_MODEL=cy.npz
  langfocus train --from-run 'runs/cy-*' runs/br-focus --languages cy br --output celtic.npz
  langfocus train urls.tsv.gz --from-run 'runs/*' --output all.npz
  langfocus train content.rdf.u8.gz --languages en de fr es it
  langfocus train texts.tsv.gz --method nfc --output nfc.npz
  langfocus train texts.tsv.gz sib200.tsv.gz --method text --output text.npz
  langfocus train texts.tsv.gz --method letters --output page-letters.npz
  langfocus train pages/ --method top-level-domain
"""


DESCRIPTION = (
    "Trains one linear SVM for each language on the character n-grams of labelled URLs, "
    "measures it on registered domains that it was not trained on, and writes the model file. "
    "With --from-run the pages of crawls add languages to a model. "
    "With --method it trains a method that identifies the language of a page instead."
)


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_argument("paths", metavar="DATA", nargs="*", help="labelled URLs, texts or pages")
    parser.add_file("--json", "write the figures to FILE, as JSON")
    _add_data(parser.add_argument_group("Data"))
    _add_model(parser.add_argument_group("URL model"))
    _add_method(parser.add_argument_group("Methods for pages"))


def run(opts: argparse.Namespace) -> None:
    """Train, then print the figures."""
    _check(opts.paths, opts)
    opts.languages = language_codes(opts.languages) or None
    opts.kinds = parts(opts.kinds)
    paths = [Path(each) for each in opts.paths]
    if opts.method:
        figures = _train_method(paths, opts)
    elif paths:
        figures = _train_url_model(paths[0], opts)
    else:
        figures = _extend_url_model(opts)
    write_json(opts.json, figures)


def _check(args: list[str], opts: argparse.Namespace) -> None:
    if opts.method and opts.from_run:
        raise SettingError("--from-run trains the URL model; --method learns from texts or pages")
    if len(args) > 1 and not opts.method:
        raise SettingError("expected one file or folder of labelled URLs")
    if not args and not opts.from_run:
        raise SettingError("expected a file or folder of labelled URLs, texts or pages, or runs")
    if opts.extend and (args or not opts.from_run):
        raise SettingError("--extend adds languages from --from-run to a model, without DATA")


def _add_data(group: argparse._ArgumentGroup) -> None:
    from classifiers.datasets import FORMATS

    group.add_argument(
        "--format", choices=list(FORMATS), help="format of DATA (default: by its name)"
    )
    group.add_argument(
        "--languages",
        metavar="CODE",
        nargs="+",
        help="only these (default: all with enough URLs)",
    )
    group.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help=f"model file to write (default: {_URL_MODEL}, or METHOD.npz)",
    )


def _add_model(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--from-run",
        metavar="RUN",
        nargs="+",
        default=[],
        help="folders of runs whose sure pages are learned from; a pattern in quotes names several",
    )
    group.add_argument(
        "--extend",
        metavar="FILE",
        type=Path,
        help="the model to which --from-run adds languages (default: the one that ships)",
    )
    numbers = {
        "--buckets": (1 << 18, "buckets of the hashed features, a power of two"),
        "--max-per-domain": (20, "URLs of a language that a registered domain adds at most"),
        "--seed": (0, "seed of the split and the training, a whole number"),
        "--jobs": (1, "threads, two at most; the model does not depend on it"),
    }
    for name, (default, meaning) in numbers.items():
        group.add_argument(
            name, metavar="N", type=int, default=default, help=f"{meaning} (default: {default})"
        )
    group.add_argument(
        "--min-urls",
        metavar="N",
        type=positive,
        help="URLs that a language needs to get a classifier (default: 30); with --method, texts "
        "or pages that it needs to be learned (default: 1)",
    )
    group.add_argument(
        "--evaluate",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="measure on other domains first; this doubles the time (default: yes)",
    )
    group.add_argument(
        "--word-lists",
        action=argparse.BooleanOptionalAction,
        help="learn also from word lists and names of towns (default: if the extra training is "
        "installed)",
    )


def _add_method(group: argparse._ArgumentGroup) -> None:
    from classifiers.training.methods import NAMES

    group.add_argument(
        "--method",
        choices=list(NAMES),
        help="train this method for pages (default: train the URL model)",
    )
    group.add_argument(
        "--kinds", metavar="KIND", nargs="+", help="texts or pages of these kinds (default: all)"
    )
    group.add_argument(
        "--least-appearances",
        metavar="N",
        type=positive,
        help="byte-ngrams: an n-gram counts in a model and in a text if it appears N times or more "
        "(Cai 2009; default: 1)",
    )
    group.add_argument(
        "--held-out",
        metavar="SHARE",
        type=share,
        default=0.0,
        help="leave out this share of the texts, or of the hosts of pages, for "
        "`langfocus evaluate --held-out SHARE` (default: 0)",
    )


def _train_url_model(data: Path, opts: argparse.Namespace) -> dict[str, Any]:
    from classifiers.datasets import open_dataset
    from classifiers.training.urls import fit, usable
    from classifiers.urls.model import UrlModel

    options = _options(opts)
    start = time.monotonic()
    source = open_dataset(data, opts.format)
    rows = usable([*source, *_of_runs(opts)])
    print(f"{len(rows)} usable URLs, {_left_out(source.reasons)}")
    figures = _evaluate(rows, options) if opts.evaluate else None
    parameters = fit(rows, options)
    if figures is not None:
        parameters.facts["evaluation"] = figures
    model = UrlModel(parameters)
    output = opts.output or Path(_URL_MODEL)
    model.save(output)
    size, seconds = output.stat().st_size, time.monotonic() - start
    of_languages = f"{len(model.languages)} languages, {size / 1e6:.1f} MB"
    print(f"{output}: version {model.version}, {of_languages}, {seconds:.0f} s")
    return {"version": model.version, "bytes": size, **parameters.facts}


def _extend_url_model(opts: argparse.Namespace) -> dict[str, Any]:
    from classifiers.training.extension import extend
    from classifiers.urls import modelfile
    from crawler.outputs.verified import VerifiedPages, named_runs

    start, rows = time.monotonic(), _of_runs(opts)
    targets = opts.languages or VerifiedPages(named_runs(opts.from_run)).targets()
    if not targets:
        raise SettingError("--from-run: these runs have no target language; give --languages")
    base = modelfile.read(opts.extend or modelfile.SHIPPED)
    parameters, added = extend(base, rows, targets, _options(opts, has_word_lists=False))
    for told in added:
        print(_told(told))
    if not any(told.is_used for told in added):
        raise DatasetError("nothing was added: the model knows these languages better already")
    output = opts.output or Path(_URL_MODEL)
    modelfile.write(parameters, output)
    size, seconds = output.stat().st_size, time.monotonic() - start
    of_languages = f"{len(parameters.languages)} languages, {size / 1e6:.1f} MB"
    print(f"{output}: version {parameters.version}, {of_languages}, {seconds:.0f} s")
    return {"version": parameters.version, "bytes": size, **parameters.facts}


def _told(added: Added) -> str:
    """A line about what a language has learned."""
    from classifiers.languages import name

    before = "no classifier before" if added.f1_before is None else f"before {added.f1_before}"
    verdict = "" if added.is_used else "; the classifier before is not worse and stays"
    return (
        f"{name(added.language)} ({added.language}): {added.urls} URLs on {added.domains} domains"
        f" against {added.negatives}; F1 on domains not learned from {added.f1}, {before},"
        f" top-level domains alone {added.f1_domains}{verdict}"
    )


def _of_runs(opts: argparse.Namespace) -> list[LabelledUrl]:
    """The sure pages of the runs as labelled URLs; prints how many there are."""
    from classifiers.datasets import LabelledUrl
    from crawler.outputs.verified import VerifiedPages, named_runs

    if not opts.from_run:
        return []
    pages = VerifiedPages(named_runs(opts.from_run))
    rows = [LabelledUrl(page.url, page.language, "crawled", page.run) for page in pages]
    runs = "1 run" if len(pages.runs) == 1 else f"{len(pages.runs)} runs"
    print(f"{len(rows)} sure pages of {runs}, {_left_out(pages.reasons)}")
    return rows


def _options(opts: argparse.Namespace, *, has_word_lists: bool = True) -> Options:
    """The options of the training; prints a line if word lists are left out."""
    from classifiers.training import examples
    from classifiers.training.urls import Options

    uses_word_lists = opts.word_lists if has_word_lists else False
    if uses_word_lists is None and not (uses_word_lists := examples.are_installed()):
        print("word lists are left out: pip install 'langfocus[training]' adds them")
    return Options(
        buckets=opts.buckets,
        seed=opts.seed,
        min_urls=opts.min_urls or _MIN_URLS,
        max_per_domain=opts.max_per_domain,
        languages=opts.languages,
        word_lists=uses_word_lists,
        jobs=opts.jobs,
    )


def _train_method(data: list[Path], opts: argparse.Namespace) -> dict[str, Any]:
    from classifiers.training.methods import FROM_ADDRESSES, trainer

    start = time.monotonic()
    learn = _addresses if opts.method in FROM_ADDRESSES else _texts
    learned: list[Any] = []
    reasons: Counter[str] = Counter()
    for path in data:
        source, rows = learn(path, opts)
        found = list(rows)
        if not found:
            raise DatasetError(f"{path}: no usable rows, {_left_out(source.reasons)}")
        learned += found
        reasons += source.reasons
    counts = Counter(language for _, language, *_ in learned)
    learned = [row for row in learned if counts[row[1]] >= (opts.min_urls or 1)]
    print(f"{len(learned)} usable rows, {_left_out(reasons)}")
    model = trainer(opts.method, **_settings(opts))(learned)
    output = opts.output or Path(f"{opts.method}.npz")
    model.save(output)
    size, languages = output.stat().st_size, sorted(model.languages)
    known = f"{len(languages)} languages" if languages else "any language"
    print(f"{output}: {known}, {size / 1e6:.1f} MB, {time.monotonic() - start:.0f} s")
    return {
        "method": opts.method,
        "bytes": size,
        "rows": len(learned),
        "rows left out": dict(reasons),
        "languages": languages,
    }


def _settings(opts: argparse.Namespace) -> dict[str, int]:
    from classifiers.training.methods import WITH_LEAST

    if opts.least_appearances is None:
        return {}
    if opts.method not in WITH_LEAST:
        raise SettingError(f"--least-appearances is for --method {', '.join(WITH_LEAST)}")
    return {"least": opts.least_appearances}


def _texts(data: Path, opts: argparse.Namespace) -> tuple[Dataset[Any], Iterable[LabelledText]]:
    """Labelled texts, or the visible texts of pages."""
    from classifiers.datasets.texts import LabelledPage, recognised

    source = recognised(data)
    if source is None:
        wanted = "a table with the columns text, lang, kind, source or a folder of pages"
        raise DatasetError(f"{data}: {opts.method} learns from texts; expected {wanted}")
    rows = (row for row in source if _is_chosen(row, opts))
    return source, (_visible(row) if isinstance(row, LabelledPage) else row for row in rows)


def _visible(row: LabelledPage) -> LabelledText:
    from classifiers.datasets.texts import LabelledText
    from classifiers.pages.parse import parse_page

    page = parse_page(row.body, content_type=None, url=row.url)
    return LabelledText(page.text, row.language, row.kind, row.url)


def _addresses(
    data: Path, opts: argparse.Namespace
) -> tuple[Dataset[Any], Iterable[tuple[str, str]]]:
    """Pairs of URL and language, from pages or labelled URLs."""
    from classifiers.datasets import LabelledTexts, open_dataset
    from classifiers.datasets.texts import recognised

    known = recognised(data)
    source: Dataset[Any] = known or open_dataset(data, opts.format)
    if isinstance(known, LabelledTexts):
        raise DatasetError(f"{data}: {opts.method} learns from URLs; texts have none")
    rows: Iterator[Any] = (row for row in source if row.url and _is_chosen(row, opts))
    return source, ((row.url, row.language) for row in rows)


def _is_chosen(row: LabelledText | LabelledPage | LabelledUrl, opts: argparse.Namespace) -> bool:
    from classifiers.datasets import LabelledUrl
    from classifiers.datasets.texts import is_held_out

    kind = row.label_kind if isinstance(row, LabelledUrl) else row.kind
    is_wanted = not opts.languages or row.language in opts.languages
    is_of_kind = not opts.kinds or kind in opts.kinds
    return is_wanted and is_of_kind and not is_held_out(row, opts.held_out)


def _left_out(reasons: Counter[str]) -> str:
    """The number of rows left out, and of each reason, the most frequent reason first."""
    counts = [f"{reason} {count}" for reason, count in reasons.most_common()]
    return f"{reasons.total()} rows left out" + (f" ({', '.join(counts)})" if counts else "")


def _evaluate(rows: list[LabelledUrl], options: Options) -> dict[str, Any]:
    """The figures of a model on a tenth of the domains, trained on the other nine tenths."""
    from classifiers.datasets import split
    from classifiers.training.assessment import assess
    from classifiers.training.urls import fit
    from classifiers.urls.model import UrlModel

    train, test = split(rows, seed=options.seed)
    figures = assess(UrlModel(fit(train, options)), test)
    _print_table("domains not trained on", figures["five"])
    _print_table("the same by ccTLD alone", figures["cctld"])
    print(f"mean F1 of all languages {figures['all']['mean_f1']}, by kind {figures['by_kind']}")
    return figures


def _print_table(title: str, table: dict[str, Any]) -> None:
    print(f"\n{title}: {table['urls']} URLs, mean F1 {table['mean_f1']}")
    print(f"{'':4}{'P':>8}{'R':>8}{'p(-|-)':>8}{'F1':>8}")
    for code, row in table["languages"].items():
        cells = "".join(f"{row[name] or 0:8.1f}" for name in ("P", "R", "p(-|-)", "F1"))
        print(f"{code:4}{cells}")
    print()
