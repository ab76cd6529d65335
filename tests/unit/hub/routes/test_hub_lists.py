"""Lists that the hub has itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.hub.routes import hub_lists
from quarterdeck.hub.store.records import HubRecord, add_record
from tests.support.hub import request_view, session_view
from tests.support.hub_parts import hub_parts


async def test_the_feed_goes_on_from_its_cursor_over_all_machines(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        a, b = await hub.joined("a"), await hub.joined("b")
        await hub.send(a, 1)
        await hub.send(b, 1, 2)
        await hub.send(a, 2)
        first = await hub.call(hub_lists.get_feed, limit=3)
        rest = await hub.call(hub_lists.get_feed, limit=3, after=first.next)
        found = [(one.runner_id, one.seq_no) for one in [*first.events, *rest.events]]
        assert found == [("a-1", 1), ("b-1", 1), ("b-1", 2), ("a-1", 2)]
        only = await hub.call(hub_lists.get_feed, runner=b.state)
        assert [one.place for one in only.events] == [2, 3]


async def test_sessions_and_requests_are_listed_page_by_page(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        for name in ("a", "b"):
            runner: Any = await hub.joined(name)
            views = [session_view(f"{name}-1", "s1"), session_view(f"{name}-1", f"s-{name}", started_at=9.0)]
            await hub.show(runner, sessions=views, requests=[request_view(f"{name}-1", f"q-{name}")])
        seen, after = [], None
        while True:
            page = await hub.call(hub_lists.list_sessions, limit=1, after=after)
            seen += [json.loads(bytes(one)) for one in page.sessions]
            after = page.next
            if after is None:
                break
        assert [(one["runner_id"], one["session_id"]) for one in seen] == [
            ("a-1", "s-a"),
            ("b-1", "s-b"),
            ("a-1", "s1"),
            ("b-1", "s1"),
        ]
        page = await hub.call(hub_lists.list_requests, limit=1, status="pending")
        rest = await hub.call(hub_lists.list_requests, limit=5, status="pending", after=page.next)
        assert b"q-b" in bytes(rest.requests[0])


async def test_an_event_of_two_machines_is_ambiguous_and_numbers_are_those_of_a_machine(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        a, b = await hub.joined("a"), await hub.joined("b")
        await hub.send(a, 1)
        await hub.send(b, 1, 2)
        with pytest.raises(ApiError) as refused:
            await hub.call(hub_lists.get_event, event_id="s1:R1:E1")
        assert refused.value.code == 409
        found = await hub.call(hub_lists.get_event, runner=b.state, event_id="2")
        assert (found.runner_id, found.seq_no, found.payload_status) == ("b-1", 2, "elsewhere")


async def test_the_audit_has_the_entries_of_the_hub_in_their_place(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        add_record(hub.db, HubRecord(kind="hub.command", at=5.0, who="ann", about="decide q1", runner_id="a-1"))
        runner = await hub.joined("a")
        await hub.send(runner, 1)
        page = await hub.call(hub_lists.list_audit)
        assert [(one.kind, one.who, one.runner_id, one.seq_no) for one in page.audit] == [
            ("hub.command", "ann", "a-1", 1)
        ]
