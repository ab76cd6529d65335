"""Our hooks as files and as edits of settings: what is registered, how long it waits, and that only ours move."""

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.hook_setup import (
    MAX_TIMEOUT,
    MAX_WAIT_SECONDS,
    Transport,
    events,
    hook_groups,
    is_held,
    is_ours,
    nests,
    our_hooks,
    plugin_files,
    read_installed,
)
from quarterdeck.agents.claude.hooks import HOOKS
from tests.support.hooks import NEW, OLD, endpoint, hooks_of, the_hook

NEWER_EVENTS = {"DirectoryAdded", "PreModelSwitch", "PostModelSwitch"}


def test_an_http_hook_carries_token_tag_and_entrypoint_and_outwaits_the_daemon() -> None:
    assert the_hook(hook_groups(endpoint(), Transport.PLUGIN, NEW), "PermissionRequest") == {
        "type": "http",
        "url": "http://127.0.0.1:4180/hook",
        "timeout": 86420,
        "headers": {
            "Authorization": "Bearer t0ken",
            "X-Quarterdeck-Tag": "$QUARTERDECK_TAG",
            "X-Quarterdeck-Entrypoint": "$CLAUDE_CODE_ENTRYPOINT",
        },
        "allowedEnvVars": ["QUARTERDECK_TAG", "CLAUDE_CODE_ENTRYPOINT"],
    }


def test_a_command_hook_is_one_string_that_survives_blanks_in_paths() -> None:
    spaced = endpoint(python="/opt/my python/bin/python3", hook_file="/opt/it's/hook.py")
    hook = the_hook(hook_groups(spaced, Transport.COMMAND, NEW), "PermissionRequest")
    assert shlex.split(hook["command"]) == [
        "/opt/my python/bin/python3",
        *("-I", "-S", "/opt/it's/hook.py", "--socket", "/home/a/.quarterdeck/run/hook.sock", "--wait", "86410"),
    ]
    assert is_ours(hook)


@pytest.mark.parametrize("transport", [Transport.PLUGIN, Transport.HTTP])
def test_only_events_without_http_run_a_command(transport: Transport) -> None:
    groups = hook_groups(endpoint(), transport, NEW)
    commands = {event for event in groups for hook in hooks_of(groups, event) if hook["type"] == "command"}
    assert commands == {"SessionStart", "Setup"}


def test_every_event_runs_a_command_when_asked() -> None:
    groups = hook_groups(endpoint(), Transport.COMMAND, NEW)
    assert {hook["type"] for event in groups for hook in hooks_of(groups, event)} == {"command"}


def test_events_that_must_never_be_registered_are_not() -> None:
    assert HOOKS.keys() - events(NEW).keys() == {"WorktreeCreate", "MessageDisplay", "FileChanged"}


@pytest.mark.parametrize(
    ("version", "left_out"),
    [(OLD, NEWER_EVENTS), ("", NEWER_EVENTS), (NEW, set()), ("2.2.0", set()), ("10.0.0 (Claude Code)", set())],
)
def test_an_event_is_registered_with_a_claude_that_knows_it(version: str, left_out: set[str]) -> None:
    assert events("99.0.0").keys() - events(version).keys() == left_out


def test_newer_events_stand_in_a_file_of_their_own() -> None:
    files = {path: json.loads(text) for path, text in plugin_files(endpoint(), NEW).items()}
    assert files["quarterdeck/.claude-plugin/plugin.json"]["hooks"] == "./hooks/newer.json"
    assert files["quarterdeck/hooks/newer.json"]["hooks"].keys() == NEWER_EVENTS
    assert files["quarterdeck/hooks/hooks.json"]["hooks"].keys() == events(OLD).keys()


def test_an_older_claude_gets_no_file_it_cannot_read() -> None:
    files = plugin_files(endpoint(), OLD)
    assert files.keys() == {
        ".claude-plugin/marketplace.json",
        "quarterdeck/.claude-plugin/plugin.json",
        "quarterdeck/hooks/hooks.json",
    }
    assert "hooks" not in json.loads(files["quarterdeck/.claude-plugin/plugin.json"])


@pytest.mark.law("D18")
@given(
    wait=st.floats(min_value=0.001, max_value=MAX_WAIT_SECONDS),
    transport=st.sampled_from(Transport),
    version=st.sampled_from([OLD, NEW]),
    stops=st.booleans(),
)
def test_deadlines_nest_for_every_wait(wait: float, transport: Transport, version: str, stops: bool) -> None:
    installed = read_installed(hook_groups(endpoint(wait, holds_stop=stops), transport, version))
    assert {hook.event for hook in installed} == events(version).keys()
    assert all(nests(hook, wait, holds_stop=stops) for hook in installed)
    for hook in installed:
        client = hook.client_seconds or hook.timeout - 10
        assert hook.timeout <= MAX_TIMEOUT
        assert not is_held(hook, holds_stop=stops) or wait + 10 <= client <= hook.timeout - 10


