"""Record the hook payloads of the installed CLIs again: `python -m tools.record`."""

import argparse
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.claude import ClaudeHome, Json, claude_197, claude_325, read_lines, version
from tests.support.model_server import ModelServer, Turn, text, tool
from tests.support.tmux import Terminal, wait_until

RECORDINGS = Path(__file__).parents[1] / "tests" / "recordings" / "claude-code-hooks"

# WorktreeCreate is left out: a hook on it replaces the creation of the worktree.
# fmt: off
EVENTS = (
    "ConfigChange", "CwdChanged", "DirectoryAdded", "Elicitation", "ElicitationResult", "FileChanged",
    "InstructionsLoaded", "MessageDisplay", "Notification", "PermissionDenied", "PermissionRequest",
    "PostCompact", "PostModelSwitch", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreCompact",
    "PreModelSwitch", "PreToolUse", "SessionEnd", "SessionStart", "Setup", "Stop", "StopFailure",
    "SubagentStart", "SubagentStop", "TaskCompleted", "TaskCreated", "TeammateIdle", "UserPromptExpansion",
    "UserPromptSubmit", "WorktreeRemove",
)
# fmt: on
UNKNOWN_TO_197 = {"DirectoryAdded", "PostModelSwitch", "PreModelSwitch"}
VARIANT_FIELD = {
    "ElicitationResult": "action",
    "FileChanged": "event",
    "InstructionsLoaded": "load_reason",
    "Notification": "notification_type",
    "PermissionRequest": "tool_name",
    "PostCompact": "trigger",
    "PostToolUse": "tool_name",
    "PostToolUseFailure": "tool_name",
    "PreCompact": "trigger",
    "PreToolUse": "tool_name",
    "SessionEnd": "reason",
    "SessionStart": "source",
    "Setup": "trigger",
    "StopFailure": "error",
}
QUESTION = {
    "question": "Which database?",
    "header": "DB",
    "options": [{"label": "Postgres", "description": "pg"}, {"label": "SQLite", "description": "lite"}],
    "multiSelect": False,
}
ERRORS = {"server_error": 500, "rate_limit": 429, "authentication_failed": 401}


def scripts(project: Path) -> Mapping[str, list[Turn]]:
    make = tool("Bash", command="touch made.txt && echo hi", description="make")
    agents = [
        tool("Agent", description=name, prompt=f"job {name}", subagent_type="general-purpose")
        for name in ("one", "two")
    ]
    touch = [Turn(tool("Bash", command="touch p1.txt", description="x")), Turn(text("d1"))]
    return {
        "go": [Turn(text("w"), make), Turn(text("finished"))],
        "fail": [
            Turn(tool("Bash", command="exit 3", description="x")),
            Turn(tool("Read", file_path=str(project / "absent"))),
        ],
        "files": [
            Turn(tool("Write", file_path=str(project / "f.txt"), content="orig")),
            Turn(tool("Read", file_path=str(project / "sub" / "a.txt"))),
            Turn(tool("Bash", command=f"cd {project / 'sub'}", description="x")),
        ],
        "spawn": [Turn(*agents), Turn(text("finished"))],
        "job one": touch,
        "job two": touch,
        "tasks": [
            Turn(tool("TaskCreate", subject="Do A", description="desc A")),
            Turn(tool("TaskUpdate", taskId="1", status="completed")),
        ],
        "refused": [Turn(error=400)],
        "ask": [Turn(tool("AskUserQuestion", questions=[QUESTION]))],
        "plan": [Turn(tool("ExitPlanMode"))],
        **{prompt: [Turn(error=status)] for prompt, status in ERRORS.items()},
    }


def command_hooks(**commands: str) -> str:
    hooks = {event: [{"hooks": [{"type": "command", "command": run}]}] for event, run in commands.items()}
    return json.dumps({"hooks": hooks})


ALLOWED = '{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}'
ALLOW = command_hooks(PermissionRequest=f"""echo '{{"hookSpecificOutput":{ALLOWED}}}'""")
BLOCK_ONCE = """grep -q '"stop_hook_active":false' && echo '{"decision":"block","reason":"go on"}' || true"""
STOP_BLOCK = command_hooks(Stop=BLOCK_ONCE)
SUBAGENT_BLOCK = command_hooks(SubagentStop=BLOCK_ONCE)


