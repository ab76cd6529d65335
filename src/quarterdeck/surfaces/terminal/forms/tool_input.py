"""A tool's input as text that a person edits before allowing it, and that text read back."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from pathlib import Path
from typing import Any

from quarterdeck.core.model.tool_kinds import MAIN_FIELDS
from quarterdeck.core.patterns.rule_words import word_kind
from quarterdeck.core.text.sanitize import UNSEEN, visible
from quarterdeck.system.terminal_end import run_in_foreground

Json = dict[str, Any]
MAX_LINE = 500
"""Characters that an input of one line may start with; a longer text is left for the person to type."""


def command_field(tool_input: Json) -> str | None:
    """The field to edit as plain text: a command without hidden characters. Any other input is edited as JSON."""
    command = tool_input.get("command")
    return "command" if isinstance(command, str) and not UNSEEN.search(command) else None


def editable_text(tool_input: Json) -> str:
    """The input as text for an editor, without hidden characters: JSON that has any is escaped."""
    name = command_field(tool_input)
    if name:
        return str(tool_input[name])
    readable = json.dumps(tool_input, indent=2, ensure_ascii=False)
    return json.dumps(tool_input, indent=2) if UNSEEN.search(readable) else readable


def read_edited_input(text: str, tool_input: Json) -> Json | str:
    """The input from an edited text; or the reason why it is none, in words. Hidden characters are refused."""
    if hidden := UNSEEN.search(text):
        how = "remove it" if command_field(tool_input) else "write it as an escape, like \\u200b"
        return f"it has a hidden character, {visible(hidden.group())}: {how}"
    name = command_field(tool_input)
    if name:
        return (
            {**tool_input, name: text.removesuffix("\n")} if text.strip() else "an empty command runs nothing: deny it"
        )
    return _read_object(text)


def _read_object(text: str) -> Json | str:
    try:
        found = json.loads(text)
    except ValueError as error:
        return f"not JSON: {error}"
    return found if isinstance(found, dict) else "it must be a JSON object"


def editable_line(text: str) -> str:
    """The text an input of one line may start with: empty if it is too long or has hidden characters."""
    return "" if len(text) > MAX_LINE or UNSEEN.search(text) else text


def tool_input_line(tool_input: Json) -> str:
    """A tool's input as one line that `read_tool_input` reads back; empty if it is too long for that."""
    command = tool_input.get("command")
    text = command if isinstance(command, str) and "\n" not in command else json.dumps(tool_input)
    return editable_line(text)


def read_tool_input(tool: str, text: str) -> Json | str:
    """The tool input that the typed text means, or an error text."""
    if text.lstrip().startswith("{"):
        return _read_object(text)
    return {MAIN_FIELDS.get(word_kind(tool), "file_path"): text}


def allow_decision(tool_input: Json, edited: Json) -> Json:
    """The decision that lets an input run; an unchanged input is not sent as an edited one."""
    # JSON too, since == calls 1, 1.0 and True the same.
    is_same = edited == tool_input and json.dumps(edited, sort_keys=True) == json.dumps(tool_input, sort_keys=True)
    return {"decision": "allow"} | ({} if is_same else {"updated_input": edited})


def edit_in_editor(text: str, suffix: str) -> str:
    """The text after the person has edited it in $VISUAL or $EDITOR. The file is private and deleted afterwards."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="qd-edit-") as folder:
        file = Path(folder) / f"input.{suffix}"
        file.write_text(text, encoding="utf-8")
        run_in_foreground([*command, str(file)])
        return file.read_text(encoding="utf-8", errors="replace")
