"""Views as a client reads them."""

from __future__ import annotations

import pytest
from msgspec import Struct

from quarterdeck.errors import Refused
from quarterdeck.surfaces.client.view_reader import read_view, read_views
from quarterdeck.views.resources.card_view import CardView
from quarterdeck.views.resources.daemon_view import SettingView
from quarterdeck.views.resources.event_view import EventView
from quarterdeck.views.resources.request_view import RequestView
from quarterdeck.views.resources.rule_view import ExplainedView, RuleView
from quarterdeck.views.resources.session_view import SessionView, session_view
from quarterdeck.views.resources.stats_view import StatsView
from tests.support.scene import Scene
from tests.support.views import as_json

VIEWS = (SessionView, RequestView, CardView, EventView, RuleView, ExplainedView, StatsView, SettingView)


@pytest.mark.parametrize("shape", VIEWS)
def test_a_view_can_be_read_whatever_an_older_daemon_leaves_out(shape: type[Struct]) -> None:
    view = read_view(shape, {})
    assert isinstance(view, shape)
    assert as_json(read_view(shape, as_json(view))) == as_json(view)


@pytest.mark.parametrize("left_out", SessionView.__struct_fields__)
def test_each_field_of_a_session_may_be_missing(left_out: str) -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="fix it")
    whole = as_json(session_view(scene.session, runner_id="otter"))
    read = as_json(read_view(SessionView, {name: value for name, value in whole.items() if name != left_out}))
    assert {**read, left_out: None} == {**whole, left_out: None}


def test_a_newer_daemon_may_add_fields() -> None:
    view = read_view(SessionView, {"session_id": "s1", "mood": "good", "counters": {"tool_uses": 3, "hugs": 1}})
    assert (view.session_id, view.counters.tool_uses, view.counters.blocks) == ("s1", 3, 0)
    assert view.actions == []


def test_a_field_keeps_its_name_on_the_wire() -> None:
    assert read_view(SettingView, {"key": "port", "from": "config.yaml"}).origin == "config.yaml"


def test_a_field_of_another_type_is_refused_in_words() -> None:
    with pytest.raises(Refused, match=r"cannot be read: .*`int`.*pending.*restart"):
        read_view(SessionView, {"pending": "many"})


def test_lists_are_read_whole() -> None:
    assert [one.session_id for one in read_views(SessionView, [{"session_id": "a"}, {"session_id": "b"}])] == ["a", "b"]
