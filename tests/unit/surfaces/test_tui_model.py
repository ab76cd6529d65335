"""What the terminal face knows, by what it was told."""

from __future__ import annotations

import pytest

from quarterdeck.surfaces.client.live import Connected, Lost
from quarterdeck.surfaces.terminal.model import LINGER_SECONDS, SETTLE_SECONDS, STALE_SECONDS, Model
from tests.support.tui import connected, over, request, session, snapshot, told


def heard(*, at: float = 100.0, **snap: list[dict[str, object]]) -> Model:
    """A model that has just connected."""
    model = Model("1.0")
    model.hear(connected("1.0"), at)
    model.hear(snapshot(**snap), at)
    return model


def with_one(**more: object) -> Model:
    return heard(sessions=[session()], requests=[request(**more)])  # type: ignore[arg-type]


def may_decide(model: Model, at: float = 101.0, shown_at: float | None = 100.0, focused: bool = True) -> str:
    return model.why_not(next(iter(model.desk), None), at, shown_at, focused)


def test_what_waits_is_on_the_desk_oldest_first() -> None:
    model = heard(sessions=[session()], requests=[request("b", opened_at=5.0), request("a", opened_at=9.0)])
    assert [asked.request_id for asked in model.desk] == ["b", "a"]
    assert model.metrics.waiting == 2


def test_a_request_resolved_elsewhere_lingers_with_a_word_who_did_and_then_leaves() -> None:
    model = with_one()
    model.hear(told("request", over(request(), word="deny")), 110.0)
    assert model.pending == []
    assert [asked.is_pending for asked in model.desk] == [False]
    assert may_decide(model, 110.5).startswith("Denied by owner from cli · ")
    assert not model.forget_over(110.0 + LINGER_SECONDS - 0.1)
    assert model.forget_over(110.0 + LINGER_SECONDS)
    assert model.desk == []


def test_a_snapshot_that_does_not_name_a_request_ends_it() -> None:
    model = with_one()
    model.hear(snapshot(sessions=[session()]), 120.0)
    assert model.pending == []
    assert model.forget_over(120.0 + LINGER_SECONDS)


def test_a_snapshot_lets_go_of_live_sessions_it_does_not_name_and_keeps_ended_ones() -> None:
    model = heard(sessions=[session("live"), session("gone")])
    model.listed([session("old", "ended", ended_at=5.0)])
    model.hear(snapshot(sessions=[session("live")]), 101.0)
    assert sorted(model.sessions) == ["live", "old"]
    assert [s["session_id"] for s in model.shown_sessions()] == ["live"]
    assert [s["session_id"] for s in model.shown_sessions(ended=True)] == ["live", "old"]


def test_the_same_id_with_another_digest_is_another_card() -> None:
    model = with_one()
    first = model.desk[0]
    first.seen = True
    model.hear(told("request", request(digest="another")), 101.0)
    assert model.desk[0] is not first
    assert not model.desk[0].seen


@pytest.mark.law("D7")
def test_what_became_of_a_decision_is_known_and_an_override_is_news() -> None:
    model = with_one()
    model.hear(told("request", over(request(), delivery="sent")), 101.0)
    assert [view["decision"]["delivery"] for view in model.decided] == ["sent"]
    model.hear(told("request", over(request(), delivery="overridden")), 102.0)
    assert [view["decision"]["delivery"] for view in model.decided] == ["overridden"]
    [news] = model.take_news()
    assert news.startswith("overridden at the terminal: Allowed by owner from cli · ")
    assert model.take_news() == []


def test_a_card_that_is_seen_focused_and_has_settled_may_be_decided() -> None:
    assert may_decide(with_one()) == ""


@pytest.mark.parametrize(
    ("shown_at", "focused", "why"),
    [(None, True, "just come"), (101.0 - SETTLE_SECONDS + 0.01, True, "just come"), (90.0, False, "focus")],
)
def test_no_key_decides_what_has_just_come_or_is_not_in_focus(shown_at: float | None, focused: bool, why: str) -> None:
    assert why in may_decide(with_one(), shown_at=shown_at, focused=focused)


@pytest.mark.law("D10")
@pytest.mark.parametrize(
    "more",
    [
        {"command": "ls \u202e-la"},
        {"command": "ls\x1b[2K"},
        {"truncated": {"bytes": 5_000_000, "sha256": "0", "begins": "{"}, "tool_input": {}},
    ],
)
def test_what_hides_must_be_expanded_before_it_is_decided(more: dict[str, object]) -> None:
    model = with_one(**more)
    assert "press x" in may_decide(model)
    assert "its end" in model.why_not(model.desk[0], 101.0, 100.0, True, verb="allow", expanded=True)
    assert model.why_not(model.desk[0], 101.0, 100.0, True, verb="deny") == ""
    model.desk[0].seen = True
    assert may_decide(model) == ""


@pytest.mark.law("D10")
def test_what_does_not_fit_the_card_must_be_expanded_before_it_is_decided() -> None:
    model = with_one()
    model.desk[0].overflow = "there is more below"
    assert "there is more below" in may_decide(model)


