"""A crawl that cannot be done is refused in one line, with an exit code, and nothing is written."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from scrapy.settings import Settings

from benchmarks.servers import processes
from langfocus.crawler.commands.base import pairs, parser_of
from langfocus.crawler.commands.base import settings_of as command_settings
from langfocus.crawler.errors import CrawlError, SettingError
from langfocus.crawler.options.config import ARGUMENTS, SETTINGS, Config
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.spiders.scrapy_settings import config_of, proxy_remarks
from tests.support.crawls import ROOT, crawl, environment, finished, summary


def scrapy_settings(**given: object) -> Settings:
    """Scrapy's settings for the project, with what `-s` gives."""
    settings = Settings()
    settings.setmodule("langfocus.crawler.settings")
    settings.setdict({name: str(value) for name, value in given.items()}, "cmdline")
    return settings


def settings_of(**given: object) -> Config:
    """The configuration of a crawl on the sample web, with what `-s` gives."""
    return config_of({"lang": "de", "web": "sample"}, scrapy_settings(**given))


def refusal(folder: Path, arguments: dict[str, str], **given: object) -> str:
    """Return the error message for a crawl with these arguments in a folder."""
    with pytest.raises(CrawlError) as refused:
        open_crawl(config_of(arguments, scrapy_settings(JOBDIR=folder, **given)))
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ({"lang": "German", "web": "sample", "pages": "7"}, {}),
        (
            {"lang": "de", "seeds": "SEEDS", "strategy": "svm", "host_cap": "3", "hours": "0.5"},
            {
                "LANGFOCUS_CONTACT": "x@example.org",
                "RETRY_TIMES": "5",
                "DOWNLOAD_DELAY": 2,
            },
        ),
        (
            {"lang": "de", "seeds": "http://x.de/a,b 'c' \"d\".html, http://y.de/?q=1,2&r=`z`"},
            {"ROBOTSTXT_OBEY": False, "RETRY_HTTP_CODES": "500,503", "DOWNLOAD_TIMEOUT": 40},
        ),
        ({"hosts": "SEEDS"}, {"USER_AGENT": 'it\'s "b" $(c)/1', "LANGFOCUS_SITEMAPS": "1"}),
        ({"lang": "de", "seeds": "MANY"}, {"LANGFOCUS_FRONTIER": "redis://h:1/2"}),
        (
            {"lang": "de", "seeds": "MANY"},
            {"DOWNLOAD_HANDLERS": '{"http": "tests.support.handlers.Unpacking", "https": null}'},
        ),
    ],
)
def test_the_command_of_a_crawl_asks_for_the_same_crawl(
    arguments: dict[str, str], given: dict[str, object], tmp_path: Path
) -> None:
    paths = {"SEEDS": tmp_path / "my seeds.txt", "MANY": tmp_path / "many.txt"}
    paths["SEEDS"].write_text("http://x.de/\nhttp://y.de/\n")
    paths["MANY"].write_text("".join(f"http://h{number}.de/\n" for number in range(99)))
    arguments = {name: str(paths.get(value, value)) for name, value in arguments.items()}
    asked = config_of(arguments, scrapy_settings(JOBDIR=tmp_path, **given))
    paths["SEEDS"].write_text("http://x.de/\nhttp://y.de/\n" if "hosts" in arguments else "")
    program, name, *line = shlex.split(asked.command)
    options = parser_of(name).parse_intermixed_args(line)
    again = config_of(pairs(options.spargs), command_settings(options))
    assert (program, again.command) == ("langfocus", asked.command)
    assert (again.hosts and again.hosts.digest) == (asked.hosts and asked.hosts.digest)
    assert replace(again, hosts=None) == replace(asked, hosts=None, run_folder=None)


def test_the_command_of_a_crawl_tells_no_secret() -> None:
    secrets = {
        "LANGFOCUS_FRONTIER": "redis://me:hush@h:1/2?password=hush",
        "FEED_STORAGE_S3_ACL": "hush",
        "AWS_SECRET_ACCESS_KEY": "hush",
        "JOBDIR": "runs/hush",
    }
    command = settings_of(**secrets).command
    assert "hush" not in command
    assert "LANGFOCUS_FRONTIER=redis://h:1/2" in command


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("DOWNLOAD_DELAY=inf", "a number of at least 0 is needed"),
        ("RETRY_TIMES=nan", "a whole number of at least 0 is needed"),
        ("RETRY_TIMES=1000000000", "100 is the most"),
        ("LANGFOCUS_PATIENCE=", "a number of at least 0 is needed"),
        ("LANGFOCUS_LEASE=0.5", "a number of at least 1 is needed"),
        ("CONCURRENT_REQUESTS=many", "a number is needed"),
        ("CONCURRENT_REQUESTS=2.5", "a number is needed"),
        ("DOWNLOAD_TIMEOUT=long", "a number is needed"),
        ("DOWNLOAD_TIMEOUT=nan", "a number is needed"),
        ("ROBOTSTXT_OBEY=maybe", "True or False is needed"),
        ("RETRY_HTTP_CODES=500,all", "numbers with commas are needed"),
        ("LANGFOCUS_PATIENSE", "no such setting; did you mean LANGFOCUS_PATIENCE?"),
        ("LANGFOCUS_CONTAKT", "no such setting; did you mean LANGFOCUS_CONTACT?"),
        ("LANGFOCUS_WEATHER", "no such setting; langfocus crawl --help lists them"),
        ("LANGFOCUS_", "no such setting; langfocus crawl --help lists them"),
    ],
)
def test_a_bad_setting_is_refused_in_one_line(given: str, expected: str) -> None:
    name, _, value = given.partition("=")
    with pytest.raises(SettingError) as refused:
        settings_of(**{name: value})
    assert str(refused.value) == f"{given}: {expected}"


