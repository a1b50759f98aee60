import gzip
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.datasets import LabelledUrl, OdpUrls, distinct
from classifiers.errors import DatasetError

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


def topic(name: str, *urls: str) -> bytes:
    """The element that goes ahead of a category's pages."""
    links = "".join(f"  <link r:resource={quoteattr(url)}></link>\n" for url in urls)
    return f"<Topic r:id={quoteattr(name)}>\n  <catid>1</catid>\n{links}</Topic>\n\n".encode()


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
    pages = [
        topic("Top/World/Deutsch/Kultur", "http://a.de/"),
        page("http://a.de/?x=1&y=2", "Top/World/Deutsch/Kultur"),
        page("http://b.fr/", "Top/World/Français/Régional/Europe"),
        page("http://c.com/", "Top/Arts/Animation/World"),
        page("http://d.com/", "Top/Adult/Arts"),
        page("http://e.com/", "Top/Kids_and_Teens/International/Italiano"),
        page("http://f.com/", "Top/Adult/World/Español/Artes"),
        page("http://g.com/", "Top/Regionalism"),
    ]
    assert list(OdpUrls(dump(tmp_path, *pages, name=name))) == [
        LabelledUrl("http://a.de/?x=1&y=2", "de", "editor", "odp"),
        LabelledUrl("http://b.fr/", "fr", "editor", "odp"),
        LabelledUrl("http://c.com/", "en", "editor", "odp"),
        LabelledUrl("http://d.com/", "en", "editor", "odp"),
        LabelledUrl("http://e.com/", "it", "editor", "odp"),
        LabelledUrl("http://f.com/", "es", "editor", "odp"),
        LabelledUrl("http://g.com/", "en", "editor", "odp"),
    ]


def test_pages_without_a_language_are_counted_by_reason(tmp_path: Path) -> None:
    pages = [
        page("http://a/", "Top/Regional/Europe/Germany"),
        page("http://b/", "Top/Regional"),
        page("http://c/", "Top/World/Marsian/X"),
        page("http://d/", "Top/World"),
        page("", "Top/Arts"),
        page("http://e/", ""),
        page("http://f/", "Top/Arts"),
    ]
    data = OdpUrls(dump(tmp_path, *pages))
    for _ in range(2):
        assert [row.url for row in data] == ["http://f/"]
        assert data.reasons == {
            "Top/Regional": 2,
            "unknown language": 2,
            "no URL": 1,
            "no topic": 1,
        }
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
    pages = [
        page("http://luckyjob.eu", "Top/Business"),
        page("http://twice.de/", "Top/World/Deutsch/A"),
        page("http://luckyjob.eu", "Top/World/Français/Emploi"),
        page("http://twice.de/", "Top/World/Deutsch/B"),
        page("http://twice.de/", "Top/Regional/Europe"),
        page("http://luckyjob.eu/?lang=fr", "Top/World/Français/Emploi"),
    ]
    data = OdpUrls(dump(tmp_path, *pages))
    rows = distinct(data)
    assert [row.url for row in rows] == ["http://twice.de/", "http://luckyjob.eu/?lang=fr"]
    assert data.reasons == {"Top/Regional": 1}


DAMAGE = {
    "control character": b"a \x01\x1f b",
    "reference to a control character": b"a &#7; &#x1F; b",
    "not UTF-8": b"stra\xdfe \xff\xfe",
    "cut UTF-8": b"stra\xc3",
    "surrogate": b"\xed\xa0\x80",
    "no character": b"\xef\xbf\xbf",
    "tag left open": b"<b>bold",
    "comment left open": b"<!--",
    "entity": b"&eacute;",
    "a line longer than what is read at once": b"words " * 200_000,
}


@pytest.mark.parametrize("text", DAMAGE.values(), ids=DAMAGE)
def test_what_is_wrong_beside_the_address_and_the_category_costs_nothing(
    tmp_path: Path, text: bytes
) -> None:
    pages = [page(f"http://{n}/", "Top/World/Deutsch", text if n == 1 else b"") for n in range(3)]
    data = OdpUrls(dump(tmp_path, *pages))
    assert [row.url for row in data] == ["http://0/", "http://1/", "http://2/"]
    assert data.skipped == 0


