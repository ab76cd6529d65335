"""The tmux server of ours: words only, no shell, on a socket of our own, and everything is named by ids that never
come again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec import Struct

from quarterdeck.errors import Refused
from quarterdeck.system.run_program import Ended, run

SECONDS = 5.0
THREADS = 4
MAX_SOCKET = 100
MAX_VARIABLE = 16_000
MAX_WORDS = 15_000
"""More than 16 KiB in one piece tmux does not take: it would leave the variable out, or refuse the command."""

NO_SERVER = (b"no server running", b"error connecting", b"lost server", b"server exited")
START_SECONDS = 2.0
SCROLLBACK_LINES = 10_000
LEAVE = "C-]"
VIEWER_FLAG = "active-pane"
"""By this who looks through us is told from a person's own tmux."""

IS_VIEWER = f"#{{m:*{VIEWER_FLAG}*,#{{client_flags}}}}"
OPTIONS: tuple[tuple[str, ...], ...] = (
    ("set-option", "-s", "exit-empty", "off"),
    ("set-option", "-s", "escape-time", "0"),
    ("set-option", "-s", "set-clipboard", "off"),
    ("set-option", "-s", "default-terminal", "tmux-256color"),
    ("set-option", "-s", "terminal-features", "xterm*:256:RGB:title:bpaste"),
    ("set-option", "-s", "terminal-overrides", "*:smcup@:rmcup@"),
    ("set-option", "-g", "remain-on-exit", "on"),
    ("set-option", "-gq", "remain-on-exit-format", ""),
    ("set-option", "-g", "status", "off"),
    ("set-option", "-g", "window-size", "smallest"),
    ("set-option", "-g", "prefix", "None"),
    ("set-option", "-g", "prefix2", "None"),
    ("unbind-key", "-a", "-T", "root"),
    ("bind-key", "-n", LEAVE, "if-shell", "-F", IS_VIEWER, f"send-keys {LEAVE}", "detach-client"),
)
"""A dead pane stays as it is until that was read. All keys are the agent's but one, by which a person leaves."""

FIELDS = (
    *("session_id", "window_id", "pane_id", "pane_pid", "pid", "pane_dead", "pane_dead_status", "pane_dead_signal"),
    *("@quarterdeck_session", "@quarterdeck_config", "@quarterdeck_kind", "session_name"),
)
FORMAT = "|".join(f"#{{{field}}}" for field in FIELDS)
"""Only the name, which is the last, may hold a bar."""


class Pane(Struct, frozen=True, kw_only=True):
    """One pane of the server: where it is, whose it is, and how its process ended if it has."""

    session: str
    window: str
    pane: str
    pid: int
    server_pid: int
    session_id: str
    config_dir: str = ""
    kind: str = ""
    dead: bool = False
    code: int | None = None
    signal: int | None = None


class Server:
    """One server on one socket; it runs while it has a session, and knows nothing of the person's own settings."""

    def __init__(self, socket: Path, program: str = "tmux", scrollback_lines: int = SCROLLBACK_LINES) -> None:
        self.socket = socket
        self._program = program
        self._threads = ThreadPoolExecutor(THREADS, "tmux")
        self._history = ("set-option", "-g", "history-limit", str(scrollback_lines))

    def words(self, *words: str) -> list[str]:
        """A tmux command line for this server."""
        return [self._program, "-u", "-f", "/dev/null", "-S", str(self.socket), *words]

    async def do(
        self, *commands: Sequence[str], stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: str = "/"
    ) -> str:
        """Run commands in one go, and give what they print. Refused when one fails; those after it are not run."""
        said = await self._run(_joined(commands), stdin, env or {}, cwd)
        if said.code:
            raise Refused(f"tmux {commands[0][0]}: {_last_words(said)}")
        return said.out.decode(errors="replace")

    async def _run(
        self, words: list[str], stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: str = "/"
    ) -> Ended:
        """In a thread: the loops' own ways to start a program may leave it our descriptors, and the server would hold
        them for good."""
        work = partial(_call, self.words(*words), stdin, env or {}, cwd)
        try:
            said = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except OSError as error:
            what = error.filename or self._program
            raise Refused(f"tmux could not be started ({what}: {error.strerror}); install tmux 3.2 or newer") from None
        if said.cut:
            raise Refused(f"tmux did not answer within {SECONDS:.0f} s; look at {self.socket}")
        return said

    def close(self) -> None:
        self._threads.shutdown(wait=False)

    async def panes(self) -> list[Pane]:
        """Every pane, by one call; none when no server runs."""
        said = await self._run(["list-panes", "-a", "-F", FORMAT])
        if said.code and not any(sign in said.err for sign in NO_SERVER):
            raise Refused(f"tmux list-panes: {_last_words(said)}")
        lines = said.out.decode(errors="replace").splitlines() if not said.code else []
        return [pane for line in lines if (pane := read_pane(line))]

    async def create(
        self, session_id: str, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, size: tuple[int, int]
    ) -> Pane:
        """A session that runs this program, in this environment. The folder is the one tmux itself is started in, and
        the environment its own: as words they would be expanded, and seen by everybody."""
        _check_sizes(argv, env)
        await asyncio.to_thread(_prepare, self.socket)
        shown = ("-P", "-F", FORMAT, "-s", session_id, "-x", str(size[0]), "-y", str(size[1]), "--", *argv)
        try:
            await self._start(("start-server",), *OPTIONS, self._history, *_taken_over(env))
            pane = read_pane(await self.do(("new-session", "-d", *shown), env=env, cwd=cwd))
        finally:
            with contextlib.suppress(Refused):
                await self.do(("set-option", "-s", "exit-empty", "on"))
        if pane is None:
            raise Refused("tmux new-session: said nothing of the new session; is it 3.2 or newer?")
        return pane

    async def _start(self, *commands: Sequence[str]) -> None:
        """Start the server if none runs; one that is just ending has to end first."""
        until = time.monotonic() + START_SECONDS
        while True:
            said = await self._run(_joined(commands))
            if not said.code:
                return
            if time.monotonic() > until or not any(sign in said.err for sign in NO_SERVER):
                raise Refused(f"tmux does not start: {_last_words(said)}")
            await asyncio.sleep(0.02)

    async def mark(self, pane: Pane, *, config_dir: str, kind: str) -> None:
        """Write down what we need to know of it after a restart; whoever attaches changes nothing of it."""
        on_pane = ("set-option", "-p", "-t", pane.pane)
        await self.do(
            (*on_pane, "@quarterdeck_session", pane.session_id),
            (*on_pane, "@quarterdeck_config", quote(config_dir)),
            (*on_pane, "@quarterdeck_kind", kind),
            ("set-option", "-t", pane.session, "update-environment", ""),
        )

    async def capture(self, pane: str, *, colours: bool = False) -> str:
        """The text on its screen; with the codes of its colours where they are wanted."""
        return await self.do(("capture-pane", "-p", *(("-e",) if colours else ()), "-t", pane))

    async def forget(self, pane: Pane) -> None:
        """Take its session away; a server that has no other ends."""
        with contextlib.suppress(Refused):
            await self.do(("kill-session", "-t", pane.session))


