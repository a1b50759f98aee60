"""Labelled texts and pages, read from files in the format they are published in."""

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from langfocus.classifiers.datasets.rows import LabelledUrl
from langfocus.classifiers.datasets.texts import (
    LabelledPage,
    LabelledPages,
    LabelledText,
    LabelledTexts,
    is_held_out,
    recognised,
)
from langfocus.classifiers.errors import DatasetError

HEADER = "text\tlang\tkind\tsource\n"
PAGE_HEADER = "id\turl\tlang\tkind\tdeclared_charset\n"


def texts(path: Path, text: str) -> LabelledTexts:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return LabelledTexts(path)


def pages(folder: Path, table: str, files: Mapping[str, bytes]) -> LabelledPages:
    """A folder of pages in the true format; what is called .gz has to be packed already."""
    (folder / "pages.tsv").write_text(table, encoding="utf-8")
    with tarfile.open(folder / "html.tar", "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return LabelledPages(folder)


def test_texts_are_read_in_order_with_codes_of_the_project(tmp_path: Path) -> None:
    rows = 'n\ts\tGuten "Tag"\tde-AT\tsentence\nn\tt\tHei på deg\tnb\tword-pair\n'
    data = texts(tmp_path / "t.tsv.gz", f"n\tsource\ttext\tlang\tkind\n{rows}")
    assert list(data) == [
        LabelledText('Guten "Tag"', "de", "sentence", "s"),
        LabelledText("Hei på deg", "no", "word-pair", "t"),
    ]
    assert data.skipped == 0


def test_texts_that_cannot_be_used_are_counted_by_reason(tmp_path: Path) -> None:
    rows = "short\tde\n \tde\tk\ts\nword\tnolanguage\tk\ts\nWort\tde\tk\ts\n"
    data = texts(tmp_path / "t.tsv", HEADER + rows)
    for _ in range(2):
        assert [row.text for row in data] == ["Wort"]
        assert data.reasons == {"cut short": 1, "no text": 1, "unknown language": 1}


def test_pages_are_read_in_the_order_of_the_archive(tmp_path: Path) -> None:
    rows = "a\thttp://a.de/\tde\tweb\tutf-8\nb\t\tnb\tdocs\n"
    body = "<p>På norsk".encode()
    files = {"b.html.gz": gzip.compress(body), "./html/a.html": b"<p>Deutsch"}
    data = pages(tmp_path, PAGE_HEADER + rows, files)
    assert list(data) == [
        LabelledPage("b", "", "no", "docs", body),
        LabelledPage("a", "http://a.de/", "de", "web", b"<p>Deutsch"),
    ]
    assert data.skipped == 0


def test_pages_that_cannot_be_used_are_counted_by_reason(tmp_path: Path) -> None:
    table = "id\tlang\nwhole\tde\ntwice\tde\nodd\tnolanguage\ncut\tde\nshort\nabsent\tde\n"
    whole = gzip.compress(b"<p>Deutsch " * 999)
    files = {
        "whole.html.gz": whole,
        "twice.html.gz": whole,
        "twice.html": b"<p>Deutsch",
        "odd.html.gz": whole,
        "cut.html.gz": whole[:30],
        "short.html.gz": whole,
        "stranger.html.gz": whole,
    }
    data = pages(tmp_path, table, files)
    for _ in range(2):
        assert [row.name for row in data] == ["whole", "twice"]
        assert data.reasons == {
            "twice in the archive": 1,
            "unknown language": 1,
            "cut short": 1,
            "damaged": 1,
            "not in the table": 2,
            "not in the archive": 1,
        }


def test_only_files_of_an_archive_are_read_and_a_table_needs_id_and_language_only(
    tmp_path: Path,
) -> None:
    data = pages(tmp_path, "lang\tid\nde\ta\n", {"a.html": b"x"})
    with tarfile.open(tmp_path / "html.tar", "a") as archive:
        for name, kind in (("folder", tarfile.DIRTYPE), ("a.html.gz", tarfile.SYMTYPE)):
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = "nowhere"
            archive.addfile(member)
    assert list(data) == [LabelledPage("a", "", "de", "", b"x")]


def test_a_damaged_or_missing_archive_is_an_error_that_names_it(tmp_path: Path) -> None:
    data = pages(tmp_path, "id\tlang\na\tde\n", {"a.html": b"x" * 5000})
    archive = tmp_path / "html.tar"
    whole = archive.read_bytes()
    for content in (whole[:3000], b"no archive", gzip.compress(whole)[:-20], b""):
        archive.write_bytes(content)
        with pytest.raises(DatasetError, match=r"html\.tar: cannot be read"):
            list(data)
    archive.unlink()
    with pytest.raises(DatasetError, match=r"html\.tar: cannot be read \(No such file"):
        list(data)
    (tmp_path / "pages.tsv").write_text("url\tlang\n")
    with pytest.raises(DatasetError, match=r"pages\.tsv:1: no column id; expected id, lang"):
        list(data)


def test_texts_are_recognised_by_their_header_and_pages_by_their_files(tmp_path: Path) -> None:
    for name in ("texts.tsv.gz", "bare.txt"):
        assert recognised(tmp_path / name) is None
        found = texts(tmp_path / name, HEADER)
        assert recognised(found.path) == found
    urls = texts(tmp_path / "urls.tsv", "url\tlang\tlabel_kind\tsource\ttext\n")
    damaged = tmp_path / "texts.tsv.gz"
    damaged.write_bytes(b"no gzip")
    for path in (urls.path, damaged, tmp_path):
        assert recognised(path) is None
    assert recognised(pages(tmp_path, PAGE_HEADER, {}).path) == LabelledPages(tmp_path)


def test_held_out_texts_are_a_share_and_do_not_depend_on_anything_but_the_text() -> None:
    rows = [LabelledText(f"Text {number}", "de", "k", "s") for number in range(3000)]
    held_out = [row for row in rows if is_held_out(row, 0.1)]
    assert len(held_out) / len(rows) == pytest.approx(0.1, abs=0.02)
    assert all(is_held_out(row._replace(kind="x", source="y"), 0.1) for row in held_out)
    assert all(is_held_out(row, 0.2) and not is_held_out(row, 0.0) for row in held_out)


def test_pages_of_one_host_are_held_out_together() -> None:
    page = LabelledPage("", "", "de", "web", b"")
    for number in range(50):
        urls = [f"http://a{number}.de/{path}" for path in ("", "x", "y/z")]
        parts = {is_held_out(page._replace(url=url, name=url), 0.5) for url in urls}
        parts |= {is_held_out(LabelledUrl(url, "de", "k", "s"), 0.5) for url in urls}
        assert len(parts) == 1
    assert {is_held_out(page._replace(name=str(number)), 0.5) for number in range(50)} == {1, 0}
