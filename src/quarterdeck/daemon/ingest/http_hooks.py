"""`POST /hook`: Claude Code's native HTTP hooks, as plain ASGI because the hot path must not pay for a framework."""

from __future__ import annotations

from quarterdeck.api.http.asgi import Message, Receive, Scope, Send, refuse, respond
from quarterdeck.daemon.ingest.intake import HookCaller, HookIntake, HookResponse, hook_response
from quarterdeck.daemon.loop.waiters import NO_OPINION, HookPending
from quarterdeck.errors import BadInput
from quarterdeck.wire import HEAVY, MAX_BYTES

STATUS = {"too_large": 413}


class HookRoute:
    """Takes a payload; answers 200 with the decision, or 204 for no opinion."""

    def __init__(self, intake: HookIntake) -> None:
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await refuse(send, 405, "method_not_allowed", "POST a hook payload")
            return
        headers: dict[bytes, bytes] = scope["qd_headers"]
        message = await receive()
        try:
            if message.get("more_body") or message["type"] != "http.request":
                body = await _read_body(message, headers, receive)
                if body is None:
                    return
            else:
                body = message["body"]
            caller = _caller(headers)
            call = (
                self._intake.receive(body, caller)
                if len(body) <= HEAVY
                else await self._intake.receive_heavy(body, caller)
            )
        except BadInput as error:
            self._intake.refused[error.kind] += 1
            await refuse(send, STATUS.get(error.kind, 400), error.kind, str(error))
            return
        if call is None:
            await respond(send, 204)
            return
        answer = await call.answer
        if answer is NO_OPINION:
            await respond(send, 204)
            self._intake.count_answer(call)
            return
        if isinstance(answer, HookPending):
            last = await self._intake.wait(call.event_id, answer.answer, _disconnected(receive))
        else:
            last = answer
        if last is not None:
            await _send_response(send, hook_response(last))


class RemovedHookRoute:
    """Hooks of a session that has outlived `qd uninstall`: they get no opinion, and are counted but not recorded. An
    error would be printed into the session at every step."""

    def __init__(self, intake: HookIntake) -> None:
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._intake.count_turned_away()
        await respond(send, 204)


async def _send_response(send: Send, response: HookResponse) -> None:
    if response.error:
        await refuse(send, 503, "not_recorded", response.error)
    elif response.answer is None:
        await respond(send, 204)
    else:
        await respond(send, 200, response.answer)


async def _read_body(message: Message, headers: dict[bytes, bytes], receive: Receive) -> bytes | None:
    """Read a body that comes in parts. None when the client left before sending all of it."""
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and int(length) > MAX_BYTES:
        raise BadInput("too_large", f"a hook payload has at most {MAX_BYTES} bytes")
    parts: list[bytes] = []
    size = 0
    while True:
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BYTES:
            raise BadInput("too_large", f"a hook payload has at most {MAX_BYTES} bytes")
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()


_UNKNOWN = HookCaller(waiter="http")


def _caller(headers: dict[bytes, bytes]) -> HookCaller:
    if b"x-quarterdeck-entrypoint" not in headers and b"x-quarterdeck-tag" not in headers:
        return _UNKNOWN
    return HookCaller(
        waiter="http",
        entrypoint=headers.get(b"x-quarterdeck-entrypoint", b"").decode("latin-1"),
        tag=headers.get(b"x-quarterdeck-tag", b"").decode("latin-1"),
    )


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
