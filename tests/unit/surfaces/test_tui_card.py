"""A request as a card: everything is there, nothing hides, nothing acts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.sanitize import UNSEEN, visible
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from quarterdeck.surfaces.tui.dialogs.decisions.batch import ROWS, preview
from tests.support.hostile import HOSTILE, TEXTS
from tests.support.tui import NOW, request, session


def body(view: dict[str, Any], width: int = 200) -> str:
    return plain(fold(card.body(view), width))


def tool(name: str, **tool_input: Any) -> dict[str, Any]:
    return request(tool_name=name, tool_input=tool_input)


def test_the_head_says_who_wants_what_and_since_when() -> None:
    view = request(agent_id="a1", agent_type="Explore")
    head = plain(fold(card.head(view, session(), NOW), 200))
    assert head == "◆ shop wants to run · sub-agent Explore · 12 s ago"
    assert "session s1" in plain(fold(card.head(view, None, NOW), 200))


def test_every_field_of_an_unknown_tool_is_shown() -> None:
    shown = body(tool("mcp__db__drop", table="users", cascade=True, note="two\nlines"))
    assert all(word in shown for word in ("table: users", "cascade: true", "note:", "    two", "    lines"))


def test_an_edit_shows_what_goes_and_what_comes_with_what_both_have_between() -> None:
    shown = body(tool("Edit", file_path="/w/a.py", old_string="a\nb\nc", new_string="a\nx\nc", replace_all=True))
    assert [line.strip() for line in shown.split("\n")] == [
        "/w/a.py",
        "a",
        "- b",
        "+ x",
        "c",
        "replace_all: true",
    ]


def test_the_daemons_diff_is_shown_where_it_gives_one_and_what_it_cuts_is_shown_too() -> None:
    change = {"path": "a.py", "added": 1, "removed": 1, "compared": True, "cut": False, "notes": ["it is a link"]}
    view = tool("Write", file_path="/w/a.py", content="new") | {"diff": "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"}
    shown = body(view | {"change": change})
    assert "-old" in shown
    assert "it is a link" in shown
    assert "content" not in shown
    assert "content: new" in body(view | {"change": change | {"cut": True}})


@pytest.mark.parametrize("given", [{}, {"plan": ""}, {"plan": None}])
def test_a_plan_without_text_says_so(given: dict[str, Any]) -> None:
    assert body(request(form="plan", tool_name="ExitPlanMode", tool_input=given)) == (
        "  The plan is empty: the agent gave no text."
    )


def test_a_question_shows_its_options_and_a_malformed_one_its_json() -> None:
    options = [{"label": "Redis", "description": "shared"}, {"label": "Memory"}]
    question = {"question": "Which store?", "options": options, "multiSelect": True}
    view = request(kind="question", form="questions", tool_input={"questions": [question]})
    shown = body(view)
    assert "Which store? (several may be chosen)" in shown
    assert "1 Redis  shared" in shown
    odd = request(kind="question", form="questions", tool_input={"questions": [{"question": 7}]})
    assert json.dumps([{"question": 7}]) in body(odd)


@pytest.mark.parametrize(
    ("more", "verbs"),
    [
        ({}, ("allow", "edit", "deny", "interrupt", "remember", "pass")),
        ({"form": "plan", "kind": "question"}, ("allow", "approve", "deny", "interrupt", "pass")),
        ({"form": "questions", "kind": "question"}, ("answer", "deny", "pass")),
        ({"form": "elicitation", "kind": "question"}, ("answer", "deny", "pass")),
        ({"kind": "stop"}, ("allow", "go_on", "pass")),
        ({"kind": "something new"}, ("deny", "pass")),
    ],
)
def test_a_card_offers_the_decisions_that_fit(more: dict[str, Any], verbs: tuple[str, ...]) -> None:
    assert card.decisions_for(request(**more)) == verbs


def test_what_has_no_terminal_is_not_left_to_one() -> None:
    for form in (None, "plan", "questions", "elicitation", "other"):
        assert "pass" in card.decisions_for(request(form=form))
        assert "pass" not in card.decisions_for(request(form=form, has_terminal=False))


def test_the_tail_tells_risk_rules_and_suggestions_in_words() -> None:
    rules = [{"toolName": "Bash", "ruleContent": "git push:*"}]
    suggestion = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
    command = {
        "calls": [
            {"text": "a", "words": ["a"], "via": "", "piped": False, "risk": {"level": "low", "reasons": []}},
            {
                "text": "",
                "words": ["rm", "x"],
                "via": "sudo",
                "piped": True,
                "risk": {"level": "high", "reasons": ["r"]},
            },
        ],
        "doubts": [],
        "writes": ["out.txt"],
        "more": 2,
    }
    view = request(suggestions=[suggestion, "odd"]) | {"command": command, "run": {"prompt": "push it"}}
    shown = plain(fold(card.tail(view, "No rule is about this."), 200))
    assert "!! high: rewrites published history" in shown
    assert "| rm x  by sudo  !! high" in shown
    assert "and 2 more" in shown
    assert "writes to out.txt" in shown
    assert "Claude suggests: allow Bash(git push:*) in session" in shown
    assert "asked for: push it" in shown


@pytest.mark.law("I6")
@pytest.mark.law("I7")
@pytest.mark.parametrize("text", TEXTS, ids=list(HOSTILE))
def test_hostile_text_is_shown_literally_wherever_it_stands(text: str) -> None:
    view = request(
        command=text,
        agent_id=text,
        agent_type=text,
        risk={"level": text, "reasons": [text]},
        suggestions=[{"rules": [{"toolName": text, "ruleContent": text}]}],
    )
    view["tool_input"] |= {text: text, "list": [text]}
    lines = [*card.head(view, session(cwd=f"/w/{text}", title=text), NOW), *card.body(view), *card.tail(view, text)]
    for row in fold(lines, 60):
        for span in row:
            assert not UNSEEN.search(span.text)
            assert "\n" not in span.text
            assert "\t" not in span.text
            assert span.click == ""


@pytest.mark.law("D10")
@given(st.text(max_size=300))
def test_the_body_holds_all_of_a_command_or_says_what_hides(command: str) -> None:
    view = request(command=command)
    shown = "".join(span.text for row in fold(card.body(view), 40) for span in row[1:])
    assert bool(card.concealed(view)) == bool(UNSEEN.search(command))
    assert shown == visible(command).replace("\n", "").replace("\t", "    ")


@pytest.mark.law("D10")
def test_a_question_shows_its_heading_and_every_field_of_its_choices() -> None:
    option = {"label": "Redis", "description": "fast", "preview": "two\nlines", "price": {"usd": 3}}
    question = {"question": "Which?", "header": "Cache", "multiSelect": False, "options": [option], "weight": 7}
    shown = body(request(kind="question", form="questions", tool_input={"questions": [question]}))
    assert [row.strip() for row in shown.split("\n")] == [
        "Cache · Which?",
        "weight: 7",
        "1 Redis  fast",
        "preview:",
        "two",
        "lines",
        'price: {"usd": 3}',
    ]


FIELDS = st.dictionaries(st.text("abcdefgh", min_size=1), st.text("stuvwxyz", min_size=1) | st.integers(), max_size=4)


@pytest.mark.law("D10")
@given(FIELDS, FIELDS)
def test_no_field_of_a_question_is_left_out(question: dict[str, Any], option: dict[str, Any]) -> None:
    asked = {**question, "question": "Q?", "header": 5, "multiSelect": "x", "options": [{**option, "label": 9}]}
    shown = body(request(kind="question", form="questions", tool_input={"questions": [asked]}))
    for fields in (question, option, {"header": 5, "multiSelect": "x", "label": 9}):
        assert all(f"{name}: {value}" in shown for name, value in fields.items())


@pytest.mark.law("D17")
def test_the_preview_of_many_shows_each_whole_or_keeps_it_out() -> None:
    rows, whole = preview(Asked(request()), "shop", 60)
    assert whole
    assert "git push --force" in plain(rows)
    long = Asked(request(command="\n".join(f"echo {n}" for n in range(ROWS + 1))))
    rows, whole = preview(long, "shop", 60)
    assert not whole
    assert "press x first" in plain(rows)
    assert not preview(Asked(request(command="ls \u200b")), "shop", 60)[1]
    long.seen = True
    rows, whole = preview(long, "shop", 60)
    assert whole
    assert "and more, which you have seen" in plain(rows)
