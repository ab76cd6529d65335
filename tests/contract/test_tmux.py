"""Sessions in a real tmux, with a stand-in that draws a composer in place of Claude Code."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.session_messages import Send, Start
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import Kit
from quarterdeck.sessions.tmux.launcher import TmuxWay
from quarterdeck.sessions.tmux.viewer import look
from quarterdeck.system.process_watch import process_id
from tests.support import composer
from tests.support.ears import Heard, eventually, shows

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not here")


class Desk:
    """One home with a server of its own, and the way to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config"
        self.project = folder / "project"
        self.program = folder / "claude"
        for made in (self.config, self.project):
            made.mkdir()
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} {composer.__file__} "$@"\n')
        self.program.chmod(0o755)
        self.heard = Heard()
        self.way = self.another_way(self.heard)

    def another_way(self, heard: Heard) -> TmuxWay:
        return TmuxWay(heard, self.folder / "t" / "s")

    def kit(self, **more: str) -> Kit:
        env = {"CLAUDE_CONFIG_DIR": str(self.config), "HOME": str(self.folder), "PATH": "/usr/bin:/bin", **more}
        return Kit(
            claude=self.program,
            config_dir=self.config,
            environment=env,
            hooks=str(self.folder / "hooks.json"),
            folder=self.folder / "t",
        )

    async def launch(self, session_id: str | None = None, cwd: Path | None = None, **more: str) -> str:
        start = Start(
            session_id=str(uuid.uuid4()) if session_id is None else session_id,
            mode="tmux",
            cwd=str(cwd or self.project),
            by="ann",
            at=0.0,
        )
        await self.way.launch(start, self.kit(**more))
        return start.session_id

    async def ready(self, session_id: str) -> None:
        await shows(self.way, session_id, "❯\xa0")

    def submitted(self) -> list[str]:
        file = self.config / "submitted"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def tmux(self, *words: str) -> str:
        command = self.way.server.words(*words)
        return subprocess.run(command, capture_output=True, text=True, timeout=5, env={}).stdout

    def left(self) -> list[str]:
        """The processes that still have to do with this home."""
        found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
        return [
            line for line in found.splitlines() if str(self.folder) in line and str(os.getpid()) not in line.split()
        ]


def prompt(session_id: str, text: str) -> Send:
    return Send(session_id=session_id, message_id="m", prompt=text, by="ann", at=0.0)


@pytest.fixture
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    async with opened(tmp_path_factory.mktemp("d")) as desk:
        yield desk


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Desk]:
    desk = Desk(folder)
    try:
        yield desk
    finally:
        await desk.way.close()
        desk.tmux("kill-server")
        await eventually(lambda: not desk.left())


@pytest.mark.law("S8")
async def test_prompts_arrive_whole_and_once(desk: Desk) -> None:
    session_id = await desk.launch()
    sent = ["one line", "two\nlines\n\tand a tab", "-- --settings=x", "C-c Enter;", "-\r\nend;", "!ls"]
    for text in sent:
        await desk.way.send(prompt(session_id, text))
    wanted = ["one line", "two\nlines\n\tand a tab", "-- --settings=x", "C-c Enter;", "-\nend;", " !ls"]
    assert desk.submitted() == wanted
    assert desk.tmux("list-buffers") == ""
    for key in ("\x1b[201~rm", "\x03", "\x00", "\x9b", " \n"):
        with pytest.raises(Refused, match=r"control character|is empty"):
            await desk.way.send(prompt(session_id, key))
    assert desk.submitted() == wanted


