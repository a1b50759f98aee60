"""Documents that are no HTML: PDF (with pypdfium2), and files of zip and XML (docx, odt, epub).

No document raises. Limits do not depend on what a document says of itself.
"""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from ctypes import POINTER, c_int, cast, create_string_buffer
from dataclasses import dataclass, replace
from html.entities import html5
from typing import Any, Final
from xml.parsers import expat

from langfocus.classifiers.errors import optional
from langfocus.classifiers.pages.charset.encodings import is_document
from langfocus.classifiers.pages.html.links import MAX_LINKS, Resolver, kept_links
from langfocus.classifiers.pages.parse import MAX_CHARACTERS, Declaration, ParsedPage

FEW_PAGES: Final = 50
"""Pages of a PDF that are read for its language and links."""

MAX_PAGES: Final = 2_000
"""Pages of a PDF that are read for its whole text."""

MAX_TEXT: Final = 1_000_000
"""Characters read of a document."""

MAX_UNPACKED: Final = 20_000_000
"""Unpacked bytes read of all members of a zip file."""

_MAX_DEPTH: Final = 200
_PIECES: Final = 8
_MAX_VALUE: Final = 8_192
_CHUNK: Final = 65_536

_BLOCKS: Final = frozenset(
    "p h h1 h2 h3 h4 h5 h6 li div td th tr br title blockquote dt dd table-cell line-break".split()
)
_SPACES: Final = frozenset(("tab", "s"))
_SILENT: Final = frozenset("script style head instrText delText tracked-changes annotation".split())
_LINKING: Final = frozenset(("a", "Relationship", "item", "itemref", "rootfile"))
_LANGUAGES: Final = frozenset(("html", "language", "lang"))
_DAMAGES: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Document:
    """The text and the links of a document, up to its limits."""

    kind: str
    """`pdf`, `docx`, `odt` or `epub`."""
    parts: tuple[str, ...] = ()
    """The text of each page of a PDF, or of each chapter of an EPUB; empty texts too."""
    links: tuple[str, ...] = ()
    """URLs as written, each once."""
    language: str | None = None
    """The declared language."""
    title: str = ""
    is_cut: bool = False
    """True if the document is damaged, or has more than its limits allow."""
    fault: str = ""
    """Why there is no text: `encrypted`, `damaged`, `no_text`."""


def read_document(body: bytes, most_pages: int = MAX_PAGES) -> Document | None:
    """Read a document; None for another kind of file.

    Raises `MissingPackageError` for a PDF without the extra.
    """
    if not is_document(body):
        return None
    found = _read_zip(body) if body.startswith(b"PK") else _read_pdf(body, most_pages)
    if found is None or found.fault or any(found.parts):
        return found
    return replace(found, fault="no_text")


def parse_document(body: bytes, url: str) -> ParsedPage | None:
    """Return a document as a page, with its text sampled like that of a long page.

    None for another kind of file. Relative links are left out: those of an EPUB lead to its own
    chapters. Raises `MissingPackageError` without the extra.
    """
    document = read_document(body, FEW_PAGES)
    if document is None:
        return None
    absolute = (link for link in document.links if "://" in link[:8])
    kept, dropped = kept_links(absolute, Resolver(url))
    text = " ".join(" ".join(document.parts).split())
    if len(text) > MAX_CHARACTERS:
        size, step = MAX_CHARACTERS // _PIECES, len(text) // _PIECES
        text = " ".join(text[at * step : at * step + size - 1] for at in range(_PIECES))
    declared = document.language if text else None  # nobody reads the language of a scan
    return ParsedPage(
        text=text,
        links=list(dict.fromkeys(kept.values())),
        dropped_links=dropped,
        charset="utf-8",
        charset_source="detected",
        declarations=(Declaration("document language", declared),) if declared else (),
        parser=document.kind,
        prose="\n".join(document.parts)[:MAX_CHARACTERS],
        document=document.fault or "read",
        is_cut=document.is_cut,
    )


