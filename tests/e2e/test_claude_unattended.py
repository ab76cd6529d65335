"""Nobody answers the real Claude Code: a policy ends its wait with words; a person is told only where nobody was."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.claude import require
from tests.support.connected import Connected
from tests.support.daemon import until
from tests.support.receiver import Receiver

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]

LEVELS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
AFTER, GRACE = "8", "5"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(params=["2.1.325", "2.1.197"])
def alone(request: pytest.FixtureRequest, tmp_path: Path, receiver: Receiver) -> Iterator[Connected]:
    """A daemon that denies what nobody answers, and tells the receiver before."""
    secret = tmp_path / "secret"
    secret.write_text("a secret of some length")
    secret.chmod(0o600)
    env = {f"QUARTERDECK_UNATTENDED_{level}": "deny" for level in LEVELS}
    env |= {"QUARTERDECK_UNATTENDED_AFTER_SECONDS": AFTER, "QUARTERDECK_NOTIFY_GRACE_SECONDS": GRACE}
    env |= {"QUARTERDECK_NOTIFY_WEBHOOK_URL": receiver.url, "QUARTERDECK_NOTIFY_WEBHOOK_SECRET_FILE": str(secret)}
    with Connected(tmp_path, require(request.param), env=env) as pair:
        yield pair


def test_the_model_reads_that_nobody_answered_and_a_person_was_told(alone: Connected, receiver: Receiver) -> None:
    prompt = alone.script_bash("touch nobody-there")
    with alone.terminal() as terminal:
        terminal.type_prompt(prompt)
        request = alone.asked("touch nobody-there")
        terminal.wait_dialog()
        terminal.wait_for("finished")
    (heard,) = alone.model.tool_results(prompt)
    assert f"nobody answered within {AFTER} s" in heard
    assert not alone.path("nobody-there").exists()
    decision = alone.confirmed(request)["decision"]
    assert (decision["source"], decision["message"]) == ("timeout", heard)
    assert [one["request_id"] for one in receiver.taken[0].json["requests"]] == [request["request_id"]]


def test_an_answer_at_the_terminal_within_the_grace_bothers_nobody(alone: Connected, receiver: Receiver) -> None:
    with alone.terminal() as terminal:
        terminal.type_prompt(alone.script_bash("touch somebody-there"))
        request = alone.asked("touch somebody-there")
        terminal.choose("Yes")
        terminal.wait_for("finished")
        until(lambda: alone.request(request)["status"] != "pending", what="the card closed")
    assert alone.path("somebody-there").exists()
    assert alone.daemon.events("request.escalated") == []
    assert receiver.taken == []
