"""What strangers wrote, on a terminal."""

import gzip
import subprocess
import sys
import zipfile
from pathlib import Path

BODY = b"<html><body><p>Das ist ein Satz, und das ist noch einer.</p></body></html>"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(BODY)
NAME = "a\x1b[31m\x9b\u202e\u2066.wacz"


def warc() -> bytes:
    """A WARC file of one answer."""
    answer = HEAD + BODY
    fields = [
        b"WARC/1.0",
        b"WARC-Type: response",
        b"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>",
        b"WARC-Date: 2024-01-01T00:00:00Z",
        b"WARC-Target-URI: http://a.example/",
        b"Content-Type: application/http; msgtype=response",
        b"Content-Length: %d" % len(answer),
    ]
    return gzip.compress(b"\r\n".join(fields) + b"\r\n\r\n" + answer + b"\r\n\r\n")


def test_a_warning_with_a_name_of_a_file_has_no_controls(tmp_path: Path) -> None:
    (tmp_path / "0.warc.gz").write_bytes(warc())
    with zipfile.ZipFile(tmp_path / NAME, "w") as members:
        members.writestr("archive/0.warc.gz", b"")
    command = [sys.executable, "-m", "langfocus", "census", "0.warc.gz", NAME]
    ended = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path)
    assert ended.returncode == 0
    warning = ended.stderr.decode()
    assert warning.startswith("a?[31m???.wacz: ")
    assert all(letter.isprintable() or letter == "\n" for letter in warning)
