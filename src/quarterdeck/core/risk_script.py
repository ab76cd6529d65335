"""What speaks against a whole shell line: its commands, and what they do to each other."""

from __future__ import annotations

import posixpath as paths
import re
from collections.abc import Iterator
from itertools import pairwise

from quarterdeck.core import risk_table as t
from quarterdeck.core.risk_calls import findings_of, name_of
from quarterdeck.core.risk_files import OWN_GUARD, Finding, writing
from quarterdeck.core.risk_paths import Where, real_path, secret_in
from quarterdeck.core.shell import Call, Script
from quarterdeck.core.text import visible

_STEERING = re.compile(rf"(?<![\w$])({'|'.join(t.STEERING)})=")
_FORK_BOMB = re.compile(r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:")
_OWN_HOME = re.compile(r"QUARTERDECK_HOME|QUARTERDECK_TOKEN|quarterdeck/(token|hook-token|events\.db|config\.yaml)")
_UNREAD = {
    "cannot be parsed": "cannot be read as a shell command",
    "cannot be read with certainty": "cannot be read with certainty",
    "is too long to be read": "is too long to be looked into",
    "nests too deeply": "nests too deeply to be looked into",
}
"""Doubts about a line that nobody can judge."""
_OUTPUTS = frozenset({"-o", "--output", "-O", "--output-document"})


def findings_of_line(command: str, script: Script, where: Where) -> Iterator[Finding]:
    """Everything that speaks against a line; `script` is how it was read."""
    yield from _by_text(command)
    yield from (Finding("high", _UNREAD[doubt]) for doubt in script.doubts if doubt in _UNREAD)
    if any(doubt.startswith("connects to ") for doubt in script.doubts):
        yield Finding("high", "opens a connection from the shell itself")
    for call in script.calls:
        yield from findings_of(call, where)
    for target in script.writes:
        yield from writing(real_path(target, where), where)
    yield from _by_flow(script)


def _by_text(command: str) -> Iterator[Finding]:
    if visible(command) != command:
        yield Finding("high", "holds characters that cannot be seen")
    if _FORK_BOMB.search(command):
        yield Finding("critical", "starts processes without end")
    if found := _STEERING.search(command):
        yield Finding("high", f"changes which code programs load or whom they trust ({found.group(1)})")
    if _OWN_HOME.search(command):
        yield Finding("critical", f"{OWN_GUARD}: Quarterdeck's files")


def _by_flow(script: Script) -> Iterator[Finding]:
    """What commands hand to each other."""
    fetched = [call for call in script.calls if name_of(call) in t.FETCHES]
    if any(_runs_fetched(call, script, fetched) for call in script.calls):
        yield Finding("critical", "runs what it downloads")
    senders = [call for call in script.calls if name_of(call) in t.SENDS]
    if senders and any(_shows_secrets(call) for call in script.calls):
        yield Finding("critical", "could send secrets over the network")


def _is_piped(call: Call, before: tuple[Call, ...]) -> bool:
    """Whether a call reads what another says; what a wrapper runs reads what the wrapper does."""
    outer = next((one for one in reversed(before) if not one.via), call)
    return call.piped or (bool(call.via) and outer.piped)


def _runs_fetched(call: Call, script: Script, fetched: list[Call]) -> bool:
    name = name_of(call)
    runs = name in t.SHELLS or name in t.INTERPRETERS or name in ("eval", "source", ".")
    if not fetched or call in fetched:
        return False
    before = script.calls[: script.calls.index(call)]
    if runs and name not in ("awk", "gawk") and _is_piped(call, before) and any(one in before for one in fetched):
        return _reads_its_input(call)
    if runs and any("substitution" in one.via and one.source in call.source for one in fetched):
        return name in t.SHELLS or name in ("eval", "source", ".")
    files = {file for one in fetched for file in _saved(one)}
    return bool(files.intersection(paths.basename(word) for word in (call.words if runs else call.words[:1])))


def _reads_its_input(call: Call) -> bool:
    """Whether an interpreter has no script of its own."""
    return not any(word not in ("-", "/dev/stdin") and not word.startswith("-") for word in call.words[1:2])


def _saved(call: Call) -> Iterator[str]:
    """The files a download is saved to."""
    for option, word in pairwise(call.words):
        if option in _OUTPUTS and word != "-":
            yield paths.basename(word)


def _shows_secrets(call: Call) -> bool:
    """Whether a call gives out credentials: a file that holds them, or the environment."""
    name = name_of(call)
    if name in ("env", "printenv", "set", "export"):
        return name == "printenv" or not [word for word in call.words[1:] if not word.startswith("-")]
    if name in t.LOOKS or name in t.KEY_USERS or name in t.SAYS:
        return False
    home = Where(cwd="/", home="/")
    named = (real_path(word.lstrip("@").rpartition("=@")[2], home) for word in call.words[1:])
    return any(path is not None and (secret_in(path) or re.search(r"/\.env(\.\w+)?$", path)) for path in named)
