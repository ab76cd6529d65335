"""Plain mode: its announcements, and decisions that name a request by its number."""

from __future__ import annotations

import asyncio

import pytest

from quarterdeck.surfaces.client.live import Lost
from quarterdeck.surfaces.plain.command_help import NAMES, help_lines
from quarterdeck.surfaces.plain.terminal_io import create_app, run_app
from quarterdeck.surfaces.terminal.text_commands import PLAIN_COMMANDS
from tests.support.hostile import TEXTS
from tests.support.plain_story import DecidingDaemon, PlainStory
from tests.support.recorded_daemon import RecordedLive, connected, live_message, request, resolved, session, snapshot

STATS = {"hook_overhead": [], "store": {"seq_no": 0}}


def test_a_new_request_is_announced_with_a_number_and_a_bell() -> None:
    story = PlainStory(session())
    story.gets_request(request(command="git push"))
    assert story.printed[0].startswith("Request 1: shop wants to run")
    assert "  git push" in story.printed
    assert story.printed[-1] == "It takes: allow, edit, deny, interrupt, remember, pass."
    assert story.bells == 1


async def test_an_allow_names_its_request_and_carries_its_digest() -> None:
    story = PlainStory(session())
    story.gets_request(request("q1"))
    story.gets_request(request("q2"))
    await story.types("allow 2")
    assert story.daemon.decided == [("q2", {"digest": "digest-q2", "decision": "allow"})]


@pytest.mark.parametrize(("typed", "decisions"), [("yes", ["allow"]), ("no", []), ("allow 1", [])])
async def test_a_critical_request_is_allowed_only_after_a_yes_to_its_risk(typed: str, decisions: list[str]) -> None:
    story = PlainStory(session())
    risk = {"level": "critical", "reasons": ["deletes everything"]}
    story.gets_request(request("q1", "rm -rf /", risk=risk, needs_second_key=True))
    printed = await story.types("allow 1", typed)
    assert "Request 1 is critical: deletes everything. Allow it all the same? yes or no?" in printed
    assert [body["decision"] for _, body in story.daemon.decided] == decisions


@pytest.mark.law("S11")
async def test_decisions_are_possible_only_while_the_daemon_answers() -> None:
    story = PlainStory(session(), answers={"/stats": STATS, "/sessions": {"sessions": []}})
    story.gets_request(request())
    for _ in range(10):
        story.at += 10
        await story.app.poll()
    await story.types("allow 1")
    assert [word for word, _ in story.daemon.decided] == ["q1"]
    story.gets_request(request("q2"), seconds=16)
    assert "not connected to the daemon" in (await story.types("deny 2"))[0]
    assert len(story.daemon.decided) == 1


async def test_the_daemon_is_polled_while_commands_are_awaited() -> None:
    daemon = DecidingDaemon({"/stats": STATS})

    async def leaves_once_it_was_looked() -> None:
        assert await daemon.read.get() == "/stats"

    daemon.live = RecordedLive([connected(), snapshot()])
    await asyncio.wait_for(run_app(create_app(daemon, leaves_once_it_was_looked, lambda words: None)), 30)


@pytest.mark.law("S11")
async def test_nothing_is_decided_while_the_connection_is_lost_or_the_state_unknown() -> None:
    story = PlainStory(session())
    story.gets_request(request())
    story.receives(Lost("gone"))
    assert story.printed[-1].startswith("The daemon is not responding")
    assert "not connected" in (await story.types("pass 1"))[0]
    story.receives(connected(), live_message("session", session(state="unknown")))
    assert "unknown: decide at its terminal" in (await story.types("allow 1"))[0]
    assert story.daemon.decided == []


@pytest.mark.law("D10")
@pytest.mark.parametrize("command", ["echo user\u202egnp.exe", "\n".join(f"step {n}" for n in range(30))])
async def test_nothing_is_allowed_before_it_was_read_out_to_its_end(command: str) -> None:
    story = PlainStory(session())
    story.gets_request(request(command=command))
    for order in ("allow 1", "edit 1 ls", "remember 1"):
        assert "not all of it was read out" in (await story.types(order))[0]
    shown = await story.types("show 1")
    assert shown[-1] == "End of request 1."
    assert any("⟨202e⟩" in line or "step 29" in line for line in shown)
    await story.types("allow 1")
    assert [word for word, _ in story.daemon.decided] == ["q1"]


@pytest.mark.law("D10")
async def test_a_truncated_request_is_read_out_whole_or_not_allowed() -> None:
    story = PlainStory(session())
    cut = {"bytes": 70_000, "begins": "echo a"}
    view = request(truncated=cut, tool_input={})
    story.gets_request(view, tool_input={"command": "echo a; rm -rf ~"}, truncated=None, digest="another")
    assert "has changed" in (await story.types("show 1"))[-1]
    assert "70,000 bytes in all" in (await story.types("allow 1"))[0]
    story.daemon.whole["q1"]["digest"] = view["digest"]
    assert "  echo a; rm -rf ~" in await story.types("show 1")
    await story.types("allow 1")
    assert len(story.daemon.decided) == 1


