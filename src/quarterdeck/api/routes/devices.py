"""Routes of devices: pairing codes, signed-in browsers, phones, editors and decks, and more rights for one of them."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal, cast

from litestar import Request
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import TokenBackend
from quarterdeck.api.http.asgi import Scope
from quarterdeck.api.http.credentials import Credentials
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, applied
from quarterdeck.api.http.guard import address_of
from quarterdeck.api.http.pairing_codes import ASK_SECONDS, PAGE_SCOPES, PURPOSES, STEP_UP_SECONDS, Purpose
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.routes.tokens import Name, OkView, make_token
from quarterdeck.core.engine.messages import ElevateToken
from quarterdeck.core.model.state import Token
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.runner_resource import Resource

PurposeName = Literal["page", "phone", "editor", "deck"]
KNOWN = "qd devices"
BROWSERS = (("Edg", "Edge"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Mac OS", "macOS"),
    ("Windows", "Windows"),
    ("Linux", "Linux"),
)


class NewPairingCode(Struct, kw_only=True, forbid_unknown_fields=True):
    """A code for one device: a page on this machine, a phone, an editor or a key deck."""

    purpose: PurposeName = "page"


class PairingCode(Struct, kw_only=True):
    """A code that signs in one device, once. `url` is the link to open, where the device has a browser."""

    code: str
    purpose: str
    url: str | None
    scopes: list[str]
    expires_seconds: float


class DeviceSignIn(Struct, kw_only=True, forbid_unknown_fields=True):
    """A pairing code, and the name of the device in the record."""

    code: Annotated[str, Meta(min_length=1, max_length=200)]
    name: Name | None = None


class DeviceView(Resource, kw_only=True):
    """A signed-in browser, phone, editor or key deck. `step_up_number` is what it shows while it asks for more rights;
    `extra_until` is until when it has them."""

    device_id: str
    name: str
    kind: str
    scopes: list[str]
    created_at: float
    expires_at: float | None
    last_used_at: float | None
    extra_until: float | None
    step_up_number: str | None


class DeviceList(Struct, kw_only=True):
    devices: list[DeviceView]
    next: str | None = None


class PairedDevice(Struct, kw_only=True):
    """The credential of a device that was just paired. It is only in this response."""

    token: str
    device_id: str
    name: str
    kind: str
    scopes: list[str]
    expires_at: float | None


class StepUp(Struct, kw_only=True):
    """A request for more rights: the number to compare on the machine, and how long it waits there."""

    number: str
    expires_seconds: float
    device_id: str


class StepUpConfirmation(Struct, kw_only=True, forbid_unknown_fields=True):
    """The number that the device shows."""

    number: Annotated[str, Meta(pattern=r"^[0-9]{4}\Z")]


@endpoint("create_pairing_code")
async def create_pairing_code(
    credentials: Credentials, request: Request[Any, Any, Any], *, data: JSONBody[NewPairingCode]
) -> PairingCode:
    """Create a code that signs in one device, once and within minutes."""
    purpose = PURPOSES[data.purpose]
    code = credentials.codes.new(purpose.name)
    base = str(request.base_url).rstrip("/")
    return PairingCode(
        code=code,
        purpose=purpose.name,
        url=f"{base}/login?code={code}" if purpose.by_link else None,
        scopes=sorted(purpose.scopes),
        expires_seconds=purpose.code_seconds,
    )


@endpoint("pair_device")
async def pair_device(
    tokens: TokenBackend, credentials: Credentials, request: Request[Any, Any, Any], *, data: JSONBody[DeviceSignIn]
) -> PairedDevice:
    """Trade a pairing code for a credential. Needs no other credential."""
    purpose = credentials.codes.take(data.code)
    if purpose is None:
        if credentials.failures.count(address_of(cast(Scope, request.scope))):
            raise ApiError(429, "too_many_failures", "too many wrong codes from here; wait a minute")
        raise ApiError(401, "wrong_code", "this code is wrong, was used or has expired; get a new one: qd pair")
    if not purpose.by_token:
        raise ApiError(
            403, "wrong_device", f"this code is for {purpose.label}: open its link there; get another one: qd pair"
        )
    secret, token = await pair(tokens, purpose, data.name or purpose.name, "pairing code")
    return struct_of(PairedDevice, token, token=secret, device_id=token.token_id, scopes=sorted(token.scopes))


@endpoint("list_devices")
async def list_devices(tokens: TokenBackend, credentials: Credentials) -> DeviceList:
    """List the signed-in browsers, phones, editors and key decks, oldest first."""
    now = time.time()
    return DeviceList(devices=[_view(one, credentials, now) for one in tokens.all() if one.kind in PURPOSES])


@endpoint("revoke_device")
async def revoke_device(tokens: TokenBackend, caller: Caller, *, device_id: FromPath[str]) -> OkView:
    """Sign out a device. Its connections are closed."""
    _device(tokens, device_id)
    applied(await tokens.revoke(device_id, caller.name), see=KNOWN)
    return OkView()


@endpoint("ask_step_up")
async def ask_step_up(tokens: TokenBackend, credentials: Credentials, caller: Caller) -> StepUp:
    """Ask for all rights but admin for an hour. A person confirms it on the machine: qd devices confirm."""
    device = _device(tokens, caller.principal.token_id or "")
    request = credentials.step_ups.ask(device.token_id)
    return StepUp(number=request.number, expires_seconds=ASK_SECONDS, device_id=device.token_id)


@endpoint("confirm_step_up")
async def confirm_step_up(
    tokens: TokenBackend,
    credentials: Credentials,
    caller: Caller,
    *,
    device_id: FromPath[str],
    data: JSONBody[StepUpConfirmation],
) -> DeviceView:
    """Give a device that asks for it all rights but admin for an hour, if it shows this number."""
    device = _device(tokens, device_id)
    if credentials.step_ups.number(device_id) is None:
        raise ApiError(409, "not_asking", f"{device.name} does not ask for more rights; ask again on the device")
    if not credentials.step_ups.take(device_id, data.number):
        raise ApiError(409, "wrong_number", f"{device.name} shows another number; compare it on the device")
    now = time.time()
    command = ElevateToken(token_id=device_id, scopes=PAGE_SCOPES, until=now + STEP_UP_SECONDS, by=caller.name, at=now)
    applied(await tokens.elevate(command), see=KNOWN)
    return _view(_device(tokens, device_id), credentials, now)


async def pair(tokens: TokenBackend, purpose: Purpose, name: str, made_by: str) -> tuple[str, Token]:
    """Create the credential of a device; returns its secret too."""
    return await make_token(tokens, name, purpose.scopes, made_by, purpose.device_seconds, kind=purpose.name)


def device_name(purpose: Purpose, agent: str) -> str:
    """A name for a browser, from what it says of itself: `phone Safari iPhone`."""
    parts = (next((name for word, name in names if word in agent), "") for names in (BROWSERS, SYSTEMS))
    return " ".join(filter(None, (purpose.name, *parts)))


def _device(tokens: TokenBackend, device_id: str) -> Token:
    for one in tokens.all():
        if one.token_id == device_id and one.kind in PURPOSES:
            return one
    raise ApiError(404, "not_found", f"no such device: {device_id[:200]}; see: {KNOWN}")


def _view(token: Token, credentials: Credentials, now: float) -> DeviceView:
    return struct_of(
        DeviceView,
        token,
        device_id=token.token_id,
        scopes=sorted(token.scopes_at(now)),
        last_used_at=credentials.used.get(token.token_id),
        extra_until=token.extra_until if token.extra_until > now else None,
        step_up_number=credentials.step_ups.number(token.token_id),
    )
