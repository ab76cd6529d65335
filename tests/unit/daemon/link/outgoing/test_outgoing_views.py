"""Views as they leave: by the level of their session, and as the live updates have them."""

from __future__ import annotations

import json
from typing import Any, cast

from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.live_source import LiveSource
from quarterdeck.daemon.link.outgoing.outgoing_views import OutgoingViews
from tests.support.share_policies import policy


class Source:
    """Three sessions, each with a request."""

    def snapshot(self, parts: frozenset[str]) -> bytes:
        assert parts == {"sessions", "requests"}
        sessions = [{"session_id": name, "title": name} for name in ("open", "titles", "closed")]
        requests = [{"session_id": s["session_id"], "tool_input": {"command": "PASSWORD=hunter2-x"}} for s in sessions]
        return json.dumps({"type": "snapshot", "sessions": sessions, "requests": requests}).encode()


def views() -> OutgoingViews:
    source = cast(LiveSource, Source())
    return OutgoingViews(source, Broadcaster(source), policy)


def read(found: list[Any]) -> list[Any]:
    return [json.loads(bytes(one)) for one in found]


def test_a_snapshot_has_what_is_shared_without_secrets() -> None:
    snapshot = views().snapshot(["open", "gone"])
    assert snapshot.snapshot
    assert [one["session_id"] for one in read(snapshot.sessions)] == ["open", "titles"]
    assert [one["tool_input"] for one in read(snapshot.requests)] == [{"command": "PASSWORD=⟨redacted⟩"}, {}]
    assert snapshot.gone_sessions == ["gone"]


async def test_the_first_message_is_the_snapshot() -> None:
    messages = views().messages(())
    assert (await anext(messages)).snapshot
    await messages.aclose()
