"""With `-a documents=true` PDF and office files are pages where the language is expected."""

from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.servers.loopback import loopback
from langfocus.command_line import main
from langfocus.crawler.errors import SettingError
from langfocus.crawler.options.config import Config
from langfocus.crawler.reading.configured import page_reader_of
from langfocus.crawler.session.preparation import check_goals
from langfocus.crawler.sources.contract import Answer
from tests.classifiers.pages.test_documents import DOCX, RELATIONS, epub, zipped
from tests.crawler.outputs.test_warc import records
from tests.crawler.politeness.test_crawl_polite import GivenWeb
from tests.support.crawls import finished, rows, summary
from tests.support.pdf import pdf, text_of
from tests.support.smallweb import SENTENCES

pytest.importorskip("pypdfium2")

PDF, ANY, HTML = "application/pdf", "application/octet-stream", "text/html; charset=utf-8"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
GERMAN = SENTENCES["de"] * 3
BOOK = pdf(
    text_of(GERMAN),
    pages=2,
    page=b"/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://b.de/)>>>>]",
)
LETTER = zipped(
    {
        DOCX: f"<p>{GERMAN}</p>",
        RELATIONS: "<r><Relationship TargetMode='External' Target='http://c.de/'/></r>",
    }
)
FILES = {
    "book.pdf": (PDF, BOOK),
    "scan.pdf": (PDF, pdf(b"")),
    "locked.pdf": (PDF, pdf(b"", trailer=b"/Encrypt<</Filter/Standard/V 1/R 2>>/ID[(a)(a)]")),
    "letter.docx": (WORD, LETTER),
    "story.epub": (ANY, epub(a=f"<p>{SENTENCES['en'] * 3}<a href='http://d.de/'/></p>")),
    "get?id=3": (PDF, BOOK),
    "large.pdf": (PDF, BOOK + b" " * 9_000),
    "get?id=4": (PDF, BOOK + b" " * 9_000),
    "sheet.pdf": (ANY, zipped({"xl/workbook.xml": "<a/>"})),
    "error.pdf": (PDF, b"Not here."),
}
OTHER, WANTED = "http://e.com/other.pdf", "http://f.com/wanted.pdf"
LINKS = [*(f"http://a.de/{name}" for name in FILES), OTHER, WANTED, "http://a.de/x.zip"]
HOME = f"<p>{GERMAN}</p>" + "".join(f"<a href={url}>x</a>" for url in LINKS)


class Crawled(NamedTuple):
    folder: Path
    asked: set[str]

    def pages(self, columns: str) -> dict[str, tuple[object, ...]]:
        found = rows(self.folder, f"SELECT url, {columns} FROM pages")
        return {url.removeprefix("http://a.de/"): tuple(values) for url, *values in found}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("crawled")
    web = GivenWeb({"http://a.de/": Answer(200, (("Content-Type", HTML),), HOME.encode())})
    for name, (kind, body) in FILES.items():
        web.answers[f"/{name}"] = Answer(200, (("Content-Type", kind),), body)
    web.answers["/wanted.pdf"] = Answer(200, (("Content-Type", PDF),), pdf(text_of(GERMAN)))
    scope = folder / "wanted.txt"
    scope.write_text(f"+{WANTED}\n")
    settings = {"DOWNLOAD_DELAY": 0, "LANGFOCUS_READERS": 1, "LANGFOCUS_DOCUMENT_BYTES": 9_000}
    with loopback(web) as proxy:
        finished(
            *("lang=de", "strategy=cctld", "documents=true", "seeds=http://a.de/", "host_cap=0"),
            f"scope={scope}",
            proxy=proxy.url,
            JOBDIR=folder,
            **settings,
        )
        return Crawled(folder, {access.url for access in proxy.log})


def test_documents_are_pages_with_language_words_and_links(crawled: Crawled) -> None:
    pages = crawled.pages("outcome, language, parent")
    seed = "http://a.de/"
    assert pages["book.pdf"] == pages["letter.docx"] == pages["get?id=3"] == ("page", "de", seed)
    assert pages["story.epub"] == ("page", "en", seed)
    sources = [pages[f"http://{name}.de/"][2] for name in "bcd"]
    assert sources == [f"{seed}{name}" for name in ("book.pdf", "letter.docx", "story.epub")]
    (words,) = crawled.pages("words_read")["letter.docx"]
    assert words == len(GERMAN.split())


def test_a_document_without_text_has_no_label_and_is_reported(crawled: Crawled) -> None:
    pages = crawled.pages("outcome, language")
    assert pages["scan.pdf"] == pages["locked.pdf"] == ("page", None)
    counts = summary(crawled.folder)["counts"]
    named = ("document_no_text", "document_encrypted", "parser_pdf", "parser_docx", "parser_epub")
    assert [counts[name] for name in named] == [1, 1, 5, 1, 1]
    assert main(["report", str(crawled.folder)]) == 0
    assert "document_no_text" in (crawled.folder / "report.html").read_text("utf-8")


def test_only_expected_documents_within_the_bound_are_read(crawled: Crawled) -> None:
    pages = crawled.pages("outcome")
    assert pages[OTHER] == ("unexpected",)
    assert pages[WANTED] == ("page",)  # by `-a scope`
    assert pages["large.pdf"] == ("too_large",)
    assert pages["get?id=4"] == pages["error.pdf"] == ("media",)
    assert {OTHER, "http://a.de/x.zip"}.isdisjoint(crawled.asked)


def test_documents_are_archived_as_received_and_counted_by_media_type(crawled: Crawled) -> None:
    kept = [body for _, _, body in records(crawled.folder)]
    assert BOOK in kept
    assert LETTER in kept
    assert summary(crawled.folder)["types"][PDF]["pages"] >= 4


def test_documents_need_readers_and_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config.read({"lang": "de", "seeds": "http://a.de/", "documents": True})
    with pytest.raises(SettingError, match="LANGFOCUS_READERS=0"):
        check_goals(
            Config.read({"lang": "de", "documents": True}, {"LANGFOCUS_READERS": 0}), doubts=True
        )
    monkeypatch.setitem(__import__("sys").modules, "pypdfium2", None)
    with pytest.raises(SettingError, match="-a documents=true: pypdfium2"):
        page_reader_of(config)
