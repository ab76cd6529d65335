"""Readers for git's output about a repository, and a remote's address without its credentials."""

from __future__ import annotations

import re

from quarterdeck.core.workspace.projects import GitFacts

_AHEAD_BEHIND = re.compile(r"\+(\d{1,9}) -(\d{1,9})")
_SCHEME = re.compile(r"((?:[A-Za-z0-9+.-]+::)*([A-Za-z][A-Za-z0-9+.-]*)://)(.*)", re.DOTALL)
_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]*)(:\d*)?")
SSH_SCHEMES = frozenset({"ssh", "git+ssh", "ssh+git"})
"""In these schemes the name before the host is a user, like `git`; in others it may be a token."""


def read_status(output: bytes) -> GitFacts:
    """Read `git status --porcelain=v2 --branch -z`, or its beginning."""
    branch: str | None = None
    ahead = behind = None
    dirty = False
    for line in output.split(b"\0"):
        name, _, value = line.decode(errors="replace").removeprefix("# ").partition(" ")
        if not line.startswith(b"# "):
            dirty = dirty or bool(line)
        elif name == "branch.head":
            branch = None if value == "(detached)" else value
        elif name == "branch.ab" and (found := _AHEAD_BEHIND.fullmatch(value)):
            ahead, behind = int(found[1]), int(found[2])
    return GitFacts(branch=branch, is_dirty=dirty, ahead=ahead, behind=behind)


def read_config(output: bytes) -> tuple[str | None, list[str]]:
    """Read `git config --list -z`: the address of origin, else of the first remote, and the names of all filters."""
    remotes: dict[str, str] = {}
    filters: dict[str, None] = {}
    for entry in output.split(b"\0"):
        key, _, value = entry.decode(errors="surrogateescape").partition("\n")
        section, _, rest = key.partition(".")
        name, _, variable = rest.rpartition(".")
        if section == "remote" and variable == "url" and value:
            remotes.setdefault(name, value)
        elif section == "filter" and name:
            filters[name] = None
    url = remotes.get("origin") or next(iter(remotes.values()), None)
    return (plain_remote(url) if url else None), list(filters)


def plain_remote(url: str) -> str:
    """A remote's address without passwords, tokens and queries; parts that may hold one are left out."""
    shown = url.encode(errors="surrogateescape").decode(errors="replace")
    found = _SCHEME.fullmatch(shown)
    if found is None:
        return re.sub(r"^([^/:@]*):[^/]*@", r"\1@", shown)
    prefix, scheme, rest = found[1], found[2].lower(), re.split(r"[?#]", found[3])[0]
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if not _PORT.fullmatch(host) or "@" in path:
        return f"{prefix}…"
    who = f"{user.partition(':')[0]}@" if at and scheme in SSH_SCHEMES else ""
    return f"{prefix}{who}{host}{slash}{path}"
