"""Reads a shell text: every call in it, and the doubts that keep allow rules from covering it.

Two parsers, `plain_parser` and tree-sitter, must agree word for word; only then is a text clear. The fast parser is a
shortcut that takes the plain parser's place for the plainest lines. For any other text, the calls in the tree are
collected for deny rules, ask rules and risk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, pairwise

from msgspec.structs import replace

from quarterdeck.core.shell.calls import Call, Script
from quarterdeck.core.shell.fast_parser import read_fast, tree_confirms
from quarterdeck.core.shell.plain_forms import plainer
from quarterdeck.core.shell.plain_parser import SimpleCommand, command_spans, read_plain
from quarterdeck.core.shell.tree_parser import TreeFindings, loose_word, parse, read_tree, tree_agrees
from quarterdeck.core.shell.vocabulary import CHANGES_SHELL, READ_ONLY_PROGRAMS
from quarterdeck.core.shell.word_match import grants, mentions, only_filters
from quarterdeck.core.shell.wrappers import CHANGING_BUILTINS, SHELLS, SPECIAL_NAMES, WRAPPERS, WRAPS_ONLY_WITH, unwrap
from quarterdeck.core.text.sanitize import UNSEEN

__all__ = ["Call", "Script", "grants", "mentions", "only_filters", "read_script"]

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8
MAX_CALLS = 2000
# Above these the parser is too slow: operators, here-documents, and characters outside of these documents.
MAX_OPERATORS, MAX_DOCUMENTS, MAX_PARSED = 400, 32, 16 * 1024
_OPERATOR = re.compile(r"'[^']*+'|\"[^\"$`]*+\"|([|&;<>(){}$`\"\[\]])")
_DOCUMENT = re.compile(r"<<-?[ \t]*+([\"'\\]?)(\w++)")
_EXPANDED = re.compile(r"[$`]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Texts that tree-sitter and bash are known to read differently, wherever they occur.
_RAW_DOUBTS = (
    (re.compile(r"\\\n"), "joins lines with a backslash"),
    (re.compile(r"\n[ \t]*+\\"), "begins a line with a backslash"),
    (re.compile(r"`"), "holds a backtick"),
    (re.compile(r"@P"), "may expand a value as a prompt (@P)"),
)
_ANY_RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|\\\n|\n[ \t]*+\\")
_BRACES = re.compile(r"(?<!\$)\{[^{}\s,.]*+(?:,|\.\.)[^{}\s]*+\}")
_SET_SAFE = re.compile(r"[-+](?:[eux]+|[eux]*o)|pipefail|errexit|nounset|xtrace")


def read_script(command: str) -> Script:
    """Read a shell text. Never raises."""
    script = _read(command, MAX_DEPTH)
    if not script.doubts or len(command) > MAX_PARSED or (plain := plainer(command)) is None:
        return script
    text, left_out = plain
    clear = _read(text, MAX_DEPTH)
    if clear.doubts:
        return script
    return replace(clear, calls=(*(Call((word,), word) for word in left_out), *clear.calls))


def _read(text: str, depth: int) -> Script:
    if len(text) > MAX_BYTES or (not text.isascii() and len(text.encode("utf-8", "replace")) > MAX_BYTES):
        return Script(doubts=("is too long to be read",))
    if depth == 0:
        return Script(doubts=("nests too deeply",))
    if len(text) > MAX_OPERATORS and _is_slow(text, lines := _outside_documents(text)):
        return _unclear_script("\n".join(lines), TreeFindings(), depth, "is too long to be read")
    data = text.encode("utf-8", "replace")
    root = parse(data)
    if (fast := read_fast(text)) and tree_confirms(root, fast):
        if fast.self_contained and depth > 1:
            return Script(tuple(fast.calls))
        return _with_wrapped_calls(fast.calls, {}, depth)
    if not _is_misread(text) and (text.isascii() or _is_visible(text)):
        plain = read_plain(text if text.isascii() else data.decode("latin-1"))
        if plain is not None:
            clear = _clear_script(text, data, plain, depth)
            if tree_agrees(root, data, command_spans(plain)):
                return clear
            return _with_both_readings(clear, _unclear_script(text, read_tree(root, data), depth))
    return _unclear_script(text, read_tree(root, data), depth)


def _with_both_readings(plain: Script, tree: Script) -> Script:
    """The doubts about a text that the two parsers read differently, with the calls of both: one of them misses some,
    and a deny rule must see each."""
    seen = {call.words for call in plain.calls}
    return replace(tree, calls=(*plain.calls, *(call for call in tree.calls if call.words not in seen)))


def _outside_documents(text: str) -> list[str]:
    """The lines outside here-documents; all lines if the body of one is slow to parse too."""
    lines: list[str] = []
    expanded, expands = 0, False
    ending = ""
    for line in text.split("\n"):
        if ending:
            expanded += len(_EXPANDED.findall(line)) if expands else line.count("`")
            ending = "" if line.strip("\t") == ending else ending
            if expanded > MAX_OPERATORS:
                return text.split("\n")
            continue
        lines.append(line)
        documents = _DOCUMENT.findall(line)
        if len(documents) > 1:
            return text.split("\n")  # the parser is slowest with several at once
        ending = documents[-1][1] if documents else ""
        expands = bool(documents) and not documents[-1][0]
    return lines


def _is_slow(text: str, lines: list[str]) -> bool:
    """True if the parser would take too long: its time grows with the square of the text it cannot make sense of."""
    if text.count("<<") > MAX_DOCUMENTS or len(lines) > MAX_OPERATORS or sum(map(len, lines)) > MAX_PARSED:
        return True
    return sum(1 for line in lines for match in _OPERATOR.finditer(line) if match.group(1)) > MAX_OPERATORS


def _is_misread(text: str) -> bool:
    """True if the text holds something that tree-sitter is known to read differently from bash."""
    if "`" in text or "@P" in text:
        return True
    return not text.isprintable() and _ANY_RAW.search(text) is not None


def _is_visible(text: str) -> bool:
    return not UNSEEN.search(text) and text.translate(_LINES).isprintable()


_LINES = {9: None, 10: None}


def _clear_script(text: str, data: bytes, commands: Sequence[SimpleCommand], depth: int) -> Script:
    ascii_only = text.isascii()
    calls: list[Call] = []
    doubts: dict[str, None] = {}
    for command in commands:
        start, end = command.start, max(command.end, command.redirected)
        if ascii_only:
            words = tuple(command.words)
            source = text[start:end]
        else:
            words = tuple(word.encode("latin-1").decode("utf-8", "replace") for word in command.words)
            source = data[start:end].decode("utf-8", "replace")
        calls.append(Call(words, source, command.piped))
        if command.may_expand_to_option and words[0] not in READ_ONLY_PROGRAMS:
            doubts["a file name pattern may turn into an option"] = None
        if command.has_values and words[0] != "echo":
            doubts["uses a variable's value"] = None
    reads = tuple(target for command in commands for target in command.reads)
    return _with_wrapped_calls(calls, doubts, depth, reads)


def _with_wrapped_calls(
    own: Sequence[Call], doubts: dict[str, None], depth: int, reads: tuple[str, ...] = ()
) -> Script:
    """Finish a line with the calls that its own calls run. Most run no other, which is tested first."""
    for call in own:
        name = call.words[0]
        if name in SPECIAL_NAMES or "/" in name:
            needed_words = WRAPS_ONLY_WITH.get(name)
            if needed_words is None or depth < 2 or not needed_words.isdisjoint(call.words):
                return _unfold(own, doubts, depth, reads)
    if not own:
        doubts["runs nothing"] = None
    return Script(tuple(own), tuple(doubts), (), reads)


def _unfold(own: Sequence[Call], doubts: dict[str, None], depth: int, reads: tuple[str, ...]) -> Script:
    calls: list[Call] = []
    writes: list[str] = []
    for call in own:
        name = call.words[0]
        calls.append(call)
        if name in CHANGING_BUILTINS:
            _add_shell_doubt(call.words, doubts)
        if name in WRAPPERS or "/" in name:
            _add_wrapped(call.words, calls, doubts, writes, depth)
    for piped_text in _piped_texts(calls):
        _add_nested(piped_text, "a pipe into a shell", calls, doubts, writes, depth - 1)
    return Script(tuple(calls), tuple(doubts), tuple(writes), reads)


def _add_shell_doubt(words: Sequence[str], doubts: dict[str, None]) -> None:
    name = words[0]
    if name in CHANGES_SHELL or (name == "set" and not all(map(_SET_SAFE.fullmatch, words[1:]))):
        doubts[f"changes the shell with {name}"] = None


def _add_wrapped(
    words: Sequence[str], calls: list[Call], doubts: dict[str, None], writes: list[str], depth: int, via: str = ""
) -> None:
    """Add the calls that a call runs."""
    if depth <= 1 or len(calls) > MAX_CALLS:
        doubts["nests too deeply"] = None
        return
    for inner in unwrap(words):
        chain = f"{via}, {inner.via}" if via else inner.via
        if inner.doubt:
            doubts[inner.doubt] = None
        if inner.words:
            calls.append(Call(inner.words, " ".join(inner.words), False, chain, inner.outer, inner.unseen))
            if inner.words[0] in CHANGES_SHELL:
                doubts[f"changes the shell with {inner.words[0]}"] = None
            _add_wrapped(inner.words, calls, doubts, writes, depth - 1, chain)
        elif inner.text:
            _add_nested(inner.text, chain, calls, doubts, writes, depth - 1, inner.unseen)


def _piped_texts(calls: Sequence[Call]) -> list[str]:
    """Plain texts that are piped into a shell: `echo 'rm x' | sh`."""
    own = [call for call in calls if not call.outer]
    return [
        " ".join(word for word in before.words[1:] if word[:1] != "-")
        for before, call in pairwise(own)
        if call.piped and before.words[0] in ("echo", "printf") and call.words[0].rpartition("/")[2] in SHELLS
    ]


def _add_nested(
    text: str, via: str, calls: list[Call], doubts: dict[str, None], writes: list[str], depth: int, unseen: bool = False
) -> None:
    """Add the calls and doubts of a text that another shell runs."""
    script = _read(text, depth)
    for call in script.calls:
        chain = f"{via}, {call.via}" if call.via else via
        calls.append(Call(call.words, call.source, call.piped, chain, call.outer, unseen or call.unseen))
    doubts.update(dict.fromkeys(script.doubts))
    writes += script.writes


def _unclear_script(text: str, findings: TreeFindings, depth: int, doubt: str = "") -> Script:
    doubts = dict.fromkeys(words for pattern, words in _RAW_DOUBTS if pattern.search(text))
    if doubt:
        doubts[doubt] = None
    if _CONTROL.search(text):
        doubts["holds a control character"] = None
    if not text.isascii() and not _is_visible(text.translate(dict.fromkeys(range(32)))):
        doubts["holds a character that is not shown"] = None
    doubts.update(findings.doubts)
    calls: list[Call] = []
    writes = list(findings.writes)
    _add_calls(findings.calls, calls, doubts, writes, depth)
    misread = bool(doubt) or findings.broken or _is_misread(text) or "$ " in text
    if misread:
        known = {call.words for call in calls}
        _add_calls([call for call in _rough_calls(text) if call.words not in known], calls, doubts, writes, depth)
    for piped_text in _piped_texts(calls):
        _add_nested(piped_text, "a pipe into a shell", calls, doubts, writes, depth - 1)
    for inner, via in findings.texts:
        _add_nested(inner, via, calls, doubts, writes, depth - 1)
    if _BRACES.search(text):
        doubts["expands braces"] = None
    if not doubts:
        doubts["cannot be read with certainty"] = None
    return Script(tuple(calls[: MAX_CALLS * 2]), tuple(doubts), tuple(writes), tuple(findings.reads))


def _add_calls(
    found_calls: Sequence[Call], calls: list[Call], doubts: dict[str, None], writes: list[str], depth: int
) -> None:
    for call in found_calls:
        calls.append(call)
        name = call.words[0].rpartition("/")[2]
        if name in ("time", "coproc", "!"):
            doubts[f"begins with the shell's own word {name}"] = None
        if name in CHANGES_SHELL:
            doubts[f"changes the shell with {name}"] = None
        if name in WRAPPERS:
            _add_wrapped(call.words, calls, doubts, writes, depth, call.via)


_BREAKS = re.compile(r"'[^']*+'|\"(?:[^\"\\$`]++|\\.)*+\"|\\.|\$\(|[<>]\(|&&|\|\||[;&|\n(){}`]", re.DOTALL)
_BLANKS = re.compile(r"(?:[^\s'\"\\]++|'[^']*+'?|\"(?:[^\"\\]++|\\.)*+\"?|\\.?)+", re.DOTALL)


def _rough_calls(text: str) -> list[Call]:
    """Find calls by splitting at everything that may separate commands. Finds too many rather than too few, for a text
    whose tree cannot be trusted."""
    joined = _CONTROL.sub(" ", text.replace("\\\n", ""))
    parts: list[str] = []
    last = 0
    for match in _BREAKS.finditer(joined):
        if len(parts) > MAX_CALLS:
            break
        if match.group()[0] not in "'\"\\":
            parts.append(joined[last : match.start()])
            last = match.end()
    parts.append(joined[last:])
    calls = []
    for part in parts[:MAX_CALLS]:
        words = [loose_word(match.group()) for match in islice(_BLANKS.finditer(part), MAX_OPERATORS)]
        while words and (not words[0] or _ASSIGNS.match(words[0])):
            del words[0]
        if words:
            calls.append(Call(tuple(words), part.strip()))
    return calls


_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=|\$|then|do|else|\"")
