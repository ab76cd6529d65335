"""Messages and views of a daemon as plain values, and a recorded daemon, for tests of terminal surfaces."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from quarterdeck import __version__
from quarterdeck.agents.claude.tools import tool_traits
from quarterdeck.errors import NoDaemon
from quarterdeck.surfaces.client.connection import DaemonConnection
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.client.live import Connected, LiveClient, LiveMessage, Lost
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.views.workspace.project_view import ProjectView

Json = dict[str, Any]
NOW = 1_791_000_060.0


def session(session_id: str = "s1", state: str = "waiting_permission", **more: Any) -> Json:
    """A session as the API shows it."""
    counters = {"tool_uses": 3, "tool_failures": 1, "permission_requests": 1, "blocks": 0}
    view: Json = {
        "session_id": session_id,
        "agent_state": state,
        "state_source": "hooks",
        "state_at": NOW - 12,
        "pid": 4711,
        "mode": "observed",
        "cwd": "/home/ann/shop",
        "project_id": "p_1",
        "title": "make the login work again",
        "model": "claude-opus-5-5",
        "permission_mode": "default",
        "entrypoint": "cli",
        "tag": None,
        "started_at": NOW - 600,
        "last_event_at": NOW - 12,
        "ended_at": None,
        "run_id": f"{session_id}:R1",
        "runs": 1,
        "pending": 1 if state.startswith("waiting") else 0,
        "counters": counters,
        "usage": None,
        "resume": {"command": f"claude --resume {session_id}", "cwd": "/home/ann/shop"},
        "todos": [],
        "runner_id": "otter-1",
    }
    return view | more


def session_view(session_id: str = "s1", state: str = "waiting_permission", **more: Any) -> SessionView:
    """A session as a surface reads it."""
    return read_view(SessionView, session(session_id, state, **more))


def owned_session(session_id: str = "s1", mode: str = "sdk", status: str = "up", **more: Any) -> Json:
    """An owned session."""
    owned = {"status": status, "started_by": "owner via tui", "launched_at": NOW - 60, "terminal": None}
    owned |= {"worktree": None, "shell": False, "moved_to": None}
    state = "ended" if status == "down" else "idle"
    ended = {"ended_at": NOW - 5} if status == "down" else {}
    return session(session_id, state, mode=mode, owned=owned | more.pop("owned", {}), **ended, **more)


def owned_session_view(session_id: str = "s1", mode: str = "sdk", status: str = "up", **more: Any) -> SessionView:
    """An owned session as a surface reads it."""
    return read_view(SessionView, owned_session(session_id, mode, status, **more))


def request(request_id: str = "q1", command: str = "git push --force", **more: Any) -> Json:
    """A waiting request, as lists show it."""
    view: Json = {
        "request_id": request_id,
        "kind": "permission",
        "form": None,
        "session_id": "s1",
        "run_id": "s1:R1",
        "event_id": "s1:R1:E6",
        "runner_id": "otter-1",
        "agent_id": None,
        "agent_type": None,
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "truncated": None,
        "tool_use_id": "toolu_1",
        "digest": f"digest-{request_id}",
        "risk": {"level": "high", "reasons": ["rewrites published history (git push --force)"]},
        "needs_second_key": False,
        "suggestions": [],
        "held": True,
        "holder": "connected",
        "has_terminal": True,
        "opened_at": NOW - 12,
        "expires_at": NOW + 86400,
        "status": "pending",
        "decision": None,
    }
    view |= more
    return {"agent": "claude", "tool_kind": tool_traits(view["tool_name"]).kind, **view}


def decision(word: str = "allow", **more: Any) -> Json:
    """A decision, as a request view shows it."""
    view: Json = {
        "decision": word,
        "source": "user",
        "by": "owner via cli",
        "at": NOW,
        "note": None,
        "message": None,
        "reason": None,
        "interrupt": False,
        "updated_input": None,
        "answers": None,
        "status": "decided",
        "delivery": "sent",
        "rule_ids": [],
        "pattern": None,
    }
    return view | more


def resolved(view: Json, status: str = "decided", **made: Any) -> Json:
    """The same request, resolved."""
    return view | {"status": status, "decision": decision(**made)}


def project(name: str = "shop", **more: Any) -> Json:
    """A project as the API shows it."""
    view: Json = {
        "project_id": f"p_{name}",
        "name": name,
        "path": f"/home/ann/{name}",
        "git_remote": None,
        "git_branch": "main",
        "is_dirty": False,
        "ahead": 0,
        "behind": 0,
        "worktree_of": None,
        "git_trouble": None,
        "has_claude_config": False,
        "trusted": False,
        "trust": "none",
        "last_modified": NOW - 600,
        "checked_at": NOW - 5,
        "live_sessions": 0,
        "prior_sessions": [],
        "runner_id": "otter-1",
    }
    return view | more


def project_view(name: str = "shop", **more: Any) -> ProjectView:
    """A project as a surface reads it."""
    return read_view(ProjectView, project(name, **more))


def project_list(*found: Json, **scan: Any) -> Json:
    """The answer of `GET /projects` after a scan."""
    finished: Json = {"state": "done", "done": len(found), "total": len(found), "seconds": 0.1, "notes": []}
    return {"projects": list(found), "scan": finished | scan, "next": None}


FAST: Json = {"count": 100, "sum": 0.1, "buckets": [[0.001, 90], [0.002, 99], [0.05, 100]]}


def daemon_stats(store: Json | None = None, **more: Any) -> Json:
    """The stats of a healthy daemon."""
    kept: Json = {"seq_no": 51_204, "unindexed": 0, "database_bytes": 48_300_000, "wal_bytes": 400_000}
    kept |= {"free_bytes": 10**11, "damaged": None, "trouble": None}
    view: Json = {
        "version": __version__,
        "runner_id": "otter-1",
        "at": NOW,
        "started_at": NOW - 7200,
        "uptime_seconds": 7200.0,
        "clock_step_seconds": 0.0,
        "events": {"recorded": 812, "by_kind": {}},
        "inputs": {"refused": {}, "not_recorded": 0, "queued": 0, "queued_peak": 12, "batch_size": FAST},
        "append_seconds": FAST,
        "hook_seconds": FAST,
        "hook_overhead": [{"session_id": "shop", "calls": 412, "seconds": 0.37, "mean_seconds": 0.0009}],
        "loop_lag_seconds": FAST | {"p50": 0.001, "p99": 0.004, "max": 0.01, "samples": 9, "window_seconds": 60.0},
        "requests": {"pending": 2, "held": 2, "oldest_held_seconds": 90.0},
        "sessions": 3,
        "surfaces": 1,
        "subscriber_failures": 0,
        "notify": {},
        "store": kept | (store or {}),
        "process": {"pid": 4711, "rss_bytes": 92_000_000, "open_fds": 31, "max_fds": 1024},
    }
    return view | more


def connected(version: str = "") -> Connected:
    return Connected(17, "otter-1", version, True)


def snapshot(*, sessions: list[Json] | None = None, requests: list[Json] | None = None) -> LiveMessage:
    return LiveMessage("snapshot", {"type": "snapshot", "sessions": sessions or [], "requests": requests or []})


def live_message(kind: str, view: Json) -> LiveMessage:
    return LiveMessage(kind, {"type": kind, kind: view})


def event(seq_no: int, kind: str, title: str, session_id: str = "s1", **data: Any) -> Json:
    """An event as the API shows it."""
    return {
        "seq_no": seq_no,
        "event_id": f"{session_id}:R1:E{seq_no}",
        "seq": seq_no,
        "run_id": f"{session_id}:R1",
        "session_id": session_id,
        "runner_id": "otter-1",
        "at": NOW - 60 + seq_no,
        "kind": kind,
        "level": "info",
        "actor_id": "agent:root",
        "cause": None,
        "data": data,
        "title": title,
        "ui": {},
    }


class RecordedLive(LiveClient):
    """A live connection that yields recorded messages, and then nothing more."""

    def __init__(self, messages: list[Connected | Lost | LiveMessage]) -> None:
        super().__init__(lambda: ("", ""), client="tui", topics=[])
        self._recorded = messages

    async def follow(self) -> AsyncGenerator[Connected | Lost | LiveMessage]:
        for one in self._recorded:
            yield one
        await asyncio.Event().wait()


class RecordedClient(Client):
    """A client whose log is empty but for the recorded messages."""

    def get(self, path: str, /, **query: Any) -> Json:
        return {"events": [], "next": None}


class RecordedDaemon(DaemonConnection):
    """A connection that only answers what was recorded: by path, or by method and path for calls that change something.
    `sent` holds those calls."""

    def __init__(self, messages: list[Connected | Lost | LiveMessage], answers: dict[str, Json]) -> None:
        super().__init__(Path("/home/ann/.quarterdeck"), lambda: ("http://127.0.0.1:7878", ""))
        self.live = RecordedLive(messages)
        self.answers = answers
        self.sent: list[tuple[str, str, Json]] = []

    def client(self, seconds: float = 1.0) -> Client:
        return RecordedClient("", "")

    async def get(self, path: str, /, **query: Any) -> Json:
        if path not in self.answers:
            raise NoDaemon("not recorded")
        answer = self.answers[path]
        kinds = query.get("kind")
        if path != "/feed" or kinds is None:
            return answer
        kept = {kinds} if isinstance(kinds, str) else set(kinds)
        return answer | {"events": [event for event in answer["events"] if event["kind"] in kept]}

    async def long_call(self, method: str, path: str, body: Json | None = None) -> Json:
        plain = path.partition("?")[0]
        if method != "GET":
            self.sent.append((method, path, body or {}))
        return await self.get(plain if method == "GET" else f"{method} {plain}")

    async def decide(self, request: Json, **body: Any) -> Json:
        return await self.long_call("POST", f"/requests/{request['request_id']}/decision", body)

    async def post(self, path: str, body: Json) -> Json:
        known = f"POST {path}" in self.answers
        return await self.long_call("POST", path, body) if known else await self.get(path)
