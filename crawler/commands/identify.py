"""`scrapy identify`: the language of URLs and of pages, as JSON lines."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from classifiers.errors import ClassifierError

if TYPE_CHECKING:
    from classifiers.urls.model import UrlLanguage, UrlModel

_BATCH = 1000

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

identify pages [FILE ...] [--list FILE]
  HTML files. A line of a list is PATH, or PATH<TAB>URL where the page's address is known.
  Each line of output has
    source       the file
    language     the code of the language, null where the page does not say
    confidence   0 to 1
    method       what told: encoding, declaration, text or none
    charset      how the page is encoded
    reason       the evidence in a few words
  A file that cannot be read is a line with language null; the exit code is then 1.

examples:
  echo http://www.wetterbericht.de/ | scrapy identify urls
  scrapy identify urls links.txt --json languages.jsonl
  scrapy identify urls links.txt --explain 5
  scrapy identify pages saved/*.html
  scrapy identify pages --list pages.tsv
"""


class Command(ScrapyCommand):
    """Names the language of URLs, or of pages in files."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Return what stands after the command's name."""
        return "[options] {urls [FILE] | pages [FILE ...]}"

    def short_desc(self) -> str:
        """Return the line that `scrapy` shows for the command."""
        return "Name the language of URLs or of pages, as JSON lines"

    def long_desc(self) -> str:
        """Return what the help begins with."""
        return (
            "Names the language that pages are written in: from their URLs alone, which fetches "
            "nothing, or from HTML files. Writes one JSON object a line, in the order of the input."
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
            "--explain",
            metavar="N",
            nargs="?",
            type=_count,
            const=10,
            help="urls: add the N features that count most (default: 10)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Write the lines; an error is one line and exit code 1."""
        if not args or args[0] not in ("urls", "pages"):
            raise UsageError("expected 'urls' or 'pages'")
        _check(args, opts)
        try:
            with _output(opts.json) as output:
                done = (
                    _urls(args, opts, output) if args[0] == "urls" else _pages(args, opts, output)
                )
        except BrokenPipeError:
            done = False
            sys.stdout = None  # nobody reads; do not flush at exit
        except (ClassifierError, OSError) as error:
            print(f"langfocus: {error}", file=sys.stderr)
            done = False
        self.exitcode = 0 if done else 1


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("expected a number from 1")
    return number


def _check(args: list[str], opts: argparse.Namespace) -> None:
    if args[0] == "urls" and len(args) > 2:
        raise UsageError("identify urls takes one file, or none to read standard input")
    if args[0] == "urls" and opts.list:
        raise UsageError("--list is for identify pages")
    if args[0] == "pages" and (opts.model or opts.explain):
        raise UsageError("--model and --explain are for identify urls")
    if args[0] == "pages" and not (args[1:] or opts.list):
        raise UsageError("identify pages needs files or --list FILE")


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


def _pages(args: list[str], opts: argparse.Namespace, output: IO[str]) -> bool:
    """Whether all files could be read."""
    listed = (line.partition("\t") for line in _lines(opts.list) if line) if opts.list else ()
    sources = itertools.chain(((path, "") for path in args[1:]), ((p, u) for p, _, u in listed))
    done = True
    for path, url in sources:
        record, was_read = _page(path, url.strip())
        done = done and was_read
        _write(output, [record])
    return done


def _page(path: str, url: str) -> tuple[dict[str, Any], bool]:
    """The record of a file, and whether it could be read."""
    from classifiers.pages.identify import identify
    from classifiers.pages.parse import parse_page

    try:
        body = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        return _page_record(path, None, 0.0, "none", None, reason), False
    page = parse_page(body, content_type=None, url=url)
    found = identify(page)
    return (
        _page_record(
            path, found.language, found.confidence, found.method, page.charset, found.reason
        ),
        True,
    )


def _page_record(
    source: str,
    language: str | None,
    confidence: float,
    method: str,
    charset: str | None,
    reason: str,
) -> dict[str, Any]:
    return {
        "source": source,
        "language": language,
        "confidence": round(confidence, 4),
        "method": method,
        "charset": charset,
        "reason": reason,
    }
