"""The runs of a session as every surface sees them."""

from __future__ import annotations

from quarterdeck.core.model.event_data.session_data import Usage
from quarterdeck.views.resources.run_view import run_view
from quarterdeck.views.run_history import RunRecord
from tests.support.views import is_read_back
from tests.unit.views.test_run_history import prompted, runs


def test_a_run_has_its_actors_and_counters() -> None:
    [record] = runs(prompted().receives("SubagentStart", agent_id="a1", agent_type="Explore"))
    view = run_view(record)
    assert is_read_back(view)
    assert (view.run_id, view.status, view.prompt) == ("s1:R1", "running", "fix the login")
    assert view.actors == ["agent:root", "subagent:a1"]
    assert view.usage is None


def test_its_cost_is_rounded_and_unknown_without_a_price() -> None:
    def with_cost(cost: float | None) -> RunRecord:
        [record] = runs(prompted())
        return RunRecord(**{name: getattr(record, name) for name in record.__struct_fields__} | {"usage": of(cost)})

    def of(cost: float | None) -> Usage:
        return Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4, cost_usd=cost)

    priced, unpriced = run_view(with_cost(0.12345678)).usage, run_view(with_cost(None)).usage
    assert priced is not None
    assert (priced.cost_usd, priced.output_tokens) == (0.123457, 2)
    assert unpriced is not None
    assert unpriced.cost_usd is None
