"""Plain mode: prompts for answers, rules and sessions, and printed reports."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.surfaces.plain.remember import RuleDraft, changed_rule
from tests.support.plain_story import RULE, PlainStory
from tests.support.recorded_daemon import NOW, Json, event, live_message, owned_session, request, session

STORES = [{"label": "Redis", "description": "fast"}, {"label": "Memory"}]


def questions(*asked_questions: Json, **more: Any) -> Json:
    return request(kind="question", form="questions", tool_input={"questions": list(asked_questions)}, **more)


def question(text: str, *, several: bool = False) -> Json:
    return {"question": text, "options": STORES, "multiSelect": several}


async def test_one_question_is_answered_in_one_line() -> None:
    story = PlainStory(session())
    story.gets_request(questions(question("Which store?")))
    await story.types("answer 1 2")
    assert story.daemon.decided[0][1]["answers"] == {"Which store?": "Memory"}


async def test_questions_are_prompted_one_by_one_and_read_back_with_their_notes() -> None:
    story = PlainStory(session())
    story.gets_request(questions(question("Which store?"), question("Which tests?", several=True)))
    printed = await story.types("answer 1", "9", "1", "1,2", "note 2 only fast ones", "yes")
    assert "Question 1 of 2: Which store?" in printed
    assert "1: Redis, fast" in printed
    assert "2: Which tests? Redis, Memory Note: only fast ones" in printed
    body = story.daemon.decided[0][1]
    assert body["answers"] == {"Which store?": "Redis", "Which tests?": ["Redis", "Memory"]}
    assert body["notes"] == {"Which tests?": "only fast ones"}


async def test_a_command_typed_as_an_answer_is_read_back_and_not_sent_without_a_yes() -> None:
    story = PlainStory(session())
    story.gets_request(questions(question("Which store?")))
    assert "1: Which store? deny 2" in await story.types("answer 1", "deny 2", "no")
    assert story.daemon.decided == []


def form(properties: Json, *needed: str) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(needed)}
    given = {"mcp_server_name": "srv", "message": "What name?", "requested_schema": schema}
    return request(kind="question", form="elicitation", tool_name="", tool_input=given)


async def test_a_form_is_filled_in_field_by_field() -> None:
    story = PlainStory(session())
    fields = {
        "name": {"type": "string"},
        "count": {"type": "integer", "default": 3},
        "size": {"enum": ["small", "large"]},
        "sure": {"type": "boolean"},
        "more": {"type": "string"},
    }
    story.gets_request(form(fields, "name", "size"))
    printed = await story.types("answer 1", "", "Ann", "seven", "", "2", "maybe", "yes", "-", "yes")
    for words in ("name is required", "count: must be a whole number", "2: large", "sure: must be a yes or no"):
        assert words in printed
    assert story.daemon.decided[0][1]["answers"] == {"name": "Ann", "count": 3, "size": "large", "sure": True}


def request_with_patterns(story: PlainStory, *patterns: str) -> None:
    story.gets_request(request(command="git push"), rule=RULE | {"patterns": list(patterns)})


@pytest.mark.law("R5")
async def test_a_rule_is_described_and_saved_only_after_a_yes() -> None:
    story = PlainStory(session())
    request_with_patterns(story, "Bash(git push)", "Bash(git push:*)")
    printed = await story.types("remember 1", "cancel")
    assert "Always allow Bash(git push) in this session." in printed
    assert "It would have decided 2 of 9 past requests." in printed
    assert story.daemon.decided == []
    await story.types("remember 1", "yes")
    assert story.daemon.decided[0][1]["remember"] == {"pattern": "Bash(git push)", "scope": "session"}


@pytest.mark.law("R5")
async def test_a_changed_rule_is_described_again_before_it_is_saved() -> None:
    story = PlainStory(session())
    request_with_patterns(story, "Bash(git push)", "Bash(git push:*)")
    printed = await story.types("remember 1 project", "2", "Bash(git push origin)", "for 7d", "claude local", "yes")
    assert any("Saving it also trusts /home/ann/shop" in line for line in printed)
    assert printed[-4].startswith("Always allow Bash(git push origin) in this project for 7 days. Claude Code keeps it")
    assert story.daemon.decided[0][1]["remember"] == {
        "pattern": "Bash(git push origin)",
        "scope": "project",
        "expires": "7d",
        "claude": "local",
    }


async def test_a_pattern_must_be_typed_when_none_covers_the_request() -> None:
    story = PlainStory(session())
    request_with_patterns(story)
    printed = await story.types("remember 1", "yes", "", "deny", "Bash(git push)", "yes")
    assert "This is not yet a rule" in printed
    assert story.daemon.decided[0][1]["decision"] == "deny"


async def test_a_rule_the_daemon_rejects_cannot_be_saved() -> None:
    story = PlainStory(session(), answers={})
    del story.daemon.answers["/rules/simulate"]
    request_with_patterns(story, "Bash(")
    assert any("Not yet a rule" in line for line in await story.types("remember 1", "yes", "cancel"))
    assert story.daemon.decided == []


@pytest.mark.parametrize("typed", ["for years", "claude forever", "7", ""])
def test_a_change_that_does_not_apply_says_why(typed: str) -> None:
    assert isinstance(changed_rule(RuleDraft("Bash(ls)"), typed, ["Bash(ls)"]), str)


async def test_the_feed_is_printed_in_sentences_on_request_and_as_it_happens() -> None:
    events = [event(1, "user.prompt", "❯ fix it"), event(2, "file.changed", "· hidden"), event(3, "note", "plain")]
    story = PlainStory(session(), answers={"/feed": {"events": events}})
    assert [line.partition(" ")[2] for line in await story.types("feed 20")] == ["shop: fix it", "shop: plain"]
    story.receives(live_message("event", events[0]))
    assert story.printed[-1].endswith("plain")
    await story.types("feed on shop")
    story.receives(live_message("event", event(4, "tool.pre", "● Bash(ls)")))
    story.receives(live_message("event", event(5, "tool.pre", "● Bash(rm)", "another")))
    assert story.printed[-1].endswith("shop: Bash(ls)")
    await story.types("feed off")
    story.receives(live_message("event", event(6, "tool.pre", "● Bash(cat)")))
    assert story.printed[-1] == "The feed is off."
    assert "No session is called nobody" in (await story.types("feed nobody"))[0]


async def test_a_session_is_named_by_its_project_or_the_start_of_its_id() -> None:
    story = PlainStory(
        session("aaaa1111", "running"), session("bbbb2222", "running"), owned_session("cccc3333", cwd="/w/docs")
    )
    assert "Several are called shop: shop (aaaa1111), shop (bbbb2222)" in (await story.types("fork shop"))[0]
    assert "takes fork" in (await story.types("write aaaa hello"))[0]
    assert "type `sessions` to list them" in (await story.types("write"))[0]
    printed = await story.types("sessions")
    assert any(
        line.startswith("docs (cccc3333): idle") and "It takes: write, stop-turn, end, fork, switch." in line
        for line in printed
    )


async def test_session_commands_are_sent_to_the_daemon() -> None:
    at = "/sessions/cccc"
    answers = {f"POST {at}/{order}": dict[str, Any]() for order in ("messages", "interrupt", "end", "mode")}
    story = PlainStory(owned_session("cccc", cwd="/w/docs"), answers=answers)
    await story.types("write docs run the tests")
    await story.types("write docs", "and the others")
    await story.types("stop-turn docs")
    await story.types("end docs", "no")
    await story.types("end docs", "yes")
    await story.types("switch docs permissions plan")
    assert "mode sdk|tmux|pty" in (await story.types("switch docs permissions never"))[0]
    assert story.daemon.sent == [
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
    "POST /sessions": owned_session("new", cwd="/w/shop"),
    "POST /sessions/old/fork": owned_session("forked", cwd="/w/shop"),
}


@pytest.mark.law("S9")
async def test_a_session_starts_once_its_folders_config_was_read_out_and_trusted() -> None:
    story = PlainStory(answers=STARTING)
    printed = await story.types("start", "1", "fix it", "mode pty", "worktree yes", "mode x", "yes", "no")
    assert "1: shop, not trusted yet, /w/shop" in printed
    assert any("./hook.sh" in line for line in printed)
    assert printed[-1] == "Not trusted, so nothing was started."
    assert story.daemon.sent == []
    await story.types("start /w/shop", "", "yes", "yes")
    assert story.daemon.sent == [
        ("POST", "/projects/trust", {"path": "/w/shop"}),
        ("POST", "/sessions", {"cwd": "/w/shop", "mode": "sdk"}),
    ]
    assert story.printed[-1] == "Started shop (new) (sdk)"


async def test_a_conversation_that_has_ended_is_resumed_or_forked() -> None:
    trusted = {"/projects/brings": NOTHING | {"path": "/w/shop", "trusted": True}}
    story = PlainStory(owned_session("old", status="down", cwd="/w/shop"), answers=STARTING | trusted)
    await story.types("resume old go on")
    await story.types("fork old")
    assert story.daemon.sent == [
        ("POST", "/sessions", {"mode": "sdk", "prompt": "go on", "resume": "old"}),
        ("POST", "/sessions/old/fork", {"mode": "sdk"}),
    ]


async def test_a_session_that_cannot_be_taken_over_can_be_forked() -> None:
    trusted = {"/projects/brings": NOTHING | {"path": "/w/shop", "trusted": True}}
    story = PlainStory(session("old", "ended", cwd="/w/shop", ended_at=NOW), answers=STARTING | trusted)
    printed = await story.types("take-over old", "yes")
    assert any("Fork it instead?" in line for line in printed)
    assert story.daemon.sent[-1][1] == "/sessions/old/fork"


MADE_RULE: Json = {"rule_id": "r1", "effect": "allow", "pattern": "Bash(ls)", "scope": "user", "scope_id": None}
MADE_RULE |= {"scope_path": None, "hits": 2, "last_hit_at": NOW, "expires_at": None, "note": None, "also_decided": []}


async def test_rules_are_read_out_made_and_removed() -> None:
    answers: dict[str, Json] = {"/rules": {"rules": [MADE_RULE], "findings": []}, "POST /rules": MADE_RULE}
    story = PlainStory(answers=answers)
    assert await story.types("rules") == ["1: allow Bash(ls), everywhere, forever, has decided 2 times"]
    printed = await story.types("rules add allow Bash(ls)", "somewhere", "everywhere", "7d", "yes")
    assert "Always allow Bash(ls) everywhere, for 7d? yes or no?" in printed
    assert story.daemon.sent[-1][2] == {"effect": "allow", "pattern": "Bash(ls)", "scope": "user", "expires": "7d"}
    assert await story.types("rules remove 2") == ["Name a rule by its number; rules lists them"]
    assert (await story.types("rules remove 1", "no")) == ["Remove: allow Bash(ls) (everywhere)? yes or no?"]
    assert "rules add" in (await story.types("rules add maybe"))[0]


async def test_the_audit_and_the_tasks_are_read_out() -> None:
    row = {"kind": "rule.add", "what": {}, "who": "owner", "surface": "tui", "source": "user", "at": NOW}
    row |= {"about": "Bash(ls)"}
    story = PlainStory(session(todos=[{"text": "test it", "status": "doing"}]), answers={"/audit": {"audit": [row]}})
    assert (await story.types("audit 5"))[0].endswith(": rule made by owner via tui: Bash(ls)")
    assert await story.types("tasks") == ["shop (s1):", "  doing: test it"]
    assert await story.types("health") == ["No numbers yet."]


async def test_what_was_used_is_read_out() -> None:
    one = {"name": "opus", "label": "opus", "total": 3.0, "values": [1.0, 2.0]}
    answer: Json = {"times": [0.0, 86400.0], "until": 172800.0, "series": [one]}
    story = PlainStory(answers={"/stats/series": answer})
    used = "$3.00+, 3 tokens, 3 prompts, 3 tool calls, 3 new sessions"
    assert await story.types("usage 2") == [
        f"In the last 2 days: {used}",
        f"project opus: {used}",
        "model opus: $3.00+, 3 tokens",
        "+ and 3 messages of models whose price is not known",
    ]
    story = PlainStory(answers={"/stats/series": {**answer, "series": []}})
    assert await story.types("usage") == ["Nothing was used in the last 7 days."]