def _read_pdf(body: bytes, most_pages: int) -> Document:
    pdfium: Any = optional("pypdfium2")
    try:
        pdf = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) == pdfium.raw.FPDF_ERR_PASSWORD
        return Document("pdf", fault="encrypted" if is_locked else "damaged")
    parts: list[str] = []
    links: dict[str, None] = {}
    left = MAX_TEXT
    try:
        for number in range(min(len(pdf), most_pages)):
            parts.append(_text_of_page(pdfium, pdf, number, links))
            left -= len(parts[-1])
            if left < 0:
                break
        language = _value(pdfium.raw.FPDFCatalog_GetLanguage, pdf, kind=pdfium.raw.FPDF_WCHAR)
        title = _value(pdfium.raw.FPDF_GetMetaText, pdf, b"Title")
        is_cut = len(parts) < len(pdf)
    finally:
        pdf.close()
    return Document("pdf", tuple(parts), tuple(links), language or None, title, is_cut)


def _text_of_page(pdfium: Any, pdf: Any, number: int, links: dict[str, None]) -> str:
    """Return the text of a PDF page, and add the URLs of its link annotations; "" if damaged."""
    try:
        page = pdf[number]
        links.update(dict.fromkeys(_pdf_links(pdfium.raw, pdf, page, MAX_LINKS - len(links))))
        written = page.get_textpage()
        text: str = written.get_text_range(0, min(written.count_chars(), MAX_TEXT))
        page.close()
    except pdfium.PdfiumError:
        return ""
    return text.replace("\r\n", "\n").replace("\ufffe", "").replace("\x02", "").strip()


def _pdf_links(raw: Any, pdf: Any, page: Any, most: int) -> Iterator[str]:
    position, link = c_int(0), raw.FPDF_LINK()
    for _ in range(most):
        if not raw.FPDFLink_Enumerate(page, position, link):
            return
        action = raw.FPDFLink_GetAction(link)
        if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
            yield _value(raw.FPDFAction_GetURIPath, pdf, action, charset="utf-8")


def _value(
    function: Callable[..., int], *given: Any, charset: str = "utf-16-le", kind: Any = None
) -> str:
    """Return the text that a function of pdfium writes into a buffer; "" if it is too long."""
    size = function(*given, None, 0)
    if not 0 < size <= _MAX_VALUE:
        return ""
    buffer = create_string_buffer(size)
    function(*given, cast(buffer, POINTER(kind)) if kind else buffer, size)
    return " ".join(buffer.raw.decode(charset, "replace").partition("\0")[0].split())


class _Package:
    """A zip file whose members are read within one budget of unpacked bytes."""

    def __init__(self, body: bytes) -> None:
        self._file = zipfile.ZipFile(io.BytesIO(body))
        self.names = self._file.NameToInfo.keys()
        self._left = MAX_UNPACKED
        self.is_cut = False

    def text_of(self, name: str) -> "_Text":
        """Return a member up to its damage or the end of the budget; empty if it is missing."""
        text = _Text()
        if name in self.names:
            text.read(self._chunks(name))
        self.is_cut |= text.is_cut
        return text

    def _chunks(self, name: str) -> Iterator[bytes]:
        try:
            info = self._file.getinfo(name)
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("other methods unpack without a bound")
            with self._file.open(info) as member:
                while self._left > 0 and (chunk := member.read(min(_CHUNK, self._left))):
                    self._left -= len(chunk)
                    yield chunk
                self.is_cut |= self._left <= 0
        except _DAMAGES:
            self.is_cut = True


class _BeyondError(Exception):
    """A member goes beyond a limit."""


