"""A disk that fills: when agents are released, and when the reserve exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.daemon.loop.disk_reserve import NEARLY_FULL, RESERVE, DiskReserve, DiskSpace

GIB = 1 << 30


class Disk:
    """A disk whose free bytes and clock the test sets."""

    def __init__(self, home: Path, free: int = GIB, total: int = 100 * GIB) -> None:
        self.free, self.total, self.now = free, total, 0.0
        self.reserve = home / "reserve"
        self.disk = DiskReserve(home, lambda path: DiskSpace(self.total, self.free), lambda: self.now)

    def later(self, free: int) -> bool:
        self.free, self.now = free, self.now + 1.0
        return self.disk.nearly_full


@pytest.mark.law("E10")
def test_a_disk_that_fills_and_empties(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    assert disk.disk.nearly_full is False
    assert disk.reserve.stat().st_size == RESERVE
    assert disk.reserve.stat().st_mode & 0o777 == 0o600
    assert disk.later(NEARLY_FULL) is False
    assert disk.later(NEARLY_FULL - 1) is True
    assert disk.later(NEARLY_FULL + 1) is True, "it does not waver"
    assert disk.later(2 * NEARLY_FULL) is False


@pytest.mark.law("E10")
def test_the_reserve_is_freed_once_and_does_not_count_as_free_space(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    assert (disk.disk.nearly_full, disk.later(0)) == (False, True)
    assert disk.disk.free_reserve() is True
    assert disk.disk.free_reserve() is False
    assert disk.later(RESERVE + NEARLY_FULL) is True
    assert not disk.reserve.exists()
    assert disk.later(RESERVE + 2 * NEARLY_FULL) is False
    assert disk.reserve.stat().st_size == RESERVE


def test_a_disk_is_checked_once_a_second(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    assert disk.disk.nearly_full is False
    disk.free = 0
    assert disk.disk.nearly_full is False
    disk.disk.check()
    assert disk.disk.nearly_full is True


def test_a_small_disk_has_a_small_reserve(tmp_path: Path) -> None:
    disk = Disk(tmp_path, free=3 << 20, total=3 << 20)
    assert disk.disk.nearly_full is False
    assert disk.reserve.stat().st_size == (3 << 20) // 16


def test_another_file_in_place_of_the_reserve_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "reserve").symlink_to(tmp_path / "nowhere")
    disk = Disk(tmp_path)
    assert disk.disk.nearly_full is False
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.law("E10")
def test_a_home_that_cannot_be_read_raises_nothing(tmp_path: Path) -> None:
    disk = Disk(tmp_path / ("x" * 300))
    assert (disk.disk.nearly_full, disk.later(0)) == (False, False)
    assert disk.disk.free_reserve() is False
