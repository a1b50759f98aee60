"""Documents that are no HTML: PDF (with pypdfium2), and files of zip and XML (docx, odt, epub).

`read_document` returns text and links like those of a page. Each file is read up to limits that do
not depend on what it says of itself: unpacked bytes, members, PDF pages, characters.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from xml.parsers import expat

from langfocus.classifiers.errors import ClassifierError
from langfocus.classifiers.pages.html.links import Resolver, kept_links
from langfocus.classifiers.pages.parse import MAX_CHARACTERS as MAX_TEXT
from langfocus.classifiers.pages.parse import Declaration, ParsedPage

MAX_PAGES: Final = 300
"""PDF pages read."""
MAX_CHARACTERS: Final = 1_000_000
MAX_UNPACKED: Final = 20_000_000
"""Unpacked bytes read of all members of a zip file."""
MAX_MEMBERS: Final = 2_000
MAX_LINKS: Final = 10_000
_MOST_DEPTH: Final = 200
_PIECES: Final = 8
_MOST_URL: Final = 4_096
_CHUNK: Final = 65_536

_PDF_START: Final = b"%PDF-"
_ZIP_START: Final = b"PK\x03\x04"
_BLOCKS: Final = frozenset(
    "p h h1 h2 h3 h4 h5 h6 li div td th tr br title blockquote dt dd table-cell tab".split()
)
_SILENT: Final = frozenset("script style head instrText delText tracked-changes annotation".split())


class DocumentError(ClassifierError):
    """A document that cannot be read; its message is the reason, one word."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text and the links of a document, up to its limits."""

    kind: str
    """`pdf`, `docx`, `odt` or `epub`."""
    parts: tuple[str, ...]
    """The text of each page of a PDF, or of each chapter; empty texts too."""
    links: tuple[str, ...]
    """Absolute or relative URLs as written, each once."""
    language: str | None = None
    """The declared language."""
    is_cut: bool = False
    """True if the document has more than its limits allow."""

    @property
    def text(self) -> str:
        """The text of all parts."""
        return "\n".join(filter(None, self.parts))


def kind_of(body: bytes) -> str | None:
    """Return `pdf` or `zip` by the first bytes; None for other data."""
    if body.startswith(_ZIP_START):
        return "zip"
    return "pdf" if body[:1_024].lstrip(b"\0\xef\xbb\xbf \t\r\n").startswith(_PDF_START) else None


def read_document(body: bytes) -> Document:
    """Read a document; raises `DocumentError` with the reason (`encrypted`, `damaged`, ...)."""
    kind = kind_of(body)
    if kind is None:
        raise DocumentError("unknown")
    return _read_pdf(body) if kind == "pdf" else _read_zip(body)


def page_of(document: Document, url: str) -> ParsedPage:
    """Return a document as a page, with its text sampled like that of a long page.

    A scan without text declares no language: nobody can read it as text.
    """
    resolver = Resolver(url)
    kept, dropped = kept_links(document.links, resolver)
    text = " ".join(document.text.split())
    if len(text) > MAX_TEXT:
        size, step = MAX_TEXT // _PIECES, len(text) // _PIECES
        text = " ".join(text[at * step : at * step + size - 1] for at in range(_PIECES))
    tag = document.language if text else None
    declared = (Declaration("document language", tag),) if tag else ()
    return ParsedPage(
        text=text,
        links=list(dict.fromkeys(kept.values())),
        dropped_links=dropped,
        charset="utf-8",
        charset_source="detected",
        declarations=declared,
        parser=document.kind,
        prose=document.text[:MAX_TEXT],
    )


def _read_pdf(body: bytes) -> Document:
    try:
        import pypdfium2
        from pypdfium2 import raw
    except ImportError as error:
        raise ClassifierError("PDF needs the extra: pip install 'langfocus[documents]'") from error

    try:
        pdf = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD
        raise DocumentError("encrypted" if is_locked else "damaged") from None
    parts: list[str] = []
    links: dict[str, None] = {}
    n_characters = 0
    try:
        n_pages = len(pdf)
        for number in range(min(n_pages, MAX_PAGES)):
            text = ""
            try:
                page = pdf[number]
            except pypdfium2.PdfiumError:
                parts.append(text)
                continue
            try:
                whole = page.get_textpage()
                text = whole.get_text_range(0, min(whole.count_chars(), MAX_CHARACTERS))
                whole.close()
            except pypdfium2.PdfiumError:
                pass
            links.update(dict.fromkeys(islice(_pdf_links(pdf, page, raw), MAX_LINKS)))
            page.close()
            parts.append(text.replace("\r\n", "\n").replace("\x02", "").replace("\ufffe", ""))
            n_characters += len(text)
            if n_characters > MAX_CHARACTERS:
                break
        declared = _pdf_language(pdf, raw)
    finally:
        pdf.close()
    kept = tuple(islice(links, MAX_LINKS))
    return Document("pdf", tuple(parts), kept, declared, is_cut=len(parts) < n_pages)


