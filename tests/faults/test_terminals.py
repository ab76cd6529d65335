"""Terminals whose processes die, are slow or lie: nothing is lost, left over or run twice."""

import asyncio
import hashlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quarterdeck.errors import Refused
from quarterdeck.sessions.host.replay_buffer import RESET, SIZE
from quarterdeck.sessions.launcher import RunningAgent
from quarterdeck.sessions.pty.host_registry import short_name
from quarterdeck.system.process_table import process_table, read_proc
from tests.support.daemon import PATIENCE_SECONDS
from tests.support.terminals import Terminals, eventually

pytestmark = pytest.mark.faults

STUBBORN = "trap '' TERM HUP INT; while :; do sleep 60; done"
TREE = f"""
echo $$ >> pids
sleep 600 & echo $! >> pids
(setsid sh -c 'echo $$ >> pids; {STUBBORN.replace("'", '"')}' &)
(setsid sh -c 'sleep 600 & echo $! >> pids' &)
while [ $(wc -l < pids) -lt 4 ]; do sleep 0.01; done
echo up
"""


@pytest.fixture
async def terminals(tmp_path: Path) -> AsyncIterator[Terminals]:
    terminals = Terminals(tmp_path)
    yield terminals
    await terminals.close()
    await eventually(lambda: not own_processes_in(tmp_path))
    assert [name for name in terminals.files() if not name.startswith("hostile")] == []


def own_processes_in(folder: Path) -> list[int]:
    """Processes whose environment names this folder."""
    mark = f"HOME={folder}\0".encode()
    found = []
    for pid in process_table():
        try:
            if mark in Path(f"/proc/{pid}/environ").read_bytes():
                found.append(pid)
        except OSError:
            continue
    return found


async def until_ended(folder: Path) -> None:
    pids = [int(pid) for pid in (folder / "pids").read_text().split()]
    assert len(pids) == 4
    await eventually(lambda: not any(read_proc(pid) for pid in pids))


@pytest.mark.law("S10")
async def test_the_program_has_a_terminal_and_its_environment_and_nothing_of_the_daemon(terminals: Terminals) -> None:
    running = await terminals.start(
        "env; tty; stty size; ls /proc/self/fd | tr '\\n' ' '; echo; ps -o pid=,sid= $$; exit 3"
    )
    viewer, seen = await terminals.view(running)
    down = await terminals.exit(running)
    await eventually(lambda: str(running.process and running.process.pid).encode() in seen.bytes)
    output = bytes(seen.bytes).decode()
    names = {line.partition("=")[0] for line in output.replace(RESET.decode(), "").splitlines() if "=" in line}
    given = {"PATH", "HOME", "QUARTERDECK_TAG", "PS1", "SHELL", "TERM", "COLORTERM"}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == given
    assert "COLORTERM=truecolor" in output
    assert "/dev/pts/" in output
    assert "0 1 2 3 \r\n" in output  # the last one is the listing's own
    assert running.process is not None
    assert output.split()[-2:] == [str(running.process.pid)] * 2
    assert (down.code, down.signal, down.reason) == (3, None, "exited")
    assert str(running.process.pid) in down.last_words
    await viewer.close()


async def test_the_signal_that_ended_it_is_reported(terminals: Terminals) -> None:
    running = await terminals.start("kill -9 $$")
    down = await terminals.exit(running)
    assert (down.code, down.signal) == (None, signal.SIGKILL)


async def test_a_program_that_is_not_there_is_refused(terminals: Terminals) -> None:
    terminals.launcher._shell = "/nonexistent/shell"
    with pytest.raises(Refused, match=r"pty\.shell"):
        await terminals.start()


async def test_its_files_are_private(terminals: Terminals) -> None:
    await terminals.start()
    modes = {path.suffix: stat.S_IMODE(path.lstat().st_mode) for path in terminals.run.iterdir()}
    assert modes == {".json": 0o600, ".s": 0o600}
    assert stat.S_IMODE(terminals.run.stat().st_mode) == 0o700


@pytest.mark.law("S4")
async def test_a_session_runs_once(terminals: Terminals) -> None:
    running = await terminals.start()
    with pytest.raises(Refused, match="is already running"):
        await terminals.start(session_id=running.session_id)
    other = Terminals(terminals.folder)
    with pytest.raises(Refused, match="is already running"):
        await other.start(session_id=running.session_id)


