"""What speaks against a whole shell line: its commands, and what they do to each other."""

from __future__ import annotations

import posixpath as paths
import re
from collections.abc import Iterator
from itertools import pairwise

from quarterdeck.core.risk import command_table as t
from quarterdeck.core.risk.commands import findings_of, name_of
from quarterdeck.core.risk.files import OWN_GUARD, Finding, reading, writing
from quarterdeck.core.risk.paths import Where, real_path, secret_in
from quarterdeck.core.shell.script import Call, Script
from quarterdeck.core.text.sanitize import visible

_STEERED_TO_NOTHING = r"(?!(cat|true|:|/dev/null|['\"]{2})(\s|$))"
_STEERING = re.compile(rf"(?<![\w$])({'|'.join(sorted(t.STEERING))})={_STEERED_TO_NOTHING}")
_SECRET_VALUE = re.compile(
    r"\$\{?(\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)\w*)"
)
_INPUT = re.compile(r"(?<![<\w])\d?<\s*([^\s<>&|;()]+)")
_HIDDEN_COMMAND = re.compile(r"\[\s*\$\(")
_UNCLEAR = (
    "evaluates arithmetic",
    "uses a subscript",
    "holds an ANSI-C",
    "expands braces",
    "holds an extended",
    "may expand",
)
"""How doubts begin that make even a harmless line worth a look."""
_FORK_BOMB = re.compile(r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:")
_OWN_HOME = re.compile(r"QUARTERDECK_HOME|QUARTERDECK_TOKEN|quarterdeck/(token|hook-token|events\.db|config\.yaml)")
_UNREAD = {
    "cannot be parsed": "cannot be read as a shell command",
    "is too long to be read": "is too long to be looked into",
    "nests too deeply": "nests too deeply to be looked into",
}
"""Doubts about a line that nobody can judge."""
MOST_WITHIN = 20
_RUNS = t.INTERPRETERS.keys() - {"awk", "gawk"}
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
    for found in _INPUT.finditer(command):
        path = real_path(found.group(1).strip("'\""), where)
        yield from (finding for finding in reading(path, where) if finding.level != "medium")
    yield from (Finding("medium", f"is not clear: {doubt}") for doubt in script.doubts if doubt.startswith(_UNCLEAR))
    yield from _by_flow(script)


def _by_text(command: str) -> Iterator[Finding]:
    if visible(command) != command:
        yield Finding("high", "holds characters that cannot be seen")
    if _FORK_BOMB.search(command):
        yield Finding("critical", "starts processes without end")
    if found := _STEERING.search(command):
        yield Finding("high", f"changes which code programs load or whom they trust ({found.group(1)})")
    if found := _SECRET_VALUE.search(command):
        yield Finding("high", f"uses a secret of the environment (${found.group(1)})")
    if _HIDDEN_COMMAND.search(command):
        yield Finding("high", "hides a command in a subscript")
    if _OWN_HOME.search(command):
        yield Finding("critical", f"{OWN_GUARD}: Quarterdeck's files")


def _by_flow(script: Script) -> Iterator[Finding]:
    """What commands hand to each other."""
    if _runs_fetched(script):
        yield Finding("critical", "runs what it downloads")
    if any(name_of(call) in t.SENDS for call in script.calls) and any(map(_shows_secrets, script.calls)):
        yield Finding("critical", "could send secrets over the network")


def _runs_fetched(script: Script) -> bool:
    """Whether something that came over the network is run: piped into a shell, put into its words, or saved before."""
    fetches = [call for call in script.calls if name_of(call) in t.FETCHES]
    within = [call.source for call in fetches if "substitution" in call.via][:MOST_WITHIN]
    saved = {file for call in fetches for file in _saved(call)}
    fetched = outer_piped = False
    for call in script.calls if fetches else ():
        name = name_of(call)
        outer_piped = outer_piped if call.via else call.piped
        evaluates = name in t.SHELLS or name in ("eval", "source", ".")
        runs = evaluates or name in _RUNS
        if runs and fetched and (call.piped or outer_piped) and _reads_its_input(call):
            return True
        if evaluates and any(source in call.source for source in within):
            return True
        named = call.words if runs else call.words[:1]
        if name not in t.FETCHES and saved.intersection(map(paths.basename, named)):
            return True
        fetched = fetched or name in t.FETCHES
    return False


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
    given = (word for option, word in pairwise(call.words) if option != "-i")
    named = (real_path(word.lstrip("@").rpartition("=@")[2], home) for word in given)
    return any(path is not None and (secret_in(path) or re.search(r"/\.env(\.\w+)?$", path)) for path in named)
