"""The private tmux server: run without a shell, on its own socket; everything is named by ids that are never
reused."""

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

from quarterdeck.core.model.runtime_event import FIRST_AGENT
from quarterdeck.errors import Refused
from quarterdeck.system.run_program import ProgramResult, run

CALL_SECONDS = 5.0
# A call that hangs must not keep those of other sessions from running.
THREADS = 4
MAX_SOCKET = 100
MAX_VARIABLE = 16_000
MAX_WORDS = 15_000
"""tmux takes at most 16 KiB in one piece: beyond that it drops the variable, or refuses the command."""

NO_SERVER = (b"no server running", b"error connecting", b"lost server", b"server exited")
START_SECONDS = 2.0
SCROLLBACK_LINES = 10_000
LEAVE = "C-]"
VIEWER_FLAG = "active-pane"
"""Marks the daemon's viewers, as opposed to a person's own tmux client."""

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
"""A dead pane stays until its end was read. All keys go to the agent but one, which detaches a person's client."""

FIELDS = (
    *("session_id", "window_id", "pane_id", "pane_pid", "pid", "pane_dead", "pane_dead_status", "pane_dead_signal"),
    *("@quarterdeck_session", "@quarterdeck_config", "@quarterdeck_kind", "@quarterdeck_agent", "session_name"),
)
FORMAT = "|".join(f"#{{{field}}}" for field in FIELDS)
"""The session name is last: only it may contain a bar."""


class Pane(Struct, frozen=True, kw_only=True):
    """One pane of the server: its ids, its Quarterdeck session, and the exit of its process if it has ended."""

    session: str
    window: str
    pane: str
    pid: int
    server_pid: int
    session_id: str
    config_dir: str = ""
    kind: str = ""
    agent: str = FIRST_AGENT
    dead: bool = False
    code: int | None = None
    signal: int | None = None


class TmuxServer:
    """One server on one socket; it runs while it has a session, and does not read the person's own settings."""

    def __init__(self, socket: Path, program: str = "tmux", scrollback_lines: int = SCROLLBACK_LINES) -> None:
        self.socket = socket
        self._program = program
        self._threads = ThreadPoolExecutor(THREADS, "tmux")
        self._history = ("set-option", "-g", "history-limit", str(scrollback_lines))

    def command_line(self, *words: str) -> list[str]:
        """A tmux command line for this server."""
        return [self._program, "-u", "-f", "/dev/null", "-S", str(self.socket), *words]

    async def execute(
        self, *commands: Sequence[str], stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: str = "/"
    ) -> str:
        """Run commands in one call and return their output. Refused if one fails; those after it are not run."""
        result = await self._run(_join_commands(commands), stdin, env or {}, cwd)
        if result.code:
            raise Refused(f"tmux {commands[0][0]}: {_last_words(result)}")
        return result.out.decode(errors="replace")

    async def _run(
        self, words: list[str], stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: str = "/"
    ) -> ProgramResult:
        """Run tmux in a thread. The event loop's own subprocess calls may pass on descriptors of the daemon, and the
        server would keep them open forever."""
        work = partial(_call, self.command_line(*words), stdin, env or {}, cwd)
        try:
            result = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except OSError as error:
            what = error.filename or self._program
            raise Refused(f"tmux could not be started ({what}: {error.strerror}); install tmux 3.2 or newer") from None
        if result.cut:
            raise Refused(f"tmux did not answer within {CALL_SECONDS:.0f} s; check its server at {self.socket}")
        return result

    def close(self) -> None:
        self._threads.shutdown(wait=False)

    async def panes(self, *, is_running: bool = False) -> list[Pane]:
        """Every pane, by one call; none if no server runs, unless one is known to."""
        result = await self._run(["list-panes", "-a", "-F", FORMAT])
        if result.code and (is_running or not any(sign in result.err for sign in NO_SERVER)):
            raise Refused(f"tmux list-panes: {_last_words(result)}")
        lines = result.out.decode(errors="replace").splitlines() if not result.code else []
        return [pane for line in lines if (pane := read_pane(line))]

    async def create(
        self, session_id: str, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, size: tuple[int, int]
    ) -> Pane:
        """Create a session that runs this program in this environment. tmux itself is started in the folder and with
        the environment: as arguments they would be expanded, and visible to every user."""
        _check_sizes(argv, env)
        await asyncio.to_thread(_prepare, self.socket)
        shown = ("-P", "-F", FORMAT, "-s", session_id, "-x", str(size[0]), "-y", str(size[1]), "--", *argv)
        try:
            await self._start(("start-server",), *OPTIONS, self._history, *_pass_on(env))
            pane = read_pane(await self.execute(("new-session", "-d", *shown), env=env, cwd=cwd))
        finally:
            with contextlib.suppress(Refused):
                await self.execute(("set-option", "-s", "exit-empty", "on"))
        if pane is None:
            raise Refused("tmux new-session: printed nothing about the new session; install tmux 3.2 or newer")
        return pane

    async def _start(self, *commands: Sequence[str]) -> None:
        """Start the server if none runs; wait for one that is just ending."""
        until = time.monotonic() + START_SECONDS
        while True:
            result = await self._run(_join_commands(commands))
            if not result.code:
                return
            if time.monotonic() > until or not any(sign in result.err for sign in NO_SERVER):
                raise Refused(f"tmux did not start: {_last_words(result)}")
            await asyncio.sleep(0.02)

    async def mark(self, pane: Pane) -> None:
        """Store in tmux what a restarted daemon needs to know of the pane. A client that attaches must not change its
        environment."""
        on_pane = ("set-option", "-p", "-t", pane.pane)
        await self.execute(
            (*on_pane, "@quarterdeck_session", pane.session_id),
            (*on_pane, "@quarterdeck_config", quote(pane.config_dir)),
            (*on_pane, "@quarterdeck_kind", pane.kind),
            (*on_pane, "@quarterdeck_agent", pane.agent),
            ("set-option", "-t", pane.session, "update-environment", ""),
        )

    async def capture(self, pane: str, *, colours: bool = False) -> str:
        """The text on its screen; with `colours` also their codes."""
        return await self.execute(("capture-pane", "-p", *(("-e",) if colours else ()), "-t", pane))

    async def forget(self, pane: Pane) -> None:
        """Remove its session; a server without sessions ends."""
        with contextlib.suppress(Refused):
            await self.execute(("kill-session", "-t", pane.session))


