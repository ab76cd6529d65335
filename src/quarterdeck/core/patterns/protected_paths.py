"""Paths that connect an agent to us, and which texts could lead to one or to our own folder."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from quarterdeck.core.model.tool_use import LONGEST_PATH, is_within

FOLDERS = ("/.claude", "/claude-code")
"""How the folders end that hold what says which hooks an agent runs."""

_WILD = re.compile(r"[*?\[]")
_NORMAL = re.compile(r"/|(?:/(?!\.\.?(?:/|\Z))[^/]+)+")


def is_settings(path: str) -> bool:
    """Whether a path in lower case is a file that says which hooks an agent runs."""
    if len(path) > LONGEST_PATH:
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


def leads_to_us(folder: str, ours: str) -> bool:
    """Whether a word that does not name us could still, from this folder, be a path of ours or of the settings."""
    if not _is_normal(folder) or (ours and is_within(folder, ours)):
        return True
    return "claude" in folder and (folder.endswith(FOLDERS) or is_settings(folder))


@lru_cache(maxsize=256)
def is_apart(folder: str, home: str, ours: str) -> bool:
    """Whether nothing below this folder is ours or of the settings, and the folder is in neither."""
    folder, home = folder.casefold(), home.casefold()
    if not _is_normal(folder) or _WILD.search(folder) or ".claude" in folder or "claude-code" in folder:
        return False
    return not any(is_within(one, folder) or is_within(folder, one) for one in (ours, f"{home}/.claude"))


def wildcards_lead_to_us(folder: str, ours: str) -> bool:
    """Whether a word with wildcards, that begins neither elsewhere nor with a dot, may from this folder be a path of
    ours: the folder is above ours, has it in its own path, or has wildcards itself."""
    return bool(ours and (is_within(ours, folder) or ours in folder)) or _WILD.search(folder) is not None


def _is_normal(folder: str) -> bool:
    """Whether nothing in the path of a folder can be worked out; most show it at a glance."""
    if folder[:1] == "/" != folder[-1:] and "//" not in folder and "/." not in folder:
        return True
    return _NORMAL.fullmatch(folder) is not None


def may_name_us(text: str, ours: str) -> bool:
    """Whether a word, or several in one text, could lead from a folder that does not to our own or to the settings.
    Without `..` every part of a path is one of the folder or of the word."""
    return ".." in text or "claude" in text or bool(ours and ours.rpartition("/")[2] in text)
