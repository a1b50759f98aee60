"""The bytes of WARC 1.1 records, each a separate gzip member."""

import time
from base64 import b32encode
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha1
from typing import Final, NamedTuple
from uuid import uuid4

from isal import isal_zlib  # five times as fast as zlib, files a tenth larger

from langfocus.crawler.http.download import Exchange
from langfocus.crawler.outputs.archived import NOT_MODIFIED_SINCE, SAME_PAYLOAD_AS

REBUILT: Final = "X-Crawler-Head"
"""Header of a record with an HTTP head rebuilt from headers."""

LEVEL: Final = 2
"""Compression level: 0 to 3."""

_PROFILES = {
    SAME_PAYLOAD_AS: "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
    NOT_MODIFIED_SINCE: "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
}  # WARC 1.1, 6.7

_ANSWER = "application/http; msgtype=response"
_TYPES = {
    "warcinfo": "application/warc-fields",
    "response": _ANSWER,
    "request": "application/http; msgtype=request",
    "revisit": _ANSWER,
    "metadata": "application/warc-fields",
    "conversion": "text/html; charset=utf-8",
}
_GZIP = 31  # window bits of a gzip member


class Revisit(NamedTuple):
    """The profile of a `revisit`; URL and WARC-Date of the referred record, if known.

    `written` is the payload digest as another archive spells it; "" for its usual spelling.
    """

    kind: int
    url: str = ""
    date: str = ""
    written: str = ""


class Packed(NamedTuple):
    """A record as a gzip member, and its WARC-Record-ID."""

    data: bytes
    record_id: str


@lru_cache(maxsize=64)
def warc_date(seconds: float) -> str:
    """Return unix seconds as a WARC-Date."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))


def digest_of(data: bytes) -> bytes:
    """Return the SHA-1 of some bytes."""
    return sha1(data, usedforsecurity=False).digest()


def written_digest(digest: bytes) -> str:
    """Return a SHA-1 as WARC files and their indexes write it."""
    return f"sha1:{b32encode(digest).decode()}"


def digest_text(stored: str) -> str:
    """Return the payload digest of a row of `archived` as its record has it."""
    return stored if ":" in stored else written_digest(bytes.fromhex(stored))


def pack(
    kind: str, date: str, headers: Mapping[str, str], *block: bytes, digest: str | None = None
) -> Packed:
    """Return a WARC record with its block digest.

    `headers` follow the mandatory headers. The parts of the `block` are joined once: each copy of
    a large body costs time. `digest` is the written payload digest, None without a payload.
    """
    block_digest = sha1(usedforsecurity=False)
    for part in block:
        block_digest.update(part)
    fields = {
        "WARC-Type": kind,
        "WARC-Date": date,
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
        "Content-Length": str(sum(map(len, block))),
        **headers,
        "Content-Type": _TYPES[kind],
    }
    if digest is not None:
        fields["WARC-Payload-Digest"] = digest
    fields["WARC-Block-Digest"] = written_digest(block_digest.digest())
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    data = b"".join([f"WARC/1.1\r\n{lines}\r\n".encode(), *block, b"\r\n\r\n"])
    return Packed(isal_zlib.compress(data, LEVEL, _GZIP), fields["WARC-Record-ID"])


def pack_answer(
    exchange: Exchange, digest: bytes, warcinfo_id: str, revisit: Revisit | None
) -> Packed:
    """Return the `response` record of an exchange, or a `revisit` record with the head only.

    `digest` is the SHA-1 of the body; a 304 answer has no payload digest.
    """
    headers = {"WARC-Target-URI": exchange.url, "WARC-Warcinfo-ID": warcinfo_id}
    headers |= _of_connection(exchange)
    date = warc_date(exchange.began_at)
    if revisit is None:
        if exchange.truncated:
            headers["WARC-Truncated"] = exchange.truncated
        block = exchange.head, exchange.body
        return pack("response", date, headers, *block, digest=written_digest(digest))
    headers["WARC-Profile"] = _PROFILES[revisit.kind]
    if revisit.date:
        headers["WARC-Refers-To-Target-URI"] = revisit.url
        headers["WARC-Refers-To-Date"] = revisit.date
    written = revisit.written or written_digest(digest)
    payload = None if revisit.kind == NOT_MODIFIED_SINCE else written
    return pack("revisit", date, headers, exchange.head, digest=payload)


def _of_connection(exchange: Exchange) -> dict[str, str]:
    """Return the headers about the connection of an exchange.

    WARC-Protocol is a proposal to IIPC that several crawlers follow. The standard has no mark for a
    head that is not as sent, and lets readers skip a header that they do not know.
    """
    headers = {"WARC-IP-Address": exchange.ip or "", "WARC-Protocol": exchange.protocol or ""}
    headers[REBUILT] = "" if exchange.protocol is None else "rebuilt"
    return {name: value for name, value in headers.items() if value}


def pack_beside(
    kind: str, exchange: Exchange, warcinfo_id: str, answer_id: str, block: bytes
) -> bytes:
    """Return a `request`, `metadata` or `conversion` record of the answer with this record id."""
    headers = {
        "WARC-Target-URI": exchange.url,
        "WARC-Warcinfo-ID": warcinfo_id,
    }
    if kind != "conversion":  # WARC 1.1, 5.7
        headers["WARC-Concurrent-To"] = answer_id
    if kind != "request":
        headers["WARC-Refers-To"] = answer_id
    else:
        headers |= _of_connection(exchange)
    return pack(kind, warc_date(exchange.began_at), headers, block).data


def fields_block(values: Mapping[str, str]) -> bytes:
    """Return fields as a block of type application/warc-fields, one line each."""
    lines = [f"{name}: {' '.join(value.split())}\r\n" for name, value in values.items()]
    return "".join(lines).encode("utf-8", "replace")
