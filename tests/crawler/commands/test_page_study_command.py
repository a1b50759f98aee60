"""`langfocus evaluate` with labelled pages and texts."""

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from langfocus.classifiers.papers import page_cases
from tests.crawler.sources.test_web_archive import http, record, write
from tests.support.commandline import call

SENTENCES = {
    "de": (
        "Der Wetterbericht sagt für morgen Regen und starken Wind an der Küste voraus.",
        "Die Gemeinde hat beschlossen, die alte Schule bis zum nächsten Jahr zu erneuern.",
        "Wir haben gestern im Garten gesessen und über die Reise gesprochen.",
    ),
    "en": (
        "The weather forecast says there will be rain and strong wind along the coast.",
        "The council has decided that the old school should be renewed by next year.",
        "Yesterday we sat in the garden and talked about the journey.",
    ),
    "fr": (
        "La météo annonce de la pluie et un vent fort sur la côte pour demain.",
        "La commune a décidé de rénover la vieille école avant la fin de l'année.",
        "Hier nous étions assis dans le jardin et nous avons parlé du voyage.",
    ),
    "ru": (
        "Завтра на побережье ожидается дождь и сильный ветер.",
        "Городской совет решил обновить старую школу до следующего года.",
        "Вчера мы сидели в саду и говорили про путешествие.",
    ),
}
ENCODINGS = {"de": "iso-8859-1", "en": "ascii", "fr": "utf-8", "ru": "windows-1251"}
LINKED = 6
"""Number of pages of each language that link to each other."""


def write_texts(path: Path) -> Path:
    lines = ["text\tlang\tkind\tsource"]
    for language, sentences in SENTENCES.items():
        for sentence in sentences:
            lines.append(f"{sentence}\t{language}\tsentence\tmade")
            lines.append(f"{' '.join(sentence.split()[:2])}\t{language}\tword-pair\tmade")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_pages(folder: Path, repeat: int = 1) -> Path:
    """Three pages of each language or a multiple of it, in the encodings of the languages."""
    folder.mkdir(exist_ok=True)
    rows = ["id\turl\tlang\tkind\tdeclared_charset"]
    with tarfile.open(folder / "html.tar", "w") as archive:
        for language, sentences in SENTENCES.items():
            charset = ENCODINGS[language]
            for number, sentence in enumerate(sentences * repeat):
                name = f"{language}{number}"
                rows.append(f"{name}\thttp://www.a.{language}/{number}\t{language}\tweb\t{charset}")
                page = f'<html lang="{language}"><meta charset="{charset}"><p>{sentence}</p></html>'
                content = gzip.compress(page.encode(charset), mtime=0)
                member = tarfile.TarInfo(f"{name}.html.gz")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    (folder / "pages.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def write_linked(folder: Path) -> Path:
    """Write a WARC file of pages that link to the pages of their language and to one other page.

    The labels of the pages are in docs.tsv; one label is wrong, like the label of an untranslated
    page.
    """
    records, rows = [], ["url\tlang"]
    for language, sentences in SENTENCES.items():
        urls = [f"http://{language}.org/{number}" for number in range(LINKED)]
        links = "".join(
            f"<a href={url}>{n}</a> " for n, url in enumerate([*urls, "http://en.org/0"])
        )
        page = f"{links}<p>{sentences[0] * 4}</p>".encode()
        answer = http(page, "Content-Type: text/html; charset=utf-8")
        records += [record(url, answer) for url in urls]
        rows += [f"{url}\t{language}" for url in urls]
    rows[1] = "http://de.org/0\tfr"
    (folder / "docs.tsv").write_text("\n".join(rows))
    return write(folder / "docs.warc.gz", *records)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("texts") / "texts.tsv")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(tmp_path_factory.mktemp("data") / "pages")


def evaluated(path: Path, *arguments: object) -> dict[str, Any]:
    """The figures of an evaluation, with its tables by name."""
    assert call("evaluate", *arguments, "--json", path) == 0
    found: dict[str, Any] = json.loads(path.read_text())
    [result] = found["experiments"]
    return found | {"tables": {table["name"]: table["rows"] for table in result["tables"]}}


def rows(table: list[dict[str, Any]], *heads: str) -> dict[tuple[object, ...], Any]:
    """Our figures by the heads of their rows."""
    return {
        tuple(row[head] for head in heads): {
            name: figure["ours"] for name, figure in row["figures"].items()
        }
        for row in table
    }


