"""Rules decide, and the real Claude Code follows without a prompt."""

from __future__ import annotations

import json

import pytest

from tests.support.connected_claude import Connected

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


@pytest.mark.law("D1")
def test_a_command_that_a_rule_allows_runs_without_a_prompt(either: Connected) -> None:
    assert either.qd("rules", "add", "allow", "Bash(touch by-rule:*)").returncode == 0
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash("touch by-rule"))
        terminal.wait_for("finished")
    assert either.path("by-rule").exists()
    decided = either.recorded("permission.decision", lambda data: data.get("pattern") == "Bash(touch by-rule:*)")
    assert (decided["data"]["decision_type"], decided["data"]["source"]) == ("allow", "rule")


@pytest.mark.law("D15")
def test_the_model_reads_which_rule_denied(newest: Connected) -> None:
    added = newest.qd("rules", "add", "deny", "Bash(touch forbidden:*)", "--note", "not in this house")
    assert added.returncode == 0
    prompt = newest.script_bash("touch forbidden")
    with newest.headless(prompt) as running:
        assert running.finish().text == "finished"
    message = "Denied by the rule Bash(touch forbidden:*) in Quarterdeck: not in this house."
    assert newest.model.tool_results(prompt)[0].endswith(message)
    assert not newest.path("forbidden").exists()


def test_a_remembered_decision_applies_after_a_restart(newest: Connected) -> None:
    with newest.headless(newest.script_bash("touch once-asked")) as running:
        request = newest.request_to_run("touch once-asked")
        finished = newest.qd("allow", request["request_id"], "--remember", "project")
        assert "Remembered: allow Bash(touch once-asked)" in finished.stdout
        assert running.finish().text == "finished"
    newest.path("once-asked").unlink()
    newest.daemon.stop()
    newest.daemon.restart()
    with newest.headless(newest.script_bash("touch once-asked")) as running:
        assert running.finish().text == "finished"
    assert newest.path("once-asked").exists()


def test_a_command_hidden_behind_an_allowed_one_still_asks(newest: Connected) -> None:
    assert newest.qd("rules", "add", "allow", "Bash(echo:*)").returncode == 0
    with newest.headless(newest.script_bash("echo hello; touch smuggled")) as running:
        request = newest.request_to_run("echo hello; touch smuggled")
        newest.decide(request, "deny")
        running.finish()
    assert not newest.path("smuggled").exists()


def test_claude_code_keeps_the_rule_itself(newest: Connected) -> None:
    with newest.headless(newest.script_bash("touch handed-over")) as running:
        request = newest.request_to_run("touch handed-over")
        finished = newest.qd("allow", request["request_id"], "--remember", "session", "--claude", "local")
        assert finished.returncode == 0, finished.stderr
        assert running.finish().text == "finished"
    kept = json.loads((newest.path(".claude") / "settings.local.json").read_text())
    assert kept["permissions"]["allow"] == ["Bash(touch handed-over)"]
