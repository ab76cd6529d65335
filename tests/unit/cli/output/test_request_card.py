"""A request on the command line: in a list, and as a card with the commands that decide it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from rich.text import Text

from quarterdeck.cli.common import out
from quarterdeck.cli.output.request_card import card_lines, request_lines, styled_texts
from quarterdeck.surfaces.terminal.styled_text import BLOCK, exact_lines, line
from tests.support.recorded_daemon import Json, request, resolved
from tests.support.requests_of_each_kind import ANSWERED, KINDS, card


def printed(lines: Iterable[Text]) -> str:
    with out.capture() as printed:
        for one in lines:
            out.print(one)
    return printed.get()


def shown(view: Json) -> str:
    return printed(card_lines(view))


def listed(view: Json) -> list[str]:
    return printed(request_lines(view)).split("\n")


def test_a_list_names_the_request_its_risk_and_its_session_above_the_input() -> None:
    head, *below = listed(request(agent_id="a1", agent_type="Explore", opened_at=1_000_000.0))
    assert head.startswith("◆ q1  Bash  !! high  session s1 · sub-agent Explore · ")
    assert below == ["    git push --force", "    !! high: rewrites published history (git push --force)", ""]


@pytest.mark.parametrize("kind", KINDS)
def test_no_line_of_a_card_ends_with_spaces(kind: str) -> None:
    assert all(row == row.rstrip() for row in shown(KINDS[kind][0]).split("\n"))


def test_a_list_names_the_command_that_shows_all_of_a_large_request() -> None:
    assert "    see all of it with: qd requests q1" in listed(KINDS["large"][0])


def test_a_card_names_its_ids_and_who_else_waits() -> None:
    assert "  q1 · session s1 · 2 others wait\n" in shown(KINDS["command"][0])
    assert "  q1 · session s1\n" in shown(KINDS["edit"][0])
    assert "  q1 · session s1 · waited 1 m · 2 others wait\n" in shown(ANSWERED)


@pytest.mark.parametrize(
    ("kind", "commands"),
    [
        ("command", ("allow q1", "allow q1 --input JSON", "deny q1 --message TEXT", "pass q1")),
        ("plan", ("allow q1", "allow q1 --mode acceptEdits", "deny q1 --message TEXT", "pass q1")),
        ("questions", ("answer q1", "answer q1 LABEL", "pass q1")),
        ("form", ("answer q1", "answer q1 FIELD=VALUE", "deny q1", "pass q1")),
    ],
)
def test_a_card_ends_with_the_commands_that_decide_it(kind: str, commands: tuple[str, ...]) -> None:
    text = shown(KINDS[kind][0])
    assert all(f"  qd {command}  " in text for command in commands)


def test_a_pattern_can_be_remembered_unless_a_copy_of_it_would_differ() -> None:
    rule: Json = {"effect": None, "rules": [], "reasons": [], "trust": None}
    text = shown(card(rule=rule | {"patterns": ["Bash(git push)"]}))
    assert "can be remembered as: Bash(git push)\n" in text
    assert "qd allow q1 --remember session --pattern 'Bash(git push)'" in text
    assert "--remember" not in shown(card(rule=rule | {"patterns": ["Bash(\u200b)"]}))


def test_a_request_that_is_over_shows_its_outcome_and_no_commands() -> None:
    text = shown(resolved(card(), word="deny", message="not on main"))
    assert "  → Denied by owner from cli · " in text
    assert "not on main" in text
    assert "qd allow" not in text


def test_a_long_line_goes_into_a_pipe_as_one_line() -> None:
    text = printed(styled_texts([line("a " * BLOCK), *exact_lines("x" * (2 * BLOCK + 1))], 2))
    assert text == f"  {'a ' * BLOCK}\n    {'x' * (2 * BLOCK + 1)}\n"
