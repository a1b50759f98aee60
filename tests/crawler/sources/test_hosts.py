"""The list of hosts of a census, and the ranges that machines take of it."""

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.pages.methods import method
from crawler.config import Config
from crawler.errors import SettingError
from crawler.preparation import gaps
from crawler.sources.hosts import ALL_HOSTS, HostRange, read_hosts, read_range
from crawler.strategies import make_ordering

LINES = """\
# the hosts
example.org
www.example.org
192.0.2.0/30
https://Example.NET/path?query
7,example.com
::1
no host
"""
URLS = [
    "http://example.org/",
    "http://192.0.2.1/",
    "http://192.0.2.2/",
    "https://example.net/",
    "http://example.com/",
    "http://[::1]/",
]


def written(folder: Path, text: str, *, is_packed: bool = False) -> Path:
    path = folder / "hosts.txt"
    path.write_bytes(gzip.compress(text.encode()) if is_packed else text.encode())
    return path


@pytest.mark.parametrize("is_packed", [False, True])
def test_names_addresses_networks_urls_and_ranked_names_are_hosts(
    tmp_path: Path, is_packed: bool
) -> None:
    found = read_hosts(written(tmp_path, LINES, is_packed=is_packed), "-a hosts")
    assert list(found.urls(ALL_HOSTS)) == URLS
    assert found.number == len(URLS)
    assert (found.skipped, found.first_skipped) == (1, "line 8: 'no host'")


@settings(max_examples=30)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=20), st.integers(1, 20))
def test_the_ranges_of_a_list_are_the_list_whatever_is_repeated(
    numbers: list[int], cut: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), "\n".join(f"h{number}.org" for number in numbers))
        found = read_hosts(path, "-a hosts")
        whole = list(found.urls(ALL_HOSTS))
        assert whole == list(dict.fromkeys(f"http://h{number}.org/" for number in numbers))
        parts = [*found.urls(HostRange(1, cut)), *found.urls(HostRange(cut + 1))]
        assert parts == whole


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
        ("10.0.0.0/4\n", "has more than 20,000,000 addresses"),
        ("2001:db8::/32\n", "has more than 20,000,000 addresses"),
    ],
)
def test_a_list_without_hosts_or_with_too_many_is_refused_at_once(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        read_hosts(written(tmp_path, text), "-a hosts")


@pytest.mark.parametrize(
    ("text", "expected"), [("1-5", (1, 5)), ("6-", (6, None)), ("7", (7, 7)), (" 2-2 ", (2, 2))]
)
def test_a_range_is_read(text: str, expected: tuple[int, int | None]) -> None:
    assert read_range(text, "-a range") == HostRange(*expected)


@pytest.mark.parametrize("text", ["", "0-5", "5-1", "a", "-3", "1-2-3", "1,2"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="expected a range of positions"):
        read_range(text, "-a range")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lang": "de", "range": "1-2"}, "-a range: positions of -a hosts=FILE, which is missing"),
        ({"hosts": "none.txt"}, "none.txt: cannot be read"),
        ({"hosts": "HOSTS", "lang": "de"}, "-a lang: not with -a hosts, which takes hosts, range"),
        ({"hosts": "HOSTS", "range": "9-"}, "-a range=9-: .* has 1 hosts"),
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
    options = Config.read({"hosts": str(written(tmp_path, LINES)), "range": "2-3"})
    assert [list(batch) for batch in options.seed_batches()] == [URLS[1:3]]
    assert (options.host_cap, options.domain_slots, options.address_slots) == (10, 0, 0)
    assert options.listed["range"] == "2-3"
    (note,) = gaps(options, make_ordering("bfs", "de"), method())
    assert note.endswith("1 lines name no host and are skipped, the first: line 8: 'no host'")
