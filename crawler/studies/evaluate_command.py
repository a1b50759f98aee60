"""`langfocus evaluate`: the experiments of Baykan 2013 on labelled URLs; methods on pages."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from langfocus.classifiers.errors import StudyError
from langfocus.crawler.commands.base import Parser, language_codes, parts, positive

_OF_URLS: Final = ("classifiers", "content", "test", "urls", "servers")
_OF_PAGES: Final = ("methods", "labels", "graph")

DESCRIPTION = (
    "Trains and tests binary classifiers of URLs, one for each language, by stratified "
    "cross-validation on balanced samples, and shows their precision, recall, p(-|-) and "
    "F1 next to those of Baykan, Henzinger and Weber 2013. With labelled pages or texts it "
    "runs methods that identify pages instead, and shows their accuracy."
)

_MANUAL = """\
docs/data.md describes the formats of DATA. Each URL counts once; URLs of two languages are left
out. After Ctrl-C the file of --json has the finished experiments or methods, and names the others.

experiments on URLs (default: comparison):
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
  test-set            with --test, the default: Tables XV and XVI
  test-sizes          with --test, with 100, 10, 1 and 0.1 % of the training URLs: Figure 6

classifiers:
  cctld, cctld+, ip, ALGORITHM:FEATURES or ip+ALGORITHM:FEATURES
  algorithms  svm, svm-perf (the paper's own), nb, me, dt, re, ros, markov
  features    words, N-grams-from-word, N-grams-from-url, allgrams-from-word, custom, ...

pages and texts:
  There is no training. Tables show accuracy by method, language, length and evidence, CPU time, and
  the results of Hayati 2004, Cai 2009 and Tamura 2007. A default method whose package or file is
  missing is left out, with the reason. The only experiment is short: pages are cut to fewer than 50
  characters, as few labelled pages are that short (Hayati 2004, Table 5.1).

examples:
  langfocus evaluate sample               (a small table that ships, for first steps)
  langfocus evaluate urls.tsv.gz words ngrams --urls 5000 --json figures.json
  langfocus evaluate urls.tsv.gz --classifiers svm:words nb:3-grams-from-word --languages nl da sv
  langfocus evaluate urls.tsv.gz --test flash.tsv --languages en de
  langfocus evaluate urls.tsv.gz baselines --servers GeoLite2-Country.mmdb hosts.tsv
  langfocus evaluate texts.tsv.gz --methods composite,nfc
  langfocus evaluate docs.warc.gz short --labels docs.tsv --graph graphs/docs
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_path("data", "DATA", "labelled URLs, pages or texts")
    parser.add_argument("experiments", metavar="EXPERIMENT", nargs="*", help="see below")
    codes = "languages (default: those of the paper, en de fr es it; for pages and texts: all)"
    parser.add_names("--languages", "CODE", codes)
    parser.add_file("--json", "write all results to FILE")
    names = "URLs: compare these classifiers, with or without an experiment"
    parser.add_names("--classifiers", "NAME", names)
    number = "URLs of each language (default: the size of the smallest language)"
    parser.add_argument("--urls", metavar="N", type=positive, help=number)
    other = "URLs: test set, labelled URLs of another source or year; DATA is the training set"
    parser.add_path("--test", "FILE", other)
    texts = "URLs: labelled texts or pages, training set of the experiment `content`"
    parser.add_path("--content", "PATH", texts)
    parser.add_argument(
        "--servers",
        metavar=("MMDB", "ADDRESSES"),
        nargs=2,
        type=Path,
        help="URLs: server countries, for ip: a MaxMind database of countries or cities, and a "
        "file with a host, a tab and an address per line",
    )
    methods = "pages: methods to compare (default: composite and the papers' methods)"
    parser.add_names("--methods", "NAME", methods)
    labels = "pages: table with the columns url and lang, for DATA in a WARC file"
    parser.add_path("--labels", "FILE", labels)
    graph = "pages: graph with each page's neighbours (built by langfocus graph --from)"
    parser.add_path("--graph", "FOLDER", graph)


def run(opts: argparse.Namespace) -> None:
    """Evaluate URL classifiers or page methods, by the kind of data, and print tables."""
    from langfocus.classifiers.datasets import open_dataset
    from langfocus.classifiers.datasets.texts import recognised
    from langfocus.crawler.studies.labelled_pages import ArchivedPages

    opts.languages = language_codes(opts.languages)
    opts.classifiers, opts.methods = parts(opts.classifiers), parts(opts.methods)
    source = ArchivedPages(opts.data, opts.labels) if opts.labels else recognised(opts.data)
    if source is None:
        _refuse(opts, _OF_PAGES, "labelled pages and texts; these are URLs")
        open_dataset(opts.data)  # raises for a wrong path before the classifiers are loaded
        from langfocus.crawler.studies.url_evaluation import evaluate_urls

        evaluate_urls(opts)
    else:
        _refuse(opts, _OF_URLS, "labelled URLs; these are pages or texts")
        from langfocus.crawler.studies.page_evaluation import evaluate_pages

        evaluate_pages(source, opts)


def _refuse(opts: argparse.Namespace, options: Sequence[str], reason: str) -> None:
    for name in options:
        if getattr(opts, name):
            raise StudyError(f"--{name} is for {reason}")
