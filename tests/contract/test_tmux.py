"""Sessions in a real tmux, with a stand-in that draws a composer in place of Claude Code."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.session_messages import SendPrompt, StartSession
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import LaunchSpec
from quarterdeck.sessions.tmux.launcher import TmuxLauncher
from quarterdeck.sessions.tmux.viewer import attach
from quarterdeck.system.process_table import process_id
from tests.support import composer
from tests.support.session_listener import ReportRecorder, eventually, shows

pytestmark = pytest.mark.skipif(not (shutil.which("tmux") or os.environ.get("CI")), reason="tmux is not here")


class TmuxHome:
    """One home with its own tmux server, and a launcher for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config"
        self.project = folder / "project"
        self.program = folder / "claude"
        for made in (self.config, self.project):
            made.mkdir()
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} {composer.__file__} "$@"\n')
        self.program.chmod(0o755)
        self.listener = ReportRecorder()
        self.launcher = self.new_launcher(self.listener)

    def new_launcher(self, listener: ReportRecorder) -> TmuxLauncher:
        return TmuxLauncher(listener, self.folder / "t" / "s")

    def spec(self, **more: str) -> LaunchSpec:
        env = {"CLAUDE_CONFIG_DIR": str(self.config), "HOME": str(self.folder), "PATH": "/usr/bin:/bin", **more}
        return LaunchSpec(
            agent="claude",
            program=self.program,
            config_dir=self.config,
            environment=env,
            hooks=str(self.folder / "hooks.json"),
            folder=self.folder / "t",
        )

    async def launch(self, session_id: str | None = None, cwd: Path | None = None, **more: str) -> str:
        start = StartSession(
            session_id=str(uuid.uuid4()) if session_id is None else session_id,
            mode="tmux",
            cwd=str(cwd or self.project),
            by="ann",
            at=0.0,
        )
        await self.launcher.launch(start, self.spec(**more))
        return start.session_id

    async def ready(self, session_id: str) -> None:
        await shows(self.launcher, session_id, "❯\xa0")

    def submitted(self) -> list[str]:
        file = self.config / "submitted"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def tmux(self, *words: str) -> str:
        command = self.launcher.server.command_line(*words)
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env={}).stdout

    def left(self) -> list[str]:
        """The processes that still use this home."""
        found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
        return [
            line for line in found.splitlines() if str(self.folder) in line and str(os.getpid()) not in line.split()
        ]


def prompt(session_id: str, text: str) -> SendPrompt:
    return SendPrompt(session_id=session_id, message_id="m", prompt=text, by="ann", at=0.0)


@pytest.fixture
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TmuxHome]:
    async with opened_home(tmp_path_factory.mktemp("d")) as home:
        yield home


@asynccontextmanager
async def opened_home(folder: Path) -> AsyncIterator[TmuxHome]:
    home = TmuxHome(folder)
    try:
        yield home
    finally:
        await home.launcher.close()
        home.tmux("kill-server")
        await eventually(lambda: not home.left())


@pytest.mark.law("S8")
async def test_prompts_arrive_whole_and_once(home: TmuxHome) -> None:
    session_id = await home.launch()
    sent = ["one line", "two\nlines\n\tand a tab", "-- --settings=x", "C-c Enter;", "-\r\nend;", "!ls"]
    for text in sent:
        await home.launcher.send(prompt(session_id, text))
    expected = ["one line", "two\nlines\n\tand a tab", "-- --settings=x", "C-c Enter;", "-\nend;", " !ls"]
    assert home.submitted() == expected
    assert home.tmux("list-buffers") == ""
    for key in ("\x1b[201~rm", "\x03", "\x00", "\x9b", " \n"):
        with pytest.raises(Refused, match=r"control character|is empty"):
            await home.launcher.send(prompt(session_id, key))
    assert home.submitted() == expected


