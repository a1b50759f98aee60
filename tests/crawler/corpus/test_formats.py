"""The formats of texts: each is read by a tool of others, or by its own rules."""

import csv
import gzip
import json
import zlib
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from lxml import etree

from langfocus.classifiers.pages.text.words import tokens
from langfocus.crawler.corpus.export import export, format_of
from langfocus.crawler.corpus.formats import WRITERS, sentences, tei_of
from langfocus.crawler.corpus.item import FIELDS, PageItem
from langfocus.crawler.errors import SettingError
from tests.support.commandline import call
from tests.support.keptpages import KeptPages, german, html

TITLE = 'Titel "A" & <B>\''
HEAD = b"""<title>Titel "A" &amp; &lt;B&gt;'</title><meta name=author content="Ana Rial">
<meta property=article:published_time content=2024-05-06>"""
LICENSED = html(
    german(2), '<a rel=license href="https://creativecommons.org/licenses/by/4.0/">'
).replace(b"<title>Titel</title>", HEAD)
ITEM: dict[str, Any] = {
    **dict.fromkeys(
        ("parent", "status", "confidence", "method", "charset", "country", "directives"),
    ),
    **dict.fromkeys(("robots_txt", "score", "depth", "fetched_at")),
    "url": "http://a.de/?x=1&y=<2>",
    "language": "de",
    "is_relevant": True,
    "bytes": 9,
}
KINDS = ("jsonl", "csv", "txt", "vert", "xml")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = KeptPages(tmp_path_factory.mktemp("kept") / "run")
    pages.settle_all([("http://a.de/1", html(german(1))), ("http://a.de/2", LICENSED)])
    return pages.folder


def written(run: Path, folder: Path, name: str) -> bytes:
    path = folder / name
    export([run], path, format_of(path))
    return path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_packed_file_has_the_bytes_of_the_other(run: Path, tmp_path: Path, kind: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    plain = written(run, tmp_path, f"x.{kind}")
    packed = written(run, tmp_path, f"x.{kind}.gz")
    assert gzip.decompress(packed) == plain
    assert written(run, tmp_path, f"again.{kind}.gz") == packed
    written(run, tmp_path, f"x.{kind}.zst")
    with pyarrow.input_stream(str(tmp_path / f"x.{kind}.zst"), compression="zstd") as stream:
        assert stream.read() == plain


@pytest.mark.parametrize("name", ["x", "x.gz", "x.html", "x.parquet.gz", "x.jsonl.bz2", ".jsonl.d"])
def test_a_name_of_no_format_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="its name must end in one of jsonl, txt, csv"):
        format_of(Path(name))


def test_an_item_has_its_metadata_and_its_place(run: Path, tmp_path: Path) -> None:
    first, second = map(json.loads, written(run, tmp_path, "x.jsonl").splitlines())
    assert (second["author"], second["published"]) == ("Ana Rial", "2024-05-06")
    assert (first["license"], second["license"]) == (None, "CC BY 4.0")
    assert first["id"] != second["id"]
    assert first["warc_offset"] < second["warc_offset"]
    archive = (run / second["warc_file"]).read_bytes()[second["warc_offset"] :]
    record = zlib.decompressobj(31).decompress(archive)
    assert b"WARC-Target-URI: http://a.de/2\r\n" in record[:2000]
    assert f"WARC-Payload-Digest: {second['digest']}\r\n".encode() in record


def test_csv_has_a_row_for_each_page_without_its_text(run: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(written(run, tmp_path, "x.csv").decode().splitlines()))
    assert [row["url"] for row in rows] == ["http://a.de/1", "http://a.de/2"]
    assert rows[1]["title"] == TITLE
    assert "text" not in rows[0]


def test_no_cell_of_csv_is_a_formula() -> None:
    title = '=HYPERLINK("http://b.de/")'
    item = PageItem(**ITEM | {"title": title, "categories": ["+1", "b"], "confidence": -1.0})
    (row,) = csv.DictReader("".join(WRITERS.load("csv")([item])).splitlines())
    assert (row["title"], row["categories"], row["confidence"]) == (f"'{title}", "'+1 | b", "-1.0")


def test_a_corpus_of_tei_is_valid(run: Path, tmp_path: Path) -> None:
    from trafilatura.xml import validate_tei

    root = etree.fromstring(written(run, tmp_path, "x.xml"))
    assert etree.QName(root).localname == "teiCorpus"
    pages = root.findall("{*}TEI")
    assert len(pages) == 2
    assert all(map(validate_tei, pages))
    assert "".join(pages[0].find("{*}text").itertext()).strip() == german(1)


