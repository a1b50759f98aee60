"""The systemd units of the guide: `langfocus crawl` takes their commands."""

import shlex

import pytest

from langfocus.crawler.commands.base import pairs, parser_of, settings_of
from langfocus.crawler.spiders.scrapy_settings import config_of
from tests.support.crawls import ROOT

GIVEN = {
    "${CONTACT}": "you@example.org",
    "${PAGES}": "1000000",
    "${TARGET}": "de",
    "${FRONTIER}": "redis://localhost:6379/0",
}
UNITS = {"langfocus@": ("de", None), "langfocus-worker@": ("1", GIVEN["${FRONTIER}"])}


@pytest.mark.parametrize("name", UNITS)
def test_the_command_of_a_unit_is_understood(name: str) -> None:
    instance, frontier = UNITS[name]
    text = (ROOT / f"docs/systemd/{name}.service").read_text(encoding="utf-8")
    for variable, value in {**GIVEN, "%i": instance}.items():
        text = text.replace(variable, value)
    unit = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    program, command, *words = shlex.split(unit["ExecStart"])
    assert (program, command) == ("/opt/langfocus/bin/langfocus", "crawl")
    opts = parser_of("crawl").parse_args(words)
    config = config_of(pairs(opts.spargs), settings_of(opts))
    assert (config.lang, config.contact, config.is_quiet) == ("de", "you@example.org", True)
    assert config.frontier == frontier
    assert words[-1].startswith("JOBDIR=/var/lib/langfocus/")
    assert words[-1].endswith(instance)
    assert (unit["SuccessExitStatus"], unit["RestartPreventExitStatus"]) == ("130", "2")


def test_the_guide_names_what_the_units_read() -> None:
    page = (ROOT / "docs/long-crawls.md").read_text(encoding="utf-8")
    assert all(f"    {variable[2:-1]}=" in page for variable in GIVEN)
