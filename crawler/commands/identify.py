"""`langfocus identify`: the language of URLs and pages, and the known languages."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

from scrapy.settings import BaseSettings, Settings

from crawler.command import ExitCode, LangfocusCommand, positive
from crawler.errors import SettingError

Record = dict[str, Any]

_FEATURES = 10

_OPTIONS: Final = {
    "urls": ("model", "scores", "explain", "features", "format"),
    "pages": ("list", "method", "explain"),
    "languages": ("format",),
}
"""What can be identified -> the options that it takes."""

_FORMATS: Final = {"urls": ("json", "tsv"), "languages": ("json", "markdown")}
"""What can be identified -> the formats in which it is written, the default first."""

_NOT_JSON: Final = ("tsv", "markdown")

_MANUAL = """\
identify urls [FILE] [--scores] [--format FORMAT] [--model FILE] [--explain [--features N]]
  FILE or standard input has one URL a line; gzipped files are unpacked. Each line of output has
    url          the line of the input
    language     the code of the language, null for a URL without evidence and for other text
    confidence   0 to 1: the probability of that language
    scores       with --scores: the decision value of each language; positive is Yes
    explain      with --explain: the features that add most to, or take most from, the score of
                 the language, or of the best language if it is null: [feature, weight] pairs.
                 `_wet` begins a word, `.de` is the top-level domain, `/de/` a short word,
                 `U+0400` the block of a letter
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

identify languages [--format json|markdown]
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
  --format markdown writes docs/languages.md.

  -s LANGFOCUS_FASTTEXT_MODEL=FILE (or the environment variable) names a model of fastText, such as
  lid.176.ftz or GlotLID. It tells the languages of pages that the text model lacks; identify
  languages lists them too.

