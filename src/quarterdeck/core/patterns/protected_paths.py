"""Paths that connect an agent to Quarterdeck, and cheap tests whether a text could lead to one or to Quarterdeck's own
folder."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from quarterdeck.core.model.tool_use import MAX_PATH_LENGTH, is_within

SETTINGS_FOLDERS = ("/.claude", "/claude-code")
"""Endings of the folders that hold an agent's settings, which say which hooks it runs."""

_WILD = re.compile(r"[*?\[]")
_NORMAL = re.compile(r"/|(?:/(?!\.\.?(?:/|\Z))[^/]+)+")


def is_settings(path: str) -> bool:
    """True if a path in lower case is a file that says which hooks an agent runs."""
    if len(path) > MAX_PATH_LENGTH:
        return False
    parts = path.split("/")
    if parts[-1] == ".claude.json":
        return True
    for folder, inside in pairwise(parts):
        if folder == ".claude" and (
            inside == "plugins" or (inside.startswith("settings") and inside.endswith(".json"))
        ):
            return True
        if folder == "claude-code" and inside.startswith("managed-"):
            return True
    return False


def leads_to_protected(folder: str, own_home: str) -> bool:
    """True if a word that names neither could still, from this folder, lead to Quarterdeck's files or to settings."""
    if not _is_normal(folder) or (own_home and is_within(folder, own_home)):
        return True
    return "claude" in folder and (folder.endswith(SETTINGS_FOLDERS) or is_settings(folder))


# Sessions work in few folders, and every shell line asks about its own.
@lru_cache(maxsize=256)
def is_unrelated(folder: str, home: str, own_home: str) -> bool:
    """True if neither Quarterdeck's files nor settings are below this folder, and the folder is in neither."""
    folder, home = folder.casefold(), home.casefold()
    if not _is_normal(folder) or _WILD.search(folder) or ".claude" in folder or "claude-code" in folder:
        return False
    return not any(is_within(one, folder) or is_within(folder, one) for one in (own_home, f"{home}/.claude"))


def wildcards_lead_to_protected(folder: str, own_home: str) -> bool:
    """True if a relative word with wildcards, which does not begin with a dot, may from this folder lead to
    Quarterdeck's files: the folder is above them, has their folder in its own path, or has wildcards itself."""
    return bool(own_home and (is_within(own_home, folder) or own_home in folder)) or _WILD.search(folder) is not None


def _is_normal(folder: str) -> bool:
    """True if a folder's path is normalised already. Most paths pass the cheap test before the regular expression."""
    if folder[:1] == "/" != folder[-1:] and "//" not in folder and "/." not in folder:
        return True
    return _NORMAL.fullmatch(folder) is not None


def may_name_protected(text: str, own_home: str) -> bool:
    """True if a word, or several in one text, could lead to Quarterdeck's files or to settings from a folder that does
    not lead there by itself. Without `..`, every part of a path comes from the folder or from the word."""
    return ".." in text or "claude" in text or bool(own_home and own_home.rpartition("/")[2] in text)
