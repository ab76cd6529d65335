"""Sessions over the Agent SDK, with the real Claude Code."""

import asyncio
import base64
import gc
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.agents.claude.sdk_messages import NO_ANSWER
from quarterdeck.core.engine.session_messages import AgentExited, CommandFailed, PromptDelivered, TurnEnded
from quarterdeck.core.model.decisions import Allow, Answer, Deny, Grant, NoOpinion
from quarterdeck.drivers.claude.sdk_launcher import MISSING, SdkLauncher
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import PermissionQuery
from tests.support.claude import ClaudeHome, require
from tests.support.model_server import ModelServer, Turn, text, tool
from tests.support.sdk_sessions import SdkHome, never_decide

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
async def sdk_home(tmp_path: Path, model: ModelServer, cli: Path) -> AsyncIterator[SdkHome]:
    sdk_home = SdkHome(ClaudeHome(tmp_path, cli=cli, model_url=model.url))
    yield sdk_home
    await sdk_home.launcher.close(restarts=False)


@pytest.fixture
async def newest(tmp_path: Path, model: ModelServer) -> AsyncIterator[SdkHome]:
    sdk_home = SdkHome(ClaudeHome(tmp_path, cli=require("2.1.325"), model_url=model.url))
    yield sdk_home
    await sdk_home.launcher.close(restarts=False)


def bash(model: ModelServer, command: str) -> str:
    """A prompt that makes the model run a command."""
    prompt = f"please run: {command}"
    model.scripts[prompt] = [Turn(tool("Bash", command=command, description="test")), Turn(text("finished"))]
    return prompt


@pytest.mark.law("S1")
async def test_a_session_is_resumed_whether_or_not_the_agent_kept_its_conversation(
    sdk_home: SdkHome, model: ModelServer
) -> None:
    model.scripts["the word is fig"] = [Turn(text("noted"))]
    model.scripts["which word?"] = [Turn(text("fig"))]
    running = await sdk_home.launch(prompt="the word is fig")
    await sdk_home.ended(1)
    await sdk_home.launcher.end(running.session_id)
    with pytest.raises(Refused, match="already in use"):
        await sdk_home.launch(session_id=running.session_id)
    await sdk_home.launch(session_id=running.session_id, unsure=True)
    assert (await sdk_home.turn(running.session_id, "which word?"))["result"] == "fig"
    assert "the word is fig" in str(model.requests_for("which word?")[-1].body)
    new = str(uuid.uuid4())
    with pytest.raises(Refused, match="No conversation found"):
        await sdk_home.launch(session_id=new, resume=new)
    await sdk_home.launch(session_id=new, resume=new, unsure=True)
    model.scripts["hello"] = [Turn(text("hi"))]
    assert (await sdk_home.turn(new, "hello"))["result"] == "hi"


