"""The share policy: the level of a call is that of the strictest thing it names."""

from __future__ import annotations

import pytest

from quarterdeck.daemon.link.outgoing.share_policy import secrets_of
from quarterdeck.link.redaction.share_levels import EVERYTHING, NO_OUTPUT, NOTHING, TITLES
from tests.support.share_policies import policy


@pytest.mark.parametrize(
    ("name", "args", "level"),
    [
        ("get_session", {"session_id": "open"}, EVERYTHING),
        ("get_request", {"request_id": "of-titles"}, TITLES),
        ("interrupt_sessions", {"session_ids": ["open", "closed"]}, NOTHING),
        ("decide_many", {"decisions": [{"request_id": "of-open"}, {"request_id": "of-titles"}]}, TITLES),
        ("start_session", {"cwd": "/closed/below"}, NOTHING),
        ("get_session", {"session_id": "unknown"}, NOTHING),
        ("get_feed", {}, NOTHING),
        ("list_sessions", {}, NOTHING),
        ("get_health", {}, EVERYTHING),
    ],
)
def test_a_call_has_the_strictest_level_of_what_it_names(name: str, args: dict[str, object], level: str) -> None:
    assert policy().of_call(name, args) == level
    assert policy(folders=False).of_call(name, args) == EVERYTHING


def test_what_cannot_be_seen_at_the_hub_cannot_be_allowed_there() -> None:
    shown = policy()
    assert shown.refusal("decide", {"decision": "allow"}, TITLES) is not None
    assert shown.refusal("decide", {"decision": "deny"}, TITLES) is None
    assert shown.refusal("decide", {"decision": "allow"}, NO_OUTPUT) is None
    assert shown.refusal("decide_many", {}, TITLES) is not None
    assert shown.refusal("get_screen", {}, NO_OUTPUT) is not None
    assert shown.refusal("get_session", {}, NOTHING) is not None


def test_an_event_of_the_machine_has_the_level_of_its_folder() -> None:
    assert policy().of_data(EVERYTHING, {"path": "/closed/a"}) == NOTHING
    assert policy().of_data(TITLES, {"path": "/open"}) == TITLES
    assert policy().of_data(EVERYTHING, "text") == EVERYTHING


def test_secrets_of_the_environment_are_known_by_their_names() -> None:
    environ = {
        "ANTHROPIC_API_KEY": "abc-123-def",
        "HOME": "/home/ann",
        "TOKEN_FILE": "/run/t",
        "DB_PASSWORD": "changeme",
    }
    assert secrets_of(environ) == ["abc-123-def"]
