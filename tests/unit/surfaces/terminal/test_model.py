"""The state of a terminal surface after messages of the daemon."""

from __future__ import annotations

import pytest

from quarterdeck.surfaces.client.live import Connected, Lost
from quarterdeck.surfaces.terminal.model import LINGER_SECONDS, SETTLE_SECONDS, STALE_SECONDS, Model
from tests.support.recorded_daemon import connected, live_message, request, resolved, session, snapshot


def connected_model(*, at: float = 100.0, **snap: list[dict[str, object]]) -> Model:
    """A model that has just connected."""
    model = Model("1.0")
    model.receive(connected("1.0"), at)
    model.receive(snapshot(**snap), at)
    return model


def model_with_request(**more: object) -> Model:
    return connected_model(sessions=[session()], requests=[request(**more)])  # type: ignore[arg-type]


def blocked_reason(model: Model, at: float = 101.0, shown_at: float | None = 100.0, focused: bool = True) -> str:
    return model.blocked_reason(next(iter(model.desk), None), at, shown_at, focused)


def test_waiting_requests_are_on_the_desk_oldest_first() -> None:
    model = connected_model(sessions=[session()], requests=[request("b", opened_at=5.0), request("a", opened_at=9.0)])
    assert [item.request_id for item in model.desk] == ["b", "a"]
    assert model.metrics.waiting == 2


def test_a_request_resolved_elsewhere_lingers_with_its_outcome_and_then_leaves() -> None:
    model = model_with_request()
    model.receive(live_message("request", resolved(request(), word="deny")), 110.0)
    assert model.pending == []
    assert [item.is_pending for item in model.desk] == [False]
    assert blocked_reason(model, 110.5).startswith("Denied by owner from cli · ")
    assert not model.remove_expired(110.0 + LINGER_SECONDS - 0.1)
    assert model.remove_expired(110.0 + LINGER_SECONDS)
    assert model.desk == []


def test_a_snapshot_that_does_not_name_a_request_ends_it() -> None:
    model = model_with_request()
    model.receive(snapshot(sessions=[session()]), 120.0)
    assert model.pending == []
    assert model.remove_expired(120.0 + LINGER_SECONDS)


def test_a_snapshot_removes_live_sessions_it_does_not_name_and_keeps_ended_ones() -> None:
    model = connected_model(sessions=[session("live"), session("gone")])
    model.add_sessions([session("old", "ended", ended_at=5.0)])
    model.receive(snapshot(sessions=[session("live")]), 101.0)
    assert sorted(model.sessions) == ["live", "old"]
    assert [s.session_id for s in model.shown_sessions()] == ["live"]
    assert [s.session_id for s in model.shown_sessions(ended=True)] == ["live", "old"]


def test_the_same_id_with_another_digest_is_another_card() -> None:
    model = model_with_request()
    first = model.desk[0]
    first.seen = True
    model.receive(live_message("request", request(digest="another")), 101.0)
    assert model.desk[0] is not first
    assert not model.desk[0].seen


@pytest.mark.law("D7")
def test_the_delivery_of_a_decision_is_known_and_an_override_is_announced() -> None:
    model = model_with_request()
    model.receive(live_message("request", resolved(request(), delivery="sent")), 101.0)
    assert [view["decision"]["delivery"] for view in model.decided] == ["sent"]
    model.receive(live_message("request", resolved(request(), delivery="overridden")), 102.0)
    assert [view["decision"]["delivery"] for view in model.decided] == ["overridden"]
    [news] = model.take_notices()
    assert news.startswith("overridden at the terminal: Allowed by owner from cli · ")
    assert model.take_notices() == []


def test_a_card_that_is_seen_focused_and_settled_may_be_decided() -> None:
    assert blocked_reason(model_with_request()) == ""


@pytest.mark.parametrize(
    ("shown_at", "focused", "why"),
    [
        (None, True, "only just appeared"),
        (101.0 - SETTLE_SECONDS + 0.01, True, "only just appeared"),
        (90.0, False, "focus"),
    ],
)
def test_no_key_decides_a_card_that_just_appeared_or_has_no_focus(
    shown_at: float | None, focused: bool, why: str
) -> None:
    assert why in blocked_reason(model_with_request(), shown_at=shown_at, focused=focused)


@pytest.mark.law("D10")
@pytest.mark.parametrize(
    "more",
    [
        {"command": "ls \u202e-la"},
        {"command": "ls\x1b[2K"},
        {"truncated": {"bytes": 5_000_000, "sha256": "0", "begins": "{"}, "tool_input": {}},
    ],
)
def test_hidden_parts_must_be_expanded_before_a_decision(more: dict[str, object]) -> None:
    model = model_with_request(**more)
    assert "press x" in blocked_reason(model)
    assert "its end" in model.blocked_reason(model.desk[0], 101.0, 100.0, True, verb="allow", expanded=True)
    assert model.blocked_reason(model.desk[0], 101.0, 100.0, True, verb="deny") == ""
    model.desk[0].seen = True
    assert blocked_reason(model) == ""


@pytest.mark.law("D10")
def test_parts_that_do_not_fit_the_card_must_be_expanded_before_a_decision() -> None:
    model = model_with_request()
    model.desk[0].overflow = "there is more below"
    assert "there is more below" in blocked_reason(model)


