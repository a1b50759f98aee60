"""The arguments of a census, checked before anything begins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

from crawler.census.hosts import ALL_HOSTS, HostList, HostRange, read_hosts, read_range
from crawler.declaration import Declared, declarations
from crawler.errors import SettingError
from crawler.options import OPTIONS, CrawlOptions

_MOST_STEPS: Final = 10
"""URLs of a host that are fetched: its portal page after redirects within the host."""

_BATCH: Final = 5_000
"""Hosts that are queued in one transaction."""


@dataclass(frozen=True, slots=True)
class CensusArguments:
    """The spider arguments of a census, each declared once."""

    hosts: Annotated[
        Path | None,
        Declared(
            "file of hosts, one a line: names, IP addresses, networks (192.0.2.0/28) or URLs, also "
            "gzipped; required"
        ),
    ] = None
    range: Annotated[
        HostRange,
        Declared(
            "positions of the hosts of this machine, such as 1-500 or 501-",
            default_help="all hosts",
            read=read_range,
        ),
    ] = ALL_HOSTS


CENSUS_OPTIONS = declarations(CensusArguments) | {
    name: OPTIONS[name] for name in ("identify", "block", "web", "archive")
}
"""The declaration of each spider argument of a census."""

CENSUS_ARGUMENTS = {name: option.manual for name, option in CENSUS_OPTIONS.items()}
"""The help of each spider argument of a census."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusOptions(CrawlOptions):
    """The options of a census: a crawl of one page for each host that follows no links."""

    list: HostList
    range: HostRange

    @property
    def is_census(self) -> bool:
        """True: the portal pages of listed hosts are fetched, and no links are followed."""
        return True

    @property
    def listed(self) -> dict[str, str]:
        """The values of `meta` that tell which hosts the census has."""
        return {
            "hosts": self.list.digest,
            "range": str(self.range),
            "hosts_number": str(self.list.number),
            "hosts_file": self.list.path.name,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about the lines of the list that name no host."""
        if not self.list.skipped:
            return ()
        lines = f"{self.list.skipped:,} lines name no host and are skipped"
        return (f"{self.list.path}: {lines}, the first: {self.list.first_skipped}",)

    def seed_batches(self) -> Iterator[Sequence[str]]:
        """Yield the portal URLs of the range, so that few of them are in memory at a time."""
        urls = self.list.urls(self.range)
        while batch := tuple(islice(urls, _BATCH)):
            yield batch


def read_census(arguments: Mapping[str, str]) -> CensusOptions:
    """Return the options that the arguments of a census describe; raises `SettingError`."""
    for name in arguments:
        if name not in CENSUS_OPTIONS:
            raise SettingError(
                f"-a {name}: no such argument; there are {', '.join(CENSUS_OPTIONS)}"
            )
    values = {
        name: CENSUS_OPTIONS[name].parse(value, f"-a {name}") for name, value in arguments.items()
    }
    path = values.pop("hosts", None)
    if path is None:
        raise SettingError("-a hosts is missing: give a file with a host a line (-a hosts=FILE)")
    if (values.get("web", OPTIONS["web"].default) == "archive") != ("archive" in values):
        raise SettingError("-a web=archive and -a archive=FILE.warc.gz go together")
    hosts = read_hosts(path, "-a hosts")
    chosen = values.pop("range", ALL_HOSTS)
    if chosen.first > hosts.number:
        raise SettingError(f"-a range={chosen}: {path} has {hosts.number:,} hosts")
    return CensusOptions(
        lang="",
        strategy="bfs",
        filter="none",
        host_cap=_MOST_STEPS,
        domain_cap=0,
        address_cap=0,
        list=hosts,
        range=HostRange(chosen.first, min(chosen.last or hosts.number, hosts.number)),
        **values,
    )
