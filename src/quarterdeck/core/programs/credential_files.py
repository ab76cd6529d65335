"""Files that hold credentials, and the words of a command that name one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quarterdeck.core.programs.grammar import word_set

CREDENTIAL_FILES: tuple[tuple[str, str], ...] = (
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
    (r"/\.(boto|s3cfg|fly/config\.yml|composer/auth\.json|config/(doctl|hcloud|configstore)/)", "stored tokens"),
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
"""Files that let others act as you: reading one is critical."""

_FILES = re.compile("|".join(pattern for pattern, _ in CREDENTIAL_FILES))
_MAY_BECOME_ONE = re.compile(r"\A(?:/(?:home|users)(?:/[^/]+)?|/root|(?:/\.\.)+)/\.[^/]*[*?\[]|\A/etc/[^/]*[*?\[]")
"""Wildcards in names that begin with a dot in a home, or of files of the system's configuration."""
_HOME = re.compile(r"\A(?:~[\w-]*|\$HOME|\$\{HOME\})(?=/|\Z)")
_PIECES = re.compile(r"[=:,<@]")
_PLAIN = re.compile(r"[A-Za-z0-9_][\w.-]*+(?:/[A-Za-z0-9_][\w.-]*+)*+")
"""A path in the project, in which a folder may be called `cookies`."""
_SHOW_NAMES = word_set(
    "[ basename cd chgrp chmod chown df dirname du echo exa eza fd fdfind find ls mkdir printf pwd readlink "
    "realpath rm rmdir stat test touch tree type unlink which ssh-add ssh-copy-id ssh-keygen ssh sudo doas"
)
"""Programs that do not show the content of the files in their arguments, or are asked about for another reason."""


def may_name_credentials(line: str) -> bool:
    """A cheap first test of a whole line: one of these texts occurs in every line that names such a file outside of the
    project. Spelled out because it runs for every line, and a loop takes three times as long."""
    return "/." in line or "~" in line or "/etc/" in line or "/proc/" in line or "/run/" in line or "id_" in line


def credential_words(words: Sequence[str]) -> Iterator[int]:
    """Yield the places of the words of a command that name a file with credentials, and might show it."""
    if words[0] in _SHOW_NAMES:
        return
    for place, word in enumerate(words[1:], 1):
        if (
            not _PLAIN.fullmatch(word)
            and (word[:1] in "/~@" or " " not in word)
            and any(map(_is_credential_file, {word, *_PIECES.split(word)}))
        ):
            yield place


def _is_credential_file(path: str) -> bool:
    if not path or _PLAIN.fullmatch(path):
        return False
    path = _HOME.sub("/home", path.removeprefix("//")).lower()
    path = path if path[:1] == "/" else "/" + path
    return _FILES.search(path) is not None or _MAY_BECOME_ONE.search(path) is not None
