"""The examples of the API's operations: recorded from a real daemon that the script below keeps busy.

Nothing in the file may differ from one recording to the next, so times, ids, secrets and measurements are replaced
where the recording is written."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from websockets.sync.client import ClientConnection, connect

from quarterdeck.api.operations import OPERATIONS
from tests.support.daemon import Daemon, Json, permission, until
from tests.support.raw_http import JSON, bearer, send
from tests.support.repositories import commit, git, repository

FILE = Path(__file__).parents[2] / "src" / "quarterdeck" / "api" / "examples.json"
SESSION, OTHER = "5bcc959a-d2e0-4b84-99d9-a702456ddf08", "0c7d1f52-7e0e-4b0c-a1f8-3b7a7d0b6c11"
HOME = "/home/ann"
NOON = 1791000000.0

AGENT = f"""#!{sys.executable}
# Stands in for Claude Code: it answers the commands about plugins and servers, and else is a prompt that only listens.
import json, signal, sys
words = sys.argv[1:]
plugin = {{"id": "review@team", "version": "1.2.0", "enabled": True, "scope": "user"}}
offer = {{"pluginId": "deploy@team", "description": "Deploys the shop", "version": "0.3.0"}}
market = {{"name": "team", "source": "directory", "path": "{HOME}/market"}}
if words[:2] == ["plugin", "list"]:
    print(json.dumps({{"installed": [plugin], "available": [offer]}} if "--available" in words else [plugin]))
elif words[:3] == ["plugin", "marketplace", "list"]:
    print(json.dumps([market]))
elif words[:2] == ["mcp", "list"]:
    print("issues: https://issues.example.org/mcp (HTTP) - ✘ Failed to connect")
elif words[:2] == ["plugin", "marketplace"]:
    print(f"✔ Marketplace: {{words[2]}} team")
elif words[:1] in (["plugin"], ["mcp"]):
    print(f"✔ Done: {{words[0]}} {{words[1]}}")
else:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("> ", end="", flush=True)
    for line in sys.stdin:
        print("> ", end="", flush=True)
"""
SERVERS = {
    "mcpServers": {
        "issues": {
            "type": "http",
            "url": "https://issues.example.org/mcp",
            "headers": {"Authorization": "Bearer secret-of-ann"},
        }
    }
}
MESSAGE = {
    "type": "assistant",
    "sessionId": SESSION,
    "uuid": OTHER,
    "timestamp": "2026-10-03T12:00:00.000Z",
    "message": {
        "id": "msg_01",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": "I look at the login page first."}],
        "usage": {
            "input_tokens": 4210,
            "output_tokens": 980,
            "cache_read_input_tokens": 61200,
            "cache_creation_input_tokens": 8300,
        },
    },
}
"""What the session's transcript holds."""
SETTINGS = {
    "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "make format"}]}]},
    "env": {"NODE_ENV": "test"},
    "permissions": {"allow": ["Bash(make test:*)"]},
}
WATCHING = {
    "runner_id": "otter-1a2b3c4d",
    "name": "projects",
    "ok": True,
    "level": "good",
    "says": "changes are noticed as they happen",
    "fix": "",
}
SLOW_LOOP = {
    "runner_id": "otter-1a2b3c4d",
    "name": "loop",
    "ok": False,
    "level": "problem",
    "says": "it is 120 ms late (p99 of the last minute; should be under 50 ms)",
    "fix": "check what else keeps this machine busy, then: qd doctor",
}
"""Findings; a daemon that records examples is well."""
FIXED: Json = {
    "pid": 48213,
    "memory_bytes": 187301888,
    "seconds": 0.31,
    "age_seconds": 7.5,
    "uptime_seconds": 60.0,
    "clock_step_seconds": 0.0,
    "oldest_held_seconds": 17.5,
    "recorded": 17,
    "by_kind": {"run.start": 1, "tool.pre": 16},
    "queued": 0,
    "queued_peak": 4,
    "window_seconds": 60.0,
    "samples": 3,
    "p50": 0.001,
    "p99": 0.004,
    "max": 0.004,
    "values": [74690.0],
    "until": NOON + 43200.0,
    "count": 3,
    "sum": 0.012,
    "buckets": [[0.005, 2], [0.01, 3]],
    "hook_overhead": [{"session_id": SESSION, "calls": 3, "seconds": 0.012, "mean_seconds": 0.004}],
    "seq_no": 17,
    "unindexed": 0,
    "database_bytes": 4096,
    "wal_bytes": 49472,
    "free_bytes": 77141131264,
    "rss_bytes": 63184896,
    "open_fds": 25,
    "max_fds": 65536,
    "watch": "live",
    "number": "4821",
    "step_up_number": "4821",
    "code": "…",
}
"""Values that differ from one recording to the next, by the names of their fields."""
LATER = {
    "expires_at": 86400.0,
    "extra_until": 3600.0,
    "ended_at": 60.0,
    "decided_at": 50.0,
    "at": 42.5,
    "last_event_at": 42.5,
}
"""Seconds after noon, by the names of fields; any other time is noon itself."""

