import gzip
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest

from langfocus.classifiers.datasets.odp import OdpUrls
from langfocus.classifiers.datasets.rows import LabelledUrl, distinct
from langfocus.classifiers.errors import DatasetError

HEAD = (
    b"<?xml version='1.0' encoding='UTF-8' ?>\n"
    b"<RDF xmlns:r='http://www.w3.org/TR/RDF/' xmlns:d='http://purl.org/dc/elements/1.0/'"
    b" xmlns='http://dmoz.org/rdf/'>\n"
    b"<!-- Generated at 2010-09-26 00:11:43 GMT from DMOZ 2.0 -->\n"
)
TAIL = b"</RDF>\n"

# The categories of Top/World in the last years of the directory.
WORLD = """
    Afrikaans Arabic Aragonés Armenian Asturianu Azerbaijani Bahasa_Indonesia Bahasa_Melayu Bangla
    Bashkir Belarusian Bosanski Brezhoneg Bulgarian Català Česky Chinese_Simplified
    Chinese_Traditional Cymraeg Dansk Deutsch Eesti Español Esperanto Euskara Français Frysk Furlan
    Føroyskt Gaeilge Gàidhlig Galego Georgian Greek Gujarati Hebrew Hindi Hrvatski Interlingua
    Íslenska Italiano Japanese Kannada Kaszëbsczi Kazakh Kiswahili Korean Kurdî Kyrgyz Latviski
    Lëtzebuergesch Lietuvių Lingua_Latina Magyar Makedonski Marathi Nederlands Nordfriisk Norsk
    Occitan Ossetian O'zbekcha Persian Polski Português Punjabi Română Rumantsch Russian Sardu
    Seeltersk Shqip Sicilianu Sinhala Slovensko Slovensky Srpski Suomi Svenska Tagalog Taiwanese
    Tamil Tatarça Telugu Thai Tiếng_Việt Türkçe Türkmençe Ukrainian Urdu Uyghurche Zazaki
""".split()


def page(url: str, topic: str, text: bytes = b"Some words.") -> bytes:
    """A page as the dump has it."""
    return (
        f"<ExternalPage about={quoteattr(url)}>\n  <d:Title>Title</d:Title>\n"
        "  <d:Description>".encode()
        + text
        + f"</d:Description>\n  <topic>{escape(topic)}</topic>\n</ExternalPage>\n\n".encode()
    )


def dump(folder: Path, *elements: bytes, name: str = "content.rdf.u8") -> Path:
    path = folder / name
    data = HEAD + b"".join(elements) + TAIL
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def read(path: Path) -> list[tuple[str, str]]:
    return [(row.url, row.language) for row in OdpUrls(path)]


@pytest.mark.parametrize("name", ["content.rdf.u8", "content.rdf.u8.gz"])
def test_a_page_has_the_language_of_its_category_in_world_and_english_elsewhere(
    tmp_path: Path, name: str
) -> None:
    listed = {
        "http://a.de/?x=1&y=2": ("Top/World/Deutsch/Kultur", "de"),
        "http://b.fr/": ("Top/World/Français/Régional/Europe", "fr"),
        "http://c.com/": ("Top/Arts/Animation/World", "en"),
        "http://d.com/": ("Top/Adult/Arts", "en"),
        "http://e.com/": ("Top/Kids_and_Teens/International/Italiano", "it"),
        "http://f.com/": ("Top/Adult/World/Español/Artes", "es"),
        "http://g.com/": ("Top/Regionalism", "en"),
    }
    elements = [page(url, topic) for url, (topic, _) in listed.items()]
    assert list(OdpUrls(dump(tmp_path, *elements, name=name))) == [
        LabelledUrl(url, language, "editor", "odp") for url, (_, language) in listed.items()
    ]


def test_pages_without_a_language_are_counted_by_reason(tmp_path: Path) -> None:
    topics = "Top/Regional/Europe", "Top/Regional", "Top/World/Marsian/X", "Top/World", "Arts"
    pages = [*(page("http://a/", topic) for topic in topics), page("", "Top/Arts")]
    data = OdpUrls(dump(tmp_path, *pages, page("http://f/", "Top/Arts")))
    for _ in range(2):
        assert [row.url for row in data] == ["http://f/"]
        assert data.reasons == {"Top/Regional": 2, "unknown language": 3, "no URL": 1}
        assert data.skipped == 6