@pytest.mark.law("S8")
async def test_nothing_is_typed_into_a_draft_a_dialog_or_a_scrolled_terminal(home: TmuxHome) -> None:
    session_id = await home.launch()
    await home.ready(session_id)
    pane = home.tmux("list-panes", "-a", "-F", "#{pane_id}").strip()
    home.tmux("send-keys", "-t", pane, "-l", "half a li")
    await shows(home.launcher, session_id, "half a li")
    with pytest.raises(Refused, match="unsent text"):
        await home.launcher.send(prompt(session_id, "no"))
    home.tmux("send-keys", "-t", pane, "C-u")
    while "half a li" in await home.launcher.screen(session_id):
        await asyncio.sleep(0.02)
    home.tmux("copy-mode", "-t", pane)
    with pytest.raises(Refused, match="press q"):
        await home.launcher.send(prompt(session_id, "no"))
    home.tmux("send-keys", "-t", pane, "-X", "cancel")
    await home.launcher.send(prompt(session_id, "ask"))
    with pytest.raises(Refused, match="waiting for an answer"):
        await home.launcher.send(prompt(session_id, "no"))
    await home.launcher.interrupt(session_id)
    await home.launcher.send(prompt(session_id, "yes"))
    assert home.submitted() == ["ask", "yes"]


@pytest.mark.law("S7")
async def test_sessions_are_distinguished_by_their_ids_alone(home: TmuxHome) -> None:
    ids = [await home.launch(name) for name in ("a", "ab", "a-b")]
    assert len({home.launcher._sessions[one].pane.session for one in ids}) == 3
    with pytest.raises(Refused, match="is already running"):
        await home.launch("a")
    await home.launcher.end("a")
    with pytest.raises(Refused, match="is not running"):
        await home.launcher.send(prompt("a", "to nobody"))
    with pytest.raises(Refused, match="is not running"):
        await home.launcher.end("a")
    assert home.tmux("list-sessions", "-F", "#{session_name}").split() == ["a-b", "ab"]
    for wrong in ("a:b", "a.b", "$1", "", "#{pid}", "x" * 65):
        with pytest.raises(Refused):
            await home.launch(wrong)


@pytest.mark.law("S10")
async def test_the_agent_has_the_environment_of_its_spec(home: TmuxHome) -> None:
    os.environ["QUARTERDECK_SECRET"] = "secret"
    try:
        first = await home.launch(ODD="a b;\n#(touch x)'\"", SHELL="/bin/dash", TMUX="/x,1,2", TMUX_PANE="%9")
        second = await home.launch(ANOTHER="1")
    finally:
        del os.environ["QUARTERDECK_SECRET"]
    for session_id, more in ((first, {"ODD": "a b;\n#(touch x)'\"", "SHELL": "/bin/dash"}), (second, {"ANOTHER": "1"})):
        await home.ready(session_id)
        agent = home.launcher._sessions[session_id].agent
        assert agent is not None
        raw = Path(f"/proc/{agent.pid}/environ").read_bytes().split(b"\0")[:-1]
        env = dict(entry.decode().split("=", 1) for entry in raw)
        own = {"TERM": "tmux-256color", "COLORTERM": "truecolor", "PWD": str(home.project)}
        assert {**env, "_": "", "OLDPWD": ""} == {**home.spec(**more).environment, **own, "_": "", "OLDPWD": ""}
        assert f"--settings={home.spec().hooks}".encode() in Path(f"/proc/{agent.pid}/cmdline").read_bytes()


async def test_a_folder_with_a_hostile_name_is_only_a_folder(home: TmuxHome) -> None:
    for name in ("#(touch x)", "#{pid}", "a;", "$HOME", "-c", "#[bold]", "'\" $(touch x)"):
        folder = home.project / name
        folder.mkdir()
        session_id = await home.launch(cwd=folder)
        agent = home.launcher._sessions[session_id].agent
        assert agent is not None
        assert Path(f"/proc/{agent.pid}/cwd").readlink() == folder
        await home.launcher.end(session_id)
    assert not [*home.folder.rglob("x")]


