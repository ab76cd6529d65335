"""The forwarder: what the daemon says reaches Claude Code word for word, and every failure is silence."""

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

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quarterdeck.hook
from quarterdeck.hook import LIMIT, receive

HOOK = str(Path(quarterdeck.hook.__file__).resolve())
PAYLOAD = b'{"hook_event_name":"PermissionRequest","tool_name":"Bash"}'
ALLOW = b'{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}'
FIX = b"start it with: quarterdeck daemon, or remove the gate with: quarterdeck uninstall\n"
LARGE = 20 << 20

Behaviour = Callable[[socket.socket], object]


@dataclass(frozen=True)
class Ran:
    code: int
    out: bytes
    err: bytes
    seconds: float = 0.0

    @property
    def said(self) -> tuple[int, bytes, bytes]:
        return self.code, self.out, self.err


SILENT = (0, b"", b"")


def command(*args: str | os.PathLike[str]) -> list[str]:
    return [sys.executable, "-I", "-S", HOOK, *(os.fspath(arg) for arg in args)]


def run_hook(
    *args: str | os.PathLike[str],
    stdin: bytes = PAYLOAD,
    env: Mapping[str, str] | None = None,
    wrap: Sequence[str] = (),
) -> Ran:
    started = time.monotonic()
    done = subprocess.run([*wrap, *command(*args)], input=stdin, env=env, capture_output=True, timeout=30)
    return Ran(done.returncode, done.stdout, done.stderr, time.monotonic() - started)


def denies_and_names_the_fix(ran: Ran) -> bool:
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
    """Does `behave` with every connection, and closes it."""
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
        thread.join(10)
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
@pytest.mark.parametrize(("reply", "said"), ANSWERS)
def test_the_answer_is_passed_on_word_for_word(
    path: Path, reply: bytes, said: tuple[int, bytes, bytes], gate: tuple[str, ...]
) -> None:
    with daemon(path, replies(reply)):
        assert run_hook("--socket", path, *gate).said == said


PRE_TOOL_USE = b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}'


def decided(decision: str, event: str = "PreToolUse") -> bytes:
    said = {"hookSpecificOutput": {"hookEventName": event, "permissionDecision": decision}}
    return json.dumps(said).encode()


@pytest.mark.parametrize("decision", ["allow", "deny", "ask"])
def test_an_enforced_decision_of_a_call_is_passed_on(path: Path, decision: str) -> None:
    answer = decided(decision)
    with daemon(path, replies(b"1 %d\n%s" % (len(answer), answer))):
        assert run_hook("--socket", path, "--enforce", stdin=PRE_TOOL_USE).said == (0, answer, b"")


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
def test_what_would_let_a_call_run_without_a_decision_denies_when_enforced(path: Path, answer: bytes) -> None:
    with daemon(path, replies(b"1 %d\n%s" % (len(answer), answer))):
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce", stdin=PRE_TOOL_USE))


def test_an_answer_of_any_bytes_in_single_bytes_arrives_whole(path: Path) -> None:
    with daemon(path, replies(*in_parts(b"1 6\n\x00\xff\n\n\xe2\x82"))):
        assert run_hook("--socket", path).said == (0, b"\x00\xff\n\n\xe2\x82", b"")


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
    pytest.param({"QUARTERDECK_TAG": "t" * 128}, b"- - " + b"t" * 128, id="as-long-as-may-be"),
    pytest.param({"QUARTERDECK_TAG": "t" * 129}, b"- - -", id="too-long"),
]


@pytest.mark.parametrize("gate", ["assist", "enforce"])
@pytest.mark.parametrize(("env", "words"), WORDS)
def test_the_daemon_hears_who_calls_and_the_payload_unchanged(
    path: Path, env: dict[str, str], words: bytes, gate: str
) -> None:
    heard: list[tuple[bytes, bytes]] = []
    with daemon(path, lambda connection: heard.append(read_call(connection))):
        run_hook("--socket", path, *["--enforce"][: gate == "enforce"], env=env)
    assert heard == [(b"QDHOOK/1 %d %s %s\n" % (len(PAYLOAD), gate.encode(), words), PAYLOAD)]


