"""The forwarder: the daemon's answer reaches Claude Code word for word, and every failure is silence."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quarterdeck.hook
from quarterdeck.core.model.payload import ID
from quarterdeck.hook import ACK, ACK_SECONDS, LIMIT, receive
from tests.support.daemon import PATIENCE_SECONDS

HOOK = str(Path(quarterdeck.hook.__file__).resolve())
PAYLOAD = b'{"hook_event_name":"PermissionRequest","tool_name":"Bash"}'
ALLOW = b'{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}'
FIX = b"start it with: quarterdeck daemon, or remove the gate with: quarterdeck uninstall\n"
LARGE = 20 << 20

HANG_SECONDS = 2 * PATIENCE_SECONDS
"""How long a daemon hangs here: longer than a test waits for a hook that ends by itself."""
TRIES = 20

Behaviour = Callable[[socket.socket], object]


@dataclass(frozen=True)
class HookRun:
    code: int
    out: bytes
    err: bytes
    seconds: float = 0.0

    @property
    def output(self) -> tuple[int, bytes, bytes]:
        return self.code, self.out, self.err


SILENT = (0, b"", b"")


def command(*args: str | os.PathLike[str], hook: str | Path = HOOK) -> list[str]:
    return [sys.executable, "-I", "-S", str(hook), *(os.fspath(arg) for arg in args)]


def changed(folder: Path, old: str, new: str) -> Path:
    """A copy of the forwarder with another number."""
    text = Path(HOOK).read_text()
    assert old in text
    copy = folder / "changed.py"
    copy.write_text(text.replace(old, new))
    return copy


def run_hook(
    *args: str | os.PathLike[str],
    stdin: bytes = PAYLOAD,
    env: Mapping[str, str] | None = None,
    wrap: Sequence[str] = (),
    hook: str | Path = HOOK,
) -> HookRun:
    """Run it to its end; one that does not end in time fails the test."""
    started = time.monotonic()
    done = subprocess.run(
        [*wrap, *command(*args, hook=hook)], input=stdin, env=env, capture_output=True, timeout=PATIENCE_SECONDS
    )
    return HookRun(done.returncode, done.stdout, done.stderr, time.monotonic() - started)


def denies_and_names_the_fix(ran: HookRun) -> bool:
    return ran.code == 2 and ran.out == b"" and ran.err.endswith(FIX) and ran.err.count(b"\n") == 1


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path: the name of a socket holds about 100 bytes."""
    with tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp") as made:
        yield Path(made)


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "hook.sock"


