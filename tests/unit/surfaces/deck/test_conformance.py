"""The checks of a server: how rules over many models are judged."""

from __future__ import annotations

import pytest

from quarterdeck.errors import NoDaemon
from quarterdeck.surfaces.deck.conformance import ConformanceResult, check_conformance, judged


def test_the_first_problem_counts() -> None:
    assert judged("a", [None, None]) == ConformanceResult(name="a", outcome="passed")
    assert judged("a", [None, "x", "y"]) == ConformanceResult(name="a", outcome="failed", detail="x")


async def test_a_server_that_is_not_there_is_no_daemon() -> None:
    with pytest.raises(NoDaemon, match="127"):
        await check_conformance("http://127.0.0.1:1", "t")