def test_every_category_of_world_is_a_language_of_its_own(tmp_path: Path) -> None:
    pages = [page(f"http://{n}/", f"Top/World/{name}/X") for n, name in enumerate(WORLD)]
    rows = read(dump(tmp_path, *pages))
    languages = dict(zip(WORLD, (language for _, language in rows), strict=True))
    assert languages["Česky"] == "cs"
    assert languages["Slovensko"] == "sl"
    assert languages["Slovensky"] == "sk"
    assert languages["Tiếng_Việt"] == "vi"
    chinese = {name for name in WORLD if languages[name] == "zh"}
    assert chinese == {"Chinese_Simplified", "Chinese_Traditional", "Taiwanese"}
    assert len(set(languages.values())) == len(WORLD) - 2


def test_of_listings_in_several_languages_distinct_keeps_none_and_of_others_one(
    tmp_path: Path,
) -> None:
    listings = [
        ("http://luckyjob.eu", "Top/Business"),
        ("http://twice.de/", "Top/World/Deutsch/A"),
        ("http://luckyjob.eu", "Top/World/Français/Emploi"),
        ("http://twice.de/", "Top/World/Deutsch/B"),
        ("http://twice.de/", "Top/Regional/Europe"),
    ]
    data = OdpUrls(dump(tmp_path, *(page(*listing) for listing in listings)))
    assert [row.url for row in distinct(data)] == ["http://twice.de/"]


DAMAGE = [
    b"control character: a \x01\x1f b",
    b"not UTF-8: stra\xdfe \xff\xfe stra\xc3",
    b"tag and comment left open: <b>bold <!--",
    b"entity: &eacute;",
    b"a line longer than what is read at once: " + b"words " * 200_000,
]


def test_what_is_wrong_beside_the_address_and_the_category_costs_nothing(tmp_path: Path) -> None:
    pages = [page(f"http://{n}/", "Top/World/Deutsch", text) for n, text in enumerate(DAMAGE)]
    data = OdpUrls(dump(tmp_path, *pages))
    assert [row.url for row in data] == [f"http://{n}/" for n in range(len(DAMAGE))]
    assert data.skipped == 0


@pytest.mark.parametrize(
    ("written", "url", "reason"),
    [
        (b"http://a/?b&c", "http://a/?b&c", ""),
        (b"http://a/?b&amp;c&amp;lt;d", "http://a/?b&c&lt;d", ""),
        ("http://a/\u00fc".encode(), "http://a/\u00fc", ""),
        (b"http://a/\xff", "", "illegal characters in the URL"),
        (b"http://a/\x02", "", "illegal characters in the URL"),
        (b"http://a/<b>", "", "no URL"),
    ],
)
def test_an_address_is_read_once_or_costs_its_page_only(
    tmp_path: Path, written: bytes, url: str, reason: str
) -> None:
    listed = page("URL", "Top/World/Deutsch").replace(b"URL", written)
    data = OdpUrls(dump(tmp_path, listed, page("http://b/", "Top/Arts")))
    assert [row.url for row in data] == [url, "http://b/"][not url :]
    assert data.reasons == ({reason: 1} if reason else {})


def test_a_file_that_is_no_whole_dump_is_one_line_with_the_byte(tmp_path: Path) -> None:
    pages = [page(f"http://{n}/", "Top/World/Deutsch") for n in range(9000)]
    whole = dump(tmp_path, *pages, name="whole.rdf.u8").read_bytes()
    packed = gzip.compress(whole)
    damaged = {
        "empty.rdf.u8": b"",
        "page.rdf": b"<html>" * 9,
        "short.rdf.u8": whole[: len(whole) // 2],
        "short.rdf.u8.gz": packed[: len(packed) // 2],
        "other.rdf.u8.gz": whole,
    }
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
    for name in [*damaged, "missing.rdf"]:
        with pytest.raises(DatasetError, match=rf"{name}: byte \d+: ") as caught:
            list(OdpUrls(tmp_path / name))
        assert "\n" not in str(caught.value)
