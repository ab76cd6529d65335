"""Sessions that the daemon starts itself, with the real Claude Code: one list, one feed, one desk."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import mcp_server
from tests.support.claude import require
from tests.support.connected import processes_in
from tests.support.daemon import until
from tests.support.model_server import Turn, text, tool
from tests.support.owner import Owner
from tests.support.repositories import commit, git

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with Owner(tmp_path_factory.mktemp("owner"), require("2.1.325")) as owner:
        yield owner


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    """The same where hooks are installed as well, on the older Claude Code."""
    with Owner(tmp_path_factory.mktemp("connected"), require("2.1.197"), installed=True) as owner:
        yield owner


@pytest.fixture(params=["owner", "connected"])
def any_owner(request: pytest.FixtureRequest) -> Owner:
    found: Owner = request.getfixturevalue(request.param)
    return found


def test_a_form_in_a_session_over_the_sdk_is_filled_in_at_the_desk(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}')
    with Owner(tmp_path / "owner", require("2.1.325")) as owner:
        file = owner.claude.path / ".claude.json"
        server = {"command": sys.executable, "args": [str(mcp_server.__file__), str(schema)]}
        file.write_text(json.dumps(json.loads(file.read_text()) | {"mcpServers": {"forms": server}}))
        prompt = owner.script("fill in the form", Turn(tool("mcp__forms__ask")), Turn(text("finished")))
        session = owner.starts(permission_mode="default", prompt=prompt)
        owner.decide(owner.asked_to("mcp__forms__ask"), "allow")
        form = owner.asked_to("Elicitation")
        assert not form["has_terminal"]
        status, refused = owner.daemon.decide(form, "pass")
        assert (status, refused["error"]["kind"]) == (422, "invalid")
        owner.decide(form, "answer", answers={"name": "Bo"})
        owner.session(session["session_id"], "settled", 20)
        (heard,) = owner.model.tool_results(prompt)
        assert json.loads(heard) == {"action": "accept", "content": {"name": "Bo"}}


def test_a_session_over_the_sdk_asks_once_and_does_what_was_decided(any_owner: Owner) -> None:
    owner = any_owner
    prompt = owner.script_bash("touch by-sdk")
    session = owner.starts(prompt=prompt)
    assert (session["mode"], session["owned"]["status"]) == ("sdk", "up")
    asked = owner.asked("touch by-sdk")
    assert [r["session_id"] for r in owner.daemon.pending()] == [session["session_id"]]
    owner.decide(asked, "allow")
    assert owner.confirmed(asked)["decision"]["delivery"] == "confirmed"
    result = owner.event(session, "turn.result")
    assert (result["data"]["subtype"], result["data"]["text"]) == ("success", "finished")
    owner.session(session["session_id"], "settled")
    assert owner.path("by-sdk").exists()
    kinds = owner.kinds(session["session_id"])
    for once in ("session.start", "user.prompt", "tool.pre", "permission.request", "tool.post", "stop.request"):
        assert kinds.count(once) == 1, (once, kinds)
    status, _ = owner.order(session, "end")
    assert status == 202
    owner.ended(session)


def test_prompts_queue_and_an_interrupt_ends_the_turn_with_its_question(owner: Owner) -> None:
    first, second = owner.script_bash("touch never-ran"), owner.script("and now this", Turn(text("second done")))
    session = owner.starts(prompt=first)
    asked = owner.asked("touch never-ran")
    assert owner.order(session, "messages", prompt=second)[1]["ahead"] == 1
    assert owner.daemon.api("GET", f"/sessions/{session['session_id']}")[1]["queued"] == 1
    status, interrupted = owner.order(session, "interrupt")
    assert (status, interrupted["interrupted"]) == (202, True)
    assert owner.closed(asked)["status"] == "withdrawn"
    failed = owner.event(session, "turn.result")
    assert failed["data"]["is_error"]
    assert (failed["data"]["interrupted"], failed["level"]) == (True, "info")
    done = owner.event(session, "turn.result", after=failed["seq_no"])
    assert done["data"]["text"] == "second done"
    assert not owner.path("never-ran").exists()
    owner.session(session["session_id"], "settled")
    status, nothing = owner.order(session, "interrupt")
    assert (status, nothing["interrupted"], nothing["queued"]) == (202, False, 0)
    owner.order(session, "end")
    owner.ended(session)
    assert owner.order(session, "messages", prompt="hello")[1]["error"]["kind"] == "not_running"


def test_after_clear_the_session_goes_on_under_its_new_id(any_owner: Owner) -> None:
    owner = any_owner
    session = owner.starts(prompt=owner.script("hello there", Turn(text("hi"))))
    owner.event(session, "turn.result")
    owner.sends(session, "/clear")
    launched = owner.recorded("session.launch", lambda data: data.get("continues") == session["session_id"])
    new = {"session_id": launched["session_id"]}
    owner.sends(new, owner.script("after the clear", Turn(text("fresh"))))
    assert owner.event(new, "turn.result", after=launched["seq_no"])["data"]
    assert owner.order(session, "messages", prompt="x")[1]["error"]["kind"] == "not_running"
    owner.order(new, "end")
    owner.ended(new)


@pytest.mark.law("S1")
def test_after_kill_9_of_the_daemon_the_session_is_resumed_and_says_what_was_cut_off(tmp_path: Path) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        session = owner.starts(prompt=owner.script("remember me", Turn(text("I do"))))
        done = owner.event(session, "turn.result")
        owner.sends(session, owner.script_bash("touch cut-off"))
        owner.asked("touch cut-off")
        owner.daemon.kill9()
        until(lambda: not claudes(owner), 5, what="the agent ends with the daemon")
        owner.daemon.restart()
        exited = owner.event(session, "session.exit")
        assert exited["data"]["cut_off"] == "please run touch cut-off"
        owner.event(session, "session.launch", after=exited["seq_no"])
        owner.sends(session, owner.script("still there?", Turn(text("yes"))))
        after = owner.event(session, "turn.result", after=max(done["seq_no"], exited["seq_no"]))
        assert after["data"]["text"] == "yes"
        assert not owner.path("cut-off").exists()
        owner.daemon.stop()
        assert not claudes(owner)


@pytest.mark.law("S8")
def test_prompts_that_waited_when_the_daemon_was_killed_are_named_and_never_sent_twice(tmp_path: Path) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        session = owner.starts(prompt=owner.script_bash("touch at-work"))
        owner.asked("touch at-work")
        owner.sends(session, owner.script("and then this", Turn(text("never said"))))
        owner.daemon.kill9()
        owner.daemon.restart()
        failed = owner.event(session, "session.failed")
        sent = owner.event(session, "session.send")
        assert failed["data"]["message_id"] == sent["data"]["message_id"]
        launched = owner.event(session, "session.up", after=failed["seq_no"])
        owner.sends(session, owner.script("what now?", Turn(text("nothing"))))
        owner.event(session, "turn.result", after=launched["seq_no"])
        assert len(owner.daemon.events("session.failed")) == 1
        assert owner.model.requests_for("and then this") == []


def claudes(owner: Owner) -> list[int]:
    return [pid for pid, command in processes_in(owner.claude.path.parent).items() if "--output-format" in command]


@pytest.mark.law("D14")
def test_what_a_session_of_ours_leaves_behind_cannot_make_rules(owner: Owner) -> None:
    owner.path("try.py").write_text(
        f"""import http.client, time, pathlib