async def test_a_refused_start_leaves_nothing(home: TmuxHome) -> None:
    with pytest.raises(Refused, match="not a folder"):
        await home.launch(cwd=home.folder / "missing")
    with pytest.raises(Refused, match="BIG is longer"):
        await home.launch(BIG="x" * 20_000)
    start = StartSession(session_id="x", mode="tmux", cwd=str(home.project), by="ann", at=0.0)
    with pytest.raises(Refused, match="max_turns"):
        await home.launcher.launch(replace(start, max_turns=3), home.spec())
    with pytest.raises(Refused, match="tools"):
        await home.launcher.launch(replace(start, tools=("Read",)), home.spec())
    with pytest.raises(Refused, match="no/tmux"):
        await TmuxLauncher(home.listener, home.folder / "t" / "s", program="/no/tmux").launch(start, home.spec())
    (home.folder / "open").mkdir(mode=0o755)
    with pytest.raises(Refused, match="only you can open"):
        await TmuxLauncher(home.listener, home.folder / "open" / "s").launch(start, home.spec())
    assert home.left() == []


async def test_the_end_is_reported_once(home: TmuxHome) -> None:
    by_itself, by_signal, by_command = [await home.launch() for _ in range(3)]
    await home.launcher.send(prompt(by_itself, "leave 7"))
    agent = home.launcher._sessions[by_signal].agent
    assert agent is not None
    os.kill(agent.pid, signal.SIGKILL)
    await eventually(lambda: len(home.listener.exits()) == 2)
    await home.launcher.send(prompt(by_command, "orphan"))
    await home.launcher.end(by_command)
    exits = {exit_.session_id: (exit_.code, exit_.signal, exit_.reason) for exit_ in home.listener.exits()}
    assert exits[by_itself] == (7, None, "exited")
    assert exits[by_signal] == (None, signal.SIGKILL, "exited")
    assert exits[by_command] == (None, signal.SIGTERM, "ended")
    assert len(home.listener.exits()) == 3
    await eventually(lambda: not home.left())


@pytest.mark.law("S1")
async def test_a_new_launcher_finds_every_session_again(home: TmuxHome) -> None:
    going_on, over, nobodys = [await home.launch() for _ in range(3)]
    for session_id in (going_on, over, nobodys):
        await home.ready(session_id)
    before = home.launcher._sessions[going_on].agent
    await home.launcher.close()
    assert home.listener.reports == []
    for session in ("over", "nobodys"):
        target = {"over": over, "nobodys": nobodys}[session]
        home.tmux("send-keys", "-t", f"={target}:", "-l", "leave 3")
        home.tmux("send-keys", "-t", f"={target}:", "Enter")
    await eventually(lambda: home.tmux("list-panes", "-a", "-F", "#{pane_dead}").count("1") == 2)
    listener = ReportRecorder()
    home.launcher = home.new_launcher(listener)
    found = await home.launcher.adopt([going_on, over, "unknown"])
    assert [(one.session_id, one.process) for one in found] == [(going_on, before)]
    assert [(exit_.session_id, exit_.code) for exit_ in listener.exits()] == [(over, 3)]
    assert home.tmux("list-sessions", "-F", "#{session_name}").split() == [going_on]
    await home.launcher.send(prompt(going_on, "still here"))
    assert home.submitted()[-1] == "still here"
    assert await home.launcher.adopt([going_on]) == []
    await home.launcher.end(going_on)
    assert [exit_.session_id for exit_ in listener.exits()] == [over, going_on]
    await eventually(lambda: not home.left())


@pytest.mark.law("S2")
async def test_when_tmux_dies_all_sessions_end_and_no_process_remains(home: TmuxHome) -> None:
    ids = [await home.launch() for _ in range(3)]
    await home.launcher.send(prompt(ids[0], "orphan"))
    server = home.launcher._sessions[ids[0]].pane.server_pid
    os.kill(server, signal.SIGKILL)
    await eventually(lambda: len(home.listener.exits()) == 3)
    assert {exit_.reason for exit_ in home.listener.exits()} == {"tmux ended"}
    await eventually(lambda: not home.left())
    assert process_id(server) is None
    again = await home.launch(ids[0])
    assert again == ids[0]


async def test_a_session_that_a_person_closes_in_tmux_ends(home: TmuxHome) -> None:
    session_id = await home.launch()
    home.tmux("kill-session", "-t", home.launcher._sessions[session_id].pane.session)
    await eventually(lambda: [exit_.session_id for exit_ in home.listener.exits()] == [session_id])
    await eventually(lambda: not home.left())


