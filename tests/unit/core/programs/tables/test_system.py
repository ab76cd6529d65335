"""Programs that look at this machine, and those that only start another."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_systemctl_covers_what_it_is_for() -> None:
    assert covers_all("systemctl:*", "systemctl status x --no-pager", "systemctl list-units")
    assert covers_none("systemctl:*", "systemctl stop x", "systemctl -H h status x")


def test_git_status_covers_what_it_is_for() -> None:
    assert covers_all("git status:*", "timeout 5 git status", "time git status", "nice git status")
    assert covers_none("git status:*", "timeout --x 5 git status", "env -i git status")


def test_journalctl_covers_what_it_is_for() -> None:
    assert covers_all("journalctl:*", "journalctl -u x -n 5")
    assert covers_none("journalctl:*", "journalctl --vacuum-size=1")
