"""The risk of one command of a shell line: from the table, from special commands, and from the paths it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec.structs import replace

from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.risk import command_table as table
from quarterdeck.core.risk.command_rows import name_of, plain_words, table_reasons
from quarterdeck.core.risk.file_risk import RiskReason, read_reasons
from quarterdeck.core.risk.path_zones import (
    AgentLocation,
    PathZone,
    possible_secret_in,
    real_path,
    secret_in,
    zone_of,
)
from quarterdeck.core.risk.program_effects import effect_reasons, only_asks, only_shows, rehearses
from quarterdeck.core.risk.special_commands import read_only_reason, special_reasons
from quarterdeck.core.shell.script import Call
from quarterdeck.core.text.amounts import cut

_SHOW_CERTIFICATES = frozenset(("x509", "verify", "crl", "req"))
"""Subcommands of openssl that with `-noout` show what is public."""
_SPACE = re.compile(r"\s")
_PATHS_DONE = table.PRINTS | table.DELETES | table.WRITES_ALL
"""Commands whose words are plain text, or whose paths a special command assesses already."""


def call_reasons(call: Call, location: AgentLocation) -> Iterator[RiskReason]:
    """Yield every risk of a call."""
    if not call.words:
        return
    name = name_of(call)
    if not name or call.words[0].startswith(("$", "`")):
        yield RiskReason("high", "runs what a variable or another command says")
        return
    if only_shows(call, name):
        yield RiskReason("low", "")
        return
    rows = [] if only_asks(call, name, location) else table_reasons(call, name)
    reasons = [*rows, *special_reasons(call, name, location), *effect_reasons(call, name, location)]
    if rehearses(call, name):
        reasons = [RiskReason("medium", f"only says what it would do ({cut(' '.join(call.words[:3]), 60)})")]
    reasons += [*_path_reasons(call, name, location)]
    yield from reasons or [_default_reason(_without_project_folder(call, name, location), name)]


def _without_project_folder(call: Call, name: str, location: AgentLocation) -> Call:
    """Drop `-C folder` from a git call when the folder is in the project: it adds no risk."""
    words = call.words
    if name == "git" and words[1:2] == ("-C",) and len(words) > 2:
        zone = zone_of(real_path(words[2], location), location)
        if zone in (PathZone.PROJECT, PathZone.PROJECT_ROOT):
            return replace(call, words=(words[0], *words[3:]))
    return call


def _default_reason(call: Call, name: str) -> RiskReason:
    """The risk of a call for which no other reason was found."""
    plain = plain_words(call)
    if call.words[1:] and set(call.words[1:]) <= {"--version", "-V", "--help", "-h", "version", "-v"}:
        return RiskReason("low", "")
    if name in table.READS or (name == "git" and (not plain or plain[0] in table.GIT_READS)):
        return read_only_reason(call, name)
    if name in table.PROJECT_TOOLS:
        return RiskReason("medium", f"runs code of the project ({name})")
    return RiskReason("medium", f"runs a program Quarterdeck does not know ({cut(name, 40)})")


def _path_reasons(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """Yield the risks of paths among the words of any command: credentials, and files outside the project."""
    if name in _PATHS_DONE:
        return
    if (
        name == "openssl"
        and call.words[1:2] in (("x509",), ("verify",), ("crl",), ("req",))
        and "-key" not in call.words
    ):
        return
    shows = name in table.VIEWERS and not (name == "sed" and any(word.startswith("-i") for word in call.words))
    pattern = plain_words(call)[:1] if name in table.PATTERN_FIRST else []
    for option, word in pairwise(call.words):
        for piece in _pieces(word):
            path = real_path(piece, location)
            if path is not None and (secret_in(path) or possible_secret_in(path)):
                yield _secret_reason(
                    path, name, location, uses=name in table.KEY_USERS or (option == "-i" and name in table.SENDS)
                )
            elif shows and word[:1] in "/~." and word not in pattern:
                yield from read_reasons(path, location)


def _pieces(word: str) -> Iterator[str]:
    """Yield the parts of a word that may be a path: `@file`, `--key=file`, `file://…`, `host:file`."""
    if _SPACE.search(word) and word[:1] not in "/~@":
        return
    yield word.removeprefix("file://").lstrip("@<")
    for sign in ("=@", "=", ":"):
        before, separator, after = word.partition(sign)
        if separator and after and not after.startswith("//") and before:
            yield after.lstrip("@")


def _secret_reason(path: str, name: str, location: AgentLocation, *, uses: bool) -> RiskReason:
    reason = next(read_reasons(path, location), RiskReason("low", ""))
    if name in table.SEES_NAMES:
        return RiskReason("medium", reason.text.replace("reads", "looks at", 1))
    if uses:
        return RiskReason("high", reason.text.replace("reads", "uses", 1))
    return reason


def worst_level(reasons: list[RiskReason]) -> str:
    """The highest level of the reasons; low without any."""
    return LEVELS[max((LEVELS.index(reason.level) for reason in reasons), default=0)]
