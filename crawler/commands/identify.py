"""`langfocus identify`: the language of URLs and pages, and the known languages."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final, cast

from crawler.commands.base import ExitCode, Parser, pairs, settings_of
from crawler.errors import SettingError

_OPTIONS: Final = {
    "urls": ("explain", "format"),
    "pages": ("list", "method", "explain"),
    "languages": (),
}
"""What can be identified -> the options that it takes."""

_MANUAL = """\
identify urls [FILE] [--format FORMAT] [--explain] [-s LANGFOCUS_URL_MODEL=FILE]
  FILE or standard input has one URL a line; gzipped files are unpacked. Each line of output has
    url          the line of the input
    language     the code of the language, null for a URL without evidence and for other text
    confidence   0 to 1: the probability of that language
  and with --explain
    scores       the decision value of each language; positive is Yes
    explain      the features that add most to, or take most from, the score of the language, or
                 of the best language if it is null: [feature, weight] pairs. `_wet` begins a word,
                 `.de` is the top-level domain, `/de/` a short word, `U+0400` the block of a letter
  --format json is the default, except on a terminal, which gets a table. tsv writes two
  columns without a header: the language, empty if there is none, and the confidence. Its lines
  are those of the input: `paste links.txt languages.tsv` puts both side by side.

identify pages [FILE|FOLDER|URL ...] [--list FILE] [--method NAME] [--explain] [-s NAME=VALUE]
  The pages are HTML files, WARC files, all of a folder and the folders in it, or are fetched as
  a crawl does: robots.txt, delays, the contact in LANGFOCUS_CONTACT, no private addresses (the
  settings of langfocus crawl --help). A
  line of a list is PATH or URL, or PATH<TAB>URL where the URL of the page is known. A WARC file
  gives a line for each HTTP response, with its URL as source; a damaged record is left out with a
  reason. Each line of output has
    source       the file or URL
    language     the code of the language, null if the page does not show it
    confidence   0 to 1
    method       the evidence that decided: text, declaration, encoding, ... or none
    charset      the encoding of the page, null if there is no page
    reason       the evidence in a few words, or the reason why there is no page
  and with --explain
    shares        language: its share of the text; empty if the method does not give shares
    script        of most letters, as an ISO 15924 code (Latn, Cyrl, Jpan), null without letters
    characters    length of the visible text that is read
    declarations  [place, value] pairs: the languages that the page declares
    encoding      charset, its source (bom, utf-8, http, meta, detected, ascii) and the charset
                  that META declares, null without one
    parser        the parser that read the page: lexbor, lexbor-cut or beautifulsoup
  A page that cannot be read is a line with language null; the exit code is then 1. Binary files
  (images, PDF, archives, programs) are no pages.

identify languages
  Each line of output has
    language     the code of the language
    name         its English name
    scripts      the ISO 15924 codes of its letters
    text         null if the text model does not know it, else sentences: the number of texts that
                 the model learned from, null if its script alone decides; profile: true if
                 langdetect's profiles know it too
    url          null, or by: "model" with the number of URLs that the URL model learned from, or
                 "rules" with the top-level domains of the language; codes and letters count too
    seeds        the number of seeds that ship
    accuracy     text: percentages right of the text model on one sentence and on a page of 20;
                 url: the figures of the URL model in percent (classifiers/models/README.md): P, R,
                 p(-|-), F1 and the number of test URLs; each null if it was not measured
    fasttext     the labels of the language in the model of LANGFOCUS_FASTTEXT_MODEL

  -s LANGFOCUS_FASTTEXT_MODEL=FILE (or the environment variable) names a model of fastText, such as
  lid.176.ftz or GlotLID. It tells the languages of pages that the text model lacks; identify
  languages lists them too.

