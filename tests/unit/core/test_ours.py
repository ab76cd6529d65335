"""Sessions of ours: who may have one, one writer for each, and what follows when one ends."""

from __future__ import annotations

from typing import Any, Self

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.messages import (
    Heard,
    HolderGone,
    ProcessSeen,
    Reply,
    Restarted,
    Stopping,
    TimePassed,
    TrustProject,
    Unattended,
)
from quarterdeck.core.engine.prompt_queue import ahead_of, rests, waiting_prompts
from quarterdeck.core.engine.session_messages import (
    Adjust,
    Change,
    Deliver,
    Down,
    End,
    Failed,
    Finish,
    Given,
    Halt,
    Interrupt,
    Launch,
    Noted,
    Send,
    Start,
    Switch,
    TurnEnded,
    Up,
    Work,
    WorktreeChanged,
)
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Deny, NoOpinion
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import ProcessId
from quarterdeck.core.text.titles import title_of
from tests.support.scene import Scene, bash

WORK = (Launch, Deliver, Halt, Finish, Adjust)
FOLDER = "/w/app"
PROCESS = ProcessId(7, "100")


class Crew(Scene):
    """A scene with orders in it."""

    def trusts(self, path: str = FOLDER, trust: str = "full") -> Self:
        self.tells(TrustProject(path=path, trust=trust, by="ann", at=self.clock))
        return self

    def starts(self, session_id: str = "s1", mode: str = "sdk", **more: Any) -> Self:
        self.clock += 1
        given = {"cwd": FOLDER, "by": "ann", "at": self.clock, **more}
        self.tells(Start(session_id=session_id, mode=mode, **given))
        return self

    def is_up(self, mode: str = "sdk", **more: Any) -> Self:
        """A session that runs and was spoken to."""
        self.trusts().starts(mode=mode, prompt="go", **more)
        self.tells(Up(session_id="s1", at=self.clock, process=PROCESS, terminal=None if mode == "sdk" else "here"))
        self.tells(Given(session_id="s1", at=self.clock))
        self.hears("SessionStart", source="startup").hears("UserPromptSubmit", prompt="go")
        return self

    def ends(self, **more: Any) -> Self:
        self.clock += 1
        self.tells(Down(session_id="s1", at=self.clock, **more))
        return self

    @property
    def work(self) -> list[Work]:
        return [effect for effect in self.last.effects if isinstance(effect, WORK)]

    @property
    def reply(self) -> Reply:
        return next(effect for effect in self.last.effects if isinstance(effect, Reply))

    def refuses(self, outcome: str, words: str = "") -> Self:
        assert (self.reply.outcome, self.work, self.last.events) == (outcome, [], [])
        assert words in self.reply.message
        return self


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
def test_sessions_start_only_where_the_nearest_word_is_trust(trust: dict[str, str], folder: str, allowed: bool) -> None:
    crew = Crew()
    for path, word in trust.items():
        crew.trusts(path, word)
    crew.starts(cwd=folder)
    if allowed:
        crew.records("session.launch").folds()
        assert isinstance(crew.work[0], Launch)
    else:
        crew.refuses("untrusted_project", f"qd projects trust {folder}")


def test_a_worktree_is_trusted_as_its_project_is() -> None:
    Crew().trusts().starts(cwd="/home/wt/1", worktree=FOLDER).records("session.launch").folds()
    Crew().trusts("/home/wt/1").starts(cwd="/home/wt/1", worktree=FOLDER).refuses("untrusted_project")


def test_a_worktree_that_was_discarded_is_no_longer_the_session_s() -> None:
    crew = Crew().is_up(cwd="/home/wt/1", worktree=FOLDER).ends()
    about = {"session_id": "s1", "branch": "quarterdeck/s1", "path": "/home/wt/1", "base": "main", "by": "ann"}
    held = []
    for action in ("merge", "discard"):
        crew.tells(WorktreeChanged(action=action, at=crew.clock, **about)).folds()
        held.append(crew.session.ours and crew.session.ours.worktree)
    assert held == [FOLDER, None]