@contextmanager
def daemon(path: Path, behave: Behaviour) -> Iterator[None]:
    """Call `behave` with every connection, and close it."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    stopped = threading.Event()

    def serve() -> None:
        while True:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                if stopped.is_set():
                    return
                behave(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        with socket.socket(socket.AF_UNIX) as poke:
            poke.connect(str(path))
        thread.join(PATIENCE_SECONDS)
        listener.close()
        path.unlink()


def read_call(connection: socket.socket) -> tuple[bytes, bytes]:
    with connection.makefile("rb") as stream:
        head = stream.readline()
        return head, stream.read(int(head.split()[1]))


def replies(*parts: bytes) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        read_call(connection)
        for part in parts:
            connection.sendall(part)

    return behave


def in_parts(reply: bytes) -> list[bytes]:
    return [reply[n : n + 1] for n in range(len(reply))]


ANSWERS = [
    pytest.param(b"0 0\n", SILENT, id="pass"),
    pytest.param(b"1 %d\n%s" % (len(ALLOW), ALLOW), (0, ALLOW, b""), id="json"),
    pytest.param(b"2 3\nno\n", (2, b"", b"no\n"), id="block"),
    pytest.param(b"2 0\n", (2, b"", b""), id="block-without-words"),
]


@pytest.mark.parametrize("gate", [(), ("--enforce",)], ids=["assist", "enforce"])
@pytest.mark.parametrize(("reply", "output"), ANSWERS)
def test_the_answer_is_passed_on_word_for_word(
    path: Path, reply: bytes, output: tuple[int, bytes, bytes], gate: tuple[str, ...]
) -> None:
    with daemon(path, replies(reply)):
        assert run_hook("--socket", path, *gate).output == output


PRE_TOOL_USE = b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}'


def decided(decision: str, event: str = "PreToolUse") -> bytes:
    output = {"hookSpecificOutput": {"hookEventName": event, "permissionDecision": decision}}
    return json.dumps(output).encode()


@pytest.mark.parametrize("decision", ["allow", "deny", "ask"])
def test_an_enforced_decision_of_a_call_is_passed_on(path: Path, decision: str) -> None:
    answer = decided(decision)
    with daemon(path, replies(b"1 %d\n%s" % (len(answer), answer))):
        assert run_hook("--socket", path, "--enforce", stdin=PRE_TOOL_USE).output == (0, answer, b"")


NO_DECISIONS = {
    "not JSON": b"allow",
    "half": decided("deny")[:-1],
    "no object": b"[]",
    "of another event": decided("deny", "PermissionRequest"),
    "of another shape": b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","decision":{"behavior":"deny"}}}',
    "of another word": decided("denied"),
    "defer": decided("defer"),
    "silence in JSON": b"{}",
}


@pytest.mark.law("D2")
@pytest.mark.parametrize("answer", NO_DECISIONS.values(), ids=NO_DECISIONS)
def test_an_answer_without_a_decision_denies_when_enforced(path: Path, answer: bytes) -> None:
    with daemon(path, replies(b"1 %d\n%s" % (len(answer), answer))):
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce", stdin=PRE_TOOL_USE))


@pytest.mark.law("D2")
@pytest.mark.parametrize("event", [b"PermissionRequest", b"Stop"], ids=bytes.decode)
def test_an_answer_to_another_event_must_be_json_when_enforced(path: Path, event: bytes) -> None:
    with daemon(path, replies(b"1 5\nallow")):
        found = run_hook("--socket", path, "--enforce", stdin=b'{"hook_event_name":"%s"}' % event)
        assert denies_and_names_the_fix(found)


def test_an_answer_of_any_bytes_in_single_bytes_arrives_whole(path: Path) -> None:
    with daemon(path, replies(*in_parts(b"1 6\n\x00\xff\n\n\xe2\x82"))):
        assert run_hook("--socket", path).output == (0, b"\x00\xff\n\n\xe2\x82", b"")


WORDS = [
    pytest.param({}, b"- - -", id="none"),
    pytest.param(
        {"CLAUDE_CODE_ENTRYPOINT": "sdk-py", "CLAUDE_PID": "4321", "QUARTERDECK_TAG": "run:1_a.B"},
        b"sdk-py 4321 run:1_a.B",
        id="all",
    ),
    pytest.param({"CLAUDE_CODE_ENTRYPOINT": "", "CLAUDE_PID": "", "QUARTERDECK_TAG": ""}, b"- - -", id="empty"),
    pytest.param({"CLAUDE_PID": "12a", "QUARTERDECK_TAG": "a b"}, b"- - -", id="not-digits-and-a-blank"),
    pytest.param({"CLAUDE_PID": "-12", "QUARTERDECK_TAG": "a\nQDHOOK/1"}, b"- - -", id="a-line-of-its-own"),
    pytest.param({"CLAUDE_CODE_ENTRYPOINT": "cli", "QUARTERDECK_TAG": "é"}, b"cli - -", id="not-ascii"),
    pytest.param({"QUARTERDECK_SESSION_TAG": "e1"}, b"- - editor:e1", id="a-terminal-of-an-editor"),
    pytest.param({"RUNBOOK_SESSION_TAG": "e1"}, b"- - editor:e1", id="a-terminal-of-an-older-editor"),
    pytest.param({"RUNBOOK_SESSION_TAG": "e1", "QUARTERDECK_TAG": "t1"}, b"- - t1", id="owned-in-an-editor"),
    pytest.param({"QUARTERDECK_TAG": "t" * 128}, b"- - " + b"t" * 128, id="as-long-as-may-be"),
    pytest.param({"QUARTERDECK_TAG": "t" * 129}, b"- - -", id="too-long"),
]


@pytest.mark.parametrize("gate", ["assist", "enforce"])
@pytest.mark.parametrize(("env", "words"), WORDS)
def test_the_daemon_gets_the_caller_and_the_payload_unchanged(
    path: Path, env: dict[str, str], words: bytes, gate: str
) -> None:
    calls: list[tuple[bytes, bytes]] = []
    with daemon(path, lambda connection: calls.append(read_call(connection))):
        run_hook("--socket", path, *["--enforce"][: gate == "enforce"], env=env)
    [(head, payload)] = calls
    head, _, call_id = head.rpartition(b" ")
    assert (head, payload) == (b"QDHOOK/2 %d %s %s" % (len(PAYLOAD), gate.encode(), words), PAYLOAD)
    assert ID.fullmatch(call_id.decode().removesuffix("\n"))


def test_without_a_socket_argument_the_path_follows_from_the_home(folder: Path) -> None:
    (folder / "run").mkdir()
    with daemon(folder / "run" / "hook.sock", replies(b"1 2\n{}")):
        assert run_hook(env={"QUARTERDECK_HOME": str(folder)}).output == (0, b"{}", b"")


HOMES: list[dict[str, str]] = [
    {"HOME": "/h"},
    {},
    {"HOME": ""},
    {"HOME": "h"},
    {"HOME": "/h", "XDG_DATA_HOME": "/x"},
    {"HOME": "/h", "XDG_DATA_HOME": "x"},
    {"HOME": "/h", "XDG_DATA_HOME": ""},
    {"HOME": "/h", "XDG_DATA_HOME": "/x", "QUARTERDECK_HOME": "/q"},
    {"HOME": "/h", "QUARTERDECK_HOME": "~/q"},
    {"QUARTERDECK_HOME": "~"},
    {"HOME": "/h", "QUARTERDECK_HOME": ""},
    {"HOME": "/h/é", "XDG_DATA_HOME": "/x y"},
]
BOTH_SOCKETS = """
import json, os, sys
from quarterdeck.config.home import home_path
from quarterdeck.hook import default_socket
for env in json.loads(sys.argv[1]):
    os.environ.clear()
    os.environ.update(env)
    print(json.dumps([env, os.fsdecode(default_socket()), str(home_path() / "run" / "hook.sock")]))