@pytest.mark.law("S8")
async def test_nothing_is_typed_into_a_draft_a_dialog_or_a_terminal_that_somebody_scrolls(desk: Desk) -> None:
    session_id = await desk.launch()
    await desk.ready(session_id)
    pane = desk.tmux("list-panes", "-a", "-F", "#{pane_id}").strip()
    desk.tmux("send-keys", "-t", pane, "-l", "half a li")
    await shows(desk.way, session_id, "half a li")
    with pytest.raises(Refused, match="begun to write"):
        await desk.way.send(prompt(session_id, "no"))
    desk.tmux("send-keys", "-t", pane, "C-u")
    while "half a li" in await desk.way.screen(session_id):
        await asyncio.sleep(0.02)
    desk.tmux("copy-mode", "-t", pane)
    with pytest.raises(Refused, match="press q"):
        await desk.way.send(prompt(session_id, "no"))
    desk.tmux("send-keys", "-t", pane, "-X", "cancel")
    await desk.way.send(prompt(session_id, "ask"))
    with pytest.raises(Refused, match="waits for an answer"):
        await desk.way.send(prompt(session_id, "no"))
    await desk.way.interrupt(session_id)
    await desk.way.send(prompt(session_id, "yes"))
    assert desk.submitted() == ["ask", "yes"]


@pytest.mark.law("S7")
async def test_sessions_are_told_apart_by_ids_alone(desk: Desk) -> None:
    ids = [await desk.launch(name) for name in ("a", "ab", "a-b")]
    assert len({desk.way._sessions[one].pane.session for one in ids}) == 3
    with pytest.raises(Refused, match="runs already"):
        await desk.launch("a")
    await desk.way.end("a")
    with pytest.raises(Refused, match="does not run"):
        await desk.way.send(prompt("a", "to nobody"))
    with pytest.raises(Refused, match="does not run"):
        await desk.way.end("a")
    assert desk.tmux("list-sessions", "-F", "#{session_name}").split() == ["a-b", "ab"]
    for wrong in ("a:b", "a.b", "$1", "", "#{pid}", "x" * 65):
        with pytest.raises(Refused):
            await desk.launch(wrong)


@pytest.mark.law("S10")
async def test_the_agent_has_the_environment_it_was_given(desk: Desk) -> None:
    os.environ["QUARTERDECK_SECRET"] = "ours"
    try:
        first = await desk.launch(ODD="a b;\n#(touch x)'\"", SHELL="/bin/dash", TMUX="/x,1,2", TMUX_PANE="%9")
        second = await desk.launch(ANOTHER="1")
    finally:
        del os.environ["QUARTERDECK_SECRET"]
    for session_id, more in ((first, {"ODD": "a b;\n#(touch x)'\"", "SHELL": "/bin/dash"}), (second, {"ANOTHER": "1"})):
        agent = desk.way._sessions[session_id].agent
        assert agent is not None
        raw = Path(f"/proc/{agent.pid}/environ").read_bytes().split(b"\0")[:-1]
        env = dict(entry.decode().split("=", 1) for entry in raw)
        own = {"TERM": "tmux-256color", "PWD": str(desk.project)}
        assert {**env, "_": "", "OLDPWD": ""} == {**desk.kit(**more).environment, **own, "_": "", "OLDPWD": ""}
        assert f"--settings={desk.kit().hooks}".encode() in Path(f"/proc/{agent.pid}/cmdline").read_bytes()


async def test_a_folder_with_a_hostile_name_is_only_a_folder(desk: Desk) -> None:
    for name in ("#(touch x)", "#{pid}", "a;", "$HOME", "-c", "#[bold]", "'\" $(touch x)"):
        folder = desk.project / name
        folder.mkdir()
        session_id = await desk.launch(cwd=folder)
        agent = desk.way._sessions[session_id].agent
        assert agent is not None
        assert Path(f"/proc/{agent.pid}/cwd").readlink() == folder
        await desk.way.end(session_id)
    assert not [*desk.folder.rglob("x")]


