"""Files that hold credentials, and the words of a command that name one."""

from __future__ import annotations

import posixpath as paths
import re
from collections.abc import Iterator, Sequence
from fnmatch import translate
from functools import lru_cache

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
    (r"^/proc/[^/]+(/task/[^/]+)?/environ$", "the environment of another process"),
    (r"^/(proc/kcore|dev/k?mem|proc/[^/]+/mem)$", "the memory of this machine"),
    (r"^(/var)?/run/(secrets|user/\d+/(keyring|containers/auth\.json|gnupg))(/|$)", "mounted secrets"),
    (
        r"^/etc/(ssl/private|ssh/ssh_host_[^/]*_key|krb5\.keytab|wireguard|letsencrypt/(live|archive)"
        r"|networkmanager/system-connections|kubernetes/(admin|super-admin)\.conf|rancher/k3s/k3s\.yaml"
        r"|mysql/debian\.cnf|openvpn|ppp/(chap|pap)-secrets|wpa_supplicant)(/|$)",
        "keys of this machine",
    ),
    (
        r"/\.config/(glab-cli|containers/auth\.json|helm/registry|composer/auth\.json|sops/age|stripe|ngrok|scw)(/|$)",
        "stored tokens",
    ),
    (
        r"/\.config/(github-copilot|solana/id\.json|databricks|netlify|\.?wrangler|keybase|bitwarden[^/]*|1password|filezilla)(/|$)",
        "stored tokens",
    ),
    (
        r"/\.(dockercfg|mylogin\.cnf|authinfo(\.gpg)?|msmtprc|fetchmailrc|databrickscfg|sentryclirc|passwd-s3fs|smbcredentials"
        r"|terraformrc|nuget/nuget/nuget\.config|ivy2/\.credentials|sbt/(\.?credentials|[^/]+/sonatype\.sbt)|hex/hex\.config"
        r"|m2/settings(-security)?\.xml|kaggle/kaggle\.json|huggingface/token|cache/huggingface/(token|stored_tokens)"
        r"|codex/auth\.json|gemini/oauth_creds\.json|pulumi/credentials\.json|railway/config\.json|netlify/config\.json"
        r"|supabase/access-token|oci/(config|.*\.pem)|aliyun/config\.json|bluemix/config\.json|circleci/cli\.yml"
        r"|snowflake/(config|connections)\.toml|snowsql/config|ngrok2/ngrok\.yml|vnc/passwd|subversion/auth|cloudflared"
        r"|local/share/(kwalletd|com\.vercel\.cli)|thunderbird|electrum|bitcoin|ethereum/keystore|travis/config\.yml"
        r"|config/gcloud|vercel/auth\.json|tsh|step/secrets|dbt/profiles\.yml)(/|$)",
        "stored credentials",
    ),
    (
        r"/(\.mozilla/firefox|\.config/(google-chrome|chromium|bravesoftware|microsoft-edge|vivaldi))(/|$)",
        "a browser's profile",
    ),
)
"""Files that let others act as you: reading one is critical."""

PRIVATE_FILES: tuple[tuple[str, str], ...] = (
    (r"/\.([a-z_]+_history|histfile|viminfo|lesshst)$|/\.local/share/fish/fish_history$", "a history of commands"),
    (
        r"^(/home/[^/]+|/home|/root|/users/[^/]+)/(\.npmrc|\.yarnrc\.yml|\.gradle/gradle\.properties|\.bundle/config)$",
        "tokens of package registries",
    ),
    (r"^(/home/[^/]+|/home|/root|/users/[^/]+)/(\.pip|\.config/pip)/pip\.conf$", "passwords of package registries"),
)
"""Files that often hold credentials: no rule that does not name one covers showing it."""

_FILES = re.compile("|".join(pattern for pattern, _ in (*CREDENTIAL_FILES, *PRIVATE_FILES)))
_HOME_EXAMPLES = """
.ssh/id_rsa .ssh/id_dsa .ssh/id_ecdsa .ssh/id_ed25519 .aws/credentials .aws/config .kube/config .netrc .pypirc .pgpass
.config/gcloud/credentials.db .config/gcloud/application_default_credentials.json .azure/accesstokens.json .my.cnf
.azure/msal_token_cache.json .docker/config.json .git-credentials .vault-token .cargo/credentials.toml .boto .s3cfg
.gem/credentials .terraform.d/credentials.tfrc.json .config/gh/hosts.yml .config/glab-cli/config.yml .npmrc
.config/rclone/rclone.conf .config/doctl/config.yaml .gnupg/secring.gpg .gnupg/private-keys-v1.d/x.key
.password-store/x.gpg .local/share/keyrings/x.keyring .mozilla/firefox/x/logins.json .mozilla/firefox/x/cookies.sqlite
.claude/.credentials.json .bash_history .zsh_history .python_history .psql_history .m2/settings.xml .codex/auth.json
.config/containers/auth.json .config/pip/pip.conf .composer/auth.json
"""
_MACHINE_EXAMPLES = """
/etc/shadow /etc/gshadow /etc/shadow- /etc/ssl/private/x.key /etc/ssh/ssh_host_rsa_key /proc/1/environ
/proc/self/environ /run/secrets/x
"""
_EXAMPLES = tuple(
    path.split("/") for path in (*(f"/home/me/{file}" for file in _HOME_EXAMPLES.split()), *_MACHINE_EXAMPLES.split())
)
"""Paths that a word with wildcards may expand to."""
_HOME = re.compile(r"\A(?:~[\w-]*|\$HOME|\$\{HOME\})(?=/|\Z)")
_SAME_ROOT = re.compile(r"\A/proc/(?:self|thread-self|\d+)/root(?=/|\Z)")
_PIECES = re.compile(r"[=:,<@]")
_ATTACHED = re.compile(r"\A-[A-Za-z]+(?=[/~.])")
"""A short option with its value in one word: `-f/etc/shadow`."""
_PLAIN = re.compile(r"[A-Za-z0-9_][\w.-]*+(?:/[A-Za-z0-9_][\w.-]*+)*+")
"""A path in the project, in which a folder may be called `cookies`."""
_WILDCARD = re.compile(r"[*?\[]")
_WHOLE_HOME = re.compile(
    r"/|/(?:home|users|root|etc|proc)|/(?:home|users)/[^/]+|.*/\.(?:config|local|local/share|mozilla)|(?:/\.\.)+"
)
"""Folders with credentials somewhere below."""
_COPIERS = word_set("cp rsync zip tar bsdtar gtar mv 7z scp")
_SEARCHERS = word_set("grep egrep fgrep rg ag ack zgrep ugrep")
_SWEEPERS = _COPIERS | _SEARCHERS
_SHOW_NAMES = word_set(
    "[ basename cd chgrp chmod chown df dirname du echo exa eza fd fdfind find ls mkdir printf pwd readlink "
    "realpath rm rmdir stat test touch tree type unlink which ssh-add ssh-copy-id ssh-keygen ssh sudo doas"
)
"""Programs that do not show the content of the files in their arguments, or are asked about for another reason."""