def test_settings_of_scrapy_that_are_right_are_accepted() -> None:
    settings_of(
        CONCURRENT_REQUESTS=3, DOWNLOAD_TIMEOUT=2.5, ROBOTSTXT_OBEY="False", RETRY_HTTP_CODES="500"
    )


@pytest.mark.parametrize(
    ("proxies", "expected"),
    [
        ({}, []),
        ({"http": "http://p:1", "https": "http://p:1"}, []),
        ({"http": "http://p:1"}, ["http_proxy is set and https_proxy is not"]),
        ({"https": "http://p:1"}, ["https_proxy is set and http_proxy is not"]),
        ({"all": "http://p:1"}, ["all_proxy has no effect"]),
    ],
)
def test_a_proxy_for_some_of_the_pages_is_named(
    proxies: dict[str, str], expected: list[str]
) -> None:
    assert [line.partition(":")[0] for line in proxy_remarks(proxies)] == expected


def test_a_setting_that_is_empty_is_not_set() -> None:
    assert settings_of(LANGFOCUS_FRONTIER="", LANGFOCUS_GEOIP="") == settings_of()
    assert settings_of().frontier is None


def test_a_crawl_of_nothing_that_can_be_read_is_refused_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    model = tmp_path / "model.npz"
    model.write_bytes(b"PK\x03\x04 not a model")
    folder = tmp_path / "run"
    archive = {"lang": "de", "web": "archive", "seeds": "http://a.de/"}
    for method in ("inlinks", "outlinks"):
        message = refusal(folder, {**archive, "web": "live", "identify": method})
        assert f"identify={method}: needs a graph" in message
    sample = {"lang": "de", "web": "sample"}
    assert "no pages in kl" in refusal(folder, {**sample, "lang": "kl"})
    assert "x.warc.gz" in refusal(folder, {**archive, "archive": "x.warc.gz"})
    assert "README.md" in refusal(folder, {**archive, "archive": str(ROOT / "README.md")})
    assert "model.npz" in refusal(folder, {**sample, "strategy": "svm"}, LANGFOCUS_URL_MODEL=model)
    assert "LANGFOCUS_GEOIP" in refusal(folder, sample, LANGFOCUS_GEOIP=tmp_path / "no.mmdb")
    shared = {"LANGFOCUS_FRONTIER": "redis://127.0.0.1:1/0", "LANGFOCUS_LINKS": True}
    assert "LANGFOCUS_LINKS: not for a shared crawl" in refusal(folder, sample, **shared)
    assert not folder.exists()


def test_the_manual_names_every_argument_and_setting() -> None:
    text = parser_of("crawl").format_help()
    for name in [*ARGUMENTS, *SETTINGS]:
        assert f"  {name} " in text


# The rest needs a process of its own.


def test_a_refusal_is_one_line_and_an_exit_code(tmp_path: Path) -> None:
    done = crawl("lang=de", "pages=0", JOBDIR=tmp_path / "run")
    assert done.returncode != 0
    assert done.stderr == "langfocus: -a pages=0: a whole number of at least 1 is needed\n"
    assert done.stdout == ""
    assert not (tmp_path / "run").exists()


def test_a_web_without_servers_waits_for_no_crawl_delay() -> None:
    for web, delay_s in (("sample", 0.0), ("live", 60.0)):
        given = config_of({"lang": "de", "web": web}, scrapy_settings())
        assert given.max_crawl_delay_s == delay_s


def test_an_argument_without_its_option_is_named() -> None:
    done = processes.run(
        "scrapy", "crawl", "langfocus", "lang=de", "pages=5", environment=environment(None)
    )
    assert done.returncode == 2
    assert "lang=de: an argument needs -a before it" in done.stderr


def test_any_number_of_connections_is_understood_and_the_log_has_no_dictionaries_of_scrapy(
    tmp_path: Path,
) -> None:
    given = ("lang=de", "web=sample", "pages=3")
    done = finished(*given, JOBDIR=tmp_path, LOG_LEVEL="INFO", CONCURRENT_REQUESTS=0)
    assert summary(tmp_path)["pages"] == 3
    assert "the crawl has ended: pages" in done.stderr
    for dictionary in ("Overridden settings", "Enabled ", "Versions:", "Dumping Scrapy stats"):
        assert dictionary not in done.stderr
