"""Simulations as JSON types."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from crawler.report.simulation_groups import groups_of, last
from crawler.report.simulation_tables import repetition_note
from crawler.simulate.figures import CourseFigures
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan

VERSION = 1
"""Version of the JSON."""

_MOST_SEEDS = 100


def simulation_json(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> dict[str, Any]:
    """All simulations as JSON types, in the order of the plan."""
    groups = groups_of(plan, results)
    return {
        "version": VERSION,
        "lang": plan.lang,
        "random_states": list(plan.random_states),
        "limit": plan.limit,
        "what_varies": repetition_note(plan),
        "simulations": [_result_json(result) for group in groups for result in group.results],
    }


def _result_json(result: SimulatedCrawl) -> dict[str, Any]:
    course = result.figures
    return {
        "name": result.case.name,
        **asdict(result.case),
        "arguments": result.case.arguments,
        "random_state": result.random_state,
        "seeds": list(result.seeds[:_MOST_SEEDS]),
        "n_seeds": len(result.seeds),
        "seconds": round(result.seconds, 3),
        "is_complete": course.is_complete,
        "pages": course.pages,
        "relevant_pages": course.relevant_there_are,
        "coverage": last(course.coverage),
        "harvest_rate": last(course.harvest),
        **_course_json(course),
    }


def _course_json(course: CourseFigures) -> dict[str, Any]:
    return {
        "figure_4": [
            {"distance": distance, "missed": missed, "relevant": there_are}
            for distance, (missed, there_are) in enumerate(course.missed)
        ],
        "figures_5_to_8": {
            "pages": list(course.points),
            "relevant": list(course.relevant),
            "queue": list(course.queue),
            "servers": list(course.servers),
            "bytes": None if course.bytes is None else list(course.bytes),
        },
        "costs": [
            {"coverage": coverage, **cost._asdict()} for coverage, cost in course.milestones.items()
        ],
        "links": {
            "stored": course.stored,
            "seen": course.seen,
            "rejected": course.rejected,
            "host_full": course.host_full,
            "dropped_irrelevant": course.dropped_irrelevant,
        },
    }