async def test_a_folder_may_have_a_long_name(tmp_path: Path) -> None:
    folder = tmp_path / ("long-" * 30)
    folder.mkdir()
    terminals = Terminals(folder)
    running = await terminals.start("echo here; read x")
    _, seen = await terminals.view(running)
    await seen.has(b"here")
    await terminals.close()


@pytest.mark.law("S5")
async def test_200_terminals_leave_nothing_behind(terminals: Terminals) -> None:
    await terminals.exit(await terminals.start("true"))
    before = len(os.listdir("/proc/self/fd"))
    script = terminals.script("read x")
    one_of_few = asyncio.Semaphore(8)

    terminals.launcher._shell = script

    async def one() -> None:
        async with one_of_few:
            running = await terminals.start()
            viewer, _ = await terminals.view(running)
            await viewer.write(b"\r")
            assert (await terminals.exit(running)).code == 0
            await viewer.close()

    await asyncio.gather(*(one() for _ in range(200)), return_exceptions=False)
    await eventually(lambda: not terminals.launcher._closing)
    await eventually(lambda: len(os.listdir("/proc/self/fd")) <= before)
    zombies = [line for line in children() if line[1] == "Z"]
    assert zombies == []
    assert terminals.files() == []


def children() -> list[tuple[str, str]]:
    listed = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    return [(line.split()[0], line.split()[1][0]) for line in listed.stdout.splitlines() if line.split()]


@pytest.mark.law("S6")
async def test_a_viewer_that_does_not_read_delays_no_other_and_gets_the_screen_at_last(terminals: Terminals) -> None:
    flood = "read go; i=0; while [ $i -lt 8 ]; do head -c 2000000 /dev/zero | tr '\\0' x; i=$((i+1)); done"
    running = await terminals.start(f"{flood}; printf '\\033[2J\\033[Hthe end'; read go")
    fast, all_seen = await terminals.view(running)
    slow, little = await terminals.view(running)
    await eventually(lambda: little.bytes)
    slow.pause()
    await asyncio.sleep(0)
    await fast.write(b"\n")
    await all_seen.has(b"the end")
    assert len(all_seen.bytes) > 8 * 2_000_000
    assert resident_kb(terminals.host()) < 20_000
    little.bytes.clear()
    slow.resume()
    await little.has(b"the end")
    assert little.bytes.count(RESET) == 1
    assert len(little.bytes) < 2 * SIZE
    _, fresh = await terminals.view(running)
    await fresh.has(b"the end")
    assert len(fresh.bytes) < 1000
    assert await terminals.launcher.screen(running.session_id) == "the end"


def resident_kb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


async def test_a_host_is_small_even_when_its_replay_buffer_is_full(terminals: Terminals) -> None:
    await terminals.exit(await terminals.start("true"))  # the next one finds its parts compiled
    running = await terminals.start("head -c 3000000 /dev/zero | tr '\\0' x; echo full; read go")
    _, seen = await terminals.view(running)
    await seen.has(b"full")
    assert resident_kb(terminals.host()) <= 15_000


async def test_the_smallest_viewer_sets_the_size(terminals: Terminals) -> None:
    running = await terminals.start("trap 'stty size' WINCH; echo up; while :; do sleep 0.02; done")
    first, seen = await terminals.view(running, 0, 0)
    await seen.has(b"up")
    await first.resize(100, 30)
    await seen.has(b"30 100")
    second, _ = await terminals.view(running, 80, 40)
    await seen.has(b"30 80")
    await second.resize(90, 20)
    await seen.has(b"20 90")
    seen.bytes.clear()
    await second.close()
    await seen.has(b"30 100")
    assert (running.session_id, "terminal.size", {"cols": 80, "rows": 30}) in terminals.listener.streams
    await first.close()


async def test_nonsense_sizes_are_ignored(terminals: Terminals) -> None:
    running = await terminals.start("trap 'stty size' WINCH; stty size; while :; do sleep 0.02; done")
    _, seen = await terminals.view(running, 0, -5)
    await seen.has(b"40 120")
    viewer, _ = await terminals.view(running, 100_000, 100_000)
    await seen.has(b"1000 1000")
    await viewer.close()


