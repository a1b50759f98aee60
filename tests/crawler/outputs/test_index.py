"""The index and the package of a run's WARC files name each settled exchange once."""

import hashlib
import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from langfocus.crawler.errors import RunFolderError, StorageError
from langfocus.crawler.outputs.package import INDEX, write_index, write_wacz
from langfocus.crawler.sources.archive import ArchiveWeb
from langfocus.crawler.sources.warc_reader import Volume, record_at
from tests.crawler.outputs.test_warc import Kept
from tests.support.commandline import call

SAME = b"same"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with five settled exchanges, two of them with one body, and one that is not settled."""
    kept = Kept(tmp_path / "run")
    for number in (3, 1, 2):
        kept.settle(number, body=SAME if number < 3 else b"three")
    kept.end()
    kept = Kept(tmp_path / "run")
    kept.settle(4)
    kept.settle(5)
    kept.write_unsettled(6)
    kept.end()
    return tmp_path / "run"


def test_the_index_has_a_line_for_each_settled_exchange_in_order(run: Path) -> None:
    assert write_index(run) == 5
    lines = (run / INDEX).read_text().splitlines()
    assert lines == sorted(lines)
    assert [line.split()[0] for line in lines] == [f"de,a)/{number}" for number in range(1, 6)]
    written = [json.loads(line.split(" ", 2)[2]) for line in lines]
    kinds = [fields["mime"] for fields in written]
    assert kinds == ["text/html", "warc/revisit", *["text/html"] * 3]
    assert {fields["status"] for fields in written} == {"200"}
    for each in written:
        assert record_at(Volume(run / each["filename"]), int(each["offset"])).url == each["url"]


def test_a_package_has_the_files_their_index_and_the_pages(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "pages.wacz"
    assert write_wacz(run, path) == 5
    with ZipFile(path) as package:
        described = json.loads(package.read("datapackage.json"))
        for resource in described["resources"]:
            content = package.read(resource["path"])
            assert resource["bytes"] == len(content)
            assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        digest = json.loads(package.read("datapackage-digest.json"))["hash"]
        whole = hashlib.sha256(package.read("datapackage.json")).hexdigest()
        assert digest == f"sha256:{whole}"
        assert described["wacz_version"] == "1.1.1"
        pages = package.read("pages/pages.jsonl").decode().splitlines()
        names = package.namelist()
    assert json.loads(pages[0])["format"] == "json-pages-1.0"
    assert [name.partition("/")[0] for name in names[:2]] == ["archive", "archive"]
    assert ArchiveWeb(path).respond("http://a.de/3").body == b"three"
    assert len(ArchiveWeb(path)) == 5


def test_the_command_packs_a_run_whole(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.wacz"
    assert call("export", run, "--output", path) == 0
    assert capsys.readouterr().out == f"{path}: 5 answers\n"
    assert len(ArchiveWeb(path)) == 5
    for others in ([run], ["--lang", "de"], ["--keep-copies"], ["--json", tmp_path / "x.json"]):
        assert call("export", run, *others, "--output", path) == 2
        assert capsys.readouterr().err.endswith("a package has all of one run\n")


def test_a_run_without_warc_files_cannot_be_packed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Kept(tmp_path).end()
    assert call("export", tmp_path, "--output", tmp_path / "a.wacz") == 1
    needed = "the run has no WARC files; crawl with LANGFOCUS_WARC=True"
    assert capsys.readouterr().err == f"langfocus: {tmp_path}: {needed}\n"
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cdxj", ".db"]


def test_what_cannot_be_read_or_written_is_one_line(run: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written: No such file"):
        write_wacz(run, tmp_path / "absent" / "a.wacz")
    first = sorted(run.glob("pages-*"))[0]
    first.unlink()
    with pytest.raises(RunFolderError, match=f"^{first}: it is missing"):
        write_wacz(run, tmp_path / "a.wacz")
