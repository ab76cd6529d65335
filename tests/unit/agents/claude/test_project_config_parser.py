"""The configuration in a project's files, read without running anything."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.project_config_parser import FILES, MAX_ENTRIES, read_project
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.core.workspace.project_config import ProjectConfig
from quarterdeck.drivers.claude.project_config_files import MAX_FILE, read_project_config
from quarterdeck.surfaces.text.project_config_text import config_lines
from quarterdeck.wire import read_json, write_json
from tests.support.hostile import SENT

SETTINGS = ".claude/settings.json"
NAMES = ("hooks", "env", "permissions", "allow", "mcpServers", "command", "args", "statusLine", "apiKeyHelper")
KEYS = st.sampled_from(NAMES) | st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def config_of(name: str, value: Any) -> Any:
    return read_project({name: json.dumps(value).encode()}, [])


def shown(config: Any) -> str:
    return "\n".join(text for _, text in config_lines(read_json(write_json(config))))


@pytest.mark.law("S9")
def test_hooks_servers_variables_and_rules_are_shown_without_secrets() -> None:
    hooks = {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh", "args": ["a b"]}]}],
        "Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:9/x"}]}],
    }
    settings = {
        "hooks": hooks,
        "env": {"API_TOKEN": "hunter2"},
        "permissions": {"allow": ["Bash(rm:*)"], "defaultMode": "acceptEdits", "deny": ["Read(x)"]},
        "apiKeyHelper": "./key.sh",
        "statusLine": {"type": "command", "command": "./line.sh"},
        "model": "opus",
    }
    words = shown(config_of(SETTINGS, settings))
    for wanted in (
        "PreToolUse Bash: ./check.sh 'a b'  (.claude/settings.json)",
        "Stop: http: http://127.0.0.1:9/x",
        "API_TOKEN",
        "Bash(rm:*)",
        "permissions.defaultMode: acceptEdits",
        "apiKeyHelper: runs ./key.sh",
        "statusLine: runs ./line.sh",
        "model",
    ):
        assert wanted in words, words
    assert "hunter2" not in words
    server = {"command": "npx", "args": ["srv", "--token", "hunter2"], "env": {"KEY": "hunter2"}}
    words = shown(
        config_of(".mcp.json", {"mcpServers": {"files": server, "far": {"type": "sse", "url": "https://x.y/"}}})
    )
    assert "files: npx srv --token •••  with KEY" in words
    assert "far: https://x.y/" in words
    assert "hunter2" not in words


def test_a_folder_without_these_files_has_an_empty_config(tmp_path: Path) -> None:
    assert read_project_config(str(tmp_path)) == ProjectConfig()
    assert "no hooks" in shown(read_project_config(str(tmp_path)))


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a":1,"a":2}', b"\xff\xfe", b'{"x":' * 200])
def test_a_file_that_cannot_be_read_is_named(content: bytes) -> None:
    for name in FILES:
        found = read_project({name: content}, [])
        assert [words.partition(":")[0] for words in found.problems] == [name]


def test_hidden_characters_are_spelled_out() -> None:
    for text in SENT:
        hooks = {text: [{"matcher": text, "hooks": [{"command": text}]}]}
        found = config_of(SETTINGS, {"hooks": hooks, "env": {text: text}, "permissions": {"allow": [text]}, text: text})
        assert not UNSEEN.search(shown(found).replace("\n", ""))


def test_entries_over_the_limit_are_counted() -> None:
    found = config_of(SETTINGS, {"permissions": {"allow": [f"Bash(x{n})" for n in range(MAX_ENTRIES + 3)]}})
    assert len(found.allows) == MAX_ENTRIES
    assert found.problems == ("3 more allows are not shown; see the files",)


@given(st.dictionaries(st.sampled_from(FILES), JSON))
def test_anything_that_is_json_is_read(files: dict[str, Any]) -> None:
    shown(read_project({name: json.dumps(value).encode() for name, value in files.items()}, []))


@pytest.mark.law("S9")
def test_links_pipes_folders_and_huge_files_are_named_and_never_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text('{"env": {"STOLEN": "1"}}')
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".claude").symlink_to(outside)
    (linked / ".mcp.json").symlink_to(outside / "settings.json")
    assert [words.partition(";")[0] for words in read_project_config(str(linked)).problems] == [
        ".claude/settings.json: is reached through a link",
        ".claude/settings.local.json: is reached through a link",
        ".mcp.json: is reached through a link",
    ]
    odd = tmp_path / "odd"
    (odd / ".claude" / "settings.json").mkdir(parents=True)
    os.mkfifo(odd / ".claude" / "settings.local.json")
    (odd / ".mcp.json").write_bytes(b" " * (MAX_FILE + 1))
    assert [words.partition(";")[0] for words in read_project_config(str(odd)).problems] == [
        ".claude/settings.json: is not a regular file",
        ".claude/settings.local.json: is not a regular file",
        ".mcp.json: is over 1 MiB",
    ]


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("no folder")
    assert "could not be read: .claude/settings.json" in shown(read_project_config(str(tmp_path)))