async def test_what_cannot_be_done_is_refused_and_leaves_nothing(desk: Desk) -> None:
    with pytest.raises(Refused, match="not a folder"):
        await desk.launch(cwd=desk.folder / "missing")
    with pytest.raises(Refused, match="BIG is longer"):
        await desk.launch(BIG="x" * 20_000)
    start = Start(session_id="x", mode="tmux", cwd=str(desk.project), by="ann", at=0.0)
    with pytest.raises(Refused, match="max_turns"):
        await desk.way.launch(replace(start, max_turns=3), desk.kit())
    with pytest.raises(Refused, match="no/tmux"):
        await TmuxWay(desk.heard, desk.folder / "t" / "s", program="/no/tmux").launch(start, desk.kit())
    (desk.folder / "open").mkdir(mode=0o755)
    with pytest.raises(Refused, match="only you can open"):
        await TmuxWay(desk.heard, desk.folder / "open" / "s").launch(start, desk.kit())
    assert desk.left() == []


async def test_how_it_ended_is_told_once(desk: Desk) -> None:
    by_itself, by_signal, by_us = [await desk.launch() for _ in range(3)]
    await desk.way.send(prompt(by_itself, "leave 7"))
    agent = desk.way._sessions[by_signal].agent
    assert agent is not None
    os.kill(agent.pid, signal.SIGKILL)
    await eventually(lambda: len(desk.heard.downs()) == 2)
    await desk.way.send(prompt(by_us, "orphan"))
    await desk.way.end(by_us)
    told = {down.session_id: (down.code, down.signal, down.reason) for down in desk.heard.downs()}
    assert told[by_itself] == (7, None, "exited")
    assert told[by_signal] == (None, signal.SIGKILL, "exited")
    assert told[by_us] == (None, signal.SIGTERM, "ended")
    assert len(desk.heard.downs()) == 3
    await eventually(lambda: not desk.left())


@pytest.mark.law("S1")
async def test_a_new_owner_finds_everything_again(desk: Desk) -> None:
    going_on, over, nobodys = [await desk.launch() for _ in range(3)]
    for session_id in (going_on, over, nobodys):
        await desk.ready(session_id)
    before = desk.way._sessions[going_on].agent
    await desk.way.close()
    assert desk.heard.news == []
    for session in ("over", "nobodys"):
        target = {"over": over, "nobodys": nobodys}[session]
        desk.tmux("send-keys", "-t", f"={target}:", "-l", "leave 3")
        desk.tmux("send-keys", "-t", f"={target}:", "Enter")
    await eventually(lambda: desk.tmux("list-panes", "-a", "-F", "#{pane_dead}").count("1") == 2)
    heard = Heard()
    desk.way = desk.another_way(heard)
    found = await desk.way.adopt([going_on, over, "unknown"])
    assert [(one.session_id, one.process) for one in found] == [(going_on, before)]
    assert [(down.session_id, down.code) for down in heard.downs()] == [(over, 3)]
    assert desk.tmux("list-sessions", "-F", "#{session_name}").split() == [going_on]
    await desk.way.send(prompt(going_on, "still here"))
    assert desk.submitted()[-1] == "still here"
    assert await desk.way.adopt([going_on]) == []
    await desk.way.end(going_on)
    assert [down.session_id for down in heard.downs()] == [over, going_on]
    await eventually(lambda: not desk.left())


@pytest.mark.law("S2")
async def test_when_tmux_dies_all_are_down_within_two_seconds_and_nothing_runs_on(desk: Desk) -> None:
    ids = [await desk.launch() for _ in range(3)]
    await desk.way.send(prompt(ids[0], "orphan"))
    server = desk.way._sessions[ids[0]].pane.server_pid
    began = time.monotonic()
    os.kill(server, signal.SIGKILL)
    await eventually(lambda: len(desk.heard.downs()) == 3)
    assert time.monotonic() - began < 2.0
    assert {down.reason for down in desk.heard.downs()} == {"tmux ended"}
    await eventually(lambda: not desk.left())
    assert process_id(server) is None
    again = await desk.launch(ids[0])
    assert again == ids[0]


