"""The face that speaks in lines: what it says unasked, and decisions that name a request by its number."""

from __future__ import annotations

import asyncio

import pytest

from quarterdeck.surfaces.client.live import Lost
from quarterdeck.surfaces.plain.command_help import NAMES, ORDERS, help_lines
from quarterdeck.surfaces.plain.terminal_io import attend, face_on
from tests.support.hostile import TEXTS
from tests.support.lines import DecidedTalk, Lines
from tests.support.tui import RecordedLive, connected, over, request, session, snapshot, told

STATS = {"hook_overhead": [], "store": {"seq_no": 0}}


def test_who_comes_is_announced_with_a_number_and_a_bell() -> None:
    lines = Lines(session())
    lines.asked(request(command="git push"))
    assert lines.said[0].startswith("Request 1: shop wants to run")
    assert "  git push" in lines.said
    assert lines.said[-1] == "It takes: allow, edit, deny, interrupt, remember, pass."
    assert lines.rung == 1


async def test_an_allow_names_its_request_and_carries_what_was_read_out() -> None:
    lines = Lines(session())
    lines.asked(request("q1"))
    lines.asked(request("q2"))
    await lines.types("allow 2")
    assert lines.talk.decided == [("q2", {"digest": "digest-q2", "decision": "allow"})]


@pytest.mark.law("S11")
async def test_a_decision_is_taken_as_long_as_the_daemon_answers_and_not_after() -> None:
    lines = Lines(session(), answers={"/stats": STATS, "/sessions": {"sessions": []}})
    lines.asked(request())
    for _ in range(10):
        lines.at += 10
        await lines.face.look()
    await lines.types("allow 1")
    assert [word for word, _ in lines.talk.decided] == ["q1"]
    lines.asked(request("q2"), seconds=16)
    assert "not connected to the daemon" in (await lines.types("deny 2"))[0]
    assert len(lines.talk.decided) == 1


async def test_the_daemon_is_looked_after_while_orders_are_awaited() -> None:
    talk = DecidedTalk({"/stats": STATS})

    async def leaves_once_it_was_looked() -> None:
        assert await talk.read.get() == "/stats"

    talk.live = RecordedLive([connected(), snapshot()])
    await asyncio.wait_for(attend(face_on(talk, leaves_once_it_was_looked, lambda words: None)), 5)


@pytest.mark.law("S11")
async def test_nothing_is_decided_while_the_link_is_lost_or_the_state_unknown() -> None:
    lines = Lines(session())
    lines.asked(request())
    lines.hears(Lost("gone"))
    assert lines.said[-1].startswith("The daemon is away")
    assert "not connected" in (await lines.types("pass 1"))[0]
    lines.hears(connected(), told("session", session(state="unknown")))
    assert "unknown: decide at its terminal" in (await lines.types("allow 1"))[0]
    assert lines.talk.decided == []


@pytest.mark.law("D10")
@pytest.mark.parametrize("command", ["echo user\u202egnp.exe", "\n".join(f"step {n}" for n in range(30))])
async def test_nothing_is_allowed_that_was_not_read_out_to_its_end(command: str) -> None:
    lines = Lines(session())
    lines.asked(request(command=command))
    for order in ("allow 1", "edit 1 ls", "remember 1"):
        assert "not all of it was read out" in (await lines.types(order))[0]
    shown = await lines.types("show 1")
    assert shown[-1] == "End of request 1."
    assert any("⟨202e⟩" in line or "step 29" in line for line in shown)
    await lines.types("allow 1")
    assert [word for word, _ in lines.talk.decided] == ["q1"]


@pytest.mark.law("D10")
async def test_what_is_longer_than_was_sent_is_read_out_whole_or_not_allowed() -> None:
    lines = Lines(session())
    cut = {"bytes": 70_000, "begins": "echo a"}
    view = request(truncated=cut, tool_input={})
    lines.asked(view, tool_input={"command": "echo a; rm -rf ~"}, truncated=None, digest="another")
    assert "is not what it was" in (await lines.types("show 1"))[-1]
    assert "70,000 bytes in all" in (await lines.types("allow 1"))[0]
    lines.talk.whole["q1"]["digest"] = view["digest"]
    assert "  echo a; rm -rf ~" in await lines.types("show 1")
    await lines.types("allow 1")
    assert len(lines.talk.decided) == 1


async def test_a_refusal_needs_no_reading() -> None:
    lines = Lines(session())
    lines.asked(request(command="echo \u202e"))
    await lines.types("deny 1 not this way")
    assert lines.talk.decided[0][1]["message"] == "not this way"


