"""The scripts that `qd demo` plays: a believable day of three agents."""

from __future__ import annotations

from typing import Any

from quarterdeck.agents.scripted import ScriptLine

Script = list[ScriptLine]


def _hook(hook: str, delay: float = 0.6, **payload: Any) -> ScriptLine:
    return ScriptLine(payload={"hook_event_name": hook, **payload}, delay=delay)


def _start(model: str = "claude-opus-5-5") -> ScriptLine:
    return _hook("SessionStart", 0.2, source="startup", model=model)


def _prompt(text: str, delay: float = 1.0) -> ScriptLine:
    return _hook("UserPromptSubmit", delay, prompt=text)


def _tool(name: str, use: str, response: Any, seconds: float = 0.8, **tool_input: Any) -> Script:
    about = {"tool_name": name, "tool_input": tool_input, "tool_use_id": use}
    return [
        _hook("PreToolUse", 0.5, **about),
        _hook("PostToolUse", seconds, **about, tool_response=response, duration_ms=int(seconds * 1000)),
    ]


def _permission_tool(name: str, use: str, response: Any, seconds: float = 1.0, **tool_input: Any) -> Script:
    """A tool call that needs a permission; it reports a result only if it was allowed."""
    about = {"tool_name": name, "tool_input": tool_input}
    request = f"ask-{use}"
    ran = {"hook_event_name": "PostToolUse", **about, "tool_use_id": use, "tool_response": response}
    return [
        _hook("PreToolUse", 0.5, **about, tool_use_id=use),
        ScriptLine(payload={"hook_event_name": "PermissionRequest", **about}, delay=0.2, id=request),
        ScriptLine(payload=ran, delay=seconds, awaits=request, unless_denied=request),
    ]


def _todos(use: str, *items: tuple[str, str]) -> Script:
    todos = [{"content": text, "status": status, "activeForm": text} for text, status in items]
    return _tool("TodoWrite", use, {"newTodos": todos}, 0.1, todos=todos)


def _stop(text: str) -> ScriptLine:
    return _hook("Stop", 0.8, stop_hook_active=False, last_assistant_message=text, background_tasks=[])


def _failed(use: str, command: str, error: str) -> Script:
    about = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": use}
    return [_hook("PreToolUse", 0.5, **about), _hook("PostToolUseFailure", 1.5, **about, error=error)]


QUESTIONS = [
    {
        "question": "Which store should the rate limiter use?",
        "header": "Store",
        "options": [
            {"label": "Redis", "description": "shared by all instances"},
            {"label": "In memory", "description": "no new service, per instance"},
        ],
        "multiSelect": False,
    }
]


def api_server() -> Script:
    """Adds a rate limiter, asks a question, asks to push."""
    find, add, test = "find the login route", "add the limiter", "make the tests pass"
    return [
        _start(),
        _prompt("add rate limiting to the login route"),
        *_todos("a1", (find, "in_progress"), (add, "pending"), (test, "pending")),
        *_tool("Grep", "a2", "src/auth/login.py:41", pattern="def login", path="src"),
        *_tool("Read", "a3", "…", file_path="/home/you/api-server/src/auth/login.py"),
        *_permission_tool("AskUserQuestion", "a4", "answered", questions=QUESTIONS),
        *_todos("a5", (find, "completed"), (add, "in_progress"), (test, "pending")),
        *_permission_tool(
            "Edit",
            "a6",
            {"filePath": "/home/you/api-server/src/auth/login.py"},
            file_path="/home/you/api-server/src/auth/login.py",
            old_string="def login(request):",
            new_string='@limiter.limit("5/minute")\ndef login(request):',
        ),
        *_failed("a7", "pytest tests/auth -q", "Exit code 1\n2 failed, 41 passed"),
        *_tool("Bash", "a8", {"stdout": "43 passed in 3.8s"}, 1.5, command="pytest tests/auth -q"),
        *_todos("a9", (find, "completed"), (add, "completed"), (test, "completed")),
        *_permission_tool("Bash", "a10", {"stdout": "pushed"}, command="git push --force origin feature/login"),
        _stop("The login route allows five tries a minute now; all 43 tests pass."),
    ]


def docs() -> Script:
    """Works with a sub-agent and asks for few permissions."""
    sub = {"agent_id": "a51f3c", "agent_type": "Explore"}
    found = "Three routes lack docs."
    call = {"tool_name": "Agent", "tool_input": {"description": "find undocumented routes"}, "tool_use_id": "d1"}
    return [
        _start("claude-sonnet-5"),
        _prompt("update the API reference", 1.6),
        _hook("PreToolUse", 0.8, **call),
        _hook("SubagentStart", 0.2, **sub),
        _hook("PreToolUse", 0.6, tool_name="Glob", tool_input={"pattern": "src/**/*.py"}, tool_use_id="d2", **sub),
        _hook("PostToolUse", 0.4, tool_name="Glob", tool_input={"pattern": "src/**/*.py"}, tool_use_id="d2", **sub),
        _hook("SubagentStop", 1.2, **sub, stop_hook_active=False, last_assistant_message=found),
        _hook("PostToolUse", 0.1, **call, tool_response={"content": [{"type": "text", "text": found}]}),
        *_tool("Write", "d3", "ok", 0.9, file_path="/home/you/docs/reference/login.md", content="# Login\n"),
        *_permission_tool(
            "WebFetch", "d4", "ok", url="https://example.com/style-guide", prompt="How are errors documented?"
        ),
        *_tool("Bash", "d5", {"stdout": "0 broken links"}, 1.4, command="make linkcheck"),
        _stop("The reference covers all 31 routes."),
    ]


def infra() -> Script:
    """Asks for something dangerous, then presents a plan."""
    plan = "1. Drain node 3\n2. Upgrade to 1.33\n3. Watch for an hour"
    return [
        _start(),
        _prompt("upgrade the staging cluster", 2.2),
        *_tool("Bash", "i1", {"stdout": "3 nodes ready"}, 1.0, command="kubectl get nodes"),
        *_permission_tool("Bash", "i2", {"stdout": ""}, command="kubectl delete pvc --all -n staging"),
        *_permission_tool("ExitPlanMode", "i3", {"plan": plan}, plan=plan),
        _hook("Notification", 0.5, message="Claude is waiting for your input", notification_type="idle_prompt"),
        _stop("Plan settled; nothing has been changed yet."),
        _hook("SessionEnd", 2.0, reason="prompt_input_exit"),
    ]


DAY: dict[str, Script] = {"api-server": api_server(), "docs": docs(), "infra": infra()}
"""The script of each project's agent."""
