"""A daemon whose only driver is that of a made-up agent: it knows no agent by name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.agents.claude.hooks import HOOKS
from quarterdeck.agents.claude.tools import TOOLS
from quarterdeck.config.settings import Config
from quarterdeck.drivers.base import Driver
from tests.support.daemon import Daemon, Json, launching, permission, prompt, until
from tests.support.lark import HOME, NAME, LarkDriver, song
from tests.support.ws_client import following

SOURCE = Path(__file__).parents[2] / "src" / "quarterdeck"
COMMAND = (sys.executable, "-m", "tests.support.lark")
PROGRAM = """#!/bin/sh
printf '%s\\n' "$@" > "$LARK_HOME/arguments"
env > "$LARK_HOME/environment"
exec sleep 600
"""


class Nest:
    """A daemon that knows only Lark, and Lark's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.project = folder / "lark", folder / "project"
        for part in ("running", "songs", "bin"):
            (self.folder / part).mkdir(parents=True)
        self.project.mkdir()
        program = self.folder / "bin" / "lark"
        program.write_text(PROGRAM)
        program.chmod(0o700)
        env = {HOME: str(self.folder), "LARK_CHILD": "above", "HOME": str(folder)}
        self.daemon = Daemon(folder / "qd", env=env, launch=launching((*COMMAND, "daemon")))

    def trust_project(self) -> None:
        assert self.daemon.api("POST", "/projects/trust", {"path": str(self.project)})[0] == 200

    def session(self, session_id: str) -> Json:
        status, session = self.daemon.api("GET", f"/sessions/{session_id}")
        assert status == 200, session
        return dict(session)

    def quarterdeck(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, **self.daemon.env, "QUARTERDECK_HOME": str(self.daemon.home)}
        return subprocess.run([*COMMAND, *words], env=env, capture_output=True, text=True, timeout=60)


@pytest.fixture
def nest(tmp_path: Path) -> Iterator[Nest]:
    nest = Nest(tmp_path)
    with nest.daemon:
        yield nest
        assert "Traceback" not in nest.daemon.stderr()