def test_without_a_socket_argument_the_home_says_where_it_is(folder: Path) -> None:
    (folder / "run").mkdir()
    with daemon(folder / "run" / "hook.sock", replies(b"1 2\n{}")):
        assert run_hook(env={"QUARTERDECK_HOME": str(folder)}).said == (0, b"{}", b"")


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
from quarterdeck.config import home_path
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
    assert [(home, ours) for home, ours, _ in found] == [(home, theirs) for home, _, theirs in found]
    assert len({ours for _, ours, _ in found}) > 4


def test_it_can_be_called_from_python_and_never_returns(path: Path) -> None:
    script = "import sys; from quarterdeck.hook import main; main(sys.argv[1:]); print('returned')"
    run = [sys.executable, "-c", script, "--socket", str(path)]
    env = {"PYTHONPATH": str(Path(HOOK).parents[1])}
    with daemon(path, replies(b"1 2\n{}")):
        done = subprocess.run(run, env=env, input=PAYLOAD, capture_output=True, timeout=30)
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
    found(path)
    runs = [run_hook("--socket", path) for _ in range(3)]
    assert {ran.said for ran in runs} == {SILENT}
    assert min(ran.seconds for ran in runs) < 0.25


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
        assert run_hook("--socket", link).said == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", link, "--enforce"))
    assert calls == []


@pytest.mark.law("A2")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a socket to another user")
def test_a_socket_of_another_user_is_not_spoken_to(path: Path) -> None:
    calls: list[socket.socket] = []
    with daemon(path, calls.append):
        os.chown(path, 54321, 54321)
        assert run_hook("--socket", path).said == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce"))
        os.chown(path, 0, 0)
    assert calls == []


@pytest.mark.law("E8")
@pytest.mark.parametrize("where", ["", "/tmp/" + "n" * 200, "/\x1b[31m\n\udcff"], ids=["empty", "too-long", "hostile"])
def test_a_path_that_cannot_be_a_socket_is_silence(where: str) -> None:
    assert run_hook("--socket", where).said == SILENT
    denied = run_hook("--socket", where, "--enforce")
    assert denies_and_names_the_fix(denied)
    assert b"\x1b" not in denied.err


