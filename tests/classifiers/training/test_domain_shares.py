import numpy as np
import pytest

from langfocus.classifiers.training import domain_shares
from langfocus.classifiers.training.domain_shares import (
    Site,
    all_tops,
    home_domains,
    limited,
    own_domains,
    top_of,
)
from langfocus.classifiers.urls.clues import TOP, key_of
from langfocus.classifiers.urls.posteriors import Evidence, Prior

NAMED = ("cs", "en", "ga", "cy", "gd")
CZECH = [Site(f"a{at}.cz", "cz", "cs") for at in range(70)]
ENGLISH = [Site(f"a{at}.com", "com", "en") for at in range(70)]


def shares(sites: list[Site]) -> dict[tuple[str, str], float]:
    """Language and top-level domain -> the share of the domain."""
    tops = all_tops(sites, NAMED)
    rows = np.exp(domain_shares.log_shares(sites, NAMED, tops)).tolist()
    return {
        (code, top): value
        for code, row in zip(NAMED, rows, strict=True)
        for top, value in zip(tops, row, strict=True)
    }


def test_a_language_without_sites_is_expected_at_home_and_where_others_are_abroad() -> None:
    found = shares(CZECH + ENGLISH)
    assert found["cs", "cz"] > 0.9, "many sites win over the expectation"
    assert found["ga", "ie"] > 0.4
    assert found["ga", "com"] > 0.3
    assert found["ga", "ie"] > 100 * found["cs", "ie"]
    assert found["cy", "cymru"] > 100 * found["en", "cymru"]
    assert found["gd", "scot"] > 0.01
    for language in NAMED:
        total = sum(value for (code, _), value in found.items() if code == language)
        assert total == pytest.approx(1)


def test_a_site_counts_once() -> None:
    assert shares(CZECH + ENGLISH) == shares([*CZECH, *ENGLISH, *CZECH * 3])


def test_domains_of_regions_belong_to_their_languages() -> None:
    assert {"ca": "cat", "fy": "frl", "gd": "scot"}.items() <= {
        (code, top) for code in ("ca", "fy", "gd", "aa") for top in own_domains(code)
    }
    assert own_domains("aa") == []
    assert home_domains("ga")["ie"] > home_domains("ga").get("uk", 0)


@pytest.mark.parametrize(
    ("url", "top"),
    [
        ("http://A.CZ/", "cz"),
        ("http://a.xn--j1amh/", "укр"),
        ("http://a.укр/", "укр"),
        ("http://1.2.3.4/", ""),
        ("http://localhost/", ""),
        ("", ""),
    ],
)
def test_the_top_level_domain_is_read_in_letters(url: str, top: str) -> None:
    assert top_of(url) == top


def evidence_of(named: tuple[str, ...], rows: dict[str, list[float]]) -> tuple[Evidence, list[str]]:
    """Evidence of top-level domains for languages, two with a classifier; the domains in order."""
    keys = sorted((key_of(TOP, top), top) for top in rows)
    tops = [top for _, top in keys]
    evidence = Evidence(
        named,
        np.zeros((2, len(named)), np.float32),
        np.zeros(len(named), np.float32),
        np.array([key for key, _ in keys], np.uint64),
        np.array([rows[top] for top in tops], np.float16),
    )
    return evidence, tops


def test_a_domain_says_of_a_language_without_a_classifier_what_labelled_sites_let_it() -> None:
    named = ("en", "ru", "be")
    fitted, tops = evidence_of(named, {"by": [0.0, 2.0, 12.0], "com": [0.5, 0.0, 0.9]})
    russian = [Site(f"a{at}.by", "by", "ru") for at in range(900)]
    sites = [*russian, *russian, Site("b.by", "by", "be"), Site("c.xx", "xx", "ru")]
    found = limited(fitted, 2, [*sites, *ENGLISH])
    of = dict(zip(tops, found.nats.astype(float), strict=True))
    assert of["com"].tolist() == fitted.nats[tops.index("com")].tolist()
    assert of["by"][:2].tolist() == [0.0, 2.0]
    shares = np.exp(of["by"] + Prior.evened().log_of(named))
    assert shares[2] / shares.sum() == pytest.approx(301 / 1201, abs=0.01)
    alone = limited(fitted, 2, [Site("b.by", "by", "be")])
    assert np.array_equal(alone.nats, fitted.nats)


def test_a_language_that_is_rare_on_the_web_has_at_most_half_where_others_are_spoken() -> None:
    named = ("en", "es", "gn", "mn")
    fitted, tops = evidence_of(named, {"py": [0.0, 2.0, 12.0, 0.0], "mn": [0.0, 0.0, 0.0, 12.0]})
    of = dict(zip(tops, limited(fitted, 2, []).nats.astype(float), strict=True))
    shares = np.exp(of["py"] + Prior.evened().log_of(named))
    assert shares[2] / shares.sum() == pytest.approx(0.5, abs=0.01)
    assert of["mn"].tolist() == [0.0, 0.0, 0.0, 12.0]
