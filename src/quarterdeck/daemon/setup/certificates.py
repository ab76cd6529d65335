"""Certificates: the person's own, or one we sign ourselves and keep."""

from __future__ import annotations

import datetime
import ipaddress
import os
import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from quarterdeck.errors import ConfigError, HomeError

if TYPE_CHECKING:
    from cryptography import x509

YEARS = 2
RENEW = datetime.timedelta(days=30)


class Certificate(Struct, frozen=True):
    """A pair of files in PEM."""

    cert: Path
    key: Path


def own_certificate(cert: str, key: str) -> Certificate:
    """The person's certificate, checked before anything listens."""
    pair = Certificate(Path(cert).expanduser(), Path(key).expanduser())
    try:
        _load(pair)
    except (OSError, ValueError, ssl.SSLError) as error:
        raise ConfigError(f"runner.tls_cert {pair.cert}: cannot be used with {pair.key} ({error})") from None
    return pair


def _load(pair: Certificate) -> None:
    """Read both files; a key with a passphrase is refused, since nobody may be there to type it."""
    ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(pair.cert, pair.key, password="")


def self_signed(folder: Path, names: list[str]) -> Certificate:
    """A certificate of our own for these names, made once and again when it runs out or the names change."""
    pair = Certificate(folder / "cert.pem", folder / "key.pem")
    if not _still_good(pair, names):
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            _make(pair, names)
        except OSError as error:
            raise HomeError(f"{folder}: cannot be written ({error.strerror}); free some space") from None
    return pair


def _still_good(pair: Certificate, names: list[str]) -> bool:
    from cryptography import x509

    try:
        cert = x509.load_pem_x509_certificate(pair.cert.read_bytes())
        found = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        _load(pair)
    except (OSError, ValueError, ssl.SSLError, x509.ExtensionNotFound):
        return False
    fresh = cert.not_valid_after_utc - RENEW > datetime.datetime.now(datetime.UTC)
    return fresh and set(found) == set(_names(names))


def _names(names: list[str]) -> list[x509.GeneralName]:
    from cryptography import x509

    found: list[x509.GeneralName] = []
    for name in names:
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            found.append(_dns_name(name))
    return found


def _dns_name(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.DNSName(name)
    except ValueError:
        raise ConfigError(f"runner.hosts: {name!r} is no host name; write it in ASCII (xn--…)") from None


def _make(pair: Certificate, names: list[str]) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Quarterdeck")])
    now = datetime.datetime.now(datetime.UTC)
    cert = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=365 * YEARS))
        .add_extension(x509.SubjectAlternativeName(_names(names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write(pair.key, secret)
    _write(pair.cert, cert.public_bytes(serialization.Encoding.PEM))


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_suffix(".new")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    temporary.replace(path)


def names_of(host: str, more: list[str]) -> list[str]:
    """Under which names a machine that listens on this address may be called."""
    if not ipaddress.ip_address(host).is_unspecified:
        return [*dict.fromkeys([host, *more])]
    local = socket.gethostname().lower()
    return [*dict.fromkeys([local, f"{local}.local", "localhost", "127.0.0.1", *_addresses(local), *more])]


def _addresses(name: str) -> list[str]:
    try:
        return sorted({str(info[4][0]) for info in socket.getaddrinfo(name, None, socket.AF_INET)})
    except OSError:
        return []
