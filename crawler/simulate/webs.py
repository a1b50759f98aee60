"""Webs drawn anew: other ones with the measures of a generated Web."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from crawler.errors import GraphError, SettingError
from crawler.simulate.generate import generate
from crawler.simulate.measures import WebMeasures
from crawler.simulate.webgraph import WebGraph


def random_state_of(graph: WebGraph) -> int:
    """Return the random state of a generated Web; raises `GraphError` for any other graph."""
    state = graph.provenance.get("random_state")
    if graph.provenance.get("source") != "generated" or not isinstance(state, int):
        raise GraphError("only a generated Web can be drawn again: langfocus graph --generate")
    return state


def states_of_webs(graph: WebGraph, number: int) -> tuple[int, ...]:
    """Return the random states of `number` Webs: that of a generated Web and those that follow."""
    first = random_state_of(graph)
    return tuple(range(first, first + number))


def drawn_again(graph: WebGraph, random_state: int) -> WebGraph:
    """Return the Web with the measures of a generated one and another random state.

    The same random state gives the graph itself. Raises `GraphError` for a graph that was not
    generated, or by a version whose measures were others.
    """
    if random_state == random_state_of(graph):
        return graph
    return generate(_measures(graph), random_state=random_state)


def _measures(graph: WebGraph) -> WebMeasures:
    written = graph.provenance.get("measures")
    names = {field.name for field in fields(WebMeasures)}
    if not isinstance(written, Mapping) or set(written) != names:
        raise GraphError("this Web was generated with other measures; generate it again")
    try:
        measures = WebMeasures(**{name: _as_given(value) for name, value in written.items()})
        measures.check()
    except (SettingError, TypeError, ValueError, IndexError) as error:
        raise GraphError(f"graph.json: its measures cannot be used: {error}") from None
    return measures


def _as_given(value: Any) -> Any:
    """A measure as `WebMeasures` takes it: JSON has lists for tuples."""
    if isinstance(value, Mapping):
        return {key: _as_given(part) for key, part in value.items()}
    return tuple(value) if isinstance(value, list) else value
