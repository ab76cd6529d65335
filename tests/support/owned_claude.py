"""A daemon that starts the real Claude Code itself, with a scripted model behind it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.claude import Json
from tests.support.connected_claude import Connected
from tests.support.daemon import PATIENCE_SECONDS, Daemon, until


class Owner(Connected):
    """A daemon that can start Claude Code itself; with `installed` the hooks are in its settings too."""

    def __init__(
        self, folder: Path, cli: Path, *, installed: bool = False, env: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(folder, cli)
        self.installed = installed
        environment = {**self.claude.env, "QUARTERDECK_CLAUDE_PATH": str(cli), "QUARTERDECK_DECIDE_HOLD": "auto"}
        environment["CLAUDE_CONFIG_DIR"] = ""
        self.daemon = Daemon(folder / "qd", env={**environment, **(env or {})})

    def install(self, **more: Any) -> None:
        if self.installed or more:
            super().install(**more)
        status, answer = self.daemon.api("POST", "/projects/trust", {"path": str(self.claude.project)})
        assert status == 200, answer

    def starts(self, mode: str = "sdk", **body: Any) -> Json:
        """Start a session."""
        status, session = self.daemon.api(
            "POST", "/sessions", {"cwd": str(self.claude.project), "mode": mode, **body}, timeout=60
        )
        assert status == 201, session
        return dict(session)

    def command(self, session: Json, order: str, **body: Any) -> tuple[int, Json]:
        return self.daemon.api("POST", f"/sessions/{session['session_id']}/{order}", body, timeout=60)

    def sends(self, session: Json, prompt: str) -> None:
        status, answer = self.command(session, "messages", prompt=prompt)
        assert status == 202, answer

    def event(self, session: Json, kind: str, *, after: int = 0, seconds: float = PATIENCE_SECONDS) -> Json:
        """The first event of this kind of a session after a position, once it is on record."""

        def found() -> Json | None:
            mine = (e for e in self.daemon.events(kind) if e["session_id"] == session["session_id"])
            return next((event for event in mine if event["seq_no"] > after), None)

        return until(found, seconds, every=0.02, what=f"{kind} of {session['session_id']}") or {}

    def events_of(self, session: Json, kind: str) -> list[Json]:
        """All events of this kind of a session."""
        return [event for event in self.daemon.events(kind) if event["session_id"] == session["session_id"]]

    def ended(self, session: Json, seconds: float = PATIENCE_SECONDS) -> Json:
        return self.session(session["session_id"], "ended", seconds)
