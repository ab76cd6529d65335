"""Tree-sitter's reading of a shell text: whether it agrees with the plain one, and all it shows when it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from quarterdeck.core.shell.calls import Call, Stretches
from quarterdeck.core.shell.plain_parser import places_of, unquote
from quarterdeck.core.shell.programs import named

BASH = Language(tree_sitter_bash.language())
_PARSER = Parser(BASH)


def _ids(names: str) -> frozenset[int]:
    wanted = set(names.split())
    return frozenset(at for at in range(BASH.node_kind_count) if BASH.node_kind_for_id(at) in wanted)


_WORDS = _ids("command_name word number raw_string string concatenation simple_expansion expansion")
_BLANKS = b" \t\n"

# What a kind of node is to the check below; all others are refused.
COMMAND, INNER, SOLID, LEAF, NUMBER = range(1, 6)
_KINDS = {
    COMMAND: "command",
    INNER: "program list pipeline command_name concatenation string redirected_statement file_redirect subshell "
    "compound_statement negated_command simple_expansion expansion",
    SOLID: 'word file_descriptor " $ ${ } { ( ) ; & && || | |& > >> &> &>> >& < !',  # hold no blank
    LEAF: "raw_string string_content comment variable_name special_variable_name",
    NUMBER: "number",  # `10#$(x)` is a number that holds more
}


def _roles(kinds: Mapping[int, str]) -> bytes:
    """The role of each kind by its id, 0 for none."""
    found = {at: role for role, names in kinds.items() for at in _ids(names)}
    return bytes(found.get(at, 0) for at in range(BASH.node_kind_count))


ROLES = _roles(_KINDS)
# A backslash can make a blank part of a bare word.
_ROLES_WITH_BACKSLASH = _roles({**_KINDS, SOLID: _KINDS[SOLID].removeprefix("word "), LEAF: "word " + _KINDS[LEAF]})


def parse(data: bytes) -> Node:
    """The tree of a text in UTF-8. What its nodes hold is to be read from the text, not from the nodes."""
    return _PARSER.parse(data if data.isascii() else harmless(data)).root_node


_HIGH = re.compile(rb"[\xc4-\xdf].|[\xe0-\xef]..|[\xf0-\xf4]...", re.DOTALL)
_LETTERS_INSTEAD = {2: "é".encode(), 3: "éa".encode(), 4: "éé".encode()}


def harmless(data: bytes) -> bytes:
    """The text with letters for each character above U+00FF, as many bytes long. tree-sitter-bash looks a character
    that follows a brace up in C's table of 256, wherever in the memory that leads: `{` and U+105358 end the process.
    To bash all these characters are parts of words, as letters are."""
    return _HIGH.sub(lambda found: _LETTERS_INSTEAD[len(found.group())], data)


def agrees(root: Node, data: bytes, expected: Stretches) -> bool:
    """Whether the tree holds only known kinds, covers every byte, and has the same words in the same places."""
    if root.has_error:
        return False
    missing = expected.copy()
    uncovered = len(data.translate(None, _BLANKS))
    roles = _ROLES_WITH_BACKSLASH if 92 in data else ROLES
    nodes = [root]
    for node in nodes:  # which grows
        role = roles[node.kind_id]
        if role == COMMAND:
            start = node.start_byte
            if start not in missing:
                return False
            end, count, spread = missing.pop(start)
            # Mere letters, one blank apart, cannot be cut in two ways: as many nodes in the same stretch are these
            # words, its own and its name's besides. To look at each of them would take as long as the parse.
            if spread is None and node.descendant_count == count + 2 and node.end_byte == end:
                uncovered -= end - start - count + 1
                continue
            places, covered = _places(node, roles, nodes)
            if len(places) != 2 * count or places != (spread or places_of(data[start:end].split(b" "), start)):
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


def _places(command: Node, roles: bytes, nodes: list[Node]) -> tuple[list[int], int]:
    """Begin and end of each word, and how many bytes are covered so far; what is left to look at joins the nodes."""
    places: list[int] = []
    covered = 0
    for child in command.children:
        kind = child.kind_id
        if kind in _WORDS:
            start, end = child.start_byte, child.end_byte
            places += (start, end)
            if roles[kind] == SOLID:
                covered += end - start
                continue
        nodes.append(child)
    return places, covered


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


NESTING = 32


class Seen:
    """What the tree of an unclear text shows."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.calls: list[Call] = []
        self.doubts: dict[str, None] = {}
        self.writes: list[str] = []
        self.reads: list[str] = []
        self.texts: list[tuple[str, str]] = []  # texts that a shell reads in turn, and what hands them over
        self.broken = False