@pytest.mark.law("S2")
async def test_an_end_leaves_no_process(terminals: Terminals, tmp_path: Path) -> None:
    running = await terminals.start(TREE + STUBBORN)
    _, seen = await terminals.view(running)
    await seen.has(b"up")
    await terminals.launcher.end(running.session_id)
    assert (await terminals.exit(running)).reason == "ended"
    await until_ended(tmp_path)


@pytest.mark.law("S2")
async def test_the_death_of_a_host_ends_its_tree(terminals: Terminals, tmp_path: Path) -> None:
    running = await terminals.start(TREE + STUBBORN)
    _, seen = await terminals.view(running)
    await seen.has(b"up")
    os.kill(terminals.host(), signal.SIGKILL)
    assert "lost" in (await terminals.exit(running)).reason
    await until_ended(tmp_path)
    assert await Terminals(tmp_path).launcher.adopt([]) == []


@pytest.mark.law("S2")
async def test_the_death_of_the_supervisor_ends_the_tree(terminals: Terminals, tmp_path: Path) -> None:
    running = await terminals.start(TREE + STUBBORN)
    _, seen = await terminals.view(running)
    await seen.has(b"up")
    assert running.process is not None
    program = read_proc(running.process.pid)
    assert program is not None
    os.kill(program.parent, signal.SIGKILL)
    assert (await terminals.exit(running)).signal == signal.SIGKILL
    await until_ended(tmp_path)


