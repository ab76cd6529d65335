"""The meaning of a path, from its text alone: the project, the system, credentials, files that restrict agents."""

from __future__ import annotations

import posixpath as paths
import re
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

from quarterdeck.core.programs.credential_files import CREDENTIAL_FILES

MAX_PATH_LENGTH = 4096


class AgentLocation(Struct, frozen=True, kw_only=True):
    """The folder an agent works in, and its home. `guarded`: paths an agent must not change, which are Quarterdeck's
    home and the agent's settings."""

    cwd: str
    home: str
    guarded: tuple[str, ...] = ()


class PathZone(StrEnum):
    """The part of the machine a path is in."""

    PROJECT = "project"
    PROJECT_ROOT = "the whole project"
    TEMPORARY = "temporary"
    HOME = "home"
    ROOT = "root"
    SYSTEM = "system"
    DEVICE = "device"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


_SYSTEM = re.compile(r"/(etc|usr|bin|sbin|lib\w*|boot|var|opt|proc|sys|root|system|library|applications)(/|$)")
_TEMPORARY = re.compile(r"(/private)?/(tmp|var/tmp|var/folders)/.")
_STANDARD_DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero"})
_HOME_PREFIX = re.compile(r"^(~|\$HOME|\$\{HOME\})(?=/|$)")
_CWD_PREFIX = re.compile(r"^(\$PWD|\$\{PWD\}|\$\(pwd\))(?=/|$)")


def real_path(word: str, location: AgentLocation) -> str | None:
    """The path a word means, without looking at the disk. None if only the shell knows, or if it cannot be a path."""
    if not word or len(word) > MAX_PATH_LENGTH or "\0" in word:
        return None
    if word[0] in "~$":
        word = _CWD_PREFIX.sub(lambda _: location.cwd, _HOME_PREFIX.sub(lambda _: location.home, word))
    if "$" in word or "`" in word or word[0] == "~":
        return None
    return paths.normpath(paths.join("/", location.cwd, word)).replace("//", "/")


def inside(path: str, folder: str) -> bool:
    """True if a path is a folder or below it."""
    folder = folder.rstrip("/")
    return bool(folder) and (path == folder or path.startswith(folder + "/"))


def zone_of(path: str | None, location: AgentLocation) -> PathZone:
    """The part of the machine a path is in. A project that is the whole home or the root does not count as one."""
    if path is None:
        return PathZone.UNKNOWN
    lowered, project = path.lower(), location.cwd.rstrip("/")
    if path == "/":
        return PathZone.ROOT
    if path == location.home or inside(location.home, path):
        return PathZone.HOME
    if path == project:
        return PathZone.PROJECT_ROOT
    if inside(path, project) and project != location.home:
        return PathZone.PROJECT
    if path in _STANDARD_DEVICES or path.startswith("/dev/fd/"):
        return PathZone.TEMPORARY
    if path.startswith("/dev/"):
        return PathZone.DEVICE
    if _TEMPORARY.match(lowered):
        return PathZone.TEMPORARY
    if _SYSTEM.match(lowered) and not inside(path, location.home):
        return PathZone.SYSTEM
    return PathZone.ELSEWHERE


_Table = tuple[tuple[str, str], ...]

POSSIBLE_SECRETS: _Table = (
    (r"/\.env(?!\.(example|sample|template|dist|test))(\.[\w-]+)?$|/\.envrc$", "environment files hold secrets"),
    (r"/\.npmrc$", "may hold a registry token"),
    (r"\.(pem|key|p12|pfx|jks|keystore|asc|ppk)$", "may hold a private key"),
    (
        r"/(credentials|secrets?|service[-_]?account[^/]*|client_secret[^/]*)\.(json|ya?ml|toml|ini|txt)$",
        "may hold secrets",
    ),
    (r"/\.(bash|zsh|python|psql|mysql|node_repl)_history$|/\.histfile$", "a history of commands may hold secrets"),
    (r"/\.ssh/config$", "lists connections to other machines"),
)
"""Files that often hold secrets: high."""

