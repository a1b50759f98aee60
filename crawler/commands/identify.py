"""`langfocus identify`: languages of URLs and pages, and the supported languages."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langfocus.classifiers.pages.method import PageLanguage, PageMethod, unknown
from langfocus.crawler.commands.base import Parser, pairs
from langfocus.crawler.errors import CrawlError, SettingError
from langfocus.crawler.url import is_unwanted_without_documents

if TYPE_CHECKING:
    from langfocus.classifiers.urls.model import UrlModel
    from langfocus.classifiers.urls.plugin_models import PluginModel
    from langfocus.crawler.http.download import Download

Answer = dict[str, Any]
Name = Callable[[Sequence[str]], tuple[Any, Any]]
"""Returns indices into a model's languages, -1 for none, and confidences."""

STDIN = "-"
"""Source name of a page on standard input."""

LONGEST_LINE: Final = 1 << 20
"""Bytes read per input line; the rest is skipped."""

_CHUNK_BYTES: Final = 1 << 16
_OPTION_OF: Final = {"explain": "urls", "prior": "urls", "method": "pages"}
"""Option -> its only source kind."""

DESCRIPTION = (
    "Identifies the language of pages: from their URLs alone, without fetching, or from "
    "files (HTML, PDF, docx, odt, EPUB, WARC). It can also list the known languages. "
    "The output is one JSON object a line, in the order of the input."
)

_MANUAL = """\
identify urls [FILE] [--explain] [--prior NAME] [-s LANGFOCUS_URL_MODEL=FILE]
  FILE or standard input has one URL a line; a file.gz is unpacked. Each line of output has
    url          the line of the input, up to a tab
    language     the code of the language, null for a URL without evidence and for other text
    confidence   0 to 1: the probability of that language
  and with --explain
    scores       the decision value of each language; positive is Yes
    explain      [feature, weight] pairs: what adds most to, or takes most from, the score of the
                 language, or of the best language if it is null
  --prior is the frequency of languages before a URL is read. web: their shares of Web pages, right
  most often in any mix of URLs, but seldom in small languages; uniform: all are equally frequent;
  evened (default): between both.
  A terminal gets a table instead.

identify pages FILE|FOLDER|- ... [--method NAME]
  The pages are HTML, PDF, docx, odt, EPUB and WARC files, all of a folder and the folders in it;
  - is standard input.
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
  langfocus identify urls links.txt.gz --prior web
  langfocus identify pages saved/*.html crawl.warc.gz
  langfocus identify pages saved -s LANGFOCUS_FASTTEXT_MODEL=glotlid.bin
  curl http://www.wetterbericht.de/ | langfocus identify pages -
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from langfocus.classifiers.pages.methods import DEFAULT_METHOD, METHODS

    parser.usage = (
        "langfocus identify {urls [FILE] | pages FILE|FOLDER|- ... | languages} [options]"
    )
    parser.epilog = _MANUAL
    parser.add_argument("kind", choices=list(_LINES), help="kind of the sources")
    parser.add_argument("sources", metavar="FILE|FOLDER", nargs="*", help="sources")
    parser.add_pairs("-s", "model file: LANGFOCUS_URL_MODEL, LANGFOCUS_FASTTEXT_MODEL")
    parser.add_argument(
        "--method",
        metavar="NAME",
        help=f"pages: the method (default {DEFAULT_METHOD}): {', '.join(METHODS)}, or a plug-in",
    )
    parser.add_argument(
        "--explain", action="store_true", help="urls: add the evidence for each answer"
    )

    parser.add_argument(
        "--prior", choices=("evened", "web", "uniform"), help="urls: how frequent languages are"
    )


def run(opts: argparse.Namespace) -> None:
    """Write a line for each URL, page or language."""
    for option, kind in _OPTION_OF.items():
        if getattr(opts, option) and kind != opts.kind:
            raise SettingError(f"identify {opts.kind} takes no --{option}")
    for text in _LINES[opts.kind](opts, pairs(opts.set, "-s")):
        sys.stdout.write(text)
        sys.stdout.flush()


def _urls(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from langfocus.classifiers.urls.model import load_model

    if len(opts.sources) > 1:
        raise SettingError("identify urls takes one file, or none to read standard input")
    file = given.get("LANGFOCUS_URL_MODEL")
    model = load_model(Path(file) if file else None)
    name = _naming(model, opts.prior)
    for urls in line_batches(opts.sources[0] if opts.sources else None):
        rows = _explained(model, name, urls) if opts.explain else _records(model, name, urls)
        if opts.explain or not sys.stdout.isatty():
            yield "".join(map(_line, rows))
            continue
        yield "".join(
            f"{row['language'] or '-':<8} {100 * row['confidence']:5.1f} %  {row['url']}\n"
            for row in rows
        )


def line_batches(path: str | None) -> Iterator[list[str]]:
    """Yield the lines of a file, or of standard input for None and `-`, in batches.

    Only the first column of a line is kept, without line end and byte order mark; bytes outside
    UTF-8 become surrogates. A .gz file is unpacked. A batch from a pipe or a terminal has the lines
    received so far. Raises `OSError` if the file cannot be opened, `CrawlError` for damaged gzip
    data.
    """
    mark = "\ufeff"
    with _opened(path) as stream:
        try:
            for lines in _whole_lines(iter(partial(stream.read1, _CHUNK_BYTES), b"")):
                texts = [line.decode("utf-8", "surrogateescape") for line in map(_url_of, lines)]
                texts[0] = texts[0].removeprefix(mark)
                mark = ""
                yield texts
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise CrawlError(f"{path}: damaged gzip data ({error})") from error


def _opened(path: str | None) -> Any:
    if path is None or path == "-":
        return nullcontext(sys.stdin.buffer)
    return gzip.open(path) if path.endswith(".gz") else Path(path).open("rb")


def _whole_lines(chunks: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines completed by each chunk, without line ends."""
    carry = b""  # an incomplete line
    for chunk in chunks:
        *lines, carry = (carry + chunk).split(b"\n")
        carry = carry[:LONGEST_LINE]
        if lines:
            yield [lines[0][:LONGEST_LINE], *lines[1:]]
    if carry:
        yield [carry]


