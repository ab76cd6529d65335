"""Sessions over the Agent SDK, with the real Claude Code."""

import asyncio
import base64
import gc
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.agents.claude.sdk_messages import NOBODY
from quarterdeck.core.engine.session_messages import Down, Failed, TurnEnded
from quarterdeck.core.model.decisions import Allow, Answer, Deny, Grant, NoOpinion
from quarterdeck.drivers.claude.sdk_launcher import MISSING
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import Asked
from tests.support.claude import ClaudeHome, require
from tests.support.model_server import ModelServer, Turn, text, tool
from tests.support.sdk_sessions import Deck, for_ever

pytestmark = pytest.mark.e2e

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf"
        "c0000003010100c9fe92ef0000000049454e44ae426082"
    )
).decode()
QUESTION = {
    "questions": [
        {
            "question": "Which database?",
            "header": "Database",
            "multiSelect": False,
            "options": [{"label": "SQLite", "description": "a file"}, {"label": "Postgres", "description": "a server"}],
        }
    ]
}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(params=["2.1.325", "2.1.197"])
def cli(request: pytest.FixtureRequest) -> Path:
    return require(request.param)


@pytest.fixture
async def deck(tmp_path: Path, model: ModelServer, cli: Path) -> AsyncIterator[Deck]:
    deck = Deck(ClaudeHome(tmp_path, cli=cli, model_url=model.url))
    yield deck
    await deck.way.close()


@pytest.fixture
async def newest(tmp_path: Path, model: ModelServer) -> AsyncIterator[Deck]:
    deck = Deck(ClaudeHome(tmp_path, cli=require("2.1.325"), model_url=model.url))
    yield deck
    await deck.way.close()


def bash(model: ModelServer, command: str) -> str:
    """A prompt that makes the model run a command."""
    prompt = f"please run: {command}"
    model.scripts[prompt] = [Turn(tool("Bash", command=command, description="test")), Turn(text("finished"))]
    return prompt


@pytest.mark.law("S1")
async def test_a_session_comes_back_whether_or_not_the_agent_has_kept_its_conversation(
    deck: Deck, model: ModelServer
) -> None:
    model.scripts["the word is fig"] = [Turn(text("noted"))]
    model.scripts["which word?"] = [Turn(text("fig"))]
    running = await deck.launch(prompt="the word is fig")
    await deck.ended(1)
    await deck.way.end(running.session_id)
    with pytest.raises(Refused, match="already in use"):
        await deck.launch(session_id=running.session_id)
    await deck.launch(session_id=running.session_id, unsure=True)
    assert (await deck.turn(running.session_id, "which word?"))["result"] == "fig"
    assert "the word is fig" in str(model.requests_for("which word?")[-1].body)
    new = str(uuid.uuid4())
    with pytest.raises(Refused, match="No conversation found"):
        await deck.launch(session_id=new, resume=new)
    await deck.launch(session_id=new, resume=new, unsure=True)
    model.scripts["hello"] = [Turn(text("hi"))]
    assert (await deck.turn(new, "hello"))["result"] == "hi"


@pytest.mark.law("D2")
@pytest.mark.law("D15")
async def test_a_turn_with_tools_is_decided_and_told(deck: Deck, model: ModelServer) -> None:
    answers = {
        "touch allowed": Allow(),
        "touch denied": Deny("not this one"),
        "touch asked": Allow(updated_input={"command": "touch edited", "description": "test"}),
        "touch unanswered": NoOpinion(),
        "touch granted": Allow(grant=Grant("Bash", "session")),
    }
    broken = "touch broken"

    def decide(asked: Asked) -> Any:
        questioned = asked.tool_name == "AskUserQuestion"
        return Answer({"Which database?": "SQLite"}) if questioned else answers[asked.tool_input["command"]]

    deck.ear.decide = decide
    running = await deck.launch(prompt=bash(model, "touch allowed"))
    session_id = running.session_id
    first = await deck.ended(1)
    assert (first["subtype"], first["stop_reason"], first["is_error"]) == ("success", "end_turn", False)
    assert first["usage"]["input_tokens"] == 200
    assert first["total_cost_usd"] > 0
    assert next(iter(first["model_usage"].values()))["output_tokens"] == 20
    assert deck.ear.text() == "finished"
    assert [d["content"] for kind, d in deck.ear.streams if kind == "message"][-1] == [text("finished")]
    for command in (broken, *[*answers][1:]):
        await deck.turn(session_id, bash(model, command))
    assert model.tool_results(bash(model, "touch denied")) == ["not this one"]
    assert NOBODY in model.tool_results(bash(model, "touch unanswered"))[0]
    made = sorted(path.name for path in deck.home.project.iterdir() if path.is_file())
    assert made == ["allowed", "edited", "granted"]
    asked = deck.ear.asked[0]
    assert (asked.session_id, asked.tool_use_id is not None) == (session_id, True)
    assert {one["type"] for one in asked.suggestions} >= {"addRules", "setMode"}
    model.scripts["ask me"] = [Turn(tool("AskUserQuestion", **QUESTION)), Turn(text("thanks"))]
    await deck.turn(session_id, "ask me")
    assert '"Which database?"="SQLite"' in model.tool_results("ask me")[0]
    before = len(deck.ear.asked)
    await deck.turn(session_id, bash(model, "touch after"))
    assert len(deck.ear.asked) == before, "what the agent was granted is not asked again"


