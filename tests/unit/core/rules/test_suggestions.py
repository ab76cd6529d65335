"""Rules that decisions imply: a contrary decision refutes a habit, and a long history is read in about linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.decisions import Allow, Deny
from quarterdeck.core.rules.rulebook import Rule, Rulebook
from quarterdeck.core.rules.suggestions import MAX_COMMAND, Suggestion, suggestions
from quarterdeck.core.rules.verdicts import tool_use_of_request
from tests.support.scene import Scene, bash


def decided(*commands: tuple[str, str]) -> Scene:
    """A scene in which a person decided each of these commands."""
    scene = Scene()
    for number, (effect, command) in enumerate(commands):
        scene.receives("PermissionRequest", id=f"r{number}", **bash(command))
        scene.decides(f"r{number}", Allow() if effect == "allow" else Deny("no"))
    return scene


def suggested(scene: Scene) -> list[Suggestion]:
    return suggestions(scene.state.requests.values(), Rulebook.of(()), scene.state.settings, 1.0)


def patterns(*commands: tuple[str, str]) -> list[str]:
    return [f"{one.effect} {one.pattern}" for one in suggested(decided(*commands))]


def test_three_equal_decisions_are_a_habit() -> None:
    assert patterns(*[("allow", f"git log -{n}") for n in range(3)]) == ["allow Bash(git log:*)"]


def test_a_habit_that_would_have_allowed_a_denied_command_is_refuted() -> None:
    assert patterns(*[("allow", f"git log -{n}") for n in range(3)], ("deny", "git log --all")) == []


def test_a_line_that_only_two_habits_together_allow_refutes_neither() -> None:
    both = [("allow", f"git {word} -{n}") for word in ("log", "show") for n in range(3)]
    assert patterns(*both, ("deny", "git log && git show")) == ["allow Bash(git log:*)", "allow Bash(git show:*)"]


def test_a_very_long_command_is_not_a_habit() -> None:
    assert patterns(*[("allow", "echo " + "x" * MAX_COMMAND)] * 3) == []


odd_commands = st.sampled_from(
    ["git log -1", "git log && git show", "git show x", "git log -1 && rm x", "rm x", "((", "", "ls | head", "ls 'a b'"]
)


@pytest.mark.law("R5")
@given(st.lists(st.tuples(st.sampled_from(["allow", "deny"]), odd_commands), max_size=16))
def test_no_suggestion_contradicts_a_past_decision(history: list[tuple[str, str]]) -> None:
    scene = decided(*history)
    for one in suggested(scene):
        rule = Rule(
            rule_id="r", effect=one.effect, pattern=one.pattern, scope="user", created_at=0.0, created_by="owner"
        )
        book = Rulebook.of([rule])
        for request, (effect, _) in zip(scene.state.requests.values(), history, strict=True):
            tool_use = tool_use_of_request(scene.state.settings, request)
            assert effect == one.effect or book.verdict(tool_use, 1.0).effect != one.effect


def test_the_time_for_suggestions_grows_about_linearly_with_the_history() -> None:
    """Every habit is checked against every contrary decision."""

    def seconds(size: int) -> float:
        allowed = [("allow", f"tool{n // 3} run x{n // 3}") for n in range(size)]
        scene = decided(*allowed, *[("deny", f"other{n} -a && ls {n}") for n in range(size)])
        before = time.process_time()
        assert len(suggested(scene)) == 20
        return time.process_time() - before

    seconds(60)
    assert seconds(400) < 9 * seconds(100)