GUARDS: _Table = (
    (r"/\.claude/(settings[^/]*\.json|hooks|plugins)(/|$)|/\.claude/?$", "the agent's settings and hooks"),
    (r"/\.claude\.json$|/claude-code/managed-settings\.json$", "the agent's settings"),
    (r"/(\.local/share|application support|\.config)/quarterdeck(/|$)", "Quarterdeck's files"),
)
"""Files that control and restrict an agent: writing one is critical."""

STARTUP_FILES: _Table = (
    (
        r"/\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zshenv|zlogin|kshrc)$",
        "a shell start-up file",
    ),
    (r"/\.config/fish/|/\.(inputrc|xprofile|xinitrc|tmux\.conf|vimrc)$|/\.config/nvim/", "a start-up file"),
    (r"/\.gitconfig$|/\.config/git/config$|/\.git/config$", "Git's configuration, which can run programs"),
    (r"/\.git/hooks(/|$)|/\.husky/", "a Git hook, which runs by itself"),
    (r"/\.config/(autostart|systemd)/|/library/launch(agents|daemons)/", "log-in programs"),
    (r"/\.mcp\.json$", "the tool servers that the agent starts"),
    (
        r"/\.(envrc|vscode/(tasks|settings|launch)\.json|devcontainer/)",
        "programs that an editor or shell starts",
    ),
    (r"/(\.npmrc|pip\.conf|\.pip/pip\.conf|\.condarc|\.yarnrc(\.yml)?)$", "package sources"),
)
"""Files that run or configure programs later: writing one is high."""

AUTOMATION: _Table = (
    (
        r"/\.github/(workflows|actions)/|/\.gitlab-ci\.yml$|/\.circleci/|/jenkinsfile$|/azure-pipelines\.yml$",
        "CI configuration",
    ),
    (
        r"/(makefile|package\.json|pyproject\.toml|setup\.py|dockerfile|docker-compose\.ya?ml|cargo\.toml|build\.gradle)$",
        "the build of the project",
    ),
    (r"/(claude\.md|agents\.md)$|/\.claude/(agents|commands|skills)/", "the instructions for agents"),
)
"""Files of a project that decide what runs later: writing one is medium, and the reason says so."""


def _compiled(table: _Table) -> tuple[re.Pattern[str], tuple[str, ...]]:
    return re.compile("|".join(f"(?P<t{n}>{pattern})" for n, (pattern, _) in enumerate(table))), tuple(
        w for _, w in table
    )


_SECRETS, _POSSIBLE, _GUARDS, _STARTUP, _AUTOMATION = map(
    _compiled, (CREDENTIAL_FILES, POSSIBLE_SECRETS, GUARDS, STARTUP_FILES, AUTOMATION)
)


# The commands of a line ask several tables about the same few paths, again and again.
@lru_cache(maxsize=4096)
def _label(path: str, table: tuple[re.Pattern[str], tuple[str, ...]]) -> str | None:
    match = table[0].search(path.lower())
    return None if match is None or match.lastgroup is None else table[1][int(match.lastgroup[1:])]


def secret_in(path: str) -> str | None:
    """The credentials a path leads to, in words; None if there are none."""
    return _label(path, _SECRETS)


def possible_secret_in(path: str) -> str | None:
    """The reason why a file may hold secrets; None if there is none."""
    return _label(path, _POSSIBLE)


def guard_in(path: str, location: AgentLocation) -> str | None:
    """The files that restrict agents and that a path belongs to, in words; None if there are none."""
    label = _label(path, _GUARDS)
    return label or ("protected files" if is_guarded(path, location) else None)


def is_guarded(path: str, location: AgentLocation) -> bool:
    """True if a path is in one of the guarded folders."""
    return any(inside(path, folder) for folder in location.guarded)


def contains_guard(path: str, location: AgentLocation) -> bool:
    """True if a guarded folder is below this one."""
    return any(inside(folder, path) for folder in location.guarded)


def startup_file_in(path: str) -> str | None:
    """The name of the start-up file at this path, in words; None if it is none."""
    return _label(path, _STARTUP)


def automation_in(path: str) -> str | None:
    """The part of a project's automation at this path, in words; None if it is none."""
    return _label(path, _AUTOMATION)