async def test_prompts_wait_for_their_turn_and_an_interrupt_ends_one(deck: Deck, model: ModelServer) -> None:
    model.scripts |= {name: [Turn(text(name))] for name in ("first", "second", "third")}
    model.scripts["slow"] = [Turn(text("one two three"), between=30)]
    session_id = (await deck.launch(prompt="slow")).session_id
    await deck.send(session_id, "first")
    await deck.send(session_id, "second")
    await deck.ear.until(lambda: "one" in deck.ear.text())
    assert not model.requests_for("first")
    await deck.way.interrupt(session_id)
    stopped = await deck.ended(1)
    assert (stopped["subtype"], stopped["is_error"]) == ("error_during_execution", True)
    await deck.ended(3)
    assert [turn.result.get("result") for turn in deck.ear.of(TurnEnded)[1:]] == ["first", "second"]
    await deck.way.interrupt(session_id)
    assert (await deck.turn(session_id, "third"))["result"] == "third", "an interrupt of nothing harms nothing"
    deck.ear.decide = for_ever
    await deck.send(session_id, bash(model, "touch never"))
    waiting = await deck.send(session_id, "fourth")
    await deck.ear.until(lambda: deck.ear.asked)
    started = time.monotonic()
    await deck.way.end(session_id)
    assert time.monotonic() - started < 3
    assert [asked.tool_name for asked in deck.ear.given_up] == ["Bash"]
    assert [failed.message_id for failed in deck.ear.of(Failed)] == [waiting]
    assert [(down.session_id, down.reason) for down in deck.ear.of(Down)] == [(session_id, "ended")]
    assert not deck.processes
    with pytest.raises(Refused, match="does not run here"):
        await deck.send(session_id, "too late")


async def test_a_queue_is_bounded_and_an_interrupt_takes_back_what_was_asked(newest: Deck, model: ModelServer) -> None:
    newest.ear.decide = for_ever
    session_id = (await newest.launch(prompt=bash(model, "touch never"))).session_id
    await newest.ear.until(lambda: newest.ear.asked)
    for _ in range(64):
        await newest.send(session_id, "more")
    with pytest.raises(Refused, match="64 prompts wait already"):
        await newest.send(session_id, "too many")
    await newest.way.interrupt(session_id)
    await newest.ear.until(lambda: newest.ear.given_up)
    await newest.way.end(session_id)
    assert not (newest.home.project / "never").exists()


async def test_it_is_resumed_and_forked_at_any_point(deck: Deck, model: ModelServer) -> None:
    model.scripts |= {name: [Turn(text(name))] for name in ("first", "second", "third", "fourth")}
    session_id = (await deck.launch(prompt="first")).session_id
    await deck.ended(1)
    point = next(data["uuid"] for kind, data in deck.ear.streams if kind == "message" and data["role"] == "assistant")
    await deck.turn(session_id, "second")
    await deck.way.end(session_id)
    forks = [
        await deck.launch(resume=session_id, session_id=session_id, prompt="third"),
        await deck.launch(resume=session_id, fork=True, fork_at=point, prompt="fourth"),
    ]
    await deck.ended(4)
    said = {name: json.dumps(model.requests_for(name)[0].body["messages"]) for name in ("third", "fourth")}
    assert '"second"' in said["third"]
    assert '"first"' in said["fourth"]
    assert '"second"' not in said["fourth"]
    assert forks[0].session_id == session_id != forks[1].session_id
    assert {turn.session_id for turn in deck.ear.of(TurnEnded)} == {fork.session_id for fork in forks}
    told = len(deck.ear.news)
    with pytest.raises(Refused, match="runs already"):
        await deck.launch(resume=session_id, session_id=session_id)
    with pytest.raises(Refused, match="No message found"):
        await deck.launch(resume=session_id, fork=True, fork_at=str(uuid.uuid4()))
    with pytest.raises(Refused, match="No conversation found"):
        await deck.launch(resume=str(uuid.uuid4()))
    with pytest.raises(Refused, match="ask for a fork"):
        await deck.launch(resume=session_id, fork_at=point)
    assert len(deck.ear.news) == told, "nothing is told of one that did not start"


