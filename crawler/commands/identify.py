"""`langfocus identify`: the language of URLs and pages, and the known languages, as JSON lines."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from crawler.command import ExitCode, LangfocusCommand, positive
from crawler.errors import SettingError

if TYPE_CHECKING:
    from classifiers.pages.method import PageLanguage, PageMethod
    from classifiers.pages.parse import ParsedPage
    from classifiers.urls.model import UrlLanguage, UrlModel
    from crawler.visit import Download

    Record = dict[str, Any]
    Batches = Iterator[list[Record]]

_BATCH = 1000
_FEATURES = 10

_OPTIONS: Final = {
    "urls": ("model", "explain", "features"),
    "pages": ("list", "method", "explain"),
    "languages": (),
}
"""What can be identified -> the options that it takes."""

_MANUAL = """\
identify urls [FILE] [--model FILE] [--explain [--features N]]
  FILE or standard input has one URL a line. Each line of output has
    url          the line of the input
    language     the code of the language, null if no classifier says Yes
    confidence   0 to 1: the share of that language among all
    scores       the decision value of each language; positive is Yes
    explain      with --explain: the features that add most to, or take most from, the score of
                 the language, or of the best language if it is null: [feature, weight] pairs.
                 `_wet` begins a word, `.de` is the top-level domain, `/de/` a short word,
                 `U+0400` the block of a letter

identify pages [FILE|URL ...] [--list FILE] [--method NAME] [--explain]
  The pages are HTML files, or are fetched. A line of a list is PATH or URL, or PATH<TAB>URL where
  the URL of the page is known. Each line of output has
    source       the file or URL
    language     the code of the language, null if the page does not show it
    confidence   0 to 1
    method       the evidence that decided: text, declaration, encoding, ... or none
    charset      the encoding of the page
    reason       the evidence in a few words
  and with --explain
    shares        language: its share of the text; empty if the method does not give shares
    script        of most letters, as an ISO 15924 code (Latn, Cyrl, Jpan), null without letters
    characters    length of the visible text that is read
    declarations  [place, value] pairs: the languages that the page declares
    encoding      charset, its source (bom, utf-8, http, meta, detected, ascii) and the charset
                  that META declares, null without one
    parser        the parser that read the page: lexbor, lexbor-disarmed or beautifulsoup
  A page that cannot be read is a line with language null; the exit code is then 1.

identify languages
  Each line of output has
    language     the code of the language
    name         its English name
    scripts      the ISO 15924 codes of its letters
    text         true if the text model knows it
    url          true if the URL model knows it
    seeds        the number of seeds that ship
    accuracy     the figures of the URL model in percent (classifiers/models/README.md): P, R,
                 p(-|-), F1 and the number of test URLs; null if it was not measured

