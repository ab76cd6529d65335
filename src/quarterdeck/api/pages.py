"""What a browser sees before and after it signs in. Files of ours alone: nothing is loaded from elsewhere."""

from __future__ import annotations

import html
import mimetypes
from importlib.resources import files
from urllib.parse import parse_qs

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.asgi import NO_STORE, PAGE_POLICY, SECURITY, Header, Receive, Scope, Send, refuse, respond
from quarterdeck.api.http.credentials import PAGE_SCOPES, PAGE_SECONDS, Access
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.guard import address_of, set_cookie
from quarterdeck.api.routes.tokens import make_token

HTML: Header = (b"content-type", b"text/html; charset=utf-8")
SHELL = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Quarterdeck</title>'
    '<meta name="viewport" content="width=device-width"><link rel="icon" href="/icon.svg">'
    '<link rel="stylesheet" href="/style.css">'
    "<main><h1>Quarterdeck</h1><p>{text}</p></main></html>"
)
FILES = {"/": "index.html", "/style.css": "style.css", "/page.js": "page.js", "/icon.svg": "icon.svg"}
PATHS = frozenset({*FILES, "/login"})


class Pages:
    """Serves the page's files, and trades a one-time code for a session cookie."""

    def __init__(self, desk: Desk, access: Access) -> None:
        self._desk = desk
        self._access = access
        folder = files("quarterdeck.surfaces") / "web"
        self._files = {path: (name, (folder / name).read_bytes()) for path, name in FILES.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            await refuse(send, 405, "method_not_allowed", "only GET is answered here")
        elif path == "/login":
            await self._login(scope, send)
        else:
            name, content = self._files[path]
            kind = (mimetypes.guess_type(name)[0] or "text/plain").encode() + b"; charset=utf-8"
            body = content if scope["method"] == "GET" else b""
            await respond(send, 200, body, [(b"content-type", kind), NO_STORE, *SECURITY, PAGE_POLICY])

    async def _login(self, scope: Scope, send: Send) -> None:
        code = parse_qs(scope["query_string"].decode("latin-1")).get("code", [""])[0]
        ours = dict(scope["headers"]).get(b"sec-fetch-site", b"none") in (b"none", b"same-origin")
        if scope["method"] != "GET" or not code or not self._access.take_code(code, counts=ours):
            if code and self._access.failures.count(address_of(scope)):
                await _say(send, 429, "Too many wrong links. Wait a minute.")
            else:
                await _say(send, 401, "This link was used, or is older than a minute. Run: quarterdeck login-url")
            return
        try:
            secret, _ = await make_token(self._desk, "page", list(PAGE_SCOPES), "login link", PAGE_SECONDS, kind="page")
        except ApiError as error:
            await _say(send, 503, f"Cannot sign in: {html.escape(str(error))}")
            return
        cookie = set_cookie(scope, secret, PAGE_SECONDS).encode()
        headers = [(b"location", b"/"), (b"set-cookie", cookie), HTML, NO_STORE, *SECURITY, PAGE_POLICY]
        await respond(send, 303, SHELL.format(text='Signed in. <a href="/">Go on</a>').encode(), headers)


async def _say(send: Send, status: int, text: str) -> None:
    await respond(send, status, SHELL.format(text=text).encode(), [HTML, NO_STORE, *SECURITY, PAGE_POLICY])
