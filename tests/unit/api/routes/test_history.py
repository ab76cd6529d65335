"""The views of runs and actors have every field of their records."""

from __future__ import annotations

from quarterdeck.views.resources.run_view import ActorView, PastRunView
from quarterdeck.views.run_history import ActorRecord, RunRecord


def test_a_view_has_the_fields_of_its_record_and_the_machine() -> None:
    assert set(PastRunView.__struct_fields__) == {*RunRecord.__struct_fields__, "runner_id"}
    assert set(ActorView.__struct_fields__) == {*ActorRecord.__struct_fields__, "runner_id"}