def test_a_session_of_ours_is_known_before_it_speaks_and_names_its_starter() -> None:
    crew = Crew().trusts().starts(prompt="do it", model="opus", permission_mode="plan").folds()
    session = crew.session
    assert (session.mode, session.agent_state, session.context.cwd) == ("sdk", AgentState.SENT, FOLDER)
    assert session.ours is not None
    assert (session.ours.status, session.ours.by) == ("starting", "ann")
    crew.tells(Up(session_id="s1", at=crew.clock, process=PROCESS)).folds()
    assert crew.session.process == PROCESS
    assert crew.session.ours is not None
    assert crew.session.ours.status == "up"


@pytest.mark.law("S4")
def test_one_writer_per_session() -> None:
    crew = Crew().trusts()
    crew.hears("SessionStart", source="startup").hears("UserPromptSubmit", prompt="go")
    crew.starts(resume="s1").refuses("session_runs", "qd fork s1")
    crew.starts("s2", resume="s1", fork=True).records("session.launch").folds()
    crew.hears("SessionEnd", reason="other")
    crew.starts(resume="s1").records("session.launch").folds()
    assert crew.last.events[0].data.resumed
    crew.starts(resume="s1").refuses("session_runs", "already runs here")
    crew.starts(resume="s1", runs_as=77).refuses("session_runs", "already runs here")


@pytest.mark.law("S4")
def test_a_process_that_was_seen_keeps_others_away_though_no_hook_told_of_it() -> None:
    Crew().trusts().starts("old", resume="old", runs_as=77).refuses("session_runs", "process 77")
    Crew().trusts().starts("old", resume="old").records("session.launch")


@pytest.mark.law("S4")
def test_what_goes_on_waits_for_the_process_it_had_before() -> None:
    crew = Crew().is_up("pty").ends(reason="its terminal was lost").starts(mode="pty", resume="s1").folds()
    assert [work.after for work in crew.work if isinstance(work, Launch)] == [PROCESS]
    fork = Crew().is_up("pty").starts("s2", resume="s1", fork=True)
    assert [work.after for work in fork.work if isinstance(work, Launch)] == [None]
    again = Crew().is_up().tells(Restarted(at=1.0))
    assert [work.after for work in again.work if isinstance(work, Launch)] == [PROCESS]


def test_an_id_is_used_once_and_the_number_of_sessions_has_a_limit() -> None:
    crew = Crew(max_sessions=2).trusts().starts("a").starts("a").refuses("already_exists")
    crew.starts("b").records("session.launch")
    crew.starts("c").refuses("too_many_sessions", "sdk.max_sessions")
    crew.tells(Down(session_id="a", at=crew.clock, code=0)).folds()
    crew.starts("c").records("session.launch")


@pytest.mark.parametrize(
    ("mode", "more", "field"), [("ssh", {}, "mode"), ("observed", {}, "mode"), ("sdk", {"shell": True}, "shell")]
)
def test_what_makes_no_session_is_named(mode: str, more: dict[str, Any], field: str) -> None:
    Crew().trusts().starts(mode=mode, **more).refuses("invalid", field)


def test_orders_are_recorded_and_carried_out_by_handle() -> None:
    crew = Crew().is_up()
    send = Send(session_id="s1", message_id="m1", prompt="more", by="bob", at=crew.clock)
    crew.tells(send).records("session.send").folds()
    assert crew.work == [Deliver(send=send, mode="sdk", handle="s1")]
    crew.tells(Interrupt(session_id="s1", by="bob", at=crew.clock)).records("session.interrupt").folds()
    assert crew.work == [Halt(mode="sdk", handle="s1")]
    crew.tells(Change(session_id="s1", by="bob", at=crew.clock, model="haiku")).records("session.change").folds()
    assert crew.work == [Adjust(mode="sdk", handle="s1", model="haiku")]
    crew.tells(End(session_id="s1", by="bob", at=crew.clock)).records("session.close").folds()
    assert crew.work == [Finish(mode="sdk", handle="s1")]
    crew.tells(send).refuses("not_running", "is ending")
    crew.ends(code=0).records("run.end", "session.exit", "session.end").is_now(AgentState.ENDED).folds()
    assert crew.last.events[1].level == "info"
    crew.tells(send).refuses("not_running", "qd resume s1")


