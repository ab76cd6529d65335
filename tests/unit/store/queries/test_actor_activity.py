"""The activity of actors, counted over indexed and later events alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from quarterdeck.store.log import Entry, Log
from quarterdeck.store.reader import Reader
from tests.support.scene import Scene, bash


def test_each_actor_has_the_events_it_made(tmp_path: Path) -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go").receives("PreToolUse", **bash("make", "t1"))
    scene.receives("SubagentStart", agent_id="a1", agent_type="Explore")
    half = len(scene.events)
    scene.receives("PreToolUse", **bash("ls", "t2"), agent_id="a1").receives(
        "UserPromptSubmit", session="s2", prompt="x"
    )
    log = Log.open(tmp_path / "events.db")
    log.append([Entry(scene.events[:half])])
    log.index_sessions()
    log.append([Entry(scene.events[half:])])
    reader = Reader(log.path)
    activity = reader.activity("s1")
    own = [e for e in scene.events if e.session_id == "s1"]
    assert {actor: one.events for actor, one in activity.items()} == Counter(e.actor_id for e in own)
    assert activity["subagent:a1"].kinds == {"tool.pre": 1}
    assert activity["agent:root"].first_at == min(e.at for e in own if e.actor_id == "agent:root")
    assert reader.activity("nobody") == {}
    reader.close()
    log.close()
