"""The hooks that connect Claude Code to Quarterdeck, the plugin that carries them, and how to recognise them."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct

from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.agents.claude.hooks import HOOKS, SUPPORTED, Hook

MARKETPLACE = "quarterdeck"
PLUGIN = "quarterdeck"
PLUGIN_ID = f"{PLUGIN}@{MARKETPLACE}"
FOLDER = "claude-plugin"
"""The marketplace's folder in the home. Claude Code reads it live, so an edit needs no new version."""

PLUGIN_VERSION = "1.0.0"
TAG_HEADER = "X-Quarterdeck-Tag"
ENTRYPOINT_HEADER = "X-Quarterdeck-Entrypoint"

STEP_SECONDS = 10
"""How much longer the hook waits than the client, and the client than the daemon."""

MAX_TIMEOUT = 2_147_483
"""Claude Code 2.1.197 counts milliseconds in 32 bits: a longer time-out ends at once, and the tool runs."""

MAX_WAIT_SECONDS = MAX_TIMEOUT - 2 * STEP_SECONDS
OBSERVE_SECONDS = 10
END_SECONDS = 3
"""A session waits for its hooks when it ends, so this one must not be noticed."""

HTTP_TIMEOUT = 2
"""A native HTTP hook only observes: a daemon that hangs must not hold up the turn."""

GATE = "PreToolUse"
OR_SILENT = "|| exit 0"
"""Python ends with 2 when the forwarder is missing, which would block the tool or the prompt."""

GATE_BROKEN = (
    "Quarterdeck's gate is broken: its home, forwarder or Python is missing; repair it with: quarterdeck install "
    "--enforce, or remove the gate with: quarterdeck uninstall"
)
_CLOSED = re.compile(r" --enforce \|\| (?:exit 2|\{.* exit 2; \})$")
ON_FAILURE_SINCE = "2.1.325"
"""The first Claude Code that knows `onFailure`; 2.1.197 ignores it."""

Groups = dict[str, list[dict[str, Any]]]
"""Hooks as Claude Code writes them: event name → groups of hooks."""


class InstalledHook(Struct, frozen=True, kw_only=True):
    """A Quarterdeck hook found in a file: `address` is its URL or socket, `programs` are the files that a command runs,
    `client_seconds` is 0 for HTTP."""

    event: str
    matcher: str
    address: str
    token: str
    timeout: float
    client_seconds: float
    programs: tuple[str, ...] = ()
    enforced: bool = False


def version_of(text: str) -> tuple[int, ...]:
    """The numbers of a version; empty when there are none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def is_newer(hook: Hook) -> bool:
    """True if the oldest supported Claude Code does not know the event."""
    return version_of(hook.since) > version_of(SUPPORTED[0])


def events(version: str) -> dict[str, Hook]:
    """The events to register with a Claude Code; an unknown version gets those that every version knows."""
    known = version_of(version) or version_of(SUPPORTED[0])
    return {name: hook for name, hook in HOOKS.items() if hook.transport != "never" and version_of(hook.since) <= known}


def hook_groups(endpoint: Endpoint, transport: Transport, version: str) -> Groups:
    """Quarterdeck's hooks by event. A group without a matcher fires for everything."""
    return {name: _groups(endpoint, transport, name, hook) for name, hook in events(version).items()}


def gate_groups(endpoint: Endpoint, version: str) -> Groups:
    """The hook that blocks a tool unless Quarterdeck lets it run. It belongs in Claude Code's settings: from a plugin
    that is not loaded there is no hook that could fail. The shell blocks even if the forwarder cannot start; a newer
    Claude Code also blocks when the shell fails or the time-out comes first."""
    wait = client_seconds(endpoint, GATE, holds=True)
    says = f"[ $? = 2 ] && [ -r {shlex.quote(endpoint.hook_file)} ] || echo {shlex.quote(GATE_BROKEN)} >&2"
    command = f"{_forwarder(endpoint, wait)} --enforce || {{ {says}; exit 2; }}"
    gate: dict[str, Any] = {"type": "command", "command": command, "timeout": wait + STEP_SECONDS}
    if version_of(version) >= version_of(ON_FAILURE_SINCE):
        gate["onFailure"] = "block"
    return {GATE: [{"hooks": [gate]}]}