def test_orders_to_others_sessions_say_what_to_do() -> None:
    crew = Crew().trusts()
    crew.tells(End(session_id="s9", by="bob", at=1.0)).refuses("not_found")
    crew.hears("SessionStart", source="startup")
    crew.tells(End(session_id="s1", by="bob", at=1.0)).refuses(
        "not_ours", "qd fork s1, or qd takeover s1 once it has ended"
    )


def test_a_crash_is_told_with_its_last_words_and_what_was_cut_off_and_can_be_resumed() -> None:
    crew = Crew().is_up()
    crew.ends(code=1, last_words="boom").records("run.end", "session.exit", "session.end").folds()
    exit_ = crew.last.events[1]
    assert (exit_.level, exit_.data.last_words, exit_.data.cut_off) == ("error", "boom", "go")
    crew.ends(code=1).does_nothing()
    crew.starts(resume="s1").records("session.launch").folds()
    assert crew.session.ended_at is None


def test_what_could_not_be_done_is_on_record() -> None:
    crew = Crew().is_up("pty")
    crew.tells(Failed(session_id="s1", order="send", error="a draft is open", message_id="m1", at=crew.clock))
    crew.records("session.failed").folds()


@pytest.mark.law("S4")
def test_a_session_changes_its_mode_only_after_its_first_process_has_ended() -> None:
    crew = Crew().is_up()
    switch = Switch(session_id="s1", mode="tmux", by="bob", at=crew.clock)
    crew.tells(switch).refuses("session_busy", "qd interrupt s1")
    crew.hears("Stop")
    crew.tells(switch).records("session.close").folds()
    assert crew.work == [Finish(mode="sdk", handle="s1")]
    crew.tells(switch).refuses("not_running", "ending")
    crew.ends(code=0).records("session.exit", "session.end", "session.launch").folds()
    launch = crew.work[0]
    assert isinstance(launch, Launch)
    assert (launch.start.mode, launch.start.resume, launch.start.by) == ("tmux", "s1", "bob")
    assert crew.session.mode == "tmux"
    crew.tells(Switch(session_id="s1", mode="tmux", by="bob", at=crew.clock)).refuses("invalid", "already")


@pytest.mark.law("S8")
def test_nothing_is_typed_into_a_terminal_whose_dialog_is_open() -> None:
    crew = Crew().is_up("tmux")
    crew.hears("PermissionRequest", id="a", entrypoint="cli", **bash("rm x"))
    send = Send(session_id="s1", message_id="m1", prompt="more", by="bob", at=crew.clock)
    crew.tells(send).refuses("dialog_open", "qd requests")
    crew.decides("a", Deny("no")).tells(send).records("session.send")


def test_only_the_sdk_can_be_given_another_model_from_outside() -> None:
    crew = Crew().is_up("pty")
    crew.tells(Change(session_id="s1", by="bob", at=crew.clock, model="haiku")).refuses("not_possible", "/model")


@pytest.mark.law("S1")
def test_after_a_crash_of_ours_sdk_sessions_go_on_and_say_what_was_cut_off_terminals_are_left_alone() -> None:
    crew = Crew().is_up()
    crew.tells(Restarted(at=crew.clock)).records("run.end", "session.exit", "session.end", "session.launch").folds()
    assert crew.last.events[1].data.cut_off == "go"
    launch = crew.work[0]
    assert isinstance(launch, Launch)
    assert (launch.start.resume, launch.start.mode, launch.start.by) == ("s1", "sdk", "system")
    terminal = Crew().is_up("pty")
    terminal.tells(Restarted(at=terminal.clock)).does_nothing()
    assert terminal.session.runs_here