"""


def test_the_default_socket_is_where_the_daemon_puts_it() -> None:
    run = [sys.executable, "-X", "utf8", "-c", BOTH_SOCKETS, json.dumps(HOMES)]
    env = {"PYTHONPATH": str(Path(HOOK).parents[1])}
    lines = subprocess.run(run, env=env, check=True, capture_output=True).stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert [(home, actual) for home, actual, _ in found] == [(home, expected) for home, _, expected in found]
    assert len({actual for _, actual, _ in found}) > 4


def test_it_can_be_called_from_python_and_never_returns(path: Path) -> None:
    script = "import sys; from quarterdeck.hook import main; main(sys.argv[1:]); print('returned')"
    run = [sys.executable, "-c", script, "--socket", str(path)]
    env = {"PYTHONPATH": str(Path(HOOK).parents[1])}
    with daemon(path, replies(b"1 2\n{}")):
        done = subprocess.run(run, env=env, input=PAYLOAD, capture_output=True, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")


def absent(path: Path) -> None:
    pass


def regular_file(path: Path) -> None:
    path.write_bytes(b"1 2\n{}")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def directory(path: Path) -> None:
    path.mkdir()


def left_behind(path: Path) -> None:
    """A socket whose daemon is dead."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


@pytest.mark.law("E8")
@pytest.mark.parametrize("found", [absent, regular_file, fifo, directory, left_behind, dangling])
def test_with_the_daemon_away_it_is_silent_and_fast(path: Path, found: Callable[[Path], None]) -> None:
    """Fast is: about as fast as a call that connects nowhere. The best of some tries, for the machine may be busy."""
    found(path)
    assert any(run_silently("--socket", path) < run_silently("--socket", "") + 0.25 for _ in range(TRIES))


def run_silently(*args: str | os.PathLike[str]) -> float:
    """The seconds that a silent call takes."""
    ran = run_hook(*args)
    assert ran.output == SILENT
    return ran.seconds


@pytest.mark.law("D2")
@pytest.mark.parametrize("found", [absent, regular_file, fifo, directory, left_behind, dangling])
def test_with_the_daemon_away_the_enforced_gate_denies(path: Path, found: Callable[[Path], None]) -> None:
    found(path)
    assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce"))


@pytest.mark.law("A2")
def test_a_symlink_to_a_living_socket_is_not_followed(path: Path) -> None:
    calls: list[socket.socket] = []
    link = path.with_name("link.sock")
    link.symlink_to(path)
    with daemon(path, calls.append):
        assert run_hook("--socket", link).output == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", link, "--enforce"))
    assert calls == []


@pytest.mark.law("A2")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a socket to another user")
def test_a_socket_of_another_user_is_not_used(path: Path) -> None:
    calls: list[socket.socket] = []
    with daemon(path, calls.append):
        os.chown(path, 54321, 54321)
        assert run_hook("--socket", path).output == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce"))
        os.chown(path, 0, 0)
    assert calls == []


@pytest.mark.law("E8")
@pytest.mark.parametrize("where", ["", "/tmp/" + "n" * 200, "/\x1b[31m\n\udcff"], ids=["empty", "too-long", "hostile"])
def test_a_path_that_cannot_be_a_socket_is_silence(where: str) -> None:
    assert run_hook("--socket", where).output == SILENT
    denied = run_hook("--socket", where, "--enforce")
    assert denies_and_names_the_fix(denied)
    assert b"\x1b" not in denied.err


@pytest.mark.law("E8")
def test_a_daemon_with_a_full_backlog_gets_a_quarter_of_a_second_or_what_is_left(path: Path, folder: Path) -> None:
    patient = changed(folder, "CONNECT_SECONDS = 0.25", f"CONNECT_SECONDS = {HANG_SECONDS}")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(0)
        queued = fill_backlog(path)
        ran = run_hook("--socket", path)
        is_fast = any(run_silently("--socket", path) < run_silently("--socket", "") + 0.5 for _ in range(TRIES))
        denied = run_hook("--socket", path, "--enforce")
        impatient = run_hook("--socket", path, "--wait", "0.1", hook=patient)
        for connection in queued:
            connection.close()
    assert ran.output == impatient.output == SILENT
    assert ran.seconds > 0.2
    assert is_fast
    assert denies_and_names_the_fix(denied)