@pytest.mark.law("D2")
@pytest.mark.law("D15")
async def test_a_turn_with_tools_is_decided_and_reported(sdk_home: SdkHome, model: ModelServer) -> None:
    answers = {
        "touch allowed": Allow(),
        "touch denied": Deny("not this one"),
        "touch asked": Allow(updated_input={"command": "touch edited", "description": "test"}),
        "touch unanswered": NoOpinion(),
        "touch granted": Allow(grant=Grant("Bash", "session")),
    }
    broken = "touch broken"

    def decide(query: PermissionQuery) -> Any:
        questioned = query.tool_name == "AskUserQuestion"
        return Answer({"Which database?": "SQLite"}) if questioned else answers[query.tool_input["command"]]

    sdk_home.listener.decide = decide
    running = await sdk_home.launch(prompt=bash(model, "touch allowed"))
    session_id = running.session_id
    first = await sdk_home.ended(1)
    assert (first["subtype"], first["stop_reason"], first["is_error"]) == ("success", "end_turn", False)
    assert first["usage"]["input_tokens"] == 200
    assert first["total_cost_usd"] > 0
    assert next(iter(first["model_usage"].values()))["output_tokens"] == 20
    assert sdk_home.listener.text() == "finished"
    assert [d["content"] for kind, d in sdk_home.listener.streams if kind == "message"][-1] == [text("finished")]
    for command in (broken, *[*answers][1:]):
        await sdk_home.turn(session_id, bash(model, command))
    assert model.tool_results(bash(model, "touch denied")) == ["not this one"]
    assert NO_ANSWER in model.tool_results(bash(model, "touch unanswered"))[0]
    made = sorted(path.name for path in sdk_home.home.project.iterdir() if path.is_file())
    assert made == ["allowed", "edited", "granted"]
    query = sdk_home.listener.queries[0]
    assert (query.session_id, query.tool_use_id is not None) == (session_id, True)
    assert {one["type"] for one in query.suggestions} >= {"addRules", "setMode"}
    model.scripts["ask me"] = [Turn(tool("AskUserQuestion", **QUESTION)), Turn(text("thanks"))]
    await sdk_home.turn(session_id, "ask me")
    assert '"Which database?"="SQLite"' in model.tool_results("ask me")[0]
    before = len(sdk_home.listener.queries)
    await sdk_home.turn(session_id, bash(model, "touch after"))
    assert len(sdk_home.listener.queries) == before, "what the agent was granted is not asked again"


async def test_prompts_wait_for_their_turn_and_an_interrupt_ends_one(sdk_home: SdkHome, model: ModelServer) -> None:
    model.scripts |= {name: [Turn(text(name))] for name in ("first", "second", "third")}
    model.scripts["slow"] = [Turn(text("one two three"), between=30)]
    session_id = (await sdk_home.launch(prompt="slow")).session_id
    await sdk_home.send(session_id, "first")
    await sdk_home.send(session_id, "second")
    await sdk_home.listener.until(lambda: "one" in sdk_home.listener.text())
    assert not model.requests_for("first")
    await sdk_home.launcher.interrupt(session_id)
    stopped = await sdk_home.ended(1)
    assert (stopped["subtype"], stopped["is_error"]) == ("error_during_execution", True)
    await sdk_home.ended(3)
    assert [turn.result.get("result") for turn in sdk_home.listener.of(TurnEnded)[1:]] == ["first", "second"]
    await sdk_home.launcher.interrupt(session_id)
    assert (await sdk_home.turn(session_id, "third"))["result"] == "third", "an interrupt of nothing harms nothing"
    sdk_home.listener.decide = never_decide
    await sdk_home.send(session_id, bash(model, "touch never"))
    waiting = await sdk_home.send(session_id, "fourth")
    await sdk_home.listener.until(lambda: sdk_home.listener.queries)
    await sdk_home.launcher.end(session_id)
    assert [query.tool_name for query in sdk_home.listener.cancelled] == ["Bash"]
    assert [failed.message_id for failed in sdk_home.listener.of(CommandFailed)] == [waiting]
    assert [(down.session_id, down.reason) for down in sdk_home.listener.of(AgentExited)] == [(session_id, "ended")]
    assert not sdk_home.processes
    with pytest.raises(Refused, match="is not running"):
        await sdk_home.send(session_id, "too late")


async def test_a_queue_is_bounded_and_an_interrupt_withdraws_its_requests(newest: SdkHome, model: ModelServer) -> None:
    newest.listener.decide = never_decide
    session_id = (await newest.launch(prompt=bash(model, "touch never"))).session_id
    await newest.listener.until(lambda: newest.listener.queries)
    for _ in range(64):
        await newest.send(session_id, "more")
    with pytest.raises(Refused, match="64 prompts are waiting already"):
        await newest.send(session_id, "too many")
    await newest.launcher.interrupt(session_id)
    await newest.listener.until(lambda: newest.listener.cancelled)
    await newest.launcher.end(session_id)
    assert not (newest.home.project / "never").exists()