@pytest.mark.law("S11")
def test_decisions_are_off_while_the_daemon_is_away_silent_or_refuses() -> None:
    model = with_one()
    assert "old" in may_decide(model, at=100.0 + STALE_SECONDS + 1)
    model.hear(Lost("gone"), 101.0)
    assert "old" in may_decide(model)
    assert "away" in model.trouble(101.0)
    model.hear(connected("1.0"), 102.0)
    assert may_decide(model, at=102.5) == ""
    model.refused("the token is not accepted")
    assert "refuses" in model.trouble(102.0)
    assert may_decide(model, at=102.5) != ""


@pytest.mark.law("S11")
@pytest.mark.parametrize("sessions", [[], [session(state="unknown")]])
def test_decisions_are_off_where_the_state_of_the_session_is_unknown(sessions: list[dict[str, object]]) -> None:
    model = heard(sessions=sessions, requests=[request()])
    assert "unknown" in may_decide(model)


def test_what_is_on_its_way_is_not_sent_twice() -> None:
    model = with_one()
    model.desk[0].sending = "your allow"
    assert may_decide(model) == "your allow is on its way"


def test_another_version_is_told() -> None:
    model = Model("1.0")
    model.hear(connected("2.0"), 1.0)
    assert "2.0" in model.trouble(1.0)


def test_a_gap_in_the_feed_is_news() -> None:
    model = Model("1.0")
    model.hear(Connected(5, "otter", "1.0", False), 1.0)
    assert "gap" in model.take_news()[0]


def test_who_waits_comes_first_and_the_others_keep_their_order() -> None:
    new, old = session("new", "running", started_at=9.0), session("old", "running", started_at=1.0)
    model = heard(sessions=[old, new, session("waits", started_at=2.0)])
    assert [s["session_id"] for s in model.shown_sessions()] == ["waits", "new", "old"]
    model.hear(told("session", old | {"last_event_at": 99.0}), 101.0)
    assert [s["session_id"] for s in model.shown_sessions()] == ["waits", "new", "old"]


def test_the_figures_are_summed_and_an_unknown_cost_is_none() -> None:
    spent = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "cost_usd": 0.5}
    model = heard(sessions=[session("a", "running", usage=spent), session("b", "idle")])
    figures = model.metrics
    assert (figures.sessions, figures.running, figures.tools, figures.failures) == (2, 1, 6, 2)
    assert (figures.tokens, figures.cost, figures.overhead_seconds) == (10, 0.5, None)
    overhead = [{"session_id": "a", "calls": 2, "seconds": 0.004, "mean_seconds": 0.002}]
    model.measured({"hook_overhead": overhead}, 101.0)
    assert model.metrics.overhead_seconds == 0.002
    assert heard().metrics.cost is None


def test_what_five_hundred_ended_sessions_used_is_counted_once_and_kept_true() -> None:
    spent = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "cost_usd": 0.5}
    past = [session(f"past{n}", "ended", ended_at=5.0, usage=spent) for n in range(500)]
    model = heard(sessions=[session("live", "running", usage=spent)])
    model.listed(past)
    assert (model.metrics.tokens, model.metrics.cost, model.metrics.tools) == (5010, 250.5, 1503)
    model.hear(told("session", session("live", "ended", ended_at=9.0, usage=spent | {"input_tokens": 11})), 101.0)
    assert (model.metrics.tokens, model.metrics.sessions) == (5020, 0)
    model.listed([past[0] | {"usage": spent | {"input_tokens": 101}}])
    assert model.metrics.tokens == 5120
    model.hear(told("session", past[0] | {"ended_at": None, "usage": None}), 102.0)
    assert (model.metrics.tokens, model.metrics.sessions) == (5010, 1)


def test_who_waits_at_a_terminal_of_its_own_is_counted_apart() -> None:
    here, there = session("here"), session("there", pending=0)
    model = heard(sessions=[here, there, session("busy", "running")], requests=[request(session_id="here")])
    assert [one["session_id"] for one in model.standing] == ["there"]
    assert (model.metrics.waiting, model.metrics.standing) == (1, 1)


def test_the_terminal_of_who_waits_elsewhere_is_looked_for_once() -> None:
    model = heard(sessions=[session("there", pending=0)])
    assert model.take_unplaced() == ["there"]
    assert model.take_unplaced() == []
    model.places["there"] = "tmux attach"
    assert model.standing[0]["where"] == "tmux attach"
    model.hear(told("session", session("there", "running")), 101.0)
    assert model.take_unplaced() == []
    assert model.places == {}


def test_sessions_of_one_project_are_told_apart_by_their_ids() -> None:
    twins = [session(one, cwd="/home/ann/proj") for one in ("abcd1111", "abcd2222", "ef")]
    model = heard(sessions=[*twins, session("alone"), session("old", "ended", cwd="/home/ann/proj", ended_at=5.0)])
    assert [str(model.name_of(one)) for one in ("abcd1111", "ef", "alone", "old")] == [
        "proj·abcd1",
        "proj·ef",
        "shop",
        "proj·old",
    ]
    model.hear(told("session", session("ef", "ended", cwd="/home/ann/proj", ended_at=9.0)), 101.0)
    assert str(model.name_of("ef")) == "proj·ef"
    assert model.name_of("abcd1111").within(9) == "p…j·abcd1"
    assert str(model.name_of("nobody-knows-it")) == "nobody-k"
