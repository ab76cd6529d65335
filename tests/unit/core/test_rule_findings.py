"""Findings about a set of rules, in words."""

from __future__ import annotations

import time
from itertools import starmap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarterdeck.core.model.rule import MAX_RULES
from quarterdeck.core.rules.broader_rules import Broader
from quarterdeck.core.rules.lint import findings, takes_all
from quarterdeck.core.rules.rulebook import Rule, Rulebook
from tests.support.rulebook import rule


def kinds(*made: Rule, at: float | None = 1.0) -> list[tuple[str, str]]:
    """The kind of each finding and the id of the rule it is about."""
    return [(found.kind, found.rule_ids[0]) for found in findings(made, at)]


def test_good_rules_have_no_findings() -> None:
    made = [
        rule("allow Bash(git log:*)"),
        rule("deny Bash(git push --force:*)"),
        rule("allow Bash(git push:*)"),
        rule("allow Edit(src/**)"),
        rule("deny Edit(src/secret/**)"),
        rule("allow mcp__github__get_issue"),
        rule("ask WebFetch"),
    ]
    assert kinds(*made) == []


@pytest.mark.parametrize(
    ("allow", "stronger"),
    [
        ("Bash(git push origin:*)", "deny Bash(git push:*)"),
        ("Bash(git push)", "ask Bash(git push:*)"),
        ("Bash(ls)", "deny Bash"),
        ("Edit(src/a/**)", "deny Edit(src/**)"),
        ("Edit(src/a.py)", "deny Edit(src/**)"),
        ("Edit(src/*.py)", "ask Edit(src/**)"),
        ("Write(src/x/y)", "deny Edit(src/**)"),
        ("Read(//etc/hosts)", "deny Read"),
        ("mcp__a__b", "deny mcp__a"),
        ("mcp__a__b", "ask mcp__a__*"),
        ("mcp__a__*", "deny mcp__*"),
        ("WebFetch(domain:x.a.org)", "deny WebFetch(domain:*.a.org)"),
        ("Agent(Explore)", "deny Task"),
    ],
)
def test_an_allow_that_a_stronger_rule_covers_is_named(allow: str, stronger: str) -> None:
    below = rule(f"allow {allow}", rule_id="below")
    (found,) = findings([below, rule(stronger, rule_id="above")])
    assert (found.kind, found.rule_ids) == ("shadowed", ("below", "above"))
    assert allow in found.text
    assert stronger in found.text


def test_a_stronger_rule_shadows_only_where_it_holds() -> None:
    below = rule("allow Bash(git push origin:*)", rule_id="below")
    for scope, fields in (
        ("session", {"scope_id": "s"}),
        ("project", {"scope_path": "/p"}),
        ("user", {"expires_at": 9.0}),
    ):
        assert kinds(below, rule("deny Bash(git push:*)", scope, rule_id="above", **fields)) == []
    inner = rule("allow Bash(git push origin:*)", "project", scope_path="/p/sub", rule_id="inner")
    assert kinds(inner, rule("deny Bash(git push:*)", "project", scope_path="/p")) == [("shadowed", "inner")]


def test_of_two_that_say_the_same_the_later_is_named() -> None:
    first, second = (rule("deny Bash(rm:*)", rule_id=name, created_at=at) for name, at in (("a", 1.0), ("b", 2.0)))
    assert kinds(first, second) == [("duplicate", "b")]
    assert kinds(second, first) == [("duplicate", "b")]
    written_otherwise = [rule("deny Bash(*)", rule_id="a"), rule("deny Bash", rule_id="b", created_at=1.0)]
    assert kinds(*written_otherwise) == [("duplicate", "b")]


def test_a_rule_within_another_of_the_same_effect_is_needless() -> None:
    assert kinds(rule("allow Edit(src/a/**)", rule_id="in"), rule("allow Edit(src/**)")) == [("needless", "in")]
    assert kinds(rule("allow Edit(src/a/**)"), rule("allow Edit(src/**)", expires_at=9.0)) == []