async def test_a_session_is_resumed_and_forked_at_any_point(sdk_home: SdkHome, model: ModelServer) -> None:
    model.scripts |= {name: [Turn(text(name))] for name in ("first", "second", "third", "fourth")}
    session_id = (await sdk_home.launch(prompt="first")).session_id
    await sdk_home.ended(1)
    point = next(
        data["uuid"] for kind, data in sdk_home.listener.streams if kind == "message" and data["role"] == "assistant"
    )
    await sdk_home.turn(session_id, "second")
    await sdk_home.launcher.end(session_id)
    forks = [
        await sdk_home.launch(resume=session_id, session_id=session_id, prompt="third"),
        await sdk_home.launch(resume=session_id, fork=True, fork_at=point, prompt="fourth"),
    ]
    await sdk_home.ended(4)
    conversations = {name: json.dumps(model.requests_for(name)[0].body["messages"]) for name in ("third", "fourth")}
    assert '"second"' in conversations["third"]
    assert '"first"' in conversations["fourth"]
    assert '"second"' not in conversations["fourth"]
    assert forks[0].session_id == session_id != forks[1].session_id
    assert {turn.session_id for turn in sdk_home.listener.of(TurnEnded)} == {fork.session_id for fork in forks}
    report_count = len(sdk_home.listener.reports)
    with pytest.raises(Refused, match="is already running"):
        await sdk_home.launch(resume=session_id, session_id=session_id)
    with pytest.raises(Refused, match="No message found"):
        await sdk_home.launch(resume=session_id, fork=True, fork_at=str(uuid.uuid4()))
    with pytest.raises(Refused, match="No conversation found"):
        await sdk_home.launch(resume=str(uuid.uuid4()))
    with pytest.raises(Refused, match="fork the session"):
        await sdk_home.launch(resume=session_id, fork_at=point)
    assert len(sdk_home.listener.reports) == report_count, "a session that did not start is not reported"


async def test_model_mode_turns_commands_and_images(sdk_home: SdkHome, model: ModelServer) -> None:
    commands = sdk_home.home.project / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text("Say hello to $ARGUMENTS")
    model.scripts |= {name: [Turn(text(name))] for name in ("first", "Say hello to Ada", "look", "again")}
    session_id = (await sdk_home.launch(max_turns=1, permission_mode="default", model="claude-sonnet-4-5")).session_id
    assert (await sdk_home.turn(session_id, "first"))["result"] == "first"
    assert model.requests_for("first")[0].body["model"].startswith("claude-sonnet-4-5")
    await sdk_home.launcher.reconfigure(session_id, "claude-haiku-4-5", "acceptEdits")
    assert (await sdk_home.turn(session_id, "/greet Ada"))["result"] == "Say hello to Ada"
    assert model.requests_for("Say hello to Ada")[0].body["model"].startswith("claude-haiku-4-5")
    assert [body["permissionMode"] for body in sdk_home.listener.noted("init")] == ["default", "acceptEdits"]
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    notes = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "my notes"}}
    await sdk_home.turn(session_id, "look", image, notes)
    looked = json.dumps(model.requests_for("look")[0].body["messages"])
    assert PIXEL in looked
    assert "my notes" in looked
    assert (await sdk_home.turn(session_id, "/compact"))["is_error"] is False
    assert sdk_home.listener.noted("compact_boundary")[0]["compact_metadata"]["trigger"] == "manual"
    over = await sdk_home.turn(session_id, bash(model, "touch one"))
    assert (over["subtype"], over["num_turns"]) == ("error_max_turns", 2)
    now = (await sdk_home.turn(session_id, "/clear"))["session_id"]
    assert now != session_id, "the agent continues under a new id; Quarterdeck keeps the first one"
    assert (await sdk_home.turn(session_id, "again"))["session_id"] == now
    assert "touch one" not in json.dumps(model.requests_for("again")[0].body["messages"])
    await sdk_home.launcher.end(session_id)
    assert [(down.session_id, down.reason) for down in sdk_home.listener.of(AgentExited)] == [(session_id, "ended")]


