"""Listening beyond this machine: only with TLS, under the right names, with private keys."""

from __future__ import annotations

import json
import os
import socket
import ssl
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from websockets.asyncio.client import connect

from quarterdeck.daemon.setup.certificates import names_of, own_certificate, self_signed
from quarterdeck.daemon.setup.http_server import hosts_of
from quarterdeck.errors import ConfigError
from tests.support.access import as_token
from tests.support.daemon import PATIENCE_SECONDS, PLAIN, Daemon, launching
from tests.support.raw_http import bearer, send
from tests.support.ws_client import hello

pytestmark = pytest.mark.law("A2")
WIDE = (*PLAIN, "--host", "0.0.0.0")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, int]]:
    """A daemon that also listens beyond loopback with a self-signed certificate, and that port."""
    port = free_port()
    env = {"QUARTERDECK_RUNNER_TLS_PORT": str(port)}
    home = tmp_path_factory.mktemp("tls") / "home"
    with Daemon(home, env=env, launch=launching([*WIDE, "--tls-self-signed"])) as daemon:
        yield daemon, port


def trusting(daemon: Daemon) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(daemon.home / "tls" / "cert.pem"))


def test_it_answers_under_its_names_and_no_other(wide: tuple[Daemon, int]) -> None:
    daemon, port = wide
    for name in ("localhost", "127.0.0.1", socket.gethostname().lower()):
        answer = send(port, "GET", "/api/v1/me", [bearer(daemon.token)], tls=trusting(daemon), name=name)
        assert answer.status == 200
    foreign = [("Host", f"evil.example:{port}"), bearer(daemon.token)]
    assert send(port, "GET", "/api/v1/me", foreign, tls=trusting(daemon)).status == 421
    plain_origin = [("Origin", f"http://localhost:{port}"), bearer(daemon.token)]
    assert send(port, "GET", "/api/v1/me", plain_origin, tls=trusting(daemon), name="localhost").status == 403
    assert send(port, "GET", "/api/v1/me", tls=trusting(daemon)).status == 401
    with pytest.raises(ssl.SSLCertVerificationError):
        send(port, "GET", "/", tls=trusting(daemon), name="evil.example")


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_plain_http_and_old_tls_versions_get_nothing(wide: tuple[Daemon, int]) -> None:
    daemon, port = wide
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as plain, suppress(ConnectionError):
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port)
        assert b"HTTP" not in plain.recv(4096)
    old = trusting(daemon)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionError)):
        send(port, "GET", "/", tls=old)


def test_hooks_of_this_machine_still_find_the_plain_port(wide: tuple[Daemon, int]) -> None:
    daemon, port = wide
    assert daemon.hook({"session_id": "s", "hook_event_name": "Stop"})[0] == 204
    assert daemon.note()["public_url"].endswith(f":{port}")
    assert f"https://{socket.gethostname().lower()}:{port}" in daemon.stdout()
    with socket.create_connection(("127.0.0.1", daemon.port)) as found:
        assert found.getpeername()[0] == "127.0.0.1"


def test_a_page_s_cookie_there_is_for_tls_only(wide: tuple[Daemon, int]) -> None:
    daemon, port = wide
    made = send(
        port,
        "POST",
        "/api/v1/login-codes",
        [bearer(daemon.token), ("Content-Type", "application/json")],
        b"{}",
        tls=trusting(daemon),
        name="localhost",
    ).json
    assert made["url"].startswith(f"https://localhost:{port}/login?code=")
    where = "/login" + made["url"].partition("/login")[2]
    cookie = send(port, "GET", where, tls=trusting(daemon), name="localhost").header("set-cookie") or ""
    assert cookie.startswith(f"quarterdeck_{port}=")
    assert cookie.endswith("; Secure")


