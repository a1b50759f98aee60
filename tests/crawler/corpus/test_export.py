"""Exports of runs, archives and HTML files: the same texts whatever happens on the way."""

import fcntl
import io
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from langfocus import Run
from langfocus.crawler.corpus import extraction, sources, texts
from langfocus.crawler.corpus.building import Corpus, CorpusSummary, TextOptions
from langfocus.crawler.corpus.export import export, work_folder
from langfocus.crawler.corpus.item import FIELDS
from langfocus.crawler.corpus.sources import Found, source_of
from langfocus.crawler.corpus.texts import Extraction, PartTexts
from langfocus.crawler.errors import CrawlError, RunFolderError, SettingError
from langfocus.crawler.outputs.package import write_wacz
from langfocus.crawler.reading import time_limit
from tests.support.commandline import call
from tests.support.crawls import rows
from tests.support.keptpages import KeptPages, german, html
from tests.support.smallweb import SENTENCES

FORBIDDEN = html(german(6)).replace(b"<title>", b'<meta name="robots" content="noarchive"><title>')
PAGES = [
    ("http://a.de/1", html("Menu der Seite", german(1))),
    ("http://b.de/2", html(german(1) + " anders")),
    ("http://a.de/3", html("Menu der Seite", german(3))),
    ("http://a.de/4", html("Menu der Seite", german(4), SENTENCES["en"] * 2)),
    ("http://c.de/5", html(SENTENCES["en"] * 9)),
    ("http://c.de/6", FORBIDDEN),
    ("http://d.de/7", html(german(3), "Menu der Seite")),
    ("http://e.de/8", html(german(8))),
    ("http://f.de/9", html("kurz " + SENTENCES["de"])),
]
URLS = ["http://a.de/1", "http://a.de/3", "http://a.de/4", "http://e.de/8", "http://f.de/9"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = KeptPages(tmp_path_factory.mktemp("kept") / "run")
    pages.settle_all(PAGES)
    return pages.folder


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read pages in this process: quick, and a page that ends a process ends the test."""
    monkeypatch.setattr(Corpus, "_in_parallel", lambda _, parts, number: map(PartTexts.make, parts))


def exported(
    path: Path, file: Path, *paths: Path, **options: Any
) -> tuple[list[dict[str, Any]], CorpusSummary]:
    figures = export([path, *paths], file, "jsonl", TextOptions(**options))
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()], figures


def test_a_run_is_exported_without_copies_and_repeated_lines(
    run: Path, tmp_path: Path, inline: None
) -> None:
    items, figures = exported(run, tmp_path / "x.jsonl")
    assert [item["url"] for item in items] == URLS
    assert [item["text"] for item in items[:3]] == [german(1), german(3), german(4)]
    assert items[2]["other_paragraphs"] == [{"language": "en", "text": SENTENCES["en"] * 2}]
    assert items[0]["title"] == "Titel"
    assert [item["words"] for item in items[:2]] == [len(german(n).split()) for n in (1, 3)]
    assert all(item["is_relevant"] and item["repeated"] == [] for item in items)
    left_out = {"copy of another page": 2, "in another language": 1, "noarchive": 1}
    assert figures.as_dict()["left_out"] == left_out
    assert (figures.pages, figures.copies, figures.repeated_lines) == (5, 2, 3)
    assert figures.words == sum(item["words"] for item in items)
    assert figures.languages == {"de": 5, "en": 1}
    size = rows(run, "SELECT SUM(bytes) FROM pages")[0][0] / 1e6
    assert figures.as_dict()["words_per_megabyte"] == pytest.approx(figures.words / size)
    assert list(tmp_path.iterdir()) == [tmp_path / "x.jsonl"]


def test_copies_and_repeated_lines_are_marked_where_they_are_kept(
    run: Path, tmp_path: Path, inline: None
) -> None:
    items, figures = exported(run, tmp_path / "x.jsonl", keeps_copies=True, keeps_repeated=True)
    originals = {"http://b.de/2": "http://a.de/1", "http://d.de/7": "http://a.de/3"}
    copies = {item["url"]: item["duplicate_of"] for item in items}
    assert copies == dict.fromkeys(URLS) | originals
    assert items[0]["text"] == f"Menu der Seite\n{german(1)}"
    assert [item["repeated"] for item in items[:4]] == [[0], [0], [0], []]
    assert (figures.copies, figures.repeated_lines) == (2, 3)


@pytest.mark.parametrize(
    ("options", "urls", "reason"),
    [
        ({"min_words": 50}, URLS[:-1], ("too short", 1)),
        ({"lang": "en"}, ["http://c.de/5"], ("in another language", 8)),
        ({"lang": "all"}, [*URLS[:3], "http://c.de/5", *URLS[3:]], ("noarchive", 1)),
    ],
)
def test_filters_name_their_reasons(
    run: Path, tmp_path: Path, inline: None, options: Any, urls: list[str], reason: tuple[str, int]
) -> None:
    items, figures = exported(run, tmp_path / "x.jsonl", **options)
    assert [item["url"] for item in items] == urls
    assert reason in figures.left_out.items()


def test_a_reserved_page_is_in_no_corpus_nor_the_original_of_a_copy_unless_it_is_asked_for(
    tmp_path: Path, inline: None
) -> None:
    meta = b'<meta name="tdm-reservation" content="1"><title>'
    bodies = html(german(1)).replace(b"<title>", meta), html(german(1) + " anders")
    pages = KeptPages(tmp_path / "run")
    pages.settle_all(list(zip(URLS, bodies, strict=False)))
    (tmp_path / "files").mkdir()
    for number, body in enumerate(bodies):
        (tmp_path / "files" / f"{number}.html").write_bytes(body)
    for path in (pages.folder, tmp_path / "files"):
        items, figures = exported(path, tmp_path / "x.jsonl")
        assert [item["text"] for item in items] == [german(1) + " anders"]
        assert figures.left_out == {"reserved from text and data mining": 1}
    line = ("export", pages.folder, "--output", tmp_path / "y.jsonl", "--keep-reserved")
    assert call(*line) == 0
    [item] = map(json.loads, (tmp_path / "y.jsonl").read_text(encoding="utf-8").splitlines())
    assert (item["url"], item["text"]) == (URLS[0], german(1))


def test_every_format_has_the_same_texts_and_any_number_of_processes_the_same_bytes(
    run: Path, tmp_path: Path
) -> None:
    for name in ("x.jsonl", "x.parquet", "x.txt", "y.jsonl"):
        line = ("export", run, "--output", tmp_path / name)
        assert call(*line, "--json", tmp_path / "figures.json") == 0
    lines = (tmp_path / "x.jsonl").read_bytes()
    items = [json.loads(line) for line in lines.splitlines()]
    assert (tmp_path / "y.jsonl").read_bytes() == lines
    from pyarrow import parquet  # type: ignore[import-untyped]

    assert parquet.read_table(tmp_path / "x.parquet").to_pylist() == items
    texts = "".join(f"{item['text']}\n\n" for item in items)
    assert call("export", run, "--output", tmp_path / "z.txt") == 0  # without metadata
    assert (tmp_path / "z.txt").read_bytes() == (tmp_path / "x.txt").read_bytes()
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == texts
    assert json.loads((tmp_path / "figures.json").read_text())["pages"] == len(items) == 5


def test_an_interrupted_export_goes_on_at_the_page_where_it_was(
    run: Path, tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = KeptPages(tmp_path / "other")
    other.settle_all([("http://z.de/", html(german(10)))])
    whole, _ = exported(run, tmp_path / "whole.jsonl", other.folder)
    read: list[str] = []
    text_of = PartTexts._text_of

    def interrupted(part: PartTexts, found: Found) -> texts.PageText | str:
        read.append(found.values["url"])
        if len(read) in (3, 8):
            raise KeyboardInterrupt
        return text_of(part, found)

    monkeypatch.setattr(PartTexts, "_text_of", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            exported(run, tmp_path / "x.jsonl", other.folder)
        assert not (tmp_path / "x.jsonl").exists()
        for path in (tmp_path / "x.jsonl.parts").glob("*.part"):
            with path.open("ab") as file:
                file.write(b'[{"url": "http')  # a kill while the page was written
    assert exported(run, tmp_path / "x.jsonl", other.folder)[0] == whole
    assert read == sorted(read, key=read.index)
    assert {url: n for url, n in Counter(read).items() if n > 1} == {read[2]: 2, read[7]: 2}
    assert not (tmp_path / "x.jsonl.parts").exists()


def test_a_part_that_an_interrupted_export_still_writes_is_left_to_it(
    run: Path, tmp_path: Path
) -> None:
    [part] = source_of(run, None).parts
    made = PartTexts.of(part, tmp_path, Extraction("trafilatura"))
    unfinished = made.path.with_suffix(".part")
    with unfinished.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        thread = Thread(target=made.make)
        thread.start()
        other.write('"no main text"\n')
        other.flush()
        unfinished.rename(made.path)
    thread.join()
    assert list(made.read()) == ["no main text"]


def test_a_part_with_changed_pages_is_read_again(tmp_path: Path, inline: None) -> None:
    pages = KeptPages(tmp_path / "run")
    pages.settle("http://a.de/1", html(german(1)))
    work = tmp_path / "x.jsonl.parts"
    work.mkdir()
    assert len(list(Corpus([pages.folder], work))) == 1
    pages.settle("http://b.de/2", html(german(2)))
    items, _ = exported(pages.folder, tmp_path / "x.jsonl")
    assert [item["url"] for item in items] == ["http://a.de/1", "http://b.de/2"]
    pages.kill()


def test_two_exports_do_not_share_a_work_folder(run: Path, tmp_path: Path) -> None:
    used = pytest.raises(CrawlError, match="another export works in it")
    with work_folder(tmp_path / "x.jsonl.parts"), used:
        exported(run, tmp_path / "x.jsonl")


extract = extraction.EXTRACTORS.load("combined")


def hostile(page: str, has_markup: bool) -> str:
    """An extractor that one page sends into an endless loop and one page kills."""
    while "Nummer3" in page:
        pass
    if "Nummer8" in page:
        os.kill(os.getpid(), signal.SIGKILL)
    if "Nummer4" in page:
        raise RecursionError
    return extract(page, has_markup)


def make_hostile(part: PartTexts) -> None:
    """Make texts of pages that no extractor survives; this runs in another process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_limit, "SLOW_S", 0.3)
        patch.setattr(extraction, "extractor_of", lambda name: hostile)
        part.make()