@pytest.mark.law("D18")
def test_a_longer_wait_than_installed_is_noticed() -> None:
    installed = read_installed(hook_groups(endpoint(60), Transport.HTTP, NEW))
    late = {(hook.event, hook.matcher) for hook in installed if not nests(hook, 61)}
    assert late == {("PermissionRequest", ""), ("PreToolUse", "AskUserQuestion"), ("Elicitation", "")}
    assert "Stop" in {hook.event for hook in installed if not nests(hook, 60, holds_stop=True)}


@pytest.mark.law("D2")
@pytest.mark.parametrize("transport", list(Transport))
def test_whoever_is_not_held_does_not_wait_long_for_a_daemon_that_hangs(transport: Transport) -> None:
    installed = read_installed(hook_groups(endpoint(), transport, NEW))
    long = {(hook.event, hook.matcher) for hook in installed if hook.timeout > 20}
    assert long == {("PermissionRequest", ""), ("PreToolUse", "AskUserQuestion"), ("Elicitation", "")}


@pytest.mark.law("D18")
@pytest.mark.parametrize("transport", list(Transport))
@pytest.mark.parametrize("version", [OLD, NEW, ""])
def test_the_gate_stands_beside_the_observing_hook_and_outwaits_the_daemon(transport: Transport, version: str) -> None:
    plain = hook_groups(endpoint(60), transport, version)
    groups = hook_groups(endpoint(60), transport, version, enforce=True)
    *observing, group = groups["PreToolUse"]
    assert {**groups, "PreToolUse": observing} == plain
    (gate,) = group["hooks"]
    command = "/usr/bin/python3 -I -S /opt/quarterdeck/hook.py --socket /home/a/.quarterdeck/run/hook.sock --wait 70"
    assert gate == {
        "type": "command",
        "command": f"{command} --enforce || exit 2",
        "timeout": 80,
        **({"onFailure": "block"} if version == NEW else {}),
    }
    assert is_ours(gate)
    assert [hook.event for hook in read_installed(groups) if hook.enforced] == ["PreToolUse"]
    assert all(nests(hook, 60) for hook in read_installed(groups))
    assert not any(nests(hook, 61) for hook in read_installed(groups) if hook.enforced)


def test_a_gate_that_does_not_close_is_not_taken_for_one() -> None:
    groups = hook_groups(endpoint(), Transport.HTTP, NEW, enforce=True)
    gate = groups["PreToolUse"][-1]["hooks"][0]
    gate["command"] = gate["command"].removesuffix(" || exit 2")
    assert not any(hook.enforced for hook in read_installed(groups))


def test_the_plugin_carries_the_gate_on_wish() -> None:
    for enforce in (False, True):
        files = plugin_files(endpoint(), NEW, enforce=enforce)
        hooks = json.loads(files["quarterdeck/hooks/hooks.json"])["hooks"]
        assert [hook.event for hook in read_installed(hooks) if hook.enforced] == ["PreToolUse"] * enforce


def test_what_is_installed_can_be_read_back() -> None:
    installed = read_installed(hook_groups(endpoint(), Transport.HTTP, NEW))
    assert {(hook.address, hook.token) for hook in installed} == {
        ("http://127.0.0.1:4180/hook", "t0ken"),
        ("/home/a/.quarterdeck/run/hook.sock", ""),
    }


@pytest.mark.parametrize(
    "foreign",
    [
        {"type": "command", "command": "python3 /opt/hook.py"},
        {"type": "command", "command": "/usr/bin/python3 -I -S /other/tool.py --socket /x"},
        {"type": "http", "url": "http://127.0.0.1:4180/hook"},
        {"type": "http", "url": "http://x/hook", "headers": ["X-Quarterdeck-Tag"]},
        {"type": "prompt", "prompt": "is it safe?"},
        {"command": 3},
        "text",
        None,
    ],
)
def test_hooks_of_others_are_never_taken_for_ours(foreign: object) -> None:
    assert not is_ours(foreign)


def test_hooks_of_any_shape_are_read_without_a_fall() -> None:
    assert list(our_hooks({"Stop": [None, {"hooks": None}, {"hooks": [None]}], "X": 3})) == []
    assert list(our_hooks(None)) == []