def _groups(endpoint: Endpoint, transport: Transport, name: str, hook: Hook) -> list[dict[str, Any]]:
    if hook.only:
        others = f"^(?!{hook.only}$)"
        return [
            {"matcher": hook.only, "hooks": [_hook(endpoint, transport, name, hook, holds=True)]},
            {"matcher": others, "hooks": [_hook(endpoint, transport, name, hook, holds=False)]},
        ]
    holds = hook.holds and (endpoint.holds_stop or not hook.optional)
    return [{"hooks": [_hook(endpoint, transport, name, hook, holds=holds)]}]


def _hook(endpoint: Endpoint, transport: Transport, name: str, hook: Hook, *, holds: bool) -> dict[str, Any]:
    """A hook that may wait is a command, whatever the transport: only the forwarder outlives a daemon."""
    if transport is Transport.HTTP and hook.transport == "http" and not holds:
        return _http_hook(endpoint)
    return _command_hook(endpoint, name, holds=holds)


def _http_hook(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "type": "http",
        "url": f"{endpoint.url}/hook",
        "timeout": HTTP_TIMEOUT,
        "headers": {
            "Authorization": f"Bearer {endpoint.hook_token}",
            TAG_HEADER: "$QUARTERDECK_TAG",
            ENTRYPOINT_HEADER: "$CLAUDE_CODE_ENTRYPOINT",
        },
        "allowedEnvVars": ["QUARTERDECK_TAG", "CLAUDE_CODE_ENTRYPOINT"],
    }


def _command_hook(endpoint: Endpoint, name: str, *, holds: bool) -> dict[str, Any]:
    wait = client_seconds(endpoint, name, holds=holds)
    command = f"{_forwarder(endpoint, wait)} {OR_SILENT}"
    return {"type": "command", "command": command, "timeout": wait + STEP_SECONDS}


def _forwarder(endpoint: Endpoint, wait: int) -> str:
    argv = [endpoint.python, "-I", "-S", endpoint.hook_file, "--socket", endpoint.socket, "--wait", str(wait)]
    return shlex.join(argv)


def client_seconds(endpoint: Endpoint, name: str, *, holds: bool) -> int:
    """Seconds that a client waits for the daemon's answer."""
    if holds:
        return math.ceil(endpoint.wait_seconds) + STEP_SECONDS
    return END_SECONDS if name == "SessionEnd" else OBSERVE_SECONDS


def plugin_files(endpoint: Endpoint, version: str) -> dict[str, str]:
    """The files of the marketplace and its plugin, by path.

    One event name that Claude Code does not know disables the whole file, so newer events have a file of their own.
    """
    groups = hook_groups(endpoint, Transport.PLUGIN, version)
    newer = {name: groups.pop(name) for name in list(groups) if is_newer(HOOKS[name])}
    manifest: dict[str, Any] = {
        "name": "quarterdeck",
        "version": PLUGIN_VERSION,
        "description": "Reports this machine's sessions to Quarterdeck, where a person can decide their requests.",
        "author": {"name": "Quarterdeck"},
    }
    files = {
        ".claude-plugin/marketplace.json": _marketplace(),
        f"{PLUGIN}/.claude-plugin/plugin.json": manifest,
        f"{PLUGIN}/hooks/hooks.json": {"hooks": groups},
    }
    if newer:
        manifest["hooks"] = "./hooks/newer.json"
        files[f"{PLUGIN}/hooks/newer.json"] = {"hooks": newer}
    return {path: json.dumps(body, indent=2) + "\n" for path, body in files.items()}


def _marketplace() -> dict[str, Any]:
    plugin = {"name": "quarterdeck", "source": "./quarterdeck", "description": "Connects Claude Code to Quarterdeck."}
    return {"name": MARKETPLACE, "owner": {"name": "Quarterdeck"}, "plugins": [plugin]}


