"""Routes of credentials: who may come in, made, listed and taken back; and how a page signs in and out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from litestar import Request, Response, delete, get, post
from litestar.datastructures import State as AppState
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.asgi import Scope
from quarterdeck.api.http.credentials import CODE_SECONDS, Access, csrf_of, new_token, verifier_of
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.guard import set_cookie
from quarterdeck.api.http.principal import by, principal_of
from quarterdeck.core.engine.messages import CreateToken
from quarterdeck.core.model.state import Token

ScopeName = Literal["ingest", "observe", "approve", "edit", "prompt", "control", "admin"]
Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]([A-Za-z0-9_. -]*[A-Za-z0-9_.-])?\Z")]
RESERVED = frozenset({"owner", "hooks", "page", "system", "user"})
MAX_SECONDS = 10 * 366 * 86400


class NewToken(Struct, kw_only=True, forbid_unknown_fields=True):
    """A credential for a deck, a phone, a script: what it is called, what it may do, how long it lives."""

    name: Name
    scopes: Annotated[list[ScopeName], Meta(min_length=1, max_length=20)]
    expires_seconds: Annotated[float, Meta(gt=0, le=MAX_SECONDS)] | None = None


class TokenView(Struct, kw_only=True):
    """A credential as the API shows it; the secret itself is shown once, when it is made."""

    token_id: str
    name: str
    kind: str
    scopes: list[str]
    created_at: float
    created_by: str
    expires_at: float | None
    last_used_at: float | None


class Tokens(Struct, kw_only=True):
    tokens: list[TokenView]
    next: str | None = None


class MadeToken(TokenView, kw_only=True):
    token: str


class LoginCode(Struct, kw_only=True):
    """A link that signs one page in, once."""

    url: str
    expires_seconds: float


class Me(Struct, kw_only=True):
    """Who calls. `csrf` is what a signed-in page sends back as X-CSRF-Token."""

    name: str
    kind: str
    scopes: list[str]
    csrf: str | None = None


class Done(Struct, kw_only=True):
    ok: bool = True


@get("/tokens", opt={"scope": "admin"}, sync_to_thread=False)
def list_tokens(state: AppState) -> Tokens:
    """Every credential somebody made, oldest first."""
    desk: Desk = state.desk
    return Tokens(tokens=[_view(token, state.access) for token in desk.tokens()])


@post("/tokens", opt={"scope": "admin"})
async def create_token(state: AppState, request: Request[Any, Any, Any], data: JSONBody[NewToken]) -> MadeToken:
    """Make a credential. Its secret is in this answer and nowhere else."""
    if data.name.lower() in RESERVED:
        raise ApiError(422, "invalid", f"name: {data.name} is what the record calls somebody else", field="name")
    scopes = sorted(set(data.scopes))
    secret, token = await make_token(state.desk, data.name, scopes, by(request), data.expires_seconds)
    view = _view(token, state.access)
    return MadeToken(token=secret, **{name: getattr(view, name) for name in TokenView.__struct_fields__})


@delete("/tokens/{token_id:str}", status_code=200, opt={"scope": "admin"})
async def revoke_token(state: AppState, request: Request[Any, Any, Any], token_id: FromPath[str]) -> Done:
    """Take a credential back; whoever is connected with it is cut off."""
    await _revoke(state.desk, token_id, by(request))
    return Done()


@post("/login-codes", opt={"scope": "admin"}, sync_to_thread=False)
def create_login_code(state: AppState, request: Request[Any, Any, Any]) -> LoginCode:
    """A one-time link that signs a page in on this machine, good for a minute."""
    access: Access = state.access
    base = str(request.base_url).rstrip("/")
    return LoginCode(url=f"{base}/login?code={access.new_code()}", expires_seconds=CODE_SECONDS)


@get("/me", opt={"scope": "observe"}, sync_to_thread=False)
def whoami(request: Request[Any, Any, Any]) -> Me:
    """Who calls, and what they may do."""
    principal = principal_of(request)
    csrf = csrf_of(principal) if principal.kind == "page" else None
    return Me(name=principal.name, kind=principal.kind, scopes=sorted(principal.scopes), csrf=csrf)


@post("/logout", status_code=200, opt={"scope": "observe"})
async def logout(state: AppState, request: Request[Any, Any, Any]) -> Response[Done]:
    """Take back the credential that calls, if it is one that was made; a page forgets its cookie."""
    principal = principal_of(request)
    if principal.token_id is None:
        raise ApiError(409, "not_made", "this credential was not made here; replace its file in the home instead")
    await _revoke(state.desk, principal.token_id, principal.name)
    forget = {"set-cookie": set_cookie(cast(Scope, request.scope), "", 0)} if principal.kind == "page" else {}
    return Response(Done(), headers=forget)


async def make_token(
    desk: Desk, name: str, scopes: Sequence[str], made_by: str, seconds: float | None, kind: str = "token"
) -> tuple[str, Token]:
    """A new credential on record, and its secret."""
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
    reply = await desk.create_token(command)
    if reply.outcome != "applied":
        raise ApiError(503 if reply.outcome == "not_recorded" else 422, reply.outcome, reply.message)
    made = next(token for token in desk.tokens() if token.token_id == token_id)
    return secret, made


async def _revoke(desk: Desk, token_id: str, revoked_by: str) -> None:
    reply = await desk.revoke_token(token_id, revoked_by)
    if reply.outcome == "not_found":
        raise ApiError(404, "not_found", f"{reply.message}; see: qd tokens list")
    if reply.outcome != "applied":
        raise ApiError(503, reply.outcome, reply.message)


def _view(token: Token, access: Access) -> TokenView:
    return TokenView(
        token_id=token.token_id,
        name=token.name,
        kind=token.kind,
        scopes=list(token.scopes),
        created_at=token.created_at,
        created_by=token.created_by,
        expires_at=token.expires_at,
        last_used_at=access.used.get(token.token_id),
    )


TOKEN_ROUTES = [list_tokens, create_token, revoke_token, create_login_code, whoami, logout]