def _call(argv: list[str], stdin: bytes, env: Mapping[str, str], cwd: str) -> Ended:
    if not stdin:
        return run(argv, cwd=cwd, env=env, seconds=SECONDS)
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        return run(argv, cwd=cwd, env=env, seconds=SECONDS, stdin=file)


def _last_words(said: Ended) -> str:
    return said.err.decode(errors="replace").strip() or f"ended with {said.code}"


def read_pane(line: str) -> Pane | None:
    """One line as FORMAT writes it."""
    found = dict(zip(FIELDS, line.rstrip("\n").split("|", len(FIELDS) - 1), strict=False))
    if len(found) != len(FIELDS):
        return None
    return Pane(
        session=found["session_id"],
        window=found["window_id"],
        pane=found["pane_id"],
        pid=int(found["pane_pid"]),
        server_pid=int(found["pid"]),
        session_id=found["@quarterdeck_session"] or found["session_name"],
        config_dir=unquote(found["@quarterdeck_config"]),
        kind=found["@quarterdeck_kind"],
        dead=found["pane_dead"] == "1",
        code=_number(found["pane_dead_status"]),
        signal=_number(found["pane_dead_signal"]),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _joined(commands: Sequence[Sequence[str]]) -> list[str]:
    """Commands one after the other. A word that ends with a semicolon would end its command."""
    words: list[str] = []
    for command in commands:
        words += [";"] if words else []
        words += [f"{word[:-1]}\\;" if word.endswith(";") else word for word in command]
    return words


def _taken_over(env: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Make the next session take these variables over from whoever creates it: their names, each a pattern that means
    itself alone. The server has none of its own."""
    patterns = ["".join(f"\\{c}" if c in "*?[\\" else c for c in name) for name in env]
    plain = [pattern for pattern in patterns if not set(pattern) & set(" ,")]
    odd = [pattern for pattern in patterns if set(pattern) & set(" ,")]
    option = "update-environment"
    one_by_one = [("set-option", "-g", f"{option}[{1000 + n}]", pattern) for n, pattern in enumerate(odd)]
    return [("set-option", "-g", option, " ".join(plain)), *one_by_one]


def _check_sizes(argv: Sequence[str], env: Mapping[str, str]) -> None:
    for name, value in env.items():
        if len(os.fsencode(name + value)) > MAX_VARIABLE:
            raise Refused(f"the environment variable {name} is longer than tmux can pass on; unset it, or use mode pty")
    if sum(len(os.fsencode(word)) + 1 for word in argv) > MAX_WORDS:
        raise Refused("the command line is longer than tmux can pass on; send a shorter prompt, or use mode pty")


def _prepare(socket: Path) -> None:
    """A folder of ours alone, for whoever can open the socket can type into every session."""
    if len(os.fsencode(socket)) > MAX_SOCKET:
        raise Refused(f"{socket}: is too long for a socket; choose a shorter pty.tmux_socket")
    try:
        socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = socket.parent.lstat()
    except OSError as error:
        raise Refused(f"{socket.parent}: {error.strerror}; choose another pty.tmux_socket") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise Refused(f"{socket.parent}: must be a folder that only you can open; choose another pty.tmux_socket")