def marketplace_entry(folder: str) -> dict[str, Any]:
    """The settings entry that Claude Code writes for Quarterdeck's marketplace."""
    return {"source": {"source": "directory", "path": folder}}


def marketplace_folder(entry: object) -> str:
    """The folder in a marketplace's entry if it is Quarterdeck's, else empty."""
    source = entry.get("source") if isinstance(entry, dict) else None
    path = source.get("path") if isinstance(source, dict) and source.get("source") == "directory" else None
    return path if isinstance(path, str) and path.rstrip("/").endswith(f"/{FOLDER}") else ""


_FORWARDER_COMMAND = re.compile(r" -I -S .*hook\.py'? --socket ")


def is_quarterdeck_hook(hook: object) -> bool:
    """True if a hook in Claude Code's settings is Quarterdeck's: it has the tag header or runs the forwarder."""
    if not isinstance(hook, dict):
        return False
    headers, command = hook.get("headers"), hook.get("command")
    if hook.get("type") == "http":
        return isinstance(headers, dict) and TAG_HEADER.lower() in (str(name).lower() for name in headers)
    return isinstance(command, str) and bool(_FORWARDER_COMMAND.search(command))


def quarterdeck_hooks(groups: object) -> Iterator[tuple[str, int, int, dict[str, Any]]]:
    """Every Quarterdeck hook with its event, the index of its group and its index in the group."""
    for event, listed in groups.items() if isinstance(groups, dict) else ():
        for at, group in enumerate(listed if isinstance(listed, list) else ()):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for place, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if is_quarterdeck_hook(hook):
                    yield event, at, place, hook


def read_installed(groups: object) -> list[InstalledHook]:
    """Quarterdeck's hooks in a settings or plugin file."""
    listed: dict[str, list[dict[str, Any]]] = groups if isinstance(groups, dict) else {}
    return [_read_hook(event, listed[event][at], hook) for event, at, _, hook in quarterdeck_hooks(groups)]


def _read_hook(event: str, group: Mapping[str, Any], hook: Mapping[str, Any]) -> InstalledHook:
    matcher = str(group.get("matcher") or "")
    timeout = _number(hook.get("timeout"))
    if hook["type"] == "http":
        bearer = str(hook["headers"].get("Authorization", ""))
        url, token = str(hook.get("url", "")), bearer.removeprefix("Bearer ")
        return InstalledHook(event=event, matcher=matcher, address=url, token=token, timeout=timeout, client_seconds=0)
    argv = _split(hook["command"])
    options = dict(pairwise(argv))
    return InstalledHook(
        event=event,
        matcher=matcher,
        address=options.get("--socket", ""),
        token="",
        timeout=timeout,
        client_seconds=_number(options.get("--wait")),
        programs=tuple(argv[:1] + argv[3:4]),
        enforced=event == GATE and bool(_CLOSED.search(hook["command"])),
    )


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, str | int | float) else 0.0
    except ValueError:
        return 0.0


def is_held(hook: InstalledHook, *, holds_stop: bool) -> bool:
    """True if a call of this hook may wait for a person."""
    known = HOOKS.get(hook.event)
    if hook.enforced or known is None or not known.holds:
        return hook.enforced
    if known.only:
        return hook.matcher in ("", "*", known.only)
    return holds_stop or not known.optional


def timeouts_nest(hook: InstalledHook, wait_seconds: float, *, holds_stop: bool = False) -> bool:
    """True if the daemon stops waiting before the client, and the client before the hook's time-out."""
    if not is_held(hook, holds_stop=holds_stop):
        return hook.timeout >= hook.client_seconds + (STEP_SECONDS if hook.client_seconds else 0)
    client = hook.client_seconds or hook.timeout - STEP_SECONDS
    return wait_seconds + STEP_SECONDS <= client and client + STEP_SECONDS <= hook.timeout <= MAX_TIMEOUT