def test_pages_that_hang_or_end_a_process_are_counted_and_the_others_are_exported(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The text of page 3 is also that of page 7.
    monkeypatch.setattr("langfocus.crawler.corpus.building._make", make_hostile)
    items, figures = exported(run, tmp_path / "x.jsonl", processes=1)
    assert [item["url"] for item in items] == [URLS[0], URLS[4]]
    reasons = {"ended its process": 1, "too slow to read": 2, "extractor failed": 1}
    assert figures.left_out.items() >= reasons.items()


def test_a_damaged_record_is_counted_and_the_others_are_exported(
    tmp_path: Path, inline: None
) -> None:
    pages = KeptPages(tmp_path / "run")
    pages.settle_all(PAGES[:4])
    [(file, start)] = rows(pages.folder, "SELECT file, start FROM archived WHERE url LIKE '%/3'")
    with (pages.folder / file).open("r+b") as warc:
        warc.seek(start + 40)
        warc.write(bytes(60))
    items, figures = exported(pages.folder, tmp_path / "x.jsonl")
    assert [item["url"] for item in items] == ["http://a.de/1", "http://a.de/4"]
    assert figures.left_out["damaged"] == 1
    _, size = rows(pages.folder, "SELECT url, start FROM archived WHERE url LIKE '%/4'")[0]
    os.truncate(pages.folder / file, size + 30)
    items, figures = exported(pages.folder, tmp_path / "x.jsonl")
    assert [item["url"] for item in items] == ["http://a.de/1"]
    assert figures.left_out["damaged"] == 2


def test_the_text_of_a_revisit_is_that_of_its_first_record_also_in_an_earlier_run(
    tmp_path: Path, inline: None
) -> None:
    pages = KeptPages(tmp_path / "run")
    pages.settle_all([("http://a.de/1", html(german(1))), ("http://b.de/2", html(german(1)))])
    assert rows(pages.folder, "SELECT is_revisit FROM archived") == [(0,), (1,)]
    items, _ = exported(pages.folder, tmp_path / "x.jsonl", keeps_copies=True)
    assert [item["duplicate_of"] for item in items] == [None, "http://a.de/1"]
    assert items[0]["text"] == items[1]["text"] == german(1)
    folders = [tmp_path / name for name in "012"]
    first = KeptPages(folders[0])
    first.settle_all([("http://a.de/1", html(german(1))), ("http://b.de/2", html(german(2)))])
    second = KeptPages(folders[1], since=folders[0])
    second.settle("http://a.de/1", b"", status=304)
    second.settle("http://b.de/2", html(german(5)))
    second.end()
    third = KeptPages(folders[2], since=folders[1])
    third.settle("http://a.de/1", b"", status=304)
    third.settle("http://b.de/2", b"", status=304)
    third.end()
    for folder, number in ((folders[1], 5), (folders[2], 5)):
        items, figures = exported(folder, tmp_path / "x.jsonl")
        assert [item["text"] for item in items] == [german(1), german(number)]
        assert not +figures.left_out
    items, figures = exported(folders[2], tmp_path / "x.jsonl", folders[0])
    assert Counter(item["text"] for item in items) == Counter(map(german, (1, 2, 5)))
    assert {item["url"] for item in items if item["text"] == german(1)} == {"http://a.de/1"}
    assert figures.left_out == {"copy of another page": 1}
    folders[0].rename(tmp_path / "moved")
    items, figures = exported(folders[2], tmp_path / "x.jsonl")
    assert [item["text"] for item in items] == [german(5)]
    assert figures.left_out == {"not in the WARC files": 1}


@pytest.fixture(scope="module")
def archives(run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of the run as another crawler gives them: in a WARC file, a package, HTML files."""
    folder = tmp_path_factory.mktemp("archives")
    [warc] = run.glob("pages-*.warc.gz")
    made = {"file": folder / "x.warc.gz", "package": folder / "x.wacz", "html": folder / "html"}
    made["file"].write_bytes(warc.read_bytes())
    write_wacz(run, made["package"])
    for url, body in PAGES:
        path = made["html"] / f"{url.removeprefix('http://')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return made


@pytest.mark.parametrize(
    ("kind", "size"),
    [("file", 100), ("file", 1_000), ("package", 1_000), ("package", 1_000_000), ("html", 0)],
)
def test_pages_of_other_crawlers_have_the_texts_of_the_run_in_slices_of_any_size(
    run: Path, archives: Any, tmp_path: Path, inline: None, kind: str, size: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sources, "_SLICE", size)
    expected, _ = exported(run, tmp_path / "x.jsonl")
    items, figures = exported(archives[kind], tmp_path / "y.jsonl", lang="de")
    assert [item["text"] for item in items] == [item["text"] for item in expected]
    assert {item["language"] for item in items} == {"de"}
    assert (figures.left_out["in another language"], figures.left_out["damaged"]) == (1, 0)
    assert figures.left_out["noarchive"] == (kind == "html")
    assert all(item["score"] is None for item in items)
    everything, _ = exported(archives[kind], tmp_path / "z.jsonl")
    assert {item["language"] for item in everything} == {"de", "en"}


def test_a_path_without_pages_is_told_in_one_line_and_nothing_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.csv").write_text("no WARC file")
    for name in ("missing", "empty", "x.csv"):
        assert call("export", tmp_path / name, "--output", tmp_path / "x.jsonl") == 1
        error = capsys.readouterr().err
        assert (error[:11], error.count("\n")) == ("langfocus: ", 1)
        assert error.count(f"/{name}") == 1
        assert error.count("give a") <= 1
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "x.csv"}


def test_a_run_without_texts_and_a_wrong_format_are_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="needs --output"):
        export([run], None, "parquet")
    assert call("export", run, "--output", tmp_path / "x.ods") == 2
    assert call("export", run, "--lang", "is", "--output", tmp_path / "x.txt") == 1
    assert call("export", run, "--lang", "xx", "--output", tmp_path / "x.txt") == 2
    with pytest.raises(RunFolderError):
        source_of(tmp_path / "run.db", None)


@pytest.fixture(autouse=True, scope="module")
def _no_processes_left() -> Iterator[None]:
    yield
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor(max_workers=1).shutdown(wait=True)


def test_a_run_yields_its_texts_as_items(run: Path, inline: None) -> None:
    items = list(Run(run).texts(min_words=50, keeps_copies=True))
    assert [item.url for item in items if item.duplicate_of is None] == URLS[:-1]
    assert items[0].as_dict()["text"] == items[0].text == german(1)
    assert tuple(items[0].as_dict()) == FIELDS


def test_the_order_of_the_crawl_does_not_change_the_export(
    run: Path, tmp_path: Path, inline: None
) -> None:
    pages = KeptPages(tmp_path / "run")
    for url, body in [*PAGES[:1], *PAGES[:0:-1]]:  # the copies of page 1 come after it in both
        pages.settle(url, body)
        if url.endswith(("4", "8")):
            pages.kill()
    pages.end()
    export([run], tmp_path / "x.txt", "txt", TextOptions(keeps_copies=True))
    export([pages.folder], tmp_path / "y.txt", "txt", TextOptions(keeps_copies=True))
    assert (tmp_path / "x.txt").read_bytes() == (tmp_path / "y.txt").read_bytes()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_title_commands_no_terminal_and_is_unchanged_elsewhere(
    tmp_path: Path, inline: None, is_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = KeptPages(tmp_path / "run")
    attack = "\x9b2J\x1b]0;owned\x07\u202eneu"
    title = f"<title>{attack}</title>".encode()
    page = html(german(1)).replace(b"<title>Titel</title>", title)
    pages.settle_all([("http://a.de/1", page)])
    written = io.BytesIO()
    stdout = io.TextIOWrapper(written, "utf-8", write_through=True)
    monkeypatch.setattr(stdout, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stdout", stdout)
    assert call("export", pages.folder) == 0
    text = written.getvalue().decode()
    assert "neu" in text
    assert ("\x9b" in text) is not is_terminal
    assert all(line.isprintable() for line in text.splitlines()) is is_terminal
    assert text.endswith("\n")


def test_hosts_are_listed_by_yield_over_all_runs(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hosts.tsv"
    assert call("export", run, "--output", path) == 0
    assert capsys.readouterr().out == f"{path}: 6 hosts\n"
    head, best, *others = [line.split("\t") for line in path.read_text().splitlines()]
    assert head == ["host", "pages", "relevant", "harvest", "words", "bytes", "url"]
    assert best[:4] == ["a.de", "3", "3", "1.0000"]
    assert best[-1] == "http://a.de/1"
    # The host c.de has an English page beside a German one that asks for no copy.
    assert [row[:4] for row in others if row[0] == "c.de"] == [["c.de", "2", "1", "0.5000"]]
    assert sum(int(row[5]) for row in (best, *others)) == sum(len(body) for _, body in PAGES)

    assert call("export", run, run, "--lang", "en", "--output", path) == 0
    assert [line.split("\t")[:4] for line in path.read_text().splitlines()[1:]] == [
        ["c.de", "4", "2", "0.5000"]
    ]
    for more in (["--keep-copies"], ["--lang", "all"], ["--json", tmp_path / "x.json"]):
        assert call("export", run, *more, "--output", path) == 2
        assert "a host list takes runs and --lang CODE alone" in capsys.readouterr().err
    assert call("export", tmp_path / "absent", "--output", path) == 1
