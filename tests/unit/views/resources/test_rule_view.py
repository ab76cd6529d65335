"""Rules as every surface sees them."""

from __future__ import annotations

from quarterdeck.core.model.decisions import Deny
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import RuleHits
from quarterdeck.core.rules.suggestions import Suggestion
from quarterdeck.views.resources.rule_view import SUBJECT, past_request, rule_view, suggestion_view
from tests.support.scene import Scene, bash
from tests.support.views import is_read_back

RULE = Rule(rule_id="r", effect="deny", pattern="Bash(rm:*)", scope="user", created_at=1.0, created_by="ann")


def test_a_rule_counts_its_hits() -> None:
    unused, used = rule_view(RULE, None), rule_view(RULE, RuleHits(count=3, last_at=7.0))
    assert (unused.hits, unused.last_hit_at) == (0, None)
    assert (used.hits, used.last_hit_at, used.pattern) == (3, 7.0, "Bash(rm:*)")
    assert is_read_back(used)


def test_a_past_request_is_one_short_line_with_its_decision() -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("rm " + "x" * 500, "t1"))
    waits = past_request(scene.request("r1"))
    assert (waits.decision, waits.by) == (None, None)
    assert len(waits.subject) <= SUBJECT + 1
    decided = past_request(scene.decides("r1", Deny("no")).request("r1"), "you denied it")
    assert (decided.decision, decided.by, decided.surprise) == ("deny", "ann", "you denied it")


def test_a_suggestion_shows_the_requests_it_comes_from() -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("make", "t1"))
    found = Suggestion(
        effect="allow",
        pattern="Bash(make)",
        scope="user",
        scope_id=None,
        scope_path=None,
        times=4,
        last_at=2.0,
        requests=(scene.request("r1"),),
    )
    view = suggestion_view(found)
    assert is_read_back(view)
    assert (view.times, [one.request_id for one in view.examples]) == (4, ["r1"])
