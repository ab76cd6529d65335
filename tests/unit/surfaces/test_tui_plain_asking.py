"""The face that speaks in lines asks for what it needs (answers, rules, sessions) and reads out what there is."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.surfaces.plain.answer import read_answer, read_field
from quarterdeck.surfaces.plain.remember import Rule, changed
from tests.support.lines import RULE, Lines
from tests.support.tui import NOW, Json, event, ours, request, session, told

STORES = [{"label": "Redis", "description": "fast"}, {"label": "Memory"}]


def questions(*asked: Json, **more: Any) -> Json:
    return request(kind="question", form="questions", tool_input={"questions": list(asked)}, **more)


def question(text: str, *, several: bool = False) -> Json:
    return {"question": text, "options": STORES, "multiSelect": several}


@pytest.mark.parametrize(
    ("text", "several", "answer"),
    [
        ("2", False, "Memory"),
        ("neither, really", False, "neither, really"),
        ("3", False, None),
        ("0", False, None),
        ("1,2", False, None),
        ("1,2", True, ["Redis", "Memory"]),
        ("2; and a file", True, ["Memory", "and a file"]),
        ("", False, None),
    ],
)
def test_an_answer_is_numbers_or_own_words(text: str, several: bool, answer: str | list[str] | None) -> None:
    assert read_answer(question("Which?", several=several), text) == answer


async def test_one_question_is_answered_in_one_line() -> None:
    lines = Lines(session())
    lines.asked(questions(question("Which store?")))
    await lines.types("answer 1 2")
    assert lines.talk.decided[0][1]["answers"] == {"Which store?": "Memory"}


async def test_questions_are_asked_one_by_one_and_read_back_with_their_notes() -> None:
    lines = Lines(session())
    lines.asked(questions(question("Which store?"), question("Which tests?", several=True)))
    said = await lines.types("answer 1", "9", "1", "1,2", "note 2 only fast ones", "yes")
    assert "Question 1 of 2: Which store?" in said
    assert "1: Redis, fast" in said
    assert "2: Which tests? Redis, Memory Note: only fast ones" in said
    body = lines.talk.decided[0][1]
    assert body["answers"] == {"Which store?": "Redis", "Which tests?": ["Redis", "Memory"]}
    assert body["notes"] == {"Which tests?": "only fast ones"}


async def test_an_order_typed_for_an_answer_is_read_back_and_not_sent_without_a_yes() -> None:
    lines = Lines(session())
    lines.asked(questions(question("Which store?")))
    assert "1: Which store? deny 2" in await lines.types("answer 1", "deny 2", "no")
    assert lines.talk.decided == []


def form(properties: Json, *needed: str) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(needed)}
    given = {"mcp_server_name": "srv", "message": "What name?", "requested_schema": schema}
    return request(kind="question", form="elicitation", tool_name="", tool_input=given)


async def test_a_form_is_filled_in_field_by_field() -> None:
    lines = Lines(session())
    fields = {
        "name": {"type": "string"},
        "count": {"type": "integer", "default": 3},
        "size": {"enum": ["small", "large"]},
        "sure": {"type": "boolean"},
        "more": {"type": "string"},
    }
    lines.asked(form(fields, "name", "size"))
    said = await lines.types("answer 1", "", "Ann", "seven", "", "2", "maybe", "yes", "-", "yes")
    for words in ("name is needed", "count: a whole number is needed", "2: large", "sure: yes or no is needed"):
        assert words in said
    assert lines.talk.decided[0][1]["answers"] == {"name": "Ann", "count": 3, "size": "large", "sure": True}


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [({"type": "number"}, "1.5", 1.5), ({"type": "array"}, "[1]", [1]), ({"enum": ["a", "b"]}, "1", "a")],
)
def test_a_field_is_read_by_its_kind(field: Json, text: str, value: object) -> None:
    assert read_field(field, text) == value


@pytest.mark.parametrize("field", [{"type": "integer"}, {"type": "object"}, {"enum": []}, {"type": "boolean"}])
def test_a_text_that_is_no_value_says_what_is_needed(field: Json) -> None:
    with pytest.raises(ValueError, match="needed"):
        read_field(field, "²")


def covered(lines: Lines, *patterns: str) -> None:
    lines.asked(request(command="git push"), rule=RULE | {"patterns": list(patterns)})


@pytest.mark.law("R5")
async def test_a_rule_says_what_it_covers_and_is_saved_only_after_a_yes() -> None:
    lines = Lines(session())
    covered(lines, "Bash(git push)", "Bash(git push:*)")
    said = await lines.types("remember 1", "cancel")
    assert "Always allow Bash(git push) in this session." in said
    assert "It would have decided 2 of 9 past requests." in said
    assert lines.talk.decided == []
    await lines.types("remember 1", "yes")
    assert lines.talk.decided[0][1]["remember"] == {"pattern": "Bash(git push)", "scope": "session"}


@pytest.mark.law("R5")
async def test_another_pattern_is_said_again_before_it_is_saved() -> None:
    lines = Lines(session())
    covered(lines, "Bash(git push)", "Bash(git push:*)")
    said = await lines.types("remember 1 project", "2", "Bash(git push origin)", "for 7d", "claude local", "yes")
    assert any("Saving it also trusts /home/ann/shop" in line for line in said)
    assert said[-4].startswith("Always allow Bash(git push origin) in this project for 7 days. Claude Code keeps it")
    assert lines.talk.decided[0][1]["remember"] == {
        "pattern": "Bash(git push origin)",
        "scope": "project",
        "expires": "7d",
        "claude": "local",
    }


async def test_where_no_pattern_covers_a_request_one_must_be_typed() -> None:
    lines = Lines(session())
    covered(lines)
    said = await lines.types("remember 1", "yes", "", "deny", "Bash(git push)", "yes")
    assert "This is not yet a rule" in said
    assert lines.talk.decided[0][1]["decision"] == "deny"


async def test_what_the_daemon_does_not_take_for_a_rule_cannot_be_saved() -> None:
    lines = Lines(session(), answers={})
    del lines.talk.answers["/rules/simulate"]
    covered(lines, "Bash(")
    assert any("Not yet a rule" in line for line in await lines.types("remember 1", "yes", "cancel"))
    assert lines.talk.decided == []


@pytest.mark.parametrize("typed", ["for years", "claude forever", "7", ""])
def test_what_changes_nothing_of_a_rule_says_why(typed: str) -> None:
    assert isinstance(changed(Rule("Bash(ls)"), typed, ["Bash(ls)"]), str)


async def test_the_feed_is_told_in_sentences_when_asked_and_as_it_happens() -> None:
    events = [event(1, "user.prompt", "❯ fix it"), event(2, "file.changed", "· hidden"), event(3, "note", "plain")]
    lines = Lines(session(), answers={"/feed": {"events": events}})
    assert [line.partition(" ")[2] for line in await lines.types("feed 20")] == ["shop: fix it", "shop: plain"]
    lines.hears(told("event", events[0]))
    assert lines.said[-1].endswith("plain")
    await lines.types("feed on shop")
    lines.hears(told("event", event(4, "tool.pre", "● Bash(ls)")))
    lines.hears(told("event", event(5, "tool.pre", "● Bash(rm)", "another")))
    assert lines.said[-1].endswith("shop: Bash(ls)")
    await lines.types("feed off")
    lines.hears(told("event", event(6, "tool.pre", "● Bash(cat)")))
    assert lines.said[-1] == "The feed is quiet."
    assert "No session is called nobody" in (await lines.types("feed nobody"))[0]


async def test_a_session_is_named_by_its_project_or_the_start_of_its_id() -> None:
    lines = Lines(session("aaaa1111", "running"), session("bbbb2222", "running"), ours("cccc3333", cwd="/w/docs"))
    assert "Several are called shop: shop (aaaa1111), shop (bbbb2222)" in (await lines.types("fork shop"))[0]
    assert "takes fork" in (await lines.types("write aaaa hello"))[0]
    assert "sessions lists them" in (await lines.types("write"))[0]
    said = await lines.types("sessions")
    assert any(
        line.startswith("docs (cccc3333): idle") and "It takes: write, stop-turn, end, fork, switch." in line
        for line in said
    )


async def test_sessions_are_steered_through_the_daemon() -> None:
    at = "/sessions/cccc"
    answers = {f"POST {at}/{order}": dict[str, Any]() for order in ("messages", "interrupt", "end", "mode")}
    lines = Lines(ours("cccc", cwd="/w/docs"), answers=answers)
    await lines.types("write docs run the tests")
    await lines.types("write docs", "and the others")
    await lines.types("stop-turn docs")
    await lines.types("end docs", "no")
    await lines.types("end docs", "yes")
    await lines.types("switch docs permissions plan")
    assert "mode sdk|tmux|pty" in (await lines.types("switch docs permissions never"))[0]
    assert lines.talk.ordered == [
        ("POST", f"{at}/messages", {"prompt": "run the tests"}),
        ("POST", f"{at}/messages", {"prompt": "and the others"}),
        ("POST", f"{at}/interrupt", {}),
        ("POST", f"{at}/end", {}),
        ("POST", f"{at}/mode", {"permission_mode": "plan"}),
    ]


NOTHING: Json = {"hooks": [], "servers": [], "variables": [], "allows": [], "others": [], "troubles": []}
HOOK = {"event": "Stop", "matcher": "", "runs": "./hook.sh", "file": ".claude/settings.json"}
PROJECT: Json = {"name": "shop", "path": "/w/shop", "git_branch": "main", "trusted": False}
PROJECT |= {"last_modified": NOW, "live_sessions": 0, "prior_sessions": []}
STARTING: dict[str, Json] = {
    "/projects": {"projects": [PROJECT], "scan": {"state": "done"}},
    "/projects/brings": NOTHING | {"path": "/w/shop", "trusted": False, "hooks": [HOOK]},
    "POST /projects/trust": {"path": "/w/shop"},
    "POST /sessions": ours("new", cwd="/w/shop"),
    "POST /sessions/old/fork": ours("forked", cwd="/w/shop"),
}


@pytest.mark.law("S9")
async def test_a_session_starts_once_all_that_its_folder_brings_was_read_out_and_trusted() -> None:
    lines = Lines(answers=STARTING)
    said = await lines.types("start", "1", "fix it", "mode pty", "worktree yes", "mode x", "yes", "no")
    assert "1: shop, not trusted yet, /w/shop" in said
    assert any("./hook.sh" in line for line in said)
    assert said[-1] == "Not trusted, so nothing was started."
    assert lines.talk.ordered == []
    await lines.types("start /w/shop", "", "yes", "yes")
    assert lines.talk.ordered == [
        ("POST", "/projects/trust", {"path": "/w/shop"}),
        ("POST", "/sessions", {"cwd": "/w/shop", "mode": "sdk"}),
    ]
    assert lines.said[-1] == "Started shop (new) (sdk)"


async def test_a_conversation_that_has_ended_is_resumed_or_forked() -> None:
    trusted = {"/projects/brings": NOTHING | {"path": "/w/shop", "trusted": True}}
    lines = Lines(ours("old", status="down", cwd="/w/shop"), answers=STARTING | trusted)
    await lines.types("resume old go on")
    await lines.types("fork old")
    assert lines.talk.ordered == [
        ("POST", "/sessions", {"mode": "sdk", "prompt": "go on", "resume": "old"}),
        ("POST", "/sessions/old/fork", {"mode": "sdk"}),
    ]


async def test_what_cannot_be_taken_over_is_offered_as_a_fork() -> None:
    trusted = {"/projects/brings": NOTHING | {"path": "/w/shop", "trusted": True}}
    lines = Lines(session("old", "ended", cwd="/w/shop", ended_at=NOW), answers=STARTING | trusted)
    said = await lines.types("take-over old", "yes")
    assert any("Fork it instead?" in line for line in said)
    assert lines.talk.ordered[-1][1] == "/sessions/old/fork"


MADE: Json = {"rule_id": "r1", "effect": "allow", "pattern": "Bash(ls)", "scope": "user", "scope_id": None}
MADE |= {"scope_path": None, "hits": 2, "last_hit_at": NOW, "expires_at": None, "note": None, "also_decided": []}


async def test_rules_are_read_out_made_and_taken_back() -> None:
    answers: dict[str, Json] = {"/rules": {"rules": [MADE], "findings": []}, "POST /rules": MADE}
    lines = Lines(answers=answers)
    assert await lines.types("rules") == ["1: allow Bash(ls), everywhere, for ever, has decided 2 times"]
    said = await lines.types("rules add allow Bash(ls)", "somewhere", "everywhere", "7d", "yes")
    assert "Always allow Bash(ls) everywhere, for 7d? yes or no?" in said
    assert lines.talk.ordered[-1][2] == {"effect": "allow", "pattern": "Bash(ls)", "scope": "user", "expires": "7d"}
    assert await lines.types("rules remove 2") == ["Name a rule by its number; rules lists them"]
    assert (await lines.types("rules remove 1", "no")) == ["Take back: allow Bash(ls) (everywhere)? yes or no?"]
    assert "rules add" in (await lines.types("rules add maybe"))[0]


async def test_the_audit_and_the_tasks_are_read_out() -> None:
    row = {"kind": "rule.add", "what": {}, "who": "owner", "surface": "tui", "at": NOW, "about": "Bash(ls)"}
    lines = Lines(session(todos=[{"text": "test it", "status": "doing"}]), answers={"/audit": {"audit": [row]}})
    assert (await lines.types("audit 5"))[0].endswith(": rule made by owner via tui: Bash(ls)")
    assert await lines.types("tasks") == ["shop (s1):", "  doing: test it"]
    assert await lines.types("health") == ["No figures yet."]
