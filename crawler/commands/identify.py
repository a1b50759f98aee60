"""`scrapy identify`: the language of URLs and of pages, as JSON lines."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from classifiers.errors import ClassifierError
from classifiers.pages.method import PageLanguage, PageMethod
from classifiers.pages.methods import DEFAULT_METHOD, method, names
from classifiers.pages.parse import ParsedPage, parse_page
from classifiers.pages.text.scripts import utf16_units, vote
from crawler.identification import surroundings
from crawler.settings import USER_AGENT
from crawler.url import normalise
from crawler.visit import Download
from crawler.web.fetch import fetch

if TYPE_CHECKING:
    from classifiers.urls.model import UrlLanguage, UrlModel

_BATCH = 1000
_FEATURES = 10

_EPILOG = """\
identify urls [FILE]
  One URL a line, from FILE or standard input. Each line of output has
    url          the line
    language     the code of the language, null where nothing can be said
    confidence   0 to 1: the share of that language among all
    scores       for each language what its binary classifier says; positive is Yes
    explain      with --explain: what adds most to, or takes most from, the score of the
                 language, or of the best one where it is null: [feature, weight] pairs.
                 `_wet` begins a word, `.de` is the top-level domain, `/de/` a short word,
                 `U+0400` the block of a letter

identify pages [FILE|URL ...] [--list FILE] [--method NAME] [--explain]
  HTML files, and pages that are fetched. A line of a list is PATH or URL, or PATH<TAB>URL where
  the page's address is known. Each line of output has
    source       the file or URL
    language     the code of the language, null where the page does not say
    confidence   0 to 1
    method       what told: text, declaration, encoding, ... or none
    charset      how the page is encoded
    reason       the evidence in a few words
  and with --explain
    shares        language: its part of the text, empty where the method does not tell
    script        of most letters, as ISO 15924 calls it (Latn, Cyrl, Jpan), null without letters
    characters    length of the visible text that is read
    declarations  [place, value] pairs: what the page says of its language
    encoding      charset, its source (bom, utf-8, http, meta, detected, ascii) and what META
                  declared, null where nothing
    parser        what read the page: lexbor, lexbor-disarmed or beautifulsoup
  A page that cannot be read is a line with language null; the exit code is then 1.

