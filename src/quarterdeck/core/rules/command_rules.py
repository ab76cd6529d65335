"""Rules over a shell line: to allow it, rules must allow every command in it; to deny it, one denied command is
enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.model.rule import Rule, Verdict
from quarterdeck.core.patterns.command_paths import READERS, named_files
from quarterdeck.core.patterns.command_patterns import CommandPattern, WildcardCommand, is_unreadable
from quarterdeck.core.patterns.coverage import is_judged
from quarterdeck.core.patterns.match import MatchSubject, forbids, match_subject
from quarterdeck.core.patterns.path_patterns import PathPattern
from quarterdeck.core.patterns.path_prefilter import PathPrefilter
from quarterdeck.core.patterns.pattern import Pattern, WholeToolPattern
from quarterdeck.core.patterns.rule_words import BASH
from quarterdeck.core.programs.command_effects import (
    INDIRECT,
    PLAIN_PROGRAMS,
    WordEffects,
    command_effects,
    effect_text,
    is_indirect,
    stays_in_project,
)
from quarterdeck.core.programs.credential_files import may_name_credentials, shown_credential
from quarterdeck.core.programs.grammar import UNKNOWN, Effects
from quarterdeck.core.programs.project_paths import Folder
from quarterdeck.core.rules.index import (
    ANY_COMMAND,
    EVERY_COMMAND,
    IndexedRule,
    Key,
    RuleIndex,
    command_key,
    entry_rank,
    line_key,
    subject_keys,
)
from quarterdeck.core.shell.leading_options import without_leading_options
from quarterdeck.core.shell.rule_free_calls import needs_no_rule
from quarterdeck.core.shell.run_folders import CHANGES_FOLDER, call_folder, entered_folders, line_folder
from quarterdeck.core.shell.script import Call, Script, grants, mentions, read_script
from quarterdeck.core.shell.word_match import is_open_name
from quarterdeck.core.shell.wrappers import HIDING_WRAPPERS
from quarterdeck.core.text.amounts import cut

MAX_SEARCHED_LINE = 256 * 1024
"""Characters of an unreadable line that is still searched for the words of a rule."""

MAX_GUESSED_NAMES = 8
"""With more command names that the shell makes, the line counts as unreadable."""

_PLAIN_NAMES = re.compile(r"[a-z_-]*+")
_OPEN_NAME = re.compile(r"[*?$`{\[]")
_NONE: frozenset[str] = frozenset()
_WORD = re.compile(r"[^\s;&|<>()$`'\"\\{},=]+")


class CommandSubject(Struct, frozen=True, kw_only=True):
    """A shell line, prepared once for all rules. `words`: the words of an unreadable line; None if there are too many
    to check, and then every deny and ask rule covers it."""

    subject: MatchSubject
    script: Script
    line: str
    words: frozenset[str] | None
    names: frozenset[str]
    """Words that can be the name of a command in the line."""
    plain_names: bool
    """The whole line was read, and the names are plain letters: none is a path, has a version or is made by the
    shell."""
    files: tuple[MatchSubject, ...]
    """Files that the line plainly names and a rule may deny."""
    folder: Folder
    """The folder the line runs in; None if it changes to one outside of the session's."""
    effects: Sequence[Effects]
    """The effects of each call."""
    indirect: tuple[Call, ...]
    """Calls that may run or write more than their name says."""

    @property
    def line_key(self) -> str:
        return line_key(self.line)