async def test_a_deny_needs_no_reading() -> None:
    story = PlainStory(session())
    story.gets_request(request(command="echo \u202e"))
    await story.types("deny 1 not this way")
    assert story.daemon.decided[0][1]["message"] == "not this way"


@pytest.mark.law("D17")
async def test_a_number_never_means_another_request() -> None:
    story = PlainStory(session())
    story.gets_request(request("q1"))
    story.receives(live_message("request", resolved(request("q1"))))
    story.gets_request(request("q2"))
    assert any(line.startswith("Request 1 is over: Allowed by owner from cli") for line in story.printed)
    assert any(line.startswith("Request 2") for line in story.printed)
    assert (await story.types("allow 1"))[0].startswith("Request 1 is not decided: Allowed by owner from cli")
    assert "no request 9" in (await story.types("allow 9"))[0]
    for order in ("allow", "allow next", "allow *", "allow -1", "allow ²"):
        await story.types(order)
    assert story.daemon.decided == []


@pytest.mark.law("D17")
async def test_the_same_request_with_other_content_has_another_number() -> None:
    story = PlainStory(session())
    story.gets_request(request("q1", "make a"))
    story.gets_request(request("q1", "make b") | {"digest": "other"})
    assert any(line.startswith("Request 2") for line in story.printed)
    await story.types("allow 2")
    assert story.daemon.decided == [("q1", {"digest": "other", "decision": "allow"})]


@pytest.mark.law("D17")
async def test_a_line_typed_as_a_request_arrives_does_not_decide_it() -> None:
    story = PlainStory(session())
    story.gets_request(request(), seconds=0.1)
    assert "only just appeared" in (await story.types("allow 1"))[0]
    assert story.daemon.decided == []


@pytest.mark.law("D10")
async def test_an_unread_request_is_still_unread_after_another_snapshot() -> None:
    story = PlainStory(session())
    long = request(command="\n".join(map(str, range(40))))
    story.gets_request(long)
    story.app.model.remove_request("q1")
    story.receives(snapshot(sessions=[session()], requests=[long]))
    assert "not all of it was read out" in (await story.types("allow 1"))[0]


@pytest.mark.law("D17")
async def test_several_requests_are_decided_each_by_its_number() -> None:
    story = PlainStory(session())
    for number in range(1, 5):
        story.gets_request(request(f"q{number}", "echo \u202e" if number == 3 else "ls"))
    printed = await story.types("allow 1,3,4")
    assert "Request 3 is not decided" in printed[0]
    named = {"decision": "allow"}
    assert [(one["request_id"], one["digest"]) for _, one in story.daemon.decided if named.items() <= one.items()] == [
        ("q1", "digest-q1"),
        ("q4", "digest-q4"),
    ]
    await story.types("deny 2,3 not now")
    assert (await story.types("list")) == ["Nothing waits for you."]
    assert story.daemon.decided[-1] == (
        "q3",
        {"request_id": "q3", "digest": "digest-q3", "decision": "deny", "message": "not now"},
    )
    assert "takes one request" in (await story.types("interrupt 2,3"))[0]


@pytest.mark.law("D3")
async def test_a_late_decision_says_who_was_first() -> None:
    story = PlainStory(session())
    story.gets_request(request())
    story.daemon.refusal = "already decided: denied by owner via page"
    assert (await story.types("allow 1")) == ["Not decided: already decided: denied by owner via page"]


async def test_a_request_that_ended_while_disconnected_says_how() -> None:
    story = PlainStory(session(), answers={"/stats": STATS, "/sessions": {"sessions": []}})
    story.gets_request(request())
    story.daemon.whole["q1"] = resolved(request(), by="ann via phone")
    story.receives(snapshot(sessions=[session()]))
    assert "is over" not in story.text
    await story.app.poll()
    assert story.printed[-1].startswith("Request 1 is over: Allowed by ann from phone")


async def test_a_decision_made_here_is_announced_when_sent_and_when_confirmed() -> None:
    story = PlainStory(session())
    story.gets_request(request())
    await story.types("allow 1")
    assert (await story.types("list")) == ["Nothing waits for you."]
    for delivery in ("sent", "sent", "confirmed"):
        story.receives(live_message("request", resolved(request(), by="owner via tui", delivery=delivery)))
    assert story.printed[-2].startswith("Request 1: Allowed by owner from tui")
    assert story.printed[-2].endswith(", sent")
    assert story.printed[-1] == "Request 1 is confirmed"
    assert (await story.types("list")) == ["Nothing waits for you."]