def lay_out(home: ClaudeHome) -> Path:
    """Fill the project with the files that the events need and hook up every event; return the file they go to."""
    files = {
        home.config / "CLAUDE.md": "user",
        home.project / "CLAUDE.md": "@extra.md",
        home.project / "extra.md": "extra",
        home.project / "sub" / "CLAUDE.md": "nested",
        home.project / "sub" / "a.txt": "x",
        home.project / ".claude" / "commands" / "hey.md": "say hey to $ARGUMENTS",
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    unknown = UNKNOWN_TO_197 if version(home.cli) == "2.1.197" else set()
    return home.record_hooks(*(event for event in EVENTS if event not in unknown))


def drive_headless(home: ClaudeHome) -> None:
    first = home.run_headless("go", "--settings", ALLOW).json["session_id"]
    for prompt in ("fail", "files", "spawn", "tasks"):
        home.run_headless(prompt, "--settings", ALLOW, "--allowedTools", "TaskCreate", "TaskUpdate")
    home.run_headless("/hey bob")
    home.run_headless("refused")
    home.run_headless("again", "--settings", STOP_BLOCK)
    home.run_headless("spawn", "--settings", SUBAGENT_BLOCK)
    home.run_headless("more", "--resume", first)
    home.run_headless("more", "--resume", first, "--fork-session")
    home.run_headless("go", "--init-only")
    home.run_headless("go", "--maintenance")


def drive_terminal(home: ClaudeHome, seen: Callable[[str], bool]) -> None:
    def wait_for_event(name: str, timeout: float = 20.0) -> None:
        wait_until(lambda: seen(name), timeout, lambda: f"no {name} on:\n{terminal.screen()}")

    with Terminal(home) as terminal:
        terminal.ready().type_prompt("go")
        wait_for_event("Notification.permission_prompt")
        terminal.choose("Yes")
        terminal.wait_for("finished")
        terminal.wait_status("idle")
        terminal.type_prompt("ask")
        terminal.choose("Postgres")
        wait_for_event("PostToolUse.AskUserQuestion")
        for command, name in {"/compact": "PostCompact.manual", "/clear": "SessionStart.clear"}.items():
            terminal.wait_status("idle")
            terminal.type_prompt(command)
            wait_for_event(name)
        for error in ERRORS:
            terminal.wait_status("idle")
            terminal.type_prompt(error)
            wait_for_event(f"StopFailure.{error}")
        terminal.wait_status("idle")
        terminal.type_prompt("/exit")
        wait_for_event("SessionEnd.prompt_input_exit")
    with Terminal(home, "--name", "my session", permission_mode="plan") as terminal:
        terminal.ready().type_prompt("plan")
        wait_for_event("PermissionRequest.ExitPlanMode")


def name_of(payload: Json) -> str:
    event = payload["hook_event_name"]
    parts = [event, str(payload[VARIANT_FIELD[event]])] if event in VARIANT_FIELD else [event]
    if "agent_id" in payload and re.match("P(re|ost)Tool|Permission", event):
        parts.append("subagent")
    if payload.get("stop_hook_active"):
        parts.append("active")
    elif payload.get("background_tasks"):
        parts.append("background")
    if payload.get("prompt", "").startswith("<task-notification>"):
        parts.append("task_notification")
    return ".".join(parts)


def normal(payload: Json, home: ClaudeHome) -> Json:
    """The payload as on a developer's machine, without the paths of the scratch folder."""
    changes = {
        f"{home.path}/tmp/claude-{os.getuid()}": "/tmp/claude-1000",
        str(home.path): "/home/dev",
        re.sub(r"[^A-Za-z0-9]", "-", str(home.project)): "-home-dev-project",
        home.model_url.removeprefix("http://"): "127.0.0.1:8080",
    }
    text = json.dumps(payload)
    for scratch, shown in changes.items():
        text = text.replace(scratch, shown)
    normalised: Json = json.loads(text)
    return normalised


def record(cli: Path) -> dict[str, list[Json]]:
    """The payloads that this CLI sends, by name, in order."""
    with (
        tempfile.TemporaryDirectory(prefix="qd-record-", ignore_cleanup_errors=True) as folder,
        ModelServer() as server,
    ):
        home = ClaudeHome(Path(folder), cli=cli, model_url=server.url, env={"CLAUDE_CODE_MAX_RETRIES": "0"})
        server.scripts.update(scripts(home.project))
        log = lay_out(home)
        drive_headless(home)
        try:
            drive_terminal(home, lambda name: any(name_of(payload) == name for payload in read_lines(log)))
        except TimeoutError as missed:
            print(f"{cli}: {missed}")
        payloads = [normal(payload, home) for payload in read_lines(log)]
    named: dict[str, list[Json]] = {}
    for payload in payloads:
        named.setdefault(name_of(payload), []).append(payload)
    return named


def alike(old: Any, new: Any) -> bool:
    """True if fields and types agree; the values differ from run to run."""
    match old, new:
        case dict(), dict():
            return old.keys() == new.keys() and all(alike(old[key], new[key]) for key in old)
        case list(), list():
            return all(map(alike, old[:1], new[:1]))
        case _:
            return type(old) is type(new)


def release(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split("."))


def keep(name: str, payloads: list[Json], *, rewrite: bool) -> bool:
    """Write a recording, unless a payload has the shape of the old one and `rewrite` is off; True if it did."""
    file = RECORDINGS / f"{name}.json"
    if not rewrite and file.exists():
        old = json.loads(file.read_text())
        if any(alike(old, payload) for payload in payloads):
            return False
    file.write_text(json.dumps(payloads[0], indent=2, ensure_ascii=False) + "\n")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also rewrite recordings whose shape is the same")
    args = parser.parse_args()
    index = RECORDINGS / "_versions.json"
    versions: dict[str, str] = json.loads(index.read_text())
    recorded: set[str] = set()
    for cli in filter(None, (claude_325(), claude_197())):
        number = version(cli)
        for name, payloads in sorted(record(cli).items()):
            if name in recorded or release(number) < release(versions.get(name, "0")):
                continue
            recorded.add(name)
            versions[name] = number
            if keep(name, payloads, rewrite=args.all):
                print(f"{number} {name}: written")
    index.write_text(json.dumps(dict(sorted(versions.items())), indent=1))
    print(f"{len(recorded)} recorded; not triggered and unchanged: {', '.join(sorted(set(versions) - recorded))}")


if __name__ == "__main__":
    main()
