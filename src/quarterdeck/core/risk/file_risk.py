"""The risk of reading, writing or deleting a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from quarterdeck.core.risk.path_zones import (
    AgentLocation,
    PathZone,
    automation_in,
    contains_guard,
    guard_in,
    is_guarded,
    possible_secret_in,
    secret_in,
    startup_file_in,
    zone_of,
)

GUARD_CHANGE = "changes the files that restrict agents"


class RiskReason(Struct, frozen=True, gc=False):
    """One reason against a request, and its level."""

    level: str
    text: str


def short_path(path: str | None, location: AgentLocation) -> str:
    """The path as a person knows it: relative to the project or to home."""
    if path is None:
        return "a path that only the shell knows"
    for root, sign in ((location.cwd.rstrip("/"), ""), (location.home.rstrip("/"), "~/")):
        if root and path.startswith(root + "/"):
            return sign + path[len(root) + 1 :]
    return path


def read_reasons(path: str | None, location: AgentLocation) -> Iterator[RiskReason]:
    """Yield the risks of reading a file. A path only the shell knows (None) has none."""
    if path is None:
        return
    if is_guarded(path, location) and path.endswith("token"):
        yield RiskReason("critical", f"reads Quarterdeck's tokens ({short_path(path, location)})")
    elif secret := secret_in(path):
        yield RiskReason("critical", f"reads {secret} ({short_path(path, location)})")
    elif secret := possible_secret_in(path):
        yield RiskReason("high", f"reads {short_path(path, location)}: {secret}")
    elif is_guarded(path, location):
        yield RiskReason("high", f"reads the files that restrict agents ({short_path(path, location)})")
    elif zone_of(path, location) not in (PathZone.PROJECT, PathZone.PROJECT_ROOT, PathZone.TEMPORARY):
        yield RiskReason("medium", f"reads outside the project ({short_path(path, location)})")


_WRITE_REASONS: dict[PathZone, tuple[str, str]] = {
    PathZone.PROJECT: ("medium", "changes {}"),
    PathZone.PROJECT_ROOT: ("medium", "changes the project's folder"),
    PathZone.TEMPORARY: ("medium", "writes to {}"),
    PathZone.HOME: ("high", "writes outside the project ({})"),
    PathZone.ROOT: ("critical", "writes to the root of this machine"),
    PathZone.SYSTEM: ("critical", "changes the system ({})"),
    PathZone.DEVICE: ("critical", "writes to a device ({})"),
    PathZone.ELSEWHERE: ("high", "writes outside the project ({})"),
    PathZone.UNKNOWN: ("high", "writes to {}"),
}


def _critical_reason(does: str, path: str, location: AgentLocation) -> RiskReason | None:
    """The risk of changing a file that restricts agents or holds a secret; None for any other."""
    if guard := guard_in(path, location):
        return RiskReason("critical", f"{GUARD_CHANGE}: {guard} ({short_path(path, location)})")
    secret = secret_in(path)
    return RiskReason("critical", f"{does} {secret} ({short_path(path, location)})") if secret else None


def write_reasons(path: str | None, location: AgentLocation) -> Iterator[RiskReason]:
    """Yield the risks of writing a file."""
    if path is not None:
        if reason := _critical_reason("changes", path, location):
            yield reason
            return
        if secret := possible_secret_in(path):
            yield RiskReason("high", f"changes {short_path(path, location)}: {secret}")
            return
        if starter := startup_file_in(path):
            yield RiskReason("high", f"changes {starter} ({short_path(path, location)})")
            return
    if path in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
        return
    zone = zone_of(path, location)
    level, words = _WRITE_REASONS[zone]
    automation = automation_in(path) if path is not None else None
    if zone is PathZone.PROJECT and path is not None and _OF_GIT.search(path):
        level, words = "high", "changes files of the repository itself ({})"
    elif automation and zone is PathZone.PROJECT:
        words = f"changes {automation} ({{}})"
    yield RiskReason(level, words.format(short_path(path, location)))


_OF_GIT = re.compile(r"/\.git/")
_EVERY_HIDDEN = re.compile(r"/\.\*\Z|/\.\?\*?\Z|/\.g[^/]*\*\Z")
_DELETE_REASONS: dict[PathZone, tuple[str, str]] = {
    PathZone.PROJECT: ("medium", "deletes {}"),
    PathZone.PROJECT_ROOT: ("critical", "deletes the whole project"),
    PathZone.TEMPORARY: ("medium", "deletes {}"),
    PathZone.HOME: ("critical", "deletes your home folder, or what it is in ({})"),
    PathZone.ROOT: ("critical", "deletes everything on this machine"),
    PathZone.SYSTEM: ("critical", "deletes parts of the system ({})"),
    PathZone.DEVICE: ("critical", "deletes a device ({})"),
    PathZone.ELSEWHERE: ("high", "deletes outside the project ({})"),
    PathZone.UNKNOWN: ("high", "deletes {}"),
}


def delete_reasons(path: str | None, location: AgentLocation) -> Iterator[RiskReason]:
    """Yield the risks of deleting a file or a folder."""
    if path is not None and _EVERY_HIDDEN.search(path):
        folder = path.rpartition("/")[0] or "/"
        if zone_of(folder, location) is PathZone.PROJECT_ROOT:
            yield RiskReason(
                "critical", "deletes every hidden file of the project, and the repository with its history"
            )
            return
    if path is not None and path.endswith("/*"):
        folder = path[:-2] or "/"
        if zone_of(folder, location) is PathZone.PROJECT_ROOT:
            yield RiskReason("high", "deletes everything in the project")
        else:
            yield from delete_reasons(folder, location)
        return
    if path is not None and (reason := _critical_reason("deletes", path, location)):
        yield reason
        return
    level, words = _DELETE_REASONS[zone_of(path, location)]
    if path is not None and path == location.cwd.rstrip("/") + "/.git":
        level, words = "critical", "deletes the repository with its history ({})"
    elif path is not None and _OF_GIT.search(path):
        level, words = "high", "deletes files of the repository itself ({})"
    yield RiskReason(level, words.format(short_path(path, location)))
    if path is not None and contains_guard(path, location):
        yield RiskReason("critical", f"{GUARD_CHANGE}: files below {short_path(path, location)}")
