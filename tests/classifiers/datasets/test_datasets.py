import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers.datasets import open_dataset
from langfocus.classifiers.datasets.odp import OdpUrls
from langfocus.classifiers.datasets.rows import (
    LabelledUrl,
    LabelledUrls,
    domain_reader,
    split,
    stable_share,
)
from langfocus.classifiers.errors import DatasetError

HEADER = "url\tlang\tlabel_kind\tsource\n"


def write(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["urls.tsv", "urls.tsv.gz"])
def test_rows_are_read_in_order_with_codes_of_the_project(tmp_path: Path, name: str) -> None:
    rows = "n\tsource\tlang\turl\tlabel_kind\n1\ts\tde-AT\thttp://a.de/\teditor\n"
    assert list(LabelledUrls(write(tmp_path / name, rows + "2\ty\tnb\thttp://b.no/\tx\n"))) == [
        LabelledUrl("http://a.de/", "de", "editor", "s"),
        LabelledUrl("http://b.no/", "no", "x", "y"),
    ]


def test_malformed_rows_are_skipped_and_counted(tmp_path: Path) -> None:
    rows = "http://a.de/\tde\n\thttp://\n\tde\tk\ts\nhttp://b.de/\tnolanguage\tk\ts\nu\tde\tk\ts\n"
    data = LabelledUrls(write(tmp_path / "u.tsv", HEADER + rows))
    assert [row.url for row in data] == ["u"]
    assert data.skipped == 4
    assert len(list(data)) == 1
    assert data.skipped == 4
    assert data.reasons == {"cut short": 2, "no URL": 1, "unknown language": 1}


def test_a_file_that_cannot_be_read_is_one_line_with_the_place(tmp_path: Path) -> None:
    path, table = tmp_path / "u.tsv.gz", (HEADER + "http://a.de/\tde\tk\ts\n" * 2000).encode()
    contents = {
        "1: cannot be read (No such file or directory)": None,
        "1: no column url, lang": gzip.compress(b"http://a.de/\tde\n"),
        "1: no column url": b"",
        "1: cannot be read (Not a gzipped file": b"url\tlang",
        "1: cannot be read (Compressed file ended": gzip.compress(table)[:60],
        "2: not UTF-8": gzip.compress(HEADER.encode() + b"http://a/\xff\tde\tk\ts\n"),
        "2: a line of 1048576 bytes or more": gzip.compress(HEADER.encode() + b"a" * (1 << 20)),
    }
    for fault, content in contents.items():
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(DatasetError) as caught:
            list(LabelledUrls(path))
        assert str(caught.value).startswith(f"{path}:{fault}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("block", "name", "kind", "languages"),
    [
        ("tsv", "urls.TSV.gz", LabelledUrls, ["de", "fr"]),
        ("xml", "kt-content.rdf.u8.gz", OdpUrls, ["de"]),
        ("xml", "content.rdf", OdpUrls, ["de"]),
    ],
)
def test_the_examples_of_the_documentation_are_read_by_the_name_of_their_file(
    tmp_path: Path, block: str, name: str, kind: type, languages: list[str]
) -> None:
    text = (Path(__file__).parents[3] / "docs" / "data.md").read_text(encoding="utf-8")
    example = re.findall(rf"(?ms)^```{block}\n(.*?)^```", text)[0]
    data = open_dataset(write(tmp_path / name, example))
    assert type(data) is kind
    assert [row.language for row in data] == languages
    assert data.skipped == 0


def test_a_name_that_tells_no_format_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").touch()
    with pytest.raises(DatasetError, match=r"urls\.txt: .*\*\.tsv"):
        open_dataset(tmp_path / "urls.txt")
    for path in (tmp_path / "none.tsv", tmp_path):
        with pytest.raises(DatasetError, match=r"no such file$"):
            open_dataset(path)


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("http://wetter.tagesschau.de/x", "tagesschau.de"),
        ("https://user@WWW.BBC.co.uk:443/news", "bbc.co.uk"),
        ("bbc.co.uk/news", "bbc.co.uk"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("http://localhost/", "localhost"),
        ("", ""),
    ],
)
def test_registered_domain_of_a_url(url: str, domain: str) -> None:
    assert domain_reader()(url) == domain


names = st.text("abcdef", min_size=1, max_size=6)


@given(st.lists(st.tuples(names, names), max_size=30), st.integers(0, 5))
def test_no_registered_domain_is_in_both_parts_and_no_row_is_lost(
    pairs: list[tuple[str, str]], seed: int
) -> None:
    rows = [LabelledUrl(f"http://{host}.{name}.de/", "de", "k", "s") for host, name in pairs]
    train, test = split(rows, test_share=0.5, seed=seed)
    domain = domain_reader()
    assert not {domain(row.url) for row in train} & {domain(row.url) for row in test}
    assert sorted(train + test) == sorted(rows)


def test_a_domain_stays_in_its_part_when_the_data_grow() -> None:
    rows = [LabelledUrl(f"http://site{n}.de/", "de", "k", "s") for n in range(200)]
    assert set(split(rows[:100])[1]) <= set(split(rows)[1])
    assert 5 <= len(split(rows)[1]) <= 40


def test_stable_share_depends_on_text_seed_and_purpose() -> None:
    assert stable_share("a.de", 1) == stable_share("a.de", 1)
    shares = {stable_share("a.de", 1), stable_share("a.de", 2), stable_share("a.de", 1, "other")}
    assert len(shares) == 3
    assert all(0 <= share < 1 for share in shares)
