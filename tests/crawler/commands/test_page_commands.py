"""`langfocus identify pages`, called as a person calls it: files, lists and URLs."""

import gzip
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from crawler.sources.contract import NO_HEADERS, Answer, Unreachable
from tests.crawler.sources.test_web_archive import http, record, write
from tests.support import processes
from tests.support.commandline import call
from tests.support.crawls import environment
from tests.support.loopback import Proxy, loopback

GERMAN = "<p>" + "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 3
HTML = ("Content-Type", "text/html; charset=utf-8")
GREEK = "<p>" + "Σήμερα και ήλιος λάμπει πάνω από τη λίμνη και τα παιδιά παίζουν. " * 3
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
ROBOTS = b"User-agent: langfocus\nDisallow: /secret\n"
MAXSIZE = 100_000


def moved(target: str) -> Answer:
    return Answer(302, (("Location", target),))


class Pages:
    """A web of one page of each kind."""

    answers: ClassVar[dict[str, Answer]] = {
        "http://a.example/robots.txt": Answer(200, (("Content-Type", "text/plain"),), ROBOTS),
        "http://a.example/de": Answer(200, (HTML,), GERMAN.encode() + b"<a href='/linked'>x</a>"),
        "http://a.example/greek": Answer(
            200,
            (("Content-Type", "text/html; charset=iso-8859-7"), ("Content-Language", "el")),
            GREEK.encode("iso-8859-7"),
        ),
        "http://b.example/old": moved("http://a.example/older"),
        "http://a.example/older": moved("/de"),
        "http://a.example/local": moved("file:///etc/passwd"),
        "http://a.example/to-file": moved("/x.pdf"),
        "http://a.example/to-secret": moved("/secret/1"),
        "http://a.example/circle": moved("/round"),
        "http://a.example/round": moved("/circle"),
        "http://a.example/x.pdf": Answer(200, (("Content-Type", "application/pdf"),), b"%PDF"),
        "http://a.example/png": Answer(200, (HTML,), PNG),
        "http://a.example/large": Answer(200, (HTML,), b"x" * (MAXSIZE + 1)),
    }

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        if "nowhere" in url:
            raise Unreachable("dns", url)
        return self.answers.get(url, Answer(404, (HTML,), GERMAN.encode()))


REASONS = {
    "http://a.example/none": "HTTP status 404",
    "http://a.example/x.pdf": "no page: application/pdf",
    "http://a.example/png": "no page: a PNG image",
    "http://a.example/circle": "a circle of redirects",
    "http://a.example/local": "redirected to file:///etc/passwd, which is no page",
    "http://a.example/to-file": "redirected to /x.pdf, which is no page",
    "http://a.example/secret/1": "forbidden by robots.txt",
    "http://a.example/to-secret": "forbidden by robots.txt",
    "http://a.example/large": "larger than DOWNLOAD_MAXSIZE",
    "http://nowhere.example/": "its robots.txt could not be fetched",
    "http://[": "not a URL",
    "http://localhost/": "private address (LANGFOCUS_PRIVATE_ADDRESSES allows those)",
}


class Identified(NamedTuple):
    """The records of a command, its exit code and its messages."""

    records: list[dict[str, Any]]
    code: int
    errors: str


def in_a_process(*arguments: object, proxy: str | None = None) -> Identified:
    """Call the command in a process of its own, since a reactor starts once in a process."""
    given = ["-s", "DOWNLOAD_DELAY=0", "-s", "RETRY_TIMES=0"]
    done = processes.run(
        *("langfocus", "identify", "pages", *map(str, arguments), *given),
        environment=environment(proxy),
    )
    return Identified(
        [json.loads(line) for line in done.stdout.splitlines()], done.returncode, done.stderr
    )


class Fetched(NamedTuple):
    """A call of the command with all kinds of sources, and the requests that it made."""

    sources: list[str]
    identified: Identified
    proxy: Proxy


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Fetched:
    folder = tmp_path_factory.mktemp("pages")
    file, listing = folder / "a.html", folder / "list.tsv"
    file.write_text(GERMAN, encoding="utf-8")
    urls = ["http://a.example/greek", str(file), "HTTP://B.example/old", *REASONS]
    again = ["http://a.example/greek", "http://a.example/older"]
    listing.write_text("\n".join(again), encoding="utf-8")
    with loopback(Pages()) as proxy:
        told = in_a_process(
            *(*urls, "--list", listing, "-s", f"DOWNLOAD_MAXSIZE={MAXSIZE}"), proxy=proxy.url
        )
    return Fetched([*urls, *again], told, proxy)


