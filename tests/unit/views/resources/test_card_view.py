"""The card of a request."""

from __future__ import annotations

from quarterdeck.core.model.decisions import Allow
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.rule import Rule, Verdict
from quarterdeck.core.model.state import Request
from quarterdeck.core.risk.breakdown import RequestBreakdown, annotate
from quarterdeck.core.text.file_diff import FileDiff
from quarterdeck.views.resources.card_view import CardView, card_view, rules_view
from tests.support.scene import Scene, bash
from tests.support.views import is_read_back
from tests.unit.views.resources.test_request_view import FACTS

CHANGE = FileDiff(path="/w/app/a.py", diff="--- a\n+++ b\n+x = 1\n", added=1, compared=True, notes=("new",))


def prompted() -> Scene:
    scene = Scene().receives("UserPromptSubmit", prompt="fix it")
    return scene.receives("PermissionRequest", id="r1", **bash("make && git push", "t1"))


def card_of(scene: Scene, breakdown: RequestBreakdown, at: float = 0.0, request: Request | None = None) -> CardView:
    card = card_view(
        request or scene.request("r1"),
        FACTS,
        breakdown,
        session=scene.session,
        colours=[[(1, "name")]],
        at=at,
        others_waiting=2,
        rule=None,
    )
    assert is_read_back(card)
    return card


def test_a_card_breaks_the_command_down_and_names_its_run() -> None:
    scene = prompted()
    whole = RequestBreakdown(risk=Risk("high", ["it pushes"]), command=annotate("make && git push", "/w", "/h"))
    card = card_of(scene, whole, at=scene.clock + 2)
    assert card.command is not None
    assert [call.text for call in card.command.calls] == ["make", "git push"]
    assert list(card.risk.reasons) == ["it pushes"]
    assert card.change is None
    assert card.diff is None
    assert card.run is not None
    assert card.run.prompt == "fix it"
    assert card.session is not None
    assert card.session.cwd == "/w/app"
    assert (card.age_seconds, card.others_waiting) == (2.0, 2)


def test_a_card_shows_the_change_with_its_colours() -> None:
    card = card_of(prompted(), RequestBreakdown(risk=Risk("low", []), change=CHANGE))
    assert card.diff == CHANGE.diff
    assert card.change is not None
    assert (list(card.change.notes), card.change.colours) == (["new"], [[(1, "name")]])


def test_a_decided_request_is_as_old_as_it_was_then_and_its_run_is_over() -> None:
    scene = prompted().decides("r1", Allow())
    request = scene.request("r1")
    scene.receives("Stop")
    card = card_of(scene, RequestBreakdown(risk=Risk("low", [])), at=1e9, request=request)
    assert (card.age_seconds, card.run) == (1.0, None)


def test_the_verdict_names_the_rules_by_their_patterns() -> None:
    rule = Rule(rule_id="r", effect="allow", pattern="Bash(make:*)", scope="user", created_at=1.0, created_by="ann")
    view = rules_view(Verdict(effect="allow", rules=(rule,)), ("Bash(make)",), (), "rules")
    assert (view.effect, view.rules, view.patterns, view.trust) == ("allow", ["Bash(make:*)"], ["Bash(make)"], "rules")