def test_what_has_expired_or_cannot_match_is_named() -> None:
    assert kinds(rule("deny Bash(rm:*)", rule_id="old", expires_at=0.5)) == [("expired", "old")]
    assert kinds(rule("deny Bash(rm:*)", expires_at=0.5), at=None) == []
    assert kinds(rule("allow Bash(rm", rule_id="bad")) == [("unreadable", "bad")]
    assert kinds(rule("allow Bash(rm x)", "session", rule_id="lost")) == [("nowhere", "lost")]
    assert kinds(rule("allow Bash(rm x)", "project", rule_id="lost")) == [("nowhere", "lost")]


@pytest.mark.parametrize(
    "pattern", ["Bash", "Edit", "Write", "Bash(python:*)", "Bash(sudo:*)", "Bash(git:*)", "Bash(rm:*)"]
)
def test_an_allow_that_says_too_much_is_named_and_a_deny_is_not(pattern: str) -> None:
    assert kinds(rule(f"allow {pattern}", rule_id="wide")) == [("broad", "wide")]
    assert kinds(rule(f"deny {pattern}")) == []


PATTERNS = [
    *("Bash", "Bash(git:*)", "Bash(git log:*)", "Bash(git log)", "Bash(git log -n 3:*)", "Bash(git * x)", "Bash(ls)"),
    *("Edit", "Edit(src/**)", "Edit(src/a/**)", "Edit(src/a/b.py)", "Edit(//src/**)", "Write(src/x/y)", "Edit(~/**)"),
    *("Read", "Read(.env)", "Read(/src/**)", "Read(/src/a)", "WebFetch", "WebFetch(domain:*.org)"),
    *(
        "WebFetch(domain:*.a.org)",
        "WebFetch(domain:x.a.org)",
        "WebFetch(domain:a.org)",
        "mcp__*",
        "mcp__a",
        "mcp__a__*",
    ),
    *("mcp__a__b", "mcp__a__b__c", "mcp__a__b__*", "mcp__a___b", "Agent(Explore)", "Task", "Agent"),
]
PLACES = [
    ("user", None, None),
    ("hub", None, None),
    ("once", "s", None),
    ("session", "s", None),
    ("session", "t", None),
    ("session", None, None),
    ("project", None, "/"),
    ("project", None, "/p"),
    ("project", None, "/p/q"),
    ("project", None, "/p/q/"),
    ("project", None, "/pq"),
    ("project", None, None),
]
written = st.builds(
    lambda effect, pattern, place, ends: (effect, pattern, *place, ends),
    st.sampled_from(["allow", "ask", "deny"]),
    st.sampled_from(PATTERNS),
    st.sampled_from(PLACES),
    st.sampled_from([None, None, 5.0, 9.0]),
)


def _made(number: int, row: tuple[str, str, str, str | None, str | None, float | None]) -> Rule:
    effect, pattern, scope, session, folder, ends = row
    return Rule(
        rule_id=f"r{number}",
        effect=effect,
        pattern=pattern,
        scope=scope,
        scope_id=session,
        scope_path=folder,
        expires_at=ends,
        created_at=float(number % 3),
        created_by="x",
    )


@given(st.lists(written, max_size=12))
@settings(max_examples=300)
def test_a_rule_that_covers_another_is_found_without_trying_all(rows: list[tuple[str, ...]]) -> None:
    bound = Rulebook.of(starmap(_made, enumerate(rows))).bound
    known = Broader(bound)
    for one in bound:
        tried = [other.rule.rule_id for other in bound if takes_all(other, one)]
        assert [other.rule.rule_id for other in known.around(one) if takes_all(other, one)] == tried


def test_as_many_rules_as_there_may_be_are_looked_through_in_a_moment() -> None:
    many = [rule(f"allow Bash(git sub{n}:*)", rule_id=f"r{n}") for n in range(MAX_RULES)]
    alike = [
        rule("allow Bash(git log:*)", rule_id=f"r{n}", scope="session", scope_id=f"s{n}") for n in range(MAX_RULES)
    ]
    started = time.process_time()
    assert findings(many) == findings(alike) == []
    assert time.process_time() - started < 10
