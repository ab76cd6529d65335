"""Reads a shell text: every call in it, and whether it is clear enough for an allow rule to cover it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, pairwise

from quarterdeck.core.shell.calls import Call, Script
from quarterdeck.core.shell.fast_parser import is_agreed, read_quick
from quarterdeck.core.shell.plain_parser import Simple, read_plain, stretches_of
from quarterdeck.core.shell.programs import CHANGES_SHELL, ONLY_LOOK
from quarterdeck.core.shell.tree_parser import Seen, agrees, look, loose_word, parse
from quarterdeck.core.shell.word_match import grants, mentions, only_filters, only_reads
from quarterdeck.core.shell.wrappers import CHANGES, MEANT, ONLY_WITH, SHELLS, WRAPPERS, unwrap
from quarterdeck.core.text.sanitize import UNSEEN

__all__ = ["Call", "Script", "grants", "mentions", "only_filters", "only_reads", "read_script"]

LIMIT = 64 * 1024
DEPTH = 8
CALLS = 2000
COSTLY, DOCUMENTS, LONG = 400, 32, 16 * 1024  # operators, here-documents, and bytes outside of these
_COSTLY = re.compile(r"'[^']*+'|\"[^\"$`]*+\"|([|&;<>(){}$`\"\[\]])")
_DOCUMENT = re.compile(r"<<-?[ \t]*+([\"'\\]?)(\w++)")
_EXPANDED = re.compile(r"[$`]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Known to be read differently by tree-sitter and by bash, wherever they stand.
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
    """Every call of the text, and why no allow rule may cover it. Raises on nothing."""
    return _read(command, DEPTH)


def _read(text: str, depth: int) -> Script:
    if len(text) > LIMIT or (not text.isascii() and len(text.encode("utf-8", "replace")) > LIMIT):
        return Script(doubts=("is too long to be read",))
    if depth == 0:
        return Script(doubts=("nests too deeply",))
    if len(text) > COSTLY and _is_slow(text, lines := _outside_documents(text)):
        return _unclear("\n".join(lines), Seen(), depth, "is too long to be read")
    data = text.encode("utf-8", "replace")
    root = parse(data)
    if (quick := read_quick(text)) and is_agreed(root, quick):
        return Script(tuple(quick.calls)) if quick.alone and depth > 1 else _finished(quick.calls, {}, depth)
    if not _is_misread(text) and (text.isascii() or _is_visible(text)):
        plain = read_plain(text if text.isascii() else data.decode("latin-1"))
        if plain is not None and agrees(root, data, stretches_of(plain)):
            return _clear(text, data, plain, depth)
    return _unclear(text, look(root, data), depth)


def _outside_documents(text: str) -> list[str]:
    """The lines that are not the body of a here-document; all of them, when its body is costly too."""
    lines: list[str] = []
    expanded, expands = 0, False
    ending = ""
    for line in text.split("\n"):
        if ending:
            expanded += len(_EXPANDED.findall(line)) if expands else line.count("`")
            ending = "" if line.strip("\t") == ending else ending
            if expanded > COSTLY:
                return text.split("\n")
            continue
        lines.append(line)
        started = _DOCUMENT.findall(line)
        if len(started) > 1:
            return text.split("\n")  # several at once are what the parser is slowest with
        ending = started[-1][1] if started else ""
        expands = bool(started) and not started[-1][0]
    return lines


def _is_slow(text: str, lines: list[str]) -> bool:
    """Whether the parser, whose time grows with the square of what it cannot make sense of, would take too long."""
    if text.count("<<") > DOCUMENTS or len(lines) > COSTLY or sum(map(len, lines)) > LONG:
        return True
    return sum(1 for line in lines for found in _COSTLY.finditer(line) if found.group(1)) > COSTLY


def _is_misread(text: str) -> bool:
    """Whether the text holds what tree-sitter is known to read otherwise than bash."""
    if "`" in text or "@P" in text:
        return True
    return not text.isprintable() and _ANY_RAW.search(text) is not None


def _is_visible(text: str) -> bool:
    return not UNSEEN.search(text) and text.translate(_LINES).isprintable()


_LINES = {9: None, 10: None}


def _clear(text: str, data: bytes, commands: Sequence[Simple], depth: int) -> Script:
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
        if command.globs and words[0] not in ONLY_LOOK:
            doubts["a file name pattern may turn into an option"] = None
        if command.values and words[0] != "echo":
            doubts["uses a variable's value"] = None
    reads = tuple(target for command in commands for target in command.reads)
    return _finished(calls, doubts, depth, reads)


def _finished(own: Sequence[Call], doubts: dict[str, None], depth: int, reads: tuple[str, ...] = ()) -> Script:
    """The line with all that its own calls run in turn; most run nothing else."""
    for call in own:
        name = call.words[0]
        if name in MEANT or "/" in name:
            only = ONLY_WITH.get(name)
            if only is None or depth < 2 or not only.isdisjoint(call.words):
                return _unfolded(own, doubts, depth, reads)
    if not own:
        doubts["runs nothing"] = None
    return Script(tuple(own), tuple(doubts), (), reads)


def _unfolded(own: Sequence[Call], doubts: dict[str, None], depth: int, reads: tuple[str, ...]) -> Script:
    calls: list[Call] = []
    writes: list[str] = []
    for call in own:
        name = call.words[0]
        calls.append(call)
        if name in CHANGES:
            _doubt(call.words, doubts)
        if name in WRAPPERS or "/" in name:
            _unwrapped(call.words, calls, doubts, writes, depth)
    for fed in _fed(calls):
        _nested(fed, "a pipe into a shell", calls, doubts, writes, depth - 1)
    return Script(tuple(calls), tuple(doubts), tuple(writes), reads)


def _doubt(words: Sequence[str], doubts: dict[str, None]) -> None:
    name = words[0]
    if name in CHANGES_SHELL or (name == "set" and not all(map(_SET_SAFE.fullmatch, words[1:]))):
        doubts[f"changes the shell with {name}"] = None


def _unwrapped(
    words: Sequence[str], calls: list[Call], doubts: dict[str, None], writes: list[str], depth: int, via: str = ""
) -> None:
    """Adds what the call runs in turn."""
    if depth <= 1 or len(calls) > CALLS:
        doubts["nests too deeply"] = None
        return
    for inner in unwrap(words):
        said = f"{via}, {inner.via}" if via else inner.via
        if inner.doubt:
            doubts[inner.doubt] = None
        if inner.words:
            calls.append(Call(inner.words, " ".join(inner.words), False, said, inner.outer, inner.unseen))
            if inner.words[0] in CHANGES_SHELL:
                doubts[f"changes the shell with {inner.words[0]}"] = None
            _unwrapped(inner.words, calls, doubts, writes, depth - 1, said)
        elif inner.text:
            _nested(inner.text, said, calls, doubts, writes, depth - 1, inner.unseen)


def _fed(calls: Sequence[Call]) -> list[str]:
    """What plain texts a shell is fed through a pipe: `echo 'rm x' | sh`."""
    own = [call for call in calls if not call.outer]
    return [
        " ".join(word for word in before.words[1:] if word[:1] != "-")
        for before, call in pairwise(own)
        if call.piped and before.words[0] in ("echo", "printf") and call.words[0].rpartition("/")[2] in SHELLS
    ]


def _nested(
    text: str, via: str, calls: list[Call], doubts: dict[str, None], writes: list[str], depth: int, unseen: bool = False
) -> None:
    """Adds what a text comes to that another shell reads."""
    script = _read(text, depth)
    for call in script.calls:
        said = f"{via}, {call.via}" if call.via else via
        calls.append(Call(call.words, call.source, call.piped, said, call.outer, unseen or call.unseen))
    doubts.update(dict.fromkeys(script.doubts))
    writes += script.writes


def _unclear(text: str, seen: Seen, depth: int, doubt: str = "") -> Script:
    doubts = dict.fromkeys(words for pattern, words in _RAW_DOUBTS if pattern.search(text))
    if doubt:
        doubts[doubt] = None
    if _CONTROL.search(text):
        doubts["holds a control character"] = None
    if not text.isascii() and not _is_visible(text.translate(dict.fromkeys(range(32)))):
        doubts["holds a character that is not shown"] = None
    doubts.update(seen.doubts)
    calls: list[Call] = []
    writes = list(seen.writes)
    _add(seen.calls, calls, doubts, writes, depth)
    misread = bool(doubt) or seen.broken or _is_misread(text) or "$ " in text
    if misread:
        known = {call.words for call in calls}
        _add([call for call in _rough(text) if call.words not in known], calls, doubts, writes, depth)
    for fed in _fed(calls):
        _nested(fed, "a pipe into a shell", calls, doubts, writes, depth - 1)
    for inner, via in seen.texts:
        _nested(inner, via, calls, doubts, writes, depth - 1)
    if _BRACES.search(text):
        doubts["expands braces"] = None
    if not doubts:
        doubts["cannot be read with certainty"] = None
    return Script(tuple(calls[: CALLS * 2]), tuple(doubts), tuple(writes), tuple(seen.reads))


def _add(found: Sequence[Call], calls: list[Call], doubts: dict[str, None], writes: list[str], depth: int) -> None:
    for call in found:
        calls.append(call)
        name = call.words[0].rpartition("/")[2]
        if name in ("time", "coproc", "!"):
            doubts[f"begins with the shell's own word {name}"] = None
        if name in CHANGES_SHELL:
            doubts[f"changes the shell with {name}"] = None
        if name in WRAPPERS:
            _unwrapped(call.words, calls, doubts, writes, depth, call.via)


_BREAKS = re.compile(r"'[^']*+'|\"(?:[^\"\\$`]++|\\.)*+\"|\\.|\$\(|[<>]\(|&&|\|\||[;&|\n(){}`]", re.DOTALL)
_BLANKS = re.compile(r"(?:[^\s'\"\\]++|'[^']*+'?|\"(?:[^\"\\]++|\\.)*+\"?|\\.?)+", re.DOTALL)


def _rough(text: str) -> list[Call]:
    """Calls by cutting at whatever may separate commands: more than there are, for a text that cannot be trusted."""
    joined = _CONTROL.sub(" ", text.replace("\\\n", ""))
    parts: list[str] = []
    last = 0
    for found in _BREAKS.finditer(joined):
        if len(parts) > CALLS:
            break
        if found.group()[0] not in "'\"\\":
            parts.append(joined[last : found.start()])
            last = found.end()
    parts.append(joined[last:])
    calls = []
    for part in parts[:CALLS]:
        words = [loose_word(found.group()) for found in islice(_BLANKS.finditer(part), COSTLY)]
        while words and (not words[0] or _ASSIGNS.match(words[0])):
            del words[0]
        if words:
            calls.append(Call(tuple(words), part.strip()))
    return calls


_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=|\$|then|do|else|\"")