def _url_of(line: bytes) -> bytes:
    """Return the first column of a line."""
    return line.partition(b"\t")[0].rstrip(b"\r")


def _naming(model: UrlModel | PluginModel, prior: str | None) -> Name:
    """Return the function that names the languages of URLs under a prior."""
    from langfocus.classifiers.urls.model import UrlModel
    from langfocus.classifiers.urls.posteriors import Prior

    if prior is None:
        return model.name
    if not isinstance(model, UrlModel):
        raise SettingError(f"--prior {prior}: the URL model of a plug-in has no prior")
    priors = {"evened": Prior.evened, "web": Prior.web, "uniform": Prior.uniform}
    return partial(model.name, prior=priors[prior]())


def _records(model: UrlModel | PluginModel, name: Name, urls: Sequence[str]) -> Iterator[Answer]:
    """Yield the language and the confidence of each URL."""
    import numpy as np

    names = (*model.named_languages, None)
    codes, confidences = name(urls)
    rounded = np.rint(confidences * 10_000).astype(np.int64) / 10_000
    for url, at, confidence in zip(urls, codes.tolist(), rounded.tolist(), strict=True):
        yield {"url": url, "language": names[at], "confidence": confidence}


def _explained(model: UrlModel | PluginModel, name: Name, urls: Sequence[str]) -> Iterator[Answer]:
    """Yield the records with decision values and the deciding features."""
    for record, scores in zip(
        _records(model, name, urls), model.scores(urls).tolist(), strict=True
    ):
        rounded = (round(score, 4) for score in scores)
        is_text = bool(record["url"].strip())
        record["scores"] = dict(zip(model.languages, rounded, strict=True)) if is_text else {}
        # Languages identified by rules have no weights: the best other language is explained.
        language = record["language"] if record["language"] in model.languages else None
        found = model.explain(record["url"], language)
        record["explain"] = [[each.text, round(each.weight, 4)] for each in found]
        yield record


def _pages(opts: argparse.Namespace, given: Mapping[str, str]) -> Iterator[str]:
    from langfocus.classifiers.pages.methods import (
        DEFAULT_METHOD,
        FASTTEXT_FILE,
        fasttext_file,
        method,
    )

    if not opts.sources:
        raise SettingError("identify pages needs files or folders, or - for standard input")
    fasttext = fasttext_file(given.get(FASTTEXT_FILE))
    pages = _Pages(method(opts.method or DEFAULT_METHOD, fasttext))
    for record in pages.records(opts.sources):
        yield _line(record)
    if pages.failures:
        raise CrawlError(f"not all of it could be read ({pages.failures:,}): see the reasons")