def test_a_made_up_driver_keeps_the_protocol(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(HOME, str(tmp_path))
    driver: Driver = LarkDriver(Config())
    assert driver.find_program() is None


def test_its_past_sessions_are_shown_and_its_process_tells_which_run(nest: Nest) -> None:
    (nest.folder / "songs" / "past.song").write_bytes(song("of yesterday"))
    (nest.folder / "songs" / "live.song").write_bytes(song("of today"))
    (nest.folder / "running" / "live.sings").write_text(f"{os.getpid()} busy")
    nest.daemon.stop()
    nest.daemon.restart()
    until(lambda: nest.daemon.api("GET", "/sessions/past")[0] == 200, every=0.05)
    past, live = nest.session("past"), nest.session("live")
    assert (past["title"], past["cwd"], past["agent_state"]) == ("of yesterday", "/w/song", "ended")
    assert (live["title"], live["agent_state"]) == ("of today", "unknown")
    assert past["resume"] == {"command": "lark sing past", "cwd": "/w/song"}


def test_its_transcript_is_followed_by_its_own_reader_and_prices(nest: Nest) -> None:
    file = nest.folder / "songs" / "s1.song"
    file.write_bytes(song("one"))
    nest.daemon.hook(prompt("hello", "s1") | {"transcript_path": str(file)})
    until(lambda: [e["data"]["text"] for e in nest.daemon.events("message.assistant")] == ["for a song: one"])
    with file.open("ab") as opened:
        opened.write(song("two"))
    until(lambda: [e["data"]["text"] for e in nest.daemon.events("message.assistant")][1:] == ["for a song: two"])


def test_a_transcript_outside_its_folder_is_refused_in_its_words(nest: Nest, tmp_path: Path) -> None:
    nest.daemon.hook(prompt("hello", "s1") | {"transcript_path": str(tmp_path / "s1.song")})
    nest.daemon.hook({"hook_event_name": "SessionEnd", "session_id": "s1", "reason": "other"})
    until(lambda: "the song is not in Lark's folder" in json.dumps(nest.daemon.events("session.summary")))


def test_a_session_starts_its_program_with_its_arguments_hooks_and_environment(nest: Nest) -> None:
    nest.trust_project()
    status, session = nest.daemon.api("POST", "/sessions", {"cwd": str(nest.project), "mode": "pty"}, timeout=60)
    assert status == 201, session
    assert (session["agent"], session["resume"]["command"]) == (NAME, f"lark sing {session['session_id']}")
    reasons = {one["name"]: one["reason"] for one in session["actions"]}
    assert reasons["fork"] == "Lark cannot do this"
    environment = until(lambda: (nest.folder / "environment").read_text() if _is_written(nest) else "", every=0.02)
    word, session_id, hooks = (nest.folder / "arguments").read_text().splitlines()
    assert (word, session_id) == ("sing", session["session_id"])
    assert json.loads(Path(hooks).read_text()) == {"lark calls": nest.daemon.url}
    assert f"QUARTERDECK_TAG={session_id}" in environment
    assert "LARK_CHILD" not in environment
    assert nest.daemon.api("POST", f"/sessions/{session_id}/end", {}, timeout=60)[0] == 202


async def test_every_view_names_it(nest: Nest) -> None:
    nest.trust_project()
    status, session = nest.daemon.api("POST", "/sessions", {"cwd": str(nest.project), "mode": "pty"}, timeout=60)
    assert (status, session["agent"]) == (201, NAME)
    session_id, query = session["session_id"], f"session_id={session['session_id']}"
    held = nest.daemon.hold(permission("r1", session_id))
    [request] = nest.daemon.until_pending(1)
    feed = nest.daemon.api("GET", f"/feed?{query}")[1]["events"]
    detail = nest.daemon.api("GET", f"/events/{request['event_id']}")[1]
    audit = nest.daemon.api("GET", "/audit")[1]["audit"]
    async with following(nest.daemon, after=detail["seq_no"] - 1, topics=["feed"]) as socket:
        streamed = await socket.until("event")
    card = nest.daemon.api("GET", f"/requests/{request['request_id']}")[1]
    views = [nest.session(session_id), request, card, *feed, detail, *detail["causes"], streamed["event"]]
    views += [row for row in audit if row["session_id"] == session_id]
    assert {"session.launch", "permission.request"} <= {view.get("kind") for view in views}
    assert [view for view in views if view["agent"] != NAME] == []
    assert [row["agent"] for row in audit if row["kind"] == "project.trust"] == [None]
    nest.daemon.decide(request, "deny")
    held.answer()
    assert nest.daemon.api("POST", f"/sessions/{session_id}/end", {}, timeout=60)[0] == 202


def _is_written(nest: Nest) -> bool:
    file = nest.folder / "environment"
    return file.exists() and file.read_text().endswith("\n")


def test_what_it_lacks_is_refused(nest: Nest) -> None:
    nest.trust_project()
    status, answer = nest.daemon.api("POST", "/sessions", {"cwd": str(nest.project), "mode": "sdk"})
    assert (status, answer["error"]["message"]) == (422, "mode: Lark has no SDK")
    wanted = {"cwd": str(nest.project), "mode": "pty", "permission_mode": "plan"}
    status, answer = nest.daemon.api("POST", "/sessions", wanted)
    assert (status, answer["error"]["message"]) == (422, "permission_mode: Lark has default")
    for path in ("/plugins", "/plugins/marketplaces", "/mcp"):
        status, answer = nest.daemon.api("GET", path)
        assert (status, answer["error"]["message"]) == (409, "Lark has no plugins and no MCP servers"), path


def test_the_config_that_it_would_obey_is_shown(nest: Nest) -> None:
    (nest.project / "lark.hooks").write_text("whistle\n")
    status, shown = nest.daemon.api("GET", f"/projects/brings?path={nest.project}")
    assert (status, [hook["runs"] for hook in shown["hooks"]]) == (200, ["whistle"])


@pytest.mark.skipif(sys.platform != "linux", reason="the caller is known on Linux only")
def test_a_process_that_its_tools_started_may_not_decide(nest: Nest) -> None:
    nest.trust_project()
    words = ("untrust", str(nest.project))
    env = {**os.environ, **nest.daemon.env, "QUARTERDECK_HOME": str(nest.daemon.home), "LARK_CHILD": "s7"}
    command = [*COMMAND, "projects", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, start_new_session=True)
    assert "was started by agent session s7, and an agent may not decide" in done.stderr + done.stdout


def test_the_command_line_connects_and_checks_it(nest: Nest) -> None:
    assert nest.quarterdeck("install").stdout == "Lark is connected.\n"
    assert (nest.folder / "connected").read_text() == nest.daemon.url
    shown = nest.quarterdeck("doctor").stdout
    assert f"lark: {nest.folder}/bin/lark is 1.0; tested with 1.0 and 1.1" in shown
    assert f"hooks: http for the user, in {nest.folder}/connected" in shown
    assert nest.quarterdeck("uninstall").stdout == "Lark is disconnected.\n"
    assert "Lark is not connected" in nest.quarterdeck("doctor").stdout


KNOWN_TO_CLIENTS = {
    "api/routes/decisions.py": "clients send the field `claude` of a rule to remember",
    "core/handlers/rules.py": "names that field in an error",
    "core/handlers/requests.py": "the fields around a form, as stored payloads have them",
    "daemon/ingest/unix_socket.py": "an envelope may name the hook beside its payload",
}


def names_of_an_agent(files: dict[str, str]) -> list[str]:
    """The lines that hold a name, a variable, a folder, a command, a permission mode or a field of one agent."""
    name = re.compile(
        r"CLAUDE|\.claude\b|[\"']claude[\"']|claude-code|anthropic|claude (--|mcp )|bypassPermissions"
        r"|[\"']hook_event_name[\"']|hookSpecificOutput|permissionDecision"
    )
    lines = ((path, number, line) for path, text in files.items() for number, line in enumerate(text.splitlines(), 1))
    return [f"{path}:{number}" for path, number, line in lines if name.search(line)]


def test_neither_the_daemon_nor_its_api_holds_a_name_of_an_agent() -> None:
    rooms = [
        SOURCE / room
        for room in ("api", "core/engine", "core/handlers", "daemon", "projects", "sessions", "store", "system")
    ]
    files = {str(path.relative_to(SOURCE)): path.read_text() for room in rooms for path in room.rglob("*.py")}
    assert {line.partition(":")[0] for line in names_of_an_agent(files)} == KNOWN_TO_CLIENTS.keys()
    assert names_of_an_agent({"a.py": 'Path.home() / ".claude"\nconfig.claude_like\nos.environ["CLAUDECODE"]'}) == [
        "a.py:1",
        "a.py:3",
    ]
    assert names_of_an_agent({"a.py": 'f"claude --resume {name}"\n"claude-code"\nmode == "bypassPermissions"'}) == [
        "a.py:1",
        "a.py:2",
        "a.py:3",
    ]
    assert names_of_an_agent({"a.py": 'payload.get("hook_event_name")'}) == ["a.py:1"]


def names_in_page(files: dict[str, str]) -> list[str]:
    """The lines of scripts with the name of a hook or a tool of an agent that is no ordinary word."""
    words = {name for name in (*HOOKS, *TOOLS) if name == "Bash" or len(re.findall("[A-Z][a-z]+", name)) > 1}
    name = re.compile(rf"\b({'|'.join(sorted(words))})\b(?!\()")
    lines = ((path, number, line) for path, text in files.items() for number, line in enumerate(text.splitlines(), 1))
    return [f"{path}:{number}" for path, number, line in lines if name.search(line)]


def test_the_page_tells_tools_by_their_kinds() -> None:
    page = SOURCE / "surfaces" / "web"
    scripts = [path for path in page.rglob("*.js") if "vendor" not in path.parts]
    assert len(scripts) > 10
    assert names_in_page({str(path.relative_to(page)): path.read_text() for path in scripts}) == []
    assert names_in_page({"a.js": 'if (tool === "Bash") run();\n// for example Bash(ls)\nevent.PreToolUse'}) == [
        "a.js:1",
        "a.js:3",
    ]