time.sleep(0.5)
there = http.client.HTTPConnection("127.0.0.1", {owner.daemon.url.rpartition(":")[2]})
headers = {{"Authorization": "Bearer {owner.daemon.token}", "Content-Type": "application/json"}}
there.request("POST", "/api/v1/rules", '{{"effect": "allow", "pattern": "Bash", "scope": "user"}}', headers)
answer = there.getresponse()
pathlib.Path("answer.new").write_text(f"{{answer.status}} {{answer.read().decode()}}")
pathlib.Path("answer.new").rename("answer")
"""
    )
    owner.path("answer").unlink(missing_ok=True)
    session = owner.starts(prompt=owner.script_bash("(setsid env -i /usr/bin/python3 try.py &) ; true"))
    owner.decide(owner.asked("(setsid env -i /usr/bin/python3 try.py &) ; true"), "allow")
    until(owner.path("answer").exists, 15, what="what the orphan was told")
    assert owner.path("answer").read_text().startswith("403 ")
    assert "agent_may_not_decide" in owner.path("answer").read_text()
    owner.order(session, "end")
    owner.ended(session)


@pytest.mark.law("S2")
def test_twenty_at_once_do_not_hear_each_other_and_all_end(tmp_path: Path) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        assert owner.qd("rules", "add", "allow", "Bash(touch job-*)").returncode == 0
        prompts = {n: owner.script_bash(f"touch job-{n}-done") for n in range(20)}
        with ThreadPoolExecutor(20) as pool:
            sessions = dict(zip(prompts, pool.map(lambda p: owner.starts(prompt=p), prompts.values()), strict=True))
        status, said = owner.daemon.api("POST", "/sessions", {"cwd": str(owner.claude.project)})
        assert (status, said["error"]["kind"]) == (429, "too_many_sessions")
        for n, session in sessions.items():
            result = owner.event(session, "turn.result", seconds=90)
            assert result["data"]["text"] == "finished"
            said = [
                e["data"]["prompt"]
                for e in owner.daemon.events("user.prompt")
                if e["session_id"] == session["session_id"]
            ]
            assert said == [prompts[n]]
            assert owner.path(f"job-{n}-done").exists()
        with ThreadPoolExecutor(20) as pool:
            assert set(pool.map(lambda s: owner.order(s, "end")[0], sessions.values())) == {202}
        for session in sessions.values():
            owner.ended(session, 30)
        assert not claudes(owner)
        assert all(s["owned"]["status"] == "down" for s in owner.sessions().values())


@pytest.mark.law("S4")
def test_a_conversation_from_a_terminal_is_taken_over_and_a_live_one_forked(owner: Owner) -> None:
    with owner.headless(owner.script("the word is plum", Turn(text("noted")))) as running:
        session = {"session_id": running.finish().json["session_id"]}
    status, taken = owner.order(session, "takeover", prompt=owner.script("which word?", Turn(text("plum"))))
    assert status == 202, taken
    assert (taken["session_id"], taken["mode"]) == (session["session_id"], "sdk")
    assert owner.event(session, "turn.result")["data"]["text"] == "plum"
    assert "the word is plum" in str(owner.model.requests_for("which word?")[-1].body)
    status, refused = owner.order(session, "takeover")
    assert (status, refused["error"]["kind"]) == (409, "session_runs")
    status, fork = owner.order(session, "fork", prompt=owner.script("and in the fork?", Turn(text("plum too"))))
    assert status == 202
    assert fork["session_id"] != session["session_id"]
    assert owner.event(fork, "turn.result")["data"]["text"] == "plum too"
    assert "the word is plum" in str(owner.model.requests_for("and in the fork?")[-1].body)
    for one in (session, fork):
        owner.order(one, "end")
        owner.ended(one)
    said = owner.qd("give-back", session["session_id"])
    assert said.stdout == f"cd {owner.claude.project} && claude --resume {session['session_id']}\n"


def test_a_crash_of_the_agent_is_told_within_two_seconds_and_it_can_be_resumed(owner: Owner) -> None:
    session = owner.starts(prompt=owner.script("before the crash", Turn(text("all well"))))
    owner.event(session, "turn.result")
    pid = owner.sessions()[session["session_id"]]["pid"]
    killed = time.time()
    os.kill(pid, signal.SIGKILL)
    exited = owner.event(session, "session.exit")
    assert exited["at"] - killed < 2.0
    assert (exited["level"], exited["data"]["signal"]) == ("error", 9)
    said = owner.qd("resume", session["session_id"], owner.script("after the crash", Turn(text("still well"))))
    assert said.returncode == 0, said.stderr
    assert owner.event(session, "turn.result", after=exited["seq_no"])["data"]["text"] == "still well"
    owner.order(session, "end")
    owner.ended(session)


def test_another_model_and_permission_mode_count_from_the_next_turn(owner: Owner) -> None:
    session = owner.starts(prompt=owner.script("with the first", Turn(text("one"))))
    first = owner.event(session, "turn.result")
    said = owner.qd("switch", session["session_id"], "--model", "claude-haiku-4-5", "--permission-mode", "acceptEdits")
    assert said.returncode == 0, said.stderr
    owner.sends(session, owner.script("with the second", Turn(text("two"))))
    owner.event(session, "turn.result", after=first["seq_no"])
    assert owner.model.requests_for("with the second")[-1].body["model"].startswith("claude-haiku-4-5")
    assert owner.sessions()[session["session_id"]]["permission_mode"] == "acceptEdits"
    owner.order(session, "end")
    owner.ended(session)


def test_a_session_works_in_a_worktree_of_its_own_which_is_merged_and_discarded(owner: Owner) -> None:
    project = owner.claude.project
    git(project, "init", "-q", "-b", "main")
    owner.path("kept.txt").write_text("one\n")
    commit(project)
    command = "touch made-here && git add made-here && git -c user.name=a -c user.email=a@b commit -qm made"
    prompt = owner.script_bash(command)
    session = owner.starts(worktree=True, prompt=prompt)
    assert session["owned"]["worktree"] == str(project)
    owner.decide(owner.asked(command), "allow")
    owner.event(session, "turn.result")
    said = owner.qd("worktrees", "diff", session["session_id"])
    assert "made-here" in said.stdout, said.stderr
    assert "still runs" in owner.qd("worktrees", "discard", session["session_id"]).stderr
    owner.order(session, "end")
    owner.ended(session)
    assert "not in main" in owner.qd("worktrees", "discard", session["session_id"]).stderr
    assert owner.qd("worktrees", "merge", session["session_id"]).returncode == 0
    assert owner.path("made-here").exists()
    assert owner.qd("worktrees", "discard", session["session_id"]).returncode == 0
    assert not Path(session["cwd"]).exists()
    assert "No worktrees" in owner.qd("worktrees").stdout
    assert owner.recorded("worktree.merge")["data"]["by"].startswith("owner")
