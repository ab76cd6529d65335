"""Rules as plain data: they survive a round trip, and an invalid field rejects the whole file."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.rule import MAX_RULES
from quarterdeck.core.rules.file_format import read_rules, write_rules
from quarterdeck.errors import BadRules
from tests.support.rulebook import rule

GOOD = {"effect": "allow", "pattern": "Bash(git log:*)"}


def test_rules_survive_yaml_and_back() -> None:
    made = [
        rule("allow Bash(git log:*)", note="look only", expires_at=1_790_000_000.0),
        rule("deny Edit(src/**)", "project", scope_id="p", scope_path="/p"),
        rule("ask WebFetch", "session", scope_id="s1"),
    ]
    back = read_rules(yaml.safe_load(yaml.safe_dump(write_rules(made))))
    assert [(one.effect, one.pattern, one.scope) for one in back] == [
        ("deny", "Edit(src/**)", "project"),
        ("ask", "WebFetch", "session"),
        ("allow", "Bash(git log:*)", "user"),
    ]
    assert (back[2].note, back[2].expires_at) == ("look only", 1_790_000_000.0)
    assert (back[0].scope_id, back[0].scope_path) == ("p", "/p")
    assert write_rules(reversed(made)) == write_rules(made)


@pytest.mark.parametrize(
    "when", ["2026-12-31T18:00:00+00:00", "2026-12-31T18:00:00", 1798740000, datetime(2026, 12, 31, 18, tzinfo=UTC)]
)
def test_a_time_is_read_as_people_and_yaml_write_it(when: object) -> None:
    assert read_rules({"rules": [{**GOOD, "expires_at": when}]})[0].expires_at == 1798740000.0


def test_a_date_means_the_start_of_that_day() -> None:
    days = [{**GOOD, "expires_at": when} for when in (date(2026, 12, 31), "2026-12-31")]
    assert [one.expires_at for one in read_rules({"rules": days})] == [1798675200.0, 1798675200.0]


@pytest.mark.law("R4")
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"scope": "session", "scope_id": "../x"}, "rules[0].scope_id: is not a session ID"),
        ({"scope": "once", "scope_id": "a\0b"}, "rules[0].scope_id: is not a session ID"),
        ({"scope": "project", "scope_path": "/a\0b"}, "rules[0].scope_path"),
        ({"expires_at": 1e300}, "rules[0].expires_at: is after the year 9999"),
        ({"patern": "Bash"}, "rules[0].patern: is not a field of a rule"),
        ({"argsPattern": "x"}, "rules[0].argsPattern: is not a field"),
        ({"effect": "permit"}, "rules[0].effect: must be allow, ask or deny"),
        ({"effect": None}, "rules[0].effect: is missing"),
        ({"pattern": "Bash("}, "rules[0].pattern: Bash(: the parenthesis"),
        ({"pattern": "Bash(* --version)"}, "rules[0].pattern"),
        ({"pattern": 7}, "rules[0].pattern: must be text"),
        ({"scope": "galaxy"}, "rules[0].scope: must be once, session, project, user or hub"),
        ({"scope": "session"}, "rules[0].scope_id"),
        ({"scope": "project"}, "rules[0].scope_path"),
        ({"scope": "project", "scope_path": "here"}, "rules[0].scope_path"),
        ({"scope_id": "s1"}, "rules[0].scope_id"),
        ({"scope_path": "/p"}, "rules[0].scope_path"),
        ({"expires_at": "soon"}, "rules[0].expires_at: must be a time"),
        ({"expires_at": True}, "rules[0].expires_at: must be a time"),
        ({"expires_at": float("nan")}, "rules[0].expires_at: must be a time"),
        ({"expires_at": float("-inf")}, "rules[0].expires_at: must be a time"),
        ({"note": "x" * 1001}, "rules[0].note: longer"),
    ],
)
def test_an_invalid_field_rejects_the_file_and_is_named(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(BadRules) as refused:
        read_rules({"rules": [{**GOOD, **fields}]})
    assert words in str(refused.value)


@pytest.mark.parametrize("data", [None, [], {}, {"rules": None}, {"rules": [], "version": 2}, {"rules": ["Bash"]}])
def test_data_without_a_list_of_rules_is_refused(data: object) -> None:
    with pytest.raises(BadRules):
        read_rules(data)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


def test_a_value_too_large_to_write_out_is_named_briefly() -> None:
    bomb: list[Any] = ["x"]
    for _ in range(40):
        bomb = [bomb] * 9
    for row in ({"effect": bomb, "pattern": "x"}, {**GOOD, "expires_at": bomb}, {**GOOD, "note": bomb}):
        with pytest.raises(BadRules) as error:
            read_rules({"rules": [row]})
        assert len(str(error.value)) < 1000


@given(st.dictionaries(st.sampled_from(["effect", "pattern", "scope", "scope_id", "expires_at", "note"]), anything))
def test_any_data_is_read_or_refused(row: dict[str, Any]) -> None:
    with suppress(BadRules):
        assert read_rules({"rules": [row]})[0].effect == row["effect"]


def test_too_many_rules_are_refused_with_their_number() -> None:
    assert len(read_rules({"rules": [GOOD] * MAX_RULES})) == MAX_RULES
    with pytest.raises(BadRules, match=rf"{MAX_RULES + 1} entries, but there may be only {MAX_RULES}"):
        read_rules({"rules": [GOOD] * (MAX_RULES + 1)})
