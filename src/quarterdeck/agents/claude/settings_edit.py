"""Edits of Claude Code's settings text that add or remove Quarterdeck's entries and leave every other byte alone.

The edits work on the text, not on parsed data: the file is the person's own, and dumping it again would change its
layout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from quarterdeck.agents.claude.hook_setup import MARKETPLACE, PLUGIN_ID, Groups, marketplace_folder, quarterdeck_hooks
from quarterdeck.errors import BadInput

Path = tuple[str | int, ...]
CONTAINERS = ("hooks", "enabledPlugins", "extraKnownMarketplaces")
"""The keys that Quarterdeck writes under; Claude Code leaves the last two behind empty."""

_blank = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


class JsonMember(Struct, frozen=True):
    """The position of one member of an object or array: start of its key (or value), start and end of its value."""

    key: str | int
    start: int
    value: int
    end: int


def read_settings(text: str) -> dict[str, Any]:
    """The settings as data; a blank text is empty settings. BadInput names the problem and its line."""
    try:
        settings = json.loads(_body(text) or "{}")
    except (ValueError, RecursionError) as error:
        raise BadInput("not_json", f"is not valid JSON: {error}") from None
    if not isinstance(settings, dict):
        raise BadInput("not_an_object", "is not a JSON object")
    for key in CONTAINERS:
        if not isinstance(settings.get(key, {}), dict):
            raise BadInput("not_an_object", f"{key} is not a JSON object")
    return settings


def _body(text: str) -> str:
    return text.removeprefix("\ufeff").strip(" \t\r\n")


def add_hooks(text: str, groups: Groups) -> str:
    """The text with Quarterdeck's hooks after all other hooks."""
    for event, added in groups.items():
        listed = read_settings(text).get("hooks", {}).get(event)
        if isinstance(listed, list):
            for group in added:
                text = _append(text, ("hooks", event), None, group)
        elif listed is None:
            text = _put(text, ("hooks", event), added)
        else:
            raise BadInput("not_an_array", f"hooks.{event} is not a JSON array")
    return text


def enable_plugin(text: str, entry: Mapping[str, Any]) -> str:
    """The text as Claude Code leaves it when the plugin is installed, in the text's own layout."""
    text = _put(text, ("extraKnownMarketplaces", MARKETPLACE), dict(entry))
    return _put(text, ("enabledPlugins", PLUGIN_ID), True)


def remove_quarterdeck(text: str) -> str:
    """The text without Quarterdeck's entries, and without containers that held nothing else."""
    while path := _first_quarterdeck_path(read_settings(text)):
        text = _cut(text, path)
    return text


def remove_empty(text: str, original: Mapping[str, Any]) -> str:
    """The text without the empty keys that Claude Code left and the original did not have."""
    for key in CONTAINERS:
        if read_settings(text).get(key) == {} and key not in original:
            text = _cut(text, (key,))
    return text


