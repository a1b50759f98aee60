"""Arguments and settings: one declaration decides parser, check, message and manual."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from langfocus.crawler.errors import SettingError
from langfocus.crawler.options.config import ARGUMENTS, SETTINGS, Config
from langfocus.crawler.options.knob import Knob

GIVEN = {"lang": "de", "web": "sample"}


KNOBS = [*ARGUMENTS.values(), *SETTINGS.values()]


def read(knob: Knob, value: str) -> Config:
    if knob.setting:
        return Config.read(GIVEN, {knob.setting: value})
    return Config.read({**GIVEN, knob.name: value})


def out_of_bounds(knob: Knob) -> str | None:
    """A value that the declaration forbids, None where any text is allowed."""
    if knob.least is not None:
        return str(knob.least - 1)
    return "xx" if knob.choices or knob.read or knob.kind is bool else None


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.label)
def test_every_knob_has_help_and_a_default_that_it_accepts(knob: Knob) -> None:
    assert knob.help
    assert knob.manual.startswith(knob.help)
    if knob.default not in (None, (), ""):
        assert knob.value(str(knob.default)) == knob.default


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.label)
def test_every_knob_refuses_a_value_out_of_bounds_in_one_line(knob: Knob) -> None:
    value = out_of_bounds(knob)
    if value is None:
        assert knob.kind in (str, Path)
        return
    with pytest.raises(SettingError, match=f"^{knob.label}={value}: .+") as refused:
        read(knob, value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "-a lang is missing"),
        ({"lang": ""}, "-a lang is missing"),
        ({"lang": "xx"}, "-a lang=xx: no such language"),
        ({"lang": "de", "strategy": "best"}, "-a strategy=best: no such strategy"),
        ({"lang": "de", "tolerance": "-1"}, "-a tolerance=-1: a whole number of at least 0"),
        ({"lang": "de", "pages": "ten"}, "-a pages=ten: a whole number of at least 1"),
        ({"lang": "de", "page": "10"}, "-a page: no such argument; did you mean pages?"),
        ({"lang": "de", "weather": "1"}, "-a weather: no such argument; there are lang, strategy"),
        ({"lang": "de", "seeds": "no-such-file.txt"}, "-a seeds=no-such-file.txt: cannot be read"),
        ({"lang": "de", "seeds": "no-such/file"}, "-a seeds=no-such/file: cannot be read"),
        ({"lang": "de", "seeds": "x\x00.txt"}, "cannot be read"),
        ({"lang": "de", "seeds": "ftp://a.de/"}, "-a seeds=ftp://a.de/: cannot be read"),
        ({"lang": "de", "seeds": "http://a.de/,ftp://b.de/"}, "URL 2 is not an http(s) URL"),
        ({"lang": "de", "host_cap": "9" * 20}, "-a host_cap=99999999999999999999: 1,000,000,"),
        ({"lang": "de", "pages": str(10**23)}, "1,000,000,000,000 is the most"),
        ({"lang": "de", "seeds": "crawler"}, "-a seeds=crawler: cannot be read"),
        ({"lang": "de", "seeds": "pyproject.toml"}, "line 1 is not an http(s) URL"),
        ({"lang": "de", "seeds": "http://a.de:25/"}, "URL 1 has a port that no browser opens"),
        ({"lang": "de", "seeds": "a.de:6000"}, "URL 1 has a port that no browser opens"),
        ({"lang": "de", "web": "archive"}, "go together"),
        ({"lang": "de", "archive": "x.warc.gz"}, "go together"),
        ({"lang": "de", "web": "archive", "archive": "x.warc.gz"}, "-a seeds is missing"),
    ],
)
def test_a_bad_argument_is_refused_in_one_line(arguments: Mapping[str, str], expected: str) -> None:
    with pytest.raises(SettingError) as refused:
        Config.read(arguments)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("example.org", ["http://example.org/"]),
        (
            "www.example.co.uk/a?b=c,https://b.de/",
            ["http://www.example.co.uk/a?b=c", "https://b.de/"],
        ),
        ("HTTPS://A.de", ["https://a.de/"]),
        ("//a.de/x", ["http://a.de/x"]),
        ("a.de:8080/x", ["http://a.de:8080/x"]),
        (" a.de , , a.de ", ["http://a.de/"]),
        ("bücher.de", ["http://xn--bcher-kva.de/"]),
    ],
)
def test_a_seed_without_a_scheme_is_one_of_http(value: str, urls: list[str]) -> None:
    assert Config.read({**GIVEN, "seeds": value}).seeds == tuple(urls)


LINES = (
    "# Ä comment\nhttp://a.de/\u2028x\r\n\n  b.de\r//c.de/\n192.0.2.1/x\n[::1]:80/\nlocalhost:81\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_file_of_seeds_may_begin_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "example.org"  # a file goes before a host of that name
    path.write_bytes(LINES.encode(encoding))
    assert Config.read({**GIVEN, "seeds": str(path)}).seeds == (
        "http://a.de/%E2%80%A8x",
        "http://b.de/",
        "http://c.de/",
        "http://192.0.2.1/x",
        "http://[::1]/",
        "http://localhost:81/",
    )


@pytest.mark.parametrize(
    "line",
    ["mailto:a@b.de", "ftp://a.de/", "word", "two words.de", "javascript:a.b", "/a.de/x", "a@b.de"],
)
def test_a_line_that_is_no_url_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text(f"# one\nhttp://a.de/\n\n{line}\n")
    with pytest.raises(SettingError) as refused:
        Config.read({**GIVEN, "seeds": str(path)})
    assert str(refused.value) == f"{path}: line 4 is not an http(s) URL: {line}"


def test_a_number_of_0_is_not_an_unset_number() -> None:
    assert Config.read({**GIVEN, "host_cap": "0", "tolerance": "0"}) == Config(
        "de", web="sample", host_cap=0, tolerance=0
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("500000", 500_000),
        ("20G", 20 * 10**9),
        ("1.5 MB", 1_500_000),
        ("2kb", 2000),
        ("3GiB", 3 * 2**30),
        ("1T", 10**12),
    ],
)
def test_a_size_has_a_unit_or_is_in_bytes(text: str, size: int) -> None:
    assert Config.read({**GIVEN, "bytes": text}).bytes == size


@pytest.mark.parametrize("text", ["0", "0.2", "-1", "1e9", "5X", "G", "", "9" * 17, "9999999T"])
def test_a_size_that_is_none_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(SettingError) as refused:
        Config.read({**GIVEN, "bytes": text})
    assert str(refused.value) == (
        f"-a bytes={text}: a number of bytes is needed, such as 500M or 20G"
    )


def test_the_manual_tells_choices_and_defaults() -> None:
    values = {name: one.manual for name, one in (ARGUMENTS | SETTINGS).items()}
    assert values["tolerance"].endswith("(default: 5)")
    assert values["LANGFOCUS_RANDOM_STATE"].endswith("(default: 0)")
    assert values["web"].endswith(": live, sample, archive, or a plug-in (default: live)")
    assert "default" not in values["archive"] + values["LANGFOCUS_QUIET"]


def test_a_host_queue_shorter_than_the_cap_is_refused_in_one_line() -> None:
    with pytest.raises(SettingError, match=r"^-a host_queue=9: less than host_cap, which is 10$"):
        Config.read({**GIVEN, "host_queue": "9"})


@pytest.mark.parametrize(
    ("given", "slots"),
    [
        ({}, (200, 1000, 2000)),
        ({"host_cap": "500"}, (500, 50_000, 100_000)),
        ({"host_cap": "0"}, (0, 0, 0)),
        ({"host_cap": "0", "host_queue": "7", "domain_cap": "7"}, (7, 7, 0)),
        ({"host_queue": "10", "domain_cap": "0", "address_cap": "9"}, (10, 0, 9)),
        ({"host_queue": "0", "host_cap": "3"}, (0, 300, 600)),
    ],
)
def test_queues_and_the_caps_of_domains_and_addresses_follow_from_that_of_hosts(
    given: dict[str, str], slots: tuple[int, int, int]
) -> None:
    options = Config.read({**GIVEN, **given})
    assert (options.queue_slots, options.domain_slots, options.address_slots) == slots


@pytest.mark.parametrize(
    ("failures", "hold_s", "rest_s"),
    [
        (1, 0.0, 10.0),
        (2, 0.0, 20.0),
        (3, 0.0, 30.0),
        (1, 15.0, 15.0),
        (2, 15.0, 20.0),
        (1, 3600.0, 3600.0),
        (1, 90_000.0, 3600.0),
    ],
)
def test_a_host_rests_longer_after_each_failure_and_as_long_as_it_asks_up_to_an_hour(
    failures: int, hold_s: float, rest_s: float
) -> None:
    assert Config("de", retry_delay_s=10.0).rest_s(failures, hold_s) == rest_s
