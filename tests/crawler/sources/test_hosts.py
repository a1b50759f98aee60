"""The list of hosts of a census."""

from pathlib import Path

import pytest

from langfocus.classifiers.pages.methods import method
from langfocus.crawler.errors import SettingError
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.preparation import gaps
from langfocus.crawler.sources.hosts import read_hosts
from langfocus.crawler.strategies import make_ordering

LINES = """\
# the hosts
example.org
www.example.org
192.0.2.1
https://Example.NET/path?query
::1
no host
"""
URLS = [
    "http://example.org/",
    "http://192.0.2.1/",
    "https://example.net/",
    "http://[::1]/",
]


def written(folder: Path, text: str) -> Path:
    path = folder / "hosts.txt"
    path.write_text(text)
    return path


def test_more_hosts_than_a_census_can_check_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langfocus.crawler.sources.hosts.MOST_HOSTS", 3)
    assert read_hosts(written(tmp_path, "a.org\nb.org\na.org\n"), "-a hosts").number == 2
    with pytest.raises(SettingError, match="more than 3 hosts; split the file"):
        read_hosts(written(tmp_path, "a.org\nb.org\nc.org\nd.org\n"), "-a hosts")


def test_the_first_column_of_a_table_is_the_host(tmp_path: Path) -> None:
    table = written(tmp_path, "\ufeffa.org\t12\tde\nhttp://b.org/12\tx\n\tc.org\n")
    hosts = read_hosts(table, "-a hosts")
    assert list(hosts.urls()) == ["http://a.org/", "http://b.org/", "http://c.org/"]


def test_the_same_hosts_have_the_same_digest_in_any_file(tmp_path: Path) -> None:
    first = read_hosts(written(tmp_path, "a.org\nb.org\n"), "-a hosts")
    again = read_hosts(written(tmp_path, "# x\nhttp://a.org/x\nb.org\na.org"), "-a hosts")
    other = read_hosts(written(tmp_path, "b.org\na.org\n"), "-a hosts")
    assert first.digest == again.digest != other.digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no host in it"),
        ("x y z\n", r"no host in it \(line 1: 'x y z' is none\)"),
        ("1\ta.org\n", r"no host in it \(line 1: '1' is none\)"),
        ("1,a.org\n", r"no host in it \(line 1: '1,a.org' is none\)"),
    ],
)
def test_a_list_without_hosts_is_refused_at_once(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        read_hosts(written(tmp_path, text), "-a hosts")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hosts": "none.txt"}, "none.txt: cannot be read"),
        ({"hosts": "HOSTS", "lang": "de"}, "-a lang: not with -a hosts, which takes identify, "),
        ({"hosts": "HOSTS", "web": "archive"}, "go together"),
        ({"hosts": "HOSTS", "identify": "x"}, "-a identify=x: no such identify"),
    ],
)
def test_wrong_arguments_of_a_census_are_one_line(
    tmp_path: Path, arguments: dict[str, str], message: str
) -> None:
    path = written(tmp_path, "a.org")
    with pytest.raises(SettingError, match=message) as refused:
        Config.read({name: value.replace("HOSTS", str(path)) for name, value in arguments.items()})
    assert "\n" not in str(refused.value)


def test_a_census_has_one_seed_of_a_host_whose_redirects_it_follows_and_no_caps_of_domains(
    tmp_path: Path,
) -> None:
    options = Config.read({"hosts": str(written(tmp_path, LINES))})
    assert options.hosts.number == len(URLS)
    assert [list(batch) for batch in options.seed_batches()] == [URLS]
    assert (options.host_cap, options.domain_slots, options.address_slots) == (10, 0, 0)
    (note,) = gaps(options, make_ordering("bfs", "de"), method())
    assert note.endswith("1 lines name no host and are skipped, the first: line 7: 'no host'")
