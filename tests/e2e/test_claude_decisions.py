"""A person decides in Quarterdeck, and the real Claude Code follows: headless and at a terminal."""

import json

import pytest

from tests.support.connected_claude import Connected

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]

NOT_TODAY = 'Nicht auf „main“ – 请不要 🙅\n\n  1. branch first\n\t2. then push \\n "quoted"'


@pytest.mark.law("D7")
def test_an_allowed_tool_runs(newest: Connected) -> None:
    with newest.headless(newest.script_bash("touch headless-allow")) as running:
        request = newest.request_to_run("touch headless-allow")
        assert not newest.path("headless-allow").exists()
        newest.decide(request, "allow")
        assert running.finish().text == "finished"
    assert newest.path("headless-allow").exists()
    assert newest.confirmed(request)["decision"]["source"] == "user"


@pytest.mark.law("D7")
def test_an_allowed_tool_runs_and_its_dialog_closes(either: Connected) -> None:
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash("touch tui-allow"))
        request = either.request_to_run("touch tui-allow")
        terminal.wait_dialog()
        finished = either.qd("allow", request["request_id"])
        assert (finished.returncode, finished.stdout.strip()) == (0, "Allowed: touch tui-allow")
        terminal.wait_for("finished")
    assert either.path("tui-allow").exists()
    assert either.confirmed(request)["status"] == "decided"


@pytest.mark.law("D15")
def test_the_model_reads_the_denial_word_for_word(newest: Connected) -> None:
    prompt = newest.script_bash("touch headless-deny")
    with newest.headless(prompt) as running:
        request = newest.request_to_run("touch headless-deny")
        newest.decide(request, "deny", message=NOT_TODAY)
        assert running.finish().text == "finished"
    assert newest.model.tool_results(prompt) == [NOT_TODAY]
    assert not newest.path("headless-deny").exists()
    assert newest.confirmed(request)["decision"]["message"] == NOT_TODAY


@pytest.mark.law("D15")
def test_the_model_reads_the_denial_word_for_word_at_a_terminal(either: Connected) -> None:
    prompt = either.script_bash("touch tui-deny")
    with either.terminal() as terminal:
        terminal.type_prompt(prompt)
        request = either.request_to_run("touch tui-deny")
        finished = either.qd("deny", request["request_id"], "--message", NOT_TODAY)
        assert finished.returncode == 0, finished.stderr
        terminal.wait_for("finished")
    assert either.model.tool_results(prompt) == [NOT_TODAY]
    assert not either.path("tui-deny").exists()
    either.confirmed(request)


@pytest.mark.law("D5")
def test_the_edited_command_runs_and_the_original_does_not(newest: Connected) -> None:
    with newest.headless(newest.script_bash("touch headless-original")) as running:
        request = newest.request_to_run("touch headless-original")
        newest.decide(request, "allow", updated_input={**request["tool_input"], "command": "touch headless-edited"})
        assert running.finish().text == "finished"
    assert newest.path("headless-edited").exists()
    assert not newest.path("headless-original").exists()


@pytest.mark.law("D5")
def test_the_edited_command_runs_at_a_terminal(either: Connected) -> None:
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash("touch tui-original"))
        request = either.request_to_run("touch tui-original")
        edited = json.dumps({"command": "touch tui-edited", "description": "edited"})
        assert either.qd("allow", request["request_id"], "--input", edited).returncode == 0
        terminal.wait_for("finished")
    assert either.path("tui-edited").exists()
    assert not either.path("tui-original").exists()