def test_urls_and_files_are_identified_in_the_order_given(fetched: Fetched) -> None:
    records, code, _ = fetched.identified
    assert [each["source"] for each in records] == fetched.sources
    assert [each["language"] for each in records[:3]] == ["el", "de", "de"]
    assert [each["language"] for each in records[-2:]] == ["el", "de"]
    assert records[0]["charset"] == "iso-8859-7"
    assert code == 1


def test_a_page_that_is_not_fetched_is_a_record_with_its_reason(fetched: Fetched) -> None:
    told = {each["source"]: each for each in fetched.identified.records}
    assert {url: told[url]["reason"] for url in REASONS} == REASONS
    assert {told[url]["language"] for url in REASONS} == {None}


def test_pages_are_fetched_once_and_no_link_is_followed(fetched: Fetched) -> None:
    asked = [access.url for access in fetched.proxy.log]
    assert len(asked) == len(set(asked))
    assert "http://a.example/linked" not in asked
    assert not any("/secret/" in url or "localhost" in url for url in asked)
    assert asked.index("http://a.example/robots.txt") < asked.index("http://a.example/de")


def test_the_bot_names_itself_and_asks_for_no_language(fetched: Fetched) -> None:
    agents = {access.user_agent for access in fetched.proxy.log}
    assert {agent.partition("/")[0] for agent in agents} == {"langfocus"}
    assert {access.accept_language for access in fetched.proxy.log} == {""}


def test_a_fetch_without_a_contact_warns_once(fetched: Fetched) -> None:
    [line] = fetched.identified[2].splitlines()
    assert line.startswith("note: servers see no contact")


def test_a_folder_is_walked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    below = tmp_path / "web" / "below"
    below.mkdir(parents=True)
    (tmp_path / "web" / "z.html").write_text(GERMAN, encoding="utf-8")
    (below / "page").write_text(GERMAN, encoding="utf-8")
    (below / "style.css").write_text("p { color: red }", encoding="utf-8")
    code = call("identify", "pages", tmp_path / "web")
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["source"] for each in found] == [
        str(tmp_path / "web" / "z.html"),
        str(below / "page"),
    ]
    assert {each["language"] for each in found} == {"de"}
    assert code == 0


def test_this_machine_is_not_contacted_unless_a_setting_allows_it() -> None:
    contact = ("-s", "LANGFOCUS_CONTACT=me@example.org")
    with loopback(Pages()) as server:
        (refused,), code, _ = in_a_process(f"{server.url}/de", *contact)
        assert server.log == []
        (told,), _, _ = in_a_process(
            f"{server.url}/de", *contact, "-s", "LANGFOCUS_PRIVATE_ADDRESSES=True"
        )
    assert (refused["language"], code) == (None, 1)
    assert refused["reason"].startswith("private address")
    assert told["reason"] == "HTTP status 404"  # the pages are those of other hosts
    assert {access.user_agent for access in server.log} == {
        f"{server.log[0].user_agent.partition(' ')[0]} (+me@example.org)"
    }


@pytest.mark.parametrize("setting", ["JOBDIR=x", "LANGFOCUS_FRONTIER=redis://x", "RETRY_TIMES=no"])
def test_a_setting_that_cannot_be_used_is_a_usage_error(
    identify: Callable[..., Identified], setting: str
) -> None:
    contact = "LANGFOCUS_CONTACT=me@example.org"
    records, code, errors = identify("http://a.example/", "-s", contact, "-s", setting)
    assert (records, code) == ([], 2)
    assert errors.startswith(f"langfocus: {setting.partition('=')[0]}")
    assert errors.count("\n") == 1


@pytest.fixture
def identify(capsys: pytest.CaptureFixture[str]) -> Callable[..., Identified]:
    """Call the command in this process, which can fetch nothing."""

    def run(*arguments: object) -> Identified:
        code = call("identify", "pages", *arguments)
        printed = capsys.readouterr()
        return Identified(
            [json.loads(line) for line in printed.out.splitlines()], code, printed.err
        )

    return run


def test_binary_files_are_refused_with_their_kind(
    identify: Callable[..., Identified], tmp_path: Path
) -> None:
    samples = {"a.png": PNG, "b.pdf": b"%PDF-1.7\n", "c.elf": b"\x7fELF\x02", "d": os.urandom(999)}
    for name, data in samples.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "e.html").write_text(GERMAN, encoding="utf-16")
    records, code, _ = identify(*sorted(tmp_path.iterdir()))
    assert code == 1
    assert [each["language"] for each in records] == [None] * 4 + ["de"]
    assert [each["reason"] for each in records[:4]] == [
        "no page: a PNG image",
        "no page: a PDF file",
        "no page: an ELF program",
        "no page: binary data",
    ]