@dataclass(slots=True)
class _Pages:
    """Identifies pages by a method and counts unreadable pages in `failures`."""

    by: PageMethod
    failures: int = 0

    def records(self, names: Iterable[str]) -> Iterator[Answer]:
        """Yield the records of files, archives, and folder contents, in order."""
        for name in names:
            for path in _files(name):
                yield from self._of_file(path)

    def _of_file(self, name: str) -> Iterator[Answer]:
        from langfocus.crawler.http.download import Download
        from langfocus.crawler.run.whole_file import open_regular
        from langfocus.crawler.sources.warc_reader import is_warc

        path = Path(name)
        try:
            if name != STDIN and is_warc(path):
                yield from self._of_archive(path)
                return
            with nullcontext(sys.stdin.buffer) if name == STDIN else open_regular(path) as file:
                body = file.read()
            record = self._read(name, Download("", 200, body))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            yield self._unread(name, f"cannot be read: {reason}")
            return
        self.failures += record["reason"].startswith("no page: ")
        yield record

    def _of_archive(self, path: Path) -> Iterator[Answer]:
        from langfocus.crawler.corpus.sources import page_in
        from langfocus.crawler.sources.archive import answers, unusual_records
        from langfocus.crawler.sources.warc_reader import Damage

        is_empty, seen = True, Counter[str]()
        for found in answers(path, seen):
            is_empty = False
            if isinstance(found, Damage):
                yield self._unread(str(path), str(found))
            else:
                page = page_in(found)
                if isinstance(page, str):
                    yield _record(found.url, unknown(page))
                else:
                    yield self._read(found.url, page)
        if is_empty:
            fault = f"no answer of a server in this WARC file{unusual_records(seen)}"
            yield self._unread(str(path), fault)

    def _read(self, name: str, download: Download) -> Answer:
        from langfocus.crawler.reading.time_limit import UnreadError, identified_in_time

        try:
            page, found = identified_in_time(download, self.by)
        except UnreadError as error:
            return self._unread(name, str(error))
        return _record(name, found, page.charset if page else None)

    def _unread(self, name: str, reason: str) -> Answer:
        self.failures += 1
        return _record(name, unknown(reason))


def _files(name: str) -> Iterator[str]:
    """Yield a file, or all files below a folder that may be pages, by name."""
    if not Path(name).is_dir():
        yield name
        return
    for folder, folders, files in os.walk(name):
        folders.sort()
        paths = (os.path.join(folder, file) for file in sorted(files))  # noqa: PTH118
        yield from (path for path in paths if not is_unwanted_without_documents(f"file://{path}"))


def _line(record: Answer) -> str:
    return json.dumps(record).replace("\x7f", "\\u007f") + "\n"


def _record(name: str, found: PageLanguage, charset: str | None = None) -> Answer:
    return {
        "source": name,
        "language": found.language,
        "confidence": round(found.confidence, 4),
        "method": found.method,
        "charset": charset,
        "reason": found.reason,
    }


def _languages(opts: argparse.Namespace, _: Mapping[str, str]) -> Iterator[str]:
    if opts.sources:
        raise SettingError(f"{opts.sources[0]}: identify languages takes no arguments")
    yield from map(_line, language_records())


_LINES: Final = {"urls": _urls, "pages": _pages, "languages": _languages}


_EAST_ASIA: Final = {"Hang", "Hani", "Hira", "Kana", "Kore"}
"""Scripts learned together."""


def language_records() -> list[Answer]:
    """Return a record for each supported language, by code."""
    from langfocus.classifiers import languages
    from langfocus.classifiers.pages.text.textengine import known_languages
    from langfocus.classifiers.urls.model import UrlModel

    url_model, texts, seeds = UrlModel.load(), known_languages(), _seeds()
    measured = url_model.facts.get("evaluation", {}).get("all", {}).get("languages", {})
    return [
        {
            "language": code,
            "name": languages.name(code),
            "scripts": sorted(languages.scripts(code)),
            "text": _of_texts(code, texts[code]) if code in texts else None,
            "url": _of_urls(url_model, code),
            "seeds": seeds.get(code, 0),
            "accuracy": {"text": _text_accuracy(texts.get(code, {})), "url": measured.get(code)},
        }
        for code in sorted({*url_model.named_languages, *texts, *seeds})
    ]


def _of_texts(code: str, facts: Answer) -> Answer:
    """Return the number of training texts, and the supported scripts of the language."""
    from langfocus.classifiers import languages
    from langfocus.classifiers.pages.text.scripts import SINGLE_SCRIPTS

    learned = {*facts["scripts"], *(each for each, one in SINGLE_SCRIPTS.items() if one == code)}
    if learned & _EAST_ASIA:
        learned |= _EAST_ASIA
    scripts = sorted(learned & languages.scripts(code))
    return {"sentences": facts["sentences"], "scripts": scripts}


def _text_accuracy(facts: Answer) -> Answer | None:
    measured = {name: facts.get(name) for name in ("sentence", "page", "by_script")}
    return measured if any(measured.values()) else None


def _of_urls(model: UrlModel, code: str) -> Answer | None:
    from langfocus.classifiers.languages import tlds_of

    if code in model.languages:
        learned: Mapping[str, int] = model.facts.get("languages", {})
        return {"by": "model", "urls": learned.get(code)}
    domains = sorted(tlds_of(code))
    return {"by": "rules", "domains": domains} if code in model.named_languages else None


def _seeds() -> dict[str, int]:
    """Return the number of seeds per shipped seed list."""
    from langfocus.crawler.options.config import SEED_FOLDER

    lists = {path.stem: path.read_text(encoding="utf-8") for path in SEED_FOLDER.glob("*.txt")}
    return {
        code: sum(bool(line.strip()) and not line.startswith("#") for line in text.splitlines())
        for code, text in lists.items()
    }