def command_subject(subject: MatchSubject, file_tools: frozenset[str], prefilter: PathPrefilter) -> CommandSubject:
    """Prepare a line. `file_tools`: the tools for which a rule denies files; only files for these are looked up."""
    line = subject.tool_use.command.strip()
    script = read_script(line)
    calls = script.calls
    programs = [call.words[0] for call in calls if call.words]
    joined = "_".join(programs)
    if "-m" in line and "python" in joined.casefold():  # `python -m pytest`
        programs += [call.words[2] for call in calls if len(call.words) > 2 and call.words[1] == "-m"]
        joined = "_".join(programs)
    if "git-" in joined and any(name.rpartition("/")[2].startswith("git-") for name in programs):
        programs.append("git")
    names = frozenset(programs)
    plain_names = bool(programs) and not script.doubts and _is_plain(joined)
    files = (
        named_files(subject.tool_use, script, file_tools, prefilter, names if plain_names else None)
        if file_tools
        else ()
    )
    folder = subject.tool_use.cwd if CHANGES_FOLDER.isdisjoint(names) else line_folder(script, subject.tool_use.cwd)
    effects = [
        0
        if not (words := call.words) or words[0] in PLAIN_PROGRAMS
        else command_effects(words, call_folder(call, folder) if call.outer else folder)
        for call in calls
    ]
    return CommandSubject(
        subject=subject,
        script=script,
        line=line,
        words=_NONE if plain_names else _loose_words(line, script, joined),
        names=names,
        plain_names=plain_names,
        files=tuple(map(match_subject, files)) if files else (),
        folder=folder,
        effects=effects,
        indirect=_indirect(calls, effects, plain_names and HIDING_WRAPPERS.isdisjoint(names)),
    )


def _indirect(calls: tuple[Call, ...], effects: list[Effects], all_seen: bool) -> tuple[Call, ...]:
    """The calls that may do more than their name says. `all_seen`: no call gets arguments that are not visible."""
    every = 0
    for own in effects:
        every |= own
    if all_seen and not every & INDIRECT:
        return ()
    pairs = zip(calls, effects, strict=True)
    return tuple(call for call, own in pairs if own & INDIRECT or (call.unseen and call.words))


def indirect_calls(calls: Iterable[Call]) -> tuple[Call, ...]:
    """The calls whose arguments run or write something, or are not visible here."""
    return tuple([call for call in calls if call.words and (call.unseen or is_indirect(command_effects(call.words)))])


def _is_plain(text: str) -> bool:
    """True if a text is plain letters and dashes. Most texts pass the cheap test before the regular expression."""
    letters = text.replace("_", "")
    return (letters.isalpha() and letters.islower() and letters.isascii()) or _PLAIN_NAMES.fullmatch(text) is not None


def _loose_words(line: str, script: Script, names: str) -> frozenset[str] | None:
    if _OPEN_NAME.search(names) and len(_open_named_calls(script.calls)) > MAX_GUESSED_NAMES:
        return None
    if not is_unreadable(script):
        return _NONE
    if len(line) > MAX_SEARCHED_LINE:
        return None
    return frozenset(word.rpartition("/")[2] for word in _WORD.findall(line))


def _open_named_calls(calls: tuple[Call, ...]) -> list[Call]:
    """The calls whose name the shell makes, from a variable or a wildcard."""
    return [call for call in calls if call.words and is_open_name(call.words[0])]


def command_keys(command: CommandSubject) -> list[Key]:
    """Every key under which a deny or ask rule for this line can be indexed."""
    keys: list[Key] = [BASH]
    if command.words is None or _OPEN_NAME.search("\n".join(command.names)):
        keys.append(EVERY_COMMAND)
    else:
        keys += (ANY_COMMAND, command.line_key, *map(command_key, command.names | command.words))
    for subject in command.files:
        keys += [key for key in subject_keys(subject) if isinstance(key, tuple)]
    return keys


def forbids_command(pattern: Pattern, command: CommandSubject, project: str | None) -> bool:
    """True if a deny or ask rule covers any command of the line, however deeply nested."""
    form = pattern.form
    if command.words is None and isinstance(form, CommandPattern | WildcardCommand):
        return True
    match form:
        case CommandPattern():
            if not form.open_end and line_key(form.line) == command.line_key:
                return True
            if not form.words:
                return False
            return _words_occur(form.words, command) or any(
                mentions(form.words, form.open_end, call) for call in command.script.calls
            )
        case WildcardCommand():
            return form.matches(command.line) or any(form.matches(text) for text in _spellings(command.script.calls))
        case PathPattern():
            return any(forbids(pattern, subject, project) for subject in command.files)
        case _:
            return forbids(pattern, command.subject, project)


