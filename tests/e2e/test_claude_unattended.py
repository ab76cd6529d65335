"""Nobody answers the real Claude Code: a policy ends the wait with a message, and a person is notified."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.agents.claude.hooks import SUPPORTED
from tests.support.claude import require
from tests.support.connected_claude import Connected
from tests.support.receiver import Receiver

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]

LEVELS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
AFTER, GRACE, LONG = "3", "1", "600"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def connected(folder: Path, version: str, receiver: Receiver, after: str, grace: str) -> Connected:
    """A daemon that denies unanswered requests, and notifies the receiver before."""
    secret = folder / "secret"
    secret.write_text("a secret of some length")
    secret.chmod(0o600)
    env = {f"QUARTERDECK_UNATTENDED_{level}": "deny" for level in LEVELS}
    env |= {"QUARTERDECK_UNATTENDED_AFTER_SECONDS": after, "QUARTERDECK_NOTIFY_GRACE_SECONDS": grace}
    env |= {"QUARTERDECK_NOTIFY_WEBHOOK_URL": receiver.url, "QUARTERDECK_NOTIFY_WEBHOOK_SECRET_FILE": str(secret)}
    return Connected(folder, require(version), env=env)


@pytest.mark.parametrize("version", SUPPORTED)
def test_the_model_reads_that_nobody_answered_and_a_person_was_notified(
    tmp_path: Path, receiver: Receiver, version: str
) -> None:
    with connected(tmp_path, version, receiver, AFTER, GRACE) as alone:
        prompt = alone.script_bash("touch nobody-there")
        with alone.terminal() as terminal:
            terminal.type_prompt(prompt)
            terminal.wait_for("finished")
        (result,) = alone.model.tool_results(prompt)
        assert f"nobody answered within {AFTER} s" in result
        assert not alone.path("nobody-there").exists()
        request = alone.recorded("permission.request")["data"]
        decision = alone.confirmed(request)["decision"]
        assert (decision["source"], decision["message"]) == ("timeout", result)
        assert [one["request_id"] for one in receiver.taken[0].json["requests"]] == [request["request_id"]]


@pytest.mark.parametrize("version", SUPPORTED)
def test_an_answer_at_the_terminal_within_the_grace_sends_no_notification(
    tmp_path: Path, receiver: Receiver, version: str
) -> None:
    with connected(tmp_path, version, receiver, LONG, LONG) as alone:
        with alone.terminal() as terminal:
            terminal.type_prompt(alone.script_bash("touch somebody-there"))
            request = alone.request_to_run("touch somebody-there")
            terminal.choose("Yes")
            terminal.wait_for("finished")
            alone.closed(request)
        assert alone.path("somebody-there").exists()
        assert alone.daemon.events("request.escalated") == []
        assert receiver.taken == []
