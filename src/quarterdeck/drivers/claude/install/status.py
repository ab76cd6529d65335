"""The state of Claude Code's connection and its problems: for `qd doctor` and `qd status`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from quarterdeck import hook as forwarder_source
from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.agents.claude.hook_setup import (
    PLUGIN_ID,
    InstalledHook,
    events,
    is_held,
    read_installed,
    timeouts_nest,
)
from quarterdeck.agents.claude.settings_edit import obstacles
from quarterdeck.drivers.base import ConnectionStatus, GateStatus, InstallStatus
from quarterdeck.drivers.claude.install.targets import InstallSite, InstallTarget
from quarterdeck.errors import QuarterdeckError

LOADER = Path(forwarder_source.__file__).with_name("hook_loader.py")


def install_status(site: InstallSite, endpoint: Endpoint) -> InstallStatus:
    """The connections, compared with what an install would write. Runs no program and changes nothing."""
    try:
        targets = site.connected()
    except QuarterdeckError as error:
        return InstallStatus(connections=(), problems=(str(error),), fix="qd install")
    found = [
        _connection(site, target, transport, endpoint)
        for target in targets
        for transport in sorted(site.transports(target))
    ]
    gates = [gate for target in targets if (gate := _gate(site, target, endpoint))]
    problems = [problem for connection in found for problem in connection.problems]
    problems += [problem for gate in gates for problem in gate.problems]
    problems += [
        f"{p.file.path}: {words}" for p in targets for words in obstacles(p.file.settings(), f"{endpoint.url}/hook")
    ]
    if any(len(site.transports(target)) > 1 for target in targets) or _overlap(targets):
        problems.append("Claude Code is connected twice, so every request comes twice")
    fix = "qd install --enforce" if gates else "qd install"
    return InstallStatus(connections=tuple(found), gates=tuple(gates), problems=tuple(problems), fix=fix)


def _overlap(targets: list[InstallTarget]) -> bool:
    return len(targets) > 1 and any(target.project is None for target in targets)


def _connection(site: InstallSite, target: InstallTarget, transport: Transport, endpoint: Endpoint) -> ConnectionStatus:
    settings = target.file.settings()
    by_plugin = transport is Transport.PLUGIN
    hooks = [hook for hook in _hooks(site, target, by_plugin=by_plugin) if not hook.enforced]
    known = {f"{endpoint.url}/hook", endpoint.socket}
    is_enabled = not by_plugin or settings.get("enabledPlugins", {}).get(PLUGIN_ID) is True
    address_ok = bool(hooks) and all(hook.address in known for hook in hooks)
    missing = ", ".join(sorted(events("").keys() - {hook.event for hook in hooks}))
    wrong = ", ".join(sorted({hook.address for hook in hooks} - known)) or "nowhere"
    expected = f"{endpoint.url}/hook" if transport is Transport.HTTP else endpoint.socket
    stop = endpoint.holds_stop
    gone = ", ".join(_missing_programs(hooks))
    checks = {
        "the plugin is disabled": not is_enabled,
        f"hooks report to {wrong}, not to {expected}": not address_ok,
        "hooks carry an old token": any(hook.token not in ("", endpoint.hook_token) for hook in hooks),
        "a hook's time-out ends before decide.wait_seconds does": not all(
            timeouts_nest(hook, endpoint.wait_seconds, holds_stop=stop) for hook in hooks
        ),
        "hooks of an older Quarterdeck lose a waiting request when the daemon restarts": any(
            not hook.client_seconds and is_held(hook, holds_stop=stop) for hook in hooks
        ),
        f"no hook for {missing}": bool(missing),
        f"hooks run {gone}, which is missing": bool(gone),
    }
    file = target.file.path
    return ConnectionStatus(
        transport=transport,
        scope=target.scope,
        project=target.project,
        file=file,
        is_reporting=is_enabled and address_ok,
        problems=tuple(f"{file}: {problem}" for problem, is_wrong in checks.items() if is_wrong),
    )


def _gate(site: InstallSite, target: InstallTarget, endpoint: Endpoint) -> GateStatus | None:
    """The gate of a target: in its settings, or as an older Quarterdeck had it in the plugin."""
    gates = site.gates(target)
    in_plugin = not gates and Transport.PLUGIN in site.transports(target)
    if in_plugin:
        gates = [hook for hook in _hooks(site, target, by_plugin=True) if hook.enforced]
    if not gates:
        return None
    gone = ", ".join(_missing_programs(gates))
    checks = {
        "the gate is in the plugin, so it opens when the plugin is not loaded": in_plugin,
        f"the gate reports to {gates[0].address}, not to {endpoint.socket}": gates[0].address != endpoint.socket,
        f"the gate runs {gone}, which is missing: no tool runs": bool(gone),
        "the gate's time-out ends before decide.wait_seconds does": not all(
            timeouts_nest(gate, endpoint.wait_seconds) for gate in gates
        ),
        "the gate is there more than once": len(gates) > 1,
        "the gate is there without the hooks that report sessions": not site.transports(target),
    }
    file = site.store.folder if in_plugin else target.file.path
    return GateStatus(file=file, problems=tuple(f"{file}: {words}" for words, is_wrong in checks.items() if is_wrong))


def _missing_programs(hooks: Iterable[InstalledHook]) -> list[str]:
    programs = {program for hook in hooks for program in hook.programs}
    programs |= {forwarder for program in programs if (forwarder := _loaded_by(program))}
    return sorted(program for program in programs if not os.access(program, os.R_OK))


def _loaded_by(program: str) -> str:
    """The forwarder beside a copy of its loader; empty for any other program."""
    with suppress(OSError):
        if Path(program).stat().st_size == LOADER.stat().st_size and Path(program).read_bytes() == LOADER.read_bytes():
            return str(Path(program).with_name("forwarder.py"))
    return ""


def _hooks(site: InstallSite, target: InstallTarget, *, by_plugin: bool) -> list[InstalledHook]:
    if not by_plugin:
        return read_installed(target.file.settings().get("hooks"))
    files = [text for name, text in site.store.files().items() if "/hooks/" in name]
    return [hook for text in files for hook in read_installed(_hooks_of(text))]


def _hooks_of(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value.get("hooks") if isinstance(value, dict) else None