IDS = re.compile(
    r"(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|(?P<secret>qdt_[\w-]{43}|code=[\w-]{43})"
    r"|(?<=[-/])(?P<short>[0-9a-f]{8})\b|(?P<digest>\b[0-9a-f]{64}\b)|\b(?P<id>(?:p_|r_|h|k|m|t|otter-)[0-9a-f]{8,16})\b|(?P<port>127\.0\.0\.1:\d+)"
)


def examples_text() -> str:
    """The file as it should be."""
    with tempfile.TemporaryDirectory(prefix="qd-examples-") as folder:
        recorder = Recorder(Path(folder).resolve() / "ann")
        recorder.record_all()
    fixed = Fixed(str(recorder.home))
    examples = {name: fixed.of(recorder.examples[name]) for name in OPERATIONS if name in recorder.examples}
    return json.dumps(examples, indent=1, ensure_ascii=False) + "\n"


class Fixed:
    """Replaces what differs: each id by one made from its place among those of its kind."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._known: dict[str, str] = {SESSION: SESSION, OTHER: OTHER}

    def of(self, value: Any, name: str = "") -> Any:
        """A value as it is written, for a field of this name."""
        if name == "next" and isinstance(value, int):
            return FIXED["seq_no"]
        if name == "number" and isinstance(value, int):  # of a run; only the number of a pairing code differs
            return value
        if name in FIXED and (value is not None or name == "pid"):
            return FIXED[name]
        if isinstance(value, dict):
            return {key: self.of(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [self.of(one) for one in value]
        if isinstance(value, float) and value > 1e9:
            return NOON + LATER.get(name, 0.0)
        return IDS.sub(self._id, value.replace(self._folder, HOME)) if isinstance(value, str) else value

    def _id(self, found: re.Match[str]) -> str:
        old, kind = found[0], found.lastgroup or ""
        if kind == "port":
            return "127.0.0.1:4180"
        if kind == "secret":
            return old[: old.index("_" if old.startswith("qdt_") else "=") + 1] + "…"
        if kind == "short":
            return next((new[:8] for known, new in self._known.items() if known.startswith(old)), old)
        if old not in self._known:
            letters = iter(hashlib.sha256(f"{kind}{len(self._known)}".encode()).hexdigest())
            head = re.match(r"p_|r_|otter-|[hkmt](?=[0-9a-f]*$)", old) if kind == "id" else None
            kept = head[0] if head else ""
            self._known[old] = kept + re.sub(r"[0-9a-f]", lambda _: next(letters), old[len(kept) :])
        return self._known[old]


def _carry_out(editor: ClientConnection) -> None:
    """Answer the next command."""
    while (message := json.loads(editor.recv()))["type"] != "command":
        pass
    editor.send(json.dumps({"type": "ack", "id": message["id"], "result": {"opened": True}}))


class Recorder:
    """Calls every operation of a daemon in a scratch home, and keeps what it sends and what comes back."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.shop = home / "code" / "shop"
        self.transcript = home / ".claude" / "projects" / "shop" / f"{SESSION}.jsonl"
        self.examples: dict[str, Json] = {}

    def record_all(self) -> None:
        agent = self.home / "bin" / "claude"
        for file, text in ((agent, AGENT), (self.transcript, json.dumps(MESSAGE) + "\n")):
            file.parent.mkdir(parents=True)
            file.write_text(text)
        agent.chmod(0o755)
        self._make_shop()
        (self.home / ".claude.json").write_text(json.dumps(SERVERS))
        env = {"HOME": str(self.home), "QUARTERDECK_CLAUDE_PATH": str(agent), "CLAUDE_CONFIG_DIR": ""}
        env |= {"QUARTERDECK_PTY_SHELL": str(agent), "QUARTERDECK_PROJECTS_ROOTS": str(self.home / "code")}
        env |= {"QUARTERDECK_RUNNER_NAME": "otter"}
        with Daemon(self.home / "quarterdeck", env=env) as self.daemon:
            self._record_projects()
            self._record_extensions()
            self._record_requests()
            self._record_rules()
            self._record_sessions()
            self._record_access()
            self._record_surfaces()
            self._end_sessions()

    def _end_sessions(self) -> None:
        """End what would outlive the daemon."""
        for session in self._running():
            self.daemon.api("POST", f"/sessions/{session['session_id']}/end", {}, timeout=60)
        until(lambda: not self._running(), what="the end of every session")

    def _running(self) -> list[Json]:
        sessions = self.daemon.api("GET", "/sessions")[1]["sessions"]
        return [one for one in sessions if one["owned"] and one["owned"]["status"] in ("starting", "up", "ending")]

    def _record_surfaces(self) -> None:
        """The calls about an editor that is connected, and carries out what it is sent."""
        self._call("list_runners")
        hello = {"type": "hello", "protocol": 2, "client": "vscode", "version": "1.4.0", "token": self.daemon.token}
        hello |= {"client_id": "vscode-1", "capabilities": ["commands"]}
        with connect(f"ws://127.0.0.1:{self.daemon.port}/ws", proxy=None) as editor, ThreadPoolExecutor() as threads:
            editor.send(json.dumps(hello))
            editor.recv()
            self._call("list_clients")
            self._call("get_deck")
            answer = threads.submit(_carry_out, editor)
            command = {"kind": "open_file", "target": f"{HOME}/code/shop/login.py", "payload": {"line": 42}}
            self._call("command_client", command, client_id="vscode-1")
            answer.result()

    def _call(self, name: str, body: Json | None = None, /, query: str = "", **ids: str) -> Any:
        """Record one call of an operation."""
        row = OPERATIONS[name]
        path = row.path.format(**{key: quote(value, safe="") for key, value in ids.items()})
        sent = {} if body is None and row.method == "POST" else body
        status, answer = self.daemon.api(row.method, path + query, sent)
        assert status == row.status, (name, status, answer)
        self.examples[name] = ({} if body is None else {"body": body}) | {"answer": _shortened(answer)}
        return answer

    def _make_shop(self) -> None:
        repository(self.shop)
        (self.shop / ".claude").mkdir()
        (self.shop / ".claude" / "settings.json").write_text(json.dumps(SETTINGS))
        commit(self.shop)

    def _record_projects(self) -> None:
        place = {"path": str(self.shop)}
        self._call("get_project_config", query=f"?path={quote(str(self.shop))}")
        self._call("untrust_project", place)
        self._call("trust_project", place)
        self._call("scan_projects")
        self._call("list_projects")
        self._call("get_scan")

    def _record_extensions(self) -> None:
        for name in ("list_plugins", "list_offers", "list_marketplaces", "list_servers"):
            self._call(name)
        self._call("check_servers", {})
        self._call("get_servers", name="issues")
        server = {"name": "files", "command": "file-server", "args": ["--read-only"]}
        self._call("add_server", server)
        self._call("remove_server", name="files")
        for action in ("install", "enable", "disable", "update", "uninstall"):
            self._call(f"{action}_plugin", {"name": "review@team", "scope": "user"})
        self._call("add_marketplace", {"source": f"{HOME}/market"})
        self._call("update_marketplaces", {"name": "team"})
        self._call("remove_marketplace", name="team")

    def _hook(self, event: str, session: str = SESSION, **more: Any) -> None:
        payload = {"hook_event_name": event, "session_id": session, "cwd": str(self.shop), **more}
        status, _ = self.daemon.hook(payload | {"transcript_path": str(self.transcript)})
        assert status in (200, 204), event

    @contextmanager
    def _asks(self, command: str) -> Iterator[Json]:
        """The agent's request to run this command, with its full risk."""
        held = self.daemon.hold(permission(command, SESSION) | {"cwd": str(self.shop), "tool_use_id": "toolu_02"})
        [found] = self.daemon.until_pending(1)
        until(lambda: self.daemon.events("request.assessed"), what="the risk of the request")
        yield found
        held.close()

    def _counts_all(self) -> bool:
        counted = self.daemon.api("GET", "/stats/series?metric=tools")[1]["seq_no"]
        return bool(counted == self.daemon.events()[-1]["seq_no"])

    def _record_requests(self) -> None:
        self._hook("SessionStart", source="startup", model="claude-opus-5-5")
        self._hook("UserPromptSubmit", prompt="make the login work again")
        tool: Json = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "toolu_01"}
        self._hook("PreToolUse", **tool)
        self._hook("PostToolUse", **tool, tool_response={"stdout": "4 passed"})
        until(lambda: self.daemon.events("session.usage"), what="the usage in the transcript")
        with self._asks("git push --force origin feature/login") as found:
            self._call("list_requests", query="?status=pending")
            self._call("get_request", request_id=found["request_id"])
            self._call("get_session", session_id=SESSION)
            self._call("list_sessions", query="?limit=1")
            self._call("explain_verdict", {"request_id": found["request_id"]})
            deny = {"decision": "deny", "digest": found["digest"], "message": "push to a new branch instead"}
            self._call("decide", deny, request_id=found["request_id"])
        with self._asks("git log --oneline") as found:
            allow = {"request_id": found["request_id"], "decision": "allow", "digest": found["digest"]}
            self._call("decide_many", {"decisions": [allow]})
        until(self._counts_all, what="the counts of all events")
        self._call("get_series", query="?metric=tokens&group=model")
        self._call("get_feed", query="?kind=tool.pre&limit=1")
        self._call("get_event", event_id=self.daemon.events("tool.post")[0]["event_id"])
        self._call("list_runs", session_id=SESSION)
        self._call("list_actors", session_id=SESSION)
        self._call("list_audit", query="?kind=permission.decision&limit=1")
        settings = self._call("list_settings")["settings"]
        kept = [one for one in settings if one["key"] in ("decide.hold", "runner.name")]
        self.examples["list_settings"]["answer"]["settings"] = kept
        self.examples["get_health"] = {"answer": {"status": "ok", "health": [SLOW_LOOP, WATCHING], "next": None}}
        self._call("healthz")
        self._call("get_stats")
        self.examples["get_stats"]["answer"]["version"] = "0.1.0"
        lines = send(self.daemon.port, "GET", "/metrics", [bearer(self.daemon.token)]).body.decode().splitlines()
        counted = [line for line in lines if "quarterdeck_events_total" in line and ("#" in line or "tool.pre" in line)]
        self.examples["get_metrics"] = {"answer": "\n".join(counted) + "\n"}

    def _record_rules(self) -> None:
        rule = {"effect": "allow", "pattern": "Bash(git log:*)", "scope": "project", "scope_path": str(self.shop)}
        self._call("simulate_rule", {**rule, "limit": 1000})
        made = self._call("add_rule", {**rule, "expires": "7d"})
        self._call("import_rules", {"rules": [{**rule, "pattern": "Bash(git diff:*)"}]})
        for _ in range(3):
            self._decide("npm test")
        self._call("suggest_rules")
        self._call("list_rules")
        self._call("remove_rule", rule_id=made["rule_id"])

    def _decide(self, command: str) -> None:
        with self._asks(command) as found:
            assert self.daemon.decide(found, "allow")[0] == 200

    def _record_sessions(self) -> None:
        start = {"cwd": str(self.shop), "mode": "pty", "shell": True, "worktree": True, "title": "make the login work"}
        session = self._call("start_session", start)
        named = {"session_id": session["session_id"]}
        until(lambda: self.daemon.api("GET", f"/sessions/{named['session_id']}/screen")[1]["text"], what="a prompt")
        self._call("get_screen", **named)
        self._call("send_message", {"prompt": "make test"}, **named)
        self._call("interrupt_session", **named)
        self._call("interrupt_sessions", {"session_ids": [named["session_id"]]})
        self._call("end_sessions", {"all": True, "dry_run": True})
        self._call("end_session", **named)
        worktree = self.daemon.api("GET", "/worktrees")[1]["worktrees"][0]
        (Path(worktree["path"]) / "login.py").write_text("def login(): ...\n")
        git(Path(worktree["path"]), "add", "-A")
        self._call("list_worktrees")
        self._call("get_diff", **named)
        commit(Path(worktree["path"]))
        self._call("merge_worktree", **named)
        self._call("discard_worktree", **named)
        self._hook("Stop")
        self._hook("SessionEnd", reason="prompt_input_exit")
        taken = self._call("takeover_session", {"mode": "pty"}, session_id=SESSION)
        self._hook("SessionStart", source="resume")
        self._hook("UserPromptSubmit", prompt="and write a test for it")
        self._hook("Stop")
        self._call("change_mode", {"mode": "tmux"}, session_id=taken["session_id"])
        self._call("fork_session", {"mode": "pty"}, session_id=SESSION)

    def _record_access(self) -> None:
        made = self._call(
            "create_token", {"name": "phone", "scopes": ["observe", "approve"], "expires_seconds": 2592000}
        )
        self._call("list_tokens")
        self._call("whoami")
        left = send(self.daemon.port, "POST", "/api/v1/logout", [bearer(made["token"]), JSON], b"{}")
        self.examples["logout"] = {"answer": left.json}
        made = self.daemon.api("POST", "/tokens", {"name": "script", "scopes": ["observe"]})[1]
        self._call("revoke_token", token_id=made["token_id"])
        self._call("create_login_code")
        code = self._call("create_pairing_code", {"purpose": "deck"})["code"]
        paired = self._call("pair_device", {"code": code, "name": "left desk"})
        step_up = send(self.daemon.port, "POST", "/api/v1/me/step-up", [bearer(paired["token"]), JSON], b"{}").json
        self.examples["ask_step_up"] = {"answer": step_up}
        self._call("list_devices")
        self._call("confirm_step_up", {"number": step_up["number"]}, device_id=paired["device_id"])
        self._call("revoke_device", device_id=paired["device_id"])


def _shortened(answer: Any) -> Any:
    """The answer with one entry in each of its lists: an example shows the shape, not the amount."""
    if not isinstance(answer, dict):
        return answer
    return {key: value[:1] if _is_list_of_objects(value) else value for key, value in answer.items()}


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)