def test_a_warc_file_gives_a_line_for_each_response(
    identify: Callable[..., Identified], tmp_path: Path
) -> None:
    german = http(GERMAN.encode(), "Content-Type: text/html; charset=utf-8")
    greek = http(GREEK.encode("iso-8859-7"), "Content-Type: text/html; charset=iso-8859-7")
    path = write(
        tmp_path / "a.warc.gz",
        record("http://a.de/", b"software: x", kind="warcinfo"),
        record("http://a.de/", german),
        record("http://b.de/", german, kind="request"),
        record("http://b.de/", b"GET /"),
        record("http://a.gr/", greek),
        record("http://a.de/x", http(b"", status=404)),
        record("http://a.de/y", http(PNG, "Content-Type: image/png")),
        record("http://a.de/z", http(PNG)),
        record("http://a.de/robots.txt", http(ROBOTS, "Content-Type: text/plain")),
    )
    damaged_at = path.read_bytes().index(gzip.compress(record("http://b.de/", b"GET /"))[10:]) - 10
    file = tmp_path / "b.html"
    file.write_text(GERMAN, encoding="utf-8")
    records, code, errors = identify(path, file)
    assert [(each["source"], each["language"] or each["reason"]) for each in records] == [
        ("http://a.de/", "de"),
        (str(path), f"at byte {damaged_at}: no HTTP status line in this response"),
        ("http://a.gr/", "el"),
        ("http://a.de/x", "HTTP status 404"),
        ("http://a.de/y", "no page: image/png"),
        ("http://a.de/z", "no page: a PNG image"),
        ("http://a.de/robots.txt", "no page: a robots.txt"),
        (str(file), "de"),
    ]
    assert code == 1
    assert errors == f"{path}: 1 damaged record was left out\n"


def test_a_warc_file_without_responses_is_a_line_with_a_reason(
    identify: Callable[..., Identified], tmp_path: Path
) -> None:
    path = write(tmp_path / "a.warc", record("http://a.de/", b"a: b", kind="metadata"))
    (only,), code, _ = identify(path)
    assert (only["source"], only["reason"]) == (
        str(path),
        "no answer of a server in this WARC file",
    )
    assert code == 1


def test_a_list_may_be_a_pipe(identify: Callable[..., Identified], tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text(GERMAN, encoding="utf-8")
    reader, writer = os.pipe()
    os.write(writer, f"{file}\n\n{file}\thttp://a.de/\n".encode())
    os.close(writer)
    records, code, _ = identify("--list", f"/dev/fd/{reader}")
    os.close(reader)
    assert [each["language"] for each in records] == ["de", "de"]
    assert code == 0


def test_explained_records_say_what_the_answer_rests_on(
    identify: Callable[..., Identified], tmp_path: Path
) -> None:
    file = tmp_path / "a.html"
    file.write_text(f"<html lang='de'><meta charset=latin1>{GERMAN}", encoding="utf-8")
    for arguments in ([str(file), "--explain"], ["--explain", str(file)]):
        (record,), code, _ = identify(*arguments)
        assert code == 0
        assert record["shares"] == {"de": 1.0}
        assert record["script"] == "Latn"
        assert record["declarations"] == [["html lang", "de"]]
        assert record["encoding"] == {
            "charset": "utf-8",
            "source": "utf-8",
            "declared": "windows-1252",
        }
        assert (record["parser"], record["characters"]) == ("lexbor", 209)


def test_a_page_without_letters_has_no_language_whatever_its_address_says(
    identify: Callable[..., Identified], tmp_path: Path
) -> None:
    (tmp_path / "a.html").write_text("<img src=x> 12")
    listing = tmp_path / "pages.tsv"
    listing.write_text(f"{tmp_path / 'a.html'}\thttp://www.wetterbericht.de/\n")
    (record,), code, _ = identify("--list", str(listing))
    assert (record["language"], code) == (None, 0)


def test_the_method_is_chosen_by_name(identify: Callable[..., Identified], tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text(GERMAN, encoding="utf-8")
    records, _, _ = identify(str(file), "--method", "cavnar-trenkle")
    default, _, _ = identify(str(file))
    assert (records[0]["language"], default[0]["language"]) == ("de", "de")
    assert records[0]["reason"] != default[0]["reason"]


def test_an_unknown_method_is_one_line_before_anything_is_written(
    identify: Callable[..., Identified],
) -> None:
    records, code, errors = identify("README.md", "--method", "guess")
    assert (records, code) == ([], 1)
    assert errors.startswith("langfocus: no method is called 'guess'; choose one of: composite")
    assert errors.count("\n") == 1