@pytest.mark.law("D8")
async def test_a_killed_agent_is_noticed_leaves_nothing_and_can_be_resumed(
    sdk_home: SdkHome, model: ModelServer
) -> None:
    session_id = (await sdk_home.launch(prompt=bash(model, "(setsid sleep 300 &) ; touch begun"))).session_id
    await sdk_home.ended(1)
    sdk_home.listener.decide = never_decide
    await sdk_home.launcher.end(session_id)
    running = await sdk_home.launch(resume=session_id, session_id=session_id, prompt=bash(model, "touch never"))
    await sdk_home.listener.until(lambda: len(sdk_home.listener.queries) == 2)
    assert running.process is not None
    os.kill(running.process.pid, signal.SIGKILL)
    await sdk_home.listener.soon(lambda: len(sdk_home.listener.of(AgentExited)) == 2)
    down = sdk_home.listener.of(AgentExited)[1]
    assert (down.signal, down.code, down.reason) == (signal.SIGKILL, None, "exited")
    assert len(sdk_home.listener.cancelled) == 1
    assert not sdk_home.processes
    model.scripts["go on"] = [Turn(text("here I am"))]
    await sdk_home.launch(resume=session_id, session_id=session_id)
    assert (await sdk_home.turn(session_id, "go on"))["result"] == "here I am"


async def test_sub_agents_ask_and_servers_of_the_project_are_there(newest: SdkHome, model: ModelServer) -> None:
    server = {"command": sys.executable, "args": [str(Path("tests/support/mcp_server.py").resolve()), "form.json"]}
    (newest.home.project / "form.json").write_text('{"type": "object", "properties": {}}')
    (newest.home.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"forms": server}}))
    newest.home.write_settings({"enableAllProjectMcpServers": True})
    work = {"subagent_type": "general-purpose", "description": "test", "prompt": "do your part"}
    model.scripts["delegate"] = [Turn(tool("Task", **work)), Turn(text("all done"))]
    model.scripts["do your part"] = [Turn(tool("Bash", command="touch part", description="t")), Turn(text("my part"))]
    await newest.launch(prompt="delegate")
    await newest.listener.until(lambda: (newest.home.project / "part").exists())
    await newest.listener.until(
        lambda: any(turn.result.get("result") == "all done" for turn in newest.listener.of(TurnEnded))
    )
    assert newest.listener.queries[0].agent_id
    assert any(data.get("parent_tool_use_id") for kind, data in newest.listener.streams if kind == "message")
    assert newest.listener.noted("task_started")
    servers = newest.listener.noted("init")[-1]["mcp_servers"]
    assert [(one["name"], one["status"]) for one in servers if one["name"] == "forms"] == [("forms", "connected")]


