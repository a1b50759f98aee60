import gzip
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.datasets import CdxUrls, ColumnarUrls, LabelledUrl
from classifiers.errors import DatasetError, MissingPackageError
from tests.classifiers.datasets.test_odp import peak_of

pa = pytest.importorskip("pyarrow", reason="the extra commoncrawl is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="the extra commoncrawl is not installed")

Capture = tuple[str, int, str | None]

# The columnar index has these among its columns, of these types (cc-index-schema-flat).
SCHEMA = pa.schema(
    [
        pa.field("url_surtkey", pa.string(), nullable=False),
        pa.field("url", pa.string(), nullable=False),
        pa.field("url_host_name", pa.string(), nullable=False),
        pa.field("url_port", pa.int32()),
        pa.field("fetch_time", pa.timestamp("ms"), nullable=False),
        pa.field("fetch_status", pa.int16(), nullable=False),
        pa.field("content_mime_detected", pa.string()),
        pa.field("content_charset", pa.string()),
        pa.field("content_languages", pa.string()),
        pa.field("warc_record_offset", pa.int32(), nullable=False),
    ]
)
CAPTURES: list[Capture] = [
    ("http://a.de/", 200, "deu"),
    ("http://b.de/", 200, "deu,eng"),
    ("http://c.de/", 404, "deu"),
    ("http://d.de/x.pdf", 200, None),
    ("http://e.mu/", 200, "tlh"),
    ("http://f.cn/", 200, "zho"),
    ("http://g.de/", 200, ""),
]
REASONS = {
    "several languages": 1,
    "status other than 200": 1,
    "no language": 2,
    "unknown language": 1,
}


def columnar(path: Path, captures: list[Capture], row_group: int = 3) -> Path:
    """A file of the columnar index with these captures."""
    rows = [
        {
            "url_surtkey": url,
            "url": url,
            "url_host_name": "host",
            "fetch_time": datetime(2024, 2, 20, tzinfo=UTC),
            "fetch_status": status,
            "content_languages": languages,
            "warc_record_offset": 7,
        }
        for url, status, languages in captures
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    pq.write_table(table, path, compression="gzip", row_group_size=row_group)
    return path


def line(url: str, status: int, languages: str | None) -> bytes:
    """A line of the CDXJ index; a capture without language has no such field."""
    fields = {"url": url, "mime": "text/html", "mime-detected": "text/html"}
    fields |= {"status": str(status), "length": "78501", "offset": "243658810"}
    if languages is not None:
        fields |= {"charset": "UTF-8", "languages": languages}
    return f"de,host)/ 20240220000000 {json.dumps(fields)}\n".encode()


def cdxj(path: Path, captures: list[Capture], members: int = 1) -> Path:
    """A file of the CDXJ index; in .gz, every so many lines are a member of their own."""
    lines = [line(*capture) for capture in captures]
    blocks = [b"".join(lines[n : n + members]) for n in range(0, len(lines), members)]
    packed = (gzip.compress(block) if path.suffix == ".gz" else block for block in blocks)
    path.write_bytes(b"".join(packed))
    return path


@pytest.fixture(params=["part-00000.c000.gz.parquet", "cdx-00000.gz", "index.cdxj"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> ColumnarUrls | CdxUrls:
    """The same captures in each format."""
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        return ColumnarUrls(columnar(path, CAPTURES))
    return CdxUrls(cdxj(path, CAPTURES))


def test_captures_of_status_200_in_one_language_are_rows(index: ColumnarUrls | CdxUrls) -> None:
    for _ in range(2):
        assert list(index) == [
            LabelledUrl("http://a.de/", "de", "content", "commoncrawl"),
            LabelledUrl("http://f.cn/", "zh", "content", "commoncrawl"),
        ]
        assert index.reasons == REASONS
        assert index.skipped == sum(REASONS.values())


def test_the_files_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    table = tmp_path / "crawl=CC-MAIN-2024-10"
    columnar(table / "subset=warc" / "part-00001.parquet", [("http://b/", 200, "fra")])
    columnar(table / "subset=warc" / "part-00000.parquet", [("http://a/", 200, "deu")])
    (table / "_SUCCESS").touch()
    assert [row.url for row in ColumnarUrls(tmp_path)] == ["http://a/", "http://b/"]
    for n in (1, 0):
        cdxj(tmp_path / f"cdx-0000{n}.gz", [(f"http://{n}/", 200, "ita")])
    assert [row.url for row in CdxUrls(tmp_path)] == ["http://0/", "http://1/"]


def test_a_folder_without_files_of_the_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no file called \*\.parquet in it"):
        list(ColumnarUrls(tmp_path))
    with pytest.raises(DatasetError, match=r"no file called cdx-\* or"):
        list(CdxUrls(tmp_path))


def test_lines_that_are_not_of_the_index_are_counted(tmp_path: Path) -> None:
    good = line("http://a.de/", 200, "deu")
    lines = [
        good,
        b"\n",
        b"de,host)/ 20240220000000\n",
        good[: len(good) // 2] + b"\n",
        b'de,host)/ 20240220000000 ["url"]\n',
        b'de,host)/ 20240220000000 {"url": "http://\xff/", "status": "200"}\n',
        b'de,host)/ 20240220000000 {"url": 7, "status": "200", "languages": "deu"}\n',
        b'{"urlkey": "de,b)/", "url": "http://b.de/", "status": "200", "languages": "deu"}\n',
        good.replace(b'"deu"', b'["deu"]'),
        good.replace(b"a.de", rb"\ud800.de"),
        b'de,c)/?q={ 20240220000000 {"url": "http://c/?q={", "status": "200", "languages": "deu"}',
        b"[" * 100_000,
    ]
    path = tmp_path / "cdx-00000"
    path.write_bytes(b"\n".join(each.rstrip(b"\n") for each in lines))
    data = CdxUrls(path)
    assert [row.url for row in data] == ["http://a.de/", "http://b.de/", "http://c/?q={"]
    assert data.reasons == {"malformed line": 6, "no URL": 2, "no language": 1}


def test_a_damaged_file_is_one_line_with_the_place(tmp_path: Path) -> None:
    captures: list[Capture] = [(f"http://{n}.de/", 200, "deu") for n in range(3000)]
    packed = cdxj(tmp_path / "whole.cdxj.gz", captures, members=500).read_bytes()
    table = columnar(tmp_path / "whole.parquet", captures, 1000).read_bytes()
    damaged = {
        "short.cdxj.gz": packed[: len(packed) * 3 // 4],
        "plain.cdxj.gz": b"de,host)/ ",
        "tail.cdxj.gz": packed + b"no member",
        "short.parquet": table[: len(table) // 2],
        "empty.parquet": b"",
        "holes.parquet": table[:20_000] + bytes(4000) + table[24_000:],
    }
    for name, content in damaged.items():
        path = tmp_path / name
        path.write_bytes(content)
        data = ColumnarUrls(path) if path.suffix == ".parquet" else CdxUrls(path)
        with pytest.raises(DatasetError, match=rf"{name}:( row )?\d+: cannot be read") as caught:
            list(data)
        assert "\n" not in str(caught.value)
    for data in (ColumnarUrls(tmp_path / "none.parquet"), CdxUrls(tmp_path / "none.cdxj")):
        with pytest.raises(DatasetError, match="No such file"):
            list(data)


def test_a_table_without_languages_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.parquet"
    pq.write_table(pa.table({"url": ["http://a.de/"], "fetch_status": [200]}), path)
    with pytest.raises(DatasetError, match=r"no column content_languages; .* CC-MAIN-2018-39"):
        list(ColumnarUrls(path))


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = columnar(tmp_path / "a.parquet", CAPTURES)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingPackageError, match=r"pyarrow .*'langfocus\[commoncrawl\]'"):
        list(ColumnarUrls(path))


codes = st.sampled_from(["deu", "eng", "nor", "tlh"])
captures = st.tuples(
    st.integers(0, 99).map("http://{}/".format),
    st.sampled_from([200, 301, 404]),
    st.none() | st.lists(codes, max_size=3, unique=True).map(",".join),
)


@settings(deadline=None)  # it writes files, on disks of any speed
@given(st.lists(captures, min_size=1, max_size=20))
def test_both_indexes_of_the_same_captures_give_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, captures: list[Capture]
) -> None:
    folder = tmp_path_factory.mktemp("index")
    table = ColumnarUrls(columnar(folder / "a.parquet", captures))
    lines = CdxUrls(cdxj(folder / "a.cdxj.gz", captures))
    rows = list(table)
    assert rows == list(lines)
    assert table.reasons == lines.reasons
    assert len(rows) + table.skipped == len(captures)


def test_memory_is_bounded_whatever_the_length_of_the_index(tmp_path: Path) -> None:
    captures: list[Capture] = [(f"http://site{n}.de/index.html", 200, "deu") for n in range(60_000)]
    table = ColumnarUrls(columnar(tmp_path / "a.parquet", captures, row_group=20_000))
    lines = CdxUrls(cdxj(tmp_path / "cdx-00000.gz", captures[:9000], members=3000))
    for data, expected, most in ((table, 60_000, 4 << 20), (lines, 9000, 1 << 20)):
        count, peak = peak_of(data)
        assert count == expected
        assert peak < most