async def test_model_mode_turns_commands_and_images(deck: Deck, model: ModelServer) -> None:
    commands = deck.home.project / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text("Say hello to $ARGUMENTS")
    model.scripts |= {name: [Turn(text(name))] for name in ("first", "Say hello to Ada", "look", "again")}
    session_id = (await deck.launch(max_turns=1, permission_mode="default", model="claude-sonnet-4-5")).session_id
    assert (await deck.turn(session_id, "first"))["result"] == "first"
    assert model.requests_for("first")[0].body["model"].startswith("claude-sonnet-4-5")
    await deck.way.change(session_id, "claude-haiku-4-5", "acceptEdits")
    assert (await deck.turn(session_id, "/greet Ada"))["result"] == "Say hello to Ada"
    assert model.requests_for("Say hello to Ada")[0].body["model"].startswith("claude-haiku-4-5")
    assert [body["permissionMode"] for body in deck.ear.noted("init")] == ["default", "acceptEdits"]
    with pytest.raises(Refused, match="permission mode"):
        await deck.way.change(session_id, None, "nonsense")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    notes = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "my notes"}}
    await deck.turn(session_id, "look", image, notes)
    looked = json.dumps(model.requests_for("look")[0].body["messages"])
    assert PIXEL in looked
    assert "my notes" in looked
    assert (await deck.turn(session_id, "/compact"))["is_error"] is False
    assert deck.ear.noted("compact_boundary")[0]["compact_metadata"]["trigger"] == "manual"
    over = await deck.turn(session_id, bash(model, "touch one"))
    assert (over["subtype"], over["num_turns"]) == ("error_max_turns", 2)
    now = (await deck.turn(session_id, "/clear"))["session_id"]
    assert now != session_id, "it goes on under an id of its own; for us it keeps its first"
    assert (await deck.turn(session_id, "again"))["session_id"] == now
    assert "touch one" not in json.dumps(model.requests_for("again")[0].body["messages"])
    await deck.way.end(session_id)
    assert [(down.session_id, down.reason) for down in deck.ear.of(Down)] == [(session_id, "ended")]


@pytest.mark.law("D8")
async def test_a_killed_agent_is_noticed_leaves_nothing_and_can_be_resumed(deck: Deck, model: ModelServer) -> None:
    session_id = (await deck.launch(prompt=bash(model, "(setsid sleep 300 &) ; touch begun"))).session_id
    await deck.ended(1)
    deck.ear.decide = for_ever
    await deck.way.end(session_id)
    running = await deck.launch(resume=session_id, session_id=session_id, prompt=bash(model, "touch never"))
    await deck.ear.until(lambda: len(deck.ear.asked) == 2)
    assert running.process is not None
    os.kill(running.process.pid, signal.SIGKILL)
    killed = time.monotonic()
    await deck.ear.until(lambda: len(deck.ear.of(Down)) == 2, seconds=2)
    assert time.monotonic() - killed < 2
    down = deck.ear.of(Down)[1]
    assert (down.signal, down.code, down.reason) == (signal.SIGKILL, None, "exited")
    assert len(deck.ear.given_up) == 1
    assert not deck.processes
    model.scripts["go on"] = [Turn(text("here I am"))]
    await deck.launch(resume=session_id, session_id=session_id)
    assert (await deck.turn(session_id, "go on"))["result"] == "here I am"


async def test_sub_agents_ask_and_servers_of_the_project_are_there(newest: Deck, model: ModelServer) -> None:
    server = {"command": sys.executable, "args": [str(Path("tests/support/mcp_server.py").resolve()), "form.json"]}
    (newest.home.project / "form.json").write_text('{"type": "object", "properties": {}}')
    (newest.home.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"forms": server}}))
    newest.home.write_settings({"enableAllProjectMcpServers": True})
    work = {"subagent_type": "general-purpose", "description": "test", "prompt": "do your part"}
    model.scripts["delegate"] = [Turn(tool("Task", **work)), Turn(text("all done"))]
    model.scripts["do your part"] = [Turn(tool("Bash", command="touch part", description="t")), Turn(text("my part"))]
    await newest.launch(prompt="delegate")
    await newest.ear.until(lambda: (newest.home.project / "part").exists())
    await newest.ear.until(lambda: any(turn.result.get("result") == "all done" for turn in newest.ear.of(TurnEnded)))
    assert newest.ear.asked[0].agent_id
    assert any(data.get("parent_tool_use_id") for kind, data in newest.ear.streams if kind == "message")
    assert newest.ear.noted("task_started")
    servers = newest.ear.noted("init")[-1]["mcp_servers"]
    assert [(one["name"], one["status"]) for one in servers if one["name"] == "forms"] == [("forms", "connected")]


