"""Reading the store of the hub beside its writer."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.hub.store.machine_views import agents_of
from quarterdeck.store.queries.audit_query import AuditQuery
from tests.support.hub import session_view
from tests.support.hub_parts import hub_parts


async def test_events_are_found_by_id_and_by_the_number_of_their_machine(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        a, b = await hub.joined("a"), await hub.joined("b")
        await hub.send(a, 1, 2)
        await hub.send(b, 1)
        assert [one.place for one in hub.reader.events_named("s1:R1:E1", None)] == [1, 3]
        found = hub.reader.event_numbered("a-1", 2)
        assert found is not None
        assert found.place == 2
        assert hub.reader.event_numbered("a-1", 9) is None
        assert hub.reader.lineage(found).causes == []
        assert hub.reader.audit_places(AuditQuery()) == []


async def test_a_question_is_answered_on_a_free_connection(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        await hub.show(runner, sessions=[session_view("a-1", "s1", agent="claude")])
        agents = await hub.reader.in_thread(lambda: hub.reader.ask(lambda db: agents_of(db, ["s1", "s2"])))
        assert agents == {"s1": "claude"}
