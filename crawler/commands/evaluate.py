"""`langfocus evaluate`: the experiments of Baykan 2013 on labelled URLs; methods on pages."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from classifiers.errors import StudyError
from crawler.commands.base import Parser, language_codes, parts, positive

DESCRIPTION = (
    "Trains and tests binary classifiers of URLs, one for each language, by stratified "
    "cross-validation on balanced samples, and shows their precision, recall, p(-|-) and "
    "F1 next to those of Baykan, Henzinger and Weber 2013. With labelled pages or texts it "
    "runs methods that identify pages instead, and shows their accuracy."
)

_OF_URLS: Final = ("classifiers", "content", "test", "urls", "servers")
_OF_PAGES: Final = ("methods", "labels", "graph")

_MANUAL = """\
data:
  Labelled URLs in one of the formats of docs/data.md, such as .tsv or .tsv.gz with the columns
  url, lang, label_kind, source. Each URL counts once. URLs of two languages are left out.
  A folder with pages.tsv and html.tar holds labelled pages. A .tsv with the columns text, lang,
  kind, source holds labelled texts. A WARC file is read with a table of labels. See pages and
  texts below.

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

  With --test (default: test-set):
  test-set            the classifiers on a test set of its own: Tables XV and XVI
  test-sizes          the same with 100, 10, 1 and 0.1 % of the training URLs: Figure 6

classifiers:
  cctld, cctld+, ip, ALGORITHM:FEATURES or ip+ALGORITHM:FEATURES
  algorithms  svm, svm-perf (the paper's own), nb, me, dt, re, ros, markov
  features    words, N-grams-from-word, N-grams-from-url, allgrams-from-word, custom, ...

pages and texts:
  There is no training. Each method that identifies pages is run on each page (a text is a page
  without links and declarations). Tables show accuracy by method, language, length and evidence,
  CPU time, and the results of Hayati 2004, Cai 2009 and Tamura 2007.
  --methods takes the methods of `langfocus identify pages`. A default method whose package or file
  is missing is left out, with the reason. The neighbours of pages come from a recorded graph
  (--graph), which also tells how many links are between pages of one language.

  short               the only experiment: pages are cut to fewer than 50 characters, as few
                      labelled pages are that short (Hayati 2004, Table 5.1)

output:
  Tables with the paper's figures beside ours, and the same as JSON. After Ctrl-C the file has the
  finished experiments, and names the others.

extras:
  Custom-made features need the extra dictionaries. Without it the comparison leaves them out and
  says so.

examples:
  langfocus evaluate sample               (a small table that ships, for first steps)
  langfocus evaluate urls.tsv.gz --urls 2000
  langfocus evaluate urls.tsv.gz words ngrams --urls 5000 --json figures.json
  langfocus evaluate urls.tsv.gz --classifiers svm:words nb:3-grams-from-word --languages nl da sv
  langfocus evaluate urls.tsv.gz --test flash.tsv --languages en de
  langfocus evaluate urls.tsv.gz baselines --servers GeoLite2-Country.mmdb hosts.tsv
  langfocus evaluate pages/ --json figures.json
  langfocus evaluate texts.tsv.gz --methods composite,nfc
  langfocus evaluate docs.warc.gz short --labels docs.tsv --graph graphs/docs
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_argument("data", metavar="DATA", type=Path, help="labelled URLs, pages or texts")
    parser.add_argument("experiments", metavar="EXPERIMENT", nargs="*", help="see below")
    parser.add_argument(
        "--languages",
        metavar="CODE",
        nargs="+",
        help="languages to distinguish (default: those of the paper, en de fr es it; for pages "
        "and texts: all)",
    )
    parser.add_file("--json", "write all results to FILE")
    urls = parser.add_argument_group("labelled URLs")
    urls.add_argument(
        "--classifiers",
        metavar="NAME",
        nargs="+",
        help="compare these classifiers, with or without an experiment",
    )
    urls.add_argument(
        "--urls",
        metavar="N",
        type=positive,
        help="URLs of each language (default: as many as the language with the fewest has)",
    )
    urls.add_argument(
        "--test",
        metavar="FILE",
        type=Path,
        help="labelled URLs of another source or year: train on DATA, test on these",
    )
    urls.add_argument(
        "--content",
        metavar="PATH",
        type=Path,
        help="labelled texts or pages that the experiment `content` trains on",
    )
    urls.add_argument(
        "--servers",
        metavar=("MMDB", "ADDRESSES"),
        nargs=2,
        type=Path,
        help="countries of servers, for ip: a MaxMind database of countries or cities, and a file "
        "of lines with a host, a tab and its address",
    )
    pages = parser.add_argument_group("labelled pages and texts")
    pages.add_argument(
        "--methods",
        metavar="NAME",
        nargs="+",
        help="methods to compare (default: composite and those of the papers)",
    )
    pages.add_argument(
        "--labels",
        metavar="FILE",
        type=Path,
        help="DATA is a WARC file; the languages of its pages are in this table, with the columns "
        "url and lang",
    )
    pages.add_argument(
        "--graph",
        metavar="FOLDER",
        type=Path,
        help="give each page the pages around it in this graph (made by langfocus graph --from)",
    )


def run(opts: argparse.Namespace) -> None:
    """Run the evaluation that fits the data, and print tables."""
    from classifiers.datasets.texts import recognised
    from crawler.commands import page_evaluation, url_evaluation
    from crawler.sources.labelled_pages import ArchivedPages

    opts.languages = language_codes(opts.languages)
    opts.classifiers, opts.methods = parts(opts.classifiers), parts(opts.methods)
    source = ArchivedPages(opts.data, opts.labels) if opts.labels else recognised(opts.data)
    if source is None:
        _refuse(opts, _OF_PAGES, "labelled pages and texts; these are URLs")
        url_evaluation.evaluate(opts)
    else:
        _refuse(opts, _OF_URLS, "labelled URLs; these are pages or texts")
        page_evaluation.evaluate(source, opts)


def _refuse(opts: argparse.Namespace, options: Sequence[str], reason: str) -> None:
    for name in options:
        if getattr(opts, name):
            raise StudyError(f"--{name} is for {reason}")