def fill_backlog(path: Path) -> list[socket.socket]:
    queued = []
    with suppress(BlockingIOError):
        while True:
            queued.append(socket.socket(socket.AF_UNIX))
            queued[-1].setblocking(False)
            queued[-1].connect(str(path))
    return queued


MALFORMED = [
    b"",
    b"\n",
    b"1\n{}",
    b"1 \n{}",
    b"1 x\n{}",
    b"1 -2\n{}",
    b"1 +2\n{}",
    b"1 2_0\n{}",
    b"1  2\n{}",
    b"1 2 \n{}",
    b" 1 2\n{}",
    b"1 2\r\n{}",
    b"1 \xb2\n{}",
    b"01 2\n{}",
    b"3 2\n{}",
    b"-1 2\n{}",
    b"0 2\n{}",
    b"1 0\n",
    b"1 2\n{",
    b"1 2\n{}}",
    b"1 %d\n{}" % (LIMIT + 1),
    b"1 99999999999999999999999999\n{}",
    b'{"payload":{"action":"passthrough"}}\n',
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"1" * 100_000,
    b"1 00000000000002\n{}",
]
HOPELESS = [
    b"1 %d\n" % (LIMIT + 1),
    b"2 %d\n" % (LIMIT + 1),
    b"1 00000000000002",
    b"1 00000000000002\n{}",
    b"\n",
    b"0 1\n",
]


@pytest.mark.law("D2")
@pytest.mark.parametrize("reply", MALFORMED, ids=lambda reply: repr(reply[:24]))
def test_a_malformed_answer_is_silence_and_denies_when_enforced(path: Path, reply: bytes) -> None:
    with daemon(path, replies(reply)):
        assert run_hook("--socket", path).output == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce"))


@pytest.mark.law("D2")
@pytest.mark.parametrize("reply", HOPELESS, ids=repr)
def test_a_first_line_that_cannot_be_right_is_refused_at_once(reply: bytes) -> None:
    with pytest.raises(ValueError, match="malformed"):
        receive(in_pieces(reply))


@pytest.mark.law("D2")
def test_a_malformed_answer_ends_the_wait(path: Path) -> None:
    done = threading.Event()

    def behave(connection: socket.socket) -> None:
        replies(b"no newline comes")(connection)
        done.wait(HANG_SECONDS)

    with daemon(path, behave):
        ran = run_hook("--socket", path)
        done.set()
    assert ran.output == SILENT


@pytest.mark.law("D2")
def test_an_answer_cut_short_at_any_byte_is_never_half_printed(path: Path) -> None:
    whole = b'1 9\n{"a": 12}'
    cuts: Iterator[int] = iter(sorted([*range(len(whole))] * 2))
    with daemon(path, lambda connection: replies(whole[: next(cuts)])(connection)):
        for _ in range(len(whole)):
            assert run_hook("--socket", path).output == SILENT
            assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce"))


@pytest.mark.law("D2")
def test_an_answer_is_read_to_its_end_and_no_further(path: Path) -> None:
    done = threading.Event()

    def behave(connection: socket.socket) -> None:
        replies(b"2 3\nno\n")(connection)
        done.wait(HANG_SECONDS)

    with daemon(path, behave):
        ran = run_hook("--socket", path)
        done.set()
    assert ran.output == (2, b"", b"no\n")


@pytest.mark.law("D2")
@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_a_daemon_that_dies_during_the_call_is_silence(path: Path, size: int) -> None:
    with daemon(path, lambda connection: connection.recv(size, socket.MSG_WAITALL)):
        assert run_hook("--socket", path, stdin=b"p" * 1_000_000).output == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce", stdin=b"p" * 1_000_000))


@pytest.mark.law("D18")
def test_no_answer_within_the_wait_is_silence(path: Path) -> None:
    done = threading.Event()

    def behave(connection: socket.socket) -> None:
        read_call(connection)
        connection.sendall(b"1 2\n{")
        done.wait(HANG_SECONDS)

    with daemon(path, behave):
        ran = run_hook("--socket", path, "--wait", "0.2")
        done.set()
        done.clear()
        denied = run_hook("--socket", path, "--wait", "0.2", "--enforce")
        done.set()
    assert ran.output == SILENT
    assert ran.seconds > 0.2
    assert denies_and_names_the_fix(denied)


