"""Claude Code's command hook: sends one payload from stdin to the daemon's socket and prints the answer.

Every failure is silence (exit 0, nothing printed); with --enforce it is exit 2 and one line on stderr. A call that the
daemon does not acknowledge within two seconds has failed; one that it acknowledged waits through a restart of the
daemon. It runs as `python -I -S hook.py`, where start-up is the cost, so it loads nothing but `_socket` and parses no
JSON but a decision that it enforces.
"""

import _signal  # type: ignore[import-not-found] # a part of CPython that has no stubs
import _thread
import posix
import sys
from time import monotonic, sleep, time

TYPE_CHECKING = False  # importing typing would cost more than all the rest
if TYPE_CHECKING:
    from _socket import socket
    from typing import Never

LIMIT = 32 << 20  # bytes of a payload, and of an answer
HEAD_LIMIT = 16  # the longest first line of an answer is `1 33554432`
SMALL = 4096  # fits every system's socket buffer: sending it never blocks
WAIT_SECONDS = 86410.0  # the daemon waits 10 s less, Claude Code 10 s more
CONNECT_SECONDS = 0.25  # the backlog is full once a daemon has hung for a thousand calls: give up on each at once
ACK_SECONDS = 2.0  # from the attempt to connect: a daemon that hangs is given up on
HUNG_ACK_SECONDS = 0.5  # the same while it is known to hang, as one tool call makes several calls
HUNG_SECONDS = 15.0  # how long a call that was given up on says so
RETRY_SECONDS = 60.0  # how long an acknowledged call tries to come back after its connection was lost
RETRY_PAUSE = 0.5
ACK = b"ack\n"  # comes before the answer of a call that is held, and may come again
TICK_SECONDS = 0.5  # a signal right before a system call does not interrupt it, but is handled after this time
PASS, PRINT, BLOCK = b"0", b"1", b"2"
EDITOR_TAGS = (b"QUARTERDECK_SESSION_TAG", b"RUNBOOK_SESSION_TAG")
SAFE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-"
SIGNALS = (_signal.SIGALRM, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)


def main(argv: list[str]) -> "Never":
    enforce = "--enforce" in argv
    try:
        for signal in SIGNALS:
            _signal.signal(signal, lambda *_: give_up(enforce, "interrupted, or no answer in time"))
        socket_path, wait_seconds = read_arguments(argv)
        alarm(wait_seconds)
        payload = read_payload()
        code, answer = ask(socket_path, payload, enforce)
        if enforce and code == PRINT:
            check_decision(payload, answer)
        for signal in SIGNALS:
            _signal.signal(signal, _signal.SIG_IGN)  # or it could leave the answer half-printed
        if code == PRINT:
            write(1, answer)
    except BaseException as error:
        give_up(enforce, ascii(str(error) or type(error).__name__)[1:-1])
    if code == BLOCK:
        block(answer)
    posix._exit(0)


def alarm(seconds: float) -> None:
    _signal.setitimer(_signal.ITIMER_REAL, seconds, TICK_SECONDS)


def check_decision(payload: bytes, answer: bytes) -> None:
    """Raise unless the answer to a tool call decides it: any other output of a hook lets the tool run."""
    import json  # costs some milliseconds, but only where a rule or a person has decided

    call, reply = json.loads(payload), json.loads(answer)  # both, so that an answer that is no JSON fails for any event
    if call["hook_event_name"] != "PreToolUse":
        return
    decision = reply["hookSpecificOutput"]
    if decision["hookEventName"] != "PreToolUse" or decision["permissionDecision"] not in ("allow", "deny", "ask"):
        raise ValueError("the answer decides no tool call")


def give_up(enforce: bool, reason: str) -> "Never":
    if enforce:
        fix = "start it with: quarterdeck daemon, or remove the gate with: quarterdeck uninstall"
        block(f"Quarterdeck cannot be reached ({reason}); {fix}\n".encode())
    posix._exit(0)


def block(message: bytes) -> "Never":
    """Exit with 2 even when stderr is gone: the code is the answer, the message explains it."""
    try:
        write(2, message)
    finally:
        posix._exit(2)


def write(fd: int, content: bytes) -> None:
    posix.set_blocking(fd, True)
    rest = memoryview(content)
    while rest:
        rest = rest[posix.write(fd, rest) :]


