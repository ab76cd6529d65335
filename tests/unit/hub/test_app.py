"""The parts of a hub that refuse: hook calls, and the check of processes that it cannot make."""

from __future__ import annotations

from typing import Any

from quarterdeck.hub.app import NoAncestry, no_hooks


async def test_a_hub_takes_no_hook_calls_and_knows_no_process() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {}

    await no_hooks({}, receive, send)
    assert sent[0]["status"] == 404
    assert await NoAncestry().suspect({}) is None