@pytest.mark.law("D18")
def test_the_wait_covers_a_payload_that_never_ends(path: Path) -> None:
    with subprocess.Popen(command("--wait", "0.2"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(PATIENCE_SECONDS) == 0


@pytest.mark.law("E15")
@pytest.mark.parametrize("size", [len(PAYLOAD), LARGE])
@pytest.mark.parametrize("sent", [b"", b"ac", b"1 2\n{"])
def test_a_daemon_that_hangs_is_given_up_on(path: Path, folder: Path, size: int, sent: bytes) -> None:
    """After two seconds, which `changed` reads in the forwarder itself; here after less."""
    hurried = changed(folder, "ACK_SECONDS = 2.0", "ACK_SECONDS = 0.2")
    done = threading.Event()

    def behave(connection: socket.socket) -> None:
        connection.sendall(sent)
        done.wait(HANG_SECONDS)
        done.clear()

    with daemon(path, behave):
        ran = run_hook("--socket", path, stdin=b"p" * size, hook=hurried)
        done.set()
        denied = run_hook("--socket", path, "--enforce", stdin=b"p" * size, hook=hurried)
        done.set()
    assert ran.output == SILENT
    assert denies_and_names_the_fix(denied)
    assert ran.seconds > 0.2


@pytest.mark.law("E15")
@pytest.mark.parametrize("gate", [(), ("--enforce",)], ids=["assist", "enforce"])
def test_after_a_call_that_was_given_up_on_the_next_ones_wait_less(path: Path, gate: tuple[str, ...]) -> None:
    seconds: list[float] = []

    def hang(connection: socket.socket) -> None:
        started = time.monotonic()
        while connection.recv(1 << 16):
            continue
        seconds.append(time.monotonic() - started)

    with daemon(path, hang):
        calls = [run_hook("--socket", path, *gate) for _ in range(3)]
    assert {call.code for call in calls} == ({2} if gate else {0})
    first, second, third = seconds
    assert first > second + 1
    assert first > third + 1


def test_a_daemon_that_answers_again_has_its_whole_time(path: Path) -> None:
    path.with_name("hook.sock.hangs").touch()
    with daemon(path, replies(b"0 0\n")):
        assert run_hook("--socket", path).output == SILENT
    assert not path.with_name("hook.sock.hangs").exists()
    with daemon(path, slowly(quarterdeck.hook.HUNG_ACK_SECONDS + 0.3, b"1 2\n{}")):
        assert run_hook("--socket", path).output == (0, b"{}", b"")


@pytest.mark.parametrize("age", [-3600, quarterdeck.hook.HUNG_SECONDS + 1], ids=["of the future", "old"])
def test_a_note_of_another_time_counts_for_nothing(path: Path, age: float) -> None:
    note = path.with_name("hook.sock.hangs")
    note.touch()
    os.utime(note, (time.time() - age,) * 2)
    with daemon(path, slowly(quarterdeck.hook.HUNG_ACK_SECONDS + 0.3, b"1 2\n{}")):
        assert run_hook("--socket", path).output == (0, b"{}", b"")


def slowly(seconds: float, answer: bytes) -> Behaviour:
    """Answer a call after this time."""

    def behave(connection: socket.socket) -> None:
        read_call(connection)
        threading.Event().wait(seconds)
        connection.sendall(answer)

    return behave


def test_a_call_that_is_held_is_waited_for(path: Path) -> None:
    with daemon(path, held_for(ACK_SECONDS + 0.5, b"1 2\n{}")):
        assert run_hook("--socket", path).output == (0, b"{}", b"")


def held_for(seconds: float, *parts: bytes) -> Behaviour:
    """Acknowledge a call, answer it after this time, and close."""

    def behave(connection: socket.socket) -> None:
        read_call(connection)
        connection.sendall(ACK)
        threading.Event().wait(seconds)
        for part in parts:
            connection.sendall(part)

    return behave


class Restarts:
    """A daemon that acknowledges each call and dies, until it answers; `calls` are the calls as they came."""

    def __init__(self, *lives: Behaviour) -> None:
        self.calls: list[tuple[bytes, bytes]] = []
        self._lives = iter(lives)

    def __call__(self, connection: socket.socket) -> None:
        self.calls.append(read_call(connection))
        next(self._lives)(connection)


def says(*parts: bytes) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)

    return behave


@pytest.mark.law("D11")
@pytest.mark.parametrize("cut", [b"", b"1 2", b"1 2\n{"])
def test_a_held_call_comes_back_with_the_same_id_until_it_is_answered(path: Path, cut: bytes) -> None:
    restarts = Restarts(says(ACK, cut), says(), says(b"garbage\n"), says(ACK), says(b"2 3\nno\n"))
    with daemon(path, restarts):
        assert run_hook("--socket", path, "--enforce").output == (2, b"", b"no\n")
    assert len(restarts.calls) == 5
    assert len(set(restarts.calls)) == 1


@pytest.mark.law("D11")
def test_a_held_call_finds_a_daemon_that_comes_later(path: Path) -> None:
    process = lost(path)
    with daemon(path, replies(b"1 2\n{}")):
        assert process.communicate(timeout=PATIENCE_SECONDS)[0] == b"{}"


@pytest.mark.law("E15")
@pytest.mark.parametrize("gate", [(), ("--enforce",)], ids=["assist", "enforce"])
def test_a_held_call_gives_its_safe_answer_when_no_daemon_comes_back(
    path: Path, folder: Path, gate: tuple[str, ...]
) -> None:
    impatient = changed(folder, "RETRY_SECONDS = 60.0", "RETRY_SECONDS = 1.0")
    process = lost(path, *gate, hook=impatient)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    ran = HookRun(process.returncode, out, err)
    assert denies_and_names_the_fix(ran) if gate else ran.output == SILENT


@pytest.mark.law("D18")
def test_a_held_call_that_comes_back_keeps_its_deadline(path: Path) -> None:
    with daemon(path, held_for(0.1)):
        ran = run_hook("--socket", path, "--wait", "2")
    assert ran.output == SILENT
    assert ran.seconds > 1.9


@pytest.mark.law("D8")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_held_call_that_has_lost_its_daemon_ends_on_a_signal(path: Path, number: signal.Signals) -> None:
    process = lost(path)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0


@pytest.mark.law("D8")
def test_a_held_call_that_has_lost_its_daemon_ends_with_its_reader(path: Path) -> None:
    near, far = socket.socketpair()
    with near, far:
        process = lost(path, stdout=far.fileno())
    process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0


def lost(path: Path, *args: str, hook: str | Path = HOOK, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """A call that was acknowledged by a daemon that is gone."""
    acknowledged = threading.Event()

    def behave(connection: socket.socket) -> None:
        read_call(connection)
        connection.sendall(ACK)
        acknowledged.set()

    argv = command("--socket", path, *args, hook=hook)
    with daemon(path, behave):
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(PAYLOAD)
        process.stdin.close()
        process.stdin = None
        assert acknowledged.wait(PATIENCE_SECONDS)
    return process


def older_daemon(calls: list[bytes], *answer: bytes) -> Behaviour:
    """A daemon of version 0.1: it takes an unknown first line for JSON."""

    def behave(connection: socket.socket) -> None:
        with connection.makefile("rb") as stream:
            head = stream.readline()
            calls.append(head)
            if not head.startswith(b"QDHOOK/1 "):
                connection.sendall(
                    b'{"request_id":"","ts":1.0,"payload":{"action":"passthrough"},"error":"not JSON"}\n'
                )
                return
            stream.read(int(head.split()[1]))
            for part in answer:
                connection.sendall(part)

    return behave


@pytest.mark.law("D2")
def test_an_older_daemon_is_spoken_to_in_its_own_protocol(path: Path) -> None:
    calls: list[bytes] = []
    with daemon(path, older_daemon(calls, b"1 2\n{}")):
        assert run_hook("--socket", path).output == (0, b"{}", b"")
    assert calls[1] == b"QDHOOK/1 %d assist - - -\n" % len(PAYLOAD)
    with daemon(path, older_daemon(calls, b"1 2\n{")):
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce"))


@pytest.mark.law("D18")
def test_the_wait_covers_a_daemon_that_stops_reading(path: Path) -> None:
    done = threading.Event()
    with daemon(path, lambda _: done.wait(HANG_SECONDS)):
        ran = run_hook("--socket", path, "--wait", "0.5", stdin=b"p" * LARGE)
        done.set()
    assert ran.output == SILENT


def test_a_daemon_that_is_slow_to_read_and_to_answer_is_waited_for(path: Path) -> None:
    later = threading.Event()

    def behave(connection: socket.socket) -> None:
        connection.sendall(ACK)
        later.wait(max(ACK_SECONDS, quarterdeck.hook.TICK_SECONDS) + 0.2)
        _, payload = read_call(connection)
        connection.sendall(b"1 8\n%08d" % len(payload))

    with daemon(path, behave):
        ran = run_hook("--socket", path, "--wait", str(PATIENCE_SECONDS), stdin=b"p" * LARGE)
    assert ran.output == (0, b"%08d" % LARGE, b"")


def test_the_waits_of_daemon_client_and_hook_nest() -> None:
    assert quarterdeck.hook.WAIT_SECONDS == 86400 + 10


WRONG = [
    ["--socket"],
    ["--wait"],
    ["--wait", "soon"],
    ["--wait", "0"],
    ["--wait", "-1"],
    ["--wait", "nan"],
    ["--wait", "inf"],
    ["--verbose"],
    ["extra"],
    ["--socket=/x"],
    ["--enforced"],
    ["\udcff"],
]


@pytest.mark.law("D2")
@pytest.mark.parametrize("args", WRONG, ids=ascii)
def test_wrong_arguments_are_silence_and_deny_when_enforced(path: Path, args: list[str]) -> None:
    with daemon(path, replies(b"1 2\n{}")):
        assert run_hook("--socket", path, *args).output == SILENT
        assert denies_and_names_the_fix(run_hook("--enforce", "--socket", path, *args))


@pytest.mark.law("D2")
@pytest.mark.parametrize("payload", [b"", b"p" * (LIMIT + 1)], ids=["empty", "over-the-limit"])
def test_an_invalid_payload_is_not_sent(path: Path, payload: bytes) -> None:
    calls: list[socket.socket] = []
    with daemon(path, calls.append):
        assert run_hook("--socket", path, stdin=payload).output == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce", stdin=payload))
    assert calls == []


def test_a_large_payload_arrives_whole(path: Path) -> None:
    payload = os.urandom(LARGE)
    calls: list[bytes] = []

    def behave(connection: socket.socket) -> None:
        calls.append(read_call(connection)[1])
        connection.sendall(b"1 2\n{}")

    with daemon(path, behave):
        assert run_hook("--socket", path, stdin=payload).output == (0, b"{}", b"")
    assert calls == [payload]


@pytest.mark.parametrize("size", [2, 8 << 20])
def test_a_daemon_that_answers_before_it_reads_does_not_deadlock(path: Path, size: int) -> None:
    answer = os.urandom(size)
    with daemon(path, lambda connection: connection.sendall(b"1 %d\n%s" % (size, answer))):
        assert run_hook("--socket", path, stdin=b"p" * LARGE).output == (0, answer, b"")


def test_a_full_pipe_and_a_signal_do_not_cut_the_output(path: Path) -> None:
    reader, writer = os.pipe()
    filling = fill_pipe(writer)
    answer = os.urandom(1 << 20)
    with daemon(path, replies(b"1 %d\n%s" % (len(answer), answer))), open(reader, "rb") as printed:
        with subprocess.Popen(command("--socket", path), stdin=subprocess.PIPE, stdout=writer) as process:
            os.close(writer)
            assert process.stdin is not None
            process.stdin.write(PAYLOAD)
            process.stdin.close()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.terminate()
            assert printed.read() == filling + answer
        assert process.returncode == 0


def fill_pipe(writer: int) -> bytes:
    """Leave the pipe full and set not to block, as its owner may have it."""
    os.set_blocking(writer, False)
    written = 0
    with suppress(BlockingIOError):
        while True:
            written += os.write(writer, b"f" * 4096)
    return b"f" * written


CLOSED = [
    pytest.param('exec <&- "$@"', (0, b"", b""), True, id="stdin"),
    pytest.param('exec >&- "$@"', (0, b"", b""), True, id="stdout"),
    pytest.param('exec <&- >&- 2>&- "$@"', (0, b"", b""), False, id="all"),
]


@pytest.mark.law("D2")
@pytest.mark.parametrize(("shell", "output", "explains"), CLOSED)
def test_closed_descriptors_are_silence_and_deny_when_enforced(
    path: Path, shell: str, output: tuple[int, bytes, bytes], explains: bool
) -> None:
    wrap = ["sh", "-c", shell, "sh"]

    def behave(connection: socket.socket) -> None:
        """Answers early, so that the socket is still open when the answer is printed: a closed stdout is its number."""
        connection.sendall(b"1 2\n{}")
        while connection.recv(1 << 16):
            pass

    with daemon(path, behave):
        assert run_hook("--socket", path, wrap=wrap, stdin=b"p" * LARGE).output == output
        denied = run_hook("--socket", path, "--enforce", wrap=wrap, stdin=b"p" * LARGE)
    assert (denied.code, denied.err.endswith(FIX)) == (2, explains)


@pytest.mark.law("D2")
def test_a_reader_that_went_away_is_silence_and_denies_when_enforced(path: Path) -> None:
    with daemon(path, replies(b"1 2\n{}")):
        assert run_into_a_broken_pipe("--socket", path) == (0, b"")
        code, err = run_into_a_broken_pipe("--socket", path, "--enforce")
    assert code == 2
    assert err.endswith(FIX)


def run_into_a_broken_pipe(*args: str | os.PathLike[str]) -> tuple[int, bytes]:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            command(*args), input=PAYLOAD, stdout=writer, stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.law("D2")
def test_a_block_blocks_when_stderr_is_closed(path: Path) -> None:
    wrap = ["sh", "-c", 'exec 2>/dev/full "$@"', "sh"]
    with daemon(path, replies(b"2 3\nno\n")):
        assert run_hook("--socket", path, wrap=wrap).output == (2, b"", b"")


@pytest.mark.law("D2")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM])
def test_a_signal_while_it_waits_is_silence_and_denies_when_enforced(path: Path, number: signal.Signals) -> None:
    assert interrupted(path, number).output == SILENT
    assert denies_and_names_the_fix(interrupted(path, number, "--enforce"))


