"""Hostile webs get no more requests than the cap, and the judge finds what is over it."""

from pathlib import Path

import pytest

from benchmarks.capweb import cases
from benchmarks.host_cap import HOST_CAP, ORDERINGS, Figures, Request, crawl, judge, worst

BY_ORDER = "chain utm cookies named ports maps-victim third".split()
"""Webs in which the order of requests may matter; `benchmarks.host_cap` serves all to all."""
CHOSEN = [*BY_ORDER, *"f-404 f-dropped home scheme ordinary f-300".split()]


def log(*urls: str, location: str | None = None) -> list[Request]:
    return [Request(url, 200, location) for url in urls]


def test_pages_are_counted_by_host_and_by_page_not_by_spelling() -> None:
    asked = log(
        "http://a.de/1",
        "http://www.A.de:8080/2",
        "http://a.de/1?utm_source=x",
        "https://b.de/",
        "http://a.de/robots.txt",
        "http://a.de:81/robots.txt",
        "http://a.de/sitemap.xml",
    )
    found = judge(asked)
    assert found["a.de"] == Figures(
        urls=2, lines=3, tries=2, robots=2, robots_tries=1, sitemaps=1, origins=3, pages=2
    )
    assert found["b.de"].urls == 1


def test_one_redirect_to_another_spelling_makes_no_second_url() -> None:
    ways = ["http://a.de/x", "https://www.a.de/x/", "http://a.de/x/", "https://a.de/x"]
    hops = [Request(url, 301, target) for url, target in zip(ways, [*ways[1:], None], strict=True)]
    assert judge(hops[:2])["a.de"].urls == 1
    # Two spellings are one URL; four in a row are two.
    assert judge(hops)["a.de"].urls == 2
    assert judge(log(*ways))["a.de"].urls == 4
    assert judge(log("http://a.de/x", "http://a.de/y", location="/y"))["a.de"].urls == 2


def test_a_redirect_of_tdmrep_is_no_page_but_a_try() -> None:
    file = Request("http://a.de/.well-known/tdmrep.json", 302, "/login")
    login, page = Request("http://a.de/login", 302, "/login"), Request("http://a.de/x", 302, "/y")
    assert judge([file, page, login, login, login])["a.de"] == Figures(
        urls=1, lines=1, tries=3, origins=1, pages=0
    )
    assert judge([file, login._replace(location=None), login])["a.de"].urls == 1
    assert judge([file._replace(location="http://[/")])["a.de"].urls == 0


def test_what_is_over_a_limit_has_a_name() -> None:
    full = Figures(HOST_CAP, 20, 4, 10, 3, 10, 10, pages=10)
    assert full.faults(least=10) == []
    over = Figures(HOST_CAP + 1, 21, 5, 11, 4, 11, 11, pages=9)
    assert over.faults(least=10) == [
        *("urls", "lines", "tries", "robots", "robots_tries", "sitemaps", "origins", "pages")
    ]
    assert full.over(over) == over
    assert over.faults(least=0)[-1] == "origins"


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_no_host_gets_more_requests_than_its_cap(ordering: str, tmp_path: Path) -> None:
    known = cases()
    served = [known[name] for name in (CHOSEN if ordering == "focus" else BY_ORDER)]
    found = worst(served, crawl(served, ordering, tmp_path))
    faults = {case.name: found[case.name].faults(case.least) for case in served}
    assert {name: of_case for name, of_case in faults.items() if of_case} == {}
