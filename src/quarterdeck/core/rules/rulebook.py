"""The verdict of the rules on a tool use: deny beats ask beats allow, then the narrower scope."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.model.rule import EFFECTS, SCOPES, Rule, Untrusted, Verdict, inactive_reason, precedence
from quarterdeck.core.model.tool_use import ToolUse
from quarterdeck.core.patterns.command_patterns import CommandPattern
from quarterdeck.core.patterns.match import MatchSubject, allows, forbids, match_subject, may_concern
from quarterdeck.core.patterns.path_patterns import PathPattern
from quarterdeck.core.patterns.path_prefilter import PathPrefilter
from quarterdeck.core.patterns.pattern import Pattern, read_pattern
from quarterdeck.core.patterns.rule_words import BASH
from quarterdeck.core.programs.command_effects import implied
from quarterdeck.core.rules.command_rules import (
    CommandSubject,
    allow_verdict,
    blocked_reasons,
    command_keys,
    command_subject,
    forbids_command,
    grants_call,
    is_line,
)
from quarterdeck.core.rules.embedded_code import NO_CODE, EmbeddedCode, embedded_code, embedded_keys, file_hints, may_do
from quarterdeck.core.rules.index import ANY_COMMAND, IndexedRule, Key, RuleIndex, entry_order, rule_keys, subject_keys
from quarterdeck.core.rules.self_protection import line_touches_quarterdeck, touches_quarterdeck
from quarterdeck.errors import BadPattern

__all__ = ["ConsideredRule", "Explanation", "Rule", "Rulebook", "ToolUse", "Verdict", "explain", "trusts_all"]


def trusts_all(_: str) -> bool:
    """The default for `untrusted`: every project is trusted."""
    return False


class Rulebook:
    """A set of rules, read and indexed once. An unreadable allow rule allows nothing. While a deny or ask rule is
    unreadable, no rule allows anything where it would apply."""

    def __init__(
        self, entries: tuple[IndexedRule, ...], unreadable: tuple[tuple[Rule, str], ...], before: Rulebook | None
    ) -> None:
        self.entries = entries
        self.unreadable = unreadable
        self._broken = [rule for rule, _ in self.unreadable if rule.effect != "allow"]
        deny, ask, allow = (tuple(entry for entry in entries if entry.rule.effect == effect) for effect in EFFECTS)
        self._deny: RuleIndex = before._deny.updated(deny) if before else RuleIndex.of(deny)
        self._ask: RuleIndex = before._ask.updated(ask) if before else RuleIndex.of(ask)
        self._allow: RuleIndex = before._allow.updated(allow) if before else RuleIndex.of(allow)
        self.denies_anything = not self._deny.empty
        if before and before._deny is self._deny and before._ask is self._ask:
            self._restrictions: _Restrictions = before._restrictions
        else:
            self._restrictions = _Restrictions(self._deny, self._ask)
        self._restricted_keys = self._restrictions.keys
        self._restricted_names = self._restrictions.names
        self._needs_all_keys = self._restrictions.needs_all_keys
        self._file_tools = self._restrictions.file_tools
        self._file_prefilter = self._restrictions.file_prefilter
        self._file_hints = self._restrictions.file_hints

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> Rulebook:
        entries, unreadable = _index_rules(rules)
        return cls(tuple(sorted(entries, key=entry_order)), tuple(unreadable), None)

    def updated(self, rules: Mapping[str, Rule]) -> Rulebook:
        """Return a rulebook of these rules, by ID. Rules this one has already are not read again."""
        known = {entry.rule.rule_id: entry.rule for entry in self.entries} | {
            rule.rule_id: rule for rule, _ in self.unreadable
        }
        new = [rule for rule_id, rule in rules.items() if known.get(rule_id) is not rule]
        if len(new) > len(known):
            return Rulebook.of(rules.values())
        gone = {rule_id for rule_id, rule in known.items() if rules.get(rule_id) is not rule}
        added, unreadable = _index_rules(new)
        entries = [entry for entry in self.entries if entry.rule.rule_id not in gone]
        for entry in added:
            insort(entries, entry, key=entry_order)
        still = ((rule, reason) for rule, reason in self.unreadable if rule.rule_id not in gone)
        return Rulebook(tuple(entries), (*still, *unreadable), self)

    def verdict(self, tool_use: ToolUse, at: float, *, untrusted: Untrusted = trusts_all) -> Verdict:
        """The verdict on a tool use at a time. `untrusted`: true for a project folder whose allow rules must not
        apply. A tool with a name of its own is also seen under that name; the stronger verdict counts."""
        if tool_use.own_name:
            names = tool_use.tool_name, tool_use.own_name
            uses = (replace(tool_use, tool_name=name, own_name="") for name in names)
            return min((self.verdict(use, at, untrusted=untrusted) for use in uses), key=_strength)

        def is_active(rule: Rule) -> bool:
            return (rule.scope == "user" and rule.expires_at is None) or inactive_reason(
                rule, tool_use, at, untrusted
            ) is None

        subject, command = self.match_subjects(tool_use)
        keys = self._keys(subject, command)
        if keys and not self._restricted_keys.isdisjoint(keys):
            for effect, index in (("deny", self._deny), ("ask", self._ask)):
                for entry in index.rules_for_keys(keys):
                    if _forbids(entry, subject, command) and is_active(entry.rule):
                        return Verdict(effect=effect, rules=(entry.rule,))
        if guarded := self._guard_verdict(tool_use, command, is_active):
            return guarded
        return (
            allow_verdict(self._allow, command, is_active) if command else self._allow_verdict(subject, keys, is_active)
        )

    def _keys(self, subject: MatchSubject, command: CommandSubject | None) -> list[Key]:
        """The keys of rules for the use. Empty for a line whose command names rule out every deny and ask rule."""
        if command is None:
            return subject_keys(subject)
        passes = command.plain_names and not command.files and not self._needs_all_keys
        return [] if passes and self._restricted_names.isdisjoint(command.names) else command_keys(command)

    def match_subjects(self, tool_use: ToolUse) -> tuple[MatchSubject, CommandSubject | None]:
        """Prepare a tool use once for all rules."""
        subject = match_subject(tool_use)
        if tool_use.tool_name != BASH:
            return subject, None
        return subject, command_subject(subject, self._file_tools, self._file_prefilter)

    def _guard_verdict(
        self, tool_use: ToolUse, command: CommandSubject | None, is_active: Callable[[Rule], bool]
    ) -> Verdict | None:
        """Ask for a use that no allow rule may cover; None if allow rules apply."""
        if command:
            names = command.names if command.plain_names else None
            reason = line_touches_quarterdeck(
                tool_use, tool_use.quarterdeck_home, command.script, command.indirect, names
            )
        else:
            reason = touches_quarterdeck(tool_use, tool_use.quarterdeck_home)
        if reason:
            return Verdict(effect="ask", reasons=(reason,))
        for rule in self._broken:
            if is_active(rule):
                return Verdict(effect="ask", reasons=(f"the {rule.effect} rule {rule.pattern} cannot be read",))
        return self._embedded_code_verdict(command, is_active) if command and self._restricted_keys else None

    def embedded_code(self, command: CommandSubject) -> EmbeddedCode:
        """The code embedded in a line."""
        return embedded_code(command, self._file_tools, self._file_hints)

    def _embedded_code_verdict(self, command: CommandSubject, is_active: Callable[[Rule], bool]) -> Verdict | None:
        """Ask for a line whose embedded code mentions what a deny or ask rule covers."""
        code = self.embedded_code(command)
        if code is NO_CODE or self._restricted_keys.isdisjoint(keys := embedded_keys(code)):
            return None
        for index in (self._deny, self._ask):
            for entry in index.rules_for_keys(keys):
                if may_do(entry.pattern, code, entry.rule.scope_path) and is_active(entry.rule):
                    reason = f"another program may do what {entry.rule.effect} {entry.rule.pattern} is about"
                    return Verdict(effect="ask", reasons=(reason,))
        return None

    def _allow_verdict(self, subject: MatchSubject, keys: list[Key], is_active: Callable[[Rule], bool]) -> Verdict:
        for entry in self._allow.rules_for_keys(keys):
            if allows(entry.pattern, subject, entry.rule.scope_path) and is_active(entry.rule):
                return Verdict(effect="allow", rules=(entry.rule,))
        return Verdict(effect=None, reasons=(f"no rule allows this use of {subject.tool_use.tool_name}",))


class _Restrictions:
    """Facts about all deny and ask rules, worked out once: they rule out most uses without matching a pattern."""

    def __init__(self, deny: RuleIndex, ask: RuleIndex) -> None:
        self.keys = frozenset(deny.keys) | frozenset(ask.keys)
        self.names = frozenset(key[1:] for key in self.keys if isinstance(key, str) and key[0] == "$")
        self.needs_all_keys = deny.has_lines or ask.has_lines or not self.keys.isdisjoint((BASH, ANY_COMMAND))
        patterns = [entry.pattern for entry in (*deny.entries, *ask.entries)]
        files = [(pattern.tools, pattern.form) for pattern in patterns if isinstance(pattern.form, PathPattern)]
        self.file_tools = frozenset(tool for tools, _ in files for tool in tools)
        self.file_prefilter = PathPrefilter(form for _, form in files)
        self.file_hints = file_hints(patterns)


def _strength(verdict: Verdict) -> int:
    return len(EFFECTS) if verdict.effect is None else EFFECTS.index(verdict.effect)


def _index_rules(rules: Iterable[Rule]) -> tuple[list[IndexedRule], list[tuple[Rule, str]]]:
    """Split the rules into those that can be read, and those that cannot, with the reason."""
    entries: list[IndexedRule] = []
    unreadable: list[tuple[Rule, str]] = []
    for rule in rules:
        try:
            entries.append(_index_rule(rule))
        except BadPattern as error:
            unreadable.append((rule, str(error)))
    return entries, unreadable


def _index_rule(rule: Rule) -> IndexedRule:
    if rule.effect not in EFFECTS or rule.scope not in SCOPES:
        raise BadPattern(f"{rule.rule_id}: effect {rule.effect} with scope {rule.scope} means nothing")
    pattern = read_pattern(rule.pattern, rule.effect)
    form = pattern.form
    open_words = len(form.words) if isinstance(form, CommandPattern) and form.open_end else 0
    covered = implied(form.words) if isinstance(form, CommandPattern) and form.open_end and form.words else 0
    keys = tuple(rule_keys(pattern, rule.scope_path))
    return IndexedRule(rule, pattern, precedence(rule), keys, open_words, covered)


def _forbids(entry: IndexedRule, subject: MatchSubject, command: CommandSubject | None) -> bool:
    if command:
        return forbids_command(entry.pattern, command, entry.rule.scope_path)
    return forbids(entry.pattern, subject, entry.rule.scope_path)


class ConsideredRule(Struct, frozen=True, kw_only=True):
    """A rule for the tool. `matched`: it covers the use and is active. `why`: the reason, either way."""

    rule: Rule
    matched: bool
    why: str


class Explanation(Struct, frozen=True, kw_only=True):
    """The verdict, and every rule considered for it, the stronger first."""

    verdict: Verdict
    considered: tuple[ConsideredRule, ...]


def covering_patterns(patterns: Iterable[str], tool_use: ToolUse) -> set[str]:
    """Those of the patterns that would allow this tool use, each by itself."""
    rules = (
        Rule(rule_id="?", effect="allow", pattern=text, scope="user", created_at=0.0, created_by="?")
        for text in patterns
    )
    return {rule.pattern for rule in rules if Rulebook.of([rule]).verdict(tool_use, 0.0).effect == "allow"}


def explain(book: Rulebook, tool_use: ToolUse, at: float, *, untrusted: Untrusted = trusts_all) -> Explanation:
    """Explain the verdict on a tool use, rule by rule."""
    subject, command = book.match_subjects(tool_use)
    code = book.embedded_code(command) if command else None
    considered = [
        _consider(entry, subject, command, code, inactive_reason(entry.rule, tool_use, at, untrusted))
        for entry in book.entries
        if may_concern(entry.pattern, tool_use.tool_name)
        or (command and entry.rule.effect != "allow" and isinstance(entry.pattern.form, PathPattern))
    ]
    considered += [
        ConsideredRule(rule=rule, matched=False, why=f"cannot be read: {why}") for rule, why in book.unreadable
    ]
    return Explanation(verdict=book.verdict(tool_use, at, untrusted=untrusted), considered=tuple(considered))


def _consider(
    entry: IndexedRule,
    subject: MatchSubject,
    command: CommandSubject | None,
    code: EmbeddedCode | None,
    inactive: str | None,
) -> ConsideredRule:
    if entry.rule.effect != "allow":
        matches = _forbids(entry, subject, command)
        asks = code is not None and may_do(entry.pattern, code, entry.rule.scope_path)
        other = "another program may do what it is about, so it asks" if asks else "is about other uses"
        why = "is about this use" if matches else other
    elif command:
        matches, why = _covered(entry.pattern, command)
    else:
        matches = allows(entry.pattern, subject, entry.rule.scope_path)
        why = "covers this use" if matches else "covers other uses"
    return ConsideredRule(rule=entry.rule, matched=matches and inactive is None, why=inactive or why)


def _covered(pattern: Pattern, command: CommandSubject) -> tuple[bool, str]:
    """True if an allow rule covers any command of the line, and which in words."""
    if reasons := blocked_reasons(command):
        return False, f"no rule can allow this line: {', '.join(reasons)}"
    if is_line(pattern, command):
        return True, "covers the line"
    covered = [call.source for call in command.script.calls if grants_call(pattern, call, command.folder)]
    return bool(covered), f"covers {', '.join(covered)}" if covered else "covers other commands"
