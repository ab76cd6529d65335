"""The real Claude Code connected to a real daemon, as `qd install` connects it, with a scripted model behind it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from quarterdeck import hook as forwarder
from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.config.settings import Config
from quarterdeck.drivers.base import InstallOptions
from quarterdeck.drivers.claude.driver import ClaudeDriver
from tests.support.claude import ClaudeHome, Finished, Json
from tests.support.daemon import PATIENCE_SECONDS, Daemon, soon, until
from tests.support.model_server import ModelServer, Turn, text, tool
from tests.support.tmux import Terminal

OVER = {"decided", "withdrawn", "expired"}
_open: list["Connected"] = []


class Connected:
    """One scratch home with its own Claude Code, model server and daemon, which has the default settings."""

    def __init__(
        self,
        folder: Path,
        cli: Path,
        transport: Transport = Transport.HTTP,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.transport = transport
        self.model = ModelServer()
        self.claude = ClaudeHome(folder, cli=cli, model_url=self.model.url)
        scratch = {
            "HOME": str(self.claude.path),
            "CLAUDE_CONFIG_DIR": str(self.claude.config),
            "QUARTERDECK_DECIDE_HOLD": "auto",
        }
        self.daemon = Daemon(folder / "qd", env={**scratch, **(env or {})})

    def __enter__(self) -> Self:
        self.model.__enter__()
        _open.append(self)
        try:
            self.daemon.start()
            self.install()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.daemon.close()
        self.model.__exit__()
        _open.remove(self)

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(
            url=self.daemon.url,
            hook_token=self.daemon.hook_token,
            wait_seconds=86400,
            socket=str(self.daemon.socket_path),
            python=sys.executable,
            hook_file=str(forwarder.__file__),
        )

    def install(self, *, enforce: bool = False, endpoint: Endpoint | None = None) -> None:
        """Connect Claude Code to the daemon; a daemon that does not run needs an `endpoint`."""
        named = {"config_dir": str(self.claude.config), "path": str(self.claude.cli)}
        driver = ClaudeDriver(Config.model_validate({"claude": named}))
        options = InstallOptions(endpoint=endpoint or self.endpoint, transport=self.transport, enforce=enforce)
        driver.install(self.daemon.home, options)

    def path(self, name: str) -> Path:
        """A file in the project's folder, where tools run."""
        return self.claude.project / name

    def script(self, prompt: str, *turns: Turn) -> str:
        """Script the model's turns for this prompt."""
        self.model.scripts[prompt] = turns
        return prompt

    def script_bash(self, command: str) -> str:
        """A prompt that makes the model run a command and then answer "finished"."""
        call = tool("Bash", command=command, description="as scripted")
        return self.script(f"please run {command}", Turn(call), Turn(text("finished")))

    def script_helpers(self, *jobs: str) -> str:
        """A prompt that sends one sub-agent per job, each of which touches a file of its job's name."""
        for job in jobs:
            call = tool("Bash", command=f"touch {job}", description="as scripted")
            self.script(f"helper job {job}", Turn(call), Turn(text(f"{job} helped")))
        sent = [tool("Agent", description=j, prompt=f"helper job {j}", subagent_type="general-purpose") for j in jobs]
        return self.script(f"send {' and '.join(jobs)}", Turn(*sent), Turn(text("all sent")))

    @contextmanager
    def headless(self, prompt: str, *flags: str, cwd: Path | None = None) -> Iterator["Running"]:
        """A headless session while a surface is visible; it has ended after the block."""
        self.daemon.pending()
        with self.claude.start_headless(prompt, *flags, cwd=cwd) as process:
            try:
                yield Running(process)
                process.communicate(timeout=PATIENCE_SECONDS)
            except ValueError:
                pass  # the block has read the output to its end
            finally:
                process.kill()

    @contextmanager
    def terminal(self, *flags: str, cwd: Path | None = None) -> Iterator[Terminal]:
        """An interactive session that waits for a prompt."""
        with Terminal(self.claude, *flags, cwd=cwd) as terminal:
            yield terminal.ready()

    def request_to_run(self, command: str, seconds: float = PATIENCE_SECONDS) -> Json:
        """The pending request to run this command, once it is there."""

        def find() -> Json | None:
            return next((r for r in self.daemon.pending() if r["tool_input"].get("command") == command), None)

        return until(find, seconds, every=0.02, what=f"a request to run {command}") or {}

    def request_for(self, tool_name: str, seconds: float = PATIENCE_SECONDS) -> Json:
        """The pending request for this tool, once it is there."""

        def find() -> Json | None:
            return next((r for r in self.daemon.pending() if r["tool_name"] == tool_name), None)

        return until(find, seconds, every=0.02, what=f"a request for {tool_name}") or {}

    def decide(self, request: Json, decision: str, **more: Any) -> None:
        """Decide over the API; the decision must be accepted."""
        status, made = self.daemon.decide(request, decision, **more)
        assert status == 200, made

    def qd(self, *args: str) -> "subprocess.CompletedProcess[str]":
        """Run the command line as a person would."""
        env = {"QUARTERDECK_HOME": str(self.daemon.home), "HOME": str(self.claude.path), "PATH": os.environ["PATH"]}
        env["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")
        argv = [sys.executable, "-m", "quarterdeck", *args]
        return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    def request(self, request: Json) -> Json:
        """The request as the API shows it now."""
        status, shown = self.daemon.api("GET", f"/requests/{request['request_id']}")
        assert status == 200, shown
        return dict(shown)

    def closed(self, request: Json, seconds: float = PATIENCE_SECONDS) -> Json:
        """The request once it is over."""

        return until(lambda: self._over(request), seconds, every=0.01, what=f"the end of {request['tool_input']}") or {}

    def closed_soon(self, request: Json) -> Json:
        """The request, which is over already or almost."""

        return soon(lambda: self._over(request), what=f"the end of {request['tool_input']}") or {}

    def _over(self, request: Json) -> Json | None:
        shown = self.request(request)
        return shown if shown["status"] in OVER else None

    def confirmed(self, request: Json, seconds: float = PATIENCE_SECONDS) -> Json:
        """The request once the agent has confirmed the decision by its actions."""

        def done() -> Json | None:
            shown = self.request(request)
            return shown if (shown["decision"] or {}).get("delivery") == "confirmed" else None

        return until(done, seconds, every=0.02, what=f"a confirmed {request['tool_input']}") or {}

    def sessions(self) -> dict[str, Json]:
        status, page = self.daemon.api("GET", "/sessions")
        assert status == 200, page
        return {session["session_id"]: session for session in page["sessions"]}

    def session(self, session_id: str, state: str, seconds: float = PATIENCE_SECONDS) -> Json:
        """The session once it is in this state."""

        def found() -> Json | None:
            shown = self.sessions().get(session_id)
            return shown if shown and shown["agent_state"] == state else None

        return until(found, seconds, every=0.02, what=f"{session_id} {state}: {self.sessions()}") or {}

    def kinds(self, session_id: str) -> list[str]:
        """The kinds of a session's events, in order."""
        return [event["kind"] for event in self.daemon.events() if event["session_id"] == session_id]

    def recorded(
        self, kind: str, holds: Callable[[Json], bool] = lambda data: True, seconds: float = PATIENCE_SECONDS
    ) -> Json:
        """The first event of a kind whose data fits, once it is recorded."""

        def found() -> Json | None:
            return next((event for event in self.daemon.events(kind) if holds(event["data"])), None)

        return until(found, seconds, every=0.02, what=f"a {kind}") or {}


class Running:
    """A headless session in the background."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def finish(self, seconds: float = PATIENCE_SECONDS) -> Finished:
        """Its output, once it has ended."""
        stdout, stderr = self.process.communicate(timeout=seconds)
        return Finished(returncode=self.process.returncode, stdout=stdout, stderr=stderr)


def processes_in(folder: Path) -> dict[int, str]:
    """The processes whose HOME is in a folder, by pid; zombies are not included."""
    marker = f"HOME={folder}/".encode()
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if any(entry.startswith(marker) for entry in (place / "environ").read_bytes().split(b"\0")):
                found[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return found


def still_running_in(folder: Path, seconds: float = PATIENCE_SECONDS) -> dict[int, str]:
    """The processes that still run in a folder at the deadline, without the open daemons; empty as soon as there are
    none."""
    deadline = time.monotonic() + seconds
    while True:
        kept = {pair.daemon.pid for pair in _open}
        left = {pid: command for pid, command in processes_in(folder).items() if pid not in kept}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)
