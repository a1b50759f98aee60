"""`langfocus evaluate` with labelled pages and texts."""

import gzip
import io
import json
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.commandline import call

ROOT = Path(__file__).parents[3]

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


def write_texts(path: Path, repeat: int = 1) -> Path:
    lines = ["text\tlang\tkind\tsource"]
    for language, sentences in SENTENCES.items():
        for sentence in sentences * repeat:
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
                add(archive, f"{name}.html.gz", gzip.compress(page.encode(charset), mtime=0))
    (folder / "pages.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("texts") / "texts.tsv")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(tmp_path_factory.mktemp("data") / "pages")


def tables(path: Path) -> dict[str, dict[str, object]]:
    return {table["name"]: table for table in json.loads(path.read_text())["tables"]}


def rows(table: dict[str, object], *heads: str) -> dict[tuple[object, ...], dict[str, float]]:
    found = table["rows"]
    assert isinstance(found, list)
    return {tuple(row[head] for head in heads): row["figures"] for row in found}


def test_methods_are_compared_on_pages(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "f.json"
    options = ["--methods", "text,langdetect", "--json", str(figures)]
    assert call("evaluate", str(pages), *options) == 0
    printed = capsys.readouterr()
    assert "langfocus:" not in printed.err
    assert printed.out.startswith("data: pages\npages: 12\nlanguages: 4\nrows skipped: 0\n")
    found = tables(figures)
    assert set(found) == {
        "accuracy",
        "cost",
        "languages",
        "lengths",
        "evidence",
        "precision",
        "papers",
    }
    right = rows(found["accuracy"], "method")
    assert set(right) == {("text",), ("langdetect",)}
    assert right["text",]["right"] == 100
    assert rows(found["languages"], "language", "pages")["ru", 3]["text"] == 100
    assert set(rows(found["cost"], "method")) == {*right, ("(parsing)",)}
    assert "The papers' results and ours" in printed.out


def test_methods_are_compared_on_texts(texts: Path, tmp_path: Path) -> None:
    figures = tmp_path / "f.json"
    options = ["--methods", "text", "--json", str(figures)]
    assert call("evaluate", str(texts), *options) == 0
    found = tables(figures)
    assert set(rows(found["lengths"], "characters", "texts")) == {("50-150", 12)}
    whole = json.loads(figures.read_text())
    assert whole["cpu_ms"]["text"] > 0
    confusion = whole["confusion"]["text"]
    sums = {code: sum(answers.values()) for code, answers in confusion.items()}
    assert sums == dict.fromkeys(["de", "en", "fr", "ru"], 6)


def test_some_languages_can_be_chosen(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("evaluate", texts, "--methods", "text", "--languages", "German", "ru") == 0
    assert "\ntexts: 12\n" in capsys.readouterr().out


def test_methods_of_the_default_that_cannot_be_had_are_named(
    texts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("classifiers.papers.page_cases.DEFAULT_METHODS", ("text", "fasttext"))
    monkeypatch.delenv("LANGFOCUS_FASTTEXT_MODEL", raising=False)
    assert call("evaluate", str(texts)) == 0
    assert "\nleft out: fasttext: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "args",
    [
        ["--methods", "poems"],
        ["--languages", "nolanguage"],
        ["--languages", "sw"],
        ["baselines"],
        ["--classifiers", "cctld"],
        ["--urls", "20"],
        ["--json", "no/such/folder/f.json"],
    ],
)
@pytest.mark.parametrize("sort", ["texts", "pages"])
def test_what_cannot_be_asked_of_pages_is_one_line_and_exit_code_2(
    sort: str, args: list[str], request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    data = request.getfixturevalue(sort)
    assert call("evaluate", str(data), *args) == 2
    check_one_line(capsys)


def test_damaged_pages_are_one_line_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_pages(tmp_path / "pages")
    archive = folder / "html.tar"
    archive.write_bytes(archive.read_bytes()[:1000])
    assert call("evaluate", str(folder)) == 1
    check_one_line(capsys)


def check_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("langfocus: ")
    assert printed.err.count("\n") == 1


def test_methods_that_were_finished_before_ctrl_c_are_shown_and_written(tmp_path: Path) -> None:
    data, figures = write_texts(tmp_path / "texts.tsv", repeat=200), tmp_path / "f.json"
    options = ["--methods", "text,langdetect", "--json", str(figures)]
    code = f"""
import os, signal, sys
from classifiers.papers import page_cases as page_runs
asked = page_runs.asked
def interrupted(method, *args):
    if method.name == "langdetect":
        os.kill(os.getpid(), signal.{signal.SIGINT.name})
    return asked(method, *args)
page_runs.asked = interrupted
from langfocus.command_line import main
sys.exit(main(["evaluate", {str(data)!r}, *{options!r}]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (130, "langfocus: interrupted\n")
    assert "Accuracy on 4800 texts" in done.stdout
    found = json.loads(figures.read_text())
    assert found["not carried out"] == ["langdetect"]
    assert list(found["confusion"]) == ["text"]