@pytest.mark.law("D17")
async def test_a_number_never_means_another_request() -> None:
    lines = Lines(session())
    lines.asked(request("q1"))
    lines.hears(told("request", over(request("q1"))))
    lines.asked(request("q2"))
    assert any(line.startswith("Request 1 is over: Allowed by owner from cli") for line in lines.said)
    assert any(line.startswith("Request 2") for line in lines.said)
    assert (await lines.types("allow 1"))[0].startswith("Request 1 is not decided: Allowed by owner from cli")
    assert "no request 9" in (await lines.types("allow 9"))[0]
    for order in ("allow", "allow next", "allow *", "allow -1", "allow ²"):
        await lines.types(order)
    assert lines.talk.decided == []


@pytest.mark.law("D17")
async def test_the_same_request_with_other_content_has_another_number() -> None:
    lines = Lines(session())
    lines.asked(request("q1", "make a"))
    lines.asked(request("q1", "make b") | {"digest": "other"})
    assert any(line.startswith("Request 2") for line in lines.said)
    await lines.types("allow 2")
    assert lines.talk.decided == [("q1", {"digest": "other", "decision": "allow"})]


@pytest.mark.law("D17")
async def test_what_is_typed_as_a_request_comes_does_not_decide_it() -> None:
    lines = Lines(session())
    lines.asked(request(), seconds=0.1)
    assert "only just come" in (await lines.types("allow 1"))[0]
    assert lines.talk.decided == []


@pytest.mark.law("D10")
async def test_what_was_not_read_out_is_still_unread_after_another_snapshot() -> None:
    lines = Lines(session())
    long = request(command="\n".join(map(str, range(40))))
    lines.asked(long)
    lines.face.model.let_go("q1")
    lines.hears(snapshot(sessions=[session()], requests=[long]))
    assert "not all of it was read out" in (await lines.types("allow 1"))[0]


@pytest.mark.law("D17")
async def test_several_are_decided_each_by_its_own_name() -> None:
    lines = Lines(session())
    for number in range(1, 5):
        lines.asked(request(f"q{number}", "echo \u202e" if number == 3 else "ls"))
    said = await lines.types("allow 1,3,4")
    assert "Request 3 is not decided" in said[0]
    named = {"decision": "allow"}
    assert [(one["request_id"], one["digest"]) for _, one in lines.talk.decided if named.items() <= one.items()] == [
        ("q1", "digest-q1"),
        ("q4", "digest-q4"),
    ]
    await lines.types("deny 2,3 not now")
    assert (await lines.types("list")) == ["Nobody waits for you."]
    assert lines.talk.decided[-1] == (
        "q3",
        {"request_id": "q3", "digest": "digest-q3", "decision": "deny", "message": "not now"},
    )
    assert "is about one request" in (await lines.types("interrupt 2,3"))[0]


@pytest.mark.law("D3")
async def test_who_is_too_late_is_told_who_won() -> None:
    lines = Lines(session())
    lines.asked(request())
    lines.talk.refusal = "already decided: denied by owner via page"
    assert (await lines.types("allow 1")) == ["Not decided: already decided: denied by owner via page"]


async def test_what_ended_while_the_daemon_was_away_says_how() -> None:
    lines = Lines(session(), answers={"/stats": STATS, "/sessions": {"sessions": []}})
    lines.asked(request())
    lines.talk.whole["q1"] = over(request(), by="ann via phone")
    lines.hears(snapshot(sessions=[session()]))
    assert "is over" not in lines.text
    await lines.face.look()
    assert lines.said[-1].startswith("Request 1 is over: Allowed by ann from phone")


async def test_a_decision_of_ones_own_is_told_once_sent_and_once_confirmed() -> None:
    lines = Lines(session())
    lines.asked(request())
    await lines.types("allow 1")
    assert (await lines.types("list")) == ["Nobody waits for you."]
    for delivery in ("sent", "sent", "confirmed"):
        lines.hears(told("request", over(request(), by="owner via tui", delivery=delivery)))
    assert lines.said[-2].startswith("Request 1: Allowed by owner from tui")
    assert lines.said[-2].endswith(", sent")
    assert lines.said[-1] == "Request 1 is confirmed"
    assert (await lines.types("list")) == ["Nobody waits for you."]


