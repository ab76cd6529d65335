"""Questions, plans and forms answered in Quarterdeck, and the real Claude Code continues with the answers."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.support import mcp_server
from tests.support.connected_claude import Connected
from tests.support.model_server import Turn, text, tool
from tests.support.tmux import Terminal

pytestmark = pytest.mark.e2e

QUESTIONS = [
    {
        "question": "Which database?",
        "header": "DB",
        "options": [{"label": "Postgres", "description": "pg"}, {"label": "SQLite", "description": "lite"}],
        "multiSelect": False,
    },
    {
        "question": "Which checks?",
        "header": "Checks",
        "options": [{"label": "lint", "description": "l"}, {"label": "types", "description": "t"}],
        "multiSelect": True,
    },
]


@pytest.mark.usefixtures("tmux")
def test_a_question_is_answered_with_notes_and_several_choices(either: Connected) -> None:
    call = tool("AskUserQuestion", questions=QUESTIONS)
    prompt = either.script("ask me something", Turn(call), Turn(text("understood")))
    with either.terminal() as terminal:
        terminal.type_prompt(prompt)
        request = either.request_for("AskUserQuestion")
        assert request["kind"] == "question"
        answers = json.dumps({"Which database?": "none of these", "Which checks?": ["lint", "types"]})
        notes = json.dumps({"Which database?": "keep it small"})
        finished = either.qd("answer", request["request_id"], "--answers", answers, "--notes", notes)
        assert finished.returncode == 0, finished.stderr
        terminal.wait_for("understood")
    (result,) = either.model.tool_results(prompt)
    assert '"Which database?"="none of these" notes: keep it small' in result
    assert '"Which checks?"="lint, types"' in result
    either.confirmed(request)


def plan_file(pair: Connected, terminal: Terminal) -> str:
    """The file in which Claude Code wants the plan, as it tells the model."""
    prompt = pair.script("first say hello", Turn(text("hello to you")))
    terminal.type_prompt(prompt)
    terminal.wait_for("hello to you")
    messages = json.dumps([request.body["messages"] for request in pair.model.requests_for(prompt)])
    return str(re.findall(r"[\w/.~-]*/plans/[\w-]+\.md", messages)[-1])


@pytest.mark.usefixtures("tmux")
def test_a_plan_is_approved_in_a_mode_and_carried_out_in_it(either: Connected) -> None:
    file = either.path("planned.txt")
    write = tool("Write", file_path=str(file), content="as planned")
    with either.terminal("--permission-mode", "plan") as terminal:
        plan = tool("Write", file_path=plan_file(either, terminal), content="1. write planned.txt")
        turns = [Turn(plan), Turn(tool("ExitPlanMode")), Turn(write), Turn(text("built"))]
        terminal.type_prompt(either.script("plan and do it", *turns))
        request = either.request_for("ExitPlanMode")
        assert request["tool_input"]["plan"] == "1. write planned.txt"
        assert either.session(request["session_id"], "waiting_input")["permission_mode"] == "plan"
        finished = either.qd("allow", request["request_id"], "--mode", "acceptEdits")
        assert finished.returncode == 0, finished.stderr
        terminal.wait_for("built")
        assert file.read_text() == "as planned"
        assert either.session(request["session_id"], "settled")["permission_mode"] == "acceptEdits"
    assert either.confirmed(request)["decision"]["mode"] == "acceptEdits"


@pytest.mark.usefixtures("tmux")
def test_a_plan_is_sent_back_and_the_model_reads_why(either: Connected) -> None:
    feedback = "smaller steps, please: «one» at a time"
    plan = tool("ExitPlanMode", plan="1. everything at once")
    prompt = either.script("plan too much", Turn(plan), Turn(text("I shall think again")))
    with either.terminal("--permission-mode", "plan") as terminal:
        terminal.type_prompt(prompt)
        request = either.request_for("ExitPlanMode")
        assert either.qd("deny", request["request_id"], "--message", feedback).returncode == 0
        terminal.wait_for("I shall think again")
        assert either.session(request["session_id"], "settled")["permission_mode"] == "plan"
    assert either.model.tool_results(prompt) == [feedback]


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "size": {"type": "string", "enum": ["small", "large"]},
        "count": {"type": "integer", "minimum": 1},
    },
    "required": ["name"],
}


@pytest.fixture
def with_forms(tmp_path: Path) -> tuple[str, ...]:
    """The flags that give a session an MCP server whose tool fills in a form."""
    schema, config = tmp_path / "schema.json", tmp_path / "mcp.json"
    schema.write_text(json.dumps(SCHEMA))
    server = {"command": sys.executable, "args": [str(mcp_server.__file__), str(schema)]}
    config.write_text(json.dumps({"mcpServers": {"forms": server}}))
    return "--mcp-config", str(config), "--allowedTools", "mcp__forms__ask"


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (
            ("answer", "name=Bo", "size=large", "count=3"),
            {"action": "accept", "content": {"name": "Bo", "size": "large", "count": 3}},
        ),
        (("deny",), {"action": "decline"}),
        (("deny", "--interrupt"), {"action": "cancel"}),
    ],
    ids=["accept", "decline", "cancel"],
)
def test_a_form_is_filled_in_at_the_desk(
    either: Connected, with_forms: tuple[str, ...], words: tuple[str, ...], result: dict[str, object]
) -> None:
    prompt = either.script(f"fill in the form to {words}", Turn(tool("mcp__forms__ask")), Turn(text("finished")))
    with either.headless(prompt, *with_forms) as running:
        request = either.request_for("Elicitation")
        assert "name (text, required): Name" in either.qd("requests").stdout
        command, *rest = words
        finished = either.qd(command, request["request_id"], *rest)
        assert finished.returncode == 0, finished.stderr
        assert running.finish().text == "finished"
    (tool_result,) = either.model.tool_results(prompt)
    assert json.loads(tool_result) == result