examples:
  echo http://www.wetterbericht.de/ | langfocus identify urls
  langfocus identify urls links.txt > languages.jsonl
  langfocus identify urls links.txt.gz --format tsv > languages.tsv
  langfocus identify urls links.txt --explain
  langfocus identify pages saved/*.html
  langfocus identify pages crawl.warc.gz
  langfocus identify pages http://www.wetterbericht.de/ -s LANGFOCUS_CONTACT=you@example.org
  langfocus identify pages --list pages.tsv
  langfocus identify languages
"""


DESCRIPTION = (
    "Identifies the language of pages: from their URLs alone, without fetching, or from "
    "HTML files, WARC files and pages that are fetched. It can also list the known languages. "
    "The output is one JSON object a line, in the order of the input."
)


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from classifiers.pages.methods import DEFAULT_METHOD, names

    parser.usage = (
        "langfocus identify {urls [FILE] | pages [FILE|FOLDER|URL ...] | languages} [options]"
    )
    parser.epilog = _MANUAL
    parser.add_argument("kind", choices=list(_OPTIONS), help="what is identified")
    parser.add_argument("sources", metavar="FILE|FOLDER|URL", nargs="*", help="its sources")
    parser.add_pairs("-s", "setting of langfocus or Scrapy (may be repeated)")
    parser.add_argument("--list", metavar="FILE", help="pages: a file that lists pages, one a line")
    parser.add_argument(
        "--format", choices=("json", "tsv"), help="urls: the format of the lines (default: json)"
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help=f"pages: the method (default {DEFAULT_METHOD}): {', '.join(names())}",
    )
    parser.add_argument(
        "--explain", action="store_true", help="urls, pages: add the evidence of each answer"
    )


def run(opts: argparse.Namespace) -> int | None:
    """Write a line for each URL, page or language."""
    _check_options(opts)
    given = pairs(opts.set, "-s")
    if opts.kind == "pages":
        return _pages(opts, given)
    lines = _urls(opts, given) if opts.kind == "urls" else _languages(opts, given)
    output = _output()
    for text in lines:
        output.write(text)
        output.flush()
    return None


def _check_options(opts: argparse.Namespace) -> None:
    for option in dict.fromkeys(itertools.chain(*_OPTIONS.values())):
        if getattr(opts, option) and option not in _OPTIONS[opts.kind]:
            raise SettingError(f"identify {opts.kind} takes no --{option}")
    if opts.format == "tsv" and opts.explain:
        raise SettingError("--format tsv and --explain exclude each other")


def _output() -> IO[str]:
    """Return standard output; a terminal gets printable characters only."""
    from crawler.report.printer import PrintableStream

    return cast(IO[str], PrintableStream(sys.stdout)) if sys.stdout.isatty() else sys.stdout


def _urls(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from classifiers.urls.model import UrlModel
    from crawler.commands.input_lines import InputLines
    from crawler.commands.url_lines import UrlColumns, UrlLines, UrlTable, texts

    if len(opts.sources) > 1:
        raise SettingError("identify urls takes one file, or none to read standard input")
    file = given.get("LANGFOCUS_URL_MODEL")
    model = UrlModel.load(Path(file) if file else None)
    writer: UrlColumns | UrlLines | UrlTable = UrlLines(model, explains=opts.explain)
    if opts.format == "tsv":
        writer = UrlColumns(model)
    elif sys.stdout.isatty() and not (opts.format or opts.explain):
        writer = UrlTable(model)
    return texts(InputLines(opts.sources[0] if opts.sources else None), writer)


def _languages(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from crawler.commands.language_list import language_records

    if opts.sources:
        raise SettingError(f"{opts.sources[0]}: identify languages takes no arguments")
    return (json.dumps(record) + "\n" for record in language_records(_fasttext(given)))


def _fasttext(given: Mapping[str, str]) -> Path | None:
    """Return the model file of fastText that the settings or the environment name."""
    from classifiers.pages.text.fasttextengine import VARIABLE, named_file

    file = given.get(VARIABLE)
    return named_file(Path(file) if file else None)


def _pages(opts: argparse.Namespace, given: Mapping[str, str]) -> int:
    """Write a record for each page; return the exit code, that of a failure for an unread page."""
    from classifiers.pages.methods import DEFAULT_METHOD, method_with
    from crawler.commands.page_lines import PageLines, fetch, sources_of, tell_damages

    if not (opts.sources or opts.list):
        raise SettingError("identify pages needs files, URLs or --list FILE")
    by = method_with(opts.method or DEFAULT_METHOD, _fasttext(given))
    lines = PageLines(by, explains=opts.explain)
    sources = list(sources_of(opts.sources, opts.list))
    fetched = fetch(sources, lines.read, lambda: settings_of(opts))
    output = _output()
    for record in lines.records(sources, fetched.lookup):
        output.write(json.dumps(record) + "\n")
        output.flush()
    tell_damages(lines)
    if fetched.error:
        raise fetched.error
    return ExitCode.FAILED if lines.failures else ExitCode.DONE
