"""Strategies compared over several Webs or seeds: paired differences, and the spread of misses."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from crawler.errors import SettingError
from crawler.report.formatting import percent
from crawler.report.simulation_groups import Group, last
from crawler.report.table import Table
from crawler.simulate.figures import CourseFigures
from crawler.simulate.plan import SimulationPlan
from crawler.simulate.repeated import Estimate, PairedDifference, paired_difference

_LIMIT = 0.01
"""The miss ratio that Tamura 2007, 5.2, finds for server-based filters at most."""
_NEAR = 6
"""The distance within which the paper tells the misses of hard focused crawling (5.2)."""

_VALUES: dict[str, Callable[[CourseFigures], float]] = {
    "coverage": lambda course: last(course.coverage),
    "harvest": lambda course: last(course.harvest),
    "pages": lambda course: course.pages,
    "servers": lambda course: last(course.servers),
}
_SHARES = ("coverage", "harvest")


def paired_groups(groups: Sequence[Group]) -> list[Group]:
    """The strategies that were simulated on the same Webs and seeds as the first, twice or more."""
    states = [_states(group) for group in groups]
    most = max(states, key=len, default=())
    return [
        group for group, own in zip(groups, states, strict=True) if own == most and len(own) > 1
    ]


def reference(plan: SimulationPlan, name: str | None) -> str:
    """The name of the strategy that others are compared with, None: the first of a plan.

    Raises `SettingError` for a name that no strategy of the plan has.
    """
    names = [case.name for case in plan.cases]
    if name is not None and name not in names:
        raise SettingError(f"--against {name}: not simulated; there are {', '.join(names)}")
    return names[0] if name is None else name


def paired_table(groups: Sequence[Group], against: str) -> Table:
    """The differences of each strategy from the one named `against`, with intervals."""
    rows = [
        (name, *(_shown(kind, of[kind]) for kind in _VALUES))
        for name, of in paired_differences(groups, against).items()
    ]
    number = len(groups[0].results) if groups else 0
    return Table(
        f"Differences from {against}, over {number} pairs",
        ("strategy", *_VALUES),
        rows,
        notes=[
            "Mean difference of simulations on the same Web with the same seeds; coverage and "
            "harvest in percentage points. The figure after +- is half of the 95 % confidence "
            "interval of the mean (Student's t), for each difference alone. In brackets: pairs "
            "with a higher and with a lower value."
        ],
    )


def paired_differences(
    groups: Sequence[Group], against: str
) -> dict[str, dict[str, PairedDifference]]:
    """The differences by strategy and figure; empty if `against` is not among the groups."""
    others = [group for group in groups if group.case.name == against]
    if not others:
        return {}
    return {
        group.case.name: {
            kind: paired_difference(_values(group, kind), _values(others[0], kind))
            for kind in _VALUES
        }
        for group in groups
        if group.case.name != against
    }


def paired_json(groups: Sequence[Group], against: str) -> list[dict[str, Any]]:
    """Paired differences as JSON types."""
    return [
        {
            "name": name,
            "against": against,
            **{kind: {**asdict(one.estimate), **_counts(one)} for kind, one in differences.items()},
        }
        for name, differences in paired_differences(groups, against).items()
    ]


def spread_table(groups: Sequence[Group]) -> Table:
    """The shares of relevant pages missed: their mean, least and greatest over the simulations."""
    rows = []
    for group in groups:
        missed = [last(course.miss_ratio) for course in group.courses]
        near = group.estimate(lambda course: _within(course.miss_ratio, _NEAR))
        any_distance = group.estimate(lambda course: last(course.miss_ratio))
        held = sum(ratio <= _LIMIT for ratio in missed)
        rows.append(
            (
                group.case.name,
                _estimated_share(near),
                _estimated_share(any_distance),
                percent(min(missed)),
                percent(max(missed)),
                f"{held} of {len(missed)}",
            )
        )
    number = max((len(group.results) for group in groups), default=0)
    return Table(
        f"Relevant pages missed, over {number} simulations",
        ("strategy", f"within {_NEAR}", "any distance", "least", "greatest", "at most 1 %"),
        rows,
    )


def _states(group: Group) -> tuple[int, ...]:
    return tuple(result.random_state for result in group.results)


def _values(group: Group, kind: str) -> list[float]:
    return [_VALUES[kind](course) for course in group.courses]


def _within(ratios: Sequence[float], distance: int) -> float:
    return ratios[min(distance, len(ratios) - 1)] if ratios else 0.0


def _counts(one: PairedDifference) -> dict[str, int]:
    return {"higher": one.higher, "lower": one.lower, "pairs": one.pairs}


def _shown(kind: str, one: PairedDifference) -> str:
    if kind in _SHARES:
        number = _signed(one.estimate, 100, "+.2f")
    else:
        number = _signed(one.estimate, 1, "+,.0f")
    return f"{number} ({one.higher}/{one.lower})"


def _signed(one: Estimate, factor: float, form: str) -> str:
    half = "" if one.high is None else f" ±{factor * (one.high - one.mean):{form[1:]}}"
    return f"{factor * one.mean:{form}}{half}"


def _estimated_share(one: Estimate) -> str:
    half = "" if one.high is None else f" ±{100 * (one.high - one.mean):.2f}"
    return f"{100 * one.mean:.2f} %{half}"
