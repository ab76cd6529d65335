"""What the files of a project would do in a session, read without running anything."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.project_config import FILES, MOST, read_project
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.drivers.claude.project_config import MAX_FILE, brought_by
from quarterdeck.surfaces.text.project_config import brings_lines
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


def brought(name: str, value: Any) -> Any:
    return read_project({name: json.dumps(value).encode()}, [])


def told(brings: Any) -> str:
    return "\n".join(text for _, text in brings_lines(read_json(write_json(brings))))


@pytest.mark.law("S9")
def test_hooks_servers_variables_and_rules_are_told_and_no_secret_is() -> None:
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
    words = told(brought(SETTINGS, settings))
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
    words = told(brought(".mcp.json", {"mcpServers": {"files": server, "far": {"type": "sse", "url": "https://x.y/"}}}))
    assert "files: npx srv --token •••  with KEY" in words
    assert "far: https://x.y/" in words
    assert "hunter2" not in words


def test_a_folder_without_any_of_these_files_brings_nothing(tmp_path: Path) -> None:
    assert brought_by(str(tmp_path)).is_nothing
    assert "no hooks" in told(brought_by(str(tmp_path)))


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a":1,"a":2}', b"\xff\xfe", b'{"x":' * 200])
def test_a_file_that_cannot_be_read_is_named(content: bytes) -> None:
    for name in FILES:
        found = read_project({name: content}, [])
        assert [words.partition(":")[0] for words in found.troubles] == [name]


def test_what_hides_in_them_is_spelled_out() -> None:
    for text in SENT:
        hooks = {text: [{"matcher": text, "hooks": [{"command": text}]}]}
        found = brought(SETTINGS, {"hooks": hooks, "env": {text: text}, "permissions": {"allow": [text]}, text: text})
        assert not UNSEEN.search(told(found).replace("\n", ""))


def test_more_than_can_be_shown_is_said() -> None:
    found = brought(SETTINGS, {"permissions": {"allow": [f"Bash(x{n})" for n in range(MOST + 3)]}})
    assert len(found.allows) == MOST
    assert found.troubles == ("3 more allows are not shown; look at the files",)


@given(st.dictionaries(st.sampled_from(FILES), JSON))
def test_anything_that_is_json_is_read(files: dict[str, Any]) -> None:
    told(read_project({name: json.dumps(value).encode() for name, value in files.items()}, []))


@pytest.mark.law("S9")
def test_links_pipes_folders_and_huge_files_are_named_and_never_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text('{"env": {"STOLEN": "1"}}')
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".claude").symlink_to(outside)
    (linked / ".mcp.json").symlink_to(outside / "settings.json")
    assert [words.partition(";")[0] for words in brought_by(str(linked)).troubles] == [
        ".claude/settings.json: is reached through a link",
        ".claude/settings.local.json: is reached through a link",
        ".mcp.json: is reached through a link",
    ]
    odd = tmp_path / "odd"
    (odd / ".claude" / "settings.json").mkdir(parents=True)
    os.mkfifo(odd / ".claude" / "settings.local.json")
    (odd / ".mcp.json").write_bytes(b" " * (MAX_FILE + 1))
    assert [words.partition(";")[0] for words in brought_by(str(odd)).troubles] == [
        ".claude/settings.json: is no regular file",
        ".claude/settings.local.json: is no regular file",
        ".mcp.json: is over 1 MiB",
    ]


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("no folder")
    assert "not read: .claude/settings.json" in told(brought_by(str(tmp_path)))