def may_name_credentials(line: str, names: frozenset[str]) -> bool:
    """A cheap first test of a whole line: true for every line that names such a file outside of the project. Spelled
    out because it runs for every line, and a loop takes three times as long. `names`: the commands of the line."""
    if "~" in line or "id_" in line:
        return True
    if "/" not in line:
        return " .." in line and not _SWEEPERS.isdisjoint(names)
    return (
        "/." in line
        or "/etc/" in line
        or "/proc/" in line
        or "/run/" in line
        or "/dev/m" in line
        or "/dev/k" in line
        or (" /" in line and ("*" in line or "?" in line or "[" in line))
        or ((" /" in line or " .." in line) and not _SWEEPERS.isdisjoint(names))
    )


def credential_words(words: Sequence[str], folders: Sequence[str] = ()) -> Iterator[int]:
    """Yield the places of the words of a command that name a file with credentials, and might show it. `folders`: those
    that the line changes to."""
    if words[0] in _SHOW_NAMES:
        return
    name = words[0].rpartition("/")[2]
    copies = name in _COPIERS
    operands = 0
    for place, word in enumerate(words[1:], 1):
        operands += word[:1] != "-"
        if is_credential_word(word, folders) or (
            (copies or (operands > 1 and name in _SEARCHERS))
            and word[:1] in "/~."
            and _WHOLE_HOME.fullmatch(_whole(word))
        ):
            yield place


def shown_credential(words: Sequence[str], given: Sequence[str], folders: Sequence[str] = ()) -> str:
    """The last word of a command that names a file with credentials which it may show; empty if there is none.
    `given`: words that it gets from elsewhere, such as the files that `find` or a redirection gives it."""
    found = ""
    for place in credential_words(words, folders):
        found = words[place]
    if found or not given or words[0] in _SHOW_NAMES:
        return found
    return next((word for word in given if is_credential_word(word, folders)), "")


def is_credential_word(word: str, folders: Sequence[str] = ()) -> bool:
    """True if a word names a file with credentials, seen from the session's folder or from one of these."""
    if folders and word[:1] not in "/~-" and any(_is_credential_file(f"{folder}/{word}") for folder in folders):
        return True
    if _PLAIN.fullmatch(word) or (" " in word and word[:1] not in "/~@$."):
        return False
    if word[:1] == "-" and (attached := _ATTACHED.sub("", word)) != word and _is_credential_file(attached):
        return True
    return _is_credential_file(word) or (
        _PIECES.search(word) is not None and any(map(_is_credential_file, _PIECES.split(word)))
    )


def _is_credential_file(path: str) -> bool:
    if not path or _PLAIN.fullmatch(path):
        return False
    path = _whole(path)
    return _FILES.search(path) is not None or (_WILDCARD.search(path) is not None and _may_become_one(path))


def _whole(path: str) -> str:
    """The path in lower case without what does not change it: `..`, `//`, other names of the root and of a home."""
    path = (_HOME.sub("/home/me", path) if path[:1] in "~$" else path).lower()
    path = path if path[:1] == "/" else f"/./../{path}" if path[:2] == ".." else f"/{path}"
    if "/." in path or "//" in path:  # the longer way is for few paths
        path = "/" + paths.normpath(path).lstrip("/")
    return (_SAME_ROOT.sub("", path) or "/") if path[:6] == "/proc/" else path


# A line is judged several times, and few words have wildcards.
@lru_cache(maxsize=512)
def _may_become_one(path: str) -> bool:
    """True if the shell may expand a path with wildcards to a file with credentials. A path that begins in a folder
    above is compared with what is below a home."""
    parts = path.split("/")
    for example in _EXAMPLES:
        for start in (example, ["", *example[3:]]) if example[1] == "home" else (example,):
            if len(parts) == len(start) and all(map(_expands, parts, start)):
                return True
    return False


def _expands(part: str, name: str) -> bool:
    if part == name:
        return True
    if not _WILDCARD.search(part) or (name[:1] == "." and part[:1] not in ".["):
        return False
    return re.match(translate(part.replace("[^", "[!")), name) is not None
