"""The real Claude Code's transcripts: the model's messages, their cost, and what remains after a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.core.text.feed.event_rows import fold
from quarterdeck.core.text.feed.row_keys import is_debug
from quarterdeck.core.text.feed.row_words import row_words
from tests.support.claude import Json, require
from tests.support.connected_claude import Connected
from tests.support.daemon import until
from tests.support.model_server import Turn, text, tool

pytestmark = pytest.mark.e2e


@pytest.fixture(params=["2.1.325", "2.1.197"])
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connected]:
    with Connected(tmp_path, require(request.param)) as pair:
        yield pair


def _of(pair: Connected, session_id: str, kind: str) -> list[Json]:
    return [event for event in pair.daemon.events(kind) if event["session_id"] == session_id]


def _texts(pair: Connected, session_id: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for event in _of(pair, session_id, "message.assistant"):
        found.setdefault(event["actor_id"].partition(":")[0], []).append(event["data"]["text"])
    return found


def test_messages_and_usage_are_known_when_a_session_ends(own: Connected) -> None:
    look = tool("Bash", command="echo hi", description="x")
    helper = tool("Agent", description="helper", prompt="helper job", subagent_type="general-purpose")
    own.script("helper job", Turn(text("helping"), look), Turn(text("helped")))
    own.script("do it", Turn(text("first I look"), look), Turn(text("then I send"), helper), Turn(text("all done")))
    ended = own.claude.run_headless("do it", "--allowedTools", "Bash,Agent").json
    session_id = ended["session_id"]
    own.recorded("session.summary")
    texts = _texts(own, session_id)
    assert texts["agent"][:3] == ["first I look", "then I send", "all done"]
    assert texts["subagent"] == ["helping", "helped"]
    (summary,) = [event["data"] for event in _of(own, session_id, "session.summary")]
    assert summary["last_assistant_text"] == texts["agent"][-1]
    assert summary["tool_call_count"] == 3
    assert "missing" not in summary
    session = own.sessions()[session_id]
    usage = session["usage"]
    (model,) = ended["modelUsage"].values()
    assert (usage["input_tokens"], usage["output_tokens"]) == (model["inputTokens"], model["outputTokens"])
    assert usage["cost_usd"] == pytest.approx(ended["total_cost_usd"])
    assert (usage["context_tokens"], session["agent_state"]) == (100, "ended")
    messages = _of(own, session_id, "message.assistant")
    assert all(event["run_id"] != f"{session_id}:R0" for event in messages)
    assert len({event["data"]["message_id"] for event in messages}) == len(messages)


def test_a_compaction_is_recorded_and_a_resumed_transcript_is_read_further(own: Connected) -> None:
    look = tool("Bash", command="echo hi", description="x")
    own.script("say one", Turn(text("look"), look), Turn(text("one")))
    own.script("say two", Turn(text("two")))
    session_id = own.claude.run_headless("say one", "--allowedTools", "Bash").json["session_id"]
    until(lambda: _of(own, session_id, "session.summary"), what="the first summary")
    own.claude.run_headless("/compact", "--resume", session_id)
    own.recorded("session.summary", lambda data: data["reason"] == "compact")
    own.claude.run_headless("say two", "--resume", session_id)
    until(lambda: _texts(own, session_id).get("agent") == ["look", "one", "two"], what=f"{_texts(own, session_id)}")
    until(lambda: len(_of(own, session_id, "session.summary")) == 4, what="a summary for every end")


def test_a_session_from_before_is_listed_and_its_command_resumes_it(own: Connected) -> None:
    own.daemon.stop()
    own.script("remember me", Turn(text("I do")))
    own.script("and now", Turn(text("still here")))
    session_id = own.claude.run_headless("remember me").json["session_id"]
    own.daemon.restart()
    prior = until(lambda: own.sessions().get(session_id), what="the prior session") or {}
    assert (prior["agent_state"], prior["state_source"], prior["title"]) == ("ended", "transcript", "remember me")
    assert prior["resume"] == {"command": f"claude --resume {session_id}", "cwd": str(own.claude.project)}
    program, *flags = prior["resume"]["command"].split()
    assert program == "claude"
    again = own.claude.run_headless("and now", *flags, cwd=Path(prior["resume"]["cwd"]))
    assert (again.text, again.json["session_id"]) == ("still here", session_id)
    until(lambda: _texts(own, session_id).get("agent") == ["I do", "still here"], what="what was said then and now")


def test_the_texts_of_a_session_stand_before_the_calls_they_announce(own: Connected) -> None:
    look = tool("Bash", command="echo hi", description="x")
    own.script("do it", Turn(text("first I look"), look), Turn(text("then I look again"), look), Turn(text("all done")))
    session_id = own.claude.run_headless("do it", "--allowedTools", "Bash").json["session_id"]
    own.recorded("session.summary")
    _, page = own.daemon.api("GET", f"/feed?session_id={session_id}&limit=200")
    events = page["events"]
    shown = [row_words(row) for row in fold(events) if not all(map(is_debug, row.events))]
    assert [one.text for one in shown if one.text[0] in "❯◂●■"] == [
        "❯ do it",
        "◂ first I look",
        "● Bash echo hi",
        "◂ then I look again",
        "● Bash echo hi",
        "◂ all done",
        "■ Run completed: 2 tools, 0 failed",
    ]
    assert sorted(event["seq_no"] for row in fold(events) for event in row.events) == [
        event["seq_no"] for event in events
    ]
