"""Events of the feed as the API gives them, by the thousand, and an in-memory log that serves them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from quarterdeck.agents.claude.tools import tool_traits
from quarterdeck.core.text.titles import UI_HINTS, UiHints
from quarterdeck.errors import NoDaemon

Event = dict[str, Any]
START = 1_790_000_000.0


class EventStory:
    """Builds the events of a session, in log order, from calls that read like a story."""

    def __init__(self, session_id: str = "s1", first: int = 1) -> None:
        self.session_id = session_id
        self.next = first
        self.run = 1
        self.uses = 0
        self.events: list[Event] = []

    def add(self, kind: str, data: Any, *, actor: str = "agent:root", level: str = "info", **more: Any) -> Event:
        n, run_id = self.next, f"{self.session_id}:R{self.run}"
        if isinstance(data, dict) and isinstance(data.get("tool_name"), str):
            data = {"tool_kind": tool_traits(data["tool_name"]).kind, **data}
        self.next += 1
        hints = UI_HINTS.get(kind, UiHints())
        ui = {
            k: v for k, v in (("collapsed_default", hints.collapsed_default), ("badge", hints.badge)) if v is not None
        }
        event = {
            "seq_no": n,
            "event_id": f"{run_id}:E{n}",
            "seq": n,
            "run_id": run_id,
            "session_id": self.session_id,
            "runner_id": "otter",
            "at": START + n * 0.5,
            "kind": kind,
            "level": level,
            "actor_id": actor,
            "cause": None,
            "data": data,
            "title": f"· {kind}",
            "ui": ui,
            **more,
        }
        self.events.append(event)
        return event

    def prompt(self, text: str) -> EventStory:
        self.add("run.start", {"trigger": {"type": "user_prompt_submit", "prompt_preview": text}}, actor="system")
        self.add("user.prompt", {"prompt": text, "cwd": "/home/you/api"}, actor="user", title=f"❯ {text}", body=text)
        return self

    def says(self, text: str) -> EventStory:
        self.add("message.assistant", {"text": text}, title=f"◂ {text[:90]}", body=text)
        return self

    def call(self, tool: str, response: Any = None, *, actor: str = "agent:root", **given: Any) -> EventStory:
        self.uses += 1
        use = f"toolu_{self.session_id}_{self.next}"
        about = {"tool_name": tool, "tool_input": given, "tool_use_id": use}
        pre = self.add("tool.pre", about, actor=actor, title=f"● {tool}()")
        after = {**about, "tool_response": response, "duration_ms": 31}
        cause = {"parent_event_id": pre["event_id"], "tool_use_id": use}
        self.add("tool.post", after, actor=actor, title=f"⎿ {tool} result", cause=cause)
        return self

    def fails(self, tool: str, error: str, *, actor: str = "agent:root", **given: Any) -> EventStory:
        use = f"toolu_{self.session_id}_{self.next}"
        about = {"tool_name": tool, "tool_input": given, "tool_use_id": use}
        pre = self.add("tool.pre", about, actor=actor, title=f"● {tool}()")
        cause = {"parent_event_id": pre["event_id"], "tool_use_id": use}
        self.add(
            "tool.failure",
            {**about, "error": error, "duration_ms": 86},
            actor=actor,
            level="error",
            title=f"⎿ {tool} failed",
            body=error,
            cause=cause,
        )
        return self

    def asks(self, tool: str, *, decided: str | None = "allow", **given: Any) -> EventStory:
        request = f"q{self.next}"
        about = {"tool_name": tool, "tool_input": given, "request_id": request, "digest": "d", "held": True}
        pre = self.add("permission.request", about, actor="system", level="warn", title=f"⚠ Permission: {tool}")
        if decided is not None:
            words = {"allow": "✓ Allowed by cli", "deny": "✗ Denied by cli: not on main"}[decided]
            data = {"request_id": request, "decision_type": decided, "source": "user", "by": "cli"}
            cause = {"parent_event_id": pre["event_id"]}
            self.add("permission.decision", data, actor="user", title=words, cause=cause)
        return self

    def gated_call(
        self, tool: str, response: Any = None, *, decided: str = "allow", held: bool = False, **given: Any
    ) -> EventStory:
        """A call that is announced, asked for and decided by a rule; a denied one has no result."""
        use, request = f"toolu_{self.session_id}_{self.next}", f"q{self.next}"
        about = {"tool_name": tool, "tool_input": given, "tool_use_id": use}
        pre = self.add("tool.pre", about, title=f"● {tool}()")
        cause = {"parent_event_id": pre["event_id"], "tool_use_id": use}
        request_data = {**about, "request_id": request, "held": held}
        self.add("permission.request", request_data, actor="system", level="warn", cause=cause)
        data = {"request_id": request, "decision_type": decided, "source": "rule", "by": "r1", "pattern": f"{tool}(*)"}
        self.add("permission.decision", data, actor="system", cause=cause)
        if decided == "allow":
            self.add("tool.post", {**about, "tool_response": response, "duration_ms": 40}, cause=cause)
        return self

    def agent(
        self, name: str, work: Callable[[EventStory, str], Any], last: str = "Three routes lack docs."
    ) -> EventStory:
        actor, about = f"subagent:{name}", {"agent_id": name, "agent_type": "Explore"}
        self.add("subagent.start", about, title="◇ Sub-agent Explore started")
        work(self, actor)
        self.add("subagent.stop", {**about, "stop_hook_active": False, "last_assistant_message": last}, actor=actor)
        return self

    def stops(self, text: str) -> EventStory:
        self.add("stop.request", {"stop_hook_active": False, "last_assistant_message": text}, title="■ Stop", body=text)
        counters = {"tool_uses": self.uses, "tool_failures": 1}
        self.add("run.end", {"status": "completed", "counters": counters}, actor="system")
        self.run += 1
        return self


MESSAGE = (
    "The login route lives in src/auth/login.py and has no limit of its own. I add one with a token bucket per address,"
    " keep the window in the settings, and cover the three ways in which a client can run into it with tests."
)


def turn(book: EventStory) -> None:
    """Add one realistic turn of an agent: 27 events."""
    n = book.run
    book.prompt(f"add rate limiting to route {n}")
    book.says(MESSAGE)
    book.call("Grep", {"numFiles": 3, "filenames": ["a.py"]}, pattern=f"def route_{n}", path="src")
    text = {"file": {"numLines": 120, "content": "def login():\n    return 1\n"}}
    for part in range(3):
        book.call("Read", text, file_path=f"/home/you/api/src/auth/part{part}.py")
    book.call("Edit", {}, file_path="/home/you/api/src/auth/login.py", old_string="a = 1", new_string=f"a = {n}\nb = 2")
    book.fails("Bash", "Exit code 1\n2 failed, 41 passed", command=f"pytest tests/auth -q -k case{n}")
    book.asks("Bash", decided="allow", command=f"git push origin feature/{n}")
    book.call("Bash", {"stdout": "43 passed in 3.8s", "stderr": ""}, command=f"pytest tests/auth -q -k case{n}")
    book.agent(f"a{n}", lambda b, actor: b.call("Glob", {"numFiles": 4}, actor=actor, pattern="src/**/*.py"))
    book.call("Bash", {"stdout": "ok", "stderr": ""}, command=f"git commit -am 'Limit route {n}'")
    book.stops("The route allows five tries a minute; all 43 tests pass.")


def turns(count: int, session_id: str = "s1") -> Iterator[Event]:
    """The first `count` events of many turns, made lazily."""
    book = EventStory(session_id)
    while True:
        turn(book)
        for event in book.events:
            if event["seq_no"] > count:
                return
            yield event
        book.events.clear()


class FeedLog:
    """Answers `GET /feed` from a list, as a daemon does, and counts the calls."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.calls = 0
        self.is_away = False

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        assert path == "/api/v1/feed"
        self.calls += 1
        if self.is_away:
            raise NoDaemon("the daemon does not answer")
        found = [event for event in self._near(query) if _matches(event, query)]
        limit = query.get("limit", 200)
        if query.get("before") is not None and query.get("after") is None:
            return {"events": found[-limit:], "next": None}
        return {"events": found[:limit], "next": found[limit - 1]["seq_no"] if len(found) > limit else None}

    def _near(self, query: dict[str, Any]) -> list[Event]:
        """The events within `before`, `after` and the limit. Their numbers have no gaps, so slicing is enough."""
        if not self.events:
            return []
        first, plain = self.events[0]["seq_no"], not any(query.get(key) for key in ("session_id", "kind", "q"))
        limit = query.get("limit", 200) + 1
        if query.get("before") is not None:
            end = max(0, min(query["before"] - first, len(self.events)))
            return self.events[max(0, end - limit) : end] if plain else self.events[:end]
        start = max(0, (query.get("after") or 0) - first + 1)
        return self.events[start : start + limit] if plain else self.events[start:]


def _matches(event: Event, query: dict[str, Any]) -> bool:
    if query.get("session_id") not in (None, event["session_id"]):
        return False
    if query.get("kind") and event["kind"] not in query["kind"]:
        return False
    return query.get("q") is None or query["q"].lower() in json.dumps(event).lower()