@pytest.mark.law("D2")
def test_a_signal_while_it_sends_is_silence(path: Path) -> None:
    assert interrupted(path, signal.SIGTERM, reads=1).output == SILENT


@pytest.mark.law("D2")
@pytest.mark.skipif(sys.platform != "linux", reason="a single thread can be signalled on Linux only")
def test_a_signal_to_the_thread_that_sends_is_silence(path: Path) -> None:
    def newest_thread(pid: int) -> int:
        return max(map(int, os.listdir(f"/proc/{pid}/task")))

    assert interrupted(path, signal.SIGTERM, reads=1, thread=newest_thread).output == SILENT


def interrupted(
    path: Path, number: signal.Signals, *args: str, reads: int = LARGE, thread: Callable[[int], int] = int
) -> HookRun:
    """Send it a signal when the daemon has read that many bytes; an unread rest keeps it sending."""
    calls, done = threading.Event(), threading.Event()

    def behave(connection: socket.socket) -> None:
        connection.recv(reads, socket.MSG_WAITALL)
        calls.set()
        done.wait(HANG_SECONDS)

    pipe = subprocess.PIPE
    with (
        daemon(path, behave),
        subprocess.Popen(command("--socket", path, *args), stdin=pipe, stdout=pipe, stderr=pipe) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(b"p" * LARGE)
        process.stdin.close()
        process.stdin = None
        assert calls.wait(PATIENCE_SECONDS)
        os.kill(thread(process.pid), number)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        done.set()
    return HookRun(process.returncode, out, err)


REPLIES = st.builds(
    lambda code, size, end, body: code + b" " + size + end + body,
    st.sampled_from([b"0", b"1", b"2", b"3", b"", b"00"]),
    st.one_of(st.integers(-1, 12).map(b"%d".__mod__), st.binary(max_size=3)),
    st.sampled_from([b"\n", b"", b"\r\n"]),
    st.binary(max_size=12),
)


@pytest.mark.law("D2")
@given(st.one_of(st.binary(max_size=40), REPLIES))
def test_bytes_are_an_answer_or_an_error(reply: bytes) -> None:
    try:
        found = receive(in_pieces(reply))
    except ValueError:
        assert not is_answer(reply)
    else:
        assert is_answer(reply)
        assert reply.endswith(found[1])
        assert reply.startswith(found[0] + b" ")


def is_answer(reply: bytes) -> bool:
    """The wire format, written a second way."""
    match = re.fullmatch(rb"(0 0+|1 0*[1-9][0-9]*|2 [0-9]+)\n(.*)", reply, re.DOTALL)
    return match is not None and int(match[1].split()[1]) == len(match[2]) and len(match[1]) < 16


@given(st.sampled_from([b"1", b"2"]), st.binary(min_size=1, max_size=200), st.lists(st.integers(1, 20)))
def test_an_answer_is_the_same_in_whatever_pieces_it_comes(code: bytes, body: bytes, sizes: list[int]) -> None:
    rest = b"%s %d\n%s" % (code, len(body), body)
    chunks = []
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]
    assert receive(in_pieces(*(chunk for chunk in [*chunks, rest] if chunk))) == (code, body)


