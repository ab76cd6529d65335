"""Daemons that start at once, for the tests that break them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.failpoints import ForkServer


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer() as fork_server:
        yield fork_server


@pytest.fixture
def daemon(tmp_path: Path, fork_server: ForkServer) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home", launch=fork_server.launch()) as daemon:
        yield daemon
