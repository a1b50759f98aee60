"""`langfocus evaluate`: the experiments of Baykan 2013 on labelled URLs; methods on pages."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.commands.base import Parser, language_codes, natural, parts, positive

if TYPE_CHECKING:
    from crawler.commands.page_evaluation import Question
    from crawler.sources.labelled_pages import ArchivedPages

_MANUAL = """\
data:
  Labelled URLs in one of the formats of docs/data.md, such as .tsv or .tsv.gz with the columns
  url, lang, label_kind, source. Each URL counts once. URLs of two languages are left out.
  A folder with pages.tsv and html.tar holds labelled pages. A .tsv with the columns text, lang,
  kind, source holds labelled texts. See pages and texts below.

experiments (default: comparison):
  baselines           top-level domains and IP addresses: Tables V-VIII, Figure 1
  words               words as features: Table IX
  ngrams              the best n-grams of each algorithm: Table X
  svm-features        SVM with words and all n-grams: Table XI
  custom              custom-made features: Table XII
  feature-comparison  three feature sets, with and without empty URLs: Table XIII
  comparison          the best of each approach: Table XIV, Figures 3 and 4
  training-sizes      100, 10, 1 and 0.1 % of the training URLs: Figure 5
  domains             test URLs whose domain was trained on: 4.3.1
  tree                the top of the decision tree of the first language: Figure 2
  few-features        15 of 74 custom-made features, chosen greedily: slides of 2008
  domain-disjoint     folds that share no registered domain
  svm-perf            the paper's own SVM beside ours, also on domains not trained on
  best-combination    the best combination of classifiers: slides of 2008, Table 9
  content             trained on URLs and on the texts of --content: slides of 2008, Table 10
  all                 all of these, content only with --content

  With --test or --test-sources (default: test-set):
  test-set            the classifiers on a test set of its own: Tables XV and XVI
  test-sizes          the same with 100, 10, 1 and 0.1 % of the training URLs: Figure 6

