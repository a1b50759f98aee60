"""Certificates of servers on loopback."""

from datetime import UTC, datetime, timedelta
from pathlib import Path


def certificate(folder: Path) -> Path:
    """Return a file in a folder with a new key and its certificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a.de")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(1))
    encoding, format = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(encoding, format, serialization.NoEncryption())
    file = folder / "certificate.pem"
    file.write_bytes(secret + made.sign(key, hashes.SHA256()).public_bytes(encoding))
    return file
