"""Reads a shell text with tree-sitter: confirms the result of the plain parser, or else collects every call it
finds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from quarterdeck.core.programs.grammar import word_set
from quarterdeck.core.shell.calls import Call, CommandSpans
from quarterdeck.core.shell.plain_parser import unquote, word_positions

BASH = Language(tree_sitter_bash.language())
_PARSER = Parser(BASH)


def _kind_ids(names: str) -> frozenset[int]:
    kinds = set(names.split())
    return frozenset(at for at in range(BASH.node_kind_count) if BASH.node_kind_for_id(at) in kinds)


_WORDS = _kind_ids("command_name word number raw_string string concatenation simple_expansion expansion")
_BLANKS = b" \t\n"

# The role of each kind of node in `tree_agrees`. All other kinds are refused.
COMMAND, INNER, SOLID, LEAF, NUMBER = range(1, 6)
_KINDS = {
    COMMAND: "command",
    INNER: "program list pipeline command_name concatenation string redirected_statement file_redirect subshell "
    "compound_statement negated_command simple_expansion expansion",
    SOLID: 'word file_descriptor " $ ${ } { ( ) ; & && || | |& > >> &> &>> >& < !',  # hold no blank
    LEAF: "raw_string string_content comment variable_name special_variable_name",
    NUMBER: "number",  # `10#$(x)` is a number that holds more
}


def _roles_by_id(kinds: Mapping[int, str]) -> bytes:
    """The role of each kind by its ID, 0 for none. Bytes are the fastest table to index."""
    roles = {at: role for role, names in kinds.items() for at in _kind_ids(names)}
    return bytes(roles.get(at, 0) for at in range(BASH.node_kind_count))


ROLES = _roles_by_id(_KINDS)
# A backslash can make a blank part of a bare word.
_ROLES_WITH_BACKSLASH = _roles_by_id(
    {**_KINDS, SOLID: _KINDS[SOLID].removeprefix("word "), LEAF: "word " + _KINDS[LEAF]}
)


def parse(data: bytes) -> Node:
    """Parse a text in UTF-8. Read the content of a node from the text, not from the node: the tree may be that of a
    text with safe letters."""
    return _PARSER.parse(data if data.isascii() else with_safe_letters(data)).root_node


_HIGH = re.compile(rb"[\xc4-\xdf].|[\xe0-\xef]..|[\xf0-\xf4]...", re.DOTALL)
_SAFE_LETTERS = {2: "é".encode(), 3: "éa".encode(), 4: "éé".encode()}


def with_safe_letters(data: bytes) -> bytes:
    """Replace each character above U+00FF by letters of the same byte length. tree-sitter-bash looks up a character
    after a brace in a C table of 256 entries without checking the bounds: `{` and U+105358 crash the process. For bash,
    all these characters are parts of words, like letters."""
    return _HIGH.sub(lambda match: _SAFE_LETTERS[len(match.group())], data)


def tree_agrees(root: Node, data: bytes, expected: CommandSpans) -> bool:
    """True if the tree holds only known kinds, covers every byte, and has the same words in the same places: as if the
    words of each command were collected from the tree and compared, without making a text of any of them."""
    if root.has_error:
        return False
    missing = expected.copy()
    uncovered = len(data.translate(None, _BLANKS))
    roles = _ROLES_WITH_BACKSLASH if 92 in data else ROLES
    nodes = [root]
    for node in nodes:  # grows meanwhile
        role = roles[node.kind_id]
        if role == COMMAND:
            start = node.start_byte
            if start not in missing:
                return False
            end, count, spread = missing.pop(start)
            # Plain letters, one blank apart, can be split in one way only. So the same number of nodes in the same span
            # means the same words, plus one node for the command and one for its name. Visiting each node would take
            # as long as the parse.
            if spread is None and node.descendant_count == count + 2 and node.end_byte == end:
                uncovered -= end - start - count + 1
                continue
            positions, covered = _word_positions(node, roles, nodes)
            if len(positions) != 2 * count or positions != (
                spread or word_positions(data[start:end].split(b" "), start)
            ):
                return False
            uncovered -= covered
        elif role == INNER:
            nodes += node.children
        elif role == SOLID:
            uncovered -= node.end_byte - node.start_byte
        elif role == LEAF or (role == NUMBER and not node.child_count):
            uncovered -= len(data[node.start_byte : node.end_byte].translate(None, _BLANKS))
        else:
            return False
    return not uncovered and not missing


def _word_positions(command: Node, roles: bytes, nodes: list[Node]) -> tuple[list[int], int]:
    """Start and end of each word, and the number of bytes covered so far. Nodes still to check are added to `nodes`."""
    positions: list[int] = []
    covered = 0
    for child in command.children:
        kind = child.kind_id
        if kind in _WORDS:
            start, end = child.start_byte, child.end_byte
            positions += (start, end)
            if roles[kind] == SOLID:
                covered += end - start
                continue
        nodes.append(child)
    return positions, covered


_DOUBTS = {
    "command_substitution": "runs a command substitution",
    "process_substitution": "runs a process substitution",
    "arithmetic_expansion": "evaluates arithmetic",
    "subscript": "uses a subscript, which is evaluated",
    "ansi_c_string": "holds an ANSI-C string ($'…')",
    "translated_string": 'holds a translated string ($"…")',
    "brace_expression": "expands braces",
    "extglob_pattern": "holds an extended file name pattern",
    "herestring_redirect": "holds a here-string",
    "heredoc_redirect": "holds a here-document",
    "function_definition": "defines a function",
    "if_statement": "branches with if",
    "for_statement": "sets a variable in a loop",
    "c_style_for_statement": "evaluates arithmetic",
    "while_statement": "loops",
    "case_statement": "branches with case",
    "test_command": "evaluates a test ([ … ] or [[ … ]])",
    "declaration_command": "sets a variable",
    "unset_command": "unsets a variable",
    "ERROR": "cannot be parsed",
}
_VIA = {
    "command_substitution": "command substitution",
    "process_substitution": "process substitution",
    "function_definition": "function",
}
_ANSI = re.compile(r"\$'((?:[^'\\]++|\\.)*+)'", re.DOTALL)
_WRITES = frozenset((">", ">>", ">|", "&>", "&>>", ">&"))


MAX_NESTING = 32


class TreeFindings:
    """Calls, doubts and files in the tree of an unclear text."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.calls: list[Call] = []
        self.doubts: dict[str, None] = {}
        self.writes: list[str] = []
        self.reads: list[str] = []
        self.texts: list[tuple[str, str]] = []  # texts that another shell runs, and what passes them to it
        self.broken = False


