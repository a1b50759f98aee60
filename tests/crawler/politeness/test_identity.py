"""Signed requests, by the standard's own example, an independent verifier and a loopback server."""

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import http_message_signatures as verifiers
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from benchmarks.servers.hostileserver import PAGE, answer, hostile_web, redirects, sends
from langfocus.crawler.errors import SettingError
from langfocus.crawler.politeness.identity import (
    Key,
    Signer,
    agent_of,
    directory_fields,
    read_key,
    signer,
    write_key,
)
from tests.crawler.outputs.test_warc import records
from tests.support.commandline import call
from tests.support.crawls import crawl, finished

RFC_KEY = b"""-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
"""
"""The key test-key-ed25519 of RFC 9421, B.1.4."""
RFC_THUMBPRINT = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
"""Its name in the examples of draft-ietf-webbotauth-httpsig-protocol, A.1."""


def rfc_key() -> Key:
    private = load_pem_private_key(RFC_KEY, None)
    assert isinstance(private, Ed25519PrivateKey)
    return Key(private)


def verify(fields: dict[str, str], values: dict[str, str], key: Key) -> None:
    """Verify a signature as RFC 9421, 3.2, has it; raises `InvalidSignature`."""
    found = re.fullmatch(r"sig1=(\(([^)]*)\);.*)", fields["Signature-Input"])
    assert found
    lines = [f"{name}: {values[name]}" for name in found[2].split()]
    base = "\n".join([*lines, f'"@signature-params": {found[1]}'])
    x = key.jwk["x"].replace("-", "+").replace("_", "/") + "="
    signature = b64decode(fields["Signature"].removeprefix("sig1=:").removesuffix(":"))
    Ed25519PublicKey.from_public_bytes(b64decode(x)).verify(signature, base.encode())


def test_the_key_of_the_standard_has_the_name_of_its_examples() -> None:
    assert rfc_key().thumbprint == RFC_THUMBPRINT


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://Example.ORG/a?b", "example.org"),
        ("https://example.org:443/", "example.org"),
        ("http://example.org:443/", "example.org:443"),
        ("http://user:word@example.org:80/", "example.org"),
        ("http://[2001:db8::1]:8080/", "[2001:db8::1]:8080"),
    ],
)
def test_a_signature_covers_the_authority_and_the_agent(url: str, authority: str) -> None:
    fields = Signer(rfc_key(), "https://bot.example", lambda: 1_735_689_600.5).fields(url)
    agent = '"https://bot.example"'
    values = {'"@authority"': authority, '"signature-agent";key="sig1"': agent}
    verify(fields, values, rfc_key())
    assert fields["Signature-Agent"] == f"sig1={agent}"
    assert ";created=1735689600;expires=1735689900;" in fields["Signature-Input"]
    assert fields["Signature-Input"].endswith(';tag="web-bot-auth"')
    for name in values:
        with pytest.raises(InvalidSignature):
            verify(fields, values | {name: "other"}, rfc_key())


def test_no_two_signatures_have_a_nonce_in_common() -> None:
    made = Signer(rfc_key(), "https://bot.example")
    assert len({made.fields("http://a.de/")["Signature"] for _ in range(99)}) == 99


def test_another_implementation_verifies_a_request() -> None:
    class Keys(verifiers.HTTPSignatureKeyResolver):
        def resolve_public_key(self, key_id: str) -> Any:
            assert key_id == RFC_THUMBPRINT
            return load_pem_private_key(RFC_KEY, None).public_key()

    class Request:
        method, url = "GET", "https://example.org:443/a"
        headers = Signer(rfc_key(), "https://bot.example").fields("https://example.org/a")

    verifier = verifiers.HTTPMessageVerifier(
        signature_algorithm=verifiers.algorithms.ED25519, key_resolver=Keys()
    )
    (result,) = verifier.verify(Request(), expect_tag="web-bot-auth")
    assert set(result.covered_components) >= {'"@authority"'}
    Request.url = "https://example.com/"
    with pytest.raises(verifiers.InvalidSignature):
        verifier.verify(Request(), expect_tag="web-bot-auth")


