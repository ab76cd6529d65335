"""Plain, slow versions of the core's shortcuts, to compare them with: each checks every word and every node."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from quarterdeck.core.model.tool_use import ToolUse, absolute_path, is_within
from quarterdeck.core.patterns.command_paths import script_index
from quarterdeck.core.patterns.folder_sweeps import SWEEPERS
from quarterdeck.core.patterns.protected_paths import SETTINGS_FOLDERS, is_settings
from quarterdeck.core.programs.risky_options import PROGRAMS, SAME_AS, Program
from quarterdeck.core.rules.self_protection import PROGRAM_STARTERS, QD_NAMES, READ_COMMANDS, READERS
from quarterdeck.core.shell.script import Call, Script, read_script
from quarterdeck.core.shell.tree_parser import parse


def touches_protected(tool_use: ToolUse) -> bool:
    """True if a readable command touches Quarterdeck, by the path of every word from every folder the line is in."""
    own_home = tool_use.quarterdeck_home.rstrip("/").casefold()
    script = read_script(tool_use.command)
    text, cwd = tool_use.command.casefold(), tool_use.cwd.casefold()
    if any(_runs_qd(call) for call in script.calls):
        return True
    near = ".claude" in cwd or ".claude" in text or "managed-" in text
    if near or (own_home and (own_home.rpartition("/")[2] in text or is_within(cwd, own_home))):
        return _names_protected(tool_use, own_home, script)
    return any(_sweeps(word, call, tool_use, own_home) for call in script.calls for word in call.words[1:])


def _runs_qd(call: Call) -> bool:
    name, words = call.words[0].rpartition("/")[2], call.words
    if name in QD_NAMES:
        return words[1:2] not in READ_COMMANDS and words[1:3] not in READ_COMMANDS
    started = any(word.rpartition("/")[2].partition(".")[0] in QD_NAMES for word in words[1:])
    return started and name.rstrip("0123456789.") in PROGRAM_STARTERS


def _names_protected(tool_use: ToolUse, own_home: str, script: Script) -> bool:
    home = tool_use.home.casefold()
    folders = [tool_use.cwd.casefold()]
    for call in script.calls:
        words = [word.casefold() for word in call.words]
        if words[0] in ("cd", "pushd") and len(words) > 1:
            folders = [folders[0], *folders[1:][-2:], absolute_path(words[-1], folders[-1], home)]
        name = call.words[0].rpartition("/")[2]
        script_place = script_index(call)  # the pattern of a filter is not a file
        candidates = [word for index, word in enumerate(words) if index and index != script_place]
        if any(_leads_to_protected(word, name, _is_sweeping(call), folders, home, own_home) for word in candidates):
            return True
    return any(_leads_to_protected(target.casefold(), ">", False, folders, home, own_home) for target in script.writes)


def _leads_to_protected(word: str, name: str, sweeping: bool, folders: list[str], home: str, own_home: str) -> bool:
    if own_home and own_home in word:
        return True
    for text in (word, word.rpartition("=")[2]):
        for folder in folders:
            path = _path(text, folder, home)
            if own_home and is_within(path, own_home):
                return True
            if name not in READERS and (is_settings(path) or (name != "cd" and path.endswith(SETTINGS_FOLDERS))):
                return True
            if sweeping and _is_swept(text, path, folder, home, own_home):
                return True
    return False


def _path(text: str, folder: str, home: str) -> str:
    fixed = text
    for sign in "*?[{":
        fixed = fixed.partition(sign)[0]
    return absolute_path(text if fixed == text else fixed.rpartition("/")[0] or ".", folder, home)


def _sweeps(word: str, call: Call, tool_use: ToolUse, own_home: str) -> bool:
    home, cwd = tool_use.home.casefold(), tool_use.cwd.casefold()
    far = word.startswith(("/", "~", ".")) or "/.." in word
    return far and _is_sweeping(call) and _is_swept(word, _path(word.casefold(), cwd, home), cwd, home, own_home)


def _is_sweeping(call: Call) -> bool:
    name = call.words[0].rpartition("/")[2]
    found = any(word.startswith(("-delete", "-exec", "-ok")) for word in call.words)
    return name in SWEEPERS or (name == "find" and found)


def _is_swept(text: str, path: str, folder: str, home: str, own_home: str) -> bool:
    if path == folder and any(sign in text for sign in "*?[{"):
        return False
    return bool(own_home and is_within(own_home, path)) or is_within(f"{home}/.claude", path)


def known_tool(name: str) -> Program | None:
    """The table's row for a program."""
    return PROGRAMS.get(SAME_AS.get(name, name))


def uses_risky_option(program: Program, words: Sequence[str]) -> bool:
    """True if any of the words is an option in the table. Compares each option with each word."""
    for word in words:
        if word in program.words.split() or word.partition("=")[0] in program.words.split():
            return True
        name = word[2:].partition("=")[0] if word[:2] == "--" else ""
        if name and any(o.startswith(name) for o in program.longs.split()):
            return True
        if word[:1] in ("-", "+") and word[:2] != "--" and _in_cluster(program, word[1:]):
            return True
    return False


def _in_cluster(program: Program, letters: str) -> bool:
    for letter in letters:
        if letter in program.shorts:
            return True
        if letter in program.takes:
            return False
    return False


_WORDS = ("command_name", "word", "number", "raw_string", "string", "concatenation", "simple_expansion", "expansion")


def commands_of_tree(text: str) -> list[list[str]]:
    """The words of each command as tree-sitter splits them, with their quotes, node by node."""
    commands: list[list[str]] = []
    nodes: list[Node] = [parse(text.encode())]
    while nodes:
        node = nodes.pop()
        if node.type == "command":
            words = [child for child in node.children if child.type in _WORDS]
            commands.append([(word.text or b"").decode() for word in words])
        nodes += node.children[::-1]
    return commands