class _Text:
    """The text, links, language and title of an XML member; entities are not expanded."""

    def __init__(self) -> None:
        self.language, self.is_cut = "", False
        self.items: list[tuple[str, dict[str, str]]] = []
        self._values: dict[str, str] = {}
        self._parts: list[str] = []
        self._element, self._depth, self._silent, self._length = "", 0, 0, 0

    def read(self, chunks: Iterable[bytes]) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._refuse
        parser.UseForeignDTD()  # an undeclared entity, such as &nbsp;, is no error
        parser.SkippedEntityHandler = self._entity
        try:
            for chunk in chunks:
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
        except (expat.ExpatError, _BeyondError, ValueError, LookupError):
            self.is_cut = True  # the text so far is kept

    def _refuse(self, *_: object) -> None:
        raise _BeyondError

    def _entity(self, name: str, is_parameter: bool) -> None:
        self._characters("" if is_parameter else html5.get(f"{name};", ""))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        name = self._element = name.rpartition(":")[2]
        self._silent += name in _SILENT
        if name in _BLOCKS or name in _SPACES:
            self._parts.append("\n" if name in _BLOCKS else " ")
        if name in _LINKING:
            self.items.append((name, attributes))
        if self._depth > _MAX_DEPTH or len(self.items) > MAX_LINKS:
            raise _BeyondError
        if name in _LANGUAGES:
            self.language = self.language or attributes.get("xml:lang", attributes.get("w:val", ""))

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._silent -= name.rpartition(":")[2] in _SILENT
        self._element = ""

    def _characters(self, text: str) -> None:
        self._length += len(text)
        if self._length > MAX_TEXT:
            raise _BeyondError
        if self._element in ("title", "language"):
            self._values[self._element] = self._values.get(self._element, "") + text
        if not self._silent:
            self._parts.append(text)

    def value(self, name: str) -> str:
        """Return the text of the elements `title` or `language`."""
        return " ".join(self._values.get(name, "").split())

    @property
    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\n"))
        return "\n".join(filter(None, lines))


def _read_zip(body: bytes) -> Document | None:
    try:
        package = _Package(body)
    except (*_DAMAGES, NotImplementedError):
        return Document("zip", fault="damaged")
    items: list[tuple[str, dict[str, str]]] = []
    if "word/document.xml" in package.names:
        kind, members, about = "docx", ["word/document.xml"], "docProps/core.xml"
        items = package.text_of("word/_rels/document.xml.rels").items
    elif "META-INF/container.xml" in package.names and "mimetype" in package.names:
        kind, (about, *members) = "epub", _chapters(package)
    elif "content.xml" in package.names:
        kind, members, about = "odt", ["content.xml"], "meta.xml"
    else:
        return None
    facts = package.text_of(about)
    texts = [package.text_of(name) for name in members]
    items += [item for text in texts for item in text.items]
    parts = tuple(text.text for text in texts)
    language = next(filter(None, (facts.value("language"), *(text.language for text in texts))), "")
    links = tuple(dict.fromkeys(filter(None, (_target(*item) for item in items))))
    fault = "damaged" if package.is_cut and not any(parts) else ""
    title = facts.value("title")
    return Document(kind, parts, links, language or None, title, package.is_cut, fault)


def _target(name: str, attributes: dict[str, str]) -> str | None:
    if name == "a":
        return attributes.get("href") or attributes.get("xlink:href")
    return attributes.get("Target") if attributes.get("TargetMode") == "External" else None


def _chapters(package: _Package) -> Iterator[str]:
    """Yield the package file of an EPUB, and its chapters in reading order, each once."""
    roots = [item.get("full-path") for _, item in package.text_of("META-INF/container.xml").items]
    path = next(filter(None, roots), "")
    yield path
    items = package.text_of(path).items
    folder = f"{path.rpartition('/')[0]}/" if "/" in path else ""
    files = {one.get("id"): one.get("href", "") for name, one in items if name == "item"}
    order = [folder + files.get(one.get("idref"), "") for name, one in items if name == "itemref"]
    yield from dict.fromkeys(name for name in order if name in package.names)