@pytest.mark.law("S10")
async def test_it_sees_nothing_of_ours_and_its_command_line_holds_no_token(
    newest: Deck, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_TOKEN", "our-secret")
    monkeypatch.setenv("SOME_SECRET", "our-secret")
    seen = newest.home.path / "seen"
    command = f"cat >> {seen} # hook-token"
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}}
    settings = newest.folder / "hooks.json"
    settings.write_text(json.dumps(hooks))
    running = await newest.launch(hooks=str(settings), prompt=bash(model, "env > seen-env"))
    await newest.ended(1)
    await newest.turn(running.session_id, bash(model, "true"))
    assert seen.read_text().count('"hook_event_name":"UserPromptSubmit"') == 2
    assert running.process is not None
    proc = Path(f"/proc/{running.process.pid}")
    ours = {**newest.kit().environment, "PWD": str(newest.home.project), "CLAUDE_CODE_ENTRYPOINT": "sdk-py"}
    given = dict(line.split("=", 1) for line in proc.joinpath("environ").read_text().split("\0") if line)
    assert given.pop("CLAUDE_AGENT_SDK_VERSION")
    assert given == ours
    assert "our-secret" not in (newest.home.project / "seen-env").read_text()
    assert "hook-token" not in proc.joinpath("cmdline").read_text()


async def test_tools_can_be_limited_and_the_question_is_always_among_them(
    tmp_path: Path, model: ModelServer, cli: Path
) -> None:
    deck = Deck(ClaudeHome(tmp_path, cli=cli, model_url=model.url), tools=["Read"], sources=["user"])
    await deck.launch(prompt="hello")
    await deck.ended(1)
    assert sorted(deck.ear.noted("init")[0]["tools"]) == ["AskUserQuestion", "Read"]
    await asyncio.gather(*(deck.launch() for _ in range(2)))
    starting = asyncio.create_task(deck.launch())
    await deck.ear.until(lambda: len(deck.processes) > 9)
    started = time.monotonic()
    await deck.way.close()
    assert time.monotonic() - started < 3
    with pytest.raises(Refused, match="Quarterdeck stops"):
        await starting
    assert [down.reason for down in deck.ear.of(Down)] == ["stopped"] * 3
    assert not deck.processes


OUR_SIDE = """
import asyncio, sys
from pathlib import Path
from tests.support.claude import ClaudeHome
from tests.support.sdk_sessions import Deck, for_ever

async def main(folder, cli, url, session_id, prompt):
    deck = Deck(ClaudeHome(Path(folder), cli=Path(cli), model_url=url))
    deck.ear.decide = for_ever
    await deck.launch(session_id=session_id, prompt=prompt)
    await deck.ear.until(lambda: deck.ear.asked)
    print("asked", flush=True)
    await asyncio.sleep(60)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.law("S1")
async def test_our_death_leaves_no_orphan_and_the_session_can_be_resumed(newest: Deck, model: ModelServer) -> None:
    session_id, folder = str(uuid.uuid4()), newest.home.path.parent
    given = [str(folder), str(newest.home.cli), model.url, session_id, bash(model, "touch never")]
    with subprocess.Popen([sys.executable, "-c", OUR_SIDE, *given], stdout=subprocess.PIPE) as ours:
        assert ours.stdout is not None
        assert await asyncio.to_thread(ours.stdout.readline) == b"asked\n"
        assert newest.processes
        ours.kill()
    await newest.ear.until(lambda: not newest.processes, seconds=5)
    model.scripts["go on"] = [Turn(text("here I am"))]
    await newest.launch(resume=session_id, session_id=session_id, prompt="go on")
    assert (await newest.ended(1))["result"] == "here I am"


async def test_without_the_sdk_a_launch_says_how_to_get_it(newest: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    with pytest.raises(Refused) as refused:
        await newest.launch()
    assert str(refused.value) == MISSING


async def test_a_decision_for_an_agent_that_dies_while_it_is_told_escapes_nowhere(
    newest: Deck, model: ModelServer
) -> None:
    escaped: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: escaped.append(context))
    running = await newest.launch(prompt=bash(model, "touch big"))
    assert running.process is not None
    pid = running.process.pid

    def stopped(asked: Asked) -> Allow:
        os.kill(pid, signal.SIGSTOP)
        return Allow(updated_input={"command": "touch big # " + "x" * 400_000, "description": "test"})

    newest.ear.decide = stopped
    await newest.ear.until(lambda: newest.ear.asked)
    await asyncio.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    await newest.down(running.session_id)
    gc.collect()
    await asyncio.sleep(0)
    assert escaped == []
