"""Places with a language by their labelled URLs: registered domains, hosts and directories.

A place is listed if most of its labelled URLs are in one language, and if the place above it is not
listed with the same language.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.datasets.rows import LabelledUrl, domain_reader
from langfocus.classifiers.urls.batch import encode
from langfocus.classifiers.urls.cctld import host_of
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.posteriors import Hosts
from langfocus.classifiers.urls.scoring import hosts_of

Vector = npt.NDArray[np.float64]

UNLISTED_KINDS: Final = frozenset({"country"})
"""Kinds of labels that are too weak."""
_MOST: Final = 0.8
"""Least share of a place's URLs in its language."""
_LEAST: Final = 2
"""Least number of directories with labelled URLs that speak for a host without its root."""
_RIGHT: Final = 0.9
"""Probability of a listed place's language for a URL without other evidence."""
_LEAST_NATS: Final = 1.0
"""Evidence below which a place is left out: the model names its language without a list."""
_MOST_NATS: Final = 16.0


class Listed(NamedTuple):
    """A place in a language."""

    place: str
    """Without a scheme: `example.org`, `news.example.org`, `example.org/news`."""
    language: str
    share: float
    """Of its labelled URLs in the language."""


def listed(rows: Iterable[LabelledUrl]) -> list[Listed]:
    """Return the listed places, sorted."""
    domain = domain_reader()
    of_place: defaultdict[str, Counter[str]] = defaultdict(Counter)
    below: defaultdict[str, set[str]] = defaultdict(set)
    chains: set[tuple[str, ...]] = set()
    for row in rows:
        if row.label_kind in UNLISTED_KINDS:
            continue
        host = host_of(row.url).removeprefix("www.")
        path = row.url.partition("://")[2].partition("/")[2]
        directory = path.partition("?")[0].partition("#")[0].partition("/")[0]
        places = [domain(row.url).removeprefix("www."), host]
        if path and directory:
            places.append(f"{host}/{directory}".lower())
        chain = tuple(dict.fromkeys(places))
        chains.add(chain)
        for place in chain:
            of_place[place][row.language] += 1
            below[place].add(places[-1] if path else "")
    found: dict[str, Listed] = {}
    for chain in chains:
        above = ""
        for place in chain:
            (best, most), total = of_place[place].most_common(1)[0], of_place[place].total()
            speaks = "/" in place or "" in below[place] or len(below[place]) >= _LEAST
            if "." in place and speaks and best != above and most >= _MOST * total:
                found[place], above = Listed(place, best, most / total), best
    return sorted(found.values())


def with_hosts(model: UrlModel, rows: Iterable[LabelledUrl]) -> UrlModel:
    """Return the model with the listed places of labelled URLs.

    Evidence of a place raises the probability of its language, by the default prior and for the
    place's own URL, to its share times `_RIGHT`.
    """
    column = {code: at for at, code in enumerate(model.named_languages)}
    places = [place for place in listed(rows) if place.language in column]
    if not places:
        return model
    urls = [f"http://{place.place}/" for place in places]
    columns = np.array([column[place.language] for place in places])
    least = np.finfo(np.float32).tiny
    found = np.maximum(model.shares(urls)[np.arange(len(urls)), columns], least, dtype=np.float64)
    wanted = np.array([place.share * _RIGHT for place in places])
    nats = _log_odds(wanted) - _log_odds(np.minimum(found, _RIGHT))
    keys = hosts_of(encode(urls), len(urls))
    order = np.argsort(keys, kind="stable")
    order = order[(nats[order] >= _LEAST_NATS) & (keys[order] > 0)]
    hosts = Hosts(
        keys[order],
        columns[order].astype(np.uint8),
        np.minimum(nats[order], _MOST_NATS).astype(np.float16),
    )
    return replace(model, posterior=replace(model.posterior, hosts=hosts))


def _log_odds(shares: Vector) -> Vector:
    odds: Vector = np.log(shares / (1 - shares))
    return odds
