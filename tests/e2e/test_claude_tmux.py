"""The real Claude Code in owned tmux sessions."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from quarterdeck.config.settings import Config
from quarterdeck.core.engine.session_messages import SendPrompt, StartSession
from quarterdeck.drivers.claude.session_files import read_process
from quarterdeck.drivers.registry import Drivers
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import LaunchSpec
from quarterdeck.sessions.tmux.launcher import TmuxLauncher
from quarterdeck.sessions.tmux.user_panes import agent_panes
from tests.support.claude import ClaudeHome, require
from tests.support.model_server import ModelServer, Turn, text, tool
from tests.support.owned_claude import Owner
from tests.support.session_listener import ReportRecorder, eventually, shows

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]

LONG = "\n".join(f"row {n} of many" for n in range(1200))
MAKE = tool("Bash", command="touch made.txt", description="make a file")
SCRIPTS = {
    "say hello": [Turn(text("hello there"))],
    "two\nlines; -x $(id)": [Turn(text("both seen"))],
    LONG: [Turn(text("all rows seen"))],
    "!touch bang": [Turn(text("no shell ran"))],
    "make a file": [Turn(MAKE), Turn(text("made it"))],
    "take your time": [Turn(text("too late"), before=20.0)],
}


class Place:
    """A home with Claude Code, and access to its sessions."""

    def __init__(self, home: ClaudeHome, model: ModelServer) -> None:
        self.home, self.model, self.recorder = home, model, ReportRecorder()
        self.socket = home.path / "t" / "s"
        self.launcher = TmuxLauncher(self.recorder, self.socket)

    @property
    def environment(self) -> dict[str, str]:
        return {**self.home.env, "QUARTERDECK_TAG": "tag"}

    async def launch(self, **more: Any) -> str:
        spec = LaunchSpec(
            agent="claude",
            program=self.home.cli,
            config_dir=self.home.config,
            environment=self.environment,
            hooks=json.dumps({"env": {"FROM_SETTINGS": "1"}}),
            folder=self.socket.parent,
        )
        session_id = str(uuid.uuid4())
        start = StartSession(
            session_id=session_id,
            mode="tmux",
            cwd=str(self.home.project),
            by="ann",
            at=0.0,
            permission_mode="default",
            **more,
        )
        running = await self.launcher.launch(start, spec)
        assert running.process is not None
        assert running.terminal is not None
        assert str(self.socket) in running.terminal
        return session_id

    async def send(self, session_id: str, prompt: str) -> None:
        await self.launcher.send(SendPrompt(session_id=session_id, message_id="m", prompt=prompt, by="ann", at=0.0))

    def status(self, session_id: str) -> str | None:
        return self.launcher._sessions[session_id].status()


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(SCRIPTS) as model:
        yield model


@pytest.fixture(params=["2.1.325", "2.1.197"])
async def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: ModelServer
) -> AsyncIterator[Place]:
    home = ClaudeHome(tmp_path_factory.mktemp("p"), cli=require(request.param), model_url=model.url)
    place = Place(home, model)
    try:
        yield place
    finally:
        await place.launcher.close()
        subprocess.run(place.launcher.server.command_line("kill-server"), env={}, capture_output=True, timeout=60)


@pytest.mark.law("S8")
async def test_prompts_reach_the_agent_whole_and_once(place: Place) -> None:
    session_id = await place.launch(prompt="say hello")
    await shows(place.launcher, session_id, "hello there")
    for prompt, answer in (
        ("two\nlines; -x $(id)", "both seen"),
        (LONG, "all rows seen"),
        ("!touch bang", "no shell ran"),
    ):
        await place.send(session_id, prompt)
        await shows(place.launcher, session_id, answer)
        assert len(place.model.requests_for(prompt)) == 1
    assert not (place.home.project / "bang").exists()
    await place.launcher.end(session_id)
    assert [(down.session_id, down.reason) for down in place.recorder.exits()] == [(session_id, "ended")]
    assert not list(place.socket.parent.glob("*.json"))


@pytest.mark.law("S8")
async def test_nothing_is_typed_while_a_dialog_is_open_and_an_interrupted_prompt_is_no_draft(place: Place) -> None:
    session_id = await place.launch()
    await place.send(session_id, "make a file")
    await shows(place.launcher, session_id, "Do you want to proceed?")
    await eventually(lambda: place.status(session_id) == "waiting")
    with pytest.raises(Refused, match="waiting for an answer"):
        await place.send(session_id, "say hello")
    await place.launcher.interrupt(session_id)
    await eventually(lambda: place.status(session_id) == "idle")
    await place.send(session_id, "take your time")
    await eventually(lambda: place.status(session_id) == "busy")
    await eventually(lambda: place.model.requests_for("take your time"))
    await place.launcher.interrupt(session_id)
    await eventually(lambda: place.status(session_id) == "idle")
    await place.send(session_id, "say hello")
    await shows(place.launcher, session_id, "hello there")
    assert not (place.home.project / "made.txt").exists()
    await place.launcher.end(session_id)


@pytest.mark.law("S1")
async def test_a_killed_owner_loses_nothing(place: Place) -> None:
    session_id = str(uuid.uuid4())
    arguments = {
        "socket": str(place.socket),
        "claude": str(place.home.cli),
        "config": str(place.home.config),
        "environment": json.dumps(place.environment),
        "session_id": session_id,
        "cwd": str(place.home.project),
    }
    command = [sys.executable, "-m", "tests.support.tmux_owner", json.dumps(arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        owner.kill()
    found = await place.launcher.adopt([session_id, "of-another-day"])
    assert [(one.session_id, one.process and one.process.pid) for one in found] == [(session_id, pid)]
    await place.send(session_id, "say hello")
    await shows(place.launcher, session_id, "hello there")
    found_process = await eventually(lambda: read_process(str(place.home.config / "sessions" / f"{pid}.json")))
    assert found_process is not None
    assert found_process.session_id == session_id
    drivers = Drivers(Config.model_validate({"claude": {"config_dir": str(place.home.config)}}))
    seen = await agent_panes(drivers.running, place.socket)
    assert [(pane.session_id, pane.pid, pane.pane) for pane in seen] == [(session_id, pid, "%0")]
    assert place.recorder.reports == []
    await place.launcher.end(session_id)
    assert len(place.recorder.exits()) == 1


@pytest.fixture
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    folder = tmp_path_factory.mktemp("q")
    socket = folder / "t" / "s"
    with Owner(folder, require("2.1.325"), env={"QUARTERDECK_PTY_TMUX_SOCKET": str(socket)}) as owner:
        yield owner
    subprocess.run(["tmux", "-S", str(socket), "kill-server"], env={}, capture_output=True, timeout=60)


@pytest.mark.law("S1")
def test_a_killed_daemon_finds_its_session_again(owner: Owner) -> None:
    owner.script("say hello", Turn(text("hello there")))
    owner.script("and again", Turn(text("hello again")))
    session = owner.starts("tmux", prompt="say hello", permission_mode="default")
    first = owner.event(session, "run.end")
    before = owner.sessions()[session["session_id"]]["owned"]
    owner.daemon.kill9()
    owner.daemon.start()
    owner.sends(session, "and again")
    owner.event(session, "run.end", after=first["seq_no"])
    assert len(owner.model.requests_for("and again")) == 1
    assert owner.sessions()[session["session_id"]]["owned"]["terminal"] == before["terminal"]
    owner.command(session, "end")
    owner.ended(session)
    assert len(owner.daemon.events("session.exit")) == 1
