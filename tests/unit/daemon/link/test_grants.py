"""Grants: what a hub may do here, for every operation there is."""

from __future__ import annotations

import pytest

from quarterdeck.api.http.credentials import ALL
from quarterdeck.api.operations import OPERATIONS
from quarterdeck.daemon.link.grants import GRANTS, NEVER, grant_of, missing_grant, scopes_of

USUAL = ("observe", "approve")
EVERY = ("observe", "approve", "edit", "prompt", "launch", "terminals", "rules")


@pytest.mark.law("H10")
def test_the_usual_grants_change_nothing_but_decisions() -> None:
    changes = {name for name, one in OPERATIONS.items() if one.method != "GET" and not one.reads}
    assert {name for name in changes if grant_of(name) in USUAL} == {"decide", "decide_many", "scan_projects"}


@pytest.mark.law("H10")
@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if one.scope == "admin"])
def test_no_grant_is_enough_for_credentials(name: str) -> None:
    assert grant_of(name) == NEVER
    assert missing_grant(name, {}, EVERY) == NEVER


def test_only_operations_are_granted() -> None:
    assert GRANTS.keys() <= OPERATIONS.keys()


@pytest.mark.law("H10")
@pytest.mark.parametrize(
    ("args", "missing"),
    [
        ({"decision": "allow"}, None),
        ({"decision": "allow", "remember": {"scope": "user"}}, "rules"),
        ({"decision": "allow", "updated_input": {}}, "edit"),
    ],
)
def test_a_decision_that_makes_a_rule_or_edits_needs_more(args: dict[str, object], missing: str | None) -> None:
    assert missing_grant("decide", args, USUAL) == missing
    assert missing_grant("decide_many", {"decisions": [{"decision": "deny"}, args]}, USUAL) == missing
    assert missing_grant("decide", args, EVERY) is None


@pytest.mark.law("H10")
def test_a_person_at_the_hub_has_only_what_both_give() -> None:
    assert scopes_of(USUAL, ALL) == {"observe", "approve"}
    assert scopes_of(EVERY, ["observe"]) == {"observe"}
    assert "admin" not in scopes_of(EVERY, ALL)
    assert scopes_of((), ALL) == frozenset()