def _call(argv: list[str], stdin: bytes, env: Mapping[str, str], cwd: str) -> ProgramResult:
    if not stdin:
        return run(argv, cwd=cwd, env=env, seconds=CALL_SECONDS)
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        return run(argv, cwd=cwd, env=env, seconds=CALL_SECONDS, stdin=file)


def _last_words(result: ProgramResult) -> str:
    return result.err.decode(errors="replace").strip() or f"ended with {result.code}"


def read_pane(line: str) -> Pane | None:
    """Read one line in FORMAT."""
    fields = dict(zip(FIELDS, line.rstrip("\n").split("|", len(FIELDS) - 1), strict=False))
    if len(fields) != len(FIELDS):
        return None
    return Pane(
        session=fields["session_id"],
        window=fields["window_id"],
        pane=fields["pane_id"],
        pid=int(fields["pane_pid"]),
        server_pid=int(fields["pid"]),
        session_id=fields["@quarterdeck_session"] or fields["session_name"],
        config_dir=unquote(fields["@quarterdeck_config"]),
        kind=fields["@quarterdeck_kind"],
        agent=fields["@quarterdeck_agent"] or FIRST_AGENT,
        dead=fields["pane_dead"] == "1",
        code=_number(fields["pane_dead_status"]),
        signal=_number(fields["pane_dead_signal"]),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _join_commands(commands: Sequence[Sequence[str]]) -> list[str]:
    """The commands as one command line. A word that ends with a semicolon would end its command, so it is escaped."""
    words: list[str] = []
    for command in commands:
        words += [";"] if words else []
        words += [f"{word[:-1]}\\;" if word.endswith(";") else word for word in command]
    return words


def _pass_on(env: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Commands that let the next session take these variables from the client that creates it. tmux takes patterns, so
    each name is escaped. The server's own environment is empty."""
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
    """Create the socket's folder for this user only: any process that can open the socket can type into every
    session."""
    if len(os.fsencode(socket)) > MAX_SOCKET:
        raise Refused(f"{socket}: is too long for a socket; choose a shorter pty.tmux_socket")
    try:
        socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = socket.parent.lstat()
    except OSError as error:
        raise Refused(f"{socket.parent}: {error.strerror}; choose another pty.tmux_socket") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise Refused(f"{socket.parent}: must be a folder that only you can open; choose another pty.tmux_socket")