def without_quarterdeck(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The other settings, as data; an empty container counts as missing."""
    rest = read_settings(remove_quarterdeck(json.dumps(settings)))
    return {key: value for key, value in rest.items() if value != {} or key not in CONTAINERS}


def has_quarterdeck(settings: Mapping[str, Any]) -> bool:
    return bool(_first_quarterdeck_path(settings))


def _first_quarterdeck_path(settings: Mapping[str, Any]) -> Path:
    """The path of Quarterdeck's first entry; a whole group if all its hooks are Quarterdeck's."""
    groups = settings.get("hooks")
    hooks = list(quarterdeck_hooks(groups))
    if hooks and isinstance(groups, dict):
        event, at, place, _ = hooks[0]
        whole = len(groups[event][at]["hooks"]) == sum(hook[:2] == (event, at) for hook in hooks)
        return ("hooks", event, at) if whole else ("hooks", event, at, "hooks", place)
    if PLUGIN_ID in settings.get("enabledPlugins", {}):
        return ("enabledPlugins", PLUGIN_ID)
    if marketplace_folder(settings.get("extraKnownMarketplaces", {}).get(MARKETPLACE)):
        return ("extraKnownMarketplaces", MARKETPLACE)
    return ()


def _put(text: str, path: tuple[str, str], value: object) -> str:
    """Set a key of a top-level object; both are created if missing."""
    outer, key = path
    settings = read_settings(text)
    if outer not in settings:
        return _append(text if _body(text) else text + "{}\n", (), outer, {key: value})
    if key not in settings[outer]:
        return _append(text, (outer,), key, value)
    member = _find(text, path)
    return text[: member.value] + _write(text, value, _indent_at(text, member.start)) + text[member.end :]


def _append(text: str, path: Path, key: str | None, value: object) -> str:
    """Add a last member to the container at a path, laid out like its neighbours."""
    at = _start(text, path)
    members, close = _members(text, at)
    name = "" if key is None else json.dumps(key) + ": "
    if members:
        last = members[-1]
        gap = text[len(text[: last.start].rstrip(" \t\r\n")) : last.start]
        written = _write(text, value, gap.rpartition("\n")[2] if "\n" in gap else None)
        return f"{text[: last.end]},{gap}{name}{written}{text[last.end :]}"
    outer = _indent_at(text, at)
    if outer is None:
        return f"{text[: at + 1]}{name}{_write(text, value, None)}{text[close:]}"
    line, inner = _newline(text), outer + _unit(text)
    return f"{text[: at + 1]}{line}{inner}{name}{_write(text, value, inner)}{line}{outer}{text[close:]}"


def _cut(text: str, path: Path) -> str:
    """Remove a member, and every container that held nothing else."""
    at = _start(text, path[:-1])
    members, close = _members(text, at)
    if len(members) == 1 and len(path) > 1:
        return _cut(text, path[:-1])
    if len(members) == 1:
        return text[: at + 1] + text[close:]
    place = max(place for place, member in enumerate(members) if member.key == path[-1])
    if place == 0:
        return text[: members[0].start] + text[members[1].start :]
    return text[: members[place - 1].end] + text[members[place].end :]


def _write(text: str, value: object, indent: str | None) -> str:
    """The value as JSON: on one line, or one key per line after an indent."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", _newline(text) + indent)


def _unit(text: str) -> str:
    found = re.search(r'\{\s*?\n([ \t]+)"', text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str | None:
    """The indent of the line at a position; None if the text is all on one line."""
    if "\n" not in _body(text) and _members(text, _start(text, ()))[0]:
        return None
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _start(text: str, path: Path) -> int:
    """The start of the value at a path."""
    return _find(text, path).value if path else _skip(text, int(text.startswith("\ufeff")))


def _find(text: str, path: Path) -> JsonMember:
    """The member at a path; of equal keys the last, which is the one that counts."""
    members, _ = _members(text, _start(text, path[:-1]))
    return next(member for member in reversed(members) if member.key == path[-1])


def _members(text: str, at: int) -> tuple[list[JsonMember], int]:
    """The members of the object or array that opens at a position of valid JSON, and the position where it closes."""
    keyed = text[at] == "{"
    found: list[JsonMember] = []
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        start, key = at, len(found)
        if keyed:
            key, at = _decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _decode(text, at)
        found.append(JsonMember(key, start, at, end))
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found, at


def _skip(text: str, at: int) -> int:
    found = _blank.match(text, at)
    return found.end() if found else at


def obstacles(settings: Mapping[str, Any], url: str) -> list[str]:
    """The person's own settings that keep Quarterdeck's hooks from running."""
    found = []
    if settings.get("disableAllHooks") is True:
        found.append("disableAllHooks is true: no hook runs until it is removed")
    allowed = settings.get("allowedHttpHookUrls")
    if isinstance(allowed, list) and not any(fnmatchcase(url, str(pattern)) for pattern in allowed):
        found.append(f"allowedHttpHookUrls does not include {url}: add it, or use --transport command")
    return found
