"""Rules that decisions imply: what was decided otherwise refutes a habit, and a long history is looked through once."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.decisions import Allow, Deny
from quarterdeck.core.rules.rulebook import Rule, Rulebook
from quarterdeck.core.rules.suggestions import LONGEST, Suggestion, suggestions
from quarterdeck.core.rules.verdicts import subject_of_request
from tests.support.scene import Scene, bash


def decided(*commands: tuple[str, str]) -> Scene:
    """A person decided each of these."""
    scene = Scene()
    for number, (effect, command) in enumerate(commands):
        scene.hears("PermissionRequest", id=f"r{number}", **bash(command))
        scene.decides(f"r{number}", Allow() if effect == "allow" else Deny("no"))
    return scene


def implied(scene: Scene) -> list[Suggestion]:
    return suggestions(scene.state.requests.values(), Rulebook.of(()), scene.state.settings, 1.0)


def patterns(*commands: tuple[str, str]) -> list[str]:
    return [f"{one.effect} {one.pattern}" for one in implied(decided(*commands))]


def test_what_was_decided_the_same_way_three_times_is_a_habit() -> None:
    assert patterns(*[("allow", f"git log -{n}") for n in range(3)]) == ["allow Bash(git log:*)"]


def test_a_habit_that_would_have_allowed_what_was_denied_is_none() -> None:
    assert patterns(*[("allow", f"git log -{n}") for n in range(3)], ("deny", "git log --all")) == []


def test_what_only_two_habits_together_allow_refutes_neither() -> None:
    both = [("allow", f"git {word} -{n}") for word in ("log", "show") for n in range(3)]
    assert patterns(*both, ("deny", "git log && git show")) == ["allow Bash(git log:*)", "allow Bash(git show:*)"]


def test_a_command_that_nobody_would_save_is_no_habit() -> None:
    assert patterns(*[("allow", "echo " + "x" * LONGEST)] * 3) == []


odd_commands = st.sampled_from(
    ["git log -1", "git log && git show", "git show x", "git log -1 && rm x", "rm x", "((", "", "ls | head", "ls 'a b'"]
)


@pytest.mark.law("R5")
@given(st.lists(st.tuples(st.sampled_from(["allow", "deny"]), odd_commands), max_size=16))
def test_no_suggestion_would_have_decided_otherwise(history: list[tuple[str, str]]) -> None:
    scene = decided(*history)
    for one in implied(scene):
        rule = Rule(
            rule_id="r", effect=one.effect, pattern=one.pattern, scope="user", created_at=0.0, created_by="owner"
        )
        book = Rulebook.of([rule])
        for request, (effect, _) in zip(scene.state.requests.values(), history, strict=True):
            subject = subject_of_request(scene.state.settings, request)
            assert effect == one.effect or book.verdict(subject, 1.0).effect != one.effect


def test_a_history_four_times_as_long_takes_no_more_than_a_few_times_as_long() -> None:
    """Every habit is tried on everything that was decided otherwise."""

    def seconds(size: int) -> float:
        allowed = [("allow", f"tool{n // 3} run x{n // 3}") for n in range(size)]
        scene = decided(*allowed, *[("deny", f"other{n} -a && ls {n}") for n in range(size)])
        before = time.process_time()
        assert len(implied(scene)) == 20
        return time.process_time() - before

    seconds(60)
    assert seconds(400) < 9 * seconds(100)
