"""Routes of tokens, sign-in links and the caller's own credential."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from litestar import Request, Response
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import TokenBackend
from quarterdeck.api.http.asgi import Scope
from quarterdeck.api.http.credentials import Credentials, csrf_of, new_token, verifier_of
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, applied, invalid
from quarterdeck.api.http.guard import set_cookie
from quarterdeck.api.http.pairing_codes import COOKIE_KINDS, PURPOSES
from quarterdeck.api.http.principal import Caller
from quarterdeck.core.engine.messages import CreateToken
from quarterdeck.core.model.state import Token
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.runner_resource import Resource

ScopeName = Literal["ingest", "observe", "approve", "edit", "prompt", "control", "admin"]
Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]([A-Za-z0-9_. -]*[A-Za-z0-9_.-])?\Z")]
RESERVED = frozenset({"owner", "hooks", "page", "system", "user"})
KNOWN = "qd tokens list"
MAX_SECONDS = 10 * 366 * 86400


class NewToken(Struct, kw_only=True, forbid_unknown_fields=True):
    """A token to create, for a deck, a phone or a script."""

    name: Name
    scopes: Annotated[list[ScopeName], Meta(min_length=1, max_length=20)]
    expires_seconds: Annotated[float, Meta(gt=0, le=MAX_SECONDS)] | None = None


class TokenView(Resource, kw_only=True):
    """A token. Its secret is only returned once, when it is created."""

    token_id: str
    name: str
    kind: str
    scopes: list[str]
    created_at: float
    created_by: str
    expires_at: float | None
    last_used_at: float | None


class TokenList(Struct, kw_only=True):
    tokens: list[TokenView]
    next: str | None = None


class CreatedToken(TokenView, kw_only=True):
    token: str


class LoginCode(Struct, kw_only=True):
    """A link that signs in one page, once."""

    url: str
    expires_seconds: float


class Me(Struct, kw_only=True):
    """The caller. A client that signed in with a cookie must send `csrf` back as X-CSRF-Token. `device_id` is its id in
    `GET /devices`, if it is a device."""

    name: str
    kind: str
    scopes: list[str]
    csrf: str | None = None
    device_id: str | None = None


class OkView(Struct, kw_only=True):
    ok: bool = True


@endpoint("list_tokens")
async def list_tokens(tokens: TokenBackend, credentials: Credentials) -> TokenList:
    """List the created tokens, oldest first."""
    found = tokens.all()
    return TokenList(tokens=[struct_of(TokenView, t, last_used_at=credentials.used.get(t.token_id)) for t in found])


@endpoint("create_token")
async def create_token(tokens: TokenBackend, caller: Caller, *, data: JSONBody[NewToken]) -> CreatedToken:
    """Create a token. Its secret is only in this response."""
    if data.name.lower() in RESERVED:
        raise invalid("name", f"{data.name} is reserved; choose another name")
    secret, token = await make_token(tokens, data.name, sorted(set(data.scopes)), caller.name, data.expires_seconds)
    return struct_of(CreatedToken, token, token=secret, last_used_at=None)


@endpoint("revoke_token")
async def revoke_token(tokens: TokenBackend, caller: Caller, *, token_id: FromPath[str]) -> OkView:
    """Revoke a token. Clients connected with it are disconnected."""
    applied(await tokens.revoke(token_id, caller.name), see=KNOWN)
    return OkView()


@endpoint("create_login_code")
async def create_login_code(credentials: Credentials, request: Request[Any, Any, Any]) -> LoginCode:
    """Create a link that signs in a page on this machine, once and within a minute."""
    base = str(request.base_url).rstrip("/")
    return LoginCode(url=f"{base}/login?code={credentials.codes.new()}", expires_seconds=PURPOSES["page"].code_seconds)


@endpoint("whoami")
async def whoami(caller: Caller) -> Me:
    """Show the caller and its scopes."""
    principal = caller.principal
    csrf = csrf_of(principal) if principal.kind in COOKIE_KINDS else None
    device_id = principal.token_id if principal.kind in PURPOSES else None
    return struct_of(Me, principal, scopes=sorted(principal.scopes), csrf=csrf, device_id=device_id)


@endpoint("logout")
async def logout(tokens: TokenBackend, caller: Caller, request: Request[Any, Any, Any]) -> Response[OkView]:
    """Revoke the caller's own token; a page's cookie is deleted too. The owner's and the hooks' tokens cannot be
    revoked."""
    principal = caller.principal
    if principal.token_id is None:
        raise ApiError(
            409,
            "not_made",
            "this token is a file in Quarterdeck's home and cannot be revoked; replace the file instead",
        )
    applied(await tokens.revoke(principal.token_id, principal.name), see=KNOWN)
    forget = {"set-cookie": set_cookie(cast(Scope, request.scope), "", 0)} if principal.kind in COOKIE_KINDS else {}
    return Response(OkView(), headers=forget)


async def make_token(
    tokens: TokenBackend, name: str, scopes: Sequence[str], made_by: str, seconds: float | None, kind: str = "token"
) -> tuple[str, Token]:
    """Create and record a token; returns its secret too."""
    secret, token_id = new_token()
    now = time.time()
    command = CreateToken(
        token_id=token_id,
        name=name,
        scopes=tuple(scopes),
        verifier=verifier_of(secret.encode()),
        by=made_by,
        at=now,
        kind=kind,
        expires_at=now + seconds if seconds is not None else None,
    )
    applied(await tokens.create(command))
    return secret, next(token for token in tokens.all() if token.token_id == token_id)
