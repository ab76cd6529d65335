"""What Claude Code runs as a command hook: one payload from stdin to the daemon's socket, the answer to stdout.

Every failure is silence (exit 0, nothing printed); with --enforce it is exit 2 and one line on stderr. It runs as
`python -I -S hook.py`, where start-up is the cost, so it loads nothing but `_socket` and parses no JSON but a
decision that it enforces.
"""

import _signal  # type: ignore[import-not-found] # a part of CPython that has no stubs
import _thread
import posix
import sys

TYPE_CHECKING = False  # typing's own would cost more than all the rest
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable
    from typing import Never

LIMIT = 32 << 20  # bytes of a payload, and of an answer
HEAD_LIMIT = 16  # the longest first line of an answer is `1 33554432`
SMALL = 4096  # fits every system's socket buffer: sending it never blocks
WAIT_SECONDS = 86410.0  # the daemon waits 10 s less, Claude Code 10 s more
CONNECT_SECONDS = 1.0
TICK_SECONDS = 0.5  # by then a signal is heard that did not interrupt a system call, as it came right before it
PASS, PRINT, BLOCK = b"0", b"1", b"2"
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
        code, answer = ask(socket_path, write_head(len(payload), enforce) + payload)
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
    """Raises unless the answer to a tool call decides it: whatever else a hook prints lets the tool run."""
    import json  # some milliseconds, where a rule or a person has decided

    asked, said = json.loads(payload), json.loads(answer)
    if asked["hook_event_name"] != "PreToolUse":
        return
    decision = said["hookSpecificOutput"]
    if decision["hookEventName"] != "PreToolUse" or decision["permissionDecision"] not in ("allow", "deny", "ask"):
        raise ValueError("the answer decides no tool call")


def give_up(enforce: bool, reason: str) -> "Never":
    if enforce:
        fix = "start it with: quarterdeck daemon, or remove the gate with: quarterdeck uninstall"
        block(f"Quarterdeck cannot be reached ({reason}); {fix}\n".encode())
    posix._exit(0)


def block(message: bytes) -> "Never":
    """Exits 2 even when stderr is gone: the code is the answer, the message explains it."""
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
        raise ValueError(f"--wait {wait_seconds} is no time to wait")
    return default_socket() if socket_path is None else socket_path, wait_seconds


def default_socket() -> bytes:
    """Where the daemon's own settings put it, by the rules of platformdirs."""
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


def write_head(size: int, enforce: bool) -> bytes:
    entrypoint, pid, tag = map(safe_word, (b"CLAUDE_CODE_ENTRYPOINT", b"CLAUDE_PID", b"QUARTERDECK_TAG"))
    gate = b"enforce" if enforce else b"assist"
    return b"QDHOOK/1 %d %s %s %s %s\n" % (size, gate, entrypoint, pid if pid.isdigit() else b"-", tag)


def safe_word(name: bytes) -> bytes:
    word = posix.environ.get(name, b"")
    return word if 0 < len(word) <= 128 and not word.translate(None, SAFE) else b"-"


def ask(socket_path: str | bytes, message: bytes) -> tuple[bytes, bytes]:
    found = posix.lstat(socket_path)
    if found.st_mode & 0o170000 != 0o140000 or found.st_uid != posix.geteuid():
        raise ValueError(f"{socket_path!r} is not a socket of this user")
    import _socket  # a shared library in some builds: loaded only when there is someone to talk to

    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    if sock.fileno() <= 2:
        raise ValueError("stdin, stdout or stderr is closed")  # and the socket would be printed to
    left = _signal.getitimer(_signal.ITIMER_REAL)[0]
    alarm(min(left, CONNECT_SECONDS))
    sock.connect(socket_path)
    alarm(left)
    sock.settimeout(TICK_SECONDS)
    if len(message) <= SMALL:
        send(sock, message)
    else:  # aside, or a daemon that answers early and we could both wait to be read
        _thread.start_new_thread(send, (sock, message))
    return receive(sock.recv)


def send(sock: "socket", message: bytes) -> None:
    rest = memoryview(message)
    while rest:
        try:
            rest = rest[sock.send(rest) :]
        except TimeoutError:
            continue
        except OSError:
            return  # the daemon may have answered early and closed: what it sent decides


def receive(recv: "Callable[[int], bytes]") -> tuple[bytes, bytes]:
    answer = bytearray()
    head = None
    while head is None or len(answer) < head[2]:
        try:
            chunk = recv(1 << 16)
        except TimeoutError:
            posix.write(1, b"")  # fails when Claude Code has died: its end of our stdout, a socket, is closed
            continue
        if not chunk:
            raise ValueError("the answer was cut short")
        answer += chunk
        head = head or read_head(answer)
    code, start, end = head
    if len(answer) > end:
        raise ValueError("the answer is malformed")
    return code, bytes(answer[start:end])


def read_head(answer: bytes | bytearray) -> tuple[bytes, int, int] | None:
    """An answer's code and where its body starts and ends; None while its first line is not whole."""
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