class PiecesOfAnAnswer:
    """A connection that returns these pieces, then nothing."""

    def __init__(self, pieces: tuple[bytes, ...]) -> None:
        self._pieces = iter(pieces)

    def settimeout(self, seconds: float) -> None:
        pass

    def recv(self, size: int) -> bytes:
        return next(self._pieces, b"")


def in_pieces(*pieces: bytes) -> socket.socket:
    return cast(socket.socket, PiecesOfAnAnswer(pieces))


@pytest.mark.parametrize("acks", [b"", b"ack\n", b"ack\nack\n"])
def test_an_answer_split_in_two_at_every_byte_is_the_same(acks: bytes) -> None:
    reply = acks + b"1 12\n" + b"ack\n" * 3
    for cut in range(1, len(reply)):
        assert receive(in_pieces(reply[:cut], reply[cut:])) == (b"1", b"ack\n" * 3)


@pytest.mark.law("E8")
def test_a_copy_of_the_file_alone_works(folder: Path, path: Path) -> None:
    alone = shutil.copy(HOOK, folder / "hook.py")
    with daemon(path, replies(b"1 2\n{}")):
        run = [sys.executable, "-I", "-S", alone, "--socket", path]
        assert (
            subprocess.run(run, input=PAYLOAD, capture_output=True, timeout=PATIENCE_SECONDS, cwd="/").stdout == b"{}"
        )
