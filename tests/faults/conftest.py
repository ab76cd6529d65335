"""Daemons that start at once, for the tests that break them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.faulty import Nursery


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def daemon(tmp_path: Path, nursery: Nursery) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home", launch=nursery.launch()) as daemon:
        yield daemon