def test_tei_of_odd_texts_is_valid() -> None:
    from trafilatura.xml import validate_tei

    odd = {"title": "\x00<b>", "text": "a\x0b & <p>\n\ud800b", "author": "\x1f", "categories": [""]}
    for texts in (odd, {"text": ""}, {"text": "x", "title": "", "license": "CC & <y>"}):
        assert validate_tei(tei_of(PageItem(**ITEM, **texts)))


def test_vertical_text_has_a_token_in_each_line(run: Path, tmp_path: Path) -> None:
    lines = written(run, tmp_path, "x.vert").decode().splitlines()
    assert f" title={quoteattr(TITLE)} " in next(line for line in lines if "a.de/2" in line)
    inside = [line for line in lines if not line.startswith("<")]
    assert inside == tokens(f"{german(1)} {german(2)}")
    assert lines.count("<p>") == lines.count("</p>") == 2
    assert lines.count("<s>") == lines.count("</s>") >= 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Eins. Zwei! «Drei?» Vier", ["Eins.", "Zwei!", "«Drei?»", "Vier"]),
        ("Am 3. mai war es z. B. so.", ["Am 3. mai war es z.", "B. so."]),
        ("一。二\uff01三", ["一。", "二\uff01", "三"]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("", [""]),
    ],
)
def test_sentences_end_with_their_mark(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Er sagte: (nein).", ["Er", "sagte", ":", "(", "nein", ")", "."]),
        ("isn't a.de/x !?", ["isn't", "a.de/x", "!", "?"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा", "।"]),
        ("中文 A", ["中", "文", "A"]),
        ("", []),
    ],
)
def test_tokens_are_words_and_signs(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_only_pages_with_a_license_are_kept_and_the_card_tells_of_it(
    run: Path, tmp_path: Path
) -> None:
    file, card = tmp_path / "x.jsonl.gz", tmp_path / "README.md"
    assert call("export", run, "--license", "cc", "--output", file, "--card", card) == 0
    items = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    assert [item["license"] for item in items] == ["CC BY 4.0"]
    head, _, text = card.read_text().removeprefix("---\n").partition("---\n")
    assert "language:\n- de\n" in head
    assert 'data_files: "x.jsonl.gz"' in head
    assert "| CC BY 4.0 | 1 |" in text
    assert "| without such a license | 1 |" in text
    assert call("export", run, "--license", "mit", "--output", tmp_path / "y.jsonl") == 1


def test_a_card_needs_a_file(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("export", run, "--card", tmp_path / "README.md") == 2
    assert "a card needs --output FILE" in capsys.readouterr().err


def test_the_head_of_a_card_has_the_types_of_fields_that_are_empty(
    run: Path, tmp_path: Path
) -> None:
    file, card = tmp_path / "x.jsonl", tmp_path / "README.md"
    assert call("export", run, "--output", file, "--card", card) == 0
    (line,) = [line for line in card.read_text().splitlines() if line.startswith("  features: ")]
    features = {field["name"]: field for field in json.loads(line.removeprefix("  features: "))}
    assert list(features) == list(FIELDS)
    assert features["country"] == {"name": "country", "dtype": "string"}
    assert features["score"] == {"name": "score", "dtype": "float64"}
    assert features["links"] == {"name": "links", "list": "string"}
    assert features["other_paragraphs"]["list"] == [
        {"name": "language", "dtype": "string"},
        {"name": "text", "dtype": "string"},
    ]
    assert call("export", run, "--output", tmp_path / "x.csv", "--card", card) == 0
    assert "dataset_info" not in card.read_text()


@pytest.mark.parametrize("name", ["cc0", "CC Zero", "cc"])
def test_a_page_of_the_public_domain_has_the_license_cc0(tmp_path: Path, name: str) -> None:
    page = LICENSED.replace(b"licenses/by/4.0", b"publicdomain/zero/1.0")
    (tmp_path / "a.html").write_bytes(page)
    file = tmp_path / "x.jsonl"
    assert call("export", tmp_path / "a.html", "--license", name, "--output", file) == 0
    assert json.loads(file.read_text())["license"] == "CC ZERO 1.0"
    assert call("export", tmp_path / "a.html", "--license", "cc by", "--output", file) == 1
