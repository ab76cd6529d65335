"""`POST /hook`: Claude Code's native HTTP hooks, as plain ASGI so that the hot path pays for nothing else."""

from __future__ import annotations

import asyncio

from quarterdeck.api.http.asgi import Message, Receive, Scope, Send, refuse, respond
from quarterdeck.daemon.ingest.intake import Caller, Ears, Spoken, spoken
from quarterdeck.daemon.loop.waiters import QUIET, Held, Told
from quarterdeck.errors import BadInput
from quarterdeck.wire import HEAVY, MAX_BYTES

STATUS = {"too_large": 413}


class HookRoute:
    """Takes a payload, answers 200 with the decision or 204 for no opinion."""

    def __init__(self, ears: Ears) -> None:
        self._ears = ears

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
            turn = self._ears.hear(body, caller) if len(body) <= HEAVY else await self._ears.hear_heavy(body, caller)
        except BadInput as error:
            self._ears.refused[error.kind] += 1
            await refuse(send, STATUS.get(error.kind, 400), error.kind, str(error))
            return
        if turn is None:
            await respond(send, 204)
            return
        told = await turn.answer
        if told is QUIET:
            await respond(send, 204)
            self._ears.answered(turn)
            return
        last = await self._wait(turn.event_id, told.answer, receive) if isinstance(told, Held) else told
        if last is not None:
            await _say(send, spoken(last))

    async def _wait(self, request_id: str, answer: asyncio.Future[Told], receive: Receive) -> Told | None:
        """Wait for a person as long as the agent does; None when the agent has gone."""
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not answer.done():
                self._ears.leave(request_id, answer)
        return answer.result() if answer.done() else None


async def _say(send: Send, said: Spoken) -> None:
    if said.error:
        await refuse(send, 503, "not_recorded", said.error)
    elif said.answer is None:
        await respond(send, 204)
    else:
        await respond(send, 200, said.answer)


async def _read_body(message: Message, headers: dict[bytes, bytes], receive: Receive) -> bytes | None:
    """A body that comes in parts; None when the client left before sending all of it."""
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


_UNKNOWN = Caller(holder="http")


def _caller(headers: dict[bytes, bytes]) -> Caller:
    if b"x-quarterdeck-entrypoint" not in headers and b"x-quarterdeck-tag" not in headers:
        return _UNKNOWN
    return Caller(
        holder="http",
        entrypoint=headers.get(b"x-quarterdeck-entrypoint", b"").decode("latin-1"),
        tag=headers.get(b"x-quarterdeck-tag", b"").decode("latin-1"),
    )


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
