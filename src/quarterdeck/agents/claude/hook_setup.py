"""What connects Claude Code to us: our hooks, the plugin that carries them, and how ours are told from others."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any

from msgspec import Struct

from quarterdeck.agents.claude.hooks import HOOKS, SUPPORTED, Hook

MARKETPLACE = "quarterdeck"
PLUGIN_ID = f"quarterdeck@{MARKETPLACE}"
FOLDER = "claude-plugin"
"""The marketplace's folder in the home. Claude Code reads it live, so an edit needs no new version."""

PLUGIN_VERSION = "1.0.0"
TAG_HEADER = "X-Quarterdeck-Tag"
ENTRYPOINT_HEADER = "X-Quarterdeck-Entrypoint"

STEP_SECONDS = 10
"""How much longer each of hook, client and daemon waits than the next."""

MAX_TIMEOUT = 2_147_483
"""Claude Code 2.1.197 counts milliseconds in 32 bits: a longer time-out ends at once, and the tool runs."""

MAX_WAIT_SECONDS = MAX_TIMEOUT - 2 * STEP_SECONDS
OBSERVE_TIMEOUT = 10
END_TIMEOUT = 3
"""A session's end waits for its hooks: nobody should notice ours."""

GATE = "PreToolUse"
ENFORCE, OR_BLOCK = "--enforce", "|| exit 2"
ON_FAILURE_SINCE = "2.1.325"
"""Which Claude Code knows `onFailure`; 2.1.197 ignores it."""

Groups = dict[str, list[dict[str, Any]]]
"""Hooks as Claude Code writes them: event name → groups of hooks."""


class Transport(StrEnum):
    PLUGIN = "plugin"
    HTTP = "http"
    COMMAND = "command"


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where hooks report: over HTTP to `url`, as commands through `hook_file` to `socket`. `holds_stop` when stops are
    held too."""

    url: str
    hook_token: str
    wait_seconds: float
    socket: str
    python: str
    hook_file: str
    holds_stop: bool = False


class Installed(Struct, frozen=True, kw_only=True):
    """One hook of ours as found: `address` is its URL or socket, `client_seconds` is 0 for HTTP."""

    event: str
    matcher: str
    address: str
    token: str
    timeout: float
    client_seconds: float
    enforced: bool = False


def version_of(text: str) -> tuple[int, ...]:
    """The numbers of a version; empty when there are none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def is_newer(hook: Hook) -> bool:
    """Whether the oldest supported Claude Code does not know the event."""
    return version_of(hook.since) > version_of(SUPPORTED[0])


def events(version: str) -> dict[str, Hook]:
    """The events to register with a Claude Code; an unknown version gets those that all know."""
    known = version_of(version) or version_of(SUPPORTED[0])
    return {name: hook for name, hook in HOOKS.items() if hook.transport != "never" and version_of(hook.since) <= known}


def hook_groups(endpoint: Endpoint, transport: Transport, version: str, *, enforce: bool = False) -> Groups:
    """Our hooks by event, and on wish the gate. Without a matcher a group fires for everything."""
    groups = {name: _groups(endpoint, transport, name, hook) for name, hook in events(version).items()}
    if enforce:
        groups[GATE].append({"hooks": [_gate(endpoint, version)]})
    return groups


def _groups(endpoint: Endpoint, transport: Transport, name: str, hook: Hook) -> list[dict[str, Any]]:
    if hook.only:
        others = f"^(?!{hook.only}$)"
        return [
            {"matcher": hook.only, "hooks": [_hook(endpoint, transport, name, hook, holds=True)]},
            {"matcher": others, "hooks": [_hook(endpoint, transport, name, hook, holds=False)]},
        ]
    holds = hook.holds and (endpoint.holds_stop or not hook.on_wish)
    return [{"hooks": [_hook(endpoint, transport, name, hook, holds=holds)]}]


def _gate(endpoint: Endpoint, version: str) -> dict[str, Any]:
    """The hook that blocks a tool unless we let it run. The shell's `exit 2` closes it whatever becomes of the
    forwarder; a newer Claude Code also closes it when the shell fails or the time-out comes first."""
    hook = _command_hook(endpoint, GATE, holds=True)
    gate = {**hook, "command": f"{hook['command']} {ENFORCE} {OR_BLOCK}"}
    if version_of(version) >= version_of(ON_FAILURE_SINCE):
        gate["onFailure"] = "block"
    return gate


def _hook(endpoint: Endpoint, transport: Transport, name: str, hook: Hook, *, holds: bool) -> dict[str, Any]:
    if transport is Transport.COMMAND or hook.transport == "command":
        return _command_hook(endpoint, name, holds=holds)
    return _http_hook(endpoint, name, holds=holds)


def _http_hook(endpoint: Endpoint, name: str, *, holds: bool) -> dict[str, Any]:
    timeout = client_seconds(endpoint, name, holds=holds) + STEP_SECONDS if holds else _patience(name)
    return {
        "type": "http",
        "url": f"{endpoint.url}/hook",
        "timeout": timeout,
        "headers": {
            "Authorization": f"Bearer {endpoint.hook_token}",
            TAG_HEADER: "$QUARTERDECK_TAG",
            ENTRYPOINT_HEADER: "$CLAUDE_CODE_ENTRYPOINT",
        },
        "allowedEnvVars": ["QUARTERDECK_TAG", "CLAUDE_CODE_ENTRYPOINT"],
    }