async def test_the_websocket_works_over_tls_too(wide: tuple[Daemon, int]) -> None:
    daemon, port = wide
    async with connect(f"wss://localhost:{port}/ws", ssl=trusting(daemon), proxy=None) as client:
        await client.send(json.dumps(hello(daemon.token)))
        assert '"resume":"ok"' in str(await client.recv())


def test_the_key_is_readable_by_its_owner_only_and_is_kept(wide: tuple[Daemon, int]) -> None:
    daemon, _ = wide
    folder = daemon.home / "tls"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "authority-key.pem": 0o600,
        "authority.pem": 0o600,
        "cert.pem": 0o600,
        "key.pem": 0o600,
    }
    before = (folder / "cert.pem").read_bytes()
    daemon.stop()
    daemon.restart()
    assert (folder / "cert.pem").read_bytes() == before
    assert as_token(daemon, daemon.token, "GET", "/api/v1/me").status == 200


def test_a_user_s_own_certificate_is_used(tmp_path: Path) -> None:
    pair = self_signed(tmp_path, ["localhost", "10.1.2.3"])
    flags = ["--tls-cert", str(pair.cert), "--tls-key", str(pair.key)]
    port = free_port()
    env = {"QUARTERDECK_RUNNER_TLS_PORT": str(port)}
    with Daemon(tmp_path / "home", env=env, launch=launching([*WIDE, *flags])) as daemon:
        tls = ssl.create_default_context(cafile=str(pair.cert))
        assert send(port, "GET", "/api/v1/me", [bearer(daemon.token)], tls=tls, name="localhost").status == 200
        assert not (daemon.home / "tls").exists()


REFUSALS = [
    ([], "needs TLS"),
    (["--tls-cert", "/nowhere.pem"], "must be set together"),
    (["--tls-cert", "/nowhere.pem", "--tls-key", "/nowhere.pem"], "cannot be used"),
]


@pytest.mark.parametrize(("flags", "reason"), REFUSALS)
def test_listening_beyond_this_machine_without_tls_is_refused(tmp_path: Path, flags: list[str], reason: str) -> None:
    env = {**os.environ, "QUARTERDECK_HOME": str(tmp_path / "home"), "QUARTERDECK_PORT": "0"}
    ended = subprocess.run([*WIDE, *flags], env=env, capture_output=True, text=True, timeout=20)
    assert (ended.returncode, ended.stdout, len(ended.stderr.strip().splitlines())) == (2, "", 1)
    assert reason in ended.stderr


def test_changed_names_get_a_new_certificate(tmp_path: Path) -> None:
    first = self_signed(tmp_path, ["a.example"]).cert.read_bytes()
    assert self_signed(tmp_path, ["a.example"]).cert.read_bytes() == first
    assert self_signed(tmp_path, ["a.example", "b.example"]).cert.read_bytes() != first
    (tmp_path / "key.pem").write_text("broken")
    pair = self_signed(tmp_path, ["a.example"])
    assert own_certificate(str(pair.cert), str(pair.key)) == pair
    with pytest.raises(ConfigError, match="no host name"):
        self_signed(tmp_path, ["bücher.example"])


def test_a_key_with_a_passphrase_is_refused_without_a_prompt(tmp_path: Path) -> None:
    pair = self_signed(tmp_path, ["localhost"])
    key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    locked = serialization.BestAvailableEncryption(b"secret")
    pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked))
    with pytest.raises(ConfigError, match="cannot be used"):
        own_certificate(str(pair.cert), str(pair.key))


def test_a_browser_leaves_out_the_usual_port() -> None:
    assert hosts_of(4180, ["Localhost", "::1"]) == ["localhost:4180", "[::1]:4180"]
    assert hosts_of(80, ["localhost"]) == ["localhost:80", "localhost"]
    assert hosts_of(443, ["a.b"], "https") == ["a.b:443", "a.b"]
    assert hosts_of(443, ["a.b"], "http") == ["a.b:443"]
    assert names_of("10.0.0.1", ["deck.lan", "10.0.0.1"]) == ["10.0.0.1", "deck.lan"]