@pytest.mark.law("S1")
async def test_a_session_whose_folder_is_moved_away_goes_on(home: TmuxHome) -> None:
    session_id = await home.launch()
    await home.ready(session_id)
    socket = home.launcher.server.socket.parent
    moved = socket.rename(socket.with_name("moved"))
    await home.launcher.check_panes()
    moved.rename(socket)
    await home.launcher.send(SendPrompt(session_id=session_id, message_id="m", prompt="still here", by="ann", at=0.0))
    await eventually(lambda: home.submitted() == ["still here"])
    assert home.listener.exits() == []
    await home.launcher.end(session_id)


async def test_viewers_see_the_screen_and_all_changes_in_the_smallest_size(home: TmuxHome) -> None:
    session_id = await home.launch()
    await home.ready(session_id)
    first, second = bytearray(), bytearray()
    one = await home.launcher.view(session_id, 80, 24, first.extend)
    two = await home.launcher.view(session_id, 100, 20, second.extend)
    await eventually(lambda: "❯\xa0" in first.decode(errors="replace") and "❯\xa0" in second.decode(errors="replace"))
    await eventually(lambda: home.tmux("list-panes", "-a", "-F", "#{pane_width}x#{pane_height}") == "80x20\n")
    await one.write(b"typed by one\x02\x1b")
    await eventually(lambda: b"typed by one" in second)
    await two.write(b"\x15")
    await two.write(b"\x1d")
    await two.write(b"still here")
    await eventually(lambda: b"still here" in first)
    await one.close()
    await two.resize(90, 30)
    await eventually(lambda: home.tmux("list-panes", "-a", "-F", "#{pane_width}x#{pane_height}") == "90x30\n")
    await two.close()
    await two.write(b"to nobody")
    assert home.tmux("list-clients") == ""


async def test_an_attached_person_detaches_with_one_key(home: TmuxHome) -> None:
    session_id = await home.launch()
    await home.ready(session_id)
    shown = bytearray()
    person = await attach(home.launcher.server.command_line("attach-session", "-t", "$0"), 80, 24, shown.extend)
    await eventually(lambda: "❯\xa0" in shown.decode(errors="replace"))
    await person.write(b"\x02typed")
    await shows(home.launcher, session_id, "typed")
    await person.write(b"\x1d")
    await eventually(lambda: home.tmux("list-clients") == "")
    await person.close()
    assert home.listener.reports == []


def test_uvloop_passes_no_descriptor_of_the_daemon_to_tmux(tmp_path_factory: pytest.TempPathFactory) -> None:
    loop = pytest.importorskip("uvloop").new_event_loop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(run_one_session(tmp_path_factory.mktemp("u")))


async def run_one_session(folder: Path) -> None:
    async with opened_home(folder) as home:
        session_id = await home.launch()
        viewer = await home.launcher.view(session_id, 80, 24, lambda _: None)
        await home.launcher.send(prompt(session_id, "hello"))
        own = open_pipes(os.getpid())
        assert open_pipes(home.launcher._sessions[session_id].pane.server_pid) & own == set()
        await viewer.close()
        await home.launcher.end(session_id)
        assert home.submitted() == ["hello"]


def open_pipes(pid: int) -> set[str]:
    """The pipes and sockets that a process has open."""
    names = subprocess.run(["ls", "-l", f"/proc/{pid}/fd"], capture_output=True, text=True).stdout.split()
    return {name for name in names if name.startswith(("pipe:", "socket:"))}


@pytest.mark.law("S5")
async def test_no_descriptor_leaks(home: TmuxHome) -> None:
    await home.launch()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        session_id = await home.launch()
        viewer = await home.launcher.view(session_id, 80, 24, lambda _: None)
        await home.launcher.end(session_id)
        await viewer.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert [line for line in home.left() if "defunct" in line] == []


async def test_the_last_words_are_the_programs_own(home: TmuxHome) -> None:
    home.program.write_text("#!/bin/sh\nsleep 0.3\necho No conversation found\nexit 1\n")
    await home.launch()
    [exit_] = await eventually(home.listener.exits)
    assert (exit_.code, exit_.last_words) == (1, "No conversation found")