def _pdf_links(pdf: Any, page: Any, raw: Any) -> Iterator[str]:
    """Yield the URLs of the link annotations of a PDF page."""
    import ctypes

    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    for _ in range(MAX_LINKS):
        if not raw.FPDFLink_Enumerate(page.raw, position, link):
            return
        action = raw.FPDFLink_GetAction(link)
        if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
            size = raw.FPDFAction_GetURIPath(pdf.raw, action, None, 0)
            if 1 < size <= _MOST_URL:
                buffer = ctypes.create_string_buffer(size)
                raw.FPDFAction_GetURIPath(pdf.raw, action, buffer, size)
                yield buffer.value.decode("utf-8", "replace")


def _pdf_language(pdf: Any, raw: Any) -> str | None:
    import ctypes

    if not hasattr(raw, "FPDFCatalog_GetLanguage"):
        return None
    size = raw.FPDFCatalog_GetLanguage(pdf.raw, None, 0)
    if not 2 < size <= 200:
        return None
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFCatalog_GetLanguage(pdf.raw, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0") or None


class _Package:
    """A zip file whose members are read within one budget of unpacked bytes."""

    def __init__(self, body: bytes) -> None:
        try:
            self._file = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, OSError):
            raise DocumentError("damaged") from None
        self.names = [one.filename for one in self._file.infolist()[:MAX_MEMBERS]]
        self.left = MAX_UNPACKED
        self.is_cut = len(self._file.infolist()) > MAX_MEMBERS

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a member until it or the budget ends; damage ends it too."""
        try:
            info = self._file.getinfo(name)
            if info.flag_bits & 1:
                raise DocumentError("encrypted")
            with self._file.open(info) as member:
                while self.left > 0 and (chunk := member.read(min(_CHUNK, self.left))):
                    self.left -= len(chunk)
                    yield chunk
                self.is_cut |= self.left <= 0
        except KeyError:
            return
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError):
            self.is_cut = True


class _Text:
    """Collects text, links and the language of one XML member; entities are not expanded."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.links: dict[str, None] = {}
        self.language: str | None = None
        self.items: list[tuple[str, dict[str, str]]] = []
        self.is_cut = False
        self._depth, self._silent, self._length = 0, 0, 0

    def read(self, chunks: Iterator[bytes]) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._refuse
        try:
            for chunk in chunks:
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
        except (expat.ExpatError, _Beyond, ValueError, LookupError):
            self.is_cut = True  # the text so far is kept

    def _refuse(self, *_: object) -> None:
        raise _Beyond

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise _Beyond
        name = name.rpartition(":")[2]
        self._silent += name in _SILENT
        if name in _BLOCKS:
            self.parts.append("\n")
        if name in ("a", "Relationship", "item", "itemref", "rootfile"):
            self.items.append((name, attributes))
            if len(self.items) > MAX_LINKS:
                raise _Beyond
        if self.language is None and name in ("html", "language", "themeFontLang", "lang"):
            self.language = attributes.get("xml:lang") or attributes.get("w:val")

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._silent -= name.rpartition(":")[2] in _SILENT

    def _characters(self, text: str) -> None:
        if not self._silent:
            self.parts.append(text)
            self._length += len(text)
            if self._length > MAX_CHARACTERS:
                raise _Beyond

    @property
    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self.parts).split("\n"))
        return "\n".join(filter(None, lines))


class _Beyond(Exception):
    """A member went beyond a limit."""


def _read_zip(body: bytes) -> Document:
    package = _Package(body)
    if "word/document.xml" in package.names:
        kind, members = "docx", ["word/document.xml"]
    elif "META-INF/container.xml" in package.names:
        kind, members = "epub", _chapters(package)
    elif "content.xml" in package.names:
        kind, members = "odt", ["content.xml"]
    else:
        raise DocumentError("unknown")
    texts = [_text_of(package, name) for name in members]
    items = [item for text in texts for item in text.items]
    if kind == "docx":
        items += _text_of(package, "word/_rels/document.xml.rels").items
    links = [
        one.get("href") or one.get("xlink:href") or one.get("Target", "")
        for name, one in items
        if name == "a" or (name == "Relationship" and one.get("TargetMode") == "External")
    ]
    kept = tuple(islice(dict.fromkeys(filter(None, links)), MAX_LINKS))
    language = next((text.language for text in texts if text.language), None)
    is_cut = package.is_cut or any(text.is_cut for text in texts)
    return Document(kind, tuple(text.text for text in texts), kept, language, is_cut)


def _text_of(package: _Package, name: str) -> _Text:
    text = _Text()
    text.read(package.chunks(name))
    return text


def _chapters(package: _Package) -> list[str]:
    """Return the members of an EPUB in reading order, each once."""
    roots = [item for _, item in _text_of(package, "META-INF/container.xml").items]
    path = next((one["full-path"] for one in roots if one.get("full-path")), "")
    items = _text_of(package, path).items
    folder = f"{path.rpartition('/')[0]}/" if "/" in path else ""
    files = {one.get("id"): one.get("href", "") for name, one in items if name == "item"}
    order = [files.get(one.get("idref"), "") for name, one in items if name == "itemref"]
    known = frozenset(package.names)
    names = dict.fromkeys(folder + name for name in order if folder + name in known)
    return [*names]
