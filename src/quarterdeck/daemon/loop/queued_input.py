"""An input in the loop's queue, with the futures of those that wait for its outcome."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from quarterdeck.core.engine.messages import CommandReply, Input
from quarterdeck.daemon.loop.waiters import HookAnswer, HookPending


class Envelope(Struct, frozen=True):
    """A client's own id for its payload, and the digest of that payload."""

    request_id: str
    digest: bytes


class QueuedInput(Struct):
    """An input in the queue. `answer` is set for a hook call, `reply` for a person's command."""

    input: Input
    envelope: Envelope | None = None
    answer: asyncio.Future[HookAnswer | HookPending] | None = None
    reply: asyncio.Future[CommandReply] | None = None
    is_heavy: bool = False
