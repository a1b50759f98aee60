"""`langfocus census`: servers by country and portal pages by language, as in Cai 2009."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from langfocus.crawler.commands.base import Parser, language_code, parts, publish

DESCRIPTION = (
    "Counts the servers of runs and WARC files by country and their portal pages by language, "
    "and shows each language by country and each country by language: Tables 4-4 and 5-2 to "
    "5-6 and Figures 5-1 to 5-5 of Cai 2009."
)

_EXAMPLES = """\
docs/census.md describes a census. The answer of each kind of evidence (Table 4-4) is read from WARC
files, so name those of a run instead of its folder. What has no answer is in a row "unknown".

examples:
  langfocus crawl -a hosts=hosts.txt -s JOBDIR=runs/census -s LANGFOCUS_CONTACT=you@example.org
  langfocus census runs/census --geoip GeoLite2-Country.mmdb --country CA --language zh
  langfocus census runs/half1 runs/half2 --html census.html --json census.json
  langfocus census runs/census/pages-*.warc.gz --geoip GeoLite2-Country.mmdb --pages portals
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _EXAMPLES
    parser.add_paths("paths", "RUN|WARC", "sources, counted together")
    addresses = "MMDB file with countries of IP addresses (default: countries recorded by runs)"
    parser.add_path("--geoip", "FILE", addresses)
    pages = "portal page of each server, or all pages (default: portals for a census, else all)"
    parser.add_argument("--pages", choices=("portals", "all"), help=pages)
    countries = "countries of Table 5-5 (default: the country with the most pages)"
    parser.add_names("--country", "CODE", countries)
    languages = "languages of Table 5-6 (default: the largest except English)"
    parser.add_names("--language", "CODE", languages)
    parser.add_report_files()


def run(opts: argparse.Namespace) -> None:
    """Print and write the figures."""
    from langfocus.classifiers.geoip import country_lookup
    from langfocus.classifiers.pages.methods import DEFAULT_METHOD, fasttext_file, method
    from langfocus.crawler.census.figures import census_figures
    from langfocus.crawler.census.report import census_report
    from langfocus.crawler.report.progress import Display

    countries = [code if code == "unknown" else code.upper() for code in parts(opts.country)]
    languages = [
        tag if tag == "unknown" else language_code(tag, "--language")
        for tag in parts(opts.language)
    ]
    country_of = country_lookup(opts.geoip) if opts.geoip else None
    by = partial(method, DEFAULT_METHOD, fasttext_file())
    with Display(sys.stderr) as display:
        figures = census_figures(opts.paths, by, country_of, display.count, opts.pages)
    publish(census_report(figures, countries, languages), opts)
