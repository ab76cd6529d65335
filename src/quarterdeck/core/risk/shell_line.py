"""The risk of a whole shell line: of its commands, and of what they pass to each other."""

from __future__ import annotations

import posixpath as paths
import re
from collections.abc import Iterator
from itertools import pairwise

from quarterdeck.core.risk import command_table as table
from quarterdeck.core.risk.command_risk import call_reasons
from quarterdeck.core.risk.command_rows import name_of
from quarterdeck.core.risk.file_risk import GUARD_CHANGE, RiskReason, read_reasons, short_path, write_reasons
from quarterdeck.core.risk.path_zones import AgentLocation, PathZone, real_path, secret_in, zone_of
from quarterdeck.core.shell.script import Call, Script
from quarterdeck.core.text.sanitize import visible

_HARMLESS_VALUE = r"(?!(cat|true|:|/dev/null|['\"]{2})(\s|$))"
_STEERING_ASSIGNMENT = re.compile(rf"(?<![\w$])({'|'.join(sorted(table.STEERING_VARIABLES))})={_HARMLESS_VALUE}")
_SECRET_VALUE = re.compile(
    r"\$\{?(\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)\w*)"
)
_INPUT_REDIRECTION = re.compile(r"(?<![<\w])\d?<\s*([^\s<>&|;()]+)")
_EMPTIES = re.compile(
    r"(?:\A|[;&|\n])[ \t]*(?::|true|cat /dev/null|(?:echo -n|printf)(?: (?:''|\"\"))?)?"
    r"[ \t]*(?<![>\d&])>\|?[ \t]*([^\s<>&|;()]+)"
)
"""A redirection into a file of a command that prints nothing."""
_SELDOM_MATTERS = re.compile(
    r"\.(?:log|out|err|txt|tmp|lock|pid|lst|csv)\Z|/\.gitkeep\Z|/(?:logs?|tmp|temp|build|dist)/"
)
_HIDDEN_COMMAND = re.compile(r"\[\s*\$\(")
_UNCLEAR_DOUBTS = (
    "evaluates arithmetic",
    "uses a subscript",
    "holds an ANSI-C",
    "expands braces",
    "holds an extended",
    "may expand",
)
"""Beginnings of the doubts that make even a harmless line medium."""
_FORK_BOMB = re.compile(r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:")
_QD_FILES = re.compile(r"QUARTERDECK_HOME|QUARTERDECK_TOKEN|quarterdeck/(token|hook-token|events\.db|config\.yaml)")
_UNREADABLE = {
    "cannot be parsed": "cannot be read as a shell command",
    "is too long to be read": "is too long to be checked",
    "nests too deeply": "nests too deeply to be checked",
}
"""Doubts about a line that cannot be assessed."""
MAX_SUBSTITUTIONS = 20
_RUNS_CODE = table.INTERPRETERS.keys() - {"awk", "gawk"}
_OUTPUT_OPTIONS = frozenset({"-o", "--output", "-O", "--output-document"})


def line_reasons(command: str, script: Script, location: AgentLocation) -> Iterator[RiskReason]:
    """Yield every risk of a line. `script`: the parsed line."""
    yield from _text_reasons(command)
    yield from (RiskReason("high", _UNREADABLE[doubt]) for doubt in script.doubts if doubt in _UNREADABLE)
    if any(doubt.startswith("connects to ") for doubt in script.doubts):
        yield RiskReason("high", "opens a connection from the shell itself")
    for call in script.calls:
        yield from call_reasons(call, location)
    for target in script.writes:
        yield from write_reasons(real_path(target, location), location)
    for match in _EMPTIES.finditer(command):
        path = real_path(match.group(1).strip("'\""), location)
        if path is not None and zone_of(path, location) is PathZone.PROJECT and not _SELDOM_MATTERS.search(path):
            yield RiskReason("high", f"empties a file ({short_path(path, location)})")
    for match in _INPUT_REDIRECTION.finditer(command):
        path = real_path(match.group(1).strip("'\""), location)
        yield from (reason for reason in read_reasons(path, location) if reason.level != "medium")
    yield from (
        RiskReason("medium", f"is not clear: {doubt}") for doubt in script.doubts if doubt.startswith(_UNCLEAR_DOUBTS)
    )
    yield from _data_flow_reasons(script)


def _text_reasons(command: str) -> Iterator[RiskReason]:
    if visible(command) != command:
        yield RiskReason("high", "holds characters that cannot be seen")
    if _FORK_BOMB.search(command):
        yield RiskReason("critical", "starts processes without end")
    if match := _STEERING_ASSIGNMENT.search(command):
        yield RiskReason("high", f"changes which code programs load or whom they trust ({match.group(1)})")
    if match := _SECRET_VALUE.search(command):
        yield RiskReason("high", f"uses a secret of the environment (${match.group(1)})")
    if _HIDDEN_COMMAND.search(command):
        yield RiskReason("high", "hides a command in a subscript")
    if _QD_FILES.search(command):
        yield RiskReason("critical", f"{GUARD_CHANGE}: Quarterdeck's files")


def _data_flow_reasons(script: Script) -> Iterator[RiskReason]:
    """Yield the risks of data that flows from one command to another."""
    if _runs_fetched(script):
        yield RiskReason("critical", "runs what it downloads")
    carriers = [call for call in script.calls if name_of(call) in _ADDRESSES and _has_substitution(call)]
    if carriers and any(call.via == _SUBSTITUTION and not _tells_little(call) for call in script.calls):
        yield RiskReason("high", f"sends the output of a command with its address ({name_of(carriers[0])})")
    if any(name_of(call) in table.SENDS for call in script.calls) and any(map(_shows_secrets, script.calls)):
        yield RiskReason("critical", "could send secrets over the network")


_SUBSTITUTION = "command substitution"
_ADDRESSES = table.SENDS | {"ping", "ping6", "traceroute", "tracepath", "mtr", "whois", "open", "xdg-open"}
_TELL_LITTLE = frozenset(
    ("date", "uname", "arch", "nproc", "seq", "basename", "dirname", "lsb_release", "dpkg", "mktemp")
)
"""Commands whose output tells nothing about a person or a machine that is worth sending."""
_LOCAL = re.compile(r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|\Z)")


def _has_substitution(call: Call) -> bool:
    return any(("$(" in word or "`" in word) and not _LOCAL.match(word) for word in call.words[1:])


def _tells_little(call: Call) -> bool:
    return name_of(call) in _TELL_LITTLE or call.words[:2] in (("git", "rev-parse"), ("git", "describe"))


def _runs_fetched(script: Script) -> bool:
    """True if the line runs something it downloads: piped into a shell, put into its words, or saved first."""
    fetches = [call for call in script.calls if name_of(call) in table.FETCHES]
    substituted = [call.source for call in fetches if "substitution" in call.via][:MAX_SUBSTITUTIONS]
    saved_files = {file for call in fetches for file in _download_targets(call)}
    fetched = outer_piped = False
    for call in script.calls if fetches else ():
        name = name_of(call)
        outer_piped = outer_piped if call.via else call.piped
        evaluates = name in table.SHELLS or name in ("eval", "source", ".")
        runs = evaluates or name in _RUNS_CODE
        if runs and fetched and (call.piped or outer_piped) and _reads_stdin(call):
            return True
        if runs and any(source in call.source for source in substituted):
            return True
        candidates = call.words if runs else call.words[:1]
        if name not in table.FETCHES and saved_files.intersection(map(paths.basename, candidates)):
            return True
        fetched = fetched or name in table.FETCHES
    return False


def _reads_stdin(call: Call) -> bool:
    """True if an interpreter has no script of its own, so that it runs its input."""
    return not any(word not in ("-", "/dev/stdin") and not word.startswith("-") for word in call.words[1:2])


def _download_targets(call: Call) -> Iterator[str]:
    """Yield the names of the files a download is saved to."""
    for option, word in pairwise(call.words):
        if option in _OUTPUT_OPTIONS and word != "-":
            yield paths.basename(word.partition("?")[0])
    if name_of(call) == "wget" or "-O" in call.words or "--remote-name" in call.words:
        yield from filter(None, (paths.basename(word.partition("?")[0]) for word in call.words[1:] if "/" in word))


def _shows_secrets(call: Call) -> bool:
    """True if a call prints credentials: from a file that holds them, or from the environment."""
    name = name_of(call)
    if name in ("env", "printenv", "set", "export"):
        return name == "printenv" or not [word for word in call.words[1:] if not word.startswith("-")]
    if name in table.SEES_NAMES or name in table.KEY_USERS or name in table.PRINTS:
        return False
    home = AgentLocation(cwd="/", home="/")
    words = (word for option, word in pairwise(call.words) if option != "-i")
    candidates = (real_path(word.lstrip("@").rpartition("=@")[2], home) for word in words)
    return any(path is not None and (secret_in(path) or re.search(r"/\.env(\.\w+)?$", path)) for path in candidates)