async def test_a_session_that_a_person_closes_in_tmux_is_down(desk: Desk) -> None:
    session_id = await desk.launch()
    desk.tmux("kill-session", "-t", desk.way._sessions[session_id].pane.session)
    await eventually(lambda: [down.session_id for down in desk.heard.downs()] == [session_id])
    await eventually(lambda: not desk.left())


async def test_viewers_see_the_screen_and_what_follows_in_the_smallest_size(desk: Desk) -> None:
    session_id = await desk.launch()
    await desk.ready(session_id)
    first, second = bytearray(), bytearray()
    one = await desk.way.view(session_id, 80, 24, first.extend)
    two = await desk.way.view(session_id, 100, 20, second.extend)
    await eventually(lambda: "❯\xa0" in first.decode(errors="replace") and "❯\xa0" in second.decode(errors="replace"))
    await eventually(lambda: desk.tmux("list-panes", "-a", "-F", "#{pane_width}x#{pane_height}") == "80x20\n")
    await one.write(b"typed by one\x02\x1b")
    await eventually(lambda: b"typed by one" in second)
    await two.write(b"\x15")
    await two.write(b"\x1d")
    await two.write(b"still here")
    await eventually(lambda: b"still here" in first)
    await one.close()
    await two.resize(90, 30)
    await eventually(lambda: desk.tmux("list-panes", "-a", "-F", "#{pane_width}x#{pane_height}") == "90x30\n")
    await two.close()
    await two.write(b"to nobody")
    assert desk.tmux("list-clients") == ""


async def test_a_person_who_attaches_leaves_with_one_key(desk: Desk) -> None:
    session_id = await desk.launch()
    await desk.ready(session_id)
    shown = bytearray()
    person = await look(desk.way.server.words("attach-session", "-t", "$0"), 80, 24, shown.extend)
    await eventually(lambda: "❯\xa0" in shown.decode(errors="replace"))
    await person.write(b"\x02typed")
    await shows(desk.way, session_id, "typed")
    await person.write(b"\x1d")
    await eventually(lambda: desk.tmux("list-clients") == "")
    await person.close()
    assert desk.heard.news == []


def test_the_daemons_own_loop_leaves_tmux_none_of_our_descriptors(tmp_path_factory: pytest.TempPathFactory) -> None:
    loop = pytest.importorskip("uvloop").new_event_loop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(a_life(tmp_path_factory.mktemp("u")))


async def a_life(folder: Path) -> None:
    async with opened(folder) as desk:
        session_id = await desk.launch()
        viewer = await desk.way.view(session_id, 80, 24, lambda _: None)
        await desk.way.send(prompt(session_id, "hello"))
        ours = held_by(os.getpid())
        assert held_by(desk.way._sessions[session_id].pane.server_pid) & ours == set()
        await viewer.close()
        await desk.way.end(session_id)
        assert desk.submitted() == ["hello"]


def held_by(pid: int) -> set[str]:
    """The pipes and sockets that a process holds."""
    names = subprocess.run(["ls", "-l", f"/proc/{pid}/fd"], capture_output=True, text=True).stdout.split()
    return {name for name in names if name.startswith(("pipe:", "socket:"))}


@pytest.mark.law("S5")
async def test_descriptors_return_to_where_they_were(desk: Desk) -> None:
    await desk.launch()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        session_id = await desk.launch()
        viewer = await desk.way.view(session_id, 80, 24, lambda _: None)
        await desk.way.end(session_id)
        await viewer.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert [line for line in desk.left() if "defunct" in line] == []


async def test_the_last_words_are_the_programs_own(desk: Desk) -> None:
    desk.program.write_text("#!/bin/sh\nsleep 0.3\necho No conversation found\nexit 1\n")
    await desk.launch()
    [down] = await eventually(desk.heard.downs)
    assert (down.code, down.last_words) == (1, "No conversation found")
