"""The daemon and its client have different versions: which is older, and what to do."""

from __future__ import annotations

import re

RESTART_DAEMON = "qd stop, then qd up"
RESTART_UI = "restart this UI"
UPGRADE_COMMAND = "upgrade this qd"


def version_fix(daemon: str, own: str, newer_daemon: str) -> str:
    """The fix for a daemon of another version: `newer_daemon` when it is newer than this program. Empty for the same
    version."""
    if daemon == own:
        return ""
    return newer_daemon if _order(daemon) > _order(own) else RESTART_DAEMON


def is_older(version: str, than: str) -> bool:
    """True for a version before another."""
    return _order(version) < _order(than)


def _order(version: str) -> tuple[list[int], bool, str]:
    """Sorts versions: 0.9 before 0.10, and 1.0rc1 before 1.0."""
    release = re.match(r"[\d.]*\d|", version)
    numbers = release[0] if release else ""
    suffix = version.removeprefix(numbers)
    return [int(number) for number in numbers.split(".") if number], not suffix, suffix
