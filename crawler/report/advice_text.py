"""Advice about a strategy: sentences and a table."""

from crawler.report.formatting import language_name, percent, size
from crawler.report.table import Table
from crawler.simulate.advice import FEW, Advice, RatedStrategy

_MOST_NAMES = 4


def advice_lines(advice: Advice) -> list[str]:
    """The advice in sentences: the best strategy first, the limits of the method last."""
    best = advice.best
    if best is None:
        most = percent(advice.reached_by)
        found = [
            f"No strategy reached {percent(advice.coverage)} of {_reachable(advice)}; the highest "
            f"coverage was {most}."
        ]
    else:
        found = [*_best_lines(advice, best), *_other_lines(advice, best)]
    return [*found, _method(advice), _unknown(advice)]


def _best_lines(advice: Advice, best: RatedStrategy) -> list[str]:
    return [
        f"{best.case.name} needs the fewest {advice.least} to reach {percent(advice.coverage)} of "
        f"{_reachable(advice)}: {_cost(advice, best.cost)}.",
        f"To crawl so: -a lang={advice.lang} {best.case.arguments}",
        f"No strategy was cheaper in {percent(best.best)} of {advice.resamples:,} resamples. This "
        f"one was at most 5 % more expensive than the cheapest in {percent(best.close)} of them, "
        f"and reached the coverage in {percent(best.reached)}.",
    ]


def _other_lines(advice: Advice, best: RatedStrategy) -> list[str]:
    lines = []
    if names := [choice.case.name for choice in advice.as_cheap]:
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        lines.append(f"As cheap from the graph's seeds: {', '.join(names[:_MOST_NAMES])}{more}.")
    safest = advice.safest
    if safest is not None and safest.reached > best.reached:
        lines.append(
            f"Safer: {safest.case.name} reached it in {percent(safest.reached)}, for "
            f"{_cost(advice, safest.middle)} (median)."
        )
    return lines


def _reachable(advice: Advice) -> str:
    pages = f"the {advice.reachable_pages:,} pages in {language_name(advice.lang)}"
    text = f"{pages} that the graph's seeds lead to"
    if advice.reachable_pages < advice.relevant_pages:
        text += f" (of {advice.relevant_pages:,} in the graph)"
    return text


def _method(advice: Advice) -> str:
    text = (
        f"Resamples: {advice.seed_sets} sets of seeds (those of the graph, and relevant pages "
        "drawn at random), each measured on servers drawn with replacement. All strategies are "
        "measured on the same resamples."
    )
    if advice.relevant_servers < FEW:
        text += (
            f" The graph has few relevant servers ({advice.relevant_servers}), so the shares say "
            "little about other servers."
        )
    return text


def _unknown(advice: Advice) -> str:
    if not advice.unfetched_urls:
        return (
            "Every URL of the graph was downloaded. Pages to which the graph has no link are not "
            "counted."
        )
    return (
        f"Unknown: {advice.unfetched_urls:,} URLs have links to them but were never downloaded. If "
        f"all of them were relevant, {percent(advice.coverage)} of the known pages that can be "
        f"reached would be {percent(advice.least_coverage)} of all relevant pages."
    )


def advice_table(advice: Advice) -> Table:
    """All strategies that were compared, the cheapest first."""
    head = ("strategy", advice.least, "5 %", "median", "95 %", "reached", "cheapest", "within 5 %")
    rows = [_row(advice, choice) for choice in advice.choices]
    return Table(f"To reach a coverage of {percent(advice.coverage)}", head, rows)


def _row(advice: Advice, choice: RatedStrategy) -> tuple[str, ...]:
    costs = (choice.cost, choice.low, choice.middle, choice.high)
    shares = (choice.reached, choice.best, choice.close)
    return (
        choice.case.name,
        *(_cost(advice, cost) for cost in costs),
        *(percent(share) for share in shares),
    )


def _cost(advice: Advice, cost: float | None) -> str:
    if cost is None:
        return "never"
    return size(round(cost)) if advice.least == "bytes" else f"{cost:,.0f}"