@pytest.mark.law("E8")
def test_a_daemon_with_a_full_backlog_is_given_one_second(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(0)
        queued = fill_backlog(path)
        ran = run_hook("--socket", path)
        denied = run_hook("--socket", path, "--enforce")
        impatient = run_hook("--socket", path, "--wait", "0.1")
        for connection in queued:
            connection.close()
    assert ran.said == impatient.said == SILENT
    assert ran.seconds < 2.0
    assert impatient.seconds < 1.0
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
        assert run_hook("--socket", path).said == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce"))


@pytest.mark.law("D2")
@pytest.mark.parametrize("reply", HOPELESS, ids=repr)
def test_a_first_line_that_cannot_be_right_is_refused_at_once(reply: bytes) -> None:
    chunks = iter([reply])
    with pytest.raises(ValueError, match="malformed"):
        receive(lambda _: next(chunks, b""))


@pytest.mark.law("D2")
def test_an_answer_that_cannot_become_one_is_not_waited_for(path: Path) -> None:
    done = threading.Event()

    def behave(connection: socket.socket) -> None:
        replies(b"no newline comes")(connection)
        done.wait(20)

    with daemon(path, behave):
        ran = run_hook("--socket", path)
        done.set()
    assert ran.said == SILENT
    assert ran.seconds < 5


@pytest.mark.law("D2")
def test_an_answer_cut_short_at_any_byte_is_never_half_printed(path: Path) -> None:
    whole = b'1 9\n{"a": 12}'
    cuts: Iterator[int] = iter(sorted([*range(len(whole))] * 2))
    with daemon(path, lambda connection: replies(whole[: next(cuts)])(connection)):
        for _ in range(len(whole)):
            assert run_hook("--socket", path).said == SILENT
            assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce"))


@pytest.mark.law("D2")
def test_an_answer_is_read_to_its_end_and_no_further(path: Path) -> None:
    done = threading.Event()

    def behave(connection: socket.socket) -> None:
        replies(b"2 3\nno\n")(connection)
        done.wait(20)

    with daemon(path, behave):
        ran = run_hook("--socket", path)
        done.set()
    assert ran.said == (2, b"", b"no\n")
    assert ran.seconds < 5


@pytest.mark.law("D2")
@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_a_daemon_that_dies_while_it_is_spoken_to_is_silence(path: Path, size: int) -> None:
    with daemon(path, lambda connection: connection.recv(size, socket.MSG_WAITALL)):
        assert run_hook("--socket", path, stdin=b"p" * 1_000_000).said == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce", stdin=b"p" * 1_000_000))


@pytest.mark.law("D18")
def test_no_answer_within_the_wait_is_silence(path: Path) -> None:
    done = threading.Event()

    def behave(connection: socket.socket) -> None:
        read_call(connection)
        connection.sendall(b"1 2\n{")
        done.wait(20)

    with daemon(path, behave):
        ran = run_hook("--socket", path, "--wait", "0.2")
        done.set()
        done.clear()
        denied = run_hook("--socket", path, "--wait", "0.2", "--enforce")
        done.set()
    assert ran.said == SILENT
    assert 0.2 < ran.seconds < 2.0
    assert denies_and_names_the_fix(denied)


@pytest.mark.law("D18")
def test_the_wait_covers_a_payload_that_never_ends(path: Path) -> None:
    with subprocess.Popen(command("--wait", "0.2"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(10) == 0


@pytest.mark.law("D18")
def test_the_wait_covers_a_daemon_that_stops_reading(path: Path) -> None:
    done = threading.Event()
    with daemon(path, lambda _: done.wait(20)):
        ran = run_hook("--socket", path, "--wait", "0.5", stdin=b"p" * LARGE)
        done.set()
    assert ran.said == SILENT


def test_a_daemon_that_is_slow_to_read_and_to_answer_is_waited_for(path: Path) -> None:
    later = threading.Event()

    def behave(connection: socket.socket) -> None:
        later.wait(max(quarterdeck.hook.CONNECT_SECONDS, quarterdeck.hook.TICK_SECONDS) + 0.2)
        _, payload = read_call(connection)
        connection.sendall(b"1 8\n%08d" % len(payload))

    with daemon(path, behave):
        ran = run_hook("--socket", path, "--wait", "20", stdin=b"p" * LARGE)
    assert ran.said == (0, b"%08d" % LARGE, b"")


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
        assert run_hook("--socket", path, *args).said == SILENT
        assert denies_and_names_the_fix(run_hook("--enforce", "--socket", path, *args))


@pytest.mark.law("D2")
@pytest.mark.parametrize("payload", [b"", b"p" * (LIMIT + 1)], ids=["empty", "over-the-limit"])
def test_a_payload_that_is_none_is_not_sent(path: Path, payload: bytes) -> None:
    calls: list[socket.socket] = []
    with daemon(path, calls.append):
        assert run_hook("--socket", path, stdin=payload).said == SILENT
        assert denies_and_names_the_fix(run_hook("--socket", path, "--enforce", stdin=payload))
    assert calls == []


def test_a_large_payload_arrives_whole(path: Path) -> None:
    payload = os.urandom(LARGE)
    heard: list[bytes] = []

    def behave(connection: socket.socket) -> None:
        heard.append(read_call(connection)[1])
        connection.sendall(b"1 2\n{}")

    with daemon(path, behave):
        assert run_hook("--socket", path, stdin=payload).said == (0, b"{}", b"")
    assert heard == [payload]


@pytest.mark.parametrize("size", [2, 8 << 20])
def test_a_daemon_that_answers_before_it_reads_does_not_deadlock(path: Path, size: int) -> None:
    answer = os.urandom(size)
    with daemon(path, lambda connection: connection.sendall(b"1 %d\n%s" % (size, answer))):
        assert run_hook("--socket", path, stdin=b"p" * LARGE).said == (0, answer, b"")


def test_a_full_pipe_and_a_signal_do_not_cut_what_is_being_printed(path: Path) -> None:
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
    """Leaves the pipe full and set not to block, as its owner may have it."""
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
@pytest.mark.parametrize(("shell", "said", "explains"), CLOSED)
def test_closed_descriptors_are_silence_and_deny_when_enforced(
    path: Path, shell: str, said: tuple[int, bytes, bytes], explains: bool
) -> None:
    wrap = ["sh", "-c", shell, "sh"]

    def behave(connection: socket.socket) -> None:
        """Answers early, so that the socket is still open when the answer is printed: a closed stdout is its number."""
        connection.sendall(b"1 2\n{}")
        while connection.recv(1 << 16):
            pass

    with daemon(path, behave):
        assert run_hook("--socket", path, wrap=wrap, stdin=b"p" * LARGE).said == said
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
        done = subprocess.run(command(*args), input=PAYLOAD, stdout=writer, stderr=subprocess.PIPE, timeout=30)
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.law("D2")
def test_a_block_blocks_though_nobody_reads_why(path: Path) -> None:
    wrap = ["sh", "-c", 'exec 2>/dev/full "$@"', "sh"]
    with daemon(path, replies(b"2 3\nno\n")):
        assert run_hook("--socket", path, wrap=wrap).said == (2, b"", b"")


@pytest.mark.law("D2")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM])
def test_a_signal_while_it_waits_is_silence_and_denies_when_enforced(path: Path, number: signal.Signals) -> None:
    assert interrupted(path, number).said == SILENT
    assert denies_and_names_the_fix(interrupted(path, number, "--enforce"))


@pytest.mark.law("D2")
def test_a_signal_while_it_sends_is_silence(path: Path) -> None:
    assert interrupted(path, signal.SIGTERM, reads=1).said == SILENT


@pytest.mark.law("D2")
@pytest.mark.skipif(sys.platform != "linux", reason="a single thread can be signalled on Linux only")
def test_a_signal_to_the_thread_that_sends_is_silence(path: Path) -> None:
    def newest_thread(pid: int) -> int:
        return max(map(int, os.listdir(f"/proc/{pid}/task")))

    assert interrupted(path, signal.SIGTERM, reads=1, thread=newest_thread).said == SILENT


def interrupted(
    path: Path, number: signal.Signals, *args: str, reads: int = LARGE, thread: Callable[[int], int] = int
) -> Ran:
    """Signals it when the daemon has read that many bytes; an unread rest keeps it sending."""
    heard, done = threading.Event(), threading.Event()

    def behave(connection: socket.socket) -> None:
        connection.recv(reads, socket.MSG_WAITALL)
        heard.set()
        done.wait(20)

    pipe = subprocess.PIPE
    with (
        daemon(path, behave),
        subprocess.Popen(command("--socket", path, *args), stdin=pipe, stdout=pipe, stderr=pipe) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(b"p" * LARGE)
        process.stdin.close()
        process.stdin = None
        assert heard.wait(20)
        os.kill(thread(process.pid), number)
        out, err = process.communicate(timeout=20)
        done.set()
    return Ran(process.returncode, out, err)


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
    chunks = iter([reply])
    try:
        found = receive(lambda _: next(chunks, b""))
    except ValueError:
        assert not is_answer(reply)
    else:
        assert is_answer(reply)
        assert reply.endswith(found[1])
        assert reply.startswith(found[0] + b" ")


def is_answer(reply: bytes) -> bool:
    """The wire format, said a second way."""
    match = re.fullmatch(rb"(0 0+|1 0*[1-9][0-9]*|2 [0-9]+)\n(.*)", reply, re.DOTALL)
    return match is not None and int(match[1].split()[1]) == len(match[2]) and len(match[1]) < 16


@given(st.sampled_from([b"1", b"2"]), st.binary(min_size=1, max_size=200), st.lists(st.integers(1, 20)))
def test_an_answer_is_the_same_in_whatever_pieces_it_comes(code: bytes, body: bytes, sizes: list[int]) -> None:
    rest = b"%s %d\n%s" % (code, len(body), body)
    chunks = []
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]
    pieces = iter([chunk for chunk in [*chunks, rest] if chunk])
    assert receive(lambda _: next(pieces, b"")) == (code, body)


def in_pieces(*pieces: bytes) -> Callable[[int], bytes]:
    """A connection that gives these, then nothing."""
    left = iter(pieces)
    return lambda _: next(left, b"")


def test_an_answer_split_in_two_at_every_byte_is_the_same() -> None:
    reply = b"1 12\n" + b"x" * 12
    for cut in range(1, len(reply)):
        assert receive(in_pieces(reply[:cut], reply[cut:])) == (b"1", b"x" * 12)


@pytest.mark.law("E8")
def test_a_copy_of_the_file_alone_works(folder: Path, path: Path) -> None:
    alone = shutil.copy(HOOK, folder / "hook.py")
    with daemon(path, replies(b"1 2\n{}")):
        run = [sys.executable, "-I", "-S", alone, "--socket", path]
        assert subprocess.run(run, input=PAYLOAD, capture_output=True, timeout=30, cwd="/").stdout == b"{}"