DAEMON = """
import asyncio, sys
from pathlib import Path
from tests.support.daemon import PATIENCE_SECONDS
from tests.support.terminals import Terminals
async def main():
    terminals = Terminals(Path(sys.argv[1]))
    running = await terminals.start(sys.argv[2], session_id="s1")
    print(running.process.pid, running.process.start, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


def killed_daemon(folder: Path, script: str) -> tuple[int, str]:
    """The process in a terminal whose daemon has been killed."""
    with subprocess.Popen([sys.executable, "-c", DAEMON, folder, script], stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        pid, start = daemon.stdout.readline().split()
        daemon.kill()
    return int(pid), start


@pytest.mark.law("S1")
async def test_a_terminal_outlives_its_daemon_and_is_found_again_once(terminals: Terminals, tmp_path: Path) -> None:
    script = "echo before; while read word; do echo heard $word; done"
    pid, start = await asyncio.to_thread(killed_daemon, tmp_path, script)
    (found,) = await terminals.launcher.adopt(["s1", "s2"])
    assert found.process is not None
    assert (found.session_id, found.process.pid, found.process.start) == ("s1", pid, start)
    assert await terminals.launcher.adopt(["s1"]) == [found]
    viewer, seen = await terminals.view(found)
    await seen.has(b"before")
    await viewer.write(b"again\r")
    await seen.has(b"heard again")
    assert bytes(seen.bytes).count(b"heard again") == 1
    assert (
        len([pid for pid in own_processes_in(tmp_path) if b"host/main.py" in cmdline(pid)]) == 2
    )  # it and its supervisor
    await terminals.launcher.end("s1")
    assert len(terminals.listener.exits("s1")) == 1


def cmdline(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.law("S1")
async def test_an_end_without_a_daemon_is_reported_later(terminals: Terminals, tmp_path: Path) -> None:
    pid, _ = await asyncio.to_thread(killed_daemon, tmp_path, "sleep 0.2; exit 7")
    await eventually(lambda: not read_proc(pid))
    await terminals.launcher.adopt(["s1"])
    assert [down.code for down in await eventually(lambda: terminals.listener.exits("s1"))] == [7]
    await eventually(lambda: not terminals.files())
    assert await terminals.launcher.adopt(["s1"]) == []


async def test_a_host_exits_when_no_daemon_connects_for_too_long(tmp_path: Path) -> None:
    terminals = Terminals(tmp_path, grace_seconds=0.2)
    await terminals.start("sleep 0.1")
    await terminals.launcher.close()
    await eventually(lambda: not terminals.files())
    await eventually(lambda: not own_processes_in(tmp_path))


async def test_a_host_whose_program_has_ended_exits_at_a_terminate(tmp_path: Path) -> None:
    terminals = Terminals(tmp_path)
    running = await terminals.start("sleep 0.1")
    host = terminals.host()
    await terminals.launcher.close()
    assert running.process is not None
    pid = running.process.pid
    await eventually(lambda: not read_proc(pid))
    os.kill(host, signal.SIGTERM)
    await eventually(lambda: not own_processes_in(tmp_path))
    assert terminals.files() == []


def write_note(folder: Path, session_id: str, pid: int, start: str, name: str | None = None) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    output = {
        "session_id": session_id,
        "host": [pid, start],
        "child": [pid, start],
        "socket": "x",
        "started_at": 1.0,
        "size": [80, 24],
        "ended": None,
    }
    path = folder / f"{name or short_name(session_id)}.json"
    path.write_text(json.dumps(output))
    return path


@pytest.mark.law("S3")
async def test_the_note_of_a_recycled_pid_is_removed_and_no_process_is_signalled(terminals: Terminals) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        proc = read_proc(other.pid)
        assert proc is not None
        write_note(terminals.run, "s1", other.pid, str(int(proc.id.start) - 100))
        assert await terminals.launcher.adopt(["s1"]) == []
        assert [down.reason for down in terminals.listener.exits("s1")] == ["the session's terminal was lost"]
        assert terminals.files() == []
        assert other.poll() is None
        other.kill()


@pytest.mark.law("S3")
async def test_a_note_that_names_another_process_is_not_believed(terminals: Terminals) -> None:
    """The process runs, and another one listens where it should."""
    with subprocess.Popen(["sleep", "600"]) as other, socket.socket(socket.AF_UNIX) as listener:
        proc = read_proc(other.pid)
        assert proc is not None
        note = write_note(terminals.run, "s1", other.pid, proc.id.start)
        listener.bind(str(note.with_suffix(".s")))
        listener.listen()
        assert await terminals.launcher.adopt(["s1"]) == []
        assert other.poll() is None
        other.kill()
    note.unlink()
    note.with_suffix(".s").unlink()


async def test_hostile_notes_are_ignored(terminals: Terminals, tmp_path: Path) -> None:
    running = await terminals.start()
    (tmp_path / "secret.json").write_text("{}")
    (terminals.run / "hostile-link.json").symlink_to(tmp_path / "secret.json")
    os.mkfifo(terminals.run / "hostile-fifo.json")
    (terminals.run / "hostile-folder.json").mkdir()
    (terminals.run / "hostile-garbage.json").write_bytes(b"\xff" * 100)
    (terminals.run / "hostile-deep.json").write_text("[" * 60_000)
    (terminals.run / "hostile-large.json").write_text(" " * 1_000_000 + "{}")
    write_note(terminals.run, "other", os.getpid(), "1", name="hostile-name")
    write_note(terminals.run, "init", 1, "1")
    assert await Terminals(tmp_path).launcher.adopt(["other", "init"]) == []
    (terminals.run / f"{short_name('init')}.json").unlink()
    assert await terminals.launcher.adopt([running.session_id]) == [running]


@pytest.mark.law("D14")
async def test_an_agent_cannot_connect_to_a_host(terminals: Terminals, tmp_path: Path) -> None:
    """Not to its own, nor to another's, even when it has cleared its environment and left its parents."""
    other = await terminals.start("read secret; echo $secret")
    ask = (
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('%s.s'); s.settimeout(60)\n"
        "try: print('said', len(s.recv(100)))\n"
        "except ConnectionResetError: print('said 0')"
    )
    program = tmp_path / "ask.py"
    program.write_text(ask % (terminals.run / short_name(other.session_id)))
    escape = f"setsid env -i {sys.executable} {program} & wait"
    agent = await terminals.start(f"(({escape}) &); env -i {sys.executable} {program}; read x")
    _, seen = await terminals.view(agent)
    await eventually(lambda: seen.bytes.count(b"said 0") == 2)


