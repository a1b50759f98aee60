"""The rules of `-a scope`, and what a crawl with them fetches, counts and says."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.base import FIRST_SCORE
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.scope import read_rules, read_scope, surt_of
from langfocus.crawler.report.crawl import write_report
from langfocus.crawler.run.folder import SCOPE
from langfocus.crawler.session.preparation import prepare
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import normalise
from tests.support.crawls import crawl, finished, rows, summary

PREFIXES = [
    # Heritrix's own: SurtPrefixSet and its tests.
    ("http://www.archive.org/index.html", "org,archive,)/"),
    ("http://timmknibbs4senate.blogspot.com/", "com,blogspot,timmknibbs4senate,)/"),
    ("https://one.two.three", "three,two,one,"),
    ("https://xone.two.three/a/b/c/", "three,two,xone,)/a/b/c/"),
    ("https://yone.two.three/a/b/c", "three,two,yone,)/a/b/"),
    ("http://(org,archive,", "org,archive,"),
    ("http://(org,example,www,)/", "org,example,)/"),
    ("http://(org,example,home,)/pages/", "org,example,home,)/pages/"),
    ("http://(is,bok,www", "is,bok,www"),
    # Of CDX files, where hosts have no last comma.
    ("is,bok)/Path", "is,bok,)/path"),
    ("1,0,0,127:8080)/x", "127.0.0.1:8080)/x"),
    # Domains, top-level domains, addresses.
    ("is", "is,"),
    (".is", "is,"),
    ("*.Bok.is", "is,bok,"),
    ("www.bok.is", "is,bok,)"),
    ("bok.is:8080", "is,bok,:8080)"),
    ("ísland.is", "is,xn--sland-ysa,"),
    ("(is,ísland,", "is,xn--sland-ysa,"),
    ("127.0.0.1", "127.0.0.1)"),
    ("http://[::1]/a", "[::1])/"),
]


@pytest.mark.parametrize(("rule", "prefix"), PREFIXES)
def test_a_rule_is_a_surt_prefix(rule: str, prefix: str) -> None:
    assert read_rules([f"+{rule}", f"  {rule}  # the same"]).lines() == [f"+http://({prefix}\n"]


@pytest.mark.parametrize(
    ("rules", "url", "verdict"),
    [
        ("is", "https://www.bok.is/", True),
        ("is", "http://istanbul/", None),
        ("is", "http://is.example.com/", None),
        ("bok.is", "http://a.bok.is:81/x", True),
        ("bok.is", "http://mybok.is/", None),
        ("http://bok.is/", "http://a.bok.is/", None),
        ("http://bok.is/", "https://www.bok.is/x", True),
        ("http://www.bok.is/", "http://bok.is/x", True),
        ("http://bok.is/", "http://bok.is:81/", None),
        ("(is,bok,www,", "http://bok.is/", None),
        ("(is,bok,www,", "http://www.bok.is/", True),
        ("(is,bok,www", "http://www2.bok.is/", True),
        ("+is -bok.is", "http://bok.is/", False),
        ("-is +bok.is", "http://bok.is/", True),
        ("+is -bok.is +http://bok.is/a/", "http://bok.is/a/b", True),
        ("+is -bok.is +http://bok.is/a/", "http://bok.is/ab", False),
        ("-http://bok.is/private", "http://bok.is/private2", False),
        ("-http://bok.is/private", "http://bok.is/", None),
        ("-http://bok.is/cal?m=", "http://bok.is/cal?m=3", False),
        ("-http://bok.is/A%C3%A9", "http://bok.is/aé", False),
        ("127.0.0.1", "http://127.0.0.11/", None),
    ],
)
def test_the_longest_rule_decides(rules: str, url: str, verdict: bool | None) -> None:
    normal = normalise(url)
    assert normal is not None
    assert read_rules(rules.split()).of_url(normal) is verdict


HOSTS = st.sampled_from(["a.is", "www.a.is", "b.a.is", "www.b.a.is", "c.com", "127.0.0.1"])
PATHS = st.text("a/b", max_size=6).map(lambda text: f"/{text}")
URLS = st.builds("http://{}{}".format, HOSTS, PATHS)
RULES = st.builds("{}http://{}{}".format, st.sampled_from("+-"), HOSTS, PATHS | st.just(""))


@given(lines=st.dictionaries(RULES.map(lambda rule: rule[1:]), st.sampled_from("+-")), url=URLS)
def test_a_look_up_finds_the_longest_of_all_prefixes(lines: dict[str, str], url: str) -> None:
    try:
        scope = read_rules(sign + rule for rule, sign in lines.items())
    except SettingError:
        return
    signs = {line.partition("(")[2].rstrip("\n"): line[0] == "+" for line in scope.lines()}
    names = {surt_of(url), surt_of(url.replace("www.", ""))}
    found = [prefix for prefix in signs if any(map(str.startswith, names, [prefix] * 2))]
    longest = max(found, key=lambda prefix: (")" in prefix, len(prefix)), default=None)
    assert scope.of_url(url) is (None if longest is None else signs[longest])
    assert read_rules(scope.lines()).lines() == scope.lines()


@given(
    host=HOSTS.filter(lambda host: host[0].isalpha()),
    path=PATHS.filter(lambda path: "//" not in path),
)
def test_a_key_of_a_cdx_file_is_a_rule(host: str, path: str) -> None:
    surt = pytest.importorskip("surt", reason="surt is not installed (it comes with pywb)")
    url = f"http://{host}{path}"
    assert read_rules([surt.surt(url)]).of_url(url) is True


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("+", "no domain"),
        ("+(is", "no domain"),
        ("+user@bok.is", "no domain"),
        ("+ftp://bok.is/", "no domain"),
        ("+bok.is,com", "no domain"),
        ("+is,,bok)/", "no domain"),
        ("-bok.is/a b", "no spaces"),
        ("-*.bok.is/a/", "a path belongs to one host"),
        ("+country:UK", "a code of two letters"),
        ("+country:Iceland", "a code of two letters"),
        ("-https://(is,", "the same rule with the other sign"),
    ],
)
def test_a_malformed_rule_is_named_by_file_and_line(tmp_path: Path, line: str, fault: str) -> None:
    path = tmp_path / "scope.txt"
    path.write_text(f"# Iceland\n\n+is\n{line}\n", "utf-8")
    with pytest.raises(SettingError, match=rf"^-a scope=.*scope\.txt: line 4: .*{fault}"):
        read_scope(path, "-a scope")


@pytest.mark.parametrize(
    ("content", "fault"), [(b"# none\n", "no rule"), (b"\xff\n", "not UTF-8"), (None, "No such")]
)
def test_a_file_without_rules_is_refused(tmp_path: Path, content: bytes | None, fault: str) -> None:
    if content is not None:
        (tmp_path / "scope.txt").write_bytes(content)
    with pytest.raises(SettingError, match=rf"-a scope=.*scope\.txt: .*{fault}"):
        read_scope(tmp_path / "scope.txt", "-a scope")


def test_links_that_a_rule_takes_go_before_all_others() -> None:
    scope = read_rules(["+is", "-bad.is"])
    earlier = FIRST_SCORE + 0.5
    links = [Link(f"http://{name}/", 1.0) for name in ("a.is", "bad.is", "a.com")]
    kept = scope.kept([*links, Link("http://b.is/", earlier)])
    assert [(link.url, link.score) for link in kept] == [
        ("http://a.is/", FIRST_SCORE),
        ("http://a.com/", 1.0),
        ("http://b.is/", earlier),
    ]


def test_a_host_is_in_the_country_of_its_server_unless_a_rule_has_its_url() -> None:
    scope = read_rules(["+country:IS", "-country:us", "+is", "-bad.com"])
    assert not scope.takes("http://a.com/x")
    assert scope.takes_page("http://a.com/", "IS")
    assert scope.takes("http://www.a.com/x")
    assert not scope.takes_page("http://bad.com/", "IS")
    assert not scope.takes_page("http://b.com/", "DE")
    assert [scope.refuses(f"http://{h}/", "US") for h in ("b.com", "b.is")] == [True, False]
    assert [scope.refuses("http://b.com/", country) for country in ("DE", None)] == [False] * 2


def scope_file(folder: Path, *lines: str) -> Path:
    path = folder / "rules.txt"
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_a_rule_about_a_country_needs_a_database(tmp_path: Path) -> None:
    path = scope_file(tmp_path, "+is", "+country:IS")
    config = Config.read({"lang": "de", "web": "sample", "scope": str(path)})
    with pytest.raises(SettingError, match=r"country:IS: .* LANGFOCUS_GEOIP=FILE\.mmdb"):
        prepare(config)


PAGES = 120


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the sample web with the hosts of .com in its scope, but for one."""
    folder = tmp_path_factory.mktemp("scope")
    rules = scope_file(folder, "+com", "-kaffeehaus-linz.com", "-org")
    finished(
        *("lang=de", "web=sample", f"pages={PAGES}", f"scope={rules}"),
        JOBDIR=folder / "run",
        LANGFOCUS_SAMPLE_HOSTS=300,
    )
    return folder


