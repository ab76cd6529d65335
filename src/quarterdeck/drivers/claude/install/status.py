"""How Claude Code is connected now, and what is wrong with it: for `qd doctor` and `qd status`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import Struct

from quarterdeck.agents.claude.hook_setup import (
    PLUGIN_ID,
    Endpoint,
    Installed,
    Transport,
    events,
    nests,
    read_installed,
)
from quarterdeck.agents.claude.settings_edit import obstacles
from quarterdeck.drivers.claude.install.targets import Place, Scope, Site
from quarterdeck.errors import QuarterdeckError


class Connection(Struct, frozen=True, kw_only=True):
    """One connected place. It names no token, only whether it is the current one."""

    transport: Transport
    scope: Scope
    project: Path | None
    file: Path
    addresses: tuple[str, ...]
    is_enabled: bool
    address_ok: bool
    token_ok: bool
    ladder_ok: bool
    missing_events: tuple[str, ...]
    enforced: bool

    @property
    def is_ok(self) -> bool:
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, each with its fix."""
        wrong = {
            "the plugin is disabled": not self.is_enabled,
            f"hooks report to {', '.join(self.addresses) or 'nowhere'}": not self.address_ok,
            "hooks carry an old token": not self.token_ok,
            "a hook's time-out ends before decide.wait_seconds does": not self.ladder_ok,
            f"no hook for {', '.join(self.missing_events)}": bool(self.missing_events),
        }
        return tuple(f"{self.file}: {said}; run {self.fix}" for said, is_wrong in wrong.items() if is_wrong)

    @property
    def fix(self) -> str:
        """The command that makes it new as it is."""
        return "qd install --enforce" if self.enforced else "qd install"


class ConnectState(Struct, frozen=True, kw_only=True):
    connections: tuple[Connection, ...]
    problems: tuple[str, ...]

    @property
    def fix(self) -> str:
        return next((c.fix for c in self.connections if c.enforced), "qd install")


def state(home: Path, config_dir: Path, endpoint: Endpoint) -> ConnectState:
    """What is connected where, held against what an install would write; runs nothing and changes nothing."""
    site = Site(home=home.absolute(), config_dir=config_dir.absolute())
    try:
        places = site.connected()
    except QuarterdeckError as error:
        return ConnectState(connections=(), problems=(str(error),))
    found = [_connection(site, place, way, endpoint) for place in places for way in sorted(site.transports(place))]
    said = [words for connection in found for words in connection.problems]
    said += [
        f"{p.file.path}: {words}" for p in places for words in obstacles(p.file.settings(), f"{endpoint.url}/hook")
    ]
    if any(len(site.transports(place)) > 1 for place in places) or _overlap(places):
        said.append("Claude Code is connected twice, so every request comes twice; run qd install")
    return ConnectState(connections=tuple(found), problems=tuple(said))


def _overlap(places: list[Place]) -> bool:
    return len(places) > 1 and any(place.project is None for place in places)


def _connection(site: Site, place: Place, transport: Transport, endpoint: Endpoint) -> Connection:
    settings = place.file.settings()
    by_plugin = transport is Transport.PLUGIN
    hooks = _plugin_hooks(site) if by_plugin else read_installed(settings.get("hooks"))
    wanted = {f"{endpoint.url}/hook", endpoint.socket}
    return Connection(
        transport=transport,
        scope=place.scope,
        project=place.project,
        file=place.file.path,
        addresses=tuple(sorted({hook.address for hook in hooks})),
        is_enabled=not by_plugin or settings.get("enabledPlugins", {}).get(PLUGIN_ID) is True,
        address_ok=bool(hooks) and all(hook.address in wanted for hook in hooks),
        token_ok=all(hook.token in ("", endpoint.hook_token) for hook in hooks),
        ladder_ok=all(nests(hook, endpoint.wait_seconds, holds_stop=endpoint.holds_stop) for hook in hooks),
        missing_events=tuple(sorted(events("").keys() - {hook.event for hook in hooks})),
        enforced=any(hook.enforced for hook in hooks),
    )


def _plugin_hooks(site: Site) -> list[Installed]:
    files = [text for name, text in site.store.files().items() if "/hooks/" in name]
    return [hook for text in files for hook in read_installed(_hooks_of(text))]


def _hooks_of(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value.get("hooks") if isinstance(value, dict) else None