def test_methods_are_compared_on_pages(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = evaluated(tmp_path / "f.json", pages, "--methods", "text,langdetect")["tables"]
    printed = capsys.readouterr()
    assert "langfocus:" not in printed.err
    assert printed.out.startswith("data: pages\npages: 12\nlanguages: 4\nrows skipped: 0\n")
    names = {"accuracy", "cost", "languages", "lengths", "evidence", "precision", "papers"}
    assert set(found) == names
    right = rows(found["accuracy"], "method")
    assert set(right) == {("text",), ("langdetect",)}
    assert right["text",]["right"] == 100
    assert rows(found["languages"], "language", "pages")["ru", "3"]["text"] == 100
    assert set(rows(found["cost"], "method")) == {*right, ("(parsing)",)}
    assert "The papers' results and ours" in printed.out


def test_methods_are_compared_on_texts_in_some_languages(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [texts, "--methods", "text", "--languages", "German", "ru"]
    found = evaluated(tmp_path / "f.json", *line)
    assert "\ntexts: 12\n" in capsys.readouterr().out
    assert set(rows(found["tables"]["lengths"], "characters", "texts")) == {("50-150", "6")}
    confusion = found["confusion"]["text"]
    assert {code: sum(row.values()) for code, row in confusion.items()} == {"de": 6, "ru": 6}


def test_short_pages_have_a_table_of_their_own_and_neighbours_of_a_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, graph, labels = write_linked(tmp_path), tmp_path / "graph", tmp_path / "docs.tsv"
    assert call("graph", "--from", data, graph, "--target", "de") == 0
    methods = ["--methods", "nfc", "inlinks", "outlinks"]
    line = [data, "short", "--labels", labels, "--graph", graph, *methods]
    found = evaluated(tmp_path / "f.json", *line)
    printed = capsys.readouterr().out
    assert "cut: to 5-24 and 25-49 characters in turn" in printed
    assert "left out, because their text is short or not in the language of the label: 1" in printed
    assert "are in one language" in printed
    right = rows(found["tables"]["lengths"], "characters")
    assert set(right) == {("< 25",), ("25-50",), ("all",)}
    assert (right["< 25",]["inlinks"], right["< 25",]["outlinks"]) == (100.0, 100.0)
    assert set(found["measured"]["data"]) == {"docs.warc.gz", "docs.tsv", "graph"}
    assert page_cases.SHORT == ((5, 24), (25, 49))


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("TEXTS --methods poems", 2, "poems"),
        ("TEXTS --languages sw", 2, "no rows in these languages"),
        ("TEXTS short", 2, "short and --graph are for pages"),
        ("PAGES baselines", 2, "the only experiment on pages is short"),
        ("PAGES --classifiers cctld", 2, "--classifiers is for labelled URLs"),
        ("PAGES --urls 20", 2, "--urls is for labelled URLs"),
        ("DAMAGED", 1, "html.tar"),
        ("WARC --labels BARE --methods nfc", 1, "expected the columns url and lang"),
    ],
)
def test_what_cannot_be_asked_of_pages_is_one_line(
    line: str,
    code: int,
    said: str,
    texts: Path,
    pages: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damaged = write_pages(tmp_path / "pages")
    (damaged / "html.tar").write_bytes((damaged / "html.tar").read_bytes()[:1000])
    bare = tmp_path / "bare.tsv"
    bare.write_text("url\tx\n")
    paths = {"TEXTS": texts, "PAGES": pages, "DAMAGED": damaged, "BARE": bare}
    paths["WARC"] = write_linked(tmp_path)
    assert call("evaluate", *(paths.get(word, word) for word in line.split())) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("langfocus: ")
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_methods_that_were_finished_before_ctrl_c_are_shown_and_written(
    texts: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_of = page_cases.run_of

    def interrupted(method: Any, *others: Any) -> page_cases.MethodRun:
        if method.name == "langdetect":
            raise KeyboardInterrupt
        return run_of(method, *others)

    monkeypatch.setattr(page_cases, "run_of", interrupted)
    figures = tmp_path / "f.json"
    assert call("evaluate", texts, "--methods", "text,langdetect", "--json", figures) == 130
    printed = capsys.readouterr()
    assert printed.err == "langfocus: interrupted\n"
    assert "Accuracy on 24 texts" in printed.out
    found = json.loads(figures.read_text())
    assert found["not carried out"] == ["langdetect"]
    assert list(found["confusion"]) == ["text"]