def _words_occur(words: tuple[str, ...], command: CommandSubject) -> bool:
    """True if all words of a pattern occur in an unreadable line."""
    known = command.words or frozenset()
    return bool(known) and all(word.rpartition("/")[2] in known for word in words)


def _spellings(calls: tuple[Call, ...]) -> list[str]:
    """The texts of each call: as written, as the shell reads it, and without the folder of its name."""
    texts: list[str] = []
    for call in calls:
        if call.words:
            name = call.words[0].rpartition("/")[2]
            texts += [call.source, " ".join(call.words), " ".join((name, *call.words[1:]))]
    return texts


def grants_call(pattern: Pattern, call: Call, folder: Folder = "") -> bool:
    """True if an allow rule covers one command of a line. `folder`: where the line runs."""
    folder = call_folder(call, folder)
    form = pattern.form
    match form:
        case CommandPattern():
            return bool(form.words) and grants(form.words, form.open_end, call, folder)
        case WholeToolPattern():
            return True
        case WildcardCommand():
            return form.matches(" ".join(call.words)) and grants(form.words, True, call, folder)
        case _:
            return False


def is_line(pattern: Pattern, command: CommandSubject) -> bool:
    """True if the pattern is exactly this line."""
    form = pattern.form
    return isinstance(form, CommandPattern) and not form.open_end and form.line == command.line


def allow_verdict(index: RuleIndex, command: CommandSubject, is_active: Callable[[Rule], bool]) -> Verdict:
    """Allow if the line is clear and an active rule covers each of its commands; else give the reasons why not."""
    doubts = blocked_reasons(command)
    if doubts:
        return Verdict(effect=None, reasons=doubts)
    for entry in index.get(command.line_key) if index.has_lines else ():
        if is_line(entry.pattern, command) and is_active(entry.rule):
            return Verdict(effect="allow", rules=(entry.rule,))
    used: dict[str, Rule] = {}
    missing: list[str] = []
    credentials = command.folder is None or may_name_credentials(command.line, command.names)
    for call, effects in zip(command.script.calls, command.effects, strict=False):  # the fastest way to pair them
        shown = _shown_credentials(call, command) if credentials else ""
        if rule := _covering_rule(index, command, call, effects, shown, is_active):
            used[rule.rule_id] = rule
        elif needs_no_rule(call, effects, command.script, command.folder):
            pass
        elif not shown and (rule := _rule_without_options(index, command, call, is_active)):
            used[rule.rule_id] = rule
        else:
            missing.append(_missing_reason(index, command, call))
    if missing or not used:
        return Verdict(effect=None, reasons=tuple(missing) or ("no rule covers any command of it",))
    return Verdict(effect="allow", rules=tuple(used.values()))


def _missing_reason(index: RuleIndex, command: CommandSubject, call: Call) -> str:
    """The reason why no rule allows a call: the words that go beyond the nearest rule, if there is one."""
    reason = f"no rule allows {cut(call.source)}"
    if shown := _shown_credentials(call, command):
        return f"{reason}: {cut(shown, 40)} holds credentials"
    nearest = max(_candidates(index, call), key=lambda entry: entry.open_words, default=None)
    if nearest is None or not nearest.open_words:
        return reason
    found: list[WordEffects] = []
    command_effects(call.words, command.folder, 0 if call.outer else nearest.open_words, found)
    beyond = [word for word in found if word.effects & ~nearest.implied]
    if not beyond:
        return reason
    unknown = [word.word for word in beyond if word.effects & UNKNOWN]
    if unknown:
        return f"{reason}: Quarterdeck does not know {cut(unknown[0], 40)} of {call.words[0]}"
    return f"{reason}: {cut(beyond[0].word, 40)} {effect_text(beyond[0].effects & ~nearest.implied)}"


def blocked_reasons(command: CommandSubject) -> tuple[str, ...]:
    """The reasons why no allow rule can ever cover the line; empty if there are none."""
    if command.subject.tool_use.tool_input.get("dangerouslyDisableSandbox"):
        return ("runs outside the sandbox",)
    if not command.script.calls and not command.script.doubts:
        return ("runs no command",)
    return command.script.doubts


