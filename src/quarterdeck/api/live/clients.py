"""The connected surfaces: who they are, what they show, and commands to one of them."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Protocol

from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import Backend
from quarterdeck.api.http.credentials import Principal
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.live.ws_messages import AnyServerMessage, ClientCommand, ClientView, CommandResult, Hello, Visible
from quarterdeck.core.model.payload import safe_id
from quarterdeck.views.projection import struct_of

MOST_COMMANDS = 64
"""Commands that wait for one client."""
TEXT = 100

Word = Annotated[str, Meta(min_length=1, max_length=200)]


class PresenceListener(Protocol):
    """Receives what surfaces say about a person being there."""

    def connected(self, change: int) -> None: ...

    def showing(self, change: int) -> None: ...

    def left_visible(self) -> None: ...

    def person_called(self) -> None: ...


class ConnectedClient:
    """One connection of a surface. Without a word about it, it counts as visible."""

    def __init__(
        self, client_id: str, hello: Hello, principal: Principal, send: Callable[[AnyServerMessage], Awaitable[None]]
    ) -> None:
        self.client_id = client_id
        self.client = safe_id(hello.client, "")
        self.version = hello.version[:TEXT]
        self.capabilities = [one[:TEXT] for one in hello.capabilities]
        self.name = principal.name
        self.credential = principal.secret
        self.since = time.time()
        self.visible = True
        self.session_id: str | None = None
        self.request_id: str | None = None
        self.send = send
        self.waiting: dict[str, asyncio.Future[CommandResult]] = {}


class NewClientCommand(Struct, kw_only=True, forbid_unknown_fields=True):
    """A command to a connected surface, such as an editor: what to do (`kind`), with what (`target`, `payload`), and
    for how many seconds it is worth doing."""

    kind: Word
    target: Word | None = None
    payload: Any = None
    seconds: Annotated[float, Meta(gt=0, le=60)] = 10.0


class ClientAnswer(Struct, kw_only=True):
    """What the surface answered: `ok`, and its result or error."""

    id: str
    ok: bool
    result: Any
    error: Any


class ClientsView(Struct, kw_only=True):
    clients: list[ClientView]
    next: int | None = None


class Clients:
    """All connected surfaces. `changed` is called whenever their list would look different, `left` with the
    id of a client whose last connection has closed."""

    def __init__(self, attendance: PresenceListener) -> None:
        self.changed: Callable[[], None] = lambda: None
        self.left: Callable[[str], None] = lambda client_id: None
        self._attendance = attendance
        self._clients: dict[ConnectedClient, None] = {}

    @contextmanager
    def connected(
        self, hello: Hello, principal: Principal, send: Callable[[AnyServerMessage], Awaitable[None]]
    ) -> Iterator[ConnectedClient]:
        """Count a surface while the block runs."""
        client = ConnectedClient(self._id_for(hello, principal), hello, principal, send)
        self._clients[client] = None
        self._attendance.connected(1)
        self._attendance.showing(1)
        try:
            self.changed()
            yield client
        finally:
            del self._clients[client]
            if client.visible:
                self._attendance.left_visible()
                self._attendance.showing(-1)
            self._attendance.connected(-1)
            for answer in client.waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionResetError())
            self.changed()
            if all(one.client_id != client.client_id for one in self._clients):
                self.left(client.client_id)

    def _id_for(self, hello: Hello, principal: Principal) -> str:
        """The id that a client asks for, unless another caller's client has it."""
        wanted = hello.client_id
        taken = any(one.client_id == wanted and one.credential != principal.secret for one in self._clients)
        return wanted if wanted is not None and not taken else f"c{secrets.token_hex(8)}"

    def show(self, client: ConnectedClient, what: Visible) -> None:
        """A client says what a person sees of it."""
        if what.visible != client.visible:
            self._attendance.showing(1 if what.visible else -1)
        shown = (what.visible, what.session_id, what.request_id)
        if shown != (client.visible, client.session_id, client.request_id):
            client.visible, client.session_id, client.request_id = shown
            self.changed()

    def person_called(self) -> None:
        """A person did something on one of them."""
        self._attendance.person_called()

    def views(self, runner_id: str) -> list[ClientView]:
        """The views of all clients, longest connected first."""
        return [struct_of(ClientView, client, runner_id=runner_id) for client in self._clients]

    async def command(self, client_id: str, new: NewClientCommand) -> ClientAnswer:
        """Send a command once, to the newest connection of a client that takes commands, and return its answer."""
        client = next((one for one in reversed(self._clients) if one.client_id == client_id), None)
        if client is None or "commands" not in client.capabilities:
            why = "is not connected" if client is None else "takes no commands"
            raise ApiError(409, "no_client", f"the client {client_id} {why}; see: GET /api/v1/clients")
        if len(client.waiting) >= MOST_COMMANDS:
            raise ApiError(
                429,
                "too_fast",
                f"{len(client.waiting)} commands already wait for the client {client_id}; try again later",
            )
        command_id = f"k{secrets.token_hex(8)}"
        expires_at = time.time() + new.seconds
        answer: asyncio.Future[CommandResult] = asyncio.get_running_loop().create_future()
        client.waiting[command_id] = answer
        command = ClientCommand(
            id=command_id, kind=new.kind, target=new.target, payload=new.payload, expires_at=expires_at
        )
        try:
            async with asyncio.timeout(new.seconds):
                await client.send(command)
                result = await answer
        except TimeoutError:
            raise _no_answer(client_id, f"did not answer within {new.seconds:g} s") from None
        except ConnectionError:
            raise _no_answer(client_id, "left before it answered") from None
        finally:
            client.waiting.pop(command_id, None)
        return struct_of(ClientAnswer, result)

    def answered(self, client: ConnectedClient, result: CommandResult) -> bool:
        """Deliver the answer of a client; False when nothing waits for it: it was never sent, or has expired."""
        answer = client.waiting.pop(result.id, None)
        if answer is None or answer.done():
            return False
        answer.set_result(result)
        return True


def _no_answer(client_id: str, why: str) -> ApiError:
    return ApiError(409, "no_answer", f"the client {client_id} {why}; it may have carried this out")


@endpoint("list_clients")
async def list_clients(backend: Backend, clients: Clients) -> ClientsView:
    """List the connected surfaces, and what each of them shows."""
    return ClientsView(clients=clients.views(backend.runner_id))


@endpoint("command_client")
async def command_client(
    clients: Clients, *, client_id: FromPath[str], data: JSONBody[NewClientCommand]
) -> ClientAnswer:
    """Send a command to a connected surface, and return its answer. It is sent at most once."""
    return await clients.command(client_id, data)
