"""Simulation of a rule: the cheap test that skips most requests skips none that the rule decides."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quarterdeck.core.rules.rulebook import Rule, Rulebook
from quarterdeck.core.rules.simulation import simulate
from quarterdeck.core.rules.verdicts import tool_use_of_request
from tests.support.scene import Scene, bash

# fmt: off
commands = st.sampled_from([
    "git log", "git log -1 && ls", "ls", "'git' log", "g'i't log", 'g"it" log', "g\\it log", "gi\\\nt log", "GIT log",
    "/usr/bin/git log", "$x log", "`echo git` log", "g?t log", "gi[t] log", "{git,x} log", "env git log", "echo 'x y'",
    "bash -c 'git log'", "git-log", "RM x", "r\\m x", "'r'm x", "/bin/rm x", "python -m git", "((", "", "rm",
    "echo \"a\\b\"", "git log | head -n 3", "G\\IT log", "ßit", "xargs rm", "cat 'a' && 'rm' b",
])
# fmt: on
rules = st.tuples(
    st.sampled_from(["allow", "deny", "ask"]),
    st.sampled_from(
        ["Bash(git log:*)", "Bash(git:*)", "Bash(rm:*)", "Bash(RM x)", "Bash(g*)", "Bash", "Bash(git-log)"]
    ),
)


@pytest.mark.law("R5")
@given(rules, st.lists(commands, min_size=1, max_size=6))
@example(("deny", "Bash(git:*)"), ["GIT log"])
@example(("deny", "Bash(git:*)"), ["gi\\\nt log"])
@example(("allow", "Bash(git log:*)"), ["'git' log"])
def test_the_first_word_test_skips_nothing_that_the_rule_decides(rule_text: tuple[str, str], past: list[str]) -> None:
    effect, pattern = rule_text
    rule = Rule(rule_id="r", effect=effect, pattern=pattern, scope="user", created_at=0.0, created_by="ann")
    scene = Scene()
    for number, command in enumerate(past):
        scene.receives("PermissionRequest", id=f"r{number}", **bash(command))
    requests, settings = list(scene.state.requests.values()), scene.state.settings
    book = Rulebook.of([rule])
    expected = [one for one in requests if book.verdict(tool_use_of_request(settings, one), 1.0).effect == effect]
    assert [one.request for one in simulate(rule, requests, settings)] == expected
