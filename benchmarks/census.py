"""Tables 4-4, 5-5 and 5-6 of Cai 2009 on two webs, for docs/research/census.md.

The pages of a WARC file are counted by its WARC-IP-Address. Of a generated web of some thousand
hosts behind a loopback proxy the portal pages are fetched, as a person would with `langfocus
census --hosts`, and the languages are compared with the truth. A proxy hides addresses, so they are
made: of five hosts four get a network of the database in a country of their language, if there is
one, and one gets any.

    python -m benchmarks.census docs/research/census.json
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import maxminddb

from benchmarks.proxyweb import ROOT, SHARED, TEXTS, URLS, Served, require, serve
from classifiers.geoip import country_lookup
from classifiers.languages import language_of_tld
from classifiers.pages.methods import method
from crawler.census.facts import Reading, gathered
from crawler.census.figures import CensusFigures, census_figures
from crawler.report.census import country_table, language_table, methods_table, servers_table
from crawler.report.files import json_text, write_whole
from crawler.report.printer import WIDE, Printer
from crawler.report.provenance import provenance
from crawler.report.table import Table
from crawler.run_reader import reading

ARCHIVE = SHARED / "data" / "docs.warc.gz"
GEOIP = SHARED / "data" / "geoip" / "GeoIP2-Country-Test.mmdb"
MODULES = (
    "benchmarks/census.py",
    "classifiers/geoip.py",
    "classifiers/models/[!u]*.npz",
    "classifiers/pages",
    "crawler/census",
)
NOWHERE = "192.0.2.1"
TOP = 10


def networks() -> dict[str, list[str]]:
    """Return the networks of the database by the language of their country."""
    found = defaultdict(list)
    with maxminddb.open_database(GEOIP) as database:
        for network, record in database:
            language = language_of_tld((record.get("country") or {}).get("iso_code", ""))
            if language is not None:
                found[language].append(str(network.network_address))
    return found


def made_addresses(languages: dict[str, str]) -> dict[str, str]:
    """Return an address for each host: of five, four are in a country of its language.

    A host whose language has no country in the database gets an address of no country.
    """
    known, random = networks(), Random(1)
    every = sorted(address for addresses in known.values() for address in addresses)
    return {
        host.removeprefix("www."): random.choice(known.get(language, [NOWHERE]))
        if random.random() < 0.8
        else random.choice(every)
        for host, language in languages.items()
    }


def of_archive() -> CensusFigures:
    """Return the figures of all pages of the WARC file."""
    with gathered([ARCHIVE], Reading(method, country_lookup(GEOIP))) as (connection, sources):
        return census_figures(connection, sources)


def of_web(web: Served, folder: Path) -> tuple[CensusFigures, float]:
    """Take a census of a web; return its figures and the share of right languages."""
    with (web.folder / "truth.tsv").open(encoding="utf-8") as file:
        rows = [(row["url"], row["lang"]) for row in csv.DictReader(file, delimiter="\t")]
    truth = {urlsplit(url).netloc: lang for url, lang in rows if urlsplit(url).path == "/"}
    hosts = folder / "hosts.txt"
    hosts.write_text("\n".join(truth))
    settings = {"JOBDIR": folder / "run", "DOWNLOAD_DELAY": 0}
    command = [sys.executable, "-m", "langfocus", "census", "--hosts", str(hosts)]
    command += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    environment = os.environ | {"http_proxy": f"http://127.0.0.1:{web.port}"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    how = Reading(method, country_lookup(GEOIP), made_addresses(truth))
    with gathered([folder / "run"], how) as (connection, sources):
        figures = census_figures(connection, sources)
    with gathered(sorted((folder / "run").glob("pages-*.warc.gz")), how) as (connection, sources):
        evidence = census_figures(connection, sources, "portals")
    figures = replace(figures, methods=evidence.methods, answered=evidence.answered)
    return figures, _right(folder / "run", truth)


def _right(run: Path, truth: dict[str, str]) -> float:
    with reading(run) as connection:
        told = dict(connection.execute("SELECT host, language FROM pages WHERE status = 200"))
    truth = {host.removeprefix("www."): language for host, language in truth.items()}
    labelled = {host: language for host, language in told.items() if language is not None}
    if not labelled:
        raise SystemExit("the census found no language")
    right = sum(truth[host] == language for host, language in labelled.items())
    return float(right) / len(labelled)


def tables(figures: CensusFigures, prefix: str, country: str, language: str) -> dict[str, Table]:
    """Return the tables of a census by the names that documents use."""
    return {
        f"{prefix}-4-4": methods_table(figures),
        f"{prefix}-5-3": servers_table(figures, TOP),
        f"{prefix}-5-5": country_table(figures, country, TOP),
        f"{prefix}-5-6": language_table(figures, language, TOP),
    }


def main() -> None:
    """Measure, print the tables, and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("json", metavar="FILE", nargs="?", type=Path, help="write the tables here")
    parser.add_argument("--hosts", type=int, default=3000, help="hosts of the generated web")
    given = parser.parse_args()
    require()
    found = tables(of_archive(), "archive", "US", "fr")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serve(folder / "web", seed=1, hosts=given.hosts) as web:
            figures, right = of_web(web, folder)
    found |= tables(figures, "web", "JP", "de")
    printer = Printer(width=WIDE)
    for table in found.values():
        printer.table(table)
    printer.line(f"right among the portal pages with a language: {100 * right:.2f} %")
    command = ["python", "-m", "benchmarks.census", *sys.argv[1:]]
    content: dict[str, Any] = {
        "measured": provenance(
            command, [ARCHIVE, GEOIP, URLS, TEXTS], date.today(), modules=MODULES
        ),
        "hosts": figures.hosts,
        "portal_pages": figures.all_pages,
        "right": right,
        "tables": [table.as_json(name) for name, table in found.items()],
    }
    if given.json:
        write_whole(given.json, json_text(content))
    else:
        print(json.dumps({key: content[key] for key in ("hosts", "portal_pages", "right")}))


if __name__ == "__main__":
    main()