@pytest.mark.parametrize(
    ("written", "url"),
    [
        (b"http://a/?b&c", "http://a/?b&c"),
        (b"http://a/?b&amp;c&#61;1&#x26;d", "http://a/?b&c=1&d"),
        (b"http://a/&amp;#61;", "http://a/&#61;"),
        ("http://a/\u00fc".encode(), "http://a/\u00fc"),
    ],
)
def test_references_in_an_address_are_read_once(tmp_path: Path, written: bytes, url: str) -> None:
    listed = page("URL", "Top/World/Deutsch").replace(b"URL", written)
    assert read(dump(tmp_path, listed)) == [(url, "de")]


@pytest.mark.parametrize(
    "url",
    [
        b"http://a/\xff",
        b"http://a/\x02",
        b"http://a/&#3;b",
        b"http://a/&#10;b",
        b"http://a/&#xD800;",
        b"http://a/&#9999999;",
    ],
)
def test_a_url_with_illegal_characters_is_no_row(tmp_path: Path, url: bytes) -> None:
    broken = page("URL", "Top/World/Deutsch").replace(b"URL", url)
    data = OdpUrls(dump(tmp_path, broken, page("http://b/", "Top/Arts")))
    assert [row.url for row in data] == ["http://b/"]
    assert data.reasons == {"illegal characters in the URL": 1}


MALFORMED = {
    "page left open": page("http://a/", "Top/Arts").replace(b"</ExternalPage>", b""),
    "tag in the address": page("URL", "Top/Arts").replace(b"URL", b"http://a/<b>"),
    "quote left open": page("http://a/", "Top/Arts").replace(b'/">', b"/>"),
}


@pytest.mark.parametrize("stretch", MALFORMED.values(), ids=MALFORMED)
def test_a_stretch_that_is_no_xml_costs_its_page_only(tmp_path: Path, stretch: bytes) -> None:
    before, after = page("http://0/", "Top/World/Deutsch"), page("http://1/", "Top/World/Italiano")
    data = OdpUrls(dump(tmp_path, before, stretch, after, stretch, after))
    around = [("http://0/", "de"), ("http://1/", "it"), ("http://1/", "it")]
    assert [(row.url, row.language) for row in data] == around
    assert data.reasons == {"malformed page": 2}


def test_a_page_that_is_open_at_the_end_is_counted(tmp_path: Path) -> None:
    data = OdpUrls(dump(tmp_path, page("http://0/", "Top/Arts"), MALFORMED["page left open"]))
    assert [row.url for row in data] == ["http://0/"]
    assert data.reasons == {"malformed page": 1}


def test_pages_that_name_no_topic_are_in_the_category_ahead_of_them(tmp_path: Path) -> None:
    old = b'<ExternalPage about="http://%d/">\n  <d:Title>X</d:Title>\n</ExternalPage>\n'
    elements = [
        topic("Top/World/Deutsch/K\x01ultur", "http://0/", "http://1/"),
        *(old % 0, old % 1),
        topic("Top/World/Português/Ciência & Arte"),
        topic("Top/World/Français", *(f"http://{n}/" for n in range(80_000))),
        old % 2,
    ]
    rows = read(dump(tmp_path, *elements))
    assert rows == [("http://0/", "de"), ("http://1/", "de"), ("http://2/", "fr")]


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


@settings(deadline=None)  # it writes files, on disks of any speed
@given(
    st.lists(st.binary(max_size=12) | st.sampled_from([b"<", b"&", b"]]>", b"</topic>", b"<!--"]))
)
def test_whatever_stands_in_a_description_the_pages_around_it_are_read(
    tmp_path_factory: pytest.TempPathFactory, words: list[bytes]
) -> None:
    pages = [page(f"http://{n}/", "Top/World/Deutsch") for n in range(3)]
    pages[1] = page("http://1/", "Top/World/Deutsch", b"".join(words))
    data = OdpUrls(dump(tmp_path_factory.mktemp("odp"), *pages))
    urls = [row.url for row in data]
    assert [url for url in urls if url != "http://1/"] == ["http://0/", "http://2/"]
    assert len(urls) + data.reasons["malformed page"] == 3
