"""What simulations found as one HTML file that needs neither network nor scripts."""

from collections.abc import Mapping, Sequence

from crawler.report import markup
from crawler.report.formatting import language_name, percent
from crawler.report.graph_report import graph_plots, origin
from crawler.report.plots import Series, line_plot
from crawler.report.sheets import sheet_html
from crawler.report.simulation import (
    CURVES,
    MISSES,
    Curve,
    Group,
    advice_lines,
    advice_sheet,
    arguments,
    curve_sheet,
    groups,
    misses_sheet,
    simulation_sheets,
    what_varies,
)
from crawler.simulate.advice import Advice
from crawler.simulate.figures import GraphFigures
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan

_FIGURES = 1 + len(CURVES)
"""Tables of `simulation_sheets` behind the overview that stand below a plot."""

_LEAST_TOP = 0.01
_MOST_PAGES = 0.7
"""A crawl of fewer of the pages than this share of the longest one's has left pages out."""
_ROOM = 1.3
_MOST_DISTANCES = 24


def simulation_page(
    name: str,
    provenance: Mapping[str, object],
    figures: GraphFigures,
    plan: SimulationPlan,
    results: Sequence[SimulatedCrawl],
    advice: Advice | None = None,
) -> str:
    """Simulations on the graph of that name, with what is advised, as an HTML document."""
    lang = language_name(plan.lang)
    found = groups(plan, results)
    overview, *others = simulation_sheets(plan, results)
    lead = (
        f"{len(results)} simulated crawls for pages in {lang} on a Web graph of "
        f"{figures.pages:,} pages, {percent(figures.relevant_pages / max(1, figures.pages))} of "
        f"them relevant, and {figures.links:,} links. {origin(provenance)}"
    )
    varies = what_varies(plan)
    parts = [
        markup.heading(f"Strategies simulated on {name}", lead),
        _advice(advice) if advice is not None else "",
        markup.section(overview.title, sheet_html(overview)),
        markup.note(varies) if varies and not overview.notes else "",
        _misses(found),
        *(_curve(curve, found) for curve in CURVES),
        *(markup.section(sheet.title, sheet_html(sheet)) for sheet in others[_FIGURES:]),
        markup.section(
            "To crawl the same",
            markup.table("", ("", ""), arguments(plan, results), is_text=True),
        ),
        graph_plots(figures),
        markup.note(
            "Figures are numbered as in Tamura, Somboonviwat and Kitsuregawa, A Method for "
            "Language-Specific Web Crawling and Its Evaluation (2007). One crawler without delays "
            "was simulated; URLs that were never fetched cannot be, so they stay in the queue."
        ),
    ]
    return markup.page(f"Strategies simulated on {name}", "\n".join(filter(None, parts)))


def _advice(advice: Advice) -> str:
    first, *others = advice_lines(advice)
    return markup.section(
        "Advice",
        f"<p><strong>{markup.text(first)}</strong></p>",
        *(markup.note(line) for line in others),
        sheet_html(advice_sheet(advice)),
    )


def _misses(found: Sequence[Group]) -> str:
    series = []
    for group in found:
        one = group.band(MISSES)
        end = _MOST_DISTANCES
        band = (one.low[:end], one.high[:end]) if len(group.results) > 1 else None
        series.append(Series(group.case.name, one.x[:end], one.mean[:end], True, band=band))
    # What misses nothing lies on the axis; ten pages by hard focused crawling need their room.
    top = max([_LEAST_TOP, *(value for one in series for value in one.y if value is not None)])
    return _section(MISSES, series, sheet_html(misses_sheet(found)), "distance", 1.05 * top)


def _curve(curve: Curve, found: Sequence[Group]) -> str:
    most = max((course.pages for group in found for course in group.courses), default=0)
    end = _drawn_until(found, most)
    series = []
    for group in found:
        one = group.band(curve)
        shown = sum(pages <= end for pages in one.x)
        band = (one.low[:shown], one.high[:shown]) if len(group.results) > 1 else None
        has_ended = shown == len(one.x)
        line = Series(
            group.case.name, one.x[:shown], one.mean[:shown], marks_end=has_ended, band=band
        )
        series.append(line)
    cut = f" Drawn until {end:,} pages; the table has the rest." if end < most else ""
    return _section(curve, series, sheet_html(curve_sheet(curve, found)), "pages", None, cut)


def _drawn_until(found: Sequence[Group], most: int) -> int:
    """The last number of pages that is drawn: where crawls that leave pages out have long ended."""
    ends = [max(course.pages for course in group.courses) for group in found]
    choosy = [pages for pages in ends if pages < _MOST_PAGES * most]
    if not choosy:
        return most
    end = round(_ROOM * max(choosy))
    return min(most, round(end, 2 - len(str(end))))


def _section(
    curve: Curve,
    series: Sequence[Series],
    table_html: str,
    x_label: str,
    top: float | None,
    remark: str = "",
) -> str:
    series = [one for one in series if one.x]
    if not series:
        return ""
    svg = line_plot(
        curve.name,
        curve.title,
        series,
        x_label=x_label,
        y_label=curve.label,
        is_share=curve.is_share,
        top=top,
        width=8.6,
        height=3.4,
    )
    return markup.section(curve.title, markup.figure(svg, curve.meaning + remark, table_html))