examples:
  echo http://www.wetterbericht.de/ | langfocus identify urls
  langfocus identify urls links.txt --json languages.jsonl
  langfocus identify urls links.txt --explain --features 5
  langfocus identify pages saved/*.html
  langfocus identify pages http://www.wetterbericht.de/ --explain
  langfocus identify pages --list pages.tsv
  langfocus identify languages
"""


class IdentifyCommand(LangfocusCommand):
    """Identifies the language of URLs, or of pages in files and on the Web."""

    usage = "{urls [FILE] | pages [FILE|URL ...] | languages} [options]"
    summary = "Identify the language of URLs or of pages, as JSON lines"
    description = (
        "Identifies the language of pages: from their URLs alone, without fetching, or from "
        "HTML files and pages that are fetched. It can also list the known languages. The output "
        "is one JSON object a line, in the order of the input."
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
        if kind == "urls":
            batches = _urls(sources, opts)
        elif kind == "pages":
            batches = self._pages(sources, opts)
        else:
            batches = _languages(sources)
        with _output(opts.json) as output:
            for batch in batches:
                output.writelines(json.dumps(record) + "\n" for record in batch)
                output.flush()

    def _pages(self, sources: list[str], opts: argparse.Namespace) -> Batches:
        """A record for each page; a page that cannot be read sets the exit code."""
        from classifiers.pages.methods import DEFAULT_METHOD, method
        from crawler.settings import USER_AGENT

        if not (sources or opts.list):
            raise SettingError("identify pages needs files, URLs or --list FILE")
        by = method(opts.method or DEFAULT_METHOD)
        user_agent = str(self.settings.get("USER_AGENT") if self.settings else USER_AGENT)

        def records() -> Batches:
            for source, url in _listed(sources, opts.list):
                found = _download(source, url, user_agent)
                if isinstance(found, str):
                    self.exitcode = ExitCode.FAILED
                    yield [_unread(source, found)]
                else:
                    yield [_identified(source, found, by, is_explained=opts.explain)]

        return records()


def _check_options(kind: str, opts: argparse.Namespace) -> None:
    for option in dict.fromkeys(itertools.chain(*_OPTIONS.values())):
        if getattr(opts, option) and option not in _OPTIONS[kind]:
            raise SettingError(f"identify {kind} takes no --{option}")
    if opts.features and not opts.explain:
        raise SettingError("--features belongs to --explain")


@contextlib.contextmanager
def _output(path: Path | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
    else:
        with path.open("w", encoding="utf-8") as file:
            yield file


def _lines(path: str | None) -> Iterator[str]:
    """Lines without their ends; bytes that are not UTF-8 are kept as surrogates."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(Path(path).open("rb")) if path else sys.stdin.buffer
        for raw in source:
            yield raw.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _urls(files: list[str], opts: argparse.Namespace) -> Batches:
    """Yield a record for each line, in large batches from a file, one by one from a terminal."""
    from classifiers.urls.model import UrlModel

    if len(files) > 1:
        raise SettingError("identify urls takes one file, or none to read standard input")
    model = UrlModel.load(Path(opts.model) if opts.model else None)
    path = next((file for file in files if file != "-"), None)
    size = 1 if path is None and sys.stdin.isatty() else _BATCH
    n_features = (opts.features or _FEATURES) if opts.explain else 0

    def records() -> Batches:
        lines = _lines(path)
        while batch := list(itertools.islice(lines, size)):
            answers = zip(batch, model.identify_many(batch), strict=True)
            yield [_url_record(model, url, answer, n_features) for url, answer in answers]

    return records()


def _url_record(model: UrlModel, url: str, answer: UrlLanguage, n_features: int) -> Record:
    record: Record = {
        "url": url,
        "language": answer.language,
        "confidence": round(answer.confidence, 4),
        "scores": {code: round(score, 4) for code, score in answer.scores.items()},
    }
    if n_features:
        from classifiers.urls.explain import explain

        found = explain(model, url, answer.language, n_features)
        record["explain"] = [[each.text, round(each.weight, 4)] for each in found]
    return record


def _languages(sources: list[str]) -> Batches:
    from crawler.commands.language_list import language_records

    if sources:
        raise SettingError(f"{sources[0]}: identify languages takes no arguments")
    return iter([language_records()])


def _listed(sources: Iterable[str], listing: str | None) -> Iterator[tuple[str, str]]:
    """Each page and its URL, "" if unknown: the pages of the command line, then of the list."""
    yield from ((source, "") for source in sources)
    for line in _lines(listing) if listing else ():
        if line:
            path, _, url = line.partition("\t")
            yield path, url.strip()


def _download(source: str, url: str, user_agent: str) -> Download | str:
    """A page with its URL, "" if it is not known; or the reason of the failure."""
    from crawler.url import normalise
    from crawler.visit import Download
    from crawler.web.fetch import fetch

    try:
        if not source.lower().startswith(("http://", "https://")):
            return Download(url, 200, Path(source).read_bytes())
        address = normalise(source)
        return "cannot be read: not a URL" if address is None else fetch(address, user_agent)
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _identified(source: str, download: Download, by: PageMethod, *, is_explained: bool) -> Record:
    from classifiers.pages.parse import parse_page
    from crawler.identification import surroundings

    page = parse_page(
        download.body,
        content_type=download.content_type,
        url=download.url,
        content_language=download.content_language,
    )
    found = by.identify(page, surroundings(page, download.url))
    record = _page_record(source, found, page.charset)
    return record | (_evidence(page, found) if is_explained else {})


def _unread(source: str, reason: str) -> Record:
    from classifiers.pages.method import PageLanguage

    return _page_record(source, PageLanguage(None, 0.0, "none", reason), None)


def _page_record(source: str, found: PageLanguage, charset: str | None) -> Record:
    return {
        "source": source,
        "language": found.language,
        "confidence": round(found.confidence, 4),
        "method": found.method,
        "charset": charset,
        "reason": found.reason,
    }


def _evidence(page: ParsedPage, found: PageLanguage) -> Record:
    """The fields that --explain adds."""
    from classifiers.pages.text.scripts import utf16_units, vote

    return {
        "shares": {code: round(share, 4) for code, share in found.shares},
        "script": vote(utf16_units(page.text)).script,
        "characters": len(page.text),
        "declarations": [[each.source, each.tag] for each in page.declarations],
        "encoding": {
            "charset": page.charset,
            "source": page.charset_source,
            "declared": page.charset_declared,
        },
        "parser": page.parser,
    }
