"""Removed hook tokens are known by their digest for a week; a mark says that no agent is connected."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.api.http.credentials import verifier_of
from quarterdeck.drivers.removed_hooks import (
    FILE,
    KEPT_SECONDS,
    is_disconnected,
    keep_removed,
    mark_connected,
    mark_disconnected,
    removed_digests,
)

OLD, OLDER = verifier_of(b"old"), verifier_of(b"older")


def test_each_removed_token_is_kept_for_a_week_and_only_its_digest(tmp_path: Path) -> None:
    keep_removed(tmp_path, "older", 1000.0)
    keep_removed(tmp_path, "old", 2000.0)
    assert removed_digests(tmp_path, 2000.0) == {OLD, OLDER}
    assert removed_digests(tmp_path, 1000.0 + KEPT_SECONDS) == {OLD}
    assert removed_digests(tmp_path, 2000.0 + KEPT_SECONDS) == set()
    assert "older" not in (tmp_path / FILE).read_text()
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_what_was_removed_long_ago_is_forgotten(tmp_path: Path) -> None:
    keep_removed(tmp_path, "older", 1000.0)
    keep_removed(tmp_path, "old", 1000.0 + KEPT_SECONDS)
    assert OLDER not in (tmp_path / FILE).read_text()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": "b"}', '{"a": null}', "\x00"])
def test_a_file_that_cannot_be_read_means_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert removed_digests(tmp_path, 1.0) == set()
    keep_removed(tmp_path, "old", 1.0)
    assert removed_digests(tmp_path, 1.0) == {OLD}


def test_a_home_is_disconnected_from_an_uninstall_to_the_next_install(tmp_path: Path) -> None:
    mark_connected(tmp_path)
    assert not is_disconnected(tmp_path)
    mark_disconnected(tmp_path)
    mark_disconnected(tmp_path)
    assert is_disconnected(tmp_path)
    mark_connected(tmp_path)
    assert not is_disconnected(tmp_path)