def test_the_directory_has_all_keys_and_a_proof_of_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, old, listed = (tmp_path / name for name in ("new.pem", "old.pem", "keys.json"))
    old.write_bytes(RFC_KEY)
    assert call("key", new, old, "--agent", "https://Bot.example/x", "--json", listed) == 0
    assert new.stat().st_mode & 0o777 == 0o600
    keys = json.loads(listed.read_text())["keys"]
    assert [one["kid"] for one in keys] == [read_key(new).thumbprint, RFC_THUMBPRINT]
    assert all(set(one) == {"kid", "use", "crv", "kty", "x"} for one in keys)  # nothing secret
    assert "https://bot.example/.well-known/http-message-signatures-directory" in (
        capsys.readouterr().out
    )
    before = new.read_bytes()
    assert call("key", new, "--agent", "https://bot.example") == 0
    assert new.read_bytes() == before


def test_a_proof_of_the_directory_verifies() -> None:
    fields = directory_fields([rfc_key()], "https://bot.example", 1_735_689_600, 60)
    verify(fields, {'"@authority";req': "bot.example"}, rfc_key())
    both = directory_fields([rfc_key(), rfc_key()], "https://bot.example", 1_735_689_600, 60)
    assert re.findall(r"sig\d=", both["Signature-Input"]) == ["sig1=", "sig2="]
    assert re.findall(r"sig\d=", both["Signature"]) == ["sig1=", "sig2="]


def test_a_signer_needs_a_key_and_an_https_contact(tmp_path: Path) -> None:
    key = tmp_path / "bot.pem"
    with pytest.raises(SettingError, match=r"bot\.pem: No such file"):
        signer(key, "https://bot.example")
    locked = Ed25519PrivateKey.generate().private_bytes
    for text in (
        b"",
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        RFC_KEY.replace(b"PRIVATE", b"PUBLIC"),
        locked(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())[:80],
    ):
        key.write_bytes(text)
        with pytest.raises(SettingError, match="not an unencrypted PEM file"):
            signer(key, "https://bot.example")
    key.unlink()
    write_key(key)
    for contact in (None, "you@example.org", "http://bot.example"):
        with pytest.raises(SettingError, match=r"LANGFOCUS_CONTACT=.*an https URL is needed"):
            signer(key, contact)
    assert agent_of("x", "https://bot.example:8443/about") == "https://bot.example:8443"


def test_each_request_of_a_crawl_is_signed_for_its_own_host(tmp_path: Path) -> None:
    links = PAGE + b"<a href='http://moved.de/'>x</a><a href='http://broken.de/'>x</a>"
    hosts = {
        "seed.de": sends(answer(links)),
        "moved.de": redirects(lambda _: b"http://target.de/"),
        "target.de": sends(answer(PAGE)),
        "broken.de": sends(answer(b"", status=b"503 Busy")),
    }
    key = tmp_path / "bot.pem"
    key.write_bytes(RFC_KEY)
    settings = {"DOWNLOAD_DELAY": 0, "LANGFOCUS_RETRY_DELAY": 0, "LANGFOCUS_KEY": key}
    with hostile_web(hosts) as proxy:
        finished(
            *("lang=de", "seeds=http://seed.de/"),
            proxy=proxy.url,
            LANGFOCUS_CONTACT="https://bot.example/about",
            JOBDIR=tmp_path / "run",
            **settings,
        )
    kept = records(tmp_path / "run", with_heads=True)
    signatures = []
    for url, block in ((url, block) for kind, url, block in kept if kind == "request"):
        fields = dict(re.findall(r"(?m)^(Signature[A-Za-z-]*): (.*)\r$", block.decode()))
        host = url.split("/")[2]
        values = {'"@authority"': host, '"signature-agent";key="sig1"': '"https://bot.example"'}
        verify(fields, values, rfc_key())
        signatures.append(fields["Signature"])
    assert len(set(signatures)) == len(signatures) >= 8
    asked = {url for kind, url, _ in kept if kind == "request"}
    assert {"http://target.de/", "http://target.de/robots.txt", "http://broken.de/"} <= asked


def test_a_crawl_without_a_contact_for_its_key_does_not_begin(tmp_path: Path) -> None:
    key = tmp_path / "bot.pem"
    key.write_bytes(RFC_KEY)
    done = crawl("lang=de", "seeds=http://a.de/", LANGFOCUS_KEY=key, JOBDIR=tmp_path / "run")
    assert (done.returncode, "LANGFOCUS_KEY: LANGFOCUS_CONTACT=" in done.stderr) == (2, True)
    assert not (tmp_path / "run").exists()
