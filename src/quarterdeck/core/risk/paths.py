"""What a path is about, told by its words alone: the project, the system, credentials, what guards the agent."""

from __future__ import annotations

import posixpath as paths
import re
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

LONGEST = 4096


class Where(Struct, frozen=True, kw_only=True):
    """Where an agent works. `guarded` are folders that hold what watches over it."""

    cwd: str
    home: str
    guarded: tuple[str, ...] = ()


class Place(StrEnum):
    """The part of the machine a path is in."""

    PROJECT = "project"
    WHOLE = "the whole project"
    TEMPORARY = "temporary"
    HOME = "home"
    ROOT = "root"
    SYSTEM = "system"
    DEVICE = "device"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


_SYSTEM = re.compile(r"/(etc|usr|bin|sbin|lib\w*|boot|var|opt|proc|sys|root|system|library|applications)(/|$)")
_TEMPORARY = re.compile(r"(/private)?/(tmp|var/tmp|var/folders)/.")
_HARMLESS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero"})
_HOMES = re.compile(r"^(~|\$HOME|\$\{HOME\})(?=/|$)")
_HERE = re.compile(r"^(\$PWD|\$\{PWD\}|\$\(pwd\))(?=/|$)")


def real_path(word: str, where: Where) -> str | None:
    """The path a word means, as far as words tell; None when only the shell knows, or when it cannot be a path."""
    if not word or len(word) > LONGEST or "\0" in word:
        return None
    if word[0] in "~$":
        word = _HERE.sub(lambda _: where.cwd, _HOMES.sub(lambda _: where.home, word))
    if "$" in word or "`" in word or word[0] == "~":
        return None
    return paths.normpath(paths.join("/", where.cwd, word)).replace("//", "/")


def inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it."""
    folder = folder.rstrip("/")
    return bool(folder) and (path == folder or path.startswith(folder + "/"))


def place_of(path: str | None, where: Where) -> Place:
    """The part of the machine a path is in; a project that is the whole home or the root has no inside."""
    if path is None:
        return Place.UNKNOWN
    low, project = path.lower(), where.cwd.rstrip("/")
    if path == "/":
        return Place.ROOT
    if path == where.home or inside(where.home, path):
        return Place.HOME
    if path == project:
        return Place.WHOLE
    if inside(path, project) and project != where.home:
        return Place.PROJECT
    if path in _HARMLESS or path.startswith("/dev/fd/"):
        return Place.TEMPORARY
    if path.startswith("/dev/"):
        return Place.DEVICE
    if _TEMPORARY.match(low):
        return Place.TEMPORARY
    if _SYSTEM.match(low) and not inside(path, where.home):
        return Place.SYSTEM
    return Place.ELSEWHERE


_Table = tuple[tuple[str, str], ...]

SECRETS: _Table = (
    (r"/\.ssh(/(?!.*\.pub$|known_hosts|config$)|$)", "SSH keys"),
    (r"/(id_rsa|id_dsa|id_ecdsa|id_ed25519)$", "an SSH key"),
    (r"/\.aws(/(credentials|config|sso|cli)\b|$)", "AWS credentials"),
    (r"/(\.config/)?gcloud/(credentials|access_tokens|application_default|legacy)", "Google Cloud credentials"),
    (r"/\.azure/(accesstokens|msal|azureprofile|service_principal)", "Azure credentials"),
    (r"/\.kube/config$", "cluster credentials"),
    (r"/\.docker/config\.json$", "container registry credentials"),
    (r"/(\.netrc|_netrc|\.git-credentials|\.config/git/credentials)$", "stored passwords"),
    (r"/\.(pypirc|vault-token|pgpass|my\.cnf|cargo/credentials(\.toml)?|gem/credentials)$", "stored credentials"),
    (r"/\.terraform\.d/credentials", "Terraform credentials"),
    (r"/\.config/(gh/hosts\.yml|hub|op/|rclone/rclone\.conf)", "stored tokens"),
    (r"/\.(gnupg|password-store)(/|$)", "GnuPG keys and passwords"),
    (r"/(library/keychains|\.local/share/keyrings|\.kwallet)(/|$)", "the keychain"),
    (r"/(login data|cookies|logins\.json|key[34]\.db|cookies\.sqlite)$", "a browser's passwords and cookies"),
    (r"\.(kdbx|agilekeychain|opvault)$", "a password store"),
    (r"/\.claude/\.credentials\.json$", "the agent's own credentials"),
    (r"/quarterdeck/(hook-)?token$", "Quarterdeck's tokens"),
    (r"^/etc/(shadow|gshadow|master\.passwd)-?$", "password hashes of this machine"),
    (r"^/proc/[^/]+/environ$", "the environment of another process"),
    (r"^(/var)?/run/secrets(/|$)", "mounted secrets"),
)
"""Files that let somebody else be you: reading one is critical."""

PERHAPS_SECRETS: _Table = (
    (r"/\.env(?!\.(example|sample|template|dist|test))(\.[\w-]+)?$|/\.envrc$", "environment files hold secrets"),
    (r"/\.npmrc$", "may hold a registry token"),
    (r"\.(pem|key|p12|pfx|jks|keystore|asc|ppk)$", "may hold a private key"),
    (
        r"/(credentials|secrets?|service[-_]?account[^/]*|client_secret[^/]*)\.(json|ya?ml|toml|ini|txt)$",
        "may hold secrets",
    ),
    (r"/\.(bash|zsh|python|psql|mysql|node_repl)_history$|/\.histfile$", "a history of commands may hold secrets"),
    (r"/\.ssh/config$", "how this machine connects to others"),
)
"""Files that often hold secrets: high."""

GUARDS: _Table = (
    (r"/\.claude/(settings[^/]*\.json|hooks|plugins)(/|$)|/\.claude/?$", "the agent's settings and hooks"),
    (r"/\.claude\.json$|/claude-code/managed-settings\.json$", "the agent's settings"),
    (r"/(\.local/share|application support|\.config)/quarterdeck(/|$)", "Quarterdeck's files"),
)
"""Files by which an agent is watched and held: writing one is critical."""

STARTERS: _Table = (
    (
        r"/\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zshenv|zlogin|kshrc)$",
        "a shell start-up file",
    ),
    (r"/\.config/fish/|/\.(inputrc|xprofile|xinitrc|tmux\.conf|vimrc)$|/\.config/nvim/", "a start-up file"),
    (r"/\.gitconfig$|/\.config/git/config$|/\.git/config$", "Git's configuration, which can run programs"),
    (r"/\.git/hooks(/|$)|/\.husky/", "a Git hook, which runs by itself"),
    (r"/\.config/(autostart|systemd)/|/library/launch(agents|daemons)/", "what starts at log-in"),
    (r"/\.mcp\.json$", "which tool servers the agent starts"),
    (r"/\.(envrc|vscode/(tasks|settings|launch)\.json|devcontainer/)", "what an editor or shell runs by itself"),
    (r"/(\.npmrc|pip\.conf|\.pip/pip\.conf|\.condarc|\.yarnrc(\.yml)?)$", "where packages come from"),
)
"""Files that run or steer programs later: writing one is high."""

AUTOMATION: _Table = (
    (
        r"/\.github/(workflows|actions)/|/\.gitlab-ci\.yml$|/\.circleci/|/jenkinsfile$|/azure-pipelines\.yml$",
        "what the build server runs",
    ),
    (
        r"/(makefile|package\.json|pyproject\.toml|setup\.py|dockerfile|docker-compose\.ya?ml|cargo\.toml|build\.gradle)$",
        "how the project is built",
    ),
    (r"/(claude\.md|agents\.md)$|/\.claude/(agents|commands|skills)/", "what agents are told here"),
)
"""Files of a project that say what runs later: medium, and said."""


def _joined(table: _Table) -> tuple[re.Pattern[str], tuple[str, ...]]:
    return re.compile("|".join(f"(?P<t{n}>{pattern})" for n, (pattern, _) in enumerate(table))), tuple(
        w for _, w in table
    )


_SECRETS, _PERHAPS, _GUARDS, _STARTERS, _AUTOMATION = map(
    _joined, (SECRETS, PERHAPS_SECRETS, GUARDS, STARTERS, AUTOMATION)
)


@lru_cache(maxsize=4096)
def _words_for(path: str, table: tuple[re.Pattern[str], tuple[str, ...]]) -> str | None:
    found = table[0].search(path.lower())
    return None if found is None or found.lastgroup is None else table[1][int(found.lastgroup[1:])]


def secret_in(path: str) -> str | None:
    """Which credentials a path leads to; None for none."""
    return _words_for(path, _SECRETS)


def perhaps_secret_in(path: str) -> str | None:
    """Why a file may hold secrets."""
    return _words_for(path, _PERHAPS)


def guard_in(path: str, where: Where) -> str | None:
    """What of the agent's guards a path belongs to."""
    known = _words_for(path, _GUARDS)
    return known or ("files that guard it" if is_guarded(path, where) else None)


def is_guarded(path: str, where: Where) -> bool:
    """Whether a path is in one of the folders that were named as guards."""
    return any(inside(path, folder) for folder in where.guarded)


def holds_guard(path: str, where: Where) -> bool:
    """Whether a folder has guards of the agent below it."""
    return any(inside(folder, path) for folder in where.guarded)


def starter_in(path: str) -> str | None:
    """What runs or is steered by this file later."""
    return _words_for(path, _STARTERS)


def automation_in(path: str) -> str | None:
    """What of a project's own automation this file is."""
    return _words_for(path, _AUTOMATION)
