import numpy as np

from langfocus.classifiers.training import naming, tokens
from langfocus.classifiers.training.naming import Seen
from langfocus.classifiers.urls import clues
from langfocus.classifiers.urls.batch import encode
from langfocus.classifiers.urls.posteriors import Evidence, Prior

CLASSIFIED = ("de", "fr")
NAMED = (*CLASSIFIED, "lb")


def made(n_each: int = 300, n_few: int = 30) -> Seen:
    """Decision values that separate German and French; Luxembourgish has `/lb/` or `.lu` alone."""
    chance = np.random.default_rng(3)
    languages = ["de"] * n_each + ["fr"] * n_each + ["lb"] * n_few
    columns = [NAMED.index(code) for code in languages]
    scores = chance.normal(-0.5, 0.5, (len(columns), 2))
    for row, column in enumerate(columns):
        if column < 2:
            scores[row, column] += 1
    paths = {"de": ("x", "de"), "fr": ("x", "fr"), "lb": ("lb", "x")}
    tops = {"de": ("de", "com"), "fr": ("fr", "com"), "lb": ("lu", "com")}
    sites = [f"s{at}.{tops[code][at % 2]}" for at, code in enumerate(languages)]
    urls = [
        f"http://{site}/{paths[code][at // 2 % 2]}/"
        for at, (site, code) in enumerate(zip(sites, languages, strict=True))
    ]
    return Seen(urls, languages, sites, scores.astype(np.float32))


def logits(learned: Evidence, urls: list[str], scores: list[list[float]]) -> np.ndarray:
    found, _ = learned.logits(np.array(scores, np.float32), encode(urls), Prior.uniform())
    return found[:, : len(learned.languages)]


def test_scores_domains_and_codes_are_learned_as_evidence() -> None:
    learned = naming.learn(made(), NAMED, seed=0)
    assert learned.languages == NAMED
    assert (np.diag(learned.mixing) > 0.5).all()
    plain = logits(learned, ["http://x.com/"], [[1.0, -1.0]])[0]
    assert plain.argmax() == 0
    coded = logits(learned, ["http://x.com/lb/"], [[-0.5, -0.5]])[0]
    assert coded.argmax() == 2
    at_home = logits(learned, ["http://x.lu/"], [[-0.5, -0.5]])[0]
    assert at_home[2] - plain[2] > 0.5


def test_a_code_on_many_sites_of_other_languages_is_a_word() -> None:
    seen = made(60, 10)
    urls = [url.replace("/x/", "/bar/").replace("/lb/", "/ltz/") for url in seen.urls]
    named = (*NAMED, "bar")
    words = tokens.code_words(urls, seen.languages, seen.sites, named)
    assert words == ["bar"]
    learned = naming.learn(seen._replace(urls=urls), named, seed=0)
    asked = [f"http://x.com/{rest}" for rest in ("", "bar/", "ltz/", "?lang=bar")]
    plain, bar, ltz, keyed = logits(learned, asked, [[0.0, 0.0]] * 4)
    assert np.array_equal(bar, plain)
    assert ltz[2] > plain[2]
    assert keyed[3] > plain[3]


def test_the_evidence_is_free_of_the_frequencies_in_the_data() -> None:
    doubtful = (["http://x.com/"], [[0.0, 0.0]])
    even = logits(naming.learn(made(), NAMED, seed=0), *doubtful)[0]
    seen = made()
    rows = np.r_[0:300, 300:360, 600:630]
    uneven = logits(naming.learn(seen.part(rows), NAMED, seed=0), *doubtful)[0]
    assert abs((even[0] - even[1]) - (uneven[0] - uneven[1])) < 0.8


def test_all_languages_with_a_domain_or_a_country_can_be_named() -> None:
    named = naming.nameable(("de", "fr"))
    assert named[:2] == ("de", "fr")
    assert len(set(named)) == len(named)
    assert set("eu cy ga gd fy fo lb mt br gl co kk be".split()) <= set(named)


def test_a_token_may_stand_for_several_languages() -> None:
    found = {
        " ".join(token[1:])
        for token in tokens.tokens_of(("br", "pt", "cs"))
        if token.kind == clues.SEGMENT and token.text in ("br", "cz", "cs")
    }
    assert found == {"br code br", "br country pt", "cs code cs", "cz country cs"}
    letters = [token for token in tokens.tokens_of(("ka",)) if token.kind == clues.BLOCK]
    assert [ord(token.text) for token in letters] == [0x1080]
