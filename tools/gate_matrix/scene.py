"""One daemon, and in it two running sessions of each kind: one whose request waits, and one whose tool call comes while
something is wrong."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

import quarterdeck
from quarterdeck.agents.base import Transport
from quarterdeck.daemon.setup.home_files import Home
from tests.support.claude import Json
from tests.support.daemon import Daemon, until
from tests.support.model_server import Turn, text, tool
from tests.support.owned_claude import Owner
from tools.gate_matrix.sessions import KINDS, OBSERVED, SDK, Owned, Session, start, status

DISK = "64m"
NEW, RUNNING = "new", "running"
IDLE, PENDING = "idle", "pending"
WAIT_SECONDS = 60.0
"""How long a trial looks for an outcome; what takes longer than the limit of the table is stuck."""

_numbers = itertools.count(1)


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of one tool call. `seconds`: until it was refused, asked about or done."""

    kind: str
    age: str
    state: str
    what: str
    seconds: float


class KeptDaemon(Daemon):
    """A daemon whose address and token are known although its home cannot be read."""

    def start(self) -> Self:
        super().start()
        self._url, self._token = super().url, super().token
        return self

    @property
    def url(self) -> str:
        return self._url

    @property
    def token(self) -> str:
        return self._token


class Call:
    """A tool call of a session that the model makes when it is told to."""

    def __init__(self, scene: Scene, name: str) -> None:
        self.command = f"touch {name}-{next(_numbers)}"
        self.prompt = f"please run {self.command}"
        self._model, self._release = scene.owner.model, threading.Event()
        self._marker = scene.owner.path(self.command.split()[1])
        call = Turn(tool("Bash", command=self.command, description="as scripted"), gate=self._release)
        scene.owner.script(self.prompt, call, Turn(text("finished")))

    def reached(self) -> None:
        """Wait until the model has been asked."""
        until(lambda: self._model.requests_for(self.prompt), every=0.02, what=f"the prompt of {self.command}")

    def make(self) -> None:
        self._release.set()

    @property
    def ran(self) -> bool:
        return self._marker.exists()

    @property
    def result(self) -> str:
        """What the model was told, with `ran` for a command that ran; empty as long as it waits."""
        return next(iter(self._model.tool_results(self.prompt)), "") or ("ran" if self.ran else "")


class Watch:
    """Looks for something in a thread of its own, and notes when it found it."""

    def __init__(self, look: Callable[[], str]) -> None:
        self.began = time.monotonic()
        self._look, self._what, self._at = look, "", 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._what and time.monotonic() < self.began + WAIT_SECONDS:
            with suppress(OSError, ValueError, AssertionError):
                self._what = self._look()
            self._at = time.monotonic()
            time.sleep(0.03)

    @property
    def is_over(self) -> bool:
        return bool(self._what)

    def outcome(self) -> tuple[str, float]:
        """What was found, or `waits`, and after how many seconds."""
        self._thread.join()
        return self._what or "waits", round(max(0.0, self._at - self.began), 2)


Waiting = tuple[Session, Call, Json]
"""A session, its call, and the request that waits at the desk."""


