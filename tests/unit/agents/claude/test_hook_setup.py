"""Quarterdeck's hooks as files and in settings: their registration, their time-outs, and recognising them."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.agents.claude.hook_setup import (
    GATE_BROKEN,
    MAX_TIMEOUT,
    MAX_WAIT_SECONDS,
    Groups,
    events,
    gate_groups,
    hook_groups,
    is_held,
    is_quarterdeck_hook,
    plugin_files,
    quarterdeck_hooks,
    read_installed,
    timeouts_nest,
)
from quarterdeck.agents.claude.hooks import HOOKS
from tests.support.hooks import NEW, OLD, endpoint, hooks_of, the_hook

NEWER_EVENTS = {"DirectoryAdded", "PreModelSwitch", "PostModelSwitch"}


@pytest.mark.law("E15")
def test_an_http_hook_only_observes_and_carries_token_tag_and_entrypoint() -> None:
    groups = hook_groups(endpoint(), Transport.HTTP, NEW)
    assert the_hook(groups, "PostToolUse") == {
        "type": "http",
        "url": "http://127.0.0.1:4180/hook",
        "timeout": 2,
        "headers": {
            "Authorization": "Bearer t0ken",
            "X-Quarterdeck-Tag": "$QUARTERDECK_TAG",
            "X-Quarterdeck-Entrypoint": "$CLAUDE_CODE_ENTRYPOINT",
        },
        "allowedEnvVars": ["QUARTERDECK_TAG", "CLAUDE_CODE_ENTRYPOINT"],
    }
    http = [hook for hook in read_installed(groups) if hook.client_seconds == 0]
    assert {hook.timeout for hook in http} == {2}
    assert not any(is_held(hook, holds_stop=False) for hook in http)


def test_a_command_hook_is_one_string_that_survives_blanks_in_paths() -> None:
    spaced = endpoint(python="/opt/my python/bin/python3", hook_file="/opt/it's/hook.py")
    hook = the_hook(hook_groups(spaced, Transport.COMMAND, NEW), "PermissionRequest")
    assert shlex.split(hook["command"]) == [
        "/opt/my python/bin/python3",
        *("-I", "-S", "/opt/it's/hook.py", "--socket", "/home/a/.quarterdeck/run/hook.sock", "--wait", "86410"),
        *("||", "exit", "0"),
    ]
    (read,) = read_installed({"X": [{"hooks": [hook]}]})
    assert read.programs == ("/opt/my python/bin/python3", "/opt/it's/hook.py")
    assert is_quarterdeck_hook(hook)


def types_of(groups: Groups, event: str) -> list[str]:
    return [hook["type"] for hook in hooks_of(groups, event)]


def test_with_the_http_transport_hooks_that_may_wait_run_a_command() -> None:
    groups = hook_groups(endpoint(), Transport.HTTP, NEW)
    commands = {event for event in groups if types_of(groups, event) == ["command"]}
    assert commands == {"SessionStart", "Setup", "PermissionRequest", "Elicitation"}
    assert types_of(groups, "PreToolUse") == ["command", "http"]
    assert types_of(hook_groups(endpoint(holds_stop=True), Transport.HTTP, NEW), "Stop") == ["command"]


@pytest.mark.law("E8")
@pytest.mark.parametrize("transport", [Transport.PLUGIN, Transport.COMMAND])
def test_otherwise_every_event_runs_a_command_that_is_silent_when_it_fails(transport: Transport) -> None:
    groups = hook_groups(endpoint(), transport, NEW)
    hooks = [hook for event in groups for hook in hooks_of(groups, event)]
    assert {hook["type"] for hook in hooks} == {"command"}
    assert all(hook["command"].endswith(" || exit 0") for hook in hooks)


def test_events_that_must_never_be_registered_are_not() -> None:
    assert HOOKS.keys() - events(NEW).keys() == {"WorktreeCreate", "MessageDisplay", "FileChanged"}


@pytest.mark.parametrize(
    ("version", "left_out"),
    [(OLD, NEWER_EVENTS), ("", NEWER_EVENTS), (NEW, set()), ("2.2.0", set()), ("10.0.0 (Claude Code)", set())],
)
def test_an_event_is_registered_with_a_claude_that_knows_it(version: str, left_out: set[str]) -> None:
    assert events("99.0.0").keys() - events(version).keys() == left_out


def test_newer_events_have_a_file_of_their_own() -> None:
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
    assert all(timeouts_nest(hook, wait, holds_stop=stops) for hook in installed)
    for hook in installed:
        client = hook.client_seconds or hook.timeout - 10
        assert hook.timeout <= MAX_TIMEOUT
        assert not is_held(hook, holds_stop=stops) or wait + 10 <= client <= hook.timeout - 10


@pytest.mark.law("D18")
def test_a_longer_wait_than_installed_is_noticed() -> None:
    installed = read_installed(hook_groups(endpoint(60), Transport.HTTP, NEW))
    late = {(hook.event, hook.matcher) for hook in installed if not timeouts_nest(hook, 61)}
    assert late == {("PermissionRequest", ""), ("PreToolUse", "AskUserQuestion"), ("Elicitation", "")}
    assert "Stop" in {hook.event for hook in installed if not timeouts_nest(hook, 60, holds_stop=True)}


@pytest.mark.law("D2")
@pytest.mark.parametrize("transport", list(Transport))
def test_a_call_that_is_not_held_does_not_wait_long_for_a_daemon_that_hangs(transport: Transport) -> None:
    installed = read_installed(hook_groups(endpoint(), transport, NEW))
    long = {(hook.event, hook.matcher) for hook in installed if hook.timeout > 20}
    assert long == {("PermissionRequest", ""), ("PreToolUse", "AskUserQuestion"), ("Elicitation", "")}


@pytest.mark.law("D18")
@pytest.mark.parametrize("version", [OLD, NEW, ""])
def test_the_gate_outwaits_the_daemon(version: str) -> None:
    groups = gate_groups(endpoint(60), version)
    gate = the_hook(groups, "PreToolUse")
    command = "/usr/bin/python3 -I -S /opt/quarterdeck/hook.py --socket /home/a/.quarterdeck/run/hook.sock --wait 70"
    assert gate["command"].startswith(f"{command} --enforce || {{ ")
    assert (gate["timeout"], gate.get("onFailure")) == (80, "block" if version == NEW else None)
    assert is_quarterdeck_hook(gate)
    (read,) = read_installed(groups)
    assert (read.enforced, read.programs) == (True, ("/usr/bin/python3", "/opt/quarterdeck/hook.py"))
    assert timeouts_nest(read, 60)
    assert not timeouts_nest(read, 61)


FORWARDERS = {
    "missing": (None, True),
    "a block": ("import os; os.write(2, b'no\\n'); os._exit(2)", False),
    "an error": ("raise SystemExit(1)", True),
    "killed": ("import os; os.kill(os.getpid(), 9)", True),
}


@pytest.mark.law("D19")
@pytest.mark.parametrize("name", FORWARDERS)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_gate_blocks_and_names_the_fix_unless_the_forwarder_has(tmp_path: Path, name: str, shell: str) -> None:
    program, names_the_fix = FORWARDERS[name]
    forwarder = tmp_path / "it's hook.py"
    forwarder.write_text(program or "")
    if program is None:
        forwarder.unlink()
    assert blocked(shell, endpoint(python=sys.executable, hook_file=str(forwarder))) is names_the_fix


@pytest.mark.law("D19")
def test_the_gate_blocks_without_python(tmp_path: Path) -> None:
    forwarder = tmp_path / "hook.py"
    forwarder.write_text("")
    assert blocked("sh", endpoint(python="/nowhere/python", hook_file=str(forwarder)))


def blocked(shell: str, at: Endpoint) -> bool:
    """Run the gate, which must block; true if its shell names the fix."""
    command = the_hook(gate_groups(at, NEW), "PreToolUse")["command"]
    done = subprocess.run([shell, "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr.splitlines()[-1] == GATE_BROKEN


def test_a_gate_that_does_not_close_is_not_taken_for_one() -> None:
    gate = the_hook(gate_groups(endpoint(), NEW), "PreToolUse")
    for wrong in (" || true", " || { exit 0; }", ""):
        changed = {**gate, "command": gate["command"].partition(" || ")[0] + wrong}
        (read,) = read_installed({"PreToolUse": [{"hooks": [changed]}]})
        assert not read.enforced


def test_the_gate_of_an_older_quarterdeck_is_recognised() -> None:
    command = "/usr/bin/python3 -I -S /home/a/hook.py --socket /home/a/hook.sock --wait 70 --enforce || exit 2"
    (read,) = read_installed({"PreToolUse": [{"hooks": [{"type": "command", "command": command, "timeout": 80}]}]})
    assert read.enforced


@pytest.mark.law("D19")
def test_the_plugin_has_no_gate() -> None:
    hooks = json.loads(plugin_files(endpoint(), NEW)["quarterdeck/hooks/hooks.json"])["hooks"]
    assert not any(hook.enforced for hook in read_installed(hooks))


def test_installed_hooks_can_be_read_back() -> None:
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
def test_other_hooks_are_never_taken_for_quarterdecks(foreign: object) -> None:
    assert not is_quarterdeck_hook(foreign)


def test_hooks_of_any_shape_can_be_read() -> None:
    assert list(quarterdeck_hooks({"Stop": [None, {"hooks": None}, {"hooks": [None]}], "X": 3})) == []
    assert list(quarterdeck_hooks(None)) == []
