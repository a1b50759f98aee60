"""Indexes of other archives: an answer with a body that they have is a `revisit`."""

import gzip
import json
from base64 import b32encode
from hashlib import sha1, sha256
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from langfocus.crawler.errors import SettingError
from langfocus.crawler.options.config import Config
from langfocus.crawler.outputs.archived import read_archived
from langfocus.crawler.outputs.dedup import Payloads
from langfocus.crawler.outputs.package import write_index
from langfocus.crawler.outputs.warc import WarcArchive, WarcFile
from langfocus.crawler.run.folder import connect
from langfocus.crawler.run.schema import create
from langfocus.crawler.session.preparation import prepare
from tests.crawler.outputs.test_warc import GERMAN, NOW, exchange, lease

BASE32 = f"sha1:{b32encode(sha1(b'base32').digest()).decode()}"
HEX = sha1(b"hex").hexdigest()
SHA256 = f"sha256:{sha256(b'sha256').hexdigest()}"


def line(digest: str, url: str = "http://b.de/", time: str = "20260102030405", **more: str) -> str:
    fields = {"url": url, "mime": "text/html", "status": "200", "digest": digest, **more}
    return f"de,b)/ {time} {json.dumps(fields)}\n"


INDEX = (
    "!OpenWayback-CDXJ 1.0\n"
    + line(SHA256, "http://z.de/")
    + line("-")
    + line(BASE32)
    + line(HEX)
    + line(f"sha1:{b32encode(sha1(b'gone').digest()).decode()}", mime="warc/revisit")
    + line(f"sha1:{b32encode(sha1(b'split').digest()).decode()}", "http://b.de/\r\nX: y")
    + line(BASE32, "http://late.de/")
)


def refused(tmp_path: Path, data: bytes) -> str:
    path = tmp_path / "index.cdxj"
    path.write_bytes(data)
    payloads = Payloads(tmp_path)
    with pytest.raises(SettingError) as error:
        payloads.add_index(path)
    assert payloads.find(b"base32", sha1(b"base32").digest()) is None
    payloads.close()
    return str(error.value).removeprefix(f"LANGFOCUS_DEDUP={path}")


def test_a_body_of_an_index_in_any_spelling_is_a_revisit_in_that_spelling(tmp_path: Path) -> None:
    path = tmp_path / "index.cdxj.gz"
    path.write_bytes(gzip.compress(INDEX.encode()))
    create(tmp_path / "run.db", {})
    payloads = Payloads(tmp_path)
    payloads.add_index(path)
    payloads.add_index(path)
    connection = connect(tmp_path / "run.db")
    archive = WarcArchive(connection, WarcFile(tmp_path, {}, now=NOW), payloads)
    bodies = [b"base32", b"hex", b"sha256", b"gone", b"split", b"new", b"new", b""]
    for number, body in enumerate(bodies):
        with archive.keeping(lease(number), GERMAN, exchange(f"http://a.de/{number}", body)):
            pass
    archive.close()
    found = []
    with next(tmp_path.glob("pages-*")).open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "revisit":
                found.append(
                    [
                        record.rec_headers.get_header(f"WARC-{name}")
                        for name in ("Refers-To-Target-URI", "Refers-To-Date", "Payload-Digest")
                    ]
                )
    date = "2026-01-02T03:04:05Z"
    assert found[:3] == [
        ["http://b.de/", date, BASE32],
        ["http://b.de/", date, f"sha1:{HEX}"],
        ["http://z.de/", date, SHA256],
    ]
    assert [row[0] for row in found[3:]] == ["http://a.de/5"]
    assert [row.is_revisit for _, row in read_archived(connection)] == [1, 1, 1, 0, 0, 0, 1, 0]
    connection.close()
    write_index(tmp_path)
    index = (tmp_path / "index.cdxj").read_text().splitlines()
    digests = [json.loads(one.split(" ", 2)[2])["digest"] for one in index]
    assert digests[:3] == [BASE32, f"sha1:{HEX}", SHA256]


def test_a_broken_index_is_one_line_with_its_place_and_adds_nothing(tmp_path: Path) -> None:
    good = line(BASE32)
    for bad in ("de,b)/ 20260102030405 text/html 200\n", line(HEX, time="2026"), "x\n", "a b []\n"):
        assert refused(tmp_path, f"{good}{bad}".encode()).startswith(":2: no line of a CDXJ index")
    assert refused(tmp_path, good.encode() + b"\xff\xfe\n").startswith(":2: ")
    assert refused(tmp_path, gzip.compress(good.encode())[:-9]).startswith(": cannot be read")
    assert refused(tmp_path, line("md5:abc").encode()).startswith(": no record with a SHA-1")
    assert refused(tmp_path, b"a 20260102030405 " + b"[" * (1 << 20)).startswith(":1: no line")


def test_a_missing_index_or_a_crawl_without_archive_is_refused(tmp_path: Path) -> None:
    name = {"LANGFOCUS_DEDUP": str(tmp_path / "none.cdxj")}
    with pytest.raises(SettingError, match=r"none\.cdxj: no such file"):
        Config.read({"lang": "de"}, name)
    (tmp_path / "none.cdxj").touch()
    with pytest.raises(SettingError, match="nothing is kept"):
        prepare(Config.read({"lang": "de"}, {**name, "LANGFOCUS_WARC": False}))