async def test_an_input_is_changed_and_read_back_before_it_is_allowed() -> None:
    lines = Lines(session())
    lines.asked(request(command="rm -rf /"))
    said = await lines.types("edit 1 rm -rf ./build", "no")
    assert "  rm -rf ./build" in said
    assert lines.talk.decided == []
    await lines.types('edit 1 {"command": "ls", "timeout": 5}', "yes")
    assert lines.talk.decided[0][1]["updated_input"] == {"command": "ls", "timeout": 5}


@pytest.mark.parametrize(("order", "why"), [("edit 1 {oops", "not JSON"), ("edit 1 []", "JSON object")])
async def test_an_input_that_is_none_is_refused_in_words(order: str, why: str) -> None:
    lines = Lines(session())
    lines.asked(request(tool_name="Write", tool_input={"file_path": "/a", "content": "b"}))
    assert why in (await lines.types(order))[0]
    assert lines.talk.decided == []


@pytest.mark.law("S11")
async def test_what_ends_or_grows_old_while_it_is_being_changed_is_not_sent() -> None:
    lines = Lines(session())
    lines.asked(request())
    ended = over(request(), by="ann via phone")
    said = await lines.types("edit 1 ls", lambda: lines.hears(told("request", ended)), "yes")
    assert said[-2].startswith("Request 1 is over: Allowed by ann from phone")
    assert said[-1].startswith("Request 1 is not decided: Allowed by ann from phone")
    lines.asked(request("q2"))
    said = await lines.types("edit 2 ls", lambda: setattr(lines, "at", lines.at + 60), "yes")
    assert "not connected to the daemon" in said[-1]
    assert lines.talk.decided == []


async def test_what_was_asked_can_be_left() -> None:
    lines = Lines(session())
    lines.asked(request())
    assert (await lines.types("edit 1 ls", "cancel"))[-1] == "Left; nothing was done."
    assert (await lines.types("edit 1 ls"))[-1] == "Left; nothing was done."
    assert lines.talk.decided == []


async def test_a_plan_is_approved_in_a_mode_by_its_number() -> None:
    lines = Lines(session())
    plan = request(kind="question", form="plan", tool_name="ExitPlanMode", tool_input={"plan": "1. Drain"})
    lines.asked(plan)
    assert lines.said[-1] == "It takes: allow, approve, deny, interrupt, pass."
    said = await lines.types("approve 1", "7")
    assert said[0].startswith("1: edits files without asking")
    assert lines.talk.decided == []
    await lines.types("approve 1 2")
    assert lines.talk.decided[0][1] == {"digest": "digest-q1", "decision": "allow", "mode": "default"}


async def test_an_agent_that_wants_to_stop_is_told_to_go_on() -> None:
    lines = Lines(session())
    lines.asked(request(kind="stop", tool_name="", tool_input={}))
    assert "it takes allow, go-on, pass" in (await lines.types("deny 1"))[0]
    await lines.types("go-on 1 run the tests first")
    assert lines.talk.decided[0][1]["message"] == "run the tests first"
    assert lines.talk.decided[0][1]["decision"] == "block"


@pytest.mark.law("I6")
@pytest.mark.parametrize("text", TEXTS)
async def test_hostile_text_is_made_visible_wherever_it_is_said(text: str) -> None:
    lines = Lines(session(cwd=f"/w/{text}", title=text, todos=[{"text": text, "status": "done"}]))
    lines.asked(request(command=text))
    lines.asked(request("q2", kind="question", form="questions", tool_input={"questions": [{"question": text}]}))
    for order in ("list", "show 1", "sessions", "tasks", f"write {text}", text):
        await lines.types(order)
    await lines.types("show 2")
    await lines.types("answer 2", "words", "no")
    assert lines.talk.decided == []


async def test_every_order_of_the_help_is_obeyed_and_every_other_is_named() -> None:
    lines = Lines()
    assert lines.face.orders | {"quit"} == set(NAMES)
    assert len(help_lines()) >= len(ORDERS)
    assert await lines.types("help deny") == ["deny N [WORDS]: refuse; the agent reads the words"]
    assert await lines.types("all") == ["No such order: all; did you mean allow?"]
    assert await lines.types("") == ["help lists the orders"]
    assert not await lines.face.order("quit")


async def test_the_bell_can_be_silenced() -> None:
    lines = Lines(session())
    await lines.types("bell off")
    lines.asked(request())
    assert lines.rung == 0


def test_who_waits_at_a_terminal_of_its_own_is_told_once() -> None:
    lines = Lines()
    for _ in range(2):
        lines.hears(told("session", session(pending=0)))
    assert lines.said == ["shop waits at its own terminal, in /home/ann/shop"]
