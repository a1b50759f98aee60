"""Farms are recognised by the versions of their pages."""

import pytest

from langfocus.crawler.reading.farms import MOST_DOMAINS, MOST_VERSIONS, Farms, versions_of

CODES = "de fr it es pt ru ja zh ko pl nl tr".split()


@pytest.mark.parametrize(
    "form",
    [
        "http://www.a.com/{}/one-two", "http://{}.a.com/one-two", "http://www.a.{}/one-two",
        "http://a-{}.org/one-two", "http://www.a.com/one-two?lang={}", "http://a.com/{}-ch/",
    ],
)  # fmt: skip
def test_versions_are_links_that_differ_in_the_code_of_their_language(form: str) -> None:
    versions = [form.format(code) for code in CODES]
    page, links = versions[0], [*versions[1:], *versions[1:], "http://b.org/one-two"]
    own = [page[: page.rindex("/")] + "/other", page[: page.rindex("/")] + "/third"]
    assert versions_of(page, [*links, "http://b.org/", *own], 5) == len(CODES) - 1
    assert versions_of(page, own, 5) == 5
    assert versions_of(page, [], 0) == 0


def test_a_farm_offers_many_versions_of_its_mean_page() -> None:
    farms = Farms()
    assert farms.is_farm("many.com", 30)
    assert not any(farms.is_farm("some.com", MOST_VERSIONS) for _ in range(20))
    assert [farms.is_farm("later.com", n) for n in (0, 0, 30, 30)] == [False, False, False, True]
    for number in range(MOST_DOMAINS):
        farms.is_farm(f"{number}.com", 0)
    assert len(farms.domains) == MOST_DOMAINS
