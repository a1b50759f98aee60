"""The versions that a page offers."""

import pytest

from langfocus.crawler.reading.farms import versions_of

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