def test_what_was_never_spoken_to_starts_anew_after_a_crash() -> None:
    crew = Crew().trusts().starts()
    crew.tells(Up(session_id="s1", at=crew.clock)).tells(Restarted(at=crew.clock)).folds()
    launch = crew.work[0]
    assert isinstance(launch, Launch)
    assert (launch.start.session_id, launch.start.resume, launch.start.unsure) == ("s1", None, True)


@pytest.mark.law("S1")
def test_what_was_spoken_to_and_has_not_answered_comes_back_however_often_we_die() -> None:
    crew = Crew().is_up()
    for _ in range(3):
        crew.tells(Restarted(at=crew.clock)).folds()
        launch = crew.work[0]
        assert isinstance(launch, Launch)
        assert (launch.start.resume, launch.start.unsure) == ("s1", True)
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result={"subtype": "success"}))
    crew.tells(Restarted(at=crew.clock)).folds()
    launch = crew.work[0]
    assert isinstance(launch, Launch)
    assert not launch.start.unsure


def test_after_clear_the_new_id_is_ours_and_the_old_one_says_where_it_went() -> None:
    crew = Crew().is_up()
    crew.hears("Stop").hears("SessionEnd", reason="clear")
    crew.tells(tagged(crew, "s2", "s1")).records("session.launch", "session.start").folds()
    assert crew.state.sessions["s2"].runs_here
    crew.tells(Send(session_id="s1", message_id="m", prompt="x", by="b", at=1.0)).refuses("not_running", "s2")
    crew.tells(Send(session_id="s2", message_id="m", prompt="x", by="b", at=1.0)).records("session.send").folds()
    assert isinstance(crew.work[0], Deliver)
    assert crew.work[0].handle == "s1"
    crew.ends(code=0).folds()
    assert crew.state.ended["s2"].ours is not None
    assert crew.state.ended["s2"].ours.status == "down"


def tagged(crew: Crew, session: str, tag: str) -> Heard:
    heard = crew.heard("SessionStart", "", session, "", {"source": "clear"})
    return replace(heard, event=replace(heard.event, context=Context(cwd=FOLDER, tag=tag)))


@pytest.mark.law("D2")
def test_in_an_sdk_session_the_sdk_asks_and_the_hook_is_answered_at_once() -> None:
    crew = Crew(attended=False, approval_seconds=60.0).is_up()
    crew.hears("PermissionRequest", id="h", **bash("rm x"))
    assert crew.last.events == []
    assert crew.answers["h"]
    heard = crew.heard("PermissionRequest", "a", "", "sdk-py", {**bash("rm x"), "tool_use_id": "t1"})
    crew.tells(replace(heard, holder="sdk")).records("permission.request").folds()
    assert crew.request("a").held
    assert crew.request("a").expires_at == heard.event.at + 60.0
    crew.tells(Unattended(at=crew.clock)).does_nothing()
    crew.tells(HolderGone(request_id="a", at=crew.clock)).records("permission.decision").folds()
    assert crew.last.events[0].data.reason == "its turn was stopped"


def test_in_an_sdk_session_nothing_is_left_to_a_terminal_and_the_request_goes_on_waiting() -> None:
    crew = Crew().is_up()
    crew.tells(replace(crew.heard("PermissionRequest", "a", "", "sdk-py", bash("rm x")), holder="sdk"))
    crew.decides("a", NoOpinion()).refuses("invalid", "without a terminal to leave it to")
    assert crew.request("a").status == "pending"
    terminal = Crew().is_up(mode="pty")
    terminal.hears("PermissionRequest", id="a", entrypoint="cli", **bash("rm x")).decides("a", NoOpinion())
    assert terminal.reply.outcome == "applied"


@pytest.mark.parametrize("attended", [True, False])
def test_a_form_in_an_sdk_session_waits_on_the_desk_while_somebody_attends(attended: bool) -> None:
    crew = Crew(attended=attended).is_up()
    form: dict[str, Any] = {"mcp_server_name": "el", "message": "Who?", "mode": "form", "requested_schema": {}}
    crew.hears("Elicitation", id="f", entrypoint="sdk-py", **form)
    assert crew.request("f").held is attended


