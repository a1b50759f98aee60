"""Signatures by which servers recognise the bot: Web Bot Auth.

A request is signed with Ed25519 by HTTP Message Signatures (RFC 9421) in the profile of
draft-ietf-webbotauth-httpsig-protocol: the signature covers the authority and the Signature-Agent
field, whose origin publishes the public keys (draft-meunier-webbotauth-httpsig-directory).
"""

import json
import secrets
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from langfocus.crawler.errors import SettingError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DIRECTORY_PATH: Final = "/.well-known/http-message-signatures-directory"
"""Where the origin of Signature-Agent publishes the key directory."""

DIRECTORY_TYPE: Final = "application/http-message-signatures-directory+json"
"""Content-Type of the key directory."""

SIGNATURE_S: Final = 300
"""Seconds for which the signature of a request is valid: clocks differ, requests are resent."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MOST_KEY_BYTES: Final = 65_536


class Key:
    """An Ed25519 key. `thumbprint` (RFC 7638) is its name in signatures."""

    def __init__(self, private: "Ed25519PrivateKey") -> None:
        """Make the public form of a private key."""
        self._private = private
        x = _text(private.public_key().public_bytes_raw())
        self.jwk = {"crv": "Ed25519", "kty": "OKP", "x": x}
        plain = json.dumps(self.jwk, separators=(",", ":"), sort_keys=True)
        self.thumbprint = _text(sha256(plain.encode()).digest())

    def signed(
        self, covered: Sequence[tuple[str, str]], tag: str, created: int, valid_s: int
    ) -> tuple[str, str]:
        """Return the values of Signature-Input and Signature (RFC 9421, 2.5).

        `covered` has the component identifiers with their values. `created` is in seconds since
        1970.
        """
        names = " ".join(name for name, _ in covered)
        parameters = (
            f'({names});created={created};expires={created + valid_s};keyid="{self.thumbprint}"'
            f';alg="ed25519";nonce="{b64encode(secrets.token_bytes(64)).decode()}";tag="{tag}"'
        )
        lines = [f"{name}: {value}" for name, value in covered]
        base = "\n".join([*lines, f'"@signature-params": {parameters}'])
        signature = b64encode(self._private.sign(base.encode())).decode()
        return f"sig1={parameters}", f"sig1=:{signature}:"


class Signer:
    """Signs requests with a key, in the name of an origin."""

    def __init__(self, key: Key, agent: str, clock: Callable[[], float] = time.time) -> None:
        """Take the origin that publishes the key directory, and a clock in seconds since 1970."""
        self._key, self._agent, self._clock = key, agent, clock

    def fields(self, url: str) -> dict[str, str]:
        """Return the header fields of a request for an absolute URL."""
        covered = [
            ('"@authority"', _authority(url)),
            ('"signature-agent";key="sig1"', f'"{self._agent}"'),
        ]
        made = self._key.signed(covered, "web-bot-auth", int(self._clock()), SIGNATURE_S)
        return {
            "Signature-Agent": f'sig1="{self._agent}"',
            "Signature-Input": made[0],
            "Signature": made[1],
        }


def read_key(path: Path) -> Key:
    """Return the private key of a PEM file; raises `SettingError`."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        with path.open("rb") as file:
            private = load_pem_private_key(file.read(_MOST_KEY_BYTES), password=None)
    except OSError as error:
        raise SettingError(f"{path}: {error.strerror}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SettingError(
            f"{path}: not an unencrypted PEM file with a private key; langfocus key makes one"
        ) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise SettingError(f"{path}: an Ed25519 key is needed; langfocus key makes one")
    return Key(private)


def write_key(path: Path) -> None:
    """Write a new private key that only its owner can read; raises `FileExistsError`."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    made = Ed25519PrivateKey.generate()
    text = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(text)


def signer(path: Path, contact: str | None) -> Signer:
    """Return the signer with the key of a file and the contact's origin; raises `SettingError`."""
    return Signer(read_key(path), agent_of("LANGFOCUS_KEY: LANGFOCUS_CONTACT", contact or ""))


def agent_of(label: str, url: str) -> str:
    """Return the origin of an https URL; raises `SettingError`, which names the `label`."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise SettingError(
            f"{label}={url}: an https URL is needed, whose origin publishes {DIRECTORY_PATH} "
            "(langfocus key prints it)"
        )
    return f"https://{_authority(url)}"


def directory(keys: Sequence[Key]) -> str:
    """Return the key directory, a JSON Web Key Set (RFC 7517, 5)."""
    listed = [{"kid": key.thumbprint, "use": "sig", **key.jwk} for key in keys]
    return json.dumps({"keys": listed}, indent=2) + "\n"


def directory_fields(keys: Sequence[Key], agent: str, created: int, valid_s: int) -> dict[str, str]:
    """Return the header fields with which a server shows that it owns the directory's keys."""
    covered = [('"@authority";req', _authority(agent))]
    tag = "http-message-signatures-directory"
    made = [key.signed(covered, tag, created, valid_s) for key in keys]
    number = [str(n) for n in range(1, len(made) + 1)]
    inputs, signatures = (
        ", ".join(one.replace("sig1", f"sig{n}", 1) for n, one in zip(number, values, strict=True))
        for values in zip(*made, strict=True)
    )
    return {
        "Content-Type": DIRECTORY_TYPE,
        "Signature-Input": inputs,
        "Signature": signatures,
    }


def _authority(url: str) -> str:
    """Return the normalised authority of an absolute URL (RFC 9421, 2.2.3)."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    is_default = parts.port in (None, _DEFAULT_PORTS.get(parts.scheme))
    return host if is_default else f"{host}:{parts.port}"


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
