"""TLS certificates: the user's own, or one of a local authority that Quarterdeck makes and keeps."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from quarterdeck.errors import ConfigError, HomeError
from quarterdeck.system.private_files import write_private

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

DAYS = 397
"""Browsers refuse certificates that are valid for longer."""
AUTHORITY_DAYS = 3650
RENEW = datetime.timedelta(days=30)


class Certificate(Struct, frozen=True):
    """A certificate and its key, as PEM files."""

    cert: Path
    key: Path


def own_certificate(cert: str, key: str) -> Certificate:
    """The user's certificate, checked before anything listens."""
    pair = Certificate(Path(cert).expanduser(), Path(key).expanduser())
    try:
        _load(pair)
    except (OSError, ValueError, ssl.SSLError) as error:
        raise ConfigError(f"runner.tls_cert {pair.cert}: cannot be used with {pair.key} ({error})") from None
    return pair


def _load(pair: Certificate) -> None:
    """Read both files. A key with a passphrase is refused: nobody may be there to type it."""
    ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(pair.cert, pair.key, password="")


class Authority(Struct, frozen=True):
    """The files of the local authority: a device that trusts its certificate trusts this daemon."""

    cert: Path
    key: Path

    def fingerprint(self) -> str:
        """The SHA-256 of its certificate, as devices show it."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes

        digest = x509.load_pem_x509_certificate(self.cert.read_bytes()).fingerprint(hashes.SHA256())
        return digest.hex(":").upper()


def authority_in(folder: Path) -> Authority:
    """The authority of a home; its files may not exist yet."""
    return Authority(folder / "authority.pem", folder / "authority-key.pem")


def self_signed(folder: Path, names: list[str]) -> Certificate:
    """A certificate of the local authority for these names, made again when it expires or the names change. The
    authority is made at its first use and stays, so that a device has to trust it only once."""
    pair, authority = Certificate(folder / "cert.pem", folder / "key.pem"), authority_in(folder)
    if not _is_valid(pair, names) or not authority.cert.exists():
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not _is_usable(authority):
                _make_authority(authority)
            _make(pair, authority, names)
        except OSError as error:
            raise HomeError(f"{folder}: cannot be written ({error.strerror}); free some space") from None
    return pair


def _is_usable(authority: Authority) -> bool:
    from cryptography import x509

    try:
        cert = x509.load_pem_x509_certificate(authority.cert.read_bytes())
        _load(Certificate(authority.cert, authority.key))
    except (OSError, ValueError, ssl.SSLError):
        return False
    return cert.not_valid_after_utc - datetime.timedelta(days=DAYS) > datetime.datetime.now(datetime.UTC)


def _is_valid(pair: Certificate, names: list[str]) -> bool:
    from cryptography import x509

    try:
        cert = x509.load_pem_x509_certificate(pair.cert.read_bytes())
        result = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        _load(pair)
    except (OSError, ValueError, ssl.SSLError, x509.ExtensionNotFound):
        return False
    fresh = cert.not_valid_after_utc - RENEW > datetime.datetime.now(datetime.UTC)
    return fresh and set(result) == set(_general_names(names))


def _general_names(names: list[str]) -> list[x509.GeneralName]:
    from cryptography import x509

    result: list[x509.GeneralName] = []
    for name in names:
        try:
            result.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            result.append(_dns_name(name))
    return result


def _dns_name(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.DNSName(name)
    except ValueError:
        raise ConfigError(f"runner.hosts: {name!r} is no host name; write it in ASCII (xn--…)") from None


def _make_authority(authority: Authority) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(f"Quarterdeck on {socket.gethostname()}"[:64])
    builder = _builder(subject, subject, AUTHORITY_DAYS).public_key(key.public_key())
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage, critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    _write(authority.cert, authority.key, builder, key, key)


def _make(pair: Certificate, authority: Authority, names: list[str]) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    issuer = x509.load_pem_x509_certificate(authority.cert.read_bytes())
    signer = serialization.load_pem_private_key(authority.key.read_bytes(), None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise HomeError(f"{authority.key}: is not a key that Quarterdeck made; remove it, then qd tls")
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_subject("Quarterdeck"), issuer.subject, DAYS).public_key(key.public_key())
    builder = builder.add_extension(x509.SubjectAlternativeName(_general_names(names)), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    by = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    builder = builder.add_extension(by, critical=False)
    _write(pair.cert, pair.key, builder, key, signer, chain=authority.cert.read_bytes())


def _subject(name: str) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(subject: x509.Name, issuer: x509.Name, days: int) -> x509.CertificateBuilder:
    from cryptography import x509

    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=days))
    )


def _write(
    cert: Path,
    key_file: Path,
    builder: x509.CertificateBuilder,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    chain: bytes = b"",
) -> None:
    """Sign, and write both files. `chain` follows the certificate, so that a client needs only the authority."""
    from cryptography.hazmat.primitives import hashes, serialization

    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_private(key_file, secret)
    write_private(cert, builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM) + chain)


def names_of(host: str, more: list[str]) -> list[str]:
    """The names under which a machine that listens on this address can be reached."""
    if not ipaddress.ip_address(host).is_unspecified:
        return [*dict.fromkeys([host, *more])]
    local = socket.gethostname().lower()
    return [*dict.fromkeys([local, f"{local}.local", "localhost", "127.0.0.1", *_addresses(local), *more])]


def _addresses(name: str) -> list[str]:
    try:
        return sorted({str(info[4][0]) for info in socket.getaddrinfo(name, None, socket.AF_INET)})
    except OSError:
        return []