@pytest.mark.law("D13")
def test_when_we_stop_a_question_of_the_sdk_waits_for_the_interrupt_and_is_not_denied_before() -> None:
    crew = Crew().is_up()
    crew.tells(replace(crew.heard("PermissionRequest", "a", "", "sdk-py", bash("rm x")), holder="sdk"))
    crew.hears("PermissionRequest", id="b", session="s2", **bash("rm y"))
    crew.tells(Stopping(at=crew.clock, spares_sdk=True)).folds()
    assert (crew.request("a").status, crew.request("b").status) == ("pending", "withdrawn")
    crew.tells(Stopping(at=crew.clock)).folds()
    assert crew.request("a").status == "withdrawn"


def test_a_turn_that_was_interrupted_ends_its_run_and_its_questions() -> None:
    crew = Crew().is_up()
    crew.tells(replace(crew.heard("PermissionRequest", "a", "", "sdk-py", bash("rm x")), holder="sdk"))
    result = {"subtype": "error_during_execution", "is_error": True, "num_turns": 2, "total_cost_usd": 0.5}
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result=result)).folds()
    assert [e.kind for e in crew.last.events] == ["permission.decision", "turn.result", "run.end"]
    crew.is_now(AgentState.IDLE)


INTERRUPTED = {"subtype": "error_during_execution", "is_error": True, "errors": ["[ede_diagnostic] …"]}


def test_a_turn_that_somebody_interrupted_is_no_error() -> None:
    crew = Crew().is_up()
    crew.tells(Interrupt(session_id="s1", by="bob", at=crew.clock))
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result=INTERRUPTED)).folds()
    told = crew.last.events[0]
    assert (title_of(told), told.level, told.data.is_error) == ("■ Turn interrupted", "info", True)
    crew.tells(Send(session_id="s1", message_id="m1", prompt="more", by="bob", at=crew.clock))
    crew.tells(Given(session_id="s1", at=crew.clock, message_id="m1")).folds()
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result=INTERRUPTED)).folds()
    assert (crew.last.events[0].level, "error_during_execution" in title_of(crew.last.events[0])) == ("error", True)


def test_a_denial_that_interrupts_and_an_end_interrupt_the_turn_too() -> None:
    crew = Crew().is_up()
    crew.tells(replace(crew.heard("PermissionRequest", "a", "", "sdk-py", bash("rm x")), holder="sdk"))
    crew.decides("a", Deny("no", interrupt=True))
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result=INTERRUPTED)).folds()
    assert title_of(crew.last.events[0]) == "■ Turn interrupted"
    crew = Crew().is_up()
    crew.tells(End(session_id="s1", by="bob", at=crew.clock))
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result=INTERRUPTED)).folds()
    assert title_of(crew.last.events[0]) == "■ Turn interrupted"


def test_a_fork_of_ours_begins_when_it_is_launched() -> None:
    crew = Crew().trusts().starts("f1", resume="s1", fork=True)
    launched = crew.state.sessions["f1"].transcript.forked_at
    assert launched == crew.clock
    crew.hears("SessionStart", session="f1", source="fork")
    assert crew.state.sessions["f1"].transcript.forked_at == launched


def test_an_interrupt_of_what_rests_is_told_as_such() -> None:
    crew = Crew().is_up()
    crew.hears("Stop")
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result={"subtype": "success"}))
    assert rests(crew.session)
    crew.tells(Interrupt(session_id="s1", by="bob", at=crew.clock)).records("session.interrupt").folds()
    told = crew.last.events[0]
    assert (title_of(told), told.level) == ("· Nothing to interrupt, for bob", "info")
    assert crew.work == [Halt(mode="sdk", handle="s1")], "the agent may know better"
    crew.tells(Send(session_id="s1", message_id="m1", prompt="more", by="bob", at=crew.clock))
    assert not rests(crew.session)


