"""What speaks against reading, writing or deleting a file."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from quarterdeck.core.risk.paths import (
    Place,
    Where,
    automation_in,
    guard_in,
    holds_guard,
    is_guarded,
    perhaps_secret_in,
    place_of,
    secret_in,
    starter_in,
)

OWN_GUARD = "an agent would change what guards it"


class Finding(Struct, frozen=True, gc=False):
    """One thing that speaks against a request."""

    level: str
    words: str


def brief(path: str | None, where: Where) -> str:
    """A path as a person knows it: from the project, or from home."""
    if path is None:
        return "a path that only the shell knows"
    for root, sign in ((where.cwd.rstrip("/"), ""), (where.home.rstrip("/"), "~/")):
        if root and path.startswith(root + "/"):
            return sign + path[len(root) + 1 :]
    return path


def reading(path: str | None, where: Where) -> Iterator[Finding]:
    """What speaks against reading a file."""
    if path is None:
        return
    if is_guarded(path, where) and path.endswith("token"):
        yield Finding("critical", f"reads Quarterdeck's tokens ({brief(path, where)})")
    elif kept := secret_in(path):
        yield Finding("critical", f"reads {kept} ({brief(path, where)})")
    elif kept := perhaps_secret_in(path):
        yield Finding("high", f"reads {brief(path, where)}: {kept}")
    elif is_guarded(path, where):
        yield Finding("high", f"reads what guards it ({brief(path, where)})")
    elif place_of(path, where) not in (Place.PROJECT, Place.WHOLE, Place.TEMPORARY):
        yield Finding("medium", f"reads outside the project ({brief(path, where)})")


_WRITES: dict[Place, tuple[str, str]] = {
    Place.PROJECT: ("medium", "changes {}"),
    Place.WHOLE: ("medium", "changes the project's folder"),
    Place.TEMPORARY: ("medium", "writes to {}"),
    Place.HOME: ("high", "writes outside the project ({})"),
    Place.ROOT: ("critical", "writes to the root of this machine"),
    Place.SYSTEM: ("critical", "changes the system ({})"),
    Place.DEVICE: ("critical", "writes to a device ({})"),
    Place.ELSEWHERE: ("high", "writes outside the project ({})"),
    Place.UNKNOWN: ("high", "writes to {}"),
}


def writing(path: str | None, where: Where) -> Iterator[Finding]:
    """What speaks against writing a file."""
    if path is not None:
        if guard := guard_in(path, where):
            yield Finding("critical", f"{OWN_GUARD}: {guard} ({brief(path, where)})")
            return
        if kept := secret_in(path):
            yield Finding("critical", f"changes {kept} ({brief(path, where)})")
            return
        if kept := perhaps_secret_in(path):
            yield Finding("high", f"changes {brief(path, where)}: {kept}")
            return
        if starter := starter_in(path):
            yield Finding("high", f"changes {starter} ({brief(path, where)})")
            return
    if path in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
        return
    place = place_of(path, where)
    level, words = _WRITES[place]
    automation = automation_in(path) if path is not None else None
    if automation and place is Place.PROJECT:
        words = f"changes {automation} ({{}})"
    yield Finding(level, words.format(brief(path, where)))


_DELETES: dict[Place, tuple[str, str]] = {
    Place.PROJECT: ("medium", "deletes {}"),
    Place.WHOLE: ("critical", "deletes the whole project"),
    Place.TEMPORARY: ("medium", "deletes {}"),
    Place.HOME: ("critical", "deletes your home folder, or what it is in ({})"),
    Place.ROOT: ("critical", "deletes everything on this machine"),
    Place.SYSTEM: ("critical", "deletes parts of the system ({})"),
    Place.DEVICE: ("critical", "deletes a device ({})"),
    Place.ELSEWHERE: ("high", "deletes outside the project ({})"),
    Place.UNKNOWN: ("high", "deletes {}"),
}


def deleting(path: str | None, where: Where) -> Iterator[Finding]:
    """What speaks against deleting a file or a folder."""
    if path is not None and path.endswith("/*"):
        folder = path[:-2] or "/"
        whole = place_of(folder, where) is Place.WHOLE
        yield from [Finding("high", "deletes everything in the project")] if whole else deleting(folder, where)
        return
    if path is not None:
        if guard := guard_in(path, where):
            yield Finding("critical", f"{OWN_GUARD}: {guard} ({brief(path, where)})")
            return
        if kept := secret_in(path):
            yield Finding("critical", f"deletes {kept} ({brief(path, where)})")
            return
    level, words = _DELETES[place_of(path, where)]
    if path is not None and path == where.cwd.rstrip("/") + "/.git":
        level, words = "critical", "deletes the repository with its history ({})"
    yield Finding(level, words.format(brief(path, where)))
    if path is not None and holds_guard(path, where):
        yield Finding("critical", f"{OWN_GUARD}: files below {brief(path, where)}")
