"""An upgrade in the middle of live sessions: terminals, held requests and a client of the previous version."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import uuid
from pathlib import Path

from tests.support import composer
from tests.support.agents import allowing
from tests.support.connected_claude import processes_in
from tests.support.daemon import Daemon, Json, permission, until

SECONDS = 60.0
"""Generous: a busy machine starts daemons and terminals slowly."""


class Upgrade:
    """A home in which the previous version runs terminals, holds requests and is followed, and then the current one,
    from the folder `after` or else from the source tree."""

    def __init__(self, folder: Path, before: Path, after: Path | None) -> None:
        self.folder, self.after = folder, after
        self.project, self.config, self.user = (folder / name for name in ("project", "claude", "user"))
        for made in (self.project, self.config, self.user):
            made.mkdir(parents=True)
        claude = folder / "claude-code"
        claude.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && exec echo "2.1.197 (Claude Code)"\n'
            f'exec {shlex.quote(sys.executable)} {shlex.quote(composer.__file__)} "$@"\n'
        )
        claude.chmod(0o755)
        env = {"HOME": str(self.user), "QUARTERDECK_CLAUDE_PATH": str(claude), "PYTHONPATH": str(before)}
        self.daemon = Daemon(folder / "qd", env=env)
        self.terminals: dict[str, Json] = {}
        self.held: dict[str, Json] = {}
        self.processes: list[subprocess.Popen[bytes]] = []
        self.followed = folder / "followed"

    def begin(self) -> None:
        """All that the previous version runs when the upgrade comes."""
        if not self.daemon.alive():
            self.daemon.start()
        assert self.daemon.api("POST", "/projects/trust", {"path": str(self.project)})[0] == 200
        for mode in ("pty", "tmux"):
            body = {"cwd": str(self.project), "mode": mode}
            status, session = self.daemon.api("POST", "/sessions", body, timeout=SECONDS)
            assert status == 201, session
            self.until_screen(session, "❯")
            self.terminals[mode] = self.session(session)
        self.made = self.daemon.api("POST", "/tokens", {"name": "phone", "scopes": ["observe"]})[1]["token"]
        with self.daemon.ndjson() as client:
            client.send("n0", permission("make denied", "sent"))
            (request,) = self.daemon.until_pending(1, SECONDS)
            assert self.daemon.decide(request, "deny", message="not before the upgrade")[0] == 200
            self.denied = client.read(SECONDS)
        self.forwarder = self.forward(permission("make forwarded", "forwarded"))
        self.client = self.daemon.ndjson()
        self.client.send("n1", permission("make sent", "sent"))
        self.held = {r["tool_input"]["command"]: r for r in self.daemon.until_pending(2, SECONDS)}
        self.follower = self.follow()
        self.until_followed()
        self.address = self.daemon.url, self.daemon.token, self.daemon.hook_token

    def end(self, number: signal.Signals) -> None:
        """The previous version ends, and who waited on it hears of it."""
        os.kill(self.daemon.pid, number)
        self.ended = self.daemon.ended(SECONDS)
        self.forwarded = self.forwarder.communicate(timeout=SECONDS)
        self.sent = self.client.read(SECONDS)

    def go_on(self) -> None:
        """The current version starts in the same home, and has found the terminals again."""
        if self.after is None:
            del self.daemon.env["PYTHONPATH"]
        else:
            self.daemon.env["PYTHONPATH"] = str(self.after)
        self.daemon.start()
        until(lambda: len(self.daemon.events("session.up")) == 4, SECONDS, what="terminals that are found again")

    def close(self) -> None:
        if self.daemon.alive():
            for session in self.terminals.values():
                self.daemon.api("POST", f"/sessions/{session['session_id']}/end", {}, timeout=SECONDS)
        self.daemon.close()
        for process in self.processes:
            process.kill()
            process.communicate()
        subprocess.run(["tmux", "-S", self.daemon.home / "run/sessions/tmux", "kill-server"], capture_output=True)
        for pid in processes_in(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def forward(self, payload: Json) -> subprocess.Popen[bytes]:
        """The forwarder of the home, as the hooks of an agent start it."""
        words: list[str | Path] = [sys.executable, "-I", "-S", self.daemon.home / "hook.py"]
        words += ["--socket", self.daemon.socket_path]
        pipe = subprocess.PIPE
        started = subprocess.Popen(words, env={"CLAUDE_CODE_ENTRYPOINT": "cli"}, stdin=pipe, stdout=pipe, stderr=pipe)
        self.processes.append(started)
        assert started.stdin is not None
        started.stdin.write(json.dumps(payload).encode())
        started.stdin.close()
        started.stdin = None
        return started

    def follow(self) -> subprocess.Popen[bytes]:
        """The previous version's own client of `/ws`, which is still there when the daemon comes back."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.user), "QUARTERDECK_HOME": str(self.daemon.home)}
        env["PYTHONPATH"] = self.daemon.env["PYTHONPATH"]
        words = [sys.executable, "-m", "quarterdeck", "feed", "--follow", "--json", "--after", "0", "--limit", "1000"]
        with self.followed.open("wb") as out:
            started = subprocess.Popen(words, env=env, stdout=out, stderr=subprocess.PIPE)
        self.processes.append(started)
        return started

    def until_followed(self) -> None:
        """Until the client was shown every event, each once and in order."""

        def is_shown() -> bool:
            assert self.follower.poll() is None
            whole = self.followed.read_bytes().rpartition(b"\n")[0]
            shown = [json.loads(line)["seq_no"] for line in whole.splitlines()]
            assert shown == list(range(1, len(shown) + 1))
            return len(shown) == len(self.daemon.events())

        until(is_shown, SECONDS, every=0.1, what="a client that was shown everything")

    def session(self, session: Json) -> Json:
        """A session as the daemon shows it now."""
        status, shown = self.daemon.api("GET", f"/sessions/{session['session_id']}")
        assert status == 200, shown
        return dict(shown)

    def until_screen(self, session: Json, words: str) -> None:
        def is_shown() -> bool:
            status, screen = self.daemon.api("GET", f"/sessions/{session['session_id']}/screen", timeout=SECONDS)
            return status == 200 and words in screen["text"]

        until(is_shown, SECONDS, every=0.05, what=f"{words!r} on the screen")

    def sends(self, session: Json, words: str) -> None:
        path = f"/sessions/{session['session_id']}/messages"
        status, answer = self.daemon.api("POST", path, {"prompt": words}, timeout=SECONDS)
        assert status == 202, answer

    def submitted(self) -> list[str]:
        """What was typed into the stand-ins for Claude Code."""
        return [json.loads(line) for line in (self.config / "submitted").read_text().splitlines()]

    def kinds(self, session: Json) -> list[str]:
        return [e["kind"] for e in self.daemon.events() if e["session_id"] == session["session_id"]]

    def tries(self, session: Json, request: Json, command: str) -> str:
        """What a process that the agent in this terminal starts is told when it allows a request."""
        script, out = (self.folder / f"try-{uuid.uuid4().hex}{suffix}" for suffix in (".sh", ".out"))
        script.write_text(f"({command.format(it=allowing(self.daemon, request))}) > {out} 2>&1\n")
        self.sends(session, f"run sh {shlex.quote(str(script))}")
        until(lambda: out.exists() and out.read_text().endswith("\n"), SECONDS, what="an answer")
        return out.read_text().strip()