def test_a_prompt_knows_how_many_turns_come_before_it() -> None:
    crew = Crew().is_up()
    assert (waiting_prompts(crew.session), ahead_of(crew.session, "m1")) == (0, 0)
    for message_id in ("m1", "m2"):
        crew.tells(Send(session_id="s1", message_id=message_id, prompt="more", by="bob", at=crew.clock))
    assert [ahead_of(crew.session, message_id) for message_id in ("m1", "m2")] == [1, 2]
    assert waiting_prompts(crew.session) == 2
    crew.hears("Stop")
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result={"subtype": "success"}))
    crew.tells(Given(session_id="s1", at=crew.clock, message_id="m1")).folds()
    assert (waiting_prompts(crew.session), ahead_of(crew.session, "m2")) == (1, 1)


def test_a_turn_that_ended_well_belongs_to_the_run_that_ended() -> None:
    crew = Crew().is_up()
    crew.hears("Stop")
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result={"subtype": "success"})).records("turn.result").folds()
    assert crew.last.events[0].run_id == "s1:R1"
    crew.is_now(AgentState.SETTLED)


def test_what_only_the_sdk_says_is_kept() -> None:
    crew = Crew().is_up()
    crew.tells(Noted(session_id="s1", at=crew.clock, name="rate_limit", body={"a": 1})).records("agent.note").folds()


def test_idle_sessions_end_only_where_that_was_settled() -> None:
    crew = Crew(idle_seconds=60.0).is_up()
    crew.hears("Stop")
    crew.tells(TimePassed(at=crew.clock + 30)).does_nothing()
    crew.tells(TimePassed(at=crew.clock + 61)).records("session.close").folds()
    assert crew.work == [Finish(mode="sdk", handle="s1")]
    kept = Crew().is_up()
    kept.hears("Stop").tells(TimePassed(at=kept.clock + 9999)).does_nothing()


def test_news_of_what_is_not_ours_is_nothing() -> None:
    crew = Crew()
    crew.hears("SessionStart", source="startup")
    for news in (Up(session_id="s1", at=1.0), Down(session_id="s1", at=1.0), Down(session_id="no", at=1.0)):
        crew.tells(news).does_nothing()


def test_process_truth_keeps_its_word_for_sessions_of_ours() -> None:
    crew = Crew().is_up()
    seen = ProcessSeen(
        session_id="s1", status="idle", process=PROCESS, changed_at=crew.clock + 1, at=crew.clock + 9, answered=()
    )
    crew.tells(seen).is_now(AgentState.IDLE).folds()


@pytest.mark.law("S4")
def test_what_was_cleared_is_not_resumed_while_its_agent_goes_on_under_another_id() -> None:
    crew = Crew().is_up().hears("Stop").hears("SessionEnd", reason="clear")
    crew.tells(tagged(crew, "s2", "s1"))
    crew.starts("s1", "pty", resume="s1").refuses("session_runs", "goes on as s2")
    crew.starts("s3", resume="s1", fork=True).records("session.launch").folds()
    crew.ends(code=0).folds()
    assert crew.state.ended["s2"].ended_at is not None
    crew.starts("s1", "pty", resume="s1").records("session.launch").folds()


@pytest.mark.law("S8")
def test_a_prompt_on_its_way_keeps_a_session_where_it_is() -> None:
    crew = Crew().trusts().starts(prompt="go")
    switch = Switch(session_id="s1", mode="pty", by="bob", at=crew.clock)
    crew.tells(switch).refuses("session_busy")
    crew.tells(Up(session_id="s1", at=crew.clock, process=PROCESS)).tells(switch).refuses("session_busy")
    crew.tells(TurnEnded(session_id="s1", at=crew.clock, result={"subtype": "success"})).folds()
    assert crew.session.agent_state is AgentState.IDLE
    crew.tells(switch).records("session.close")


@pytest.mark.law("S1")
def test_what_was_to_end_when_we_died_is_ended_when_it_is_found_again() -> None:
    crew = Crew().is_up("pty").tells(End(session_id="s1", by="bob", at=1.0)).tells(Restarted(at=2.0))
    crew.tells(Up(session_id="s1", at=3.0, process=PROCESS, found=True)).records("session.up").folds()
    assert crew.work == [Finish(mode="pty", handle="s1")]
    other = Crew().is_up("pty").tells(Up(session_id="s1", at=3.0, process=PROCESS, found=True))
    assert other.work == []


