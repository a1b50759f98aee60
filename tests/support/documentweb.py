"""The web on loopback that the guide's crawls of the Internet find: any host, some pages each."""

from collections.abc import Mapping
from random import Random
from zlib import crc32

from langfocus.crawler.sources.contract import NO_HEADERS, Answer

TEXTS = {
    "gal": "O concello abriu onte a nova biblioteca no centro da vila. Os veciños poden ler alí os "
    "xornais do día e levar ata cinco libros á casa durante tres semanas.",
    "is": "Bærinn opnaði í gær nýtt bókasafn í miðbænum. Þar geta íbúar lesið blöð dagsins og "
    "fengið allt að fimm bækur lánaðar heim í þrjár vikur.",
    "de": "Die Stadt hat gestern die neue Bibliothek im Zentrum eröffnet. Dort können alle die "
    "Zeitungen des Tages lesen und bis zu fünf Bücher für drei Wochen ausleihen.",
    "com": "The town opened its new library in the centre yesterday. Everybody can read the papers "
    "of the day there and take up to five books home for three weeks.",
}
HTML = (("Content-Type", "text/html; charset=utf-8"), ("ETag", '"one"'))
PAGES = 6


class DocumentWeb:
    """A host speaks the language of its top-level domain; its pages link to others of the web."""

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        host, _, path = url.split("/", 2)[2].partition("/")
        if path == "robots.txt":
            return Answer(404, HTML, b"")
        if headers.get("if-none-match") == '"one"':
            return Answer(304, HTML, b"")
        end = host.rpartition(".")[2]
        text = TEXTS.get(end, TEXTS["com"])
        number = crc32(url.encode()) % 40
        links = [f"/sida/{n}" for n in range(PAGES)]
        links += [f"http://host{(3 * number + n) % 40}.example.{end}/" for n in range(3)]
        links += [f"http://news{number}.example.com/", "http://example.org/"]
        anchors = "".join(f'<li><a href="{link}">{link}</a>' for link in links)
        words = 3 * text.split()
        Random(url).shuffle(words)
        title = f"<title>{host} {path}</title>"
        return Answer(200, HTML, f"{title}<ul>{anchors}</ul><p>{' '.join(words)}</p>".encode())
