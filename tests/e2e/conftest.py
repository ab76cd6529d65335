"""Claude Code connected to a daemon, one pair per version for the whole run. No test may leave a process behind."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import pytest
from playwright.sync_api import Browser

from tests.support.browser import chromium
from tests.support.claude import require
from tests.support.connected_claude import Connected, still_running_in

PairOf = Callable[[str], Connected]


@pytest.fixture(scope="session")
def pair_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PairOf]:
    """The shared pair of a version; a test that stops the daemon takes a pair of its own."""
    pairs: dict[str, Connected] = {}
    with ExitStack() as stack:

        def pair(version: str) -> Connected:
            if version not in pairs:
                folder = tmp_path_factory.mktemp("pair")
                pairs[version] = stack.enter_context(Connected(folder, require(version)))
            return pairs[version]

        yield pair


@pytest.fixture(autouse=True)
def _nothing_stays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail a test that leaves a process behind, and kill that process so that no other test fails."""
    yield
    left = still_running_in(tmp_path_factory.getbasetemp())
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert not left, f"left behind: {left}"


@pytest.fixture(params=["2.1.325", "2.1.197"])
def either(request: pytest.FixtureRequest, pair_of: PairOf) -> Connected:
    """Each supported version."""
    return pair_of(request.param)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium for the tests of one module: between modules, the loop of Playwright must not run."""
    with chromium() as running:
        yield running


@pytest.fixture
def newest(pair_of: PairOf) -> Connected:
    """The version that also sends requests in headless sessions."""
    return pair_of("2.1.325")


@pytest.fixture
def tmux() -> None:
    """Interactive sessions need it; where CI is set its absence is a failure."""
    if shutil.which("tmux"):
        return
    if os.environ.get("CI"):
        pytest.fail("tmux is missing: install it")
    pytest.skip("tmux is not here")
