"""Edits of Claude Code's settings: only ours move, and every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.hook_setup import (
    PLUGIN_ID,
    Endpoint,
    Groups,
    Transport,
    events,
    hook_groups,
    marketplace_entry,
)
from quarterdeck.agents.claude.hooks import HOOKS
from quarterdeck.agents.claude.settings_edit import (
    add_hooks,
    enable_plugin,
    has_ours,
    obstacles,
    read_settings,
    remove_empty,
    remove_ours,
    without_ours,
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
def test_adding_and_removing_gives_back_every_byte(settings: Any, layout: Any, groups: Groups) -> None:
    text = json.dumps(settings, **layout)
    assert remove_ours(add_hooks(text, groups)) == text
    assert remove_ours(enable_plugin(text, MARKET)) == text


@given(some_settings, layouts, some_groups)
def test_ours_stand_behind_those_of_others_and_nothing_else_changes(settings: Any, layout: Any, groups: Groups) -> None:
    after = read_settings(add_hooks(json.dumps(settings, **layout), groups))
    before = settings.get("hooks", {})
    assert after["hooks"] == {**before, **{event: [*before.get(event, []), *groups[event]] for event in groups}}
    assert {**after, "hooks": None} == {**settings, "hooks": None}


@given(some_settings, layouts, some_groups, some_groups)
def test_a_second_edit_replaces_the_first(settings: Any, layout: Any, first: Groups, second: Groups) -> None:
    text = json.dumps(settings, **layout)
    once = add_hooks(remove_ours(add_hooks(text, first)), second)
    assert once == add_hooks(text, second)
    assert add_hooks(remove_ours(once), second) == once


@given(some_settings, some_groups)
def test_others_settings_are_the_same_with_and_without_ours(settings: Any, groups: Groups) -> None:
    text = json.dumps(settings)
    assert without_ours(read_settings(enable_plugin(add_hooks(text, groups), MARKET))) == without_ours(settings)
    assert has_ours(read_settings(add_hooks(text, groups)))
    assert not has_ours(settings)


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
    assert read_settings(remove_ours(added)) == {}


def test_of_two_equal_keys_the_last_is_edited_and_it_ends() -> None:
    groups = hook_groups(endpoint(), Transport.HTTP, NEW)
    text = '{"hooks": {}, "a": 1, "hooks": {"Stop": []}}'
    added = add_hooks(text, groups)
    assert read_settings(added)["hooks"] == groups
    assert not has_ours(read_settings(remove_ours(added)))


def test_a_group_shared_with_others_keeps_theirs() -> None:
    ours = the_hook(hook_groups(endpoint(), Transport.HTTP, NEW), "Stop")
    theirs = {"type": "command", "command": "say done"}
    text = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [ours, theirs, ours]}, {"hooks": [ours]}]}})
    assert read_settings(remove_ours(text)) == {"hooks": {"Stop": [{"matcher": "", "hooks": [theirs]}]}}


def test_only_the_empty_keys_that_were_not_there_before_go() -> None:
    left = '{"enabledPlugins": {}, "extraKnownMarketplaces": {}, "model": "opus"}'
    assert remove_empty(left, {"enabledPlugins": {}}) == '{"enabledPlugins": {}, "model": "opus"}'


def test_a_marketplace_of_another_with_our_name_stays() -> None:
    text = json.dumps({"extraKnownMarketplaces": {"quarterdeck": {"source": {"source": "github", "repo": "a/b"}}}})
    assert remove_ours(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1,}', "is not valid JSON"),
        ('{"a": 1 // why\n}', "is not valid JSON"),
        ("[]", "is not a JSON object"),
        ('{"hooks": []}', "hooks is not a JSON object"),
        ("[" * 100_000, "is not valid JSON"),
    ],
)
def test_settings_that_cannot_be_edited_say_why(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
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
def test_settings_that_silence_hooks_are_told(settings: dict[str, Any], count: int) -> None:
    assert len(obstacles(settings, "http://127.0.0.1:4180/hook")) == count