class Scene:
    """A daemon on a small disk of its own, with its sessions."""

    def __init__(self, cli: Path, *, enforce: bool) -> None:
        self.enforce = enforce
        self._stack = ExitStack()
        folder = Path(tempfile.mkdtemp(prefix="qd-", dir="/tmp"))
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        disk = folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", disk], check=True)
        self._stack.callback(lambda: subprocess.run(["umount", "-l", disk], check=True))
        self.folder, self.home = folder, disk / "qd"
        self.python = folder / "python"
        self.python.symlink_to(Path(sys.executable).resolve())
        self.owner = Owner(folder, cli)
        self.owner.transport = Transport.PLUGIN
        self.daemon = KeptDaemon(self.home, env=self.owner.daemon.env, logs=folder)
        self.owner.daemon = self.daemon
        self._upgrades = 0
        self._sessions: dict[tuple[str, str], Session] = {}

    def __enter__(self) -> Self:
        try:
            self._stack.enter_context(self.owner)
            self._stack.callback(self._end_sessions)
            self._connect()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _connect(self) -> None:
        home = Home(self.home)
        home.keep_forwarder()
        files = {"python": str(self.python), "hook_file": str(home.hook)}
        self.owner.install(enforce=self.enforce, endpoint=replace(self.owner.endpoint, **files))
        rules = [("deny", "Bash(touch denied*)")]
        if self.enforce:  # the gate's own question; and Claude Code itself would run the rest
            rules.append(("ask", "Bash(touch asked*)"))
            settings = self.owner.claude.read_settings()
            self.owner.claude.write_settings({**settings, "permissions": {"allow": ["Bash(touch:*)"]}})
        for effect, pattern in rules:
            body = {"effect": effect, "pattern": pattern, "scope": "user"}
            made, answer = self.daemon.api("POST", "/rules", body)
            assert made == 201, answer

    def upgrade(self) -> None:
        """The next daemon runs from a copy of the program whose forwarder differs."""
        self._upgrades += 1
        source = self.folder / f"upgrade-{self._upgrades}"
        shutil.copytree(Path(quarterdeck.__file__).parent, source / "quarterdeck")
        with (source / "quarterdeck" / "hook.py").open("a") as file:
            file.write(f"# version {self._upgrades}\n")
        self.daemon.env["PYTHONPATH"] = os.pathsep.join((str(source), str(Path(__file__).parents[2])))

    def session(self, kind: str, state: str) -> Session:
        """The running session of this kind and state at its empty prompt; a new one if it has gone."""
        found = self._sessions.get((kind, state))
        if found is not None and not self._rests(found):
            self._drop(found)
            found = None
        if found is None:
            found = self._sessions[kind, state] = start(self.owner, kind)
        return found

    def _rests(self, session: Session) -> bool:
        if session.kind == SDK:  # prompts wait for the end of its turn; 2.1.197 says nothing of itself
            return Path(f"/proc/{session.pid}").exists()
        with suppress(AssertionError):
            until(lambda: status(self.owner, session.pid) in ("idle", ""), 5, every=0.1)
        return status(self.owner, session.pid) == "idle"

    def _drop(self, session: Session) -> None:
        with suppress(Exception):
            session.end()
        with suppress(ProcessLookupError):
            os.kill(session.pid, 9)

    def _end_sessions(self) -> None:
        for session in self._sessions.values():
            self._drop(session)
        for place in Path("/proc").glob("[0-9]*/cmdline"):  # in a home that is gone no socket leads to it
            with suppress(OSError):
                if os.fsencode(self.home / "run" / "sessions" / "tmux") in place.read_bytes().split(b"\0"):
                    os.kill(int(place.parent.name), signal.SIGKILL)

    # what a trial does

    def pending(self, allow: bool) -> Iterator[Waiting]:
        """A request of a session of each kind, as it waits at the desk."""
        for kind in KINDS:
            session, call = self.session(kind, PENDING), Call(self, "asked-allow" if allow else "asked-deny")
            call.make()
            session.prompt(call.prompt)
            yield session, call, self.owner.request_to_run(call.command)

    def about_to_call(self) -> Iterator[tuple[Session, Call]]:
        """A session of each kind whose model is about to make a call that a rule denies."""
        for kind in KINDS:
            session, call = self.session(kind, IDLE), Call(self, "denied")
            session.prompt(call.prompt)
            call.reached()
            yield session, call

    def watch(self, session: Session, call: Call) -> Watch:
        """Look for what becomes of a call that a rule denies: `ran`, `refused`, `asks` at its terminal, or `ended` with
        its session."""

        def found() -> str:
            if call.ran:
                return "ran"
            if call.result:
                return "refused"
            if session.kind != SDK and status(self.owner, session.pid) == "waiting":
                return "asks"
            return "" if Path(f"/proc/{session.pid}").exists() else "ended"

        return Watch(found)

    def headless(self) -> Outcome:
        """A new session of a person, without a terminal, and its call that a rule denies."""
        call = Call(self, "denied")
        call.make()
        with self.owner.claude.start_headless(call.prompt) as process:
            try:
                call.reached()
                watch = Watch(lambda: "ran" if call.ran else "refused" if call.result else "")
                what, seconds = watch.outcome()
            finally:
                process.kill()
                process.communicate()
        return Outcome(kind=OBSERVED, age=NEW, state=IDLE, what=what, seconds=seconds)

    def started(self, kind: str) -> Outcome:
        """A new session of the daemon, and its call that a rule denies."""
        call = Call(self, "denied")
        call.make()
        try:
            session = Owned(self.owner, kind, call.prompt)
        except (AssertionError, OSError):
            return Outcome(kind=kind, age=NEW, state=IDLE, what="not started", seconds=0.0)
        try:
            call.reached()
            what, seconds = self.watch(session, call).outcome()
        except AssertionError:
            what, seconds = "no prompt", 0.0
        finally:
            self._drop(session)
        return Outcome(kind=kind, age=NEW, state=IDLE, what=what, seconds=seconds)

    @contextmanager
    def settled(self, sessions: list[Session]) -> Iterator[None]:
        """Afterwards these sessions are back at their prompts, whatever was asked there."""
        try:
            yield
        finally:
            for session in sessions:
                if status(self.owner, session.pid) == "waiting":
                    with suppress(Exception):
                        session.interrupt()

    def shown(self, request: Json) -> Json:
        code, found = self.daemon.api("GET", f"/requests/{request['request_id']}")
        assert code == 200, found
        return dict(found)

    def back(self, request: Json) -> Watch:
        """Look for the moment when a request can be decided again, with the digest that it had."""

        def found() -> str:
            now = self.shown(request)
            return "back" if now["holder"] == "connected" and now["digest"] == request["digest"] else ""

        return Watch(found)

    def released(self, session: Session, call: Call) -> Watch:
        """Look for the end of a wait whose daemon has stopped for good: a result, or a question at the terminal."""
        return Watch(
            lambda: "released" if call.result or status(self.owner, session.pid) in ("waiting", "") else "",
        )

    def obeyed(self, call: Call, request: Json, allow: bool) -> str:
        """Decide a request, and say whether its agent did that."""
        made, answer = self.daemon.decide(request, "allow" if allow else "deny")
        if made != 200:
            print(f"lost: {call.command}: {made} {answer}", file=sys.stderr)
            return "lost"
        what, _ = Watch(lambda: "done" if call.result else "").outcome()
        if what != "done":
            print(f"lost: {call.command} was decided: {self.shown(request)}", file=sys.stderr)
            return "lost"
        return "decided" if call.ran is allow else "ran" if call.ran else "not obeyed"
