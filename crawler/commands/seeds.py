"""`langfocus seeds`: one seed list from the lists at hand."""

import argparse
import sys
from pathlib import Path

from langfocus.crawler.commands.base import Parser, language_code

DESCRIPTION = (
    "Writes the seed list of a language: the URLs of the given sources, each once, then those of "
    "the list that ships. No URL is fetched."
)

_MANUAL = """\
A SOURCE is the folder of a run (a URL of each host with pages in the language, best first), a
Markdown file as in Common Crawl's web-languages (links about the language are left out), the
index of an archive (.cdxj, .cdxj.gz: a URL of each host, in the language if the index has
languages), or a seed list.

How many of the hosts answer, and in which language, is what a census says:
langfocus crawl -a hosts=FILE

examples:
  langfocus seeds gl runs/1 runs/2 galician.md --output gl.txt
  langfocus crawl -a lang=gl -a seeds=gl.txt
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_argument("lang", metavar="LANG", help="language of the pages")
    parser.add_argument("sources", metavar="SOURCE", nargs="*", type=Path, help="list to read")
    parser.add_file("--output", "output file (default: standard output)")


def run(opts: argparse.Namespace) -> None:
    """Write the list, and the number of URLs of each source on standard error."""
    from langfocus.crawler.errors import SettingError
    from langfocus.crawler.options.config import SEED_FOLDER
    from langfocus.crawler.run.whole_file import write_whole
    from langfocus.crawler.sources.seed_lists import seeds_in
    from langfocus.crawler.url import fingerprint, host_of

    lang = language_code(opts.lang, "LANG")
    shipped = SEED_FOLDER / f"{lang}.txt"
    found: dict[int, str] = {}
    of_runs: set[str] = set()
    for path in (*opts.sources, *([shipped] if shipped.exists() else [])):
        urls, before = seeds_in(path, lang), len(found)
        for url in urls:
            found.setdefault(fingerprint(url), url)
        of_runs.update(map(host_of, urls if path.is_dir() else ()))
        print(f"{path}: {len(urls):,} URLs, {len(found) - before:,} new", file=sys.stderr)
    if not found:
        raise SettingError(f"{lang}: no URL to start from; no seed list ships for it")
    if of_runs:
        hosts = len(set(map(host_of, found.values())))
        given = f"{len(of_runs):,} of {hosts:,} hosts gave a page in the language in these runs"
        print(f"{given}; the others were not asked, or gave none", file=sys.stderr)
    text = "".join(f"{url}\n" for url in found.values())
    if opts.output is None:
        sys.stdout.write(text)
    else:
        write_whole(opts.output, text)
