"""The test harness itself, with the real CLI and without Quarterdeck."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.claude import ClaudeHome, read_lines, require
from tests.support.model_server import ModelServer, Turn, text, tool
from tests.support.tmux import Terminal

pytestmark = pytest.mark.e2e

TOUCH = tool("Bash", command="touch made.txt", description="make a file")
SCRIPTS = {
    "say hello": [Turn(text("hello there"))],
    "overloaded once": [Turn(text("better"), error=529, times=1)],
    "make a file": [Turn(TOUCH), Turn(text("made it"))],
    "read twice": [
        Turn(tool("Bash", command="echo one"), tool("Bash", command="echo two")),
        Turn(text("read both")),
    ],
    "send a helper": [
        Turn(tool("Agent", description="d", prompt="helper job", subagent_type="general-purpose")),
        Turn(text("sent")),
    ],
    "helper job": [Turn(tool("Bash", command="echo helping", description="d")), Turn(text("helped"))],
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(SCRIPTS) as server:
        yield server


@pytest.fixture(params=["2.1.325", "2.1.197"])
def home(request: pytest.FixtureRequest, tmp_path: Path, server: ModelServer) -> ClaudeHome:
    return ClaudeHome(tmp_path, cli=require(request.param), model_url=server.url)


@pytest.fixture
def terminal(home: ClaudeHome) -> Iterator[Terminal]:
    with Terminal(home) as terminal:
        yield terminal.ready()


def test_a_headless_turn_says_what_the_script_says(home: ClaudeHome) -> None:
    assert home.run_headless("say hello").text == "hello there"


def test_a_failed_request_is_tried_again(home: ClaudeHome, server: ModelServer) -> None:
    assert home.run_headless("overloaded once").text == "better"
    assert len(server.requests_for("overloaded once")) == 2


def test_parallel_calls_run_and_their_hooks_are_recorded(home: ClaudeHome, server: ModelServer) -> None:
    seen = home.record_hooks("PreToolUse", "PostToolUse", "Stop")
    assert home.run_headless("read twice").text == "read both"
    assert server.tool_results("read twice") == ["one", "two"]
    names = [payload["hook_event_name"] for payload in read_lines(seen)]
    assert sorted(names) == ["PostToolUse", "PostToolUse", "PreToolUse", "PreToolUse", "Stop"]


def test_a_hook_denies_and_the_model_reads_why(home: ClaudeHome, server: ModelServer) -> None:
    deny = '{"decision": "block", "reason": "not on main"}'
    hook = {"hooks": [{"type": "command", "command": f"echo '{deny}'"}]}
    home.write_settings({"hooks": {"PreToolUse": [hook]}})
    home.run_headless("make a file")
    assert [result.endswith("not on main") for result in server.tool_results("make a file")] == [True]


def test_a_subagent_follows_its_own_script(home: ClaudeHome, server: ModelServer) -> None:
    home.run_headless("send a helper")
    assert server.tool_results("helper job") == ["helping"]


def test_yes_at_the_terminal_runs_the_tool(terminal: Terminal, home: ClaudeHome) -> None:
    terminal.type_prompt("make a file")
    terminal.choose("Yes")
    terminal.wait_for("made it")
    assert (home.project / "made.txt").exists()


def test_no_and_escape_at_the_terminal_run_nothing(terminal: Terminal, home: ClaudeHome) -> None:
    terminal.type_prompt("make a file")
    terminal.choose("No")
    terminal.wait_for("Interrupted")
    terminal.wait_status("idle")
    terminal.type_prompt("make a file")
    terminal.escape()
    terminal.wait_status("idle")
    assert not (home.project / "made.txt").exists()
