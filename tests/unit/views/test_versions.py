"""The fix for a daemon of another version."""

from __future__ import annotations

import pytest

from quarterdeck.views.versions import RESTART_DAEMON, RESTART_UI, version_fix


@pytest.mark.parametrize(("older", "newer"), [("0.1.0", "0.2.0"), ("0.9", "0.10"), ("1.0rc1", "1.0"), ("1.0", "1.0.1")])
def test_the_older_of_the_two_is_restarted(older: str, newer: str) -> None:
    assert version_fix(daemon=older, own=newer, newer_daemon=RESTART_UI) == RESTART_DAEMON
    assert version_fix(daemon=newer, own=older, newer_daemon=RESTART_UI) == RESTART_UI


def test_the_same_version_needs_no_fix() -> None:
    assert version_fix("1.0", "1.0", RESTART_UI) == ""


def test_a_version_that_is_no_number_counts_as_older() -> None:
    assert version_fix("unknown", "1.0", RESTART_UI) == RESTART_DAEMON
