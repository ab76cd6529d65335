"""The checks for servers of decks: a right one passes, and each planted fault is found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.surfaces.deck.conformance import check_conformance
from tests.support.daemon import Daemon
from tests.support.deck_server import ANSWER_FAULTS, MODEL_FAULTS, deck_server

FAULTS = {**{name: check for name, (_, check) in MODEL_FAULTS.items()}, **ANSWER_FAULTS}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("conformance") / "home") as running:
        yield running


async def test_a_server_that_keeps_the_protocol_passes() -> None:
    async with deck_server() as url:
        results = await check_conformance(url, "t")
    assert {one.outcome for one in results} == {"passed"}, results
    assert len(results) == 16


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_planted_fault_is_found(fault: str) -> None:
    async with deck_server(fault) as url:
        results = await check_conformance(url, "t")
    assert FAULTS[fault] in {one.name for one in results if one.outcome == "failed"}, results


def test_there_are_at_least_ten_faults() -> None:
    assert len(FAULTS) >= 10


def test_the_daemon_itself_conforms(daemon: Daemon, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(daemon.token)
    words = ["deck", "conformance", daemon.url, "--token-file", str(token), "--json"]
    run = subprocess.run([sys.executable, "-m", "quarterdeck", *words], capture_output=True, text=True, check=False)
    found = json.loads(run.stdout)
    assert (run.returncode, found["ok"]) == (0, True), found
    assert {one["outcome"] for one in found["checks"]} <= {"passed", "skipped"}