examples:
  echo http://www.wetterbericht.de/ | scrapy identify urls
  scrapy identify urls links.txt --json languages.jsonl
  scrapy identify urls links.txt --explain 5
  scrapy identify pages saved/*.html
  scrapy identify pages http://www.wetterbericht.de/ --explain
  scrapy identify pages --list pages.tsv
"""


class Command(ScrapyCommand):
    """Names the language of URLs, or of pages in files and on the Web."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Return what stands after the command's name."""
        return "[options] {urls [FILE] | pages [FILE|URL ...]}"

    def short_desc(self) -> str:
        """Return the line that `scrapy` shows for the command."""
        return "Name the language of URLs or of pages, as JSON lines"

    def long_desc(self) -> str:
        """Return what the help begins with."""
        return (
            "Names the language that pages are written in: from their URLs alone, which fetches "
            "nothing, or from HTML files and pages that are fetched. Writes one JSON object a "
            "line, in the order of the input."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Describe the arguments."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = textwrap.fill(self.long_desc(), 95)
        parser.epilog = _EPILOG
        group = parser.add_argument_group("Identification")
        group.add_argument(
            "--json", metavar="FILE", help="write to FILE (default: standard output)"
        )
        group.add_argument(
            "--list", metavar="FILE", help="pages: a file that lists pages, one a line"
        )
        group.add_argument(
            "--model", metavar="FILE", help="urls: a model file (default: the one that ships)"
        )
        group.add_argument(
            "--method",
            metavar="NAME",
            help=f"pages: what tells the language (default {DEFAULT_METHOD}): {', '.join(names())}",
        )
        group.add_argument(
            "--explain",
            metavar="N",
            nargs="?",
            const="",
            help=f"urls: add the N features that count most (default: {_FEATURES}); pages: add "
            "what the answer rests on",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Write the lines; an error is one line and exit code 1."""
        if not args or args[0] not in ("urls", "pages"):
            raise UsageError("expected 'urls' or 'pages'")
        _check(args, opts)
        try:
            if args[0] == "urls":
                identify = partial(_urls, args, opts)
            else:
                by = method(opts.method or DEFAULT_METHOD)
                identify = partial(_pages, args, opts, by=by, user_agent=self._user_agent())
            with _output(opts.json) as output:
                done = identify(output)
        except BrokenPipeError:
            done = False
            sys.stdout = None  # nobody reads; do not flush at exit
        except (ClassifierError, OSError) as error:
            print(f"langfocus: {error}", file=sys.stderr)
            done = False
        self.exitcode = 0 if done else 1

    def _user_agent(self) -> str:
        return str(self.settings.get("USER_AGENT") if self.settings else USER_AGENT)


def _check(args: list[str], opts: argparse.Namespace) -> None:
    if args[0] == "urls":
        _check_urls(args, opts)
    else:
        _check_pages(args, opts)


def _check_urls(args: list[str], opts: argparse.Namespace) -> None:
    if len(args) > 2:
        raise UsageError("identify urls takes one file, or none to read standard input")
    if opts.list or opts.method:
        raise UsageError("--list and --method are for identify pages")
    if opts.explain is not None:
        number = opts.explain or str(_FEATURES)
        if not (number.isascii() and number.isdigit() and int(number) > 0):
            raise UsageError(f"--explain {number}: expected a number from 1")
        opts.explain = int(number)


def _check_pages(args: list[str], opts: argparse.Namespace) -> None:
    if opts.model:
        raise UsageError("--model is for identify urls")
    if opts.explain:
        # The number that it takes for URLs is the first page here.
        args.insert(1, opts.explain)
    if not (args[1:] or opts.list):
        raise UsageError("identify pages needs files, URLs or --list FILE")


@contextlib.contextmanager
def _output(path: str | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
    else:
        with Path(path).open("w", encoding="utf-8") as file:
            yield file


def _write(output: IO[str], records: Iterable[dict[str, Any]]) -> None:
    output.writelines(json.dumps(record) + "\n" for record in records)
    output.flush()


def _lines(path: str | None) -> Iterator[str]:
    """Lines without their ends; bytes that are not UTF-8 are kept as surrogates."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(Path(path).open("rb")) if path else sys.stdin.buffer
        for raw in source:
            yield raw.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _batches(lines: Iterator[str], is_live: bool) -> Iterator[list[str]]:
    """Lines in large batches from a file; one by one where somebody may be typing."""
    while batch := list(itertools.islice(lines, 1 if is_live else _BATCH)):
        yield batch


def _urls(args: list[str], opts: argparse.Namespace, output: IO[str]) -> bool:
    from classifiers.urls.model import UrlModel

    model = UrlModel.load(Path(opts.model) if opts.model else None)
    path = args[1] if len(args) > 1 and args[1] != "-" else None
    for batch in _batches(_lines(path), is_live=path is None and sys.stdin.isatty()):
        answers = zip(batch, model.identify_many(batch), strict=True)
        _write(output, (_url_record(model, url, answer, opts.explain) for url, answer in answers))
    return True


def _url_record(
    model: UrlModel, url: str, answer: UrlLanguage, n_features: int | None
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "url": url,
        "language": answer.language,
        "confidence": round(answer.confidence, 4),
        "scores": {code: round(score, 4) for code, score in answer.scores.items()},
    }
    if n_features is not None:
        from classifiers.urls.explain import explain

        found = explain(model, url, answer.language, n_features)
        record["explain"] = [[each.text, round(each.weight, 4)] for each in found]
    return record


def _pages(
    args: list[str], opts: argparse.Namespace, output: IO[str], by: PageMethod, user_agent: str
) -> bool:
    """Whether all pages could be read."""
    listed = (line.partition("\t") for line in _lines(opts.list) if line) if opts.list else ()
    sources = itertools.chain(((path, "") for path in args[1:]), ((p, u) for p, _, u in listed))
    done = True
    for source, url in sources:
        found = _download(source, url.strip(), user_agent)
        if isinstance(found, str):
            done = False
            record = _page_record(source, PageLanguage(None, 0.0, "none", found), None)
        else:
            record = _identified(source, found, by, is_explained=opts.explain is not None)
        _write(output, [record])
    return done


def _download(source: str, url: str, user_agent: str) -> Download | str:
    """A page with its address, "" where it has none, or why it cannot be read."""
    try:
        if not source.lower().startswith(("http://", "https://")):
            return Download(url, 200, Path(source).read_bytes())
        address = normalise(source)
        return "cannot be read: not a URL" if address is None else fetch(address, user_agent)
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _identified(
    source: str, download: Download, by: PageMethod, *, is_explained: bool
) -> dict[str, Any]:
    page = parse_page(
        download.body,
        content_type=download.content_type,
        url=download.url,
        content_language=download.content_language,
    )
    found = by.identify(page, surroundings(page, download.url))
    record = _page_record(source, found, page.charset)
    return record | (_evidence(page, found) if is_explained else {})


def _page_record(source: str, found: PageLanguage, charset: str | None) -> dict[str, Any]:
    return {
        "source": source,
        "language": found.language,
        "confidence": round(found.confidence, 4),
        "method": found.method,
        "charset": charset,
        "reason": found.reason,
    }


def _evidence(page: ParsedPage, found: PageLanguage) -> dict[str, Any]:
    """What the answer rests on."""
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
