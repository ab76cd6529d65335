"""Edits of Claude Code's settings: only Quarterdeck's entries change, and every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.agents.claude.hook_setup import (
    PLUGIN_ID,
    Groups,
    events,
    hook_groups,
    marketplace_entry,
)
from quarterdeck.agents.claude.hooks import HOOKS
from quarterdeck.agents.claude.settings_edit import (
    add_hooks,
    enable_plugin,
    has_quarterdeck,
    obstacles,
    read_settings,
    remove_empty,
    remove_quarterdeck,
    without_quarterdeck,
)
from quarterdeck.errors import BadInput
from tests.support.hooks import NEW, endpoint, the_hook

MARKET = marketplace_entry("/home/a/.quarterdeck/claude-plugin")

texts = st.text(max_size=8)
scalars = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
foreign_hooks = st.fixed_dictionaries({"type": st.just("command"), "command": texts})
foreign_groups = st.lists(
    st.fixed_dictionaries({"matcher": texts, "hooks": st.lists(foreign_hooks, max_size=2)}), min_size=1, max_size=2
)
hook_keys = st.dictionaries(st.sampled_from(sorted(HOOKS)) | texts, foreign_groups, min_size=1, max_size=3)
some_settings = st.builds(
    lambda rest, hooks, plugins: {**rest, **hooks, **plugins},
    st.dictionaries(texts, values, max_size=4),
    st.just({}) | st.builds(lambda hooks: {"hooks": hooks}, hook_keys),
    st.just({}) | st.just({"enabledPlugins": {"other@market": True}}),
).filter(lambda settings: not settings.keys() & {"extraKnownMarketplaces"})
layouts = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {},
        {"separators": (",", ":")},
        {"indent": 2, "ensure_ascii": False},
    ]
)


def some_of(endpoint: Endpoint, transport: Transport, names: list[str]) -> Groups:
    groups = hook_groups(endpoint, transport, NEW)
    return {name: groups[name] for name in names}


some_groups = st.builds(
    some_of,
    st.builds(endpoint, st.integers(min_value=1, max_value=100_000)),
    st.sampled_from([Transport.HTTP, Transport.COMMAND]),
    st.lists(st.sampled_from(sorted(events(NEW))), min_size=1, max_size=4, unique=True),
)


@given(some_settings, layouts, some_groups)
def test_adding_and_removing_restores_every_byte(settings: Any, layout: Any, groups: Groups) -> None:
    text = json.dumps(settings, **layout)
    assert remove_quarterdeck(add_hooks(text, groups)) == text
    assert remove_quarterdeck(enable_plugin(text, MARKET)) == text


@given(some_settings, layouts, some_groups)
def test_hooks_are_added_after_all_others_and_nothing_else_changes(settings: Any, layout: Any, groups: Groups) -> None:
    after = read_settings(add_hooks(json.dumps(settings, **layout), groups))
    before = settings.get("hooks", {})
    assert after["hooks"] == {**before, **{event: [*before.get(event, []), *groups[event]] for event in groups}}
    assert {**after, "hooks": None} == {**settings, "hooks": None}


@given(some_settings, layouts, some_groups, some_groups)
def test_a_second_edit_replaces_the_first(settings: Any, layout: Any, first: Groups, second: Groups) -> None:
    text = json.dumps(settings, **layout)
    once = add_hooks(remove_quarterdeck(add_hooks(text, first)), second)
    assert once == add_hooks(text, second)
    assert add_hooks(remove_quarterdeck(once), second) == once


@given(some_settings, some_groups)
def test_other_settings_are_the_same_with_and_without_quarterdeck(settings: Any, groups: Groups) -> None:
    text = json.dumps(settings)
    assert without_quarterdeck(read_settings(enable_plugin(add_hooks(text, groups), MARKET))) == without_quarterdeck(
        settings
    )
    assert has_quarterdeck(read_settings(add_hooks(text, groups)))
    assert not has_quarterdeck(settings)


def test_an_edit_takes_the_layout_of_the_file() -> None:
    text = '{\r\n    "model": "opus",\r\n    "hooks": {}\r\n}\r\n'
    assert enable_plugin(text, {}) == (
        '{\r\n    "model": "opus",\r\n    "hooks": {},\r\n'
        '    "extraKnownMarketplaces": {\r\n        "quarterdeck": {}\r\n    },\r\n'
        f'    "enabledPlugins": {{\r\n        "{PLUGIN_ID}": true\r\n    }}\r\n}}\r\n'
    )


@pytest.mark.parametrize("blank", ["", "\n", "\ufeff", "{}", "{ }\n", "\ufeff{}"])
def test_a_blank_file_becomes_settings(blank: str) -> None:
    groups = hook_groups(endpoint(), Transport.HTTP, NEW)
    added = add_hooks(blank, groups)
    assert read_settings(added) == {"hooks": groups}
    assert read_settings(remove_quarterdeck(added)) == {}


def test_of_two_equal_keys_the_last_is_edited() -> None:
    groups = hook_groups(endpoint(), Transport.HTTP, NEW)
    text = '{"hooks": {}, "a": 1, "hooks": {"Stop": []}}'
    added = add_hooks(text, groups)
    assert read_settings(added)["hooks"] == groups
    assert not has_quarterdeck(read_settings(remove_quarterdeck(added)))


def test_a_shared_group_keeps_the_other_hooks() -> None:
    hook = the_hook(hook_groups(endpoint(), Transport.HTTP, NEW), "Stop")
    other = {"type": "command", "command": "say done"}
    text = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [hook, other, hook]}, {"hooks": [hook]}]}})
    assert read_settings(remove_quarterdeck(text)) == {"hooks": {"Stop": [{"matcher": "", "hooks": [other]}]}}


def test_only_empty_keys_that_were_not_there_before_are_removed() -> None:
    left = '{"enabledPlugins": {}, "extraKnownMarketplaces": {}, "model": "opus"}'
    assert remove_empty(left, {"enabledPlugins": {}}) == '{"enabledPlugins": {}, "model": "opus"}'


def test_another_marketplace_named_quarterdeck_stays() -> None:
    text = json.dumps({"extraKnownMarketplaces": {"quarterdeck": {"source": {"source": "github", "repo": "a/b"}}}})
    assert remove_quarterdeck(text) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1,}', "is not valid JSON"),
        ('{"a": 1 // why\n}', "is not valid JSON"),
        ("[]", "is not a JSON object"),
        ('{"hooks": []}', "hooks is not a JSON object"),
        ("[" * 100_000, "is not valid JSON"),
    ],
)
def test_settings_that_cannot_be_edited_say_why(text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        read_settings(text)


def test_an_event_of_the_wrong_shape_is_named() -> None:
    with pytest.raises(BadInput, match=r"hooks\.Stop is not a JSON array"):
        add_hooks('{"hooks": {"Stop": {}}}', hook_groups(endpoint(), Transport.HTTP, NEW))


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({}, 0),
        ({"disableAllHooks": True}, 1),
        ({"allowedHttpHookUrls": ["https://example.com/*"]}, 1),
        ({"allowedHttpHookUrls": ["http://127.0.0.1:*"]}, 0),
    ],
)
def test_settings_that_disable_hooks_are_reported(settings: dict[str, Any], count: int) -> None:
    assert len(obstacles(settings, "http://127.0.0.1:4180/hook")) == count