classifiers:
  cctld, cctld+, ip, ALGORITHM:FEATURES or ip+ALGORITHM:FEATURES
  algorithms  svm, svm-perf (the paper's own), nb, me, dt, re, ros, markov
  features    words, N-grams-from-word, N-grams-from-url, allgrams-from-word, custom, ...

pages and texts:
  There are no experiments and no training. Each method that identifies pages is run on each
  page (a text is a page without links and declarations). Tables show accuracy by method, language,
  length, kind, encoding and evidence, confusions, calibration, CPU time, and the results of Hayati
  2004 and Cai 2009. --methods takes the methods of `langfocus identify pages`. A default method
  whose package or file is missing is left out, with the reason. The figures of a method that was
  trained on the data are too high: train it with --held-out 0.1 and evaluate it with
  --held-out 0.1.

  The neighbours of pages come from a recorded graph (--graph), which also tells how many links are
  between pages of one language. --short cuts pages to fewer than 50 characters, as few labelled
  pages are that short (Hayati 2004, Table 5.1). A WARC file with a table of labels is read, too.

output:
  Tables with the paper's figures beside ours, and the same as JSON. After Ctrl-C the file has the
  finished experiments, and names the others.

extras:
  Custom-made features need the extra dictionaries, Parquet files the extra commoncrawl.
  Without dictionaries, the comparison leaves these features out and says so.

examples:
  langfocus evaluate sample               (a small table that ships, for first steps)
  langfocus evaluate urls.tsv.gz --urls 2000 --jobs 2
  langfocus evaluate urls.tsv.gz words ngrams --urls 5000 --json figures.json
  langfocus evaluate urls.tsv.gz --classifiers svm:words nb:3-grams-from-word --languages nl da sv
  langfocus evaluate urls.tsv.gz --test flash.tsv --languages en de
  langfocus evaluate urls.tsv.gz test-set test-sizes --test-sources gdelt_hydra_news
  langfocus evaluate urls.tsv.gz all --json study.json
  langfocus evaluate urls.tsv.gz baselines --mmdb GeoLite2-Country.mmdb --addresses hosts.tsv
  langfocus evaluate pages/ --json figures.json
  langfocus evaluate texts.tsv.gz --methods composite,nfc --limit 5000
  langfocus evaluate docs.warc.gz --labels docs.tsv --graph graphs/docs --short
"""


DESCRIPTION = (
    "Trains and tests binary classifiers of URLs, one for each language, by stratified "
    "cross-validation on balanced samples, and shows their precision, recall, p(-|-) and "
    "F1 next to those of Baykan, Henzinger and Weber 2013. With labelled pages or texts it "
    "runs methods that identify pages instead, and shows their accuracy."
)


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from crawler.commands import page_evaluation

    parser.epilog = _MANUAL
    parser.add_argument("data", metavar="DATA", type=Path, help="labelled URLs, pages or texts")
    parser.add_argument("experiments", metavar="EXPERIMENT", nargs="*", help="see above")
    parser.add_file("--json", "write all results to FILE")
    _add_what(parser.add_argument_group("Data and classifiers"))
    _add_sample(parser.add_argument_group("Samples and folds"))
    of_pages = parser.add_argument_group("Options for pages and texts")
    page_evaluation.add_options(of_pages)
    _add_where(parser.add_argument_group("Processes"))
    _add_servers(parser.add_argument_group("Countries of servers (for IP)"))


def run(opts: argparse.Namespace) -> None:
    """Run the evaluation that fits the data, and print tables."""
    from classifiers.datasets.texts import recognised
    from crawler.commands import page_evaluation, url_evaluation

    source = _archive(opts.data, opts.labels) or recognised(opts.data)
    if source is None:
        page_evaluation.refuse(opts)
        url_evaluation.evaluate(opts.data, opts.experiments, opts)
    else:
        page_evaluation.check(opts.experiments, opts)
        page_evaluation.evaluate(source, _question(opts), _counting)


@contextlib.contextmanager
def _counting() -> Iterator[Callable[[str, int, int | None], None]]:
    """A function that shows the progress of several tasks, one after the other."""
    from crawler.report.progress import Display

    with Display(sys.stderr) as display:
        yield display.count


def _archive(data: Path, labels: Path | None) -> ArchivedPages | None:
    """The labelled pages of a WARC file; None without a table of labels."""
    if labels is None:
        return None
    from crawler.sources.labelled_pages import ArchivedPages

    return ArchivedPages(data, labels)


def _question(opts: argparse.Namespace) -> Question:
    from crawler.commands.page_evaluation import Question

    return Question(
        methods=parts(opts.methods),
        languages=language_codes(opts.languages),
        kinds=parts(opts.kinds),
        held_out=opts.held_out,
        limit=opts.limit,
        seed=opts.seed,
        labels=opts.labels,
        graph=opts.graph,
        is_short=opts.short,
        json=opts.json,
    )


def _add_what(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format", metavar="NAME", help="format of DATA (default: by its name; see docs/data.md)"
    )
    group.add_argument(
        "--languages",
        metavar="CODE",
        nargs="+",
        help="languages to distinguish (default: those of the paper, en de fr es it; for pages "
        "and texts: all)",
    )
    group.add_argument(
        "--classifiers",
        metavar="NAME",
        nargs="+",
        help="compare these classifiers, with or without an experiment",
    )
    group.add_argument(
        "--content",
        metavar="PATH",
        help="labelled texts or pages that the experiment `content` trains on",
    )


def _add_sample(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--urls",
        metavar="N",
        type=positive,
        help="URLs of each language (default: as many as the language with the fewest has)",
    )
    group.add_argument(
        "--test",
        metavar="FILE",
        help="labelled URLs of another source or year: train on DATA, test on these",
    )
    group.add_argument(
        "--test-sources",
        metavar="NAME",
        nargs="+",
        help="test on the rows of DATA that have these sources, and train on the others",
    )
    group.add_argument(
        "--folds",
        metavar="N",
        type=positive,
        default=10,
        help="folds of the cross-validation (default: 10)",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        type=natural,
        default=0,
        help="seed of samples and folds, a whole number (default: 0)",
    )


def _add_where(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--jobs",
        metavar="N",
        type=positive,
        default=1,
        help="processes (default: 1); the results do not depend on it",
    )


def _add_servers(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--mmdb", metavar="FILE", help="MaxMind database of countries or cities")
    group.add_argument(
        "--addresses", metavar="FILE", help="lines with a host, a tab and its address"
    )
    group.add_argument(
        "--resolve", action="store_true", help="ask the DNS for the address of every host"
    )
