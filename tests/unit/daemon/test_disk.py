"""A disk that fills: when agents are let go, and when the reserve is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.daemon.loop.disk_reserve import NEARLY_FULL, RESERVE, Disk, Space

GIB = 1 << 30


class Watched:
    """A disk whose free bytes and clock the test sets."""

    def __init__(self, home: Path, free: int = GIB, total: int = 100 * GIB) -> None:
        self.free, self.total, self.now = free, total, 0.0
        self.reserve = home / "reserve"
        self.disk = Disk(home, lambda path: Space(self.total, self.free), lambda: self.now)

    def later(self, free: int) -> bool:
        self.free, self.now = free, self.now + 1.0
        return self.disk.nearly_full


@pytest.mark.law("E10")
def test_a_disk_that_fills_and_empties(tmp_path: Path) -> None:
    seen = Watched(tmp_path)
    assert seen.disk.nearly_full is False
    assert seen.reserve.stat().st_size == RESERVE
    assert seen.reserve.stat().st_mode & 0o777 == 0o600
    assert seen.later(NEARLY_FULL) is False
    assert seen.later(NEARLY_FULL - 1) is True
    assert seen.later(NEARLY_FULL + 1) is True, "it does not waver"
    assert seen.later(2 * NEARLY_FULL) is False


@pytest.mark.law("E10")
def test_the_reserve_is_given_up_once_and_is_not_taken_for_free_space(tmp_path: Path) -> None:
    seen = Watched(tmp_path)
    assert (seen.disk.nearly_full, seen.later(0)) == (False, True)
    assert seen.disk.give_way() is True
    assert seen.disk.give_way() is False
    assert seen.later(RESERVE + NEARLY_FULL) is True
    assert not seen.reserve.exists()
    assert seen.later(RESERVE + 2 * NEARLY_FULL) is False
    assert seen.reserve.stat().st_size == RESERVE


def test_a_disk_is_looked_at_once_a_second(tmp_path: Path) -> None:
    seen = Watched(tmp_path)
    assert seen.disk.nearly_full is False
    seen.free = 0
    assert seen.disk.nearly_full is False
    seen.disk.look()
    assert seen.disk.nearly_full is True


def test_a_small_disk_has_a_small_reserve(tmp_path: Path) -> None:
    seen = Watched(tmp_path, free=3 << 20, total=3 << 20)
    assert seen.disk.nearly_full is False
    assert seen.reserve.stat().st_size == (3 << 20) // 16


def test_what_stands_in_the_place_of_the_reserve_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "reserve").symlink_to(tmp_path / "nowhere")
    seen = Watched(tmp_path)
    assert seen.disk.nearly_full is False
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.law("E10")
def test_a_home_that_cannot_be_entered_harms_nobody_who_asks(tmp_path: Path) -> None:
    seen = Watched(tmp_path / ("x" * 300))
    assert (seen.disk.nearly_full, seen.later(0)) == (False, False)
    assert seen.disk.give_way() is False
