"""Problems that lint finds in a set of rules."""

from __future__ import annotations

import time
from itertools import starmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.rule import MAX_RULES
from quarterdeck.core.rules.broader_rules import BroaderRules
from quarterdeck.core.rules.lint import covers_rule, lint
from quarterdeck.core.rules.rulebook import Rule, Rulebook
from tests.support.examples import examples
from tests.support.rulebook import rule


def kinds(*made: Rule, at: float | None = 1.0) -> list[tuple[str, str]]:
    """The kind of each finding and the ID of its rule."""
    return [(finding.kind, finding.rule_ids[0]) for finding in lint(made, at)]


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
def test_an_allow_that_a_stronger_rule_covers_is_reported(allow: str, stronger: str) -> None:
    below = rule(f"allow {allow}", rule_id="below")
    (finding,) = lint([below, rule(stronger, rule_id="above")])
    assert (finding.kind, finding.rule_ids) == ("shadowed", ("below", "above"))
    assert allow in finding.text
    assert stronger in finding.text


def test_a_stronger_rule_shadows_only_where_it_applies() -> None:
    below = rule("allow Bash(git push origin:*)", rule_id="below")
    for scope, fields in (
        ("session", {"scope_id": "s"}),
        ("project", {"scope_path": "/p"}),
        ("user", {"expires_at": 9.0}),
    ):
        assert kinds(below, rule("deny Bash(git push:*)", scope, rule_id="above", **fields)) == []
    inner = rule("allow Bash(git push origin:*)", "project", scope_path="/p/sub", rule_id="inner")
    assert kinds(inner, rule("deny Bash(git push:*)", "project", scope_path="/p")) == [("shadowed", "inner")]


def test_of_two_equal_rules_the_later_is_reported() -> None:
    first, second = (rule("deny Bash(rm:*)", rule_id=name, created_at=at) for name, at in (("a", 1.0), ("b", 2.0)))
    assert kinds(first, second) == [("duplicate", "b")]
    assert kinds(second, first) == [("duplicate", "b")]
    written_otherwise = [rule("deny Bash(*)", rule_id="a"), rule("deny Bash", rule_id="b", created_at=1.0)]
    assert kinds(*written_otherwise) == [("duplicate", "b")]


def test_a_rule_within_another_of_the_same_effect_is_needless() -> None:
    assert kinds(rule("allow Edit(src/a/**)", rule_id="in"), rule("allow Edit(src/**)")) == [("needless", "in")]
    assert kinds(rule("allow Edit(src/a/**)"), rule("allow Edit(src/**)", expires_at=9.0)) == []


def test_a_rule_that_expired_or_cannot_match_is_reported() -> None:
    assert kinds(rule("deny Bash(rm:*)", rule_id="old", expires_at=0.5)) == [("expired", "old")]
    assert kinds(rule("deny Bash(rm:*)", expires_at=0.5), at=None) == []
    assert kinds(rule("allow Bash(rm", rule_id="bad")) == [("unreadable", "bad")]
    assert kinds(rule("allow Bash(rm x)", "session", rule_id="lost")) == [("nowhere", "lost")]
    assert kinds(rule("allow Bash(rm x)", "project", rule_id="lost")) == [("nowhere", "lost")]


@pytest.mark.parametrize(
    "pattern", ["Bash", "Edit", "Write", "Bash(python:*)", "Bash(sudo:*)", "Bash(git:*)", "Bash(rm:*)"]
)
def test_an_allow_that_is_too_broad_is_reported_but_a_deny_is_not(pattern: str) -> None:
    assert kinds(rule(f"allow {pattern}", rule_id="wide")) == [("broad", "wide")]
    assert kinds(rule(f"deny {pattern}")) == []


def test_an_allow_of_the_hub_is_reported_on_a_machine_without_one() -> None:
    made = [rule("allow Bash(ls:*)", "hub", rule_id="allow"), rule("deny Bash(rm:*)", "hub", rule_id="deny")]
    made.append(rule("allow Bash(ls:*)", rule_id="own"))
    [finding] = lint(made, in_hub=False)
    assert (finding.kind, finding.rule_ids) == ("nowhere", ("allow",))
    assert finding.text.endswith("never matches: this machine has joined no hub")
    assert [finding.kind for finding in lint(made, in_hub=True)] == ["duplicate"]


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
@examples(3)
def test_broader_rules_are_the_same_as_when_trying_all_pairs(rows: list[tuple[str, ...]]) -> None:
    entries = Rulebook.of(starmap(_made, enumerate(rows))).entries
    known = BroaderRules(entries)
    for one in entries:
        tried = [other.rule.rule_id for other in entries if covers_rule(other, one)]
        assert [other.rule.rule_id for other in known.candidates(one) if covers_rule(other, one)] == tried


def test_the_maximum_number_of_rules_is_linted_quickly() -> None:
    many = [rule(f"allow Bash(git sub{n}:*)", rule_id=f"r{n}") for n in range(MAX_RULES)]
    alike = [
        rule("allow Bash(git log:*)", rule_id=f"r{n}", scope="session", scope_id=f"s{n}") for n in range(MAX_RULES)
    ]
    started = time.process_time()
    assert lint(many) == lint(alike) == []
    assert time.process_time() - started < 10


def test_two_stars_in_an_allow_rule_are_said_to_mean_the_project() -> None:
    assert ("narrow", "all") in kinds(rule("allow Edit(**)", rule_id="all"))
    assert kinds(rule("allow Edit(./**)")) == []
