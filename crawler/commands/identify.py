"""`langfocus identify`: the language of URLs and pages, and the known languages."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crawler.commands.base import Parser, pairs
from crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from classifiers.urls.model import UrlModel

Record = dict[str, Any]

_OPTION_OF: Final = {"explain": "urls", "method": "pages"}
"""The options of one kind of source alone."""

DESCRIPTION = (
    "Identifies the language of pages: from their URLs alone, without fetching, or from "
    "HTML files and WARC files. It can also list the known languages. "
    "The output is one JSON object a line, in the order of the input."
)

_MANUAL = """\
identify urls [FILE] [--explain] [-s LANGFOCUS_URL_MODEL=FILE]
  FILE or standard input has one URL a line; gzipped files are unpacked. Each line of output has
    url          the line of the input
    language     the code of the language, null for a URL without evidence and for other text
    confidence   0 to 1: the probability of that language
  and with --explain
    scores       the decision value of each language; positive is Yes
    explain      [feature, weight] pairs: what adds most to, or takes most from, the score of the
                 language, or of the best language if it is null
  A terminal gets a table instead.

identify pages FILE|FOLDER|- ... [--method NAME]
  The pages are HTML files, WARC files, all of a folder and the folders in it; - is standard input.
  A WARC file gives a line for each HTTP response, with its URL as source. Each line of output has
    source       the file, or the URL in a WARC file
    language     the code of the language, null if the page does not show it
    confidence   0 to 1
    method       the evidence that decided: text, declaration, encoding, ... or none
    charset      the encoding of the page, null if there is no page
    reason       the evidence in a few words, or the reason why there is no page
  A file that cannot be read is a line with language null; the exit code is then 1.

identify languages
  Each line of output has the language with its name and scripts, what the text model (text) and
  the URL model (url) learned it from, its seeds, and the accuracy of both models in percent;
  null where there is nothing. docs/languages.md is a table of it.

examples:
  echo http://www.wetterbericht.de/ | langfocus identify urls
  langfocus identify urls links.txt.gz > languages.jsonl
  langfocus identify pages saved/*.html crawl.warc.gz
  langfocus identify pages saved -s LANGFOCUS_FASTTEXT_MODEL=glotlid.bin
  curl http://www.wetterbericht.de/ | langfocus identify pages -
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from classifiers.pages.methods import DEFAULT_METHOD, names

    parser.usage = (
        "langfocus identify {urls [FILE] | pages FILE|FOLDER|- ... | languages} [options]"
    )
    parser.epilog = _MANUAL
    parser.add_argument("kind", choices=list(_LINES), help="what is identified")
    parser.add_argument("sources", metavar="FILE|FOLDER", nargs="*", help="its sources")
    parser.add_pairs("-s", "a model: LANGFOCUS_URL_MODEL, LANGFOCUS_FASTTEXT_MODEL")
    parser.add_argument(
        "--method",
        metavar="NAME",
        help=f"pages: the method (default {DEFAULT_METHOD}): {', '.join(names())}",
    )
    parser.add_argument(
        "--explain", action="store_true", help="urls: add the evidence of each answer"
    )


def run(opts: argparse.Namespace) -> None:
    """Write a line for each URL, page or language."""
    from crawler.report.table import PrintableStream

    for option, kind in _OPTION_OF.items():
        if getattr(opts, option) and kind != opts.kind:
            raise SettingError(f"identify {opts.kind} takes no --{option}")
    output = PrintableStream(sys.stdout)
    for text in _LINES[opts.kind](opts, pairs(opts.set, "-s")):
        output.write(text)
        output.flush()


def _urls(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from classifiers.urls.model import UrlModel
    from crawler.commands import url_lines

    if len(opts.sources) > 1:
        raise SettingError("identify urls takes one file, or none to read standard input")
    file = given.get("LANGFOCUS_URL_MODEL")
    model = UrlModel.load(Path(file) if file else None)
    write = url_lines.table if sys.stdout.isatty() else url_lines.json_lines
    if opts.explain:
        write = url_lines.explained_lines
    for urls in url_lines.line_batches(opts.sources[0] if opts.sources else None):
        yield write(model, urls)


def _pages(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from classifiers.pages.methods import DEFAULT_METHOD, FASTTEXT_FILE, fasttext_file, method
    from crawler.commands.page_lines import PageLines

    if not opts.sources:
        raise SettingError("identify pages needs files or folders, or - for standard input")
    fasttext = fasttext_file(given.get(FASTTEXT_FILE))
    pages = PageLines(method(opts.method or DEFAULT_METHOD, fasttext))
    for record in pages.records(opts.sources):
        yield json.dumps(record) + "\n"
    if pages.failures:
        raise CrawlError(f"not all of it could be read ({pages.failures:,}): see the reasons")


def _languages(opts: argparse.Namespace, _: Mapping[str, str]) -> Iterator[str]:
    if opts.sources:
        raise SettingError(f"{opts.sources[0]}: identify languages takes no arguments")
    for record in language_records():
        yield json.dumps(record) + "\n"


_LINES: Final = {"urls": _urls, "pages": _pages, "languages": _languages}


def language_records() -> list[Record]:
    """Return a record for each language that a part of the project knows, in order of the codes."""
    from classifiers import languages
    from classifiers.pages.text.textengine import known_languages
    from classifiers.urls.model import UrlModel

    url_model, texts, seeds = UrlModel.load(), known_languages(), _seeds()
    measured = url_model.facts.get("evaluation", {}).get("all", {}).get("languages", {})
    return [
        {
            "language": code,
            "name": languages.name(code),
            "scripts": sorted(languages.scripts(code)),
            "text": {"sentences": texts[code]["sentences"]} if code in texts else None,
            "url": _of_urls(url_model, code),
            "seeds": seeds.get(code, 0),
            "accuracy": {"text": _text_accuracy(texts.get(code, {})), "url": measured.get(code)},
        }
        for code in sorted({*url_model.named_languages, *texts, *seeds})
    ]


def _text_accuracy(facts: Record) -> Record | None:
    measured = {name: facts.get(name) for name in ("sentence", "page")}
    return measured if any(measured.values()) else None


def _of_urls(model: UrlModel, code: str) -> Record | None:
    from classifiers.languages import tlds_of

    if code in model.languages:
        learned: Mapping[str, int] = model.facts.get("languages", {})
        return {"by": "model", "urls": learned.get(code)}
    domains = sorted(tlds_of(code))
    return {"by": "rules", "domains": domains} if code in model.named_languages else None


def _seeds() -> dict[str, int]:
    """Return the number of seeds of each language that has a list."""
    from crawler.config import SEED_FOLDER

    lists = {path.stem: path.read_text(encoding="utf-8") for path in SEED_FOLDER.glob("*.txt")}
    return {
        code: sum(bool(line.strip()) and not line.startswith("#") for line in text.splitlines())
        for code, text in lists.items()
    }
