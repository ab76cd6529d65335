"""The files of a project that Claude Code obeys: what their hooks, servers and settings would do there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from quarterdeck.agents.claude.extensions import read_project_servers
from quarterdeck.core.text.titles import cut
from quarterdeck.core.workspace.extensions import HIDDEN, Server
from quarterdeck.core.workspace.project_config import Brings, BroughtHook, BroughtServer, BroughtSetting, joined
from quarterdeck.errors import BadInput
from quarterdeck.wire import read_json

SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
SERVERS = ".mcp.json"
FILES = (*SETTINGS, SERVERS)
MOST = 500
LONGEST = 4_000
SHOWN = ("hooks", "env", "permissions", "$schema")
RUN = ("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper")
RUN_INSIDE = ("statusLine", "subagentStatusLine", "fileSuggestion")
TOLD = (
    "additionalDirectories",
    "defaultMode",
    "disableAllHooks",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "enabledPlugins",
    "extraKnownMarketplaces",
    "skipDangerousModePermissionPrompt",
)
"""Settings whose value holds no secret and matters to who trusts; of any other only the name is told."""


def read_project(files: dict[str, bytes], troubles: list[str]) -> Brings:
    """What the files that could be read bring, and the troubles with the others. Never raises."""
    parts = [Brings(troubles=tuple(troubles))]
    for name, content in files.items():
        try:
            value = read_json(content)
        except BadInput as error:
            parts.append(Brings(troubles=(f"{name}: cannot be read ({error}); look at it",)))
            continue
        parts.append(_servers(value, name) if name == SERVERS else _settings(value, name))
    return joined(parts, MOST)


def _settings(value: Any, file: str) -> Brings:
    if not isinstance(value, dict):
        return Brings(troubles=(f"{file}: is no JSON object; look at it",))
    env, permissions = _mapping(value.get("env")), _mapping(value.get("permissions"))
    allows = permissions.get("allow")
    return Brings(
        hooks=tuple(_hooks(value.get("hooks"), file)),
        variables=tuple(BroughtSetting(name=_shown(name), says="", file=file) for name in env),
        allows=tuple(
            BroughtSetting(name=_shown(rule), says="", file=file)
            for rule in (allows if isinstance(allows, list) else [])
        ),
        others=tuple(_others(value, permissions, file)),
    )


def _hooks(value: Any, file: str) -> Iterator[BroughtHook]:
    for event, groups in _mapping(value).items():
        for group in groups if isinstance(groups, list) else [groups]:
            matcher = _mapping(group).get("matcher")
            hooks = _mapping(group).get("hooks")
            for hook in hooks if isinstance(hooks, list) else [group]:
                yield BroughtHook(
                    event=_shown(event), matcher=_shown(matcher) if matcher else "", runs=_runs(hook), file=file
                )


def _runs(hook: Any) -> str:
    """What a hook does, in its own words; one of a form that nobody here knows is shown as it stands."""
    asked = _mapping(hook)
    command, args = asked.get("command"), asked.get("args")
    if isinstance(command, str):
        return _shown(" ".join([command, *(shlex.quote(str(arg)) for arg in (args if isinstance(args, list) else []))]))
    for name in ("url", "prompt"):
        if isinstance(asked.get(name), str):
            return _shown(f"{asked.get('type', name)}: {asked[name]}")
    return _shown(hook)


def _others(value: dict[str, Any], permissions: dict[str, Any], file: str) -> Iterator[BroughtSetting]:
    for name, said in permissions.items():
        if name != "allow":
            yield BroughtSetting(name=_shown(f"permissions.{name}"), says=_told(name, said), file=file)
    for name, said in value.items():
        if name in RUN_INSIDE:
            yield BroughtSetting(name=name, says=f"runs {_runs(said)}", file=file)
        elif name in RUN:
            yield BroughtSetting(name=name, says=f"runs {_shown(said)}", file=file)
        elif name not in SHOWN:
            yield BroughtSetting(name=_shown(name), says=_told(name, said), file=file)


def _told(name: str, value: Any) -> str:
    return _shown(value) if name in TOLD else ""


def _servers(value: Any, file: str) -> Brings:
    if not isinstance(value, dict):
        return Brings(troubles=(f"{file}: is no JSON object; look at it",))
    return Brings(servers=tuple(_server(one, file) for one in read_project_servers(value, "")))


def _server(server: Server, file: str) -> BroughtServer:
    config = server.config
    words = [config["command"], *config["args"]] if "command" in config else []
    gets = [*config.get("env", ()), *config.get("headers", ())]
    return BroughtServer(
        name=_shown(server.name),
        transport=_shown(server.transport),
        runs=_shown(" ".join(map(_word, words))) if words else _shown(config.get("url", "")),
        gets=tuple(_shown(name) for name in gets),
        file=file,
    )


def _word(word: str) -> str:
    return word if HIDDEN in word else shlex.quote(word)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{cut(text, LONGEST)} ({len(text):,} characters)"