def test_a_crawl_takes_and_refuses_by_its_rules(ended: Path) -> None:
    run = ended / "run"
    pages = rows(
        run,
        "SELECT url, host, language, in_scope FROM pages WHERE outcome = 'page' AND status = 200",
    )
    assert not [url for url, host, *_ in pages if host.endswith(".org")]
    assert {host.endswith(".com") for _, host, _, in_scope in pages if in_scope} == {True}
    assert not [url for url, host, _, in_scope in pages if host.endswith(".com") > in_scope]
    languages = {language for *_, language, in_scope in pages if in_scope}
    assert len(languages) > 1
    assert summary(run)["counts"]["out_of_scope"] > 0


def test_the_harvest_is_told_for_each_part(ended: Path) -> None:
    figures: dict[str, Any] = summary(ended / "run")
    pages = rows(ended / "run", "SELECT language, in_scope FROM pages WHERE outcome = 'page'")
    inside = [language for language, in_scope in pages if in_scope]
    outside = [language for language, in_scope in pages if not in_scope and language]
    german = outside.count("de")
    assert figures["in_scope"] == len(inside)
    assert figures["in_scope_and_language"] == inside.count("de")
    assert figures["relevant"] == len(inside) + german
    assert figures["labelled"] == len(inside) + len(outside)
    assert figures["harvest_rate"] == figures["relevant"] / figures["labelled"]
    assert figures["harvest_outside_scope"] == german / len(outside)
    assert sum(part["relevant"] for part in figures["harvest_by_200"]) == figures["relevant"]
    write_report(ended / "run")
    text = (ended / "run" / "report.html").read_text("utf-8")
    assert f"{len(inside):,} are in the scope, {inside.count('de'):,} of them in German" in text


def test_the_frontier_learns_from_the_language_alone(ended: Path) -> None:
    (counted,) = rows(ended / "run", "SELECT labelled, relevant FROM belief")
    query = "SELECT count(language), sum(language = 'de') FROM pages WHERE outcome = 'page'"
    assert [counted] == rows(ended / "run", query)


def test_a_run_keeps_its_rules(ended: Path) -> None:
    run = ended / "run"
    kept = read_scope(run / SCOPE, "-a scope")
    assert kept.lines() == ["+http://(com,\n", "-http://(com,kaffeehaus-linz,\n", "-http://(org,\n"]
    arguments = ("lang=de", "web=sample", f"pages={PAGES}")
    settings: Any = {"JOBDIR": run, "LANGFOCUS_SAMPLE_HOSTS": 300}
    assert crawl(*arguments, f"scope={run / SCOPE}", **settings).returncode == 0
    done = crawl(*arguments, f"scope={scope_file(ended, '+com')}", **settings)
    assert done.returncode != 0
    assert "holds a crawl with scope=3 rules, " in done.stderr
