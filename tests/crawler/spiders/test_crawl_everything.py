"""Every spider argument and setting of the project, each once, in a crawl with `focus`.

A new argument or setting without a row here fails. Several share a crawl where they do not disturb
each other. A row has the value that is given, and the effect that can be seen after the crawl.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from benchmarks.servers.loopback import Access, free_port
from benchmarks.servers.processes import Done
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.weights import quantised
from langfocus.crawler.options.config import ARGUMENTS, SETTINGS
from langfocus.crawler.politeness.identity import write_key
from langfocus.crawler.run.folder import PAYLOADS
from langfocus.crawler.sources.contract import Answer
from langfocus.crawler.sources.sample import SampleWeb
from tests.crawler.outputs.test_warc import records
from tests.crawler.politeness.test_crawl_polite import HTML, served
from tests.support.crawls import finished, rows, summary
from tests.support.evidence import evidence_of_scores
from tests.support.fakebrowser import fake_browser
from tests.support.fasttextmodel import write_model
from tests.support.geodatabase import database
from tests.support.nameserver import name_server
from tests.support.redisserver import RedisServer

GERMAN = "<p>" + "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 4
NOGAI = "ногай тили казак сёз бар уьшин"  # noqa: RUF001
SAMPLE_HOSTS = 300


@dataclass
class Ended:
    """An ended crawl with its requests, from the logs of the servers."""

    done: Done
    folder: Path
    log: list[Access] = field(default_factory=list)

    @property
    def meta(self) -> dict[str, str]:
        return dict(rows(self.folder, "SELECT key, value FROM meta"))

    @property
    def figures(self) -> dict[str, Any]:
        return summary(self.folder)

    def count(self, query: str) -> int:
        return int(rows(self.folder, f"SELECT count(*) FROM {query}")[0][0])

    def asked(self, path: str) -> list[Access]:
        return [access for access in self.log if access.url.endswith(path)]


Check = Callable[[Ended], object]
Table = Mapping[str, tuple[str, Check]]


def recorded(key: str, value: str) -> Check:
    return lambda ended: ended.meta[key] == value


def most(column: str, number: int) -> Check:
    """No value of an expression over the pages is there more than `number` times."""
    query = f"SELECT count(*) FROM pages WHERE outcome = 'page' GROUP BY {column}"
    return lambda ended: max(count for (count,) in rows(ended.folder, query)) <= number


def ends(ended: Ended) -> bool:
    """True for any crawl: these have no effect that is seen after it."""
    return bool(ended.figures["finish_reason"])


def recovered_quickly(ended: Ended) -> bool:
    """True if two retries came sooner than with the default, which rests 10 s and then 20."""
    times = [access.time for access in ended.asked("/broken")]
    return len(times) == 3 and times[-1] - times[0] < 29.0


def kept_budget_of_hosts(ended: Ended) -> bool:
    """True if URLs of a host were dropped, and only its last answer went beyond 4,000 bytes."""
    beyond = "(SELECT 1 FROM pages GROUP BY host HAVING sum(bytes) - max(bytes) >= 4000)"
    return ended.count(beyond) == 0 and ended.figures["counts"]["dropped_host_bytes"] > 0


def rested_briefly(ended: Ended) -> bool:
    """True if no host rested for the 300 s that its robots.txt asks for."""
    return bool(ended.figures["seconds"] < 290.0)


SAMPLE: Table = {
    "lang": ("German", recorded("lang", "de")),
    "strategy": ("focus", recorded("ordering", "focus")),
    "filter": ("server", recorded("filter", "server")),
    "tolerance": ("3", recorded("tolerance", "3")),
    "host_cap": ("5", most("host", 5)),
    "domain_cap": ("9", recorded("domain_cap", "9")),
    "host_queue": ("7", recorded("host_queue", "7")),
    "directory_depth": ("2", recorded("directory_depth", "2")),
    "identify": ("cai", recorded("identify", "cai")),
    "pages": ("40", lambda ended: ended.figures["pages"] == 40),
    "hours": ("1", recorded("goal_hours", "1.0")),
    "versions": ("all", recorded("versions", "all")),
    "least_yield": ("0.25", recorded("goal_least_yield", "0.25")),
    "web": ("sample", recorded("web", "sample")),
    "LANGFOCUS_DASHBOARD": ("{port}", ends),
    "LANGFOCUS_QUIET": ("True", lambda ended: "Outcomes" not in ended.done.stdout),
    "LANGFOCUS_WARC": ("True", lambda ended: (ended.folder / "index.cdxj").exists()),
    "LANGFOCUS_LINKS": ("True", lambda ended: ended.count("links") > 20),
    "LANGFOCUS_HOST_BYTES": ("4k", kept_budget_of_hosts),
    "LANGFOCUS_READERS": ("0", ends),
    "LANGFOCUS_SAMPLE_HOSTS": (
        str(SAMPLE_HOSTS),
        lambda ended: tuple(json.loads(ended.meta["seeds"])) == sample_seeds(),
    ),
}


def signed(ended: Ended) -> bool:
    sent = [block for kind, _, block in records(ended.folder, with_heads=True) if kind == "request"]
    return len(sent) > 5 and all(b"\nSignature: sig1=:" in block for block in sent)


PNG = (("Content-Type", "image/png"),)
SHELL = b"<html lang=de><script src=/app.js></script><div id=root></div>"


def has_files(ended: Ended) -> bool:
    """True if each bound left out a file."""
    files = {"too_large": 2, "fetched": 2, "embeds_full": 1}
    return (files, 1) == (ended.figures["embeds"], ended.figures["counts"]["embeds_full"])


LIVE: Table = {
    "lang": ("de", recorded("lang", "de")),
    "seeds": ("http://a.de:{port}/", lambda ended: ended.log[0].url.startswith("http://a.de:")),
    "host_cap": ("0", recorded("host_cap", "0")),
    "address_cap": ("12", lambda ended: ended.figures["counts"]["lowered"] > 0),
    "block": ("{tmp}/block.txt", lambda ended: not ended.asked("/blocked")),
    "embeds": ("true", has_files),
    "LANGFOCUS_EMBEDS_PER_PAGE": ("5", has_files),
    "LANGFOCUS_EMBED_BYTES": ("900", has_files),
    "LANGFOCUS_EMBED_BYTES_PER_PAGE": ("1500", has_files),
    "LANGFOCUS_EMBEDS_PER_DOMAIN": ("9", has_files),
    "LANGFOCUS_EMBED_BYTES_PER_DOMAIN": ("9000", has_files),
    "LANGFOCUS_RENDER": ("{browser}", lambda ended: ended.asked("/app.js")),
    "LANGFOCUS_RENDER_TABS": ("1", ends),
    "LANGFOCUS_RENDER_TIMEOUT": ("9", ends),
    "scope": (
        "{tmp}/scope.txt",
        lambda ended: ended.figures["in_scope"] and not ended.asked("/refused"),
    ),
    "LANGFOCUS_CONTACT": (
        "https://example.net/bot",
        lambda e: "https://example.net/bot" in e.log[0].user_agent,
    ),
    "LANGFOCUS_DEDUP": ("{tmp}/index.cdxj", lambda ended: (ended.folder / PAYLOADS).exists()),
    "LANGFOCUS_KEY": ("{tmp}/bot.pem", signed),
    "LANGFOCUS_DNS": ("{dns}", lambda ended: ended.figures["pages"] > 5),
    "LANGFOCUS_PRIVATE_ADDRESSES": (
        "True",
        lambda e: "private_address" not in e.figures["outcomes"],
    ),
    "LANGFOCUS_PER_ADDRESS": ("0", lambda ended: ended.figures["hosts"] > 5),
    "LANGFOCUS_DIRECTIVES_OBEY": ("False", lambda ended: ended.asked("/nofollow")),
    "LANGFOCUS_MAX_CRAWL_DELAY": ("0.01", rested_briefly),
    "LANGFOCUS_RETRY_DELAY": ("0.01", recovered_quickly),
    "LANGFOCUS_SITEMAPS": ("True", lambda ended: ended.asked("/map.xml")),
    "LANGFOCUS_GEOIP": (
        "{tmp}/geo.mmdb",
        lambda ended: rows(ended.folder, "SELECT DISTINCT country FROM pages") == [("SE",)],
    ),
    "LANGFOCUS_URL_MODEL": (
        "{tmp}/model.npz",
        lambda ended: "the URL model does not know German" in ended.figures["gaps"][0],
    ),
}
REPLAY: Table = {
    "lang": ("de", recorded("lang", "de")),
    "web": ("archive", lambda ended: "/first" in ended.figures["web"]),
    "archive": ("{first}", lambda ended: ended.figures["outcomes"]["page"] > 5),
    "seeds": ("{seeds}", lambda ended: len(json.loads(ended.meta["seeds"])) == 3),
    "since": ("{first}", lambda ended: ended.figures["changes"]),
    "relevant": ("6", lambda ended: ended.figures["relevant"] == 6),
    "words": ("900000", recorded("goal_words", "900000")),
    "bytes": ("20G", recorded("goal_bytes", "20000000000")),
    "expected": ("only", recorded("goal_expected", "only")),
    "documents": ("true", recorded("documents", "true")),
    "LANGFOCUS_DOCUMENT_BYTES": ("9000000", ends),
    "LANGFOCUS_READERS": ("1", ends),
    "LANGFOCUS_RANDOM_STATE": ("7", ends),
    "LANGFOCUS_PATIENCE": ("0", ends),
    "LANGFOCUS_FASTTEXT_MODEL": ("{tmp}/nogai.bin", ends),
}
CENSUS: Table = {
    "hosts": ("{tmp}/hosts.txt", lambda ended: ended.meta["hosts_number"] == "3"),
    "web": ("sample", recorded("web", "sample")),
}
SHARED: Table = {
    "lang": ("de", recorded("lang", "de")),
    "web": ("sample", recorded("web", "sample")),
    "pages": ("20", lambda ended: ended.figures["pages"] == 20),
    "LANGFOCUS_SAMPLE_HOSTS": ("300", ends),
    "LANGFOCUS_FRONTIER": ("{redis}", lambda ended: ended.meta["shared"]),
    "LANGFOCUS_CRAWL": ("everything", lambda ended: "everything" in ended.meta["shared"]),
    "LANGFOCUS_SHARDS": ("2", lambda ended: ended.figures["pages"] == 20),
    "LANGFOCUS_LEASE": ("5", ends),
}


def sample_seeds() -> tuple[str, ...]:
    return tuple(SampleWeb(hosts=SAMPLE_HOSTS).seeds("de"))


def write_url_model(path: Path, languages: tuple[str, ...]) -> None:
    """Write a model that says No of every URL."""
    codes, scales = quantised(np.zeros((len(languages), 1 << 12), np.float32))
    intercepts = np.full(len(languages), -1.0, np.float32)
    evidence = evidence_of_scores(languages)
    UrlModel(languages, codes, scales, intercepts, evidence).save(path)


def crawled(table: Table, folder: Mapping[str, Any], **places: object) -> Done:
    """Crawl with all rows of a table."""
    given = {name: value.format(**places) for name, (value, _) in table.items()}
    arguments = [f"{name}={value}" for name, value in given.items() if name in ARGUMENTS]
    settings: dict[str, Any] = {
        name: value for name, value in given.items() if name not in ARGUMENTS
    }
    return finished(*arguments, **{"DOWNLOAD_DELAY": 0, **settings, **folder})


def assert_effects(table: Table, ended: Ended) -> None:
    assert [name for name, (_, has_effect) in table.items() if not has_effect(ended)] == []


def test_what_a_crawl_of_webs_without_a_network_takes_has_its_effect(tmp_path: Path) -> None:
    pytest.importorskip("trafilatura")
    pytest.importorskip("fasttext")
    first = tmp_path / "first"
    done = crawled(SAMPLE, {"JOBDIR": first}, tmp=tmp_path, port=free_port())
    assert_effects(SAMPLE, Ended(done, first))
    write_model(tmp_path / "nogai.bin", {"nog_Cyrl": NOGAI, "zz_Zzzz": "zzz"})
    run, seeds = tmp_path / "replayed", ",".join(sample_seeds())
    done = crawled(REPLAY, {"JOBDIR": run}, tmp=tmp_path, first=first, seeds=seeds)
    assert_effects(REPLAY, Ended(done, run))


def test_what_a_census_takes_has_its_effect(tmp_path: Path) -> None:
    hosts = dict.fromkeys(urlsplit(url).netloc for url, _ in SampleWeb().truth())
    (tmp_path / "hosts.txt").write_text("\n".join(list(hosts)[:3]))
    done = crawled(CENSUS, {"JOBDIR": tmp_path / "run"}, tmp=tmp_path)
    assert_effects(CENSUS, Ended(done, tmp_path / "run"))


def test_what_a_crawl_of_servers_takes_has_its_effect(tmp_path: Path) -> None:
    hosts = [f"h{number}.de" for number in range(12)]
    names = dict.fromkeys(["a.de", *hosts], "127.0.0.1")
    (tmp_path / "block.txt").write_text("h1.de/blocked\n")
    (tmp_path / "scope.txt").write_text("-(de,h1,\n-country:IS\n+country:SE\n")
    write_key(tmp_path / "bot.pem")
    entry = {
        "url": "http://z.de/",
        "status": "200",
        "mime": "text/html",
        "digest": f"sha1:{'Q' * 32}",
    }
    (tmp_path / "index.cdxj").write_text(f"de,z)/ 20260101000000 {json.dumps(entry)}\n")
    (tmp_path / "geo.mmdb").write_bytes(database({"127.0.0.0/8": "SE"}))
    write_url_model(tmp_path / "model.npz", ("cs", "fr"))
    with served() as (web, server), name_server(names) as dns, fake_browser() as browser:
        roots = [f"http://{host}:{server.port}" for host in hosts]
        links = "".join(f"<a href={root}/>x</a>" for root in roots)
        links += f"<a href={roots[1]}/blocked>x</a><a href={roots[1]}/refused>x</a>"
        links += "<a rel=nofollow href=/nofollow>x</a><a href=/shell>x</a>"
        web.answers["/"] = Answer(200, HTML, GERMAN.encode())
        first = f"http://a.de:{server.port}/"
        rules = f"User-agent: *\nCrawl-delay: 300\nSitemap: {first}map.xml\n".encode()
        sizes = (901, 800, 701, 700, 9, 9)  # too large, fetched, too large for the page, ...
        for number, size in enumerate(sizes):
            links += f"<img src=/{number}.png>"
            web.answers[f"{first}{number}.png"] = Answer(200, PNG, bytes(size))
        web.answers[first] = Answer(200, HTML, f"{GERMAN}{links}<a href=/broken>x</a>".encode())
        web.answers[f"{first}robots.txt"] = Answer(200, (("Content-Type", "text/plain"),), rules)
        web.answers["/broken"] = Answer(500)
        web.answers[f"{first}shell"] = Answer(200, HTML, SHELL)
        places = {"tmp": tmp_path, "port": server.port, "dns": dns.address, "browser": browser.url}
        # One at a time: a URL that is sent before a relevant page has earned slots may get none.
        settings = {"JOBDIR": tmp_path / "run", "CONCURRENT_REQUESTS": 1}
        done = crawled(LIVE, settings, **places)
        ended = Ended(done, tmp_path / "run", server.log)
        assert_effects(LIVE, ended)
        assert dns.asked["a.de"] == 1


def test_what_a_shared_crawl_takes_has_its_effect(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    done = crawled(SHARED, {"JOBDIR": tmp_path}, redis=redis_server.url)
    assert_effects(SHARED, Ended(done, tmp_path))


def test_no_argument_and_no_setting_is_left_out() -> None:
    ours = {name for name in SETTINGS if name.startswith("LANGFOCUS_")}
    tried = {*SAMPLE, *LIVE, *REPLAY, *SHARED, *CENSUS}
    assert tried == {*ARGUMENTS, *ours}
