"""`langfocus identify pages`, called as a person calls it, and the fetching of one page."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from crawler.settings import USER_AGENT
from crawler.web.contract import NO_HEADERS, Answer, Unreachable
from crawler.web.fetch import MAX_BYTES, fetch
from tests.support.commandline import call
from tests.support.loopback import Proxy, loopback

GERMAN = "<p>" + "Heute scheint die Sonne über dem See, und die Kinder spielen am Ufer. " * 3
HTML = ("Content-Type", "text/html; charset=utf-8")
GREEK = "<p>" + "Σήμερα και ήλιος λάμπει πάνω από τη λίμνη και τα παιδιά παίζουν. " * 3


class Pages:
    """A web of one page of each kind."""

    answers: ClassVar[dict[str, Answer]] = {
        "http://a.example/de": Answer(200, (HTML,), GERMAN.encode()),
        "http://a.example/greek": Answer(
            200,
            (("Content-Type", "text/html; charset=iso-8859-7"), ("Content-Language", "el")),
            GREEK.encode("iso-8859-7"),
        ),
        "http://a.example/old": Answer(302, (("Location", "/de"),)),
        "http://a.example/local": Answer(302, (("Location", "file:///etc/passwd"),)),
        "http://a.example/ftp": Answer(302, (("Location", "ftp://127.0.0.1/x"),)),
        "http://a.example/circle": Answer(302, (("Location", "/circle"),)),
        "http://a.example/pdf": Answer(200, (("Content-Type", "application/pdf"),), b"%PDF"),
        "http://a.example/large": Answer(200, (HTML,), b"x" * (MAX_BYTES + 100_000)),
    }

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        if "nowhere" in url:
            raise Unreachable("dns", url)
        return self.answers.get(url, Answer(404, (HTML,), GERMAN.encode()))


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    with loopback(Pages()) as running:
        yield running


@pytest.fixture
def through_proxy(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("http_proxy", proxy.url)
    return proxy


Identified = tuple[list[dict[str, Any]], int, str]


@pytest.fixture
def identify(capsys: pytest.CaptureFixture[str]) -> Callable[..., Identified]:
    """Call `langfocus identify pages`: its records, exit code and standard error."""

    def run(*arguments: object) -> Identified:
        code = call("identify", "pages", *arguments)
        printed = capsys.readouterr()
        return [json.loads(line) for line in printed.out.splitlines()], code, printed.err

    return run


def test_urls_and_files_are_identified_in_the_order_given(
    identify: Callable[..., Identified], through_proxy: Proxy, tmp_path: Path
) -> None:
    file = tmp_path / "a.html"
    file.write_text(GERMAN, encoding="utf-8")
    urls = ["http://a.example/greek", "HTTP://a.example/old"]
    records, code, _ = identify(urls[0], str(file), urls[1])
    assert code == 0
    assert [each["source"] for each in records] == [urls[0], str(file), urls[1]]
    assert [each["language"] for each in records] == ["el", "de", "de"]
    assert records[0]["charset"] == "iso-8859-7"
    assert {access.user_agent for access in through_proxy.log} == {USER_AGENT}
    assert USER_AGENT.startswith("langfocus/")


def test_what_cannot_be_fetched_is_a_record_with_its_reason(
    identify: Callable[..., Identified], through_proxy: Proxy
) -> None:
    told = {
        "http://a.example/none": "HTTP status 404",
        "http://nowhere.example/": "HTTP status 502",
        "http://a.example/pdf": "no page: application/pdf",
        "http://a.example/circle": "HTTP status 302",
        "http://a.example/local": "HTTP status 302",
        "http://[": "not a URL",
        "http://a.example/de": "",
    }
    records, code, errors = identify(*told)
    assert (code, errors) == (1, "")
    for record, (url, reason) in zip(records, told.items(), strict=True):
        assert record["source"] == url
        assert (record["language"] is None) == bool(reason)
        assert reason in record["reason"]


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
    identify: Callable[..., Identified], tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    records, code, errors = identify("README.md", "--method", "guess", "--json", str(output))
    assert (records, code) == ([], 1)
    assert errors.startswith("langfocus: no method is called 'guess'; choose one of: composite")
    assert errors.count("\n") == 1
    assert not output.exists()


def test_a_page_comes_with_its_headers_and_the_address_where_redirects_end(
    through_proxy: Proxy,
) -> None:
    greek = fetch("http://a.example/greek", "langfocus/test")
    assert greek.content_type == "text/html; charset=iso-8859-7"
    assert greek.content_language == "el"
    assert fetch("http://a.example/old", "langfocus/test").url == "http://a.example/de"


def test_no_more_than_the_limit_is_read_of_a_large_page(through_proxy: Proxy) -> None:
    assert len(fetch("http://a.example/large", "langfocus/test").body) == MAX_BYTES


@pytest.mark.parametrize("url", ["http://a.example/ftp", "http://a.example/local"])
def test_a_redirect_leads_to_no_file_and_no_ftp(through_proxy: Proxy, url: str) -> None:
    with pytest.raises(OSError, match=r"HTTP status 302|unknown url type"):
        fetch(url, "langfocus/test")


def test_a_server_that_does_not_answer_in_time_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with loopback(Pages(), latency_s=5.0) as slow:
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("http_proxy", slow.url)
        with pytest.raises(OSError, match="timed out"):
            fetch("http://a.example/de", "langfocus/test", timeout_s=0.2)