@pytest.mark.law("S11")
def test_decisions_are_blocked_while_the_daemon_is_gone_silent_or_refuses() -> None:
    model = model_with_request()
    assert "old" in blocked_reason(model, at=100.0 + STALE_SECONDS + 1)
    model.receive(Lost("gone"), 101.0)
    assert "old" in blocked_reason(model)
    problem = model.connection_problem(101.0)
    assert problem == "The daemon is not responding: what you see is old. Start it with: qd up"
    model.receive(connected("1.0"), 102.0)
    assert blocked_reason(model, at=102.5) == ""
    model.set_refused("the token is not accepted")
    assert "refuses" in model.connection_problem(102.0)
    assert blocked_reason(model, at=102.5) != ""


@pytest.mark.law("S11")
@pytest.mark.parametrize("sessions", [[], [session(state="unknown")]])
def test_decisions_are_blocked_when_the_state_of_the_session_is_unknown(sessions: list[dict[str, object]]) -> None:
    model = connected_model(sessions=sessions, requests=[request()])
    assert "unknown" in blocked_reason(model)


def test_a_decision_being_sent_is_not_sent_twice() -> None:
    model = model_with_request()
    model.desk[0].sending = "your allow"
    assert blocked_reason(model) == "your allow is on its way"


def test_another_version_of_the_daemon_is_reported() -> None:
    model = Model("1.0")
    model.receive(connected("2.0"), 1.0)
    assert "2.0" in model.connection_problem(1.0)
    assert model.connection_problem(1.0).endswith("restart this UI")
    model.receive(connected("0.9"), 1.0)
    assert model.connection_problem(1.0).endswith("qd stop, then qd up")


def test_a_gap_in_the_feed_is_announced() -> None:
    model = Model("1.0")
    model.receive(Connected(5, "otter", "1.0", False), 1.0)
    assert "gap" in model.take_notices()[0]


def test_waiting_sessions_come_first_and_the_others_keep_their_order() -> None:
    new, old = session("new", "running", run_started_at=9.0), session("old", "running", run_started_at=1.0)
    model = connected_model(sessions=[new, old, session("waits", started_at=2.0)])
    assert [s.session_id for s in model.shown_sessions()] == ["waits", "old", "new"]
    model.receive(live_message("session", old | {"last_event_at": 99.0, "state_at": 99.0}), 101.0)
    assert [s.session_id for s in model.shown_sessions()] == ["waits", "old", "new"]


def test_the_header_numbers_are_sums_and_an_unknown_cost_is_none() -> None:
    spent = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "cost_usd": 0.5}
    model = connected_model(sessions=[session("a", "running", usage=spent), session("b", "idle")])
    figures = model.metrics
    assert (figures.sessions, figures.running, figures.tools, figures.failures) == (2, 1, 6, 2)
    assert (figures.tokens, figures.cost, figures.overhead_seconds) == (10, 0.5, None)
    overhead = [{"session_id": "a", "calls": 2, "seconds": 0.004, "mean_seconds": 0.002}]
    model.set_stats({"hook_overhead": overhead}, 101.0)
    assert model.metrics.overhead_seconds == 0.002
    assert connected_model().metrics.cost is None


def test_the_usage_of_five_hundred_ended_sessions_is_summed_once_and_stays_right() -> None:
    spent = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "cost_usd": 0.5}
    past = [session(f"past{n}", "ended", ended_at=5.0, usage=spent) for n in range(500)]
    model = connected_model(sessions=[session("live", "running", usage=spent)])
    model.add_sessions(past)
    assert (model.metrics.tokens, model.metrics.cost, model.metrics.tools) == (5010, 250.5, 1503)
    model.receive(
        live_message("session", session("live", "ended", ended_at=9.0, usage=spent | {"input_tokens": 11})), 101.0
    )
    assert (model.metrics.tokens, model.metrics.sessions) == (5020, 0)
    model.add_sessions([past[0] | {"usage": spent | {"input_tokens": 101}}])
    assert model.metrics.tokens == 5120
    model.receive(live_message("session", past[0] | {"ended_at": None, "usage": None}), 102.0)
    assert (model.metrics.tokens, model.metrics.sessions) == (5010, 1)


def test_sessions_that_wait_at_their_own_terminal_are_counted_separately() -> None:
    here, there = session("here"), session("there", pending=0)
    model = connected_model(sessions=[here, there, session("busy", "running")], requests=[request(session_id="here")])
    assert [one.session_id for one in model.waiting_elsewhere] == ["there"]
    assert (model.metrics.waiting, model.metrics.waiting_elsewhere) == (1, 1)


def test_the_terminal_of_a_session_that_waits_elsewhere_is_searched_once() -> None:
    model = connected_model(sessions=[session("there", pending=0)])
    assert model.take_unlocated() == ["there"]
    assert model.take_unlocated() == []
    model.terminal_commands["there"] = "tmux attach"
    assert model.waiting_elsewhere[0].where == "tmux attach"
    model.receive(live_message("session", session("there", "running")), 101.0)
    assert model.take_unlocated() == []
    assert model.terminal_commands == {}


def test_sessions_of_one_project_are_named_with_the_start_of_their_ids() -> None:
    twins = [session(one, cwd="/home/ann/proj") for one in ("abcd1111", "abcd2222", "ef")]
    model = connected_model(
        sessions=[*twins, session("alone"), session("old", "ended", cwd="/home/ann/proj", ended_at=5.0)]
    )
    assert [str(model.name_of(one)) for one in ("abcd1111", "ef", "alone", "old")] == [
        "proj·abcd1",
        "proj·ef",
        "shop",
        "proj·old",
    ]
    model.receive(live_message("session", session("ef", "ended", cwd="/home/ann/proj", ended_at=9.0)), 101.0)
    assert str(model.name_of("ef")) == "proj·ef"
    assert model.name_of("abcd1111").within(9) == "p…j·abcd1"
    assert str(model.name_of("nobody-knows-it")) == "nobody-k"
