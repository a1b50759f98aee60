"""Pages that name a stranger's servers without end: what these servers get, by their own log."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchmarks.servers.loopback import Proxy, loopback
from langfocus.crawler.sources.contract import NO_HEADERS, Answer
from langfocus.crawler.url import domain_of, host_of
from tests.crawler.politeness.test_crawl_polite import linking, outcomes, polite
from tests.support.nameserver import name_server

VICTIM = "victim.de"
SEED = "http://attacker.com/"


@dataclass
class Attack:
    """A page that links to a victim, whose servers give one answer; other URLs have `answers`."""

    victim: Answer
    links: list[str]
    answers: dict[str, Answer] = field(default_factory=dict)

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        if domain_of(host_of(url)) == VICTIM:
            return self.victim
        if url == SEED:
            return linking(*self.links)
        return self.answers.get(url, Answer(404))


def names(number: int, path: str = "") -> list[str]:
    return [f"http://w{n}.{VICTIM}/{path}" for n in range(number)]


def requests(server: Proxy) -> list[float]:
    """The times of the requests that the victim got."""
    return [one.time for one in server.log if domain_of(host_of(one.url)) == VICTIM]


def are_at_most_20_a_second(times: list[float]) -> bool:
    """Return True if no more came in all; a busy machine may write some of them down together."""
    return times[-1] - times[0] >= 0.05 * (len(times) - 1) - 0.5


def attacked(folder: Path, attack: Attack, *arguments: str, **settings: Any) -> list[float]:
    """Crawl behind a proxy, and return the times of the requests that the victim got."""
    chosen = {"DOWNLOAD_DELAY": 0.05, "LANGFOCUS_RETRY_DELAY": 0.1, **settings}
    with loopback(attack) as server:
        done = polite(folder, SEED, proxy=server.url, arguments=arguments, **chosen)
    assert done.returncode == 0, done.stderr
    assert Counter(outcomes(folder))  # each URL was settled
    return requests(server)


@pytest.mark.parametrize("status", [503, 429])
def test_a_domain_that_answers_with_errors_alone_is_left_alone(status: int, tmp_path: Path) -> None:
    times = attacked(tmp_path, Attack(Answer(status), names(150)))
    assert 0 < len(times) <= 40  # three for each name before
    outcomes_found = Counter(outcomes(tmp_path).values())
    assert outcomes_found["backed_off"] > 100
    assert outcomes_found.total() == 151


def test_retry_after_of_a_domain_is_obeyed_by_all_of_its_hosts(tmp_path: Path) -> None:
    victim = Answer(429, (("Retry-After", "3600"),))
    times = attacked(tmp_path, Attack(victim, names(100)), "hours=0.002")
    assert 0 < len(times) <= 20


def test_behind_a_proxy_a_domain_is_asked_at_most_20_times_a_second(tmp_path: Path) -> None:
    forbidden = Answer(200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /\n")
    times = attacked(tmp_path, Attack(forbidden, names(60)))
    assert len(times) == 60
    assert are_at_most_20_a_second(times)


def test_directly_an_address_is_asked_at_most_20_times_a_second_under_all_of_its_names(
    tmp_path: Path,
) -> None:
    hosts = [f"h{n}.d{n}.de" for n in range(40)]
    with (
        loopback(Attack(Answer(404), [])) as server,
        name_server(dict.fromkeys(hosts, "127.0.0.1")) as dns,
    ):
        done = polite(
            tmp_path,
            *(f"http://{host}:{server.port}/" for host in hosts),
            LANGFOCUS_DNS=dns.address,
            LANGFOCUS_PRIVATE_ADDRESSES=True,
            DOWNLOAD_DELAY=0.06,
        )
    assert "status 404: 40 URLs" in done.stderr
    assert len(server.log) == 3 * len(hosts)
    assert are_at_most_20_a_second([one.time for one in server.log])


def test_a_domain_whose_names_do_not_exist_is_asked_little(tmp_path: Path) -> None:
    known = {"attacker.com": "127.0.0.1"}
    attack = Attack(Answer(404), [])
    with loopback(attack) as server, name_server(known) as dns:
        url = f"http://attacker.com:{server.port}/"
        attack.answers[url] = linking(*names(40))
        done = polite(
            tmp_path,
            url,
            LANGFOCUS_DNS=dns.address,
            LANGFOCUS_PRIVATE_ADDRESSES=True,
            RETRY_TIMES=2,
        )
    assert done.returncode == 0, done.stderr
    asked = [name for name in dns.log if name.endswith(VICTIM)]
    assert Counter(outcomes(tmp_path).values()) == {"page": 1, "dns": 40}
    assert max(Counter(asked).values()) <= 2  # one for IPv4, one for IPv6
    assert len(asked) <= 80


FORBIDDEN = Answer(200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /\n")
OTHER_NAMES = {
    "names": names(120),
    "ports": [f"http://w{n % 12}.{VICTIM}:{8080 + n // 12}/" for n in range(120)],
    "letters": [f"http://W{n}.viCTim.DE./" for n in range(120)],
    "one host": [f"http://{VICTIM}/{n}" for n in range(120)],
    "schemes": [f"http{'s' * (n % 2)}://w{n // 2}.{VICTIM}/" for n in range(120)],
}


@pytest.mark.parametrize("links", OTHER_NAMES.values(), ids=OTHER_NAMES)
@pytest.mark.parametrize("victim", [FORBIDDEN, Answer(404)], ids=["forbids all", "has nothing"])
def test_all_requests_to_a_domain_count_whatever_it_answers(
    victim: Answer, links: list[str], tmp_path: Path
) -> None:
    settings = {"DOWNLOAD_DELAY": 0, "RETRY_TIMES": 0}
    times = attacked(tmp_path, Attack(victim, links), "domain_cap=15", "host_cap=5", **settings)
    assert 0 < len(times) <= 15


def test_redirects_of_robots_txt_and_of_pages_to_a_third_party_count_for_it(tmp_path: Path) -> None:
    hosts = [f"http://a{n}.com/" for n in range(40)]
    answers = {
        f"{host}robots.txt": Answer(301, (("Location", f"http://w{n}.{VICTIM}/robots.txt"),))
        for n, host in enumerate(hosts[:20])
    }
    answers |= {
        host: Answer(302, (("Location", f"http://v{n}.{VICTIM}/"),))
        for n, host in enumerate(hosts[20:])
    }
    settings = {"DOWNLOAD_DELAY": 0}
    attack = Attack(FORBIDDEN, hosts, answers)
    times = attacked(tmp_path, attack, "domain_cap=15", **settings)
    assert 0 < len(times) <= 15
    assert Counter(outcomes(tmp_path).values())["domain_full"] > 0


def test_names_that_do_not_exist_take_slots_of_their_domain(tmp_path: Path) -> None:
    attack = Attack(Answer(404), [])
    with loopback(attack) as server, name_server({"attacker.com": "127.0.0.1"}) as dns:
        url = f"http://attacker.com:{server.port}/"
        attack.answers[url] = linking(*names(40))
        own: dict[str, Any] = {"LANGFOCUS_DNS": dns.address, "LANGFOCUS_PRIVATE_ADDRESSES": True}
        polite(tmp_path, url, arguments=["domain_cap=5"], **own)
    asked = {name for name in dns.log if name.endswith(VICTIM)}
    assert 5 <= len(asked) <= 10  # a few are looked up at once
    assert Counter(outcomes(tmp_path).values())["domain_full"] >= 30


def test_all_blogs_of_a_platform_that_answers_with_errors_alone_are_left_alone(
    tmp_path: Path,
) -> None:
    blogs = [f"http://w{n}.github.io/" for n in range(150)]
    answers = {f"{blog}robots.txt": Answer(503) for blog in blogs}
    chosen: dict[str, Any] = {"DOWNLOAD_DELAY": 0.05, "LANGFOCUS_RETRY_DELAY": 0.1}
    with loopback(Attack(Answer(503), blogs, answers)) as server:
        done = polite(tmp_path, SEED, proxy=server.url, **chosen)
    assert done.returncode == 0, done.stderr
    assert 0 < sum(host_of(one.url).endswith("github.io") for one in server.log) <= 40
    assert Counter(outcomes(tmp_path).values())["backed_off"] > 100
