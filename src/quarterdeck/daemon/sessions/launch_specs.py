"""The launch spec of an owned session: program, environment, and the hooks by which it reports."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from quarterdeck.agents.registry import AGENTS
from quarterdeck.config.settings import Config
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.drivers.base import Driver
from quarterdeck.drivers.registry import Drivers
from quarterdeck.errors import Refused
from quarterdeck.sessions.environment import agent_environment
from quarterdeck.sessions.launcher import LaunchSpec
from quarterdeck.system.private_files import write_private


class LaunchSpecs:
    """Makes the launch spec of every session. `url` is the address for its hooks."""

    def __init__(self, home: Home, config: Config, drivers: Drivers, url: str) -> None:
        self._home = home
        self._config = config
        self._drivers = drivers
        self._url = url
        self._one_at_a_time = asyncio.Lock()  # all starts write the same settings file, in a thread
        self.folder = home.path / "run" / "sessions"

    async def spec(self, start: StartSession) -> LaunchSpec:
        """The launch spec for one session. Refused when there is no agent to start."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._build_spec, start)

    def _build_spec(self, start: StartSession) -> LaunchSpec:
        driver = self._drivers.of(start)
        program = driver.find_program()
        if program is None and not start.shell:
            raise Refused(
                f"{AGENTS[driver.name].label} was not found; install it, or set {driver.name}.path in config.yaml"
            )
        self.folder.mkdir(mode=0o700, exist_ok=True)
        return LaunchSpec(
            agent=driver.name,
            program=program,
            config_dir=driver.config_dir,
            environment=self._environment(driver, start),
            hooks="" if start.shell or program is None else self._hooks(driver, program, start),
            folder=self.folder,
        )

    def _environment(self, driver: Driver, start: StartSession) -> dict[str, str]:
        return driver.session_environment(agent_environment(os.environ, start.session_id, self._drivers.variables))

    def _hooks(self, driver: Driver, program: Path, start: StartSession) -> str:
        """Write the settings file that connects a session. It holds the hook token, so only this user can read it.
        Empty where no such file is needed."""
        endpoint = self._home.endpoint(self._url, self._config.decide)
        settings = driver.session_hooks(start, program, self._home.path, endpoint)
        if settings is None:
            return ""
        self._home.keep_forwarder()
        path = self.folder / f"{driver.name}-hooks.json"
        write_private(path, json.dumps(settings))
        return str(path)