examples:
  echo http://www.wetterbericht.de/ | langfocus identify urls
  langfocus identify urls links.txt --json languages.jsonl
  langfocus identify urls links.txt.gz --format tsv > languages.tsv
  langfocus identify urls links.txt --explain --features 5
  langfocus identify pages saved/*.html
  langfocus identify pages crawl.warc.gz
  langfocus identify pages http://www.wetterbericht.de/ -s LANGFOCUS_CONTACT=you@example.org
  langfocus identify pages --list pages.tsv
  langfocus identify languages
"""


class IdentifyCommand(LangfocusCommand):
    """Identifies the language of URLs, or of pages in files and on the Web."""

    usage = "{urls [FILE] | pages [FILE|FOLDER|URL ...] | languages} [options]"
    summary = "Identify the language of URLs or of pages"
    description = (
        "Identifies the language of pages: from their URLs alone, without fetching, or from "
        "HTML files, WARC files and pages that are fetched. It can also list the known languages. "
        "The output is one JSON object a line, in the order of the input."
    )
    json_help = "write the lines to FILE (default: standard output)"

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _MANUAL

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        from classifiers.pages.methods import DEFAULT_METHOD, names

        super().add_options(parser)
        group = parser.add_argument_group("Identification")
        group.add_argument(
            "--list", metavar="FILE", help="pages: a file that lists pages, one per line"
        )
        group.add_argument(
            "--model", metavar="FILE", help="urls: a model file (default: the one that ships)"
        )
        group.add_argument(
            "--format",
            metavar="FORMAT",
            help="urls: json or tsv; languages: json or markdown (default: json)",
        )
        group.add_argument(
            "--scores",
            action="store_true",
            help="urls: add the decision value of each language",
        )
        group.add_argument(
            "--method",
            metavar="NAME",
            help=f"pages: the method (default {DEFAULT_METHOD}): {', '.join(names())}",
        )
        group.add_argument(
            "--explain", action="store_true", help="urls, pages: add the evidence of each answer"
        )
        group.add_argument(
            "--features",
            metavar="N",
            type=positive,
            help=f"urls: number of features that --explain adds (default: {_FEATURES})",
        )

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Write a line for each URL, page or language."""
        kind, *sources = args or [""]
        if kind not in _OPTIONS:
            raise SettingError(f"expected langfocus identify {self.usage}")
        _check_options(kind, opts)
        if kind == "pages":
            self._pages(sources, opts)
            return
        if kind == "urls":
            found = _urls(sources, opts)
        else:
            found = _languages(sources, opts, _fasttext(self.settings))
        with _output(opts.json) as output:
            for text in found:
                output.write(text)
                output.flush()

    def _pages(self, names: list[str], opts: argparse.Namespace) -> None:
        """Write a record for each page; a page that cannot be read sets the exit code."""
        from classifiers.pages.methods import DEFAULT_METHOD, method_with
        from crawler.commands.page_lines import (
            PageLines,
            PageReader,
            Sources,
            fetch_and_write,
            tell_damages,
        )

        if not (names or opts.list):
            raise SettingError("identify pages needs files, URLs or --list FILE")
        by = method_with(opts.method or DEFAULT_METHOD, _fasttext(self.settings))
        lines = PageLines(PageReader(by, explains=opts.explain))
        sources = Sources(tuple(names), opts.list)
        with _output(opts.json) as output:

            def write(record: Record) -> None:
                output.write(json.dumps(record) + "\n")
                output.flush()

            fetch_and_write(lines, sources, self.settings or Settings(), write)
        tell_damages(lines)
        if lines.failures:
            self.exitcode = ExitCode.FAILED


def _check_options(kind: str, opts: argparse.Namespace) -> None:
    for option in dict.fromkeys(itertools.chain(*_OPTIONS.values())):
        if getattr(opts, option) and option not in _OPTIONS[kind]:
            raise SettingError(f"identify {kind} takes no --{option}")
    if opts.features and not opts.explain:
        raise SettingError("--features belongs to --explain")
    if opts.format not in (None, *_FORMATS.get(kind, ())):
        expected = " or ".join(_FORMATS[kind])
        raise SettingError(f"--format {opts.format}: identify {kind} writes {expected}")
    others = [name for name in ("scores", "explain", "json") if getattr(opts, name)]
    if opts.format in _NOT_JSON and others:
        other = f"--{others[0]}"
        raise SettingError(f"--format {opts.format} and {other} exclude each other")


@contextlib.contextmanager
def _output(path: Path | None) -> Iterator[IO[str]]:
    if path is None:
        from crawler.report.printer import PrintableStream

        yield cast(IO[str], PrintableStream(sys.stdout)) if sys.stdout.isatty() else sys.stdout
    else:
        with path.open("w", encoding="utf-8") as file:
            yield file


def _urls(files: list[str], opts: argparse.Namespace) -> Iterator[str]:
    from classifiers.urls.model import UrlModel
    from crawler.commands.input_lines import InputLines
    from crawler.commands.url_lines import UrlColumns, UrlLines, UrlTable, texts

    if len(files) > 1:
        raise SettingError("identify urls takes one file, or none to read standard input")
    n_features = (opts.features or _FEATURES) if opts.explain else 0
    model = UrlModel.load(Path(opts.model) if opts.model else None)
    writer: UrlColumns | UrlLines | UrlTable
    writer = UrlLines(model, has_scores=opts.scores, n_features=n_features)
    if opts.format == "tsv":
        writer = UrlColumns(model)
    elif sys.stdout.isatty() and not (opts.format or opts.json or opts.scores or n_features):
        writer = UrlTable(model)
    return texts(InputLines(files[0] if files else None), writer)


def _fasttext(settings: BaseSettings | None) -> Path | None:
    """Return the model file of fastText that the settings or the environment name."""
    from classifiers.pages.text.fasttextengine import VARIABLE, named_file

    given = settings.get(VARIABLE) if settings else None
    return named_file(Path(given) if given else None)


def _languages(
    sources: list[str], opts: argparse.Namespace, fasttext: Path | None
) -> Iterator[str]:
    from crawler.commands.language_list import language_records, language_table

    if sources:
        raise SettingError(f"{sources[0]}: identify languages takes no arguments")
    records = language_records(fasttext)
    if opts.format == "markdown":
        return iter([language_table(records)])
    return (json.dumps(record) + "\n" for record in records)
