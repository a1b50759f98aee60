"""The pages of runs from whose URLs a model may learn."""

from pathlib import Path

import pytest

from crawler.errors import RunFolderError
from crawler.outputs.verified import VerifiedPages, named_runs
from tests.support.report_run import Row, make_run


def run(folder: Path, *rows: tuple[str, str | None, str | None, float], lang: str = "de") -> Path:
    """A run with pages of these hosts: language, evidence and confidence."""
    pages = [Row(f"http://{host}/", host, language=code, method=by) for host, code, by, _ in rows]
    connection = make_run(folder, pages, lang=lang)
    for host, _, _, confidence in rows:
        connection.execute("UPDATE pages SET confidence = ? WHERE host = ?", (confidence, host))
    connection.commit()
    connection.close()
    return folder


def test_only_pages_that_are_sure_by_themselves_are_learned_from(tmp_path: Path) -> None:
    folder = run(
        tmp_path / "fo-soft",
        ("text.fo", "fo", "text", 0.99),
        ("declared.fo", "da", "declaration", 0.9),
        ("encoded.example", "th", "encoding", 1.0),
        ("model.example", "cv", "fasttext", 1.0),
        ("url.fo", "fo", "URL", 0.999),
        ("inlinks.fo", "fo", "inlinks", 0.999),
        ("top.fo", "fo", "top-level-domain", 1.0),
        ("doubtful.fo", "fo", "text", 0.89),
        ("nothing.fo", None, "none", 0.0),
    )
    connection = make_run(
        tmp_path / "b",
        [Row("http://a.fo/x", status=404, method="text"), Row("http://a.fo/y", outcome="robots")],
    )
    connection.execute("UPDATE pages SET confidence = 1")
    connection.commit()
    connection.close()
    pages = VerifiedPages([folder, tmp_path / "b"])
    found = [(page.url, page.language, page.run) for page in pages]
    assert found == [
        ("http://text.fo/", "fo", "fo-soft"),
        ("http://declared.fo/", "da", "fo-soft"),
        ("http://encoded.example/", "th", "fo-soft"),
        ("http://model.example/", "cv", "fo-soft"),
    ]
    assert pages.reasons == {
        "told by URL": 1,
        "told by inlinks": 1,
        "told by top-level-domain": 1,
        "doubtful": 1,
        "no language": 1,
        "status of an error": 1,
    }


def test_runs_are_named_by_folders_and_patterns(tmp_path: Path) -> None:
    first = run(tmp_path / "one" / "fo-soft", lang="fo")
    second = run(tmp_path / "two" / "fo-soft", lang="is")
    (tmp_path / "one" / "notes").mkdir()
    found = named_runs([str(tmp_path / "*" / "*"), str(first)])
    assert found == [first, second]
    pages = VerifiedPages(found)
    assert pages.targets() == ["fo", "is"]
    assert list(pages) == []


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    sure = ("a.fo", "fo", "text", 1.0)
    folders = [run(tmp_path / name / "run", sure) for name in ("one", "two")]
    assert [page.run for page in VerifiedPages(folders)] == ["one/run", "two/run"]


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    for name in ("none", "none-*", "."):
        with pytest.raises(RunFolderError, match="no folder of a run"):
            named_runs([str(tmp_path / name)])
    (tmp_path / "run.db").write_bytes(b"no database" * 100)
    with pytest.raises(RunFolderError):
        list(VerifiedPages([tmp_path]))
