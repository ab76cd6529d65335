"""A request of each kind, with everything that its card can show, and the card as text."""

from __future__ import annotations

from typing import Any

from tests.support.recorded_daemon import Json, request, resolved

LOW: Json = {"level": "low", "reasons": ["reads what is there"]}
RULE: Json = {"effect": None, "rules": [], "reasons": ["no rule is about this"], "trust": None}
RULE["patterns"] = ["Bash(git push)", "Bash(git push:*)"]


def card(**more: Any) -> Json:
    """A request with its details."""
    of_tool = {key: more[key] for key in ("tool_name", "tool_input") if key in more}  # the tool's kind follows its name
    view = request(risk=LOW, agent_id=None, **of_tool) | {"rule": None, "diff": None, "change": None, "command": None}
    view |= {"session": {"title": "a title", "cwd": "/home/ann/shop"}, "run": None, "suggested": []}
    return view | {"age_seconds": 12.0, "others_waiting": 0} | more


def call(text: str, level: str = "low", *reasons: str, via: str = "", piped: bool = False) -> Json:
    return {
        "text": text,
        "words": text.split(),
        "via": via,
        "piped": piped,
        "risk": {"level": level, "reasons": reasons},
    }


COMMAND: Json = {"writes": ["out.txt"], "more": 0, "doubts": ["writes to out.txt", "$X is not known"]}
COMMAND["calls"] = [call("git push $X"), call("tee out.txt", "medium", "writes a file", piped=True)]
CHANGE: Json = {"path": "/home/ann/shop/a.py", "added": 1, "removed": 1, "compared": True, "cut": False}
QUESTION: Json = {"header": "Store", "question": "Which?", "multiSelect": True, "weight": 7}
QUESTION["options"] = [{"label": "Redis", "description": "shared"}, {"label": "Memory", "cost": {"usd": 0}}]
SCHEMA: Json = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "title": "Name"}}}
SCHEMA["properties"]["size"] = {"type": "string", "enum": ["s", "l"], "enumNames": ["small", "large"], "default": "s"}

KINDS: dict[str, tuple[Json, str, str]] = {
    "command": (
        card(
            tool_input={"command": "git push $X | \u200btee out.txt\nls", "description": "Look"},
            risk={"level": "high", "reasons": ["publishes", "writes a file"]},
            agent_id="a1",
            agent_type="Explore",
            command=COMMAND,
            rule=RULE,
            run={"run_id": "R1", "prompt": "push it\nnow", "started_at": 0.0},
            suggested=["allow Bash(git push:*) in this session"],
            others_waiting=2,
        ),
        "wants to run",
        """\
git push $X | ⟨200b⟩tee out.txt
ls
description: Look
!! high: publishes · writes a file
asked for: push it⏎now
runs git push $X
runs | tee out.txt  ! medium writes a file
writes to out.txt
unclear: $X is not known
No rule is about this.
The agent suggests: allow Bash(git push:*) in this session""",
    ),
    "edit": (
        card(
            tool_name="Edit",
            tool_input={"file_path": "/home/ann/shop/a.py", "old_string": "a", "new_string": "b", "odd": [1]},
            diff="--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n",
            change=CHANGE | {"notes": ["it is a link"]},
            rule=RULE | {"effect": "ask", "rules": ["ask Edit(*.py)"], "reasons": []},
        ),
        "wants to change a.py  +1 −1",
        """\
/home/ann/shop/a.py  +1 −1
(it is a link)
@@ -1 +1 @@
-a
+b
odd: [1]
asked for: a title
low risk: reads what is there
The rules say ask: ask Edit(*.py)""",
    ),
    "unknown tool": (
        card(tool_name="mcp__db__drop", tool_input={"table": "users", "note": "two\nlines"}, kind="permission"),
        "wants to use mcp__db__drop",
        """\
table: users
note:
  two
  lines
asked for: a title
low risk: reads what is there""",
    ),
    "plan": (
        card(kind="question", form="plan", tool_name="ExitPlanMode", tool_input={"plan": "1. build\n2. test", "x": 1}),
        "has a plan and asks to begin",
        """\
1. build
2. test
x: 1
asked for: a title
low risk: reads what is there""",
    ),
    "questions": (
        card(kind="question", form="questions", tool_name="AskUserQuestion", tool_input={"questions": [QUESTION]}),
        "asks you",
        """\
Store · Which? (several may be chosen)
  weight: 7
  1. Redis: shared
  2. Memory
    cost: {"usd": 0}
asked for: a title
low risk: reads what is there""",
    ),
    "form": (
        card(
            kind="question",
            form="elicitation",
            tool_name="",
            tool_input={"mcp_server_name": "srv", "message": "Who?", "mode": "form", "requested_schema": SCHEMA},
        ),
        "asks you to fill in a form",
        """\
srv:
  Who?
name (text, required): Name
size (text) [s]
  1. s: small
  2. l: large
mode: form
asked for: a title
low risk: reads what is there""",
    ),
    "stop": (
        card(kind="stop", tool_name="", tool_input={"last_message": "done"}),
        "wants to stop",
        """\
last_message: done
asked for: a title
low risk: reads what is there""",
    ),
    "large": (
        card(tool_input={}, truncated={"begins": '{"command": "make', "bytes": 70_000, "sha256": "0"}),
        "wants to run",
        """\
{"command": "make
… 70,000 bytes in all
asked for: a title
low risk: reads what is there""",
    ),
}
"""By kind: the request, what its session wants, and everything below that as text."""

ANSWERED = resolved(
    KINDS["command"][0] | {"rule": None, "age_seconds": 90.0},
    message="only here",
    note="safer",
    answers={"Which?": ["Redis"]},
    notes={"Which?": "for now"},
    updated_input={"command": "git push origin"},
)
OUTCOME = """\
message: only here
note: safer
Which? ["Redis"]
Which? (note) "for now"
it ran with
  git push origin"""
