"""Several requests at once: sub-agents of one session, and sessions beside each other."""

from contextlib import ExitStack

import pytest

from tests.e2e.conftest import PairOf
from tests.support.connected_claude import Connected
from tests.support.daemon import until
from tests.support.model_server import Turn, text, tool

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


def test_two_sub_agents_ask_at_once_and_are_decided_separately(either: Connected) -> None:
    prompt = either.script_helpers("tui-one", "tui-two")
    with either.terminal() as terminal:
        terminal.type_prompt(prompt)
        one, two = either.request_to_run("touch tui-one"), either.request_to_run("touch tui-two")
        assert {one["status"], two["status"]} == {"pending"}
        assert one["session_id"] == two["session_id"]
        assert one["agent_id"] != two["agent_id"]
        assert either.sessions()[one["session_id"]]["pending"] == 2
        either.decide(two, "deny", message="the second may not")
        assert either.confirmed(two)["status"] == "decided"
        assert either.request(one)["status"] == "pending"
        either.decide(one, "allow")
        either.confirmed(one)
        until(lambda: either.model.tool_results("helper job tui-one"))
    assert either.path("tui-one").exists()
    assert not either.path("tui-two").exists()
    assert either.model.tool_results("helper job tui-two") == ["the second may not"]


def test_two_sub_agents_of_a_headless_session_are_decided_separately(newest: Connected) -> None:
    with newest.headless(newest.script_helpers("headless-one", "headless-two")) as running:
        one, two = newest.request_to_run("touch headless-one"), newest.request_to_run("touch headless-two")
        newest.decide(one, "allow")
        newest.decide(two, "deny", message="the second may not")
        running.finish()
    assert newest.path("headless-one").exists()
    assert not newest.path("headless-two").exists()
    assert newest.model.tool_results("helper job headless-two") == ["the second may not"]


def test_three_sessions_at_once_do_not_mix(newest: Connected) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(newest.headless(newest.script_bash("touch first")))
        second = stack.enter_context(newest.headless(newest.script_bash("touch second")))
        third = stack.enter_context(newest.terminal())
        third.type_prompt(newest.script_bash("touch third"))
        requests = [newest.request_to_run(f"touch {name}") for name in ("first", "second", "third")]
        assert len({request["session_id"] for request in requests}) == 3
        newest.decide(requests[2], "allow")
        newest.decide(requests[0], "deny", message="not the first")
        newest.decide(requests[1], "allow")
        assert first.finish().json["session_id"] == requests[0]["session_id"]
        assert second.finish().json["session_id"] == requests[1]["session_id"]
        third.wait_for("finished")
        assert third.session()["sessionId"] == requests[2]["session_id"]
    assert [newest.path(name).exists() for name in ("first", "second", "third")] == [False, True, True]
    for request, name in zip(requests, ("first", "second", "third"), strict=True):
        calls = [e["data"] for e in newest.daemon.events("tool.pre") if e["session_id"] == request["session_id"]]
        assert [data["tool_input"]["command"] for data in calls] == [f"touch {name}"]


def test_an_older_headless_session_is_observed(pair_of: PairOf) -> None:
    pair = pair_of("2.1.197")
    with pair.headless(pair.script_bash("echo seen")) as running:
        session_id = running.finish().json["session_id"]
    pair.session(session_id, "ended")
    kinds = pair.kinds(session_id)
    wanted = ["session.start", "run.start", "user.prompt", "tool.pre", "tool.post", "stop.request", "session.end"]
    assert [kind for kind in kinds if kind in wanted] == wanted


def test_yes_at_the_terminal_for_one_sub_agent_leaves_the_other_to_be_decided(
    pair_of: PairOf,
) -> None:
    older = pair_of("2.1.197")  # the newer one shows a sub-agent's dialog only when the hook has no opinion
    prompt = older.script_helpers("yes-one", "yes-two")
    with older.terminal() as terminal:
        terminal.type_prompt(prompt)
        requests = [older.request_to_run("touch yes-one"), older.request_to_run("touch yes-two")]
        terminal.choose("Yes")
        until(lambda: older.sessions()[requests[0]["session_id"]]["pending"] < 2)
        (answered,) = [r for r in requests if older.request(r)["status"] != "pending"]
        (other,) = [r for r in requests if r is not answered]
        assert older.request(answered)["decision"]["source"] == "elsewhere"
        terminal.wait_dialog()
        older.decide(other, "allow")
        older.confirmed(other)
    assert older.path("yes-one").exists()
    assert older.path("yes-two").exists()


@pytest.mark.parametrize("where", ["terminal", "quarterdeck"])
def test_an_answer_to_the_agent_leaves_the_card_of_its_background_helper(newest: Connected, where: str) -> None:
    helper, own = f"touch helper-{where}", f"touch own-{where} && until [ -e go-on-{where} ]; do sleep 0.02; done"
    newest.script(f"job {where}", Turn(tool("Bash", command=helper, description="d")), Turn(text("helped")))
    sent = tool(
        "Agent", description="d", prompt=f"job {where}", subagent_type="general-purpose", run_in_background=True
    )
    call = tool("Bash", command=own, description="d")
    prompt = newest.script(f"send and work, {where}", Turn(sent), Turn(call), Turn(text("finished")))
    with newest.terminal() as terminal:
        terminal.type_prompt(prompt)
        mine, theirs = newest.request_to_run(own), newest.request_to_run(helper)
        terminal.wait_dialog()
        answer = {"terminal": lambda: terminal.choose("Yes"), "quarterdeck": lambda: newest.decide(mine, "allow")}
        answer[where]()
        newest.closed(mine)
        newest.path(f"go-on-{where}").touch()
        terminal.wait_for("finished")
        assert newest.request(theirs)["status"] == "pending"
        newest.decide(theirs, "deny", message="no")
        newest.confirmed(theirs)