def look(root: Node, data: bytes) -> Seen:
    """Every call of the tree, however nested, and every reason for doubt."""
    seen = Seen(data)
    seen.broken = root.has_error
    stack = [(root, "", 0)]
    while stack:
        node, via, depth = stack.pop()
        kind = node.type
        if node.is_missing:
            seen.doubts["cannot be parsed"] = None
        if kind in _DOUBTS:
            seen.doubts[_DOUBTS[kind]] = None
        if kind in _VIA:
            via = _VIA[kind]
            depth += 1
        if depth > NESTING:
            seen.doubts["nests too deeply"] = None
            continue
        if kind in ("command", "declaration_command", "unset_command", "test_command"):
            _call(seen, node, via)
        elif kind == "variable_assignment":
            _assignment(seen, node)
        elif kind in ("simple_expansion", "expansion"):
            seen.doubts[f"uses the value of {_text(seen, node)}"] = None
        elif kind == "file_redirect":
            _redirect(seen, node)
        elif kind == "heredoc_redirect":
            _here_document(seen, node)
        elif kind == "herestring_redirect":
            _here_string(seen, node)
        stack += [(child, via, depth) for child in reversed(node.children)]
    return seen


def _text(seen: Seen, node: Node) -> str:
    return seen.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def loose_word(raw: str) -> str:
    """A word after quote removal, as near as can be: a guess for deny, never a base for an allow."""
    raw = _ANSI.sub(lambda found: "'" + _ansi(found.group(1)).replace("'", "") + "'", raw.replace("\\\n", ""))
    return unquote(raw.replace('$"', '"'))[0]


def _ansi(text: str) -> str:
    return _ESCAPE.sub(_escaped, text)


_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b"}


def _escaped(found: re.Match[str]) -> str:
    hexes, octal, letter = found.group(1) or found.group(2), found.group(3), found.group(4)
    if hexes:
        return chr(int(hexes, 16))
    return chr(int(octal, 8)) if octal else _LETTERS.get(letter, letter)


def _call(seen: Seen, node: Node, via: str) -> None:
    words: list[str] = []
    for child in node.children:
        kind = child.type
        if kind in ("variable_assignment", "variable_assignments") and node.type == "command" and not words:
            continue
        if kind in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
            continue
        words += _words(seen, child)
    if not words:
        return
    seen.calls.append(Call(tuple(words), _text(seen, node), _is_piped(seen.data, node.start_byte), via))
    if "$" in words[0] or "`" in words[0]:
        seen.doubts["an expansion names the command"] = None
        if words[1:]:
            seen.calls.append(Call(words=tuple(words[1:]), source=_text(seen, node), via="an expansion"))


def _is_piped(data: bytes, at: int) -> bool:
    """Whether a single | or |& stands before the place."""
    at -= 1
    while at >= 0 and data[at] in b" \t\n":
        at -= 1
    before = data[max(at - 1, 0) : at + 1]
    return before == b"|&" or (before[-1:] == b"|" and before != b"||")


_SPLIT = frozenset(("unary_expression", "binary_expression", "parenthesized_expression", "negated_command"))


def _words(seen: Seen, node: Node) -> Iterator[str]:
    if node.type in _SPLIT:
        for child in node.children:
            yield from _words(seen, child)
    else:
        yield loose_word(_text(seen, node))


def _assignment(seen: Seen, node: Node) -> None:
    name = _text(seen, node).partition("=")[0]
    seen.doubts[f"sets the environment variable {name}"] = None


def _redirect(seen: Seen, node: Node) -> None:
    operator = ""
    target = ""
    for child in node.children:
        if child.type == "file_descriptor":
            continue
        if not operator:
            operator = child.type
        else:
            target = loose_word(_text(seen, child))
            break
    if operator in _WRITES and target != "/dev/null" and not (operator == ">&" and target.rstrip("-").isdigit()):
        seen.doubts[f"writes to {target or 'somewhere'}"] = None
        seen.writes.append(target)
    elif operator == "<" and not target.startswith("/dev/"):
        seen.reads.append(target)
    elif target.startswith(("/dev/tcp/", "/dev/udp/")):
        seen.doubts[f"connects to {target}"] = None


def _here_document(seen: Seen, node: Node) -> None:
    """A shell that is fed a here-document runs it."""
    parent = node.parent
    body = next((child for child in node.children if child.type == "heredoc_body"), None)
    if body is None or parent is None:
        return
    text = _text(seen, body)
    seen.texts += [(inner, "command substitution") for inner in re.findall(r"`([^`]*+)`", text)]
    around = _text(seen, parent).replace(text, "", 1)
    for shell in [word for word in _NAMES.findall(around) if word.rpartition("/")[2] in _SHELLS][:1]:
        seen.texts.append((text, f"{shell} here-document"))


def _here_string(seen: Seen, node: Node) -> None:
    """A shell that is fed a here-string runs it."""
    owner = _text(seen, node.parent) if node.parent is not None else ""
    for shell in [word for word in _NAMES.findall(owner.partition("<<<")[0]) if word.rpartition("/")[2] in _SHELLS][:1]:
        seen.texts.append((loose_word(_text(seen, node).removeprefix("<<<").strip()), f"{shell} here-string"))


_NAMES = re.compile(r"[^\s;&|()<>]++")


_SHELLS = named("bash sh dash zsh ksh mksh ash fish eval at batch ssh su")
