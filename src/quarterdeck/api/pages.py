"""The web page's files and the sign-in link. Everything is served from here; nothing is loaded from elsewhere."""

from __future__ import annotations

import gzip
import hashlib
import html
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from urllib.parse import parse_qs

from msgspec import Struct

from quarterdeck.api.backend import TokenBackend
from quarterdeck.api.http.asgi import NO_STORE, PAGE_POLICY, SECURITY, Header, Receive, Scope, Send, refuse, respond
from quarterdeck.api.http.credentials import Credentials
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.guard import address_of, set_cookie
from quarterdeck.api.http.pairing_codes import Purpose
from quarterdeck.api.routes.devices import device_name, pair

HTML: Header = (b"content-type", b"text/html; charset=utf-8")
SHELL = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Quarterdeck</title>'
    '<meta name="viewport" content="width=device-width"><link rel="icon" href="/icon.svg">'
    '<link rel="stylesheet" href="/style.css">'
    "<main><h1>Quarterdeck</h1><p>{text}</p></main></html>"
)
NEVER_CHANGES: Header = (b"cache-control", b"public, max-age=31536000, immutable")
SERVED = {
    ".js": b"text/javascript",
    ".css": b"text/css",
    ".svg": b"image/svg+xml",
    ".html": b"text/html",
    ".webmanifest": b"application/manifest+json",
}
AT_ROOT = ("style.css", "icon.svg", "sw.js", "manifest.webmanifest")
"""Files that other pages of the daemon use too, and those that a browser looks for at a fixed place."""
AUTHORITY = "/authority.crt"
"""The certificate of the local authority, for a phone to install. It is public."""
VERSION = "{version}"
"""Stands in index.html for the folder of this version's files."""


class StaticFile(Struct, frozen=True):
    """A file as it is served, plain and compressed."""

    kind: bytes
    content: bytes
    compressed: bytes
    cache: Header


class Pages:
    """Serves the page's files, and trades a one-time code for a device's cookie.

    All files but the document are in a folder named after their content: a browser keeps them until they change."""

    def __init__(self, tokens: TokenBackend, credentials: Credentials, authority: Path | None = None) -> None:
        self._tokens = tokens
        self._credentials = credentials
        self._authority = authority
        self._files = static_files()
        self.paths = frozenset({*self._files, "/login", AUTHORITY})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            await refuse(send, 405, "method_not_allowed", "only GET is allowed here")
        elif path == "/login":
            await self._login(scope, send)
        elif path == AUTHORITY:
            await self._serve_authority(send)
        else:
            await self._serve(self._files[path], scope, send)

    async def _serve(self, file: StaticFile, scope: Scope, send: Send) -> None:
        accepted = dict(scope["headers"]).get(b"accept-encoding", b"")
        is_small = b"gzip" in [one.partition(b";")[0].strip() for one in accepted.split(b",")]
        encoding = [(b"content-encoding", b"gzip")] if is_small else []
        headers = [(b"content-type", file.kind + b"; charset=utf-8"), (b"vary", b"accept-encoding"), file.cache]
        body = file.compressed if is_small else file.content
        await respond(
            send, 200, body if scope["method"] == "GET" else b"", [*headers, *encoding, *SECURITY, PAGE_POLICY]
        )

    async def _serve_authority(self, send: Send) -> None:
        try:
            body = self._authority.read_bytes() if self._authority else b""
        except OSError:
            body = b""
        if not body:
            await _show(send, 404, "This daemon has no local authority. On its machine: qd tls")
            return
        kind = (b"content-type", b"application/x-x509-ca-cert")
        await respond(send, 200, body, [kind, NO_STORE, *SECURITY])

    async def _login(self, scope: Scope, send: Send) -> None:
        code = parse_qs(scope["query_string"].decode("latin-1")).get("code", [""])[0]
        headers = dict(scope["headers"])
        # A page elsewhere could send wrong codes on purpose to use up the tries, so only same-origin tries count.
        same_origin = headers.get(b"sec-fetch-site", b"none") in (b"none", b"same-origin")
        is_try = scope["method"] == "GET" and bool(code)
        purpose = self._credentials.codes.take(code, counts=same_origin) if is_try else None
        if purpose is None:
            if code and self._credentials.failures.count(address_of(scope)):
                await _show(send, 429, "Too many wrong links. Wait a minute, then try again.")
            else:
                await _show(send, 401, "This link was used already or has expired. Get a new one: qd login-url")
        elif not purpose.by_link:
            await _show(send, 403, f"This code is for {purpose.label}, not for a browser. Get another one: qd pair")
        else:
            await self._sign_in(scope, send, purpose, headers.get(b"user-agent", b"").decode("latin-1"))

    async def _sign_in(self, scope: Scope, send: Send, purpose: Purpose, agent: str) -> None:
        try:
            secret, _ = await pair(self._tokens, purpose, device_name(purpose, agent), "login link")
        except ApiError as error:
            await _show(send, 503, f"Cannot sign in: {html.escape(str(error))}")
            return
        cookie = set_cookie(scope, secret, purpose.device_seconds).encode()
        headers = [(b"location", b"/"), (b"set-cookie", cookie), HTML, NO_STORE, *SECURITY, PAGE_POLICY]
        await respond(send, 303, SHELL.format(text='You are signed in. <a href="/">Continue</a>').encode(), headers)


@cache  # the files of an installed version do not change
def static_files() -> dict[str, StaticFile]:
    """Every file of the page by its path."""
    found = dict(_contents(files("quarterdeck.surfaces") / "web"))
    digest = hashlib.sha256(b"".join(name.encode() + content for name, content in sorted(found.items()))).hexdigest()
    folder = f"/static/{digest[:16]}"
    document = found.pop("index.html").replace(VERSION.encode(), folder.encode())
    served = {"/": _file("index.html", document, NO_STORE)}
    served |= {f"{folder}/{name}": _file(name, content, NEVER_CHANGES) for name, content in found.items()}
    return served | {f"/{name}": _file(name, found[name], NO_STORE) for name in AT_ROOT}


def _contents(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _contents(one, f"{prefix}{one.name}/")
        elif PurePosixPath(one.name).suffix in SERVED:
            yield prefix + one.name, one.read_bytes()


def _file(name: str, content: bytes, cache: Header) -> StaticFile:
    kind = SERVED[PurePosixPath(name).suffix]
    return StaticFile(kind, content, gzip.compress(content, mtime=0), cache)


async def _show(send: Send, status: int, text: str) -> None:
    await respond(send, status, SHELL.format(text=text).encode(), [HTML, NO_STORE, *SECURITY, PAGE_POLICY])
