"""Commands to owned sessions: which are allowed, and their effects."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.messages import (
    DaemonStopping,
    ProcessSeen,
    Unattended,
    WaiterGone,
)
from quarterdeck.core.engine.session_messages import (
    AgentExited,
    AgentStarted,
    CommandFailed,
    DeliverPrompt,
    DiscardWorktree,
    EndAgent,
    EndSession,
    InterruptAgent,
    InterruptSession,
    Launch,
    ReconfigureAgent,
    ReconfigureSession,
    SendPrompt,
    StartSession,
    SwitchMode,
    TurnEnded,
)
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Deny, NoOpinion
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import ProcessId
from tests.support.other_agent import FERRET
from tests.support.owned_scene import FOLDER, PROCESS, OwnedScene, tagged
from tests.support.scene import bash

TREE = "/home/wt/1"


@pytest.mark.law("S9")
@pytest.mark.parametrize(
    ("trust", "folder", "allowed"),
    [
        ({}, FOLDER, False),
        ({FOLDER: "full"}, FOLDER, True),
        ({FOLDER: "rules"}, FOLDER, False),
        ({FOLDER: "full"}, "/w/app/below", True),
        ({FOLDER: "full"}, "/w/apple", False),
        ({FOLDER: "full", "/w/app/vendor": "none"}, "/w/app/vendor/x", False),
        ({"/": "full"}, FOLDER, True),
    ],
)
def test_sessions_start_only_if_the_nearest_folder_is_trusted(
    trust: dict[str, str], folder: str, allowed: bool
) -> None:
    scene = OwnedScene()
    for path, word in trust.items():
        scene.trusts(path, word)
    scene.starts(cwd=folder)
    if allowed:
        scene.records("session.launch").folds()
        assert isinstance(scene.session_effects[0], Launch)
    else:
        scene.refuses("untrusted_project", f"qd projects trust {folder}")


def discards(scene: OwnedScene, path: str = TREE, session_id: str = "s1") -> OwnedScene:
    return scene.submits(DiscardWorktree(session_id=session_id, path=path, by="ann", at=scene.clock))


@pytest.mark.law("S4")
def test_a_worktree_is_not_discarded_while_its_session_runs() -> None:
    scene = OwnedScene().is_up(cwd=TREE, worktree=FOLDER)
    discards(scene).refuses("session_runs", "s1 still runs there; first: qd end s1").records()
    discards(scene.ends()).replies("applied").records()


@pytest.mark.law("S4")
def test_a_worktree_is_not_discarded_once_its_session_runs_again_also_under_another_id() -> None:
    scene = OwnedScene().is_up(cwd=TREE, worktree=FOLDER).ends()
    scene.starts(cwd=TREE, worktree=FOLDER, resume="s1").records("session.launch")
    discards(scene).refuses("session_runs", "s1 still runs there")
    scene.submits(AgentStarted(session_id="s1", at=scene.clock, process=PROCESS))
    scene.submits(tagged(scene, "s2", "s1"))
    discards(scene).refuses("session_runs", "s2 still runs there; first: qd end s2")


def test_a_worktree_is_not_discarded_while_a_fork_runs_in_it() -> None:
    scene = OwnedScene().trusts().starts("fork", cwd=f"{TREE}/src", worktree=FOLDER)
    discards(scene).refuses("session_runs", "fork still runs there")
    discards(scene, path="/home/wt/10").replies("applied")


def test_no_session_starts_in_a_worktree_that_is_being_discarded() -> None:
    scene = OwnedScene().trusts().starts(cwd=TREE, worktree=FOLDER, discarding=True)
    scene.refuses("invalid", f"{TREE} is being discarded").records()


def test_a_worktree_is_trusted_like_its_project() -> None:
    OwnedScene().trusts().starts(cwd="/home/wt/1", worktree=FOLDER).records("session.launch").folds()
    OwnedScene().trusts("/home/wt/1").starts(cwd="/home/wt/1", worktree=FOLDER).refuses("untrusted_project")


def test_an_owned_session_is_known_before_its_first_hook_and_names_its_starter() -> None:
    scene = OwnedScene().trusts().starts(prompt="do it", model="opus", permission_mode="plan").folds()
    session = scene.session
    assert (session.mode, session.agent_state, session.context.cwd) == ("sdk", AgentState.SENT, FOLDER)
    assert session.owned is not None
    assert (session.owned.status, session.owned.by) == ("starting", "ann")
    scene.submits(AgentStarted(session_id="s1", at=scene.clock, process=PROCESS)).folds()
    assert scene.session.process == PROCESS
    assert scene.session.owned is not None
    assert scene.session.owned.status == "up"


@pytest.mark.law("S4")
def test_one_writer_per_session() -> None:
    scene = OwnedScene().trusts()
    scene.receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="go")
    scene.starts(resume="s1").refuses("session_runs", "qd fork s1")
    scene.starts("s2", resume="s1", fork=True).records("session.launch").folds()
    scene.receives("SessionEnd", reason="other")
    scene.starts(resume="s1").records("session.launch").folds()
    assert scene.last.events[0].data.resumed
    scene.starts(resume="s1").refuses("session_runs", "already runs here; to prompt it: qd send s1")
    scene.starts(resume="s1", runs_as=77).refuses("session_runs", "already runs here")


@pytest.mark.law("S4")
def test_a_running_process_blocks_a_resume_even_without_a_hook() -> None:
    OwnedScene().trusts().starts("old", resume="old", runs_as=77).refuses("session_runs", "process 77")
    OwnedScene().trusts().starts("old", resume="old").records("session.launch")


@pytest.mark.law("S4")
def test_a_resumed_session_waits_for_its_earlier_process_to_exit() -> None:
    scene = (
        OwnedScene().is_up("pty").ends(reason="the session's terminal was lost").starts(mode="pty", resume="s1").folds()
    )
    assert [effect.after for effect in scene.session_effects if isinstance(effect, Launch)] == [PROCESS]
    fork = OwnedScene().is_up("pty").starts("s2", resume="s1", fork=True)
    assert [effect.after for effect in fork.session_effects if isinstance(effect, Launch)] == [None]
    again = OwnedScene().is_up().ends(is_lost=True)
    assert [effect.after for effect in again.session_effects if isinstance(effect, Launch)] == [PROCESS]


def test_an_id_is_used_once_and_the_number_of_sessions_has_a_limit() -> None:
    scene = OwnedScene(max_sessions=2).trusts().starts("a").starts("a").refuses("already_exists")
    scene.starts("b").records("session.launch")
    scene.starts("c").refuses("too_many_sessions", "sdk.max_sessions")
    scene.submits(AgentExited(session_id="a", at=scene.clock, code=0)).folds()
    scene.starts("c").records("session.launch")


@pytest.mark.parametrize(
    ("mode", "more", "field"), [("ssh", {}, "mode"), ("observed", {}, "mode"), ("sdk", {"shell": True}, "shell")]
)
def test_an_invalid_start_names_the_field(mode: str, more: dict[str, Any], field: str) -> None:
    OwnedScene().trusts().starts(mode=mode, **more).refuses("invalid", field)


def test_commands_are_recorded_and_address_the_handle() -> None:
    scene = OwnedScene().is_up()
    send = SendPrompt(session_id="s1", message_id="m1", prompt="more", by="bob", at=scene.clock)
    scene.submits(send).records("session.send").folds()
    assert scene.session_effects == [DeliverPrompt(send=send, mode="sdk", handle="s1")]
    scene.submits(InterruptSession(session_id="s1", by="bob", at=scene.clock)).records("session.interrupt").folds()
    assert scene.session_effects == [InterruptAgent(mode="sdk", handle="s1")]
    scene.submits(ReconfigureSession(session_id="s1", by="bob", at=scene.clock, model="haiku")).records(
        "session.change"
    ).folds()
    assert scene.session_effects == [ReconfigureAgent(mode="sdk", handle="s1", model="haiku")]
    scene.submits(EndSession(session_id="s1", by="bob", at=scene.clock)).records("session.close").folds()
    assert scene.session_effects == [EndAgent(mode="sdk", handle="s1")]
    scene.submits(send).refuses("not_running", "is ending")
    scene.ends(code=0).records("run.end", "session.exit", "session.end").is_now(AgentState.ENDED).folds()
    assert scene.last.events[1].level == "info"
    scene.submits(send).refuses("not_running", "qd resume s1")


def test_a_command_to_an_observed_session_names_the_next_step() -> None:
    scene = OwnedScene().trusts()
    scene.submits(EndSession(session_id="s9", by="bob", at=1.0)).refuses("not_found")
    scene.receives("SessionStart", source="startup")
    scene.submits(SwitchMode(session_id="s1", by="bob", at=1.0, mode="pty")).refuses(
        "not_owned", "qd fork s1, or qd takeover s1 once it has ended"
    )
    scene.submits(EndSession(session_id="s1", by="bob", at=1.0)).refuses("not_possible", "end it in its terminal")
    scene.submits(InterruptSession(session_id="s1", by="bob", at=1.0)).refuses("not_busy", "nothing to interrupt")


def test_an_observed_session_is_interrupted_prompted_and_ended_by_its_own_process() -> None:
    scene = OwnedScene().receives("UserPromptSubmit", prompt="go")
    process = ProcessId(7, "1")
    seen = ProcessSeen(
        session_id="s1", status="busy", waiting_for=None, process=process, changed_at=scene.clock, at=scene.clock
    )
    scene.submits(seen)
    scene.submits(InterruptSession(session_id="s1", by="bob", at=1.0)).records("session.interrupt").folds()
    assert scene.session_effects == [InterruptAgent(mode="observed", handle="s1")]
    send = SendPrompt(session_id="s1", by="bob", at=1.0, message_id="m1", prompt="and a test")
    scene.submits(send).records("session.send").folds()
    assert scene.session_effects == [DeliverPrompt(mode="observed", handle="s1", send=send)]
    scene.submits(EndSession(session_id="s1", by="bob", at=1.0)).records("session.close").folds()
    assert scene.session_effects == [EndAgent(mode="observed", handle="s1", process=process)]
    failed = CommandFailed(session_id="s1", command="end", error="it still runs", at=2.0)
    scene.submits(failed).records("session.failed").folds()


def test_an_observed_session_that_waits_for_a_decision_is_not_interrupted() -> None:
    scene = OwnedScene().receives("UserPromptSubmit", prompt="go")
    scene.receives("PermissionRequest", tool_name="Bash", tool_input={"command": "ls"})
    scene.submits(InterruptSession(session_id="s1", by="bob", at=1.0)).refuses("dialog_open", "qd requests")


def test_an_observed_session_that_has_ended_takes_no_commands() -> None:
    scene = OwnedScene().receives("SessionStart", source="startup").receives("SessionEnd", reason="other")
    scene.submits(EndSession(session_id="s1", by="bob", at=1.0)).refuses("not_running", "qd resume s1")


def test_a_failed_command_is_recorded() -> None:
    scene = OwnedScene().is_up("pty")
    scene.submits(
        CommandFailed(session_id="s1", command="send", error="a draft is open", message_id="m1", at=scene.clock)
    )
    scene.records("session.failed").folds()


@pytest.mark.law("S4")
def test_a_session_changes_its_mode_only_after_its_first_process_has_ended() -> None:
    scene = OwnedScene().is_up()
    switch = SwitchMode(session_id="s1", mode="tmux", by="bob", at=scene.clock)
    scene.submits(switch).refuses("session_busy", "qd interrupt s1")
    scene.receives("Stop")
    scene.submits(switch).records("session.close").folds()
    assert scene.session_effects == [EndAgent(mode="sdk", handle="s1")]
    scene.submits(switch).refuses("not_running", "ending")
    scene.ends(code=0).records("session.exit", "session.end", "session.launch").folds()
    launch = scene.session_effects[0]
    assert isinstance(launch, Launch)
    assert (launch.start.mode, launch.start.resume, launch.start.by) == ("tmux", "s1", "bob")
    assert scene.session.mode == "tmux"
    scene.submits(SwitchMode(session_id="s1", mode="tmux", by="bob", at=scene.clock)).refuses("invalid", "already")


@pytest.mark.law("S8")
def test_nothing_is_typed_into_a_terminal_whose_dialog_is_open() -> None:
    scene = OwnedScene().is_up("tmux")
    scene.receives("PermissionRequest", id="a", entrypoint="cli", **bash("rm x"))
    send = SendPrompt(session_id="s1", message_id="m1", prompt="more", by="bob", at=scene.clock)
    scene.submits(send).refuses("dialog_open", "qd requests")
    scene.decides("a", Deny("no")).submits(send).records("session.send")


def test_only_an_sdk_session_can_be_reconfigured() -> None:
    scene = OwnedScene().is_up("pty")
    scene.submits(ReconfigureSession(session_id="s1", by="bob", at=scene.clock, model="haiku")).refuses(
        "not_possible", "/model"
    )


@pytest.mark.law("D2")
def test_in_an_sdk_session_the_sdk_asks_and_the_hook_is_answered_at_once() -> None:
    scene = OwnedScene(attended=False, approval_seconds=60.0).is_up()
    scene.receives("PermissionRequest", id="h", **bash("rm x"))
    assert scene.last.events == []
    assert scene.answers["h"]
    received = scene.hook_received("PermissionRequest", "a", "", "sdk-py", {**bash("rm x"), "tool_use_id": "t1"})
    scene.submits(replace(received, waiter="sdk")).records("permission.request").folds()
    assert scene.request("a").held
    assert scene.request("a").expires_at == received.event.at + 60.0
    scene.submits(Unattended(at=scene.clock)).does_nothing()
    scene.submits(WaiterGone(request_id="a", at=scene.clock)).records("permission.decision").folds()
    assert scene.last.events[0].data.reason == "the agent's turn was stopped"


def test_a_request_of_an_sdk_session_cannot_be_passed_and_still_waits() -> None:
    scene = OwnedScene().is_up()
    scene.submits(replace(scene.hook_received("PermissionRequest", "a", "", "sdk-py", bash("rm x")), waiter="sdk"))
    scene.decides("a", NoOpinion()).refuses("invalid", "has no terminal to leave it to")
    assert scene.request("a").status == "pending"
    terminal = OwnedScene().is_up(mode="pty")
    terminal.receives("PermissionRequest", id="a", entrypoint="cli", **bash("rm x")).decides("a", NoOpinion())
    assert terminal.reply.outcome == "applied"


@pytest.mark.parametrize("attended", [True, False])
def test_a_form_in_an_sdk_session_is_held_while_a_person_is_near(attended: bool) -> None:
    scene = OwnedScene(attended=attended).is_up()
    form: dict[str, Any] = {"mcp_server_name": "el", "message": "Who?", "mode": "form", "requested_schema": {}}
    scene.receives("Elicitation", id="f", entrypoint="sdk-py", **form)
    assert scene.request("f").held is attended


@pytest.mark.law("D13")
def test_a_stopping_daemon_leaves_sdk_requests_to_the_interrupt() -> None:
    scene = OwnedScene().is_up()
    scene.submits(replace(scene.hook_received("PermissionRequest", "a", "", "sdk-py", bash("rm x")), waiter="sdk"))
    scene.receives("PermissionRequest", id="b", session="s2", **bash("rm y"))
    scene.submits(DaemonStopping(at=scene.clock, spares_sdk=True)).folds()
    assert (scene.request("a").status, scene.request("b").status) == ("pending", "withdrawn")
    scene.submits(DaemonStopping(at=scene.clock)).folds()
    assert scene.request("a").status == "withdrawn"


@pytest.mark.law("S4")
def test_a_cleared_session_cannot_be_resumed_while_its_agent_runs_under_another_id() -> None:
    scene = OwnedScene().is_up().receives("Stop").receives("SessionEnd", reason="clear")
    scene.submits(tagged(scene, "s2", "s1"))
    scene.starts("s1", "pty", resume="s1").refuses("session_runs", "continues as s2")
    scene.starts("s3", resume="s1", fork=True).records("session.launch").folds()
    scene.ends(code=0).folds()
    assert scene.state.ended["s2"].ended_at is not None
    scene.starts("s1", "pty", resume="s1").records("session.launch").folds()


@pytest.mark.law("S8")
def test_a_prompt_on_its_way_blocks_a_switch_of_mode() -> None:
    scene = OwnedScene().trusts().starts(prompt="go")
    switch = SwitchMode(session_id="s1", mode="pty", by="bob", at=scene.clock)
    scene.submits(switch).refuses("session_busy")
    scene.submits(AgentStarted(session_id="s1", at=scene.clock, process=PROCESS)).submits(switch).refuses(
        "session_busy"
    )
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result={"subtype": "success"})).folds()
    assert scene.session.agent_state is AgentState.IDLE
    scene.submits(switch).records("session.close")


def test_a_session_that_could_not_be_ended_can_be_ended_again() -> None:
    scene = OwnedScene().is_up("tmux").submits(EndSession(session_id="s1", by="bob", at=1.0))
    scene.submits(CommandFailed(session_id="s1", command="end", error="tmux does not answer", at=2.0)).folds()
    scene.submits(EndSession(session_id="s1", by="bob", at=3.0)).records("session.close").folds()


def test_a_conversation_without_a_run_can_switch_modes_once_the_agent_has_answered() -> None:
    scene = OwnedScene().trusts().starts(prompt="/cost").submits(AgentStarted(session_id="s1", at=1.0, process=PROCESS))
    scene.submits(TurnEnded(session_id="s1", at=2.0, result={"subtype": "success"}))
    scene.submits(SwitchMode(session_id="s1", mode="pty", by="bob", at=4.0)).ends(code=0)
    launch = scene.session_effects[0]
    assert isinstance(launch, Launch)
    assert launch.start.resume == "s1"


def launched(scene: OwnedScene) -> StartSession:
    effect = scene.session_effects[0]
    assert isinstance(effect, Launch)
    return effect.start


@pytest.mark.parametrize("source", ["fork", "resume"])
def test_a_fork_that_never_got_a_prompt_begins_again_in_the_conversation_it_was_forked_from(source: str) -> None:
    """Claude Code keeps a conversation from its first prompt on. 2.1.197 calls the start of a fork a resume."""
    scene = OwnedScene().trusts().starts("f1", resume="s0", fork=True, fork_at="e7")
    scene.receives("SessionStart", session="f1", source=source)
    scene.submits(AgentExited(session_id="f1", at=scene.clock, code=0))
    scene.starts("f1", resume="f1")
    start = launched(scene)
    assert (start.session_id, start.resume, start.fork, start.fork_at) == ("f1", "s0", True, "e7")
    scene.submits(AgentExited(session_id="f1", at=scene.clock, code=0))
    scene.starts("f2", resume="f1", fork=True)
    start = launched(scene)
    assert (start.session_id, start.resume, start.fork, start.fork_at) == ("f2", "s0", True, "e7")


def test_a_fork_that_got_a_prompt_is_resumed_as_itself() -> None:
    scene = OwnedScene().trusts().starts("f1", resume="s0", fork=True)
    scene.receives("SessionStart", session="f1", source="fork")
    scene.receives("UserPromptSubmit", session="f1", prompt="go").receives("Stop", session="f1")
    scene.submits(AgentExited(session_id="f1", at=scene.clock, code=0)).starts("f1", resume="f1")
    start = launched(scene)
    assert (start.session_id, start.resume, start.fork) == ("f1", "f1", False)


def test_a_session_that_never_got_a_prompt_begins_again_and_has_nothing_to_fork() -> None:
    scene = OwnedScene().trusts().starts()
    scene.submits(AgentExited(session_id="s1", at=scene.clock, code=0))
    scene.starts("f1", resume="s1", fork=True).refuses("not_possible", "nothing to fork: qd run")
    scene.starts(resume="s1")
    assert (launched(scene).session_id, launched(scene).resume) == ("s1", None)


def test_a_fork_that_reports_its_start_under_the_id_of_its_parent_leaves_the_parent_as_it_is() -> None:
    """As 2.1.197 does over the SDK."""
    scene = OwnedScene().is_up()
    scene.receives("Stop").starts("f1", resume="s1", fork=True)
    received = scene.hook_received("SessionStart", "", "s1", "", {"source": "resume"})
    tag = Context(cwd="/elsewhere", tag="f1")
    scene.submits(replace(received, event=replace(received.event, context=tag))).records("session.start").folds()
    assert scene.last.events[0].session_id == "f1"
    assert scene.state.sessions["f1"].context.cwd == FOLDER
    assert [scene.state.sessions[one].agent_state for one in ("s1", "f1")] == [AgentState.SETTLED, AgentState.IDLE]


def of_ferret(**more: Any) -> OwnedScene:
    """A scene with an agent that only runs in a terminal, in one permission mode, and continues no conversation."""
    return OwnedScene(capabilities={"ferret": FERRET.capabilities}).trusts().starts(agent="ferret", **more)


@pytest.mark.parametrize(
    ("start", "outcome", "message"),
    [
        ({"mode": "sdk"}, "invalid", "mode: Ferret runs in pty"),
        ({"mode": "pty", "permission_mode": "plan"}, "invalid", "permission_mode: Ferret has careful"),
        ({"mode": "pty", "resume": "s1"}, "not_possible", "Ferret cannot continue a conversation"),
        ({"mode": "pty", "resume": "s0", "fork": True}, "not_possible", "Ferret cannot fork a conversation"),
    ],
)
def test_what_the_agent_cannot_do_is_refused_before_it_starts(start: Any, outcome: str, message: str) -> None:
    of_ferret(**start).refuses(outcome, message)


def test_a_session_has_its_agent_from_its_launch_on_and_keeps_it() -> None:
    scene = of_ferret(mode="pty", permission_mode="careful").records("session.launch").folds()
    assert scene.session.agent == "ferret"
    [event] = scene.last.events
    assert event.context == Context(agent="ferret")
    scene.submits(AgentStarted(session_id="s1", at=scene.clock, process=PROCESS, terminal="here"))
    scene.submits(SwitchMode(session_id="s1", mode="tmux", by="ann", at=scene.clock))
    scene.refuses("invalid", "mode: Ferret runs in pty")
    assert scene.starts("s2", mode="pty").state.sessions["s2"].agent == "claude"


def test_a_session_that_continues_in_another_mode_keeps_its_agent() -> None:
    everything = replace(FERRET.capabilities, modes=("pty", "tmux"), resumes=True)
    scene = OwnedScene(capabilities={"ferret": everything}).is_up("pty", agent="ferret").receives("Stop")
    scene.submits(SwitchMode(session_id="s1", mode="tmux", by="ann", at=scene.clock)).ends()
    [launched] = [effect.start for effect in scene.session_effects if isinstance(effect, Launch)]
    assert (launched.agent, launched.mode, scene.session.agent) == ("ferret", "tmux", "ferret")
