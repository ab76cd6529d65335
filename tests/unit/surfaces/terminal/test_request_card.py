"""A request as a card: nothing is left out or hidden, and no control character gets through."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.common import out
from quarterdeck.cli.output.request_card import card_lines
from quarterdeck.core.text.sanitize import UNSEEN, visible
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.lines import request_input
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.session_names import SessionName
from quarterdeck.surfaces.terminal.styled_text import StyledLine, fold, plain
from quarterdeck.surfaces.tui.dialogs.decisions.batch import MAX_ROWS, preview
from quarterdeck.surfaces.tui.flows.card_details import _folded
from tests.support.hostile import HOSTILE, TEXTS
from tests.support.plain_story import PlainStory
from tests.support.recorded_daemon import NOW, request, resolved, session, session_view
from tests.support.requests_of_each_kind import ANSWERED, KINDS, OUTCOME

RULE = {"effect": None, "rules": [], "reasons": ["no rule is about this"], "patterns": [], "trust": None}


def body(view: dict[str, Any], width: int = 200) -> str:
    return plain(fold(request_input.body(view), width))


def tool(name: str, **tool_input: Any) -> dict[str, Any]:
    return request(tool_name=name, tool_input=tool_input)


def test_the_head_names_the_session_its_wish_and_the_waiting_time() -> None:
    view = request(agent_id="a1", agent_type="Explore")
    head = plain(fold(card.head(view, session_view(), NOW), 200))
    assert head == "◆ shop wants to run · sub-agent Explore · 12 s ago"
    assert "session s1" in plain(fold(card.head(view, None, NOW), 200))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (["ask Edit(*.py)"], "The rules say ask: ask Edit(*.py) · it is near"),
        ([], "The rules say ask: it is near"),
    ],
)
def test_what_the_rules_say_names_a_rule_only_if_there_is_one(rules: list[str], words: str) -> None:
    view = request() | {"rule": RULE | {"effect": "ask", "rules": rules, "reasons": ["it is near"]}}
    assert card.rules_sentence(view) == words


def test_a_request_whose_agent_is_away_says_so_in_the_list_and_on_the_card() -> None:
    away = request(opened_at=NOW - 5, holder="reconnecting")
    for shown in (card.summary(away, None, NOW), card.head(away, session_view(), NOW)[0]):
        assert plain([shown.spans]).endswith(" · 5 s ago · the agent is reconnecting")


@pytest.mark.parametrize(
    ("title", "shown"), [("fix the login", True), ("push it\nand then", False), ("push it and t…", False)]
)
def test_a_title_that_only_repeats_the_prompt_is_not_shown_beside_it(title: str, shown: bool) -> None:
    view = request() | {"run": {"prompt": "push it\nand then rest"}}
    head = plain(fold(card.head(view, session_view(title=title), NOW, SessionName("shop", "5bcc")), 200))
    assert head == f"◆ shop·5bcc wants to run · 12 s ago{f' · {title}' if shown else ''}"


def test_every_field_of_an_unknown_tool_is_shown() -> None:
    shown = body(tool("mcp__db__drop", table="users", cascade=True, note="two\nlines"))
    assert all(word in shown for word in ("table: users", "cascade: true", "note:", "    two", "    lines"))


def test_an_edit_shows_removed_and_added_lines_between_the_shared_ones() -> None:
    shown = body(tool("Edit", file_path="/w/a.py", old_string="a\nb\nc", new_string="a\nx\nc", replace_all=True))
    assert [line.strip() for line in shown.split("\n")] == [
        "/w/a.py",
        "a",
        "- b",
        "+ x",
        "c",
        "replace_all: true",
    ]


def test_the_daemons_diff_is_shown_and_a_cut_one_is_followed_by_the_input() -> None:
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
    assert "1. Redis: shared" in shown
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
def test_a_card_offers_the_decisions_that_the_request_takes(more: dict[str, Any], verbs: tuple[str, ...]) -> None:
    assert card.decisions_for(request(**more)) == verbs


def test_a_request_without_a_terminal_cannot_be_left_to_one() -> None:
    for form in (None, "plan", "questions", "elicitation", "other"):
        assert "pass" in card.decisions_for(request(form=form))
        assert "pass" not in card.decisions_for(request(form=form, has_terminal=False))


def test_the_tail_shows_risk_rules_and_suggestions_in_words() -> None:
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
        "doubts": ["writes to out.txt", "a variable"],
        "writes": ["out.txt"],
        "more": 2,
    }
    view = request(suggestions=[suggestion, "odd"]) | {"command": command, "run": {"prompt": "push it"}, "rule": RULE}
    shown = plain(fold(card.tail(view), 200))
    assert "!! high: rewrites published history" in shown
    assert "| rm x  by sudo  !! high r" in shown
    assert "No rule is about this." in shown
    assert "unclear: a variable" in shown
    assert "and 2 more" in shown
    assert "writes to out.txt" in shown
    assert "The agent suggests: allow Bash(git push:*) in session" in shown
    assert "asked for: push it" in shown


@pytest.mark.law("I6")
@pytest.mark.law("I7")
@pytest.mark.parametrize("text", TEXTS, ids=list(HOSTILE))
def test_hostile_text_is_shown_literally_everywhere(text: str) -> None:
    view = request(
        command=text,
        agent_id=text,
        agent_type=text,
        risk={"level": text, "reasons": [text]},
        suggestions=[{"rules": [{"toolName": text, "ruleContent": text}]}],
    )
    rule = {"effect": None, "rules": [text], "reasons": [text], "patterns": [text], "trust": None}
    view |= {"rule": rule, "session": {"title": text, "cwd": text}}
    view["tool_input"] |= {text: text, "list": [text]}
    lines = [
        *card.head(view, session_view(cwd=f"/w/{text}", title=text), NOW),
        *request_input.body(view),
        *card.tail(view),
    ]
    for row in fold(lines, 60):
        for span in row:
            assert not UNSEEN.search(span.text)
            assert "\n" not in span.text
            assert "\t" not in span.text
            assert span.click == ""


@pytest.mark.law("D10")
@given(st.text(max_size=300))
def test_the_body_shows_all_of_a_command_or_names_what_is_hidden(command: str) -> None:
    view = request(command=command)
    shown = "".join(span.text for row in fold(request_input.body(view), 40) for span in row[1:])
    assert bool(request_input.concealed_parts(view)) == bool(UNSEEN.search(command))
    assert shown == visible(command).replace("\n", "").replace("\t", "    ")


@pytest.mark.law("D10")
def test_a_question_shows_its_heading_and_every_field_of_its_choices() -> None:
    option = {"label": "Redis", "description": "fast", "preview": "two\nlines", "price": {"usd": 3}}
    question = {"question": "Which?", "header": "Cache", "multiSelect": False, "options": [option], "weight": 7}
    shown = body(request(kind="question", form="questions", tool_input={"questions": [question]}))
    assert [row.strip() for row in shown.split("\n")] == [
        "Cache · Which?",
        "weight: 7",
        "1. Redis: fast",
        "preview:",
        "two",
        "lines",
        'price: {"usd": 3}',
    ]


FIELDS = st.dictionaries(st.text("abcdefgh", min_size=1), st.text("stuvwxyz", min_size=1) | st.integers(), max_size=4)


@pytest.mark.law("D10")
@given(FIELDS, FIELDS)
def test_no_field_of_a_question_is_left_out(question: dict[str, Any], option: dict[str, Any]) -> None:
    malformed = {**question, "question": "Q?", "header": 5, "multiSelect": "x", "options": [{**option, "label": 9}]}
    shown = body(request(kind="question", form="questions", tool_input={"questions": [malformed]}))
    for fields in (question, option, {"header": 5, "multiSelect": "x", "label": 9}):
        assert all(f"{name}: {value}" in shown for name, value in fields.items())


@pytest.mark.law("D17")
def test_the_batch_preview_shows_each_request_whole_or_not_at_all() -> None:
    rows, whole = preview(RequestItem(request()), "shop", 60)
    assert whole
    assert "git push --force" in plain(rows)
    long = RequestItem(request(command="\n".join(f"echo {n}" for n in range(MAX_ROWS + 1))))
    rows, whole = preview(long, "shop", 60)
    assert not whole
    assert "press x first" in plain(rows)
    assert not preview(RequestItem(request(command="ls \u200b")), "shop", 60)[1]
    long.seen = True
    rows, whole = preview(long, "shop", 60)
    assert whole
    assert "and more, which you have seen" in plain(rows)


def shown_lines(lines: Iterable[StyledLine]) -> str:
    return "\n".join(" " * max(0, one.indent - 2) + plain([one.spans]) for one in lines)


@pytest.mark.law("D10")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_request_has_this_card(kind: str) -> None:
    view, wants, text = KINDS[kind]
    (head,) = card.head(view, session_view(), NOW)
    assert f"shop {wants}" in plain([head.spans])
    assert shown_lines([*request_input.body(view), *card.tail(view)]) == text


@pytest.mark.parametrize("kind", KINDS)
async def test_every_surface_prints_this_card(kind: str) -> None:
    view, wants, text = KINDS[kind]
    with out.capture() as printed:
        for one in card_lines(view):
            out.print(one)
    story = PlainStory(session())
    story.gets_request(view, **view)
    item = RequestItem(view)
    read_out = await story.types("show 1") if view["truncated"] is None else story.printed
    whole = plain(_folded(item, session_view(), SessionName("shop"), 200, NOW))
    for shown in (printed.get(), whole, "\n".join(read_out)):
        rows = [row.strip() for row in shown.split("\n")]
        assert f"shop {wants}" in shown
        places = [rows.index(row.strip()) for row in text.split("\n")]
        assert places == sorted(places)


def test_the_outcome_shows_the_message_the_answers_and_what_ran() -> None:
    first, _, rest = shown_lines(card.outcome_lines(ANSWERED)).partition("\n")
    assert first.startswith("→ Allowed “Redis (for now)”, edited, by owner")
    assert rest == OUTCOME
    assert list(card.outcome_lines(request())) == []


def test_a_denial_without_words_of_its_own_is_named_once() -> None:
    view = resolved(request(), word="deny", message="Denied by owner via cli in Quarterdeck.")
    assert len(list(card.outcome_lines(view))) == 1
    assert shown_lines(card.outcome_lines(view)).count("Denied by") == 1


def test_a_request_that_waits_shows_how_long_in_a_list_and_on_its_card() -> None:
    waiting = request(opened_at=NOW - 2 * 3600)
    assert plain([card.summary(waiting, None, NOW).spans]).endswith(" · 2 h ago")
    asking = session_view(waiting["session_id"], title="fix the login")
    assert "shop · fix the login · session " in plain([card.summary(waiting, asking, NOW).spans])
    assert plain([card.head(waiting, session_view(), NOW)[0].spans]).endswith(" · 2 h ago")