def _command_hook(endpoint: Endpoint, name: str, *, holds: bool) -> dict[str, Any]:
    wait = client_seconds(endpoint, name, holds=holds)
    argv = [endpoint.python, "-I", "-S", endpoint.hook_file, "--socket", endpoint.socket, "--wait", str(wait)]
    return {"type": "command", "command": shlex.join(argv), "timeout": wait + STEP_SECONDS}


def client_seconds(endpoint: Endpoint, name: str, *, holds: bool) -> int:
    """How long a client waits for the daemon's answer."""
    return math.ceil(endpoint.wait_seconds) + STEP_SECONDS if holds else _patience(name)


def _patience(name: str) -> int:
    return END_TIMEOUT if name == "SessionEnd" else OBSERVE_TIMEOUT


def plugin_files(endpoint: Endpoint, version: str, *, enforce: bool = False) -> dict[str, str]:
    """The files of the marketplace and its plugin, by path.

    One event name that Claude Code does not know disables the whole file: newer ones have their own.
    """
    groups = hook_groups(endpoint, Transport.PLUGIN, version, enforce=enforce)
    newer = {name: groups.pop(name) for name in list(groups) if is_newer(HOOKS[name])}
    manifest: dict[str, Any] = {
        "name": "quarterdeck",
        "version": PLUGIN_VERSION,
        "description": "Reports this machine's sessions to Quarterdeck, where a person can decide their requests.",
        "author": {"name": "Quarterdeck"},
    }
    files = {
        ".claude-plugin/marketplace.json": _marketplace(),
        "quarterdeck/.claude-plugin/plugin.json": manifest,
        "quarterdeck/hooks/hooks.json": {"hooks": groups},
    }
    if newer:
        manifest["hooks"] = "./hooks/newer.json"
        files["quarterdeck/hooks/newer.json"] = {"hooks": newer}
    return {path: json.dumps(body, indent=2) + "\n" for path, body in files.items()}


def _marketplace() -> dict[str, Any]:
    plugin = {"name": "quarterdeck", "source": "./quarterdeck", "description": "Connects Claude Code to Quarterdeck."}
    return {"name": MARKETPLACE, "owner": {"name": "Quarterdeck"}, "plugins": [plugin]}


def marketplace_entry(folder: str) -> dict[str, Any]:
    """What Claude Code writes into its settings for our marketplace."""
    return {"source": {"source": "directory", "path": folder}}


def marketplace_folder(entry: object) -> str:
    """The folder a marketplace's entry names if it is one of ours, else empty."""
    source = entry.get("source") if isinstance(entry, dict) else None
    path = source.get("path") if isinstance(source, dict) and source.get("source") == "directory" else None
    return path if isinstance(path, str) and path.rstrip("/").endswith(f"/{FOLDER}") else ""


_OUR_COMMAND = re.compile(r" -I -S .*hook\.py'? --socket ")


def is_ours(hook: object) -> bool:
    """Whether a hook in Claude Code's settings is one of ours: by our header, or as our forwarder."""
    if not isinstance(hook, dict):
        return False
    headers, command = hook.get("headers"), hook.get("command")
    if hook.get("type") == "http":
        return isinstance(headers, dict) and TAG_HEADER.lower() in (str(name).lower() for name in headers)
    return isinstance(command, str) and bool(_OUR_COMMAND.search(command))


def our_hooks(groups: object) -> Iterator[tuple[str, int, int, dict[str, Any]]]:
    """Every hook of ours with its event, its group's place and its own."""
    for event, listed in groups.items() if isinstance(groups, dict) else ():
        for at, group in enumerate(listed if isinstance(listed, list) else ()):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for place, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if is_ours(hook):
                    yield event, at, place, hook


def read_installed(groups: object) -> list[Installed]:
    """Our hooks as they stand in a settings or plugin file."""
    listed: dict[str, list[dict[str, Any]]] = groups if isinstance(groups, dict) else {}
    return [_read_hook(event, listed[event][at], hook) for event, at, _, hook in our_hooks(groups)]


def _read_hook(event: str, group: Mapping[str, Any], hook: Mapping[str, Any]) -> Installed:
    matcher = str(group.get("matcher") or "")
    timeout = _number(hook.get("timeout"))
    if hook["type"] == "http":
        bearer = str(hook["headers"].get("Authorization", ""))
        url, token = str(hook.get("url", "")), bearer.removeprefix("Bearer ")
        return Installed(event=event, matcher=matcher, address=url, token=token, timeout=timeout, client_seconds=0)
    argv = _split(hook["command"])
    options = dict(pairwise(argv))
    return Installed(
        event=event,
        matcher=matcher,
        address=options.get("--socket", ""),
        token="",
        timeout=timeout,
        client_seconds=_number(options.get("--wait")),
        enforced=event == GATE and hook["command"].endswith(f" {ENFORCE} {OR_BLOCK}"),
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


def is_held(hook: Installed, *, holds_stop: bool) -> bool:
    """Whether who calls this hook may be kept waiting for a person."""
    known = HOOKS.get(hook.event)
    if hook.enforced or known is None or not known.holds:
        return hook.enforced
    if known.only:
        return hook.matcher in ("", "*", known.only)
    return holds_stop or not known.on_wish


def nests(hook: Installed, wait_seconds: float, *, holds_stop: bool = False) -> bool:
    """Whether the daemon's wait ends before the client's, and the client's before the hook's time-out."""
    if not is_held(hook, holds_stop=holds_stop):
        return hook.timeout >= hook.client_seconds + (STEP_SECONDS if hook.client_seconds else 0)
    client = hook.client_seconds or hook.timeout - STEP_SECONDS
    return wait_seconds + STEP_SECONDS <= client and client + STEP_SECONDS <= hook.timeout <= MAX_TIMEOUT