@pytest.mark.law("A3")
async def test_an_invalid_frame_ends_its_connection_and_nothing_else(terminals: Terminals) -> None:
    running = await terminals.start("read x; echo got $x")
    path = terminals.run / f"{short_name(running.session_id)}.s"
    for wire in (b"GET / HTTP/1.1\r\n\r\n", b"V\xff\xff\xff\xff", b"V\0\0\0\x02[]", b"P\0\0\0\x04null", b"\0" * 5):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(path))
            stranger.settimeout(60)
            stranger.sendall(wire)
            received = await asyncio.to_thread(read_all, stranger)
            assert received.startswith(b"S")
    viewer, seen = await terminals.view(running)
    await viewer.write(b"it\r")
    await seen.has(b"got it")


def read_all(stranger: socket.socket) -> bytes:
    output = b""
    try:
        while part := stranger.recv(65536):
            output += part
    except ConnectionResetError:
        pass
    return output


@pytest.mark.law("S8")
async def test_a_prompt_goes_to_a_shell_that_waits_for_one_and_to_nothing_else(terminals: Terminals) -> None:
    running = await terminals.start()
    viewer, seen = await terminals.view(running)
    await sent(terminals, running, "echo one $((40 + 2))\necho two")
    await seen.has(b"one 42\r\n")
    await seen.has(b"two\r\n")
    await viewer.write(b"half")
    await seen.has(b"half")
    with pytest.raises(Refused, match="unsent text"):
        await terminals.send(running, "echo never")
    await viewer.write(b"\x03")
    await eventually(lambda: re.search(rb"[#$] $", bytes(seen.bytes).partition(b"half^C")[2]))
    await viewer.write(b"cat\r")
    await eventually(lambda: not is_in_front(running.process.pid if running.process else 0))
    with pytest.raises(Refused, match="a program runs"):
        await terminals.send(running, "echo never")
    await terminals.launcher.interrupt(running.session_id)
    await eventually(lambda: is_in_front(running.process.pid if running.process else 0))
    await sent(terminals, running, "echo three $((1 + 2))")
    await seen.has(b"three 3\r\n")
    assert b"never" not in seen.bytes


async def sent(terminals: Terminals, running: RunningAgent, prompt: str) -> None:
    """Send it to a shell that is still at something of its own, such as its start, as soon as that is over."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                return await terminals.send(running, prompt)
            except Refused:
                await asyncio.sleep(0.05)


def is_in_front(pid: int) -> bool:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[2] == fields[5]


@pytest.mark.law("S8")
async def test_two_prompts_at_once_are_both_whole(terminals: Terminals) -> None:
    running = await terminals.start()
    _, seen = await terminals.view(running)
    words = ["echo " + letter * 5000 for letter in "ab"]
    refused = 2
    async with asyncio.timeout(PATIENCE_SECONDS):
        while refused == 2:  # the shell is still at its start
            results = await asyncio.gather(*(terminals.send(running, w) for w in words), return_exceptions=True)
            refused = sum(isinstance(result, Refused) for result in results)
    assert refused == 1
    await eventually(lambda: b"a" * 5000 in bytes(seen.bytes).replace(b"\r\n", b"").replace(b" \r", b""))
    assert b"ab" not in seen.bytes


async def test_much_is_typed_without_loss(terminals: Terminals) -> None:
    running = await terminals.start("stty raw -echo; echo ready; head -c 500000 | sha256sum; read x")
    viewer, seen = await terminals.view(running)
    await seen.has(b"ready")
    typed = os.urandom(500_000)
    await viewer.write(typed)
    await seen.has(hashlib.sha256(typed).hexdigest().encode())


async def test_a_reconfigure_is_refused_with_a_reason(terminals: Terminals) -> None:
    running = await terminals.start()
    with pytest.raises(Refused, match="attach"):
        await terminals.launcher.reconfigure(running.session_id, "opus", None)


async def test_an_end_works_when_no_program_reads_the_input(terminals: Terminals) -> None:
    running = await terminals.start("stty raw -echo; echo ready; sleep 600")
    viewer, seen = await terminals.view(running)
    await seen.has(b"ready")
    typing = asyncio.create_task(viewer.write(b"x" * 4_000_000))
    await asyncio.sleep(0.3)
    assert not typing.done()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await terminals.launcher.end(running.session_id)
    typing.cancel()
    assert (await terminals.exit(running)).reason == "ended"
