"""The page of a census, `census.html`: a map, figures and tables as in Cai 2009, chapter 5."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classifiers.errors import MissingPackageError
from classifiers.pages.methods import method
from crawler.census.facts import Reading, gathered
from crawler.census.figures import UNKNOWN, CensusFigures, census_figures
from crawler.report.census_json import census_json
from crawler.report.census_tables import (
    ENGLISH,
    CensusView,
    by_encoding,
    country_table,
    encoding_table,
    language_table,
    languages_table,
    matrix_table,
    methods_table,
    overview,
    servers_table,
    things,
)
from crawler.report.country_names import country_name
from crawler.report.files import json_text, write_whole
from crawler.report.formatting import language_name, percent, share_of
from crawler.report.harvest import summarise, write_summary
from crawler.report.plots import Plot, PlotAxes, bar_plot
from crawler.report.templates import render
from crawler.report.world_map import WorldMap, opacity, world_map

_MOST_BARS = 20


def write_census(folder: Path) -> CensusFigures:
    """The figures of the census in a run's folder.

    Writes `summary.json`, `census.json` and `census.html` into it, each in one step. Raises
    RunFolderError for a folder without a run.
    """
    with gathered([folder], Reading(method)) as (connection, sources):
        figures = census_figures(connection, sources)
    write_summary(summarise(folder), folder)
    write_whole(folder / "census.json", json_text(census_json(figures)))
    write_whole(folder / "census.html", census_page(figures, CensusView()))
    return figures


def census_page(figures: CensusFigures, view: CensusView) -> str:
    """The report of a census as the text of an HTML file."""
    names = ", ".join(source.name for source in figures.sources)
    countries, languages = view.chosen_countries(figures), view.chosen_languages(figures)
    return render(
        "census.html",
        title=f"Census of {names}",
        heading="Census of Web servers",
        lead=f"{figures.all_servers:,} servers, {figures.all_pages:,} {things(figures)}: {names}.",
        figures=_cards(figures),
        map=_map(figures),
        servers=servers_table(figures, view.top),
        plots=_plots(figures, view),
        tables=[
            methods_table(figures),
            encoding_table(figures, view.top),
            languages_table(figures, view.top),
            *(country_table(figures, code, view.top) for code in countries),
            *(language_table(figures, code, view.top) for code in languages),
            overview(figures),
        ],
        matrix=matrix_table(figures),
    )


def _cards(figures: CensusFigures) -> list[tuple[str, str]]:
    told = figures.all_pages - figures.languages.get(UNKNOWN, 0)
    countries = [code for code in figures.servers if code != UNKNOWN]
    languages = [code for code in figures.languages if code != UNKNOWN]
    return [
        ("hosts", f"{figures.hosts:,}"),
        ("servers", f"{figures.all_servers:,}"),
        ("countries", f"{len(countries):,}"),
        (things(figures), f"{figures.all_pages:,}"),
        ("with a language", percent(share_of(told, figures.all_pages))),
        ("languages", f"{len(languages):,}"),
    ]


def _map(figures: CensusFigures) -> dict[str, Any]:
    known = {code: number for code, number in figures.servers.items() if code != UNKNOWN}
    try:
        drawn = world_map(known, "Servers by country", "server")
    except MissingPackageError as error:
        return {"svg": "", "shades": [], "notes": [f"No map: {error}."]}
    unknown = figures.servers.get(UNKNOWN, 0)
    notes = [f"{unknown:,} servers have no known country."] if unknown else []
    if drawn.lacks:
        lacking = ", ".join(f"{country_name(code)} {known[code]:,}" for code in drawn.lacks)
        notes.append(f"Not on the map: {lacking}.")
    return {"svg": drawn.svg, "shades": _shades(drawn), "notes": notes}


def _shades(drawn: WorldMap) -> list[tuple[float, str]]:
    """The opacity of each shade and its counts in words."""
    if not drawn.bounds:
        return []
    ends = [f"{after - 1:,}" for after in drawn.bounds[1:]]
    return [
        (opacity(shade, len(drawn.bounds)), _interval(f"{least:,}", end))
        for shade, (least, end) in enumerate(zip(drawn.bounds, [*ends, None], strict=True), start=1)
    ]


def _interval(least: str, end: str | None) -> str:
    if end is None:
        return f"{least} and more"
    return least if least == end else f"{least} to {end}"


def _plots(figures: CensusFigures, view: CensusView) -> list[Plot]:
    """Figures 5-1, 5-2, 5-4 and 5-5."""
    encodings = {
        language_name(code): number / pages
        for code, number, pages in list(by_encoding(figures))[:_MOST_BARS]
        if number
    }
    languages = _without_largest(figures.languages)
    plots = [
        _bars("coverage", "Pages that each evidence tells (Figure 5-1)", _coverage(figures)),
        _bars("encodings", "Pages that the encoding tells (Figure 5-2)", encodings),
        _bars(
            "languages",
            "Languages without English and unknown (Figure 5-4)",
            languages,
            things(figures),
        ),
    ]
    for country in view.chosen_countries(figures):
        plots.append(
            _bars(
                f"country-{country}",
                f"Languages in {country_name(country)} without the largest and unknown (Fig. 5-5)",
                _without_largest(figures.languages_of(country), is_of_country=True),
                things(figures),
            )
        )
    return [plot for plot in plots if plot is not None]


def _coverage(figures: CensusFigures) -> dict[str, float]:
    told = figures.all_pages - figures.languages.get(UNKNOWN, 0)
    shares = {"all together": share_of(told, figures.all_pages) or 0.0}
    if figures.methods:
        return shares | {one.name: one.identified / figures.answered for one in figures.methods}
    return shares | {name: n / figures.all_pages for name, n in figures.decided.items()}


def _without_largest(counts: Mapping[str, int], *, is_of_country: bool = False) -> dict[str, float]:
    """The first languages by name, without those that would dwarf the others, as in the thesis."""
    known = [code for code in counts if code != UNKNOWN]
    left_out = known[:1] if is_of_country else [ENGLISH]
    kept = [code for code in known if code not in left_out] or known
    return {language_name(code): counts[code] for code in kept[:_MOST_BARS]}


def _bars(
    name: str, title: str, values: Mapping[str, float], label: str | None = None
) -> Plot | None:
    """A plot of bars; without a label the values are shares. None without values."""
    if not values:
        return None
    axes = PlotAxes(y_label=label or "share of the pages", is_share=label is None)
    return Plot(title=title, svg=bar_plot(name, title, list(values.items()), axes), caption="")
