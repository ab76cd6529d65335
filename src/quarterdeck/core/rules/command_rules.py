"""Rules over a shell line: every command of it must be allowed, and one that is denied is enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from quarterdeck.core.model.rule import Rule, Verdict
from quarterdeck.core.patterns.command_paths import files_named
from quarterdeck.core.patterns.commands import Command, WildCommand, is_unread
from quarterdeck.core.patterns.match import Look, forbids, look_at
from quarterdeck.core.patterns.path_prefilter import Marks
from quarterdeck.core.patterns.paths import Files
from quarterdeck.core.patterns.pattern import Pattern, Whole
from quarterdeck.core.rules.index import (
    ANY_COMMAND,
    EVERY_COMMAND,
    Index,
    Key,
    command_key,
    keys_for,
    line_key,
    rank_of_bound,
)
from quarterdeck.core.shell.options import KNOWN, runs_or_writes
from quarterdeck.core.shell.script import Call, Script, grants, mentions, only_filters, read_script
from quarterdeck.core.shell.word_match import is_open
from quarterdeck.core.text.titles import cut

LONGEST_UNREAD = 256 * 1024
"""Up to here a line that nobody can read is searched for the words of a rule."""

MOST_GUESSED = 8
"""With more names that the shell makes, nobody can read the line."""

_MERE = re.compile(r"[a-z_-]*+")
_OPEN_NAME = re.compile(r"[*?$`{\[]")
_NONE: frozenset[str] = frozenset()
_WORD = re.compile(r"[^\s;&|<>()$`'\"\\{},=]+")


class CommandLook(Struct, frozen=True, kw_only=True):
    """A shell line, worked out once for all the rules. `words` are those of a line that nobody can read, and None
    where there are too many to look at: then every deny and ask rule is about it."""

    look: Look
    script: Script
    line: str
    words: frozenset[str] | None
    names: frozenset[str]
    """The words that can be the name of what the line runs."""
    mere: bool
    """All of it was read, and the names are mere letters: none is a path, has a version or is made by the shell."""
    files: tuple[Look, ...]
    """The files that the line plainly names and a rule may forbid."""
    telling: tuple[Call, ...]
    """The calls that may run or write more than their name says."""

    @property
    def line_key(self) -> str:
        return line_key(self.line)


def look_at_command(look: Look, file_tools: frozenset[str], marks: Marks) -> CommandLook:
    """The line, with the files it names as far as these tools may be forbidden to use them."""
    line = look.subject.command.strip()
    script = read_script(line)
    calls = script.calls
    listed = [call.words[0] for call in calls if call.words]
    joined = "_".join(listed)
    if "-m" in line and "python" in joined.casefold():  # `python -m pytest`
        listed += [call.words[2] for call in calls if len(call.words) > 2 and call.words[1] == "-m"]
        joined = "_".join(listed)
    if "git-" in joined and any(name.rpartition("/")[2].startswith("git-") for name in listed):
        listed.append("git")
    names = frozenset(listed)
    mere = bool(listed) and not script.doubts and _is_mere(joined)
    files = files_named(look.subject, script, file_tools, marks, names if mere else None) if file_tools else ()
    return CommandLook(
        look=look,
        script=script,
        line=line,
        words=_NONE if mere else _loose_words(line, script, joined),
        names=names,
        mere=mere,
        files=tuple(map(look_at, files)) if files else (),
        telling=telling_calls(calls, mere),
    )


def _is_mere(text: str) -> bool:
    """Whether a text is mere letters and dashes; most show it at a glance."""
    letters = text.replace("_", "")
    return (letters.isalpha() and letters.islower() and letters.isascii()) or _MERE.fullmatch(text) is not None


def telling_calls(calls: Iterable[Call], mere: bool = False) -> tuple[Call, ...]:
    """The calls that are told to run or write something, or get arguments that nobody sees. Names that are mere letters
    show at a glance which of them can be."""
    if mere:
        calls = [call for call in calls if call.words[0] in KNOWN or call.unseen or call.words[0][:6] == "python"]
    return tuple([call for call in calls if call.words and (call.unseen or runs_or_writes(call.words, 0))])


def _loose_words(line: str, script: Script, names: str) -> frozenset[str] | None:
    if _OPEN_NAME.search(names) and len(_guessed(script.calls)) > MOST_GUESSED:
        return None
    if not is_unread(script):
        return _NONE
    if len(line) > LONGEST_UNREAD:
        return None
    return frozenset(word.rpartition("/")[2] for word in _WORD.findall(line))


def _guessed(calls: tuple[Call, ...]) -> list[Call]:
    """The calls whose name the shell makes."""
    return [call for call in calls if call.words and is_open(call.words[0])]


def command_keys(seen: CommandLook) -> list[Key]:
    """Every key under which a deny or ask rule about this line can stand."""
    keys: list[Key] = ["Bash"]
    if seen.words is None or _OPEN_NAME.search("\n".join(seen.names)):
        keys.append(EVERY_COMMAND)
    else:
        keys += (ANY_COMMAND, seen.line_key, *map(command_key, seen.names | seen.words))
    for look in seen.files:
        keys += [key for key in keys_for(look) if isinstance(key, tuple)]
    return keys


def forbids_command(pattern: Pattern, seen: CommandLook, project: str | None) -> bool:
    """Whether a deny or ask rule is about any command of the line, however deep it stands."""
    form = pattern.form
    if seen.words is None and isinstance(form, Command | WildCommand):
        return True
    match form:
        case Command():
            if not form.open_end and line_key(form.line) == seen.line_key:
                return True
            if not form.words:
                return False
            return _among(form.words, seen) or any(
                mentions(form.words, form.open_end, call) for call in seen.script.calls
            )
        case WildCommand():
            return form.matches(seen.line) or any(form.matches(text) for text in _spellings(seen.script.calls))
        case Files():
            return any(forbids(pattern, look, project) for look in seen.files)
        case _:
            return forbids(pattern, seen.look, project)


def _among(words: tuple[str, ...], seen: CommandLook) -> bool:
    """Whether the words of a pattern all stand somewhere in a line that nobody can read."""
    found = seen.words or frozenset()
    return bool(found) and all(word.rpartition("/")[2] in found for word in words)


def _spellings(calls: tuple[Call, ...]) -> list[str]:
    """Each call as one text: as written, and as the shell sees it."""
    texts: list[str] = []
    for call in calls:
        if call.words:
            name = call.words[0].rpartition("/")[2]
            texts += [call.source, " ".join(call.words), " ".join((name, *call.words[1:]))]
    return texts


def grants_call(pattern: Pattern, call: Call) -> bool:
    """Whether an allow rule covers one command of a line."""
    form = pattern.form
    match form:
        case Command():
            return bool(form.words) and grants(form.words, form.open_end, call)
        case Whole():
            return True
        case WildCommand():
            return form.matches(" ".join(call.words)) and grants(form.words, True, call)
        case _:
            return False


def is_line(pattern: Pattern, seen: CommandLook) -> bool:
    """Whether the pattern is this very line."""
    form = pattern.form
    return isinstance(form, Command) and not form.open_end and form.line == seen.line


def allowed(index: Index, seen: CommandLook, holds: Callable[[Rule], bool]) -> Verdict:
    """Allow when the line is clear and every command of it is covered by a rule that holds; else why not."""
    against = why_never(seen)
    if against:
        return Verdict(effect=None, reasons=against)
    for bound in index.get(seen.line_key) if index.has_lines else ():
        if is_line(bound.pattern, seen) and holds(bound.rule):
            return Verdict(effect="allow", rules=(bound.rule,))
    used: dict[str, Rule] = {}
    missing: list[str] = []
    told = seen.telling
    for call in seen.script.calls:
        telling = bool(told) and call in told
        if rule := _granting(index, call, telling, holds):
            used[rule.rule_id] = rule
        elif telling or not only_filters(call):
            missing.append(f"no rule allows {cut(call.source)}")
    if missing or not used:
        return Verdict(effect=None, reasons=tuple(missing))
    return Verdict(effect="allow", rules=tuple(used.values()))


def why_never(seen: CommandLook) -> tuple[str, ...]:
    """Why no allow rule can cover the line, whatever it says."""
    if seen.look.subject.tool_input.get("dangerouslyDisableSandbox"):
        return ("runs outside the sandbox",)
    if not seen.script.calls and not seen.script.doubts:
        return ("runs no command",)
    return seen.script.doubts


def _granting(index: Index, call: Call, telling: bool, holds: Callable[[Rule], bool]) -> Rule | None:
    """The rule of the lowest rank that covers the call. What tells nothing tells nothing behind a rule's words."""
    words, outer = call.words, call.outer
    near = index.beginning(words)
    if outer:
        near = near + index.beginning(outer + words)
    if index.whole_shell:
        near = near + index.whole_shell
    for bound in near if len(near) < 2 else sorted(near, key=rank_of_bound):
        if bound.open_words and not outer and not call.unseen:
            # The call begins with these words.
            covered = not telling or not runs_or_writes(words, bound.open_words)
        else:
            covered = grants_call(bound.pattern, call)
        if covered and holds(bound.rule):
            return bound.rule
    return None