def read_arguments(argv: list[str]) -> tuple[str | bytes, float]:
    socket_path, wait_seconds = None, WAIT_SECONDS
    words = iter(argv)
    for word in words:
        if word == "--socket":
            socket_path = next(words)
        elif word == "--wait":
            wait_seconds = float(next(words))
        elif word != "--enforce":
            raise ValueError(f"unknown argument {word}")
    if not 0 < wait_seconds < 1e8:
        raise ValueError(f"--wait {wait_seconds} must be a number of seconds")
    return default_socket() if socket_path is None else socket_path, wait_seconds


def default_socket() -> bytes:
    """The path of the socket in the daemon's home, by the rules of platformdirs."""
    env = posix.environ
    user, data, home = env.get(b"HOME", b""), env.get(b"XDG_DATA_HOME", b""), env.get(b"QUARTERDECK_HOME", b"")
    if not user.startswith(b"/"):
        import pwd

        user = pwd.getpwuid(posix.getuid()).pw_dir.encode(sys.getfilesystemencoding(), "surrogateescape")
    if not data.startswith(b"/"):
        data = user + (b"/Library/Application Support" if sys.platform == "darwin" else b"/.local/share")
    if home == b"~" or home.startswith(b"~/"):
        home = user + home[1:]
    return (home or data + b"/quarterdeck") + b"/run/hook.sock"


def read_payload() -> bytes:
    posix.set_blocking(0, True)
    payload = bytearray()
    while chunk := posix.read(0, 1 << 16):
        payload += chunk
        if len(payload) > LIMIT:
            raise ValueError("the payload is over 32 MiB")
    if not payload:
        raise ValueError("no payload on stdin")
    return bytes(payload)


def write_head(size: int, enforce: bool, call_id: bytes = b"") -> bytes:
    """The first line of a call: with an id in the present protocol, without one in that of older daemons."""
    entrypoint, pid = map(safe_word, (b"CLAUDE_CODE_ENTRYPOINT", b"CLAUDE_PID"))
    tag = safe_word(b"QUARTERDECK_TAG")
    if tag == b"-":
        tag = next((b"editor:" + word for word in map(safe_word, EDITOR_TAGS) if word != b"-"), b"-")
    gate = b"enforce" if enforce else b"assist"
    words = (b"%d" % size, gate, entrypoint, pid if pid.isdigit() else b"-", tag)
    return b" ".join((b"QDHOOK/2", *words, call_id) if call_id else (b"QDHOOK/1", *words)) + b"\n"


def safe_word(name: bytes) -> bytes:
    word = posix.environ.get(name, b"")
    return word if 0 < len(word) <= 128 and not word.translate(None, SAFE) else b"-"


class LostConnectionError(Exception):
    """The connection of an acknowledged call broke."""


class OlderDaemonError(Exception):
    """The daemon does not know this protocol."""


class HungDaemonError(ValueError):
    """The daemon has not acknowledged a call in time."""


def ask(socket_path: str | bytes, payload: bytes, enforce: bool) -> tuple[bytes, bytes]:
    call = write_head(len(payload), enforce, b"c" + posix.urandom(12).hex().encode()) + payload
    note = (socket_path if isinstance(socket_path, bytes) else socket_path.encode(errors="surrogateescape")) + b".hangs"
    age = age_of(note)
    hangs = age is not None and 0 <= age < HUNG_SECONDS
    ack_by = monotonic() + (HUNG_ACK_SECONDS if hangs else ACK_SECONDS)
    try:
        answer = converse(connect(socket_path), call, ack_by)
    except OlderDaemonError:
        answer = converse(connect(socket_path), write_head(len(payload), enforce) + payload, None)
    except LostConnectionError:
        answer = ask_again(socket_path, call)
    except HungDaemonError:
        if not hangs:
            write_note(note)
        raise
    if age is not None:
        forget(note)
    return answer


def age_of(note: bytes) -> float | None:
    """Seconds since a call was given up on; None when no note says so."""
    try:
        return time() - posix.lstat(note).st_mtime
    except OSError:
        return None


def forget(note: bytes) -> None:
    try:
        posix.unlink(note)
    except OSError:
        return  # another call was first


def write_note(note: bytes) -> None:
    try:
        posix.close(posix.open(note, posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW, 0o600))
        posix.utime(note)
    except OSError:
        return  # the next call waits its whole time


