"""Seed lists made of runs, indexes and Markdown."""

import gzip
import re
from pathlib import Path

import pytest

from langfocus.crawler.errors import SettingError
from langfocus.crawler.sources.seed_lists import seeds_in
from tests.support.commandline import call
from tests.support.report_run import Row, make_run

MARKDOWN = """# Web Language: Example

News:
- https://news.example/cy (local [news](https://other.example/a))
-

Informative links (in English):
- https://about.example/

Other:
| site | https://table.example/x |

Additional Information:
- https://codes.example/

## Instructions
See https://how.example/
"""
INDEX = """!meta 0 {"format": "cdxj"}
a) 2 {"url": "http://a.example/1", "mime": "text/html", "status": "200", "languages": "deu,eng"}
a) 2 {"url": "http://a.example/2", "mime": "text/html", "status": "200", "languages": "deu"}
b) 2 {"url": "http://b.example/", "mime": "text/html", "status": "200", "languages": "eng,deu"}
c) 2 {"url": "http://c.example/", "mime": "text/html", "status": "404"}
d) 2 {"url": "http://d.example/", "mime": "image/png", "status": "200"}
e) 2 {"url": "http://e.example/", "mime": "text/html", "status": 200}
f) 2 no JSON
"""


def test_links_about_the_language_are_no_seeds(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text(MARKDOWN)
    assert seeds_in(tmp_path / "x.md", "cy") == [
        "https://news.example/cy",
        "https://other.example/a",
        "https://table.example/x",
    ]


def test_an_index_gives_one_page_of_each_host_in_the_language(tmp_path: Path) -> None:
    (tmp_path / "x.cdxj").write_text(INDEX)
    found = {"http://a.example/1", "http://e.example/"}
    assert set(seeds_in(tmp_path / "x.cdxj", "de")) == found
    packed = tmp_path / "x.cdxj.gz"
    packed.write_bytes(gzip.compress(INDEX.encode()))
    assert set(seeds_in(packed, "de")) == found
    packed.write_bytes(packed.read_bytes()[:60])
    with pytest.raises(SettingError, match="cannot be read"):
        seeds_in(packed, "de")


def test_a_hostile_line_of_an_index_is_left_out(tmp_path: Path) -> None:
    deep, long = f'x 1 {{"a": {"[" * 100_000}', f'x 1 {{"url": "http://{"a" * (1 << 21)}"}}'
    (tmp_path / "x.cdxj").write_text(f"{deep}\n{long}\n{INDEX}")
    assert set(seeds_in(tmp_path / "x.cdxj", "de")) == {"http://a.example/1", "http://e.example/"}


def test_the_command_joins_sources_and_the_shipped_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        Row(f"http://{host}.de/{n}", f"{host}.de") for host, n in (("a", 1), ("b", 1), ("b", 2))
    ]
    make_run(tmp_path / "run", [*rows, Row("http://c.de/", "c.de", language="en")])
    (tmp_path / "own.txt").write_text("http://b.de/1\nhttp://d.de/\n")
    assert call("seeds", "de", tmp_path / "run", tmp_path / "own.txt") == 0
    said = capsys.readouterr()
    urls = said.out.splitlines()
    assert urls[:3] == ["http://b.de/1", "http://a.de/1", "http://d.de/"]
    assert len(urls) == len(set(urls)) > 3
    assert "own.txt: 2 URLs, 1 new" in said.err
    assert re.search(r"\n2 of \d+ hosts gave a page in the language in these runs; ", said.err)
    assert call("seeds", "frp") == 2
    assert call("seeds", "de", tmp_path / "absent.txt") == 2