def read_tree(root: Node, data: bytes) -> TreeFindings:
    """Collect every call in the tree, however deeply nested, and every doubt."""
    findings = TreeFindings(data)
    findings.broken = root.has_error
    stack = [(root, "", 0)]
    while stack:
        node, via, depth = stack.pop()
        kind = node.type
        if node.is_missing:
            findings.doubts["cannot be parsed"] = None
        if kind in _DOUBTS:
            findings.doubts[_DOUBTS[kind]] = None
        if kind in _VIA:
            via = _VIA[kind]
            depth += 1
        if depth > MAX_NESTING:
            findings.doubts["nests too deeply"] = None
            continue
        if kind in ("command", "declaration_command", "unset_command", "test_command"):
            _call(findings, node, via)
        elif kind == "variable_assignment":
            _assignment(findings, node)
        elif kind in ("simple_expansion", "expansion"):
            findings.doubts[f"uses the value of {_text(findings, node)}"] = None
        elif kind == "file_redirect":
            _redirect(findings, node)
        elif kind == "heredoc_redirect":
            _here_document(findings, node)
        elif kind == "herestring_redirect":
            _here_string(findings, node)
        stack += [(child, via, depth) for child in reversed(node.children)]
    return findings


def _text(findings: TreeFindings, node: Node) -> str:
    return findings.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def loose_word(raw: str) -> str:
    """A word after quote removal, as nearly as possible: good enough to deny, never to allow."""
    raw = _ANSI.sub(lambda match: "'" + _ansi(match.group(1)).replace("'", "") + "'", raw.replace("\\\n", ""))
    return unquote(raw.replace('$"', '"'))[0]


def _ansi(text: str) -> str:
    return _ESCAPE.sub(_escaped, text)


_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b"}


def _escaped(match: re.Match[str]) -> str:
    hexes, octal, letter = match.group(1) or match.group(2), match.group(3), match.group(4)
    if hexes:
        return chr(int(hexes, 16))
    return chr(int(octal, 8)) if octal else _LETTERS.get(letter, letter)