async def test_an_edited_input_is_read_back_before_it_is_allowed() -> None:
    story = PlainStory(session())
    story.gets_request(request(command="rm -rf /"))
    printed = await story.types("edit 1 rm -rf ./build", "no")
    assert "  rm -rf ./build" in printed
    assert story.daemon.decided == []
    await story.types('edit 1 {"command": "ls", "timeout": 5}', "yes")
    assert story.daemon.decided[0][1]["updated_input"] == {"command": "ls", "timeout": 5}


@pytest.mark.parametrize(("order", "why"), [("edit 1 {oops", "not JSON"), ("edit 1 []", "JSON object")])
async def test_an_invalid_input_is_refused_in_words(order: str, why: str) -> None:
    story = PlainStory(session())
    story.gets_request(request(tool_name="Write", tool_input={"file_path": "/a", "content": "b"}))
    assert why in (await story.types(order))[0]
    assert story.daemon.decided == []


@pytest.mark.law("S11")
async def test_an_edit_is_not_sent_when_the_request_ends_or_the_state_gets_old() -> None:
    story = PlainStory(session())
    story.gets_request(request())
    ended = resolved(request(), by="ann via phone")
    printed = await story.types("edit 1 ls", lambda: story.receives(live_message("request", ended)), "yes")
    assert printed[-2].startswith("Request 1 is over: Allowed by ann from phone")
    assert printed[-1].startswith("Request 1 is not decided: Allowed by ann from phone")
    story.gets_request(request("q2"))
    printed = await story.types("edit 2 ls", lambda: setattr(story, "at", story.at + 60), "yes")
    assert "not connected to the daemon" in printed[-1]
    assert story.daemon.decided == []


async def test_a_prompt_can_be_cancelled() -> None:
    story = PlainStory(session())
    story.gets_request(request())
    assert (await story.types("edit 1 ls", "cancel"))[-1] == "Cancelled; nothing was done."
    assert (await story.types("edit 1 ls"))[-1] == "Cancelled; nothing was done."
    assert story.daemon.decided == []


async def test_a_plan_is_approved_in_a_mode_by_its_number() -> None:
    story = PlainStory(session())
    plan = request(kind="question", form="plan", tool_name="ExitPlanMode", tool_input={"plan": "1. Drain"})
    story.gets_request(plan)
    assert story.printed[-1] == "It takes: allow, approve, deny, interrupt, pass."
    printed = await story.types("approve 1", "7")
    assert printed[0].startswith("1: edits files without asking")
    assert story.daemon.decided == []
    await story.types("approve 1 2")
    assert story.daemon.decided[0][1] == {"digest": "digest-q1", "decision": "allow", "mode": "default"}


async def test_an_agent_that_wants_to_stop_can_be_made_to_continue() -> None:
    story = PlainStory(session())
    story.gets_request(request(kind="stop", tool_name="", tool_input={}))
    assert "it takes allow, go-on, pass" in (await story.types("deny 1"))[0]
    await story.types("go-on 1 run the tests first")
    assert story.daemon.decided[0][1]["message"] == "run the tests first"
    assert story.daemon.decided[0][1]["decision"] == "block"


@pytest.mark.law("I6")
@pytest.mark.parametrize("text", TEXTS)
async def test_hostile_text_is_made_visible_wherever_it_is_printed(text: str) -> None:
    story = PlainStory(session(cwd=f"/w/{text}", title=text, todos=[{"text": text, "status": "done"}]))
    story.gets_request(request(command=text))
    story.gets_request(request("q2", kind="question", form="questions", tool_input={"questions": [{"question": text}]}))
    for order in ("list", "show 1", "sessions", "tasks", f"write {text}", text):
        await story.types(order)
    await story.types("show 2")
    await story.types("answer 2", "words", "no")
    assert story.daemon.decided == []


async def test_every_command_of_the_help_works_and_any_other_is_named() -> None:
    story = PlainStory()
    assert story.app.command_names | {"quit"} == set(NAMES)
    assert len(help_lines()) >= len(PLAIN_COMMANDS)
    assert await story.types("help deny") == ["deny N [MESSAGE]: refuse; the agent reads your message"]
    assert await story.types("all") == ["No such command: all; did you mean allow?"]
    assert await story.types("") == ["help lists the commands"]
    assert not await story.app.run_command("quit")


async def test_the_bell_can_be_silenced() -> None:
    story = PlainStory(session())
    await story.types("bell off")
    story.gets_request(request())
    assert story.bells == 0


def test_a_session_that_waits_at_its_own_terminal_is_announced_once() -> None:
    story = PlainStory()
    for _ in range(2):
        story.receives(live_message("session", session(pending=0)))
    assert story.printed == ["shop waits at its own terminal, in /home/ann/shop"]