def ask_again(socket_path: str | bytes, call: bytes) -> tuple[bytes, bytes]:
    """The answer to an acknowledged call from the next daemon, or from the same one."""
    give_up_at = monotonic() + RETRY_SECONDS
    while True:
        try:
            return converse(connect(socket_path, is_retry=True), call, monotonic() + ACK_SECONDS)
        except LostConnectionError:
            give_up_at = monotonic() + RETRY_SECONDS
        except (OSError, ValueError):
            if monotonic() >= give_up_at:
                raise
        sleep(RETRY_PAUSE)
        check_reader()


def connect(socket_path: str | bytes, *, is_retry: bool = False) -> "socket":
    found = posix.lstat(socket_path)
    if found.st_mode & 0o170000 != 0o140000 or found.st_uid != posix.geteuid():
        raise ValueError(f"{socket_path!r} is not a socket of this user")
    import _socket  # a shared library in some builds: loaded only when there is a socket to connect to

    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    if sock.fileno() <= 2:
        raise ValueError("stdin, stdout or stderr is closed")  # and the socket would be printed to
    if is_retry:
        sock.setblocking(False)  # a daemon with a full backlog is an error then, and there is another attempt
        sock.connect(socket_path)
        return sock
    left = _signal.getitimer(_signal.ITIMER_REAL)[0]
    alarm(min(left, CONNECT_SECONDS))
    sock.connect(socket_path)
    alarm(left)
    return sock


def converse(sock: "socket", call: bytes, ack_by: float | None) -> tuple[bytes, bytes]:
    """The answer to a call. Without an acknowledgement by `ack_by` there is none; None: none is expected."""
    sock.settimeout(TICK_SECONDS)
    if len(call) <= SMALL:
        send(sock, call)
    else:  # in a thread: a daemon that answers early and this process could otherwise both wait to be read
        _thread.start_new_thread(send, (sock, call))
    try:
        return receive(sock, ack_by)
    finally:
        sock.close()


def check_reader() -> None:
    """Raise when Claude Code has died: its end of stdout, a socket, is closed."""
    posix.write(1, b"")


def send(sock: "socket", message: bytes) -> None:
    rest = memoryview(message)
    while rest:
        try:
            rest = rest[sock.send(rest) :]
        except TimeoutError:
            continue
        except OSError:
            return  # the daemon may have answered early and closed: its answer decides


def receive(sock: "socket", ack_by: float | None = None) -> tuple[bytes, bytes]:
    answer = bytearray()
    head = None
    is_held = False
    while head is None or len(answer) < head[2]:
        left = TICK_SECONDS if ack_by is None else min(TICK_SECONDS, ack_by - monotonic())
        if left <= 0:
            raise HungDaemonError("no answer in time")
        sock.settimeout(left)
        try:
            chunk = sock.recv(1 << 16)
        except TimeoutError:
            check_reader()
            continue
        except OSError:
            chunk = b""
        if not chunk:
            raise LostConnectionError("the daemon has gone") if is_held else ValueError("the answer was cut short")
        answer += chunk
        while head is None and answer.startswith(ACK):
            del answer[: len(ACK)]
            is_held, ack_by = True, None
        if ack_by is not None and answer.startswith(b"{"):
            raise OlderDaemonError("the daemon speaks JSON")
        head = head or read_head(answer)
    code, start, end = head
    if len(answer) > end:
        raise ValueError("the answer is malformed")
    return code, bytes(answer[start:end])


def read_head(answer: bytes | bytearray) -> tuple[bytes, int, int] | None:
    """The code of an answer, and where its body starts and ends; None while its first line is incomplete."""
    line, newline, _ = bytes(answer[:HEAD_LIMIT]).partition(b"\n")
    if not newline and len(line) < HEAD_LIMIT:
        return None
    code, _, digits = line.partition(b" ")
    size = int(digits) if newline and digits.isdigit() else -1
    fits = {PASS: size == 0, PRINT: 0 < size <= LIMIT, BLOCK: 0 <= size <= LIMIT}
    if not fits.get(code):
        raise ValueError("the answer is malformed")
    return code, len(line) + 1, len(line) + 1 + size


if __name__ == "__main__":
    main(sys.argv[1:])
