"""Variables that a shell has and the service lacks. Only names leave this module, never values."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from quarterdeck.system.process_table import HAS_PROC, PROC, read_small

NETWORK = ("*_PROXY", "*_proxy", "SSL_CERT_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSH_AUTH_SOCK", "GIT_*")
OWN = ("QUARTERDECK_*",)
COUNTS = (*NETWORK, *OWN)
"""The variables that change what the daemon or the tools of an agent do, whatever the agent."""
OF_ONE_SESSION = ("QUARTERDECK_TAG", "QUARTERDECK_SESSION_TAG")
"""Variables that a session sets for what it runs: a service must not have them."""

_PS_NAME = re.compile(r"(?:^|\s)([A-Za-z_][A-Za-z0-9_]*)=(\S*)")


def environment_of(pid: int) -> Mapping[str, str] | None:
    """The environment that a process was started with; None when the system does not show it."""
    if not HAS_PROC:
        return _from_ps(pid)
    content = read_small(f"{PROC}/{pid}/environ").decode(errors="replace")
    return dict(entry.partition("=")[::2] for entry in content.split("\0") if entry) or None


def _from_ps(pid: int) -> Mapping[str, str] | None:
    try:
        command = ["ps", "eww", "-o", "command=", "-p", str(pid)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=5)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return dict(_PS_NAME.findall(result.stdout)) or None


def missing_names(
    shell: Mapping[str, str],
    service: Mapping[str, str],
    of_agents: Sequence[str] = (),
    of_sessions: Sequence[str] = (),
) -> list[str]:
    """The names of variables that count and that only the shell has; PATH when the service's lacks a folder of it.
    `of_agents` are patterns of what counts for an agent, `of_sessions` of what agents set for what they run."""
    counts, own = (*COUNTS, *of_agents), (*OF_ONE_SESSION, *of_sessions)
    names = {
        name
        for name, value in shell.items()
        if value and name not in service and _matches(name, counts) and not _matches(name, own)
    }
    folders = set(filter(None, shell.get("PATH", "").split(":")))
    lacks_folder = not folders <= set(service.get("PATH", "").split(":"))
    return sorted(names | ({"PATH"} if lacks_folder else set()))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
