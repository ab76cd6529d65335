"""The plain, slow ways of what the core does quickly: each looks at every word and every node."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from quarterdeck.core.model.tool_use import Subject, from_there, is_within
from quarterdeck.core.patterns.command_paths import script_place
from quarterdeck.core.patterns.protected_paths import FOLDERS, is_settings
from quarterdeck.core.rules.self_protection import OUR_NAMES, READERS, READING, RUNNERS, SWEEPS
from quarterdeck.core.shell.programs import SAME_AS, TOOLS, Tool
from quarterdeck.core.shell.script import Call, Script, read_script
from quarterdeck.core.shell.tree_parser import parse


def guarded(subject: Subject) -> bool:
    """Whether a command that can be read touches us, by the path of every word from every folder the line is in."""
    ours = subject.our_home.rstrip("/").casefold()
    script = read_script(subject.command)
    text, cwd = subject.command.casefold(), subject.cwd.casefold()
    if any(_runs_us(call) for call in script.calls):
        return True
    near = ".claude" in cwd or ".claude" in text or "managed-" in text
    if near or (ours and (ours.rpartition("/")[2] in text or is_within(cwd, ours))):
        return _names_us(subject, ours, script)
    return any(_sweeps(word, call, subject, ours) for call in script.calls for word in call.words[1:])


def _runs_us(call: Call) -> bool:
    name, words = call.words[0].rpartition("/")[2], call.words
    if name in OUR_NAMES:
        return words[1:2] not in READING and words[1:3] not in READING
    started = any(word.rpartition("/")[2].partition(".")[0] in OUR_NAMES for word in words[1:])
    return started and name.rstrip("0123456789.") in RUNNERS


def _names_us(subject: Subject, ours: str, script: Script) -> bool:
    home = subject.home.casefold()
    places = [subject.cwd.casefold()]
    for call in script.calls:
        words = [word.casefold() for word in call.words]
        if words[0] in ("cd", "pushd") and len(words) > 1:
            places = [places[0], *places[1:][-2:], from_there(words[-1], places[-1], home)]
        name = call.words[0].rpartition("/")[2]
        unread = script_place(call)  # the pattern of a filter is no file
        named = [word for place, word in enumerate(words) if place and place != unread]
        if any(_is_ours(word, name, _is_sweeping(call), places, home, ours) for word in named):
            return True
    return any(_is_ours(target.casefold(), ">", False, places, home, ours) for target in script.writes)


def _is_ours(word: str, name: str, sweeping: bool, places: list[str], home: str, ours: str) -> bool:
    if ours and ours in word:
        return True
    for text in (word, word.rpartition("=")[2]):
        for place in places:
            path = _path(text, place, home)
            if ours and is_within(path, ours):
                return True
            if name not in READERS and (is_settings(path) or (name != "cd" and path.endswith(FOLDERS))):
                return True
            if sweeping and _is_swept(text, path, place, home, ours):
                return True
    return False


def _path(text: str, place: str, home: str) -> str:
    known = text
    for sign in "*?[{":
        known = known.partition(sign)[0]
    return from_there(text if known == text else known.rpartition("/")[0] or ".", place, home)


def _sweeps(word: str, call: Call, subject: Subject, ours: str) -> bool:
    home, cwd = subject.home.casefold(), subject.cwd.casefold()
    far = word.startswith(("/", "~", ".")) or "/.." in word
    return far and _is_sweeping(call) and _is_swept(word, _path(word.casefold(), cwd, home), cwd, home, ours)


def _is_sweeping(call: Call) -> bool:
    name = call.words[0].rpartition("/")[2]
    found = any(word.startswith(("-delete", "-exec", "-ok")) for word in call.words)
    return name in SWEEPS or (name == "find" and found)


def _is_swept(text: str, path: str, place: str, home: str, ours: str) -> bool:
    if path == place and any(sign in text for sign in "*?[{"):
        return False
    return bool(ours and is_within(ours, path)) or is_within(f"{home}/.claude", path)


def known_tool(name: str) -> Tool | None:
    """What the table says of a program, or of a subcommand as `git archive`."""
    return TOOLS.get(SAME_AS.get(name, name))


def uses(known: Tool, words: Sequence[str]) -> bool:
    """Whether any of the words is an option of the table, each option compared with each word."""
    for word in words:
        if word in known.words.split() or word.partition("=")[0] in known.words.split():
            return True
        said = word[2:].partition("=")[0] if word[:2] == "--" else ""
        if said and said not in known.harmless.split() and any(o.startswith(said) for o in known.longs.split()):
            return True
        if word[:1] in ("-", "+") and word[:2] != "--" and _in_cluster(known, word[1:]):
            return True
    return False


def _in_cluster(known: Tool, letters: str) -> bool:
    for letter in letters:
        if letter in known.shorts:
            return True
        if letter in known.takes:
            return False
    return False


_WORDS = ("command_name", "word", "number", "raw_string", "string", "concatenation", "simple_expansion", "expansion")


def commands_of_tree(text: str) -> list[list[str]]:
    """The words of each command as tree-sitter cuts them, quotes and all, node by node."""
    found: list[list[str]] = []
    nodes: list[Node] = [parse(text.encode())]
    while nodes:
        node = nodes.pop()
        if node.type == "command":
            words = [child for child in node.children if child.type in _WORDS]
            found.append([(word.text or b"").decode() for word in words])
        nodes += node.children[::-1]
    return found