def _shown_credentials(call: Call, command: CommandSubject) -> str:
    """A word of a call, or one that `find` or `xargs` gives it, that names a file with credentials; empty if none."""
    if not call.words or not (is_judged(call.words) or call.words[0] in READERS):
        return ""
    given = command.script.reads
    if call.unseen or "{}" in call.words:
        given += tuple(word for other in command.script.calls for word in (*other.outer[1:], *other.words[1:]))
    return shown_credential(call.words, given, entered_folders(command.script) if command.folder is None else ())


def _covering_rule(
    index: RuleIndex,
    command: CommandSubject,
    call: Call,
    effects: Effects,
    shown: str,
    is_active: Callable[[Rule], bool],
) -> Rule | None:
    """The active rule of the lowest rank that covers the call. `shown`: a file with credentials, which the rule must
    name; empty if there is none."""
    words, outer = call.words, call.outer
    candidates = _candidates(index, call) if outer or index.whole_shell else index.rules_for_words(words)
    if not candidates:
        return None
    for entry in candidates if len(candidates) < 2 else sorted(candidates, key=entry_rank):
        if entry.open_words and not outer and not call.unseen:
            # The call begins with these words. Most calls have no effect beyond those of the rule.
            covered = not effects & ~entry.implied or _covers(entry, words, command.folder)
        else:
            covered = grants_call(entry.pattern, call, command.folder) or _runs_for(entry, call, command.folder)
        if covered and (not shown or _names_word(entry, shown)) and is_active(entry.rule):
            return entry.rule
    return None


def _names_word(entry: IndexedRule, word: str) -> bool:
    """True if a rule names this word, or covers whatever a shell may do."""
    form = entry.pattern.form
    if isinstance(form, CommandPattern):
        return not form.open_end or word in form.words
    return isinstance(form, WholeToolPattern)


def _rule_without_options(
    index: RuleIndex, command: CommandSubject, call: Call, is_active: Callable[[Rule], bool]
) -> Rule | None:
    """The active rule that covers the call without the harmless options in front of what the rule names."""
    if not call.words or call.unseen:
        return None
    folder = call_folder(call, command.folder)
    if call.outer:
        plain = replace(call, outer=without_leading_options(call.outer, folder))
    else:
        plain = replace(call, words=without_leading_options(call.words, folder))
    if plain == call:
        return None
    for entry in sorted(_candidates(index, plain), key=entry_rank):
        covered = grants_call(entry.pattern, plain, command.folder) or _runs_for(entry, plain, command.folder)
        if entry.open_words and covered and is_active(entry.rule):
            return entry.rule
    return None


def _covers(entry: IndexedRule, words: tuple[str, ...], folder: Folder) -> bool:
    """True if the words that the rule does not name have no effect beyond those that it covers."""
    return not command_effects(words, folder, entry.open_words) & ~entry.implied


def _runs_for(entry: IndexedRule, call: Call, folder: Folder) -> bool:
    """True if a rule names only what starts the project's own tools (`uv run`), and the call is such a tool."""
    prefix, outer = call.outer[: entry.open_words], call.outer
    return (
        bool(entry.open_words)
        and not call.unseen
        and prefix in PROJECT_RUNNERS
        and prefix == _first_words(entry)
        and len(outer) >= len(prefix)
        and stays_in_project(call.words, folder)
    )


def _first_words(entry: IndexedRule) -> tuple[str, ...]:
    form = entry.pattern.form
    return form.words if isinstance(form, CommandPattern) else ()


PROJECT_RUNNERS = frozenset(
    {
        ("bundle", "exec"),
        ("hatch", "run"),
        ("pdm", "run"),
        ("pipenv", "run"),
        ("poetry", "run"),
        ("uv", "run"),
        ("rye", "run"),
    }
)
"""What runs a tool of the project in its own environment."""


def _candidates(index: RuleIndex, call: Call) -> list[IndexedRule]:
    candidates = index.rules_for_words(call.words)
    if call.outer:
        candidates = candidates + index.rules_for_words(call.outer + call.words)
    if index.whole_shell:
        candidates = candidates + index.whole_shell
    return candidates
