"""What an agent of ours is started with: the program, its environment, and the hooks by which it speaks to us."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from quarterdeck import hook
from quarterdeck.agents.claude.hook_setup import Endpoint, Transport, hook_groups
from quarterdeck.config import Config
from quarterdeck.core.engine.session_messages import Start
from quarterdeck.daemon.setup.home import Home
from quarterdeck.drivers.claude.cli import ClaudeCli, find_claude
from quarterdeck.drivers.claude.install.status import Connection, state
from quarterdeck.errors import Refused
from quarterdeck.sessions.environment import agent_environment
from quarterdeck.sessions.launcher import Kit

NO_CLAUDE = "Claude Code was not found; install it, or name it as claude.path in config.yaml"
Stamp = tuple[str, int, int]


class Kits:
    """Makes the kit of every session. `url` is where hooks report to."""

    def __init__(self, home: Home, config: Config, config_dir: Path, url: Callable[[], str]) -> None:
        self._home = home
        self._config = config
        self._config_dir = config_dir
        self._url = url
        self._versions: dict[Stamp, str] = {}
        self._one_at_a_time = asyncio.Lock()
        self.folder = home.path / "run" / "sessions"

    async def kit(self, start: Start) -> Kit:
        """The kit for one session; Refused when there is no agent to start."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._kit, start)

    def _kit(self, start: Start) -> Kit:
        claude = find_claude(self._config.claude.path)
        if claude is None and not start.shell:
            raise Refused(NO_CLAUDE)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        hooks = "" if start.shell or claude is None else self._hooks(claude, start)
        return Kit(
            claude=claude or Path("claude"),
            config_dir=self._config_dir,
            environment=self._environment(start),
            hooks=hooks,
            folder=self.folder,
        )

    def _environment(self, start: Start) -> dict[str, str]:
        env = agent_environment(os.environ, start.session_id)
        if self._config_dir != Path.home() / ".claude":
            env["CLAUDE_CONFIG_DIR"] = str(self._config_dir)
        elif not env.get("CLAUDE_CONFIG_DIR"):
            env.pop("CLAUDE_CONFIG_DIR", None)  # set and empty, it would be a folder without a name
        return env

    def _hooks(self, claude: Path, start: Start) -> str:
        """The settings file that connects a session; it holds the hooks' token, so it is ours alone. None where the
        hooks of an install reach it: with ours beside them everything would come twice."""
        endpoint = self._endpoint()
        connections = state(self._home.path, self._config_dir, endpoint).connections
        if any(one.is_enabled and one.address_ok and self._reaches(one, start) for one in connections):
            return ""
        self._home.keep_forwarder(Path(hook.__file__))
        groups = hook_groups(endpoint, Transport.HTTP, self._version(claude))
        path = self.folder / "hooks.json"
        temporary = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({"hooks": groups}, file)
        temporary.replace(path)
        return str(path)

    def _reaches(self, connection: Connection, start: Start) -> bool:
        """Whether a session reads the settings that an install has changed."""
        source = "user" if connection.project is None else "local"
        if start.mode == "sdk" and source not in self._config.sdk.setting_sources:
            return False
        return connection.project is None or Path(start.cwd).is_relative_to(connection.project)

    def _endpoint(self) -> Endpoint:
        return Endpoint(
            url=self._url(),
            hook_token=self._home.token("hook-token"),
            wait_seconds=self._config.decide.wait_seconds,
            socket=str(self._home.socket),
            python=str(Path(sys.executable).resolve()),
            hook_file=str(self._home.forwarder),
            holds_stop=self._config.decide.hold_stop,
        )

    def _version(self, claude: Path) -> str:
        found = claude.stat()
        stamp = (str(claude), found.st_mtime_ns, found.st_size)
        if stamp not in self._versions:
            self._versions[stamp] = ClaudeCli(claude, self._config_dir).version()
        return self._versions[stamp]
