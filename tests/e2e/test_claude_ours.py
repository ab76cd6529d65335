"""Sessions that the daemon starts itself, with the real Claude Code: one list, one feed, one desk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.claude import require
from tests.support.daemon import until
from tests.support.model_server import Turn, text, tool
from tests.support.owner import Owner

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module", params=[False, True], ids=["no-hooks-installed", "hooks-installed"])
def owner(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    folder: Path = tmp_path_factory.mktemp("owner")
    with Owner(folder, require("2.1.325"), installed=request.param) as owner:
        yield owner


def test_a_session_over_the_sdk_asks_once_and_does_what_was_decided(owner: Owner) -> None:
    prompt = owner.script_bash("touch by-sdk")
    session = owner.starts(prompt=prompt)
    assert (session["mode"], session["owned"]["status"]) == ("sdk", "up")
    asked = owner.asked("touch by-sdk")
    assert [r["session_id"] for r in owner.daemon.pending()] == [session["session_id"]]
    owner.decide(asked, "allow")
    assert owner.confirmed(asked)["decision"]["delivery"] == "confirmed"
    result = owner.event(session, "turn.result")
    assert (result["data"]["subtype"], result["data"]["text"]) == ("success", "finished")
    owner.session(session["session_id"], "settled")
    assert owner.path("by-sdk").exists()
    kinds = owner.kinds(session["session_id"])
    for once in ("session.start", "user.prompt", "tool.pre", "permission.request", "tool.post", "stop.request"):
        assert kinds.count(once) == 1, (once, kinds)
    status, _ = owner.order(session, "end")
    assert status == 202
    owner.ended(session)
