"""`langfocus census`: servers by country and portal pages by language, as in Cai 2009."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.command import (
    LangfocusCommand,
    language_code,
    meanings,
    natural,
    pairs,
    parts,
)
from crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from crawler.census.facts import Progress, Reading
    from crawler.census.figures import CensusFigures
    from crawler.report.census import CensusView

_EXAMPLES = """\
With --hosts the portal page (/) of each host in a file is fetched first, one page of each, without
following links; redirects are followed within the host. robots.txt, contact, delays and retries are
those of a crawl. The run is a folder (-s JOBDIR=FOLDER): repeat the command to continue it. Several
machines take ranges of the list (--range 1-500000, --range 500001-); name all of their folders to
count them together, or make one run of them with langfocus merge.

The country of a server is that of its IP address in the file of --geoip (MMDB); a run can record it
with -s LANGFOCUS_GEOIP=FILE. The answer of each kind of evidence (Table 4-4) is read from WARC
files, so name those of a run instead of its folder. A server or a page without an answer is in a
row "unknown".

examples:
  langfocus census --hosts hosts.txt -s JOBDIR=runs/census -s LANGFOCUS_CONTACT=you@example.org
  langfocus census --hosts hosts.txt --range 1-500000
  langfocus census runs/census/pages-*.warc.gz --pages portals
  langfocus census runs/census --geoip GeoLite2-Country.mmdb --country CA --language zh
  langfocus census runs/half1 runs/half2 --html census.html --json census.json
  langfocus census crawl.warc.gz --geoip GeoLite2-Country.mmdb --pages all --top 0
"""


class CensusCommand(LangfocusCommand):
    """Counts runs and WARC files; with --hosts it makes the run first."""

    usage = "RUN|WARC... | --hosts FILE [--range FIRST-LAST] [options]"
    summary = "Count Web servers by country and their portal pages by language, as in Cai 2009"
    description = (
        "Counts the servers of runs and WARC files by country and their portal pages by language, "
        "and shows each language by country and each country by language: Tables 4-4 and 5-2 to "
        "5-6 and Figures 5-1 to 5-5 of Cai 2009, with a map of the world."
    )
    json_help = "write all figures to FILE, as JSON"
    pairs_help = "argument of the crawl, used with --hosts (see below)"
    files = ("json", "html")

    def manual(self) -> str:
        """Return the rest of `--help`: arguments and examples."""
        from crawler.config import census_arguments, manuals

        return f"{meanings('arguments (-a NAME=VALUE):', manuals(census_arguments()))}\n{_EXAMPLES}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        super().add_options(parser)
        making = parser.add_argument_group("Fetching the portal pages of hosts")
        making.add_argument("--hosts", metavar="FILE", help="file of hosts, one a line")
        making.add_argument("--range", metavar="FIRST-LAST", help="positions in that file")
        _add_reading(parser.add_argument_group("Counting"))
        _add_showing(parser.add_argument_group("Tables and page"))

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Make the run of --hosts, then print and write the figures."""
        from crawler.report.census import census_json, census_page, print_census
        from crawler.report.files import write_whole

        given = pairs(opts.spargs)
        given |= {name: value for name in ("hosts", "range") if (value := getattr(opts, name))}
        if bool(args) == ("hosts" in given):
            raise SettingError(f"expected langfocus census {self.usage}")
        if args and given:
            raise SettingError("-a and --range belong to --hosts; runs and WARC files are counted")
        view = _view(opts)
        how = _reading(opts)
        paths = [Path(arg) for arg in args] or [self._make(given)]
        figures = _figures(paths, how, opts)
        print_census(figures, view)
        self.write_json(opts, census_json(figures))
        if opts.html:
            print(write_whole(opts.html, census_page(figures, view).html()))

    def _make(self, arguments: dict[str, str]) -> Path:
        """Fetch the portal pages; return the folder of the run."""
        from scrapy.settings import Settings

        from crawler.spiders.langfocus import LangfocusSpider
        from crawler.spiders.running import crawler_process

        settings = self.settings or Settings()
        settings.set("LANGFOCUS_QUIET", value=True, priority="cmdline")
        crawl = LangfocusSpider.open(arguments, settings)
        process = crawler_process(settings)
        process.crawl(LangfocusSpider, crawl=crawl)
        process.start()
        folder = crawl.run.folder
        if crawl.fault:
            raise CrawlError(f"{crawl.fault}; the same command with -s JOBDIR={folder} continues")
        if crawl.finish_reason in ("", "shutdown", "cancelled"):
            raise KeyboardInterrupt(f"stopped; the same command with -s JOBDIR={folder} continues")
        print(folder)
        return folder


def _add_reading(group: argparse._ArgumentGroup) -> None:
    from classifiers.pages.methods import DEFAULT_METHOD

    group.add_argument(
        "--geoip",
        metavar="FILE",
        type=Path,
        help="MMDB file with the countries of IP addresses (default: countries that runs recorded)",
    )
    group.add_argument(
        "--addresses",
        metavar="FILE",
        type=Path,
        help="lines with a host, a tab and its IP address, for servers without a recorded one",
    )
    group.add_argument(
        "--pages",
        choices=("portals", "all"),
        help="count the portal page of each server, or all pages (default: portals for a census, "
        "all for other runs and for WARC files)",
    )
    group.add_argument(
        "--identify",
        metavar="METHOD",
        default=DEFAULT_METHOD,
        help=f"method that identifies the pages of WARC files (default: {DEFAULT_METHOD})",
    )


def _add_showing(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--country",
        metavar="CODE",
        nargs="+",
        default=[],
        help="countries of Table 5-5 (default: the one with the most pages)",
    )
    group.add_argument(
        "--language",
        metavar="CODE",
        nargs="+",
        default=[],
        help="languages of Table 5-6 (default: the largest but English)",
    )
    group.add_argument(
        "--top",
        metavar="N",
        type=natural,
        default=20,
        help="rows of a table, 0 for all (default: 20)",
    )
    group.add_argument(
        "--html", metavar="FILE", type=Path, help="write a page with the map and all tables to FILE"
    )


def _view(opts: argparse.Namespace) -> CensusView:
    from crawler.report.census import CensusView

    countries = tuple(code if code == "unknown" else code.upper() for code in parts(opts.country))
    asked = [
        tag if tag == "unknown" else language_code(tag, "--language")
        for tag in parts(opts.language)
    ]
    return CensusView(countries, tuple(asked), opts.top)


def _reading(opts: argparse.Namespace) -> Reading:
    from classifiers.geoip import country_lookup
    from classifiers.pages.methods import method_with, names
    from classifiers.pages.text.fasttextengine import named_file
    from crawler.census.facts import Reading, read_addresses

    if opts.identify not in names():
        raise SettingError(f"--identify {opts.identify}: there are {', '.join(names())}")
    return Reading(
        lambda: method_with(opts.identify, named_file()),
        country_lookup(opts.geoip) if opts.geoip else None,
        read_addresses(opts.addresses) if opts.addresses else {},
    )


def _figures(paths: list[Path], how: Reading, opts: argparse.Namespace) -> CensusFigures:
    from dataclasses import replace

    from crawler.census.facts import gathered
    from crawler.census.figures import census_figures
    from crawler.report.progress import Display

    with Display(sys.stderr) as display:
        counting: Progress = display.count
        with gathered(paths, replace(how, on_progress=counting)) as (connection, sources):
            return census_figures(connection, sources, opts.pages)