def test_what_could_not_be_ended_can_be_ended_again() -> None:
    crew = Crew().is_up("tmux").tells(End(session_id="s1", by="bob", at=1.0))
    crew.tells(Failed(session_id="s1", order="end", error="tmux does not answer", at=2.0)).folds()
    crew.tells(End(session_id="s1", by="bob", at=3.0)).records("session.close").folds()


def test_what_has_ended_does_not_come_up() -> None:
    crew = Crew().trusts().starts(mode="pty").ends(code=1)
    crew.tells(Up(session_id="s1", at=crew.clock, process=PROCESS)).records()


def test_a_conversation_without_a_run_goes_on_elsewhere_once_the_agent_has_answered() -> None:
    crew = Crew().trusts().starts(prompt="/cost").tells(Up(session_id="s1", at=1.0, process=PROCESS))
    crew.tells(TurnEnded(session_id="s1", at=2.0, result={"subtype": "success"}))
    crew.tells(Switch(session_id="s1", mode="pty", by="bob", at=4.0)).ends(code=0)
    launch = crew.work[0]
    assert isinstance(launch, Launch)
    assert launch.start.resume == "s1"


def sent(crew: Crew, *message_ids: str) -> Crew:
    for message_id in message_ids:
        crew.tells(Send(session_id="s1", message_id=message_id, prompt="more", by="bob", at=crew.clock)).folds()
    return crew


@pytest.mark.law("S8")
@pytest.mark.parametrize("mode", ["sdk", "pty", "tmux"])
def test_prompts_that_were_not_seen_to_reach_the_agent_when_we_died_are_named_and_not_sent_again(mode: str) -> None:
    crew = sent(Crew().is_up(mode), "m1", "m2", "m3", "m4")
    crew.tells(Given(session_id="s1", message_id="m1", at=1.0)).folds()
    crew.hears("Stop").hears("UserPromptSubmit", prompt="more").folds()
    crew.tells(Failed(session_id="s1", order="send", error="no", message_id="m2", at=1.0)).folds()
    crew.tells(Restarted(at=crew.clock)).folds()
    failed = [e.data for e in crew.last.events if e.kind == "session.failed"]
    assert [(one.order, one.message_id) for one in failed] == [("send", "m3"), ("send", "m4")]
    assert [work for work in crew.work if isinstance(work, Deliver)] == []
    crew.tells(Restarted(at=crew.clock)).folds()
    assert [e for e in crew.last.events if e.kind == "session.failed"] == []


@pytest.mark.law("S1")
def test_the_prompt_a_session_was_started_with_is_named_too_when_nobody_knows_whether_it_arrived() -> None:
    crew = Crew().trusts().starts(prompt="go").tells(Up(session_id="s1", at=1.0, process=PROCESS))
    crew.tells(Given(session_id="s1", at=1.0)).folds()
    crew.tells(Restarted(at=crew.clock)).folds()
    crew.records("session.failed", "session.exit", "session.end", "session.launch")
    assert crew.last.events[0].data.message_id is None
    terminal = Crew().trusts().starts(mode="pty", prompt="go").tells(Restarted(at=2.0))
    terminal.does_nothing()


def test_a_prompt_that_waits_over_a_clear_is_known_under_the_new_id() -> None:
    crew = sent(Crew().is_up(), "m1", "m2")
    crew.hears("Stop").hears("SessionEnd", reason="clear").tells(tagged(crew, "s2", "s1")).folds()
    crew.tells(Given(session_id="s1", message_id="m1", at=1.0)).records("session.given").folds()
    crew.tells(TurnEnded(session_id="s1", at=1.0, result={"subtype": "success"})).folds()
    crew.tells(Given(session_id="s1", message_id="m1", at=1.0)).records()
    crew.tells(Restarted(at=crew.clock)).folds()
    assert [(e.session_id, e.data.message_id) for e in crew.last.events if e.kind == "session.failed"] == [("s2", "m2")]