@pytest.mark.law("S10")
async def test_the_agent_sees_no_quarterdeck_secrets_and_its_command_line_holds_no_token(
    newest: SdkHome, model: ModelServer, monkeypatch: pytest.MonkeyPatch
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
    expected = {**newest.spec().environment, "PWD": str(newest.home.project), "CLAUDE_CODE_ENTRYPOINT": "sdk-py"}
    given = dict(line.split("=", 1) for line in proc.joinpath("environ").read_text().split("\0") if line)
    assert given.pop("CLAUDE_AGENT_SDK_VERSION")
    assert given == expected
    assert "our-secret" not in (newest.home.project / "seen-env").read_text()
    assert "hook-token" not in proc.joinpath("cmdline").read_text()


async def test_a_start_can_choose_the_tools(sdk_home: SdkHome, model: ModelServer) -> None:
    await sdk_home.launch(prompt="hello", tools=("Edit", "Write"))
    await sdk_home.ended(1)
    assert sorted(sdk_home.listener.noted("init")[0]["tools"]) == ["AskUserQuestion", "Edit", "Write"]


async def test_tools_can_be_limited_and_the_question_is_always_among_them(
    tmp_path: Path, model: ModelServer, cli: Path
) -> None:
    sdk_home = SdkHome(ClaudeHome(tmp_path, cli=cli, model_url=model.url), tools=["Read"], sources=["user"])
    await sdk_home.launch(prompt="hello")
    await sdk_home.ended(1)
    assert sorted(sdk_home.listener.noted("init")[0]["tools"]) == ["AskUserQuestion", "Read"]
    await asyncio.gather(*(sdk_home.launch() for _ in range(2)))
    starting = asyncio.create_task(sdk_home.launch())
    await sdk_home.listener.until(lambda: len(sdk_home.processes) > 9)
    await sdk_home.launcher.close(restarts=False)
    with pytest.raises(Refused, match="Quarterdeck is stopping"):
        await starting
    assert [down.reason for down in sdk_home.listener.of(AgentExited)] == ["stopped"] * 3
    assert not sdk_home.processes


DAEMON = """
import asyncio, sys
from pathlib import Path
from tests.support.claude import ClaudeHome
from tests.support.sdk_sessions import SdkHome, never_decide

async def main(folder, cli, url, session_id, prompt):
    sdk_home = SdkHome(ClaudeHome(Path(folder), cli=Path(cli), model_url=url))
    sdk_home.listener.decide = never_decide
    await sdk_home.launch(session_id=session_id, prompt=prompt)
    await sdk_home.send(session_id, "and then")
    await sdk_home.listener.until(lambda: sdk_home.listener.queries)
    print(sdk_home.listener.queries[0].query_id, flush=True)
    await asyncio.sleep(60)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.law("S1")
@pytest.mark.law("D11")
async def test_an_agent_outlives_its_daemon_and_asks_the_next_one_again(newest: SdkHome, model: ModelServer) -> None:
    session_id, folder = str(uuid.uuid4()), newest.home.path.parent
    model.scripts["and then"] = [Turn(text("here I am"))]
    given = [str(folder), str(newest.home.cli), model.url, session_id, bash(model, "touch made")]
    with subprocess.Popen([sys.executable, "-c", DAEMON, *given], stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        query_id = (await asyncio.to_thread(daemon.stdout.readline)).decode().strip()
        daemon.kill()
    [found] = await newest.launcher.adopt([session_id])
    assert (found.session_id, len(found.queued)) == (session_id, 1)
    assert (await newest.ended(2))["result"] == "here I am"
    assert [query.query_id for query in newest.listener.queries] == [query_id]
    assert (newest.home.project / "made").exists()
    assert [one.message_id is None for one in newest.listener.of(PromptDelivered)] == [False]


@pytest.mark.law("S2")
async def test_an_agent_that_no_session_expects_is_ended(newest: SdkHome) -> None:
    await newest.launch()
    await newest.launcher.close(restarts=True)
    assert newest.processes
    newest.launcher = SdkLauncher(newest.listener, newest.folder)
    assert await newest.launcher.adopt([]) == []
    assert not newest.processes


async def test_without_the_sdk_a_launch_says_how_to_get_it(newest: SdkHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    with pytest.raises(Refused) as refused:
        await newest.launch()
    assert str(refused.value) == MISSING


async def test_a_decision_for_an_agent_that_dies_meanwhile_raises_nothing(newest: SdkHome, model: ModelServer) -> None:
    escaped: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: escaped.append(context))
    running = await newest.launch(prompt=bash(model, "touch big"))
    assert running.process is not None
    pid = running.process.pid

    def stopped(query: PermissionQuery) -> Allow:
        os.kill(pid, signal.SIGSTOP)
        return Allow(updated_input={"command": "touch big # " + "x" * 400_000, "description": "test"})

    newest.listener.decide = stopped
    await newest.listener.until(lambda: newest.listener.queries)
    await asyncio.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    await newest.exit(running.session_id)
    gc.collect()
    await asyncio.sleep(0)
    assert escaped == []
