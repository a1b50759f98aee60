"""Farms are recognised by their links."""

import pytest

from langfocus.crawler.reading.farms import MOST_DOMAINS, TYPICAL, Farms, LinkFacts, facts_of

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
    page, links = versions[0], [*versions[1:], "http://b.org/one-two", "http://b.org/"]
    own = [page[: page.rindex("/")] + "/other", page[: page.rindex("/")] + "/third"]
    assert facts_of(page, [*links, *own], 5) == LinkFacts(2 / 4, len(CODES) - 1)
    assert facts_of(page, [*own], 5) == LinkFacts(0.0, 5)
    assert facts_of(page, [], 0) == LinkFacts(TYPICAL, 0)


def test_a_farm_has_many_versions_and_links_to_nobody() -> None:
    farms = Farms()
    assert farms.is_farm("many.com", LinkFacts(0.0, 30))
    assert not any(farms.is_farm("open.com", LinkFacts(0.3, 20)) for _ in range(20))
    assert not any(farms.is_farm("small.gal", LinkFacts(0.0, 0)) for _ in range(20))
    assert [farms.is_farm("later.com", LinkFacts(TYPICAL, n)) for n in (0, 60, 60)][0::2] == [0, 1]
    for number in range(MOST_DOMAINS):
        farms.is_farm(f"{number}.com", LinkFacts())
    assert len(farms.domains) == MOST_DOMAINS
