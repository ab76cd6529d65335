"""Sessions that the daemon starts itself, with the real Claude Code: one list, one feed, one desk."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import mcp_server
from tests.support.claude import require
from tests.support.connected_claude import processes_in
from tests.support.daemon import until
from tests.support.model_server import Turn, text, tool
from tests.support.owned_claude import Owner
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
        owner.decide(owner.request_for("mcp__forms__ask"), "allow")
        form = owner.request_for("Elicitation")
        assert not form["has_terminal"]
        status, refused = owner.daemon.decide(form, "pass")
        assert (status, refused["error"]["kind"]) == (422, "invalid")
        owner.decide(form, "answer", answers={"name": "Bo"})
        owner.session(session["session_id"], "settled")
        (result,) = owner.model.tool_results(prompt)
        assert json.loads(result) == {"action": "accept", "content": {"name": "Bo"}}


def test_a_session_over_the_sdk_asks_once_and_does_what_was_decided(any_owner: Owner) -> None:
    owner = any_owner
    prompt = owner.script_bash("touch by-sdk")
    session = owner.starts(prompt=prompt)
    assert (session["mode"], session["owned"]["status"]) == ("sdk", "up")
    request = owner.request_to_run("touch by-sdk")
    assert [r["session_id"] for r in owner.daemon.pending()] == [session["session_id"]]
    owner.decide(request, "allow")
    assert owner.confirmed(request)["decision"]["delivery"] == "confirmed"
    result = owner.event(session, "turn.result")
    assert (result["data"]["subtype"], result["data"]["text"]) == ("success", "finished")
    owner.session(session["session_id"], "settled")
    assert owner.path("by-sdk").exists()
    kinds = owner.kinds(session["session_id"])
    for once in ("session.start", "user.prompt", "tool.pre", "permission.request", "tool.post", "stop.request"):
        assert kinds.count(once) == 1, (once, kinds)
    status, _ = owner.command(session, "end")
    assert status == 202
    owner.ended(session)


def test_prompts_queue_and_an_interrupt_ends_the_turn_with_its_question(owner: Owner) -> None:
    first, second = owner.script_bash("touch never-ran"), owner.script("and now this", Turn(text("second done")))
    session = owner.starts(prompt=first)
    request = owner.request_to_run("touch never-ran")
    assert owner.command(session, "messages", prompt=second)[1]["ahead"] == 1
    assert owner.daemon.api("GET", f"/sessions/{session['session_id']}")[1]["queued"] == 1
    status, interrupted = owner.command(session, "interrupt")
    assert (status, interrupted["interrupted"]) == (202, True)
    assert owner.closed(request)["status"] == "withdrawn"
    failed = owner.event(session, "turn.result")
    assert failed["data"]["is_error"]
    assert (failed["data"]["interrupted"], failed["level"]) == (True, "info")
    done = owner.event(session, "turn.result", after=failed["seq_no"])
    assert done["data"]["text"] == "second done"
    assert not owner.path("never-ran").exists()
    owner.session(session["session_id"], "settled")
    status, nothing = owner.command(session, "interrupt")
    assert (status, nothing["interrupted"], nothing["queued"]) == (202, False, 0)
    owner.command(session, "end")
    owner.ended(session)
    assert owner.command(session, "messages", prompt="hello")[1]["error"]["kind"] == "not_running"


def test_a_session_whose_agent_calls_its_model_again_says_so_and_why(any_owner: Owner) -> None:
    owner = any_owner
    session = owner.starts(prompt=owner.script("try hard", Turn(text("finally"), error=500, times=4)))
    seen = []

    def is_retrying() -> bool:
        seen.append(owner.daemon.api("GET", f"/sessions/{session['session_id']}")[1])
        return bool(seen[-1]["label"] == "retrying")

    until(is_retrying, every=0.1, what="a session that is retrying")
    assert (seen[-1]["agent_state"], seen[-1]["retrying"][:24]) == ("running", "the API answered 500; re")
    assert owner.session(session["session_id"], "settled")["retrying"] is None
    owner.command(session, "end")
    owner.ended(session)


def test_after_clear_the_session_goes_on_under_its_new_id(any_owner: Owner) -> None:
    owner = any_owner
    session = owner.starts(prompt=owner.script("hello there", Turn(text("hi"))))
    owner.event(session, "turn.result")
    owner.sends(session, "/clear")
    launched = owner.recorded("session.launch", lambda data: data.get("continues") == session["session_id"])
    new = {"session_id": launched["session_id"]}
    owner.sends(new, owner.script("after the clear", Turn(text("fresh"))))
    assert owner.event(new, "turn.result", after=launched["seq_no"])["data"]
    assert owner.command(session, "messages", prompt="x")[1]["error"]["kind"] == "not_running"
    owner.command(new, "end")
    owner.ended(new)


@pytest.mark.law("D11")
@pytest.mark.law("S1")
@pytest.mark.parametrize("ends", ["kill9", "terminate"])
def test_a_request_of_a_session_over_the_sdk_survives_its_daemon(tmp_path: Path, ends: str) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        session = owner.starts(prompt=owner.script_bash("touch decided-later"))
        request = owner.request_to_run("touch decided-later")
        owner.sends(session, owner.script("and then this", Turn(text("said once"))))
        getattr(owner.daemon, ends)()
        owner.daemon.ended()
        agent = claudes(owner)
        owner.daemon.restart()
        again = owner.request_to_run("touch decided-later")
        assert (again["request_id"], again["digest"]) == (request["request_id"], request["digest"])
        until(lambda: owner.daemon.pending()[0]["holder"] == "connected", what="the agent asks the new daemon")
        assert claudes(owner) == agent
        owner.decide(again, "allow")
        until(lambda: len(owner.events_of(session, "turn.result")) == 2, what="both turns end")
        assert owner.path("decided-later").exists()
        assert [event["data"]["text"] for event in owner.events_of(session, "turn.result")] == ["finished", "said once"]
        assert owner.events_of(session, "session.failed") == owner.events_of(session, "session.exit") == []
        owner.daemon.stop()
        assert not claudes(owner)


@pytest.mark.law("S1")
@pytest.mark.law("S8")
def test_a_session_over_the_sdk_whose_host_died_too_is_resumed_and_reports_what_was_cut_off(tmp_path: Path) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        session = owner.starts(prompt=owner.script("remember me", Turn(text("I do"))))
        done = owner.event(session, "turn.result")
        owner.sends(session, owner.script_bash("touch cut-off"))
        owner.request_to_run("touch cut-off")
        owner.sends(session, owner.script("and then this", Turn(text("never said"))))
        owner.daemon.close()
        until(lambda: not claudes(owner), what="the agent ends with its host")
        owner.daemon.restart()
        exited = owner.event(session, "session.exit")
        assert exited["data"]["cut_off"] == "please run touch cut-off"
        failed = owner.event(session, "session.failed")
        assert failed["data"]["message_id"] == owner.events_of(session, "session.send")[-1]["data"]["message_id"]
        owner.event(session, "session.launch", after=exited["seq_no"])
        owner.sends(session, owner.script("still there?", Turn(text("yes"))))
        after = owner.event(session, "turn.result", after=max(done["seq_no"], exited["seq_no"]))
        assert after["data"]["text"] == "yes"
        assert not owner.path("cut-off").exists()
        assert owner.model.requests_for("and then this") == []
        owner.daemon.stop()
        assert not claudes(owner)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_host_of_a_session_over_the_sdk_is_small(owner: Owner) -> None:
    session = owner.starts(prompt=owner.script("say little", Turn(text("little"))))
    first = owner.event(session, "turn.result")
    records = map(json.loads, map(Path.read_text, (owner.daemon.home / "run" / "sessions" / "sdk").glob("*.json")))
    (host,) = [record["host"][0] for record in records if record["session_id"] == session["session_id"]]
    at_rest = resident_kb(host)
    words = "".join(f"word {n} " for n in range(20_000))
    owner.sends(session, owner.script("say much", Turn(text(words))))
    owner.event(session, "turn.result", after=first["seq_no"])
    after_a_flood = resident_kb(host)
    owner.command(session, "end")
    owner.ended(session)
    assert at_rest <= 15_000
    assert after_a_flood <= 40_000  # it keeps what a busy daemon has not read yet


def resident_kb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0])


def claudes(owner: Owner) -> list[int]:
    return [pid for pid, command in processes_in(owner.claude.path.parent).items() if "--output-format" in command]


@pytest.mark.law("S2")
def test_twenty_sessions_at_once_do_not_mix_and_all_end(tmp_path: Path) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        assert owner.qd("rules", "add", "allow", "Bash(touch job-*)").returncode == 0
        prompts = {n: owner.script_bash(f"touch job-{n}-done") for n in range(20)}
        with ThreadPoolExecutor(20) as pool:
            sessions = dict(zip(prompts, pool.map(lambda p: owner.starts(prompt=p), prompts.values()), strict=True))
        status, answer = owner.daemon.api("POST", "/sessions", {"cwd": str(owner.claude.project)})
        assert (status, answer["error"]["kind"]) == (429, "too_many_sessions")
        for n, session in sessions.items():
            result = owner.event(session, "turn.result")
            assert result["data"]["text"] == "finished"
            prompts_read = [
                e["data"]["prompt"]
                for e in owner.daemon.events("user.prompt")
                if e["session_id"] == session["session_id"]
            ]
            assert prompts_read == [prompts[n]]
            assert owner.path(f"job-{n}-done").exists()
        with ThreadPoolExecutor(20) as pool:
            assert set(pool.map(lambda s: owner.command(s, "end")[0], sessions.values())) == {202}
        for session in sessions.values():
            owner.ended(session)
        assert not claudes(owner)
        assert all(s["owned"]["status"] == "down" for s in owner.sessions().values())


@pytest.mark.law("S4")
def test_a_conversation_from_a_terminal_is_taken_over_and_a_live_one_forked(owner: Owner) -> None:
    with owner.headless(owner.script("the word is plum", Turn(text("noted")))) as running:
        session = {"session_id": running.finish().json["session_id"]}
    status, taken = owner.command(session, "takeover", prompt=owner.script("which word?", Turn(text("plum"))))
    assert status == 202, taken
    assert (taken["session_id"], taken["mode"]) == (session["session_id"], "sdk")
    assert owner.event(session, "turn.result")["data"]["text"] == "plum"
    assert "the word is plum" in str(owner.model.requests_for("which word?")[-1].body)
    status, refused = owner.command(session, "takeover")
    assert (status, refused["error"]["kind"]) == (409, "session_runs")
    status, fork = owner.command(session, "fork", prompt=owner.script("and in the fork?", Turn(text("plum too"))))
    assert status == 202
    assert fork["session_id"] != session["session_id"]
    assert owner.event(fork, "turn.result")["data"]["text"] == "plum too"
    assert "the word is plum" in str(owner.model.requests_for("and in the fork?")[-1].body)
    for one in (session, fork):
        owner.command(one, "end")
        owner.ended(one)
    finished = owner.qd("give-back", session["session_id"])
    assert finished.stdout == f"cd {owner.claude.project} && claude --resume {session['session_id']}\n"


def test_a_crash_of_the_agent_is_reported_and_the_session_can_be_resumed(owner: Owner) -> None:
    session = owner.starts(prompt=owner.script("before the crash", Turn(text("all well"))))
    owner.event(session, "turn.result")
    pid = owner.sessions()[session["session_id"]]["pid"]
    os.kill(pid, signal.SIGKILL)
    exited = owner.event(session, "session.exit")
    assert (exited["level"], exited["data"]["signal"]) == ("error", 9)
    finished = owner.qd("resume", session["session_id"], owner.script("after the crash", Turn(text("still well"))))
    assert finished.returncode == 0, finished.stderr
    assert owner.event(session, "turn.result", after=exited["seq_no"])["data"]["text"] == "still well"
    owner.command(session, "end")
    owner.ended(session)


def test_another_model_and_permission_mode_count_from_the_next_turn(owner: Owner) -> None:
    session = owner.starts(prompt=owner.script("with the first", Turn(text("one"))))
    first = owner.event(session, "turn.result")
    finished = owner.qd(
        "switch", session["session_id"], "--model", "claude-haiku-4-5", "--permission-mode", "acceptEdits"
    )
    assert finished.returncode == 0, finished.stderr
    owner.sends(session, owner.script("with the second", Turn(text("two"))))
    owner.event(session, "turn.result", after=first["seq_no"])
    assert owner.model.requests_for("with the second")[-1].body["model"].startswith("claude-haiku-4-5")
    assert owner.sessions()[session["session_id"]]["permission_mode"] == "acceptEdits"
    owner.command(session, "end")
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
    owner.decide(owner.request_to_run(command), "allow")
    owner.event(session, "turn.result")
    finished = owner.qd("worktrees", "diff", session["session_id"])
    assert "made-here" in finished.stdout, finished.stderr
    assert "still runs" in owner.qd("worktrees", "discard", session["session_id"]).stderr
    owner.command(session, "end")
    owner.ended(session)
    assert "not in main" in owner.qd("worktrees", "discard", session["session_id"]).stderr
    assert owner.qd("worktrees", "merge", session["session_id"]).returncode == 0
    assert owner.path("made-here").exists()
    assert owner.qd("worktrees", "discard", session["session_id"]).returncode == 0
    assert not Path(session["cwd"]).exists()
    assert "No worktrees" in owner.qd("worktrees").stdout
    assert owner.recorded("worktree.merge")["data"]["by"].startswith("owner")
