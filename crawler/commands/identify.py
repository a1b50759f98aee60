"""`langfocus identify`: the language of URLs and pages, and the known languages."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from crawler.commands.base import Parser, pairs
from crawler.errors import CrawlError, SettingError

_OPTIONS: Final = {
    "urls": ("explain", "format"),
    "pages": ("method", "explain"),
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

identify pages FILE|FOLDER|- ... [--method NAME] [--explain]
  The pages are HTML files, WARC files, all of a folder and the folders in it; - is standard input.
  A WARC file gives a line for each HTTP response, with its URL as source; a damaged record is a
  line with a reason. Pages of the Web are identified by a crawl. Each line of output has
    source       the file, or the URL in a WARC file
    language     the code of the language, null if the page does not show it
    confidence   0 to 1
    method       the evidence that decided: text, declaration, encoding, ... or none
    charset      the encoding of the page, null if there is no page
    reason       the evidence in a few words, or the reason why there is no page
  and with --explain
    script        of most letters, as an ISO 15924 code (Latn, Cyrl, Jpan), null without letters
    characters    length of the visible text that is read
    declarations  [place, value] pairs: the languages that the page declares
    encoding      charset, its source (bom, utf-8, http, meta, detected, ascii) and the charset
                  that META declares, null without one
    parser        the parser that read the page: lexbor, lexbor-cut or beautifulsoup
  A file that cannot be read is a line with language null; the exit code is then 1. Binary files
  (images, PDF, archives, programs) are no pages.

identify languages
  Each line of output has the language with its name and scripts, what the text model (text) and
  the URL model (url) learned it from, its seeds, and the accuracy of both models in percent;
  null where there is nothing. docs/languages.md is a table of it.

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
  curl http://www.wetterbericht.de/ | langfocus identify pages -
  langfocus identify languages
"""


DESCRIPTION = (
    "Identifies the language of pages: from their URLs alone, without fetching, or from "
    "HTML files and WARC files. It can also list the known languages. "
    "The output is one JSON object a line, in the order of the input."
)


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from classifiers.pages.methods import DEFAULT_METHOD, names

    parser.usage = (
        "langfocus identify {urls [FILE] | pages FILE|FOLDER|- ... | languages} [options]"
    )
    parser.epilog = _MANUAL
    parser.add_argument("kind", choices=list(_OPTIONS), help="what is identified")
    parser.add_argument("sources", metavar="FILE|FOLDER", nargs="*", help="its sources")
    parser.add_pairs("-s", "a model: LANGFOCUS_URL_MODEL, LANGFOCUS_FASTTEXT_MODEL")
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


def run(opts: argparse.Namespace) -> None:
    """Write a line for each URL, page or language."""
    from crawler.report.printer import PrintableStream

    for option in ("explain", "format", "method"):
        if getattr(opts, option) and option not in _OPTIONS[opts.kind]:
            raise SettingError(f"identify {opts.kind} takes no --{option}")
    if opts.format == "tsv" and opts.explain:
        raise SettingError("--format tsv and --explain exclude each other")
    kinds = {"urls": _urls, "pages": _pages, "languages": _languages}
    output = PrintableStream(sys.stdout)
    for text in kinds[opts.kind](opts, pairs(opts.set, "-s")):
        output.write(text)
        output.flush()


def _urls(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from classifiers.urls.model import UrlModel
    from crawler.commands import url_lines

    if len(opts.sources) > 1:
        raise SettingError("identify urls takes one file, or none to read standard input")
    file = given.get("LANGFOCUS_URL_MODEL")
    model = UrlModel.load(Path(file) if file else None)
    write = url_lines.explained_lines if opts.explain else url_lines.json_lines
    if opts.format == "tsv":
        write = url_lines.columns
    elif sys.stdout.isatty() and not (opts.format or opts.explain):
        write = url_lines.table
    for urls in url_lines.line_batches(opts.sources[0] if opts.sources else None):
        yield write(model, urls)


def _pages(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from classifiers.pages.methods import DEFAULT_METHOD, method_with
    from crawler.commands.page_lines import PageLines

    if not opts.sources:
        raise SettingError("identify pages needs files or folders, or - for standard input")
    pages = PageLines(method_with(opts.method or DEFAULT_METHOD, _fasttext(given)), opts.explain)
    for record in pages.records(opts.sources):
        yield json.dumps(record) + "\n"
    if pages.failures:
        raise CrawlError(f"not all of it could be read ({pages.failures:,}): see the reasons")


def _languages(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from crawler.commands.language_list import language_records

    if opts.sources:
        raise SettingError(f"{opts.sources[0]}: identify languages takes no arguments")
    for record in language_records(_fasttext(given)):
        yield json.dumps(record) + "\n"


def _fasttext(given: Mapping[str, str]) -> Path | None:
    """Return the model file of fastText that the settings or the environment name."""
    from classifiers.pages.text.fasttextengine import VARIABLE, named_file

    file = given.get(VARIABLE)
    return named_file(Path(file) if file else None)
