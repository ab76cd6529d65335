"""The files of a project that Claude Code obeys: the effect of their hooks, servers and settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from quarterdeck.agents.claude.extensions import read_project_servers
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.workspace.extensions import HIDDEN, McpServer
from quarterdeck.core.workspace.project_config import (
    ProjectConfig,
    ProjectHook,
    ProjectServer,
    ProjectSetting,
    merge_configs,
)
from quarterdeck.errors import BadInput
from quarterdeck.wire import read_json

SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
SERVERS = ".mcp.json"
FILES = (*SETTINGS, SERVERS)
MAX_ENTRIES = 500
MAX_SHOWN = 4_000
"""Limits: entries per kind, and characters per entry: a hostile repository must not hide a hook behind megabytes of
others."""

LISTED_APART = ("hooks", "env", "permissions", "$schema")
COMMANDS = ("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper")
COMMAND_OBJECTS = ("statusLine", "subagentStatusLine", "fileSuggestion")
SHOWN_VALUES = (
    "additionalDirectories",
    "defaultMode",
    "disableAllHooks",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "enabledPlugins",
    "extraKnownMarketplaces",
    "skipDangerousModePermissionPrompt",
)
"""Settings whose value holds no secret and matters for trust; of any other setting only the name is shown."""


def read_project(files: dict[str, bytes], problems: list[str]) -> ProjectConfig:
    """The configuration in the files that could be read, and the problems with the others. Never raises."""
    parts = [ProjectConfig(problems=tuple(problems))]
    for name, content in files.items():
        try:
            value = read_json(content)
        except BadInput as error:
            parts.append(ProjectConfig(problems=(f"{name}: cannot be read ({error}); check the file",)))
            continue
        parts.append(_servers(value, name) if name == SERVERS else _settings(value, name))
    return merge_configs(parts, MAX_ENTRIES)


def _settings(value: Any, file: str) -> ProjectConfig:
    if not isinstance(value, dict):
        return ProjectConfig(problems=(f"{file}: is not a JSON object; check the file",))
    env, permissions = _mapping(value.get("env")), _mapping(value.get("permissions"))
    allows = permissions.get("allow")
    return ProjectConfig(
        hooks=tuple(_hooks(value.get("hooks"), file)),
        variables=tuple(ProjectSetting(name=_shown(name), value="", file=file) for name in env),
        allows=tuple(
            ProjectSetting(name=_shown(rule), value="", file=file)
            for rule in (allows if isinstance(allows, list) else [])
        ),
        others=tuple(_others(value, permissions, file)),
    )


def _hooks(value: Any, file: str) -> Iterator[ProjectHook]:
    for event, groups in _mapping(value).items():
        for group in groups if isinstance(groups, list) else [groups]:
            matcher = _mapping(group).get("matcher")
            hooks = _mapping(group).get("hooks")
            for hook in hooks if isinstance(hooks, list) else [group]:
                yield ProjectHook(
                    event=_shown(event), matcher=_shown(matcher) if matcher else "", command=_command(hook), file=file
                )


def _command(hook: Any) -> str:
    """The command, URL or prompt of a hook; a hook of an unknown form is shown as it is."""
    fields = _mapping(hook)
    command, args = fields.get("command"), fields.get("args")
    if isinstance(command, str):
        return _shown(" ".join([command, *(shlex.quote(str(arg)) for arg in (args if isinstance(args, list) else []))]))
    for name in ("url", "prompt"):
        if isinstance(fields.get(name), str):
            return _shown(f"{fields.get('type', name)}: {fields[name]}")
    return _shown(hook)


def _others(settings: dict[str, Any], permissions: dict[str, Any], file: str) -> Iterator[ProjectSetting]:
    for name, value in permissions.items():
        if name != "allow":
            yield ProjectSetting(name=_shown(f"permissions.{name}"), value=_shown_value(name, value), file=file)
    for name, value in settings.items():
        if name in COMMAND_OBJECTS:
            yield ProjectSetting(name=name, value=f"runs {_command(value)}", file=file)
        elif name in COMMANDS:
            yield ProjectSetting(name=name, value=f"runs {_shown(value)}", file=file)
        elif name not in LISTED_APART:
            yield ProjectSetting(name=_shown(name), value=_shown_value(name, value), file=file)


def _shown_value(name: str, value: Any) -> str:
    return _shown(value) if name in SHOWN_VALUES else ""


def _servers(value: Any, file: str) -> ProjectConfig:
    if not isinstance(value, dict):
        return ProjectConfig(problems=(f"{file}: is not a JSON object; check the file",))
    return ProjectConfig(servers=tuple(_server(one, file) for one in read_project_servers(value, "")))


def _server(server: McpServer, file: str) -> ProjectServer:
    config = server.config
    words = [config["command"], *config["args"]] if "command" in config else []
    environment = [*config.get("env", ()), *config.get("headers", ())]
    return ProjectServer(
        name=_shown(server.name),
        transport=_shown(server.transport),
        command=_shown(" ".join(map(_word, words))) if words else _shown(config.get("url", "")),
        environment=tuple(_shown(name) for name in environment),
        file=file,
    )


def _word(word: str) -> str:
    return word if HIDDEN in word else shlex.quote(word)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{cut(text, MAX_SHOWN)} ({len(text):,} characters)"