def _call(findings: TreeFindings, node: Node, via: str) -> None:
    """Add the call of a command. After three commands in a pipe, tree-sitter takes the next line for words of the last
    one; it is a call of its own."""
    words: list[str] = []
    start, end = node.start_byte, 0
    for child in node.children:
        kind = child.type
        if end and node.type == "command" and _is_on_next_line(findings.data[end : child.start_byte]):
            _add_call(findings, words, start, end, via)
            words, start = [], child.start_byte
        end = child.end_byte
        if kind in ("variable_assignment", "variable_assignments") and node.type == "command" and not words:
            continue
        if kind in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
            continue
        words += _words(findings, child)
    _add_call(findings, words, start, node.end_byte, via)


def _is_on_next_line(gap: bytes) -> bool:
    return b"\n" in gap and b"\n" in gap.replace(b"\\\n", b"")


def _add_call(findings: TreeFindings, words: list[str], start: int, end: int, via: str) -> None:
    if not words:
        return
    source = findings.data[start:end].decode("utf-8", "replace")
    findings.calls.append(Call(tuple(words), source, _is_piped(findings.data, start), via))
    if "$" in words[0] or "`" in words[0]:
        findings.doubts["an expansion names the command"] = None
        if words[1:]:
            findings.calls.append(Call(words=tuple(words[1:]), source=source, via="an expansion"))


def _is_piped(data: bytes, at: int) -> bool:
    """True if a single | or |& comes before the position."""
    at -= 1
    while at >= 0 and data[at] in b" \t\n":
        at -= 1
    before = data[max(at - 1, 0) : at + 1]
    return before == b"|&" or (before[-1:] == b"|" and before != b"||")


_EXPRESSIONS = frozenset(("unary_expression", "binary_expression", "parenthesized_expression", "negated_command"))


def _words(findings: TreeFindings, node: Node) -> Iterator[str]:
    if node.type in _EXPRESSIONS:
        for child in node.children:
            yield from _words(findings, child)
    else:
        yield loose_word(_text(findings, node))


def _assignment(findings: TreeFindings, node: Node) -> None:
    name = _text(findings, node).partition("=")[0]
    findings.doubts[f"sets the environment variable {name}"] = None


def _redirect(findings: TreeFindings, node: Node) -> None:
    operator = ""
    target = ""
    for child in node.children:
        if child.type == "file_descriptor":
            continue
        if not operator:
            operator = child.type
        else:
            target = loose_word(_text(findings, child))
            break
    if operator in _WRITES and target != "/dev/null" and not (operator == ">&" and target.rstrip("-").isdigit()):
        findings.doubts[f"writes to {target or 'somewhere'}"] = None
        findings.writes.append(target)
    elif operator == "<" and not target.startswith("/dev/"):
        findings.reads.append(target)
    elif target.startswith(("/dev/tcp/", "/dev/udp/")):
        findings.doubts[f"connects to {target}"] = None


def _here_document(findings: TreeFindings, node: Node) -> None:
    """Add the text of a here-document that a shell runs."""
    parent = node.parent
    body = next((child for child in node.children if child.type == "heredoc_body"), None)
    if body is None or parent is None:
        return
    text = _text(findings, body)
    findings.texts += [(inner, "command substitution") for inner in re.findall(r"`([^`]*+)`", text)]
    around = _text(findings, parent).replace(text, "", 1)
    for shell in [word for word in _NAMES.findall(around) if word.rpartition("/")[2] in _SHELLS][:1]:
        findings.texts.append((text, f"{shell} here-document"))


def _here_string(findings: TreeFindings, node: Node) -> None:
    """Add the text of a here-string that a shell runs."""
    owner = _text(findings, node.parent) if node.parent is not None else ""
    for shell in [word for word in _NAMES.findall(owner.partition("<<<")[0]) if word.rpartition("/")[2] in _SHELLS][:1]:
        findings.texts.append((loose_word(_text(findings, node).removeprefix("<<<").strip()), f"{shell} here-string"))


_NAMES = re.compile(r"[^\s;&|()<>]++")


_SHELLS = word_set("bash sh dash zsh ksh mksh ash fish eval at batch ssh su")
