"""What the rules say about one use of a tool: deny beats ask beats allow, then the narrower scope."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from quarterdeck.core.model.rule import EFFECTS, SCOPES, Rule, Untrusted, Verdict, rank_of, why_idle
from quarterdeck.core.model.tool_use import Subject
from quarterdeck.core.patterns.commands import Command
from quarterdeck.core.patterns.match import Look, allows, concerns, forbids, look_at
from quarterdeck.core.patterns.path_prefilter import Marks
from quarterdeck.core.patterns.paths import Files
from quarterdeck.core.patterns.pattern import Pattern, read_pattern
from quarterdeck.core.rules.command_rules import (
    CommandLook,
    allowed,
    command_keys,
    forbids_command,
    grants_call,
    is_line,
    look_at_command,
    why_never,
)
from quarterdeck.core.rules.embedded_code import NOTHING, Told, hints_of, is_told, told_keys, what_is_told
from quarterdeck.core.rules.index import ANY_COMMAND, Bound, Index, Key, keys_for, keys_of, order_of_bound
from quarterdeck.core.rules.self_protection import line_touches_us, touches_us
from quarterdeck.errors import BadPattern

__all__ = ["Considered", "Explanation", "Rule", "Rulebook", "Subject", "Verdict", "explain", "trusts_all"]


def trusts_all(_: str) -> bool:
    """Nothing is untrusted."""
    return False


class Rulebook:
    """A set of rules, read and indexed once. A rule that cannot be read allows nothing; where it would deny or ask,
    nothing is allowed until it is mended."""

    def __init__(self, bound: tuple[Bound, ...], unread: tuple[tuple[Rule, str], ...], before: Rulebook | None) -> None:
        self.bound = bound
        self.unread = unread
        self._broken = [rule for rule, _ in self.unread if rule.effect != "allow"]
        deny, ask, allow = (tuple(one for one in bound if one.rule.effect == effect) for effect in EFFECTS)
        self._deny: Index = before._deny.changed(deny) if before else Index.of(deny)
        self._ask: Index = before._ask.changed(ask) if before else Index.of(ask)
        self._allow: Index = before._allow.changed(allow) if before else Index.of(allow)
        self.denies_anything = not self._deny.empty
        if before and before._deny is self._deny and before._ask is self._ask:
            self._forbidden: _Forbidden = before._forbidden
        else:
            self._forbidden = _Forbidden(self._deny, self._ask)
        self._forbidding = self._forbidden.keys
        self._forbidden_names = self._forbidden.names
        self._forbids_by_more = self._forbidden.by_more
        self._file_tools = self._forbidden.file_tools
        self._file_marks = self._forbidden.file_marks
        self._hints = self._forbidden.hints

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> Rulebook:
        bound, unread = _read(rules)
        return cls(tuple(sorted(bound, key=order_of_bound)), tuple(unread), None)

    def changed(self, rules: Mapping[str, Rule]) -> Rulebook:
        """The book of these rules, by their ids. What stands here already is not read again."""
        known = {one.rule.rule_id: one.rule for one in self.bound} | {rule.rule_id: rule for rule, _ in self.unread}
        new = [rule for rule_id, rule in rules.items() if known.get(rule_id) is not rule]
        if len(new) > len(known):
            return Rulebook.of(rules.values())
        gone = {rule_id for rule_id, rule in known.items() if rules.get(rule_id) is not rule}
        read, unread = _read(new)
        bound = [one for one in self.bound if one.rule.rule_id not in gone]
        for one in read:
            insort(bound, one, key=order_of_bound)
        still = (one for one in self.unread if one[0].rule_id not in gone)
        return Rulebook(tuple(bound), (*still, *unread), self)

    def verdict(self, subject: Subject, at: float, *, untrusted: Untrusted = trusts_all) -> Verdict:
        """What the rules say about this use at this time. `untrusted` tells of a project's folder whether its allow
        rules must not hold."""

        def holds(rule: Rule) -> bool:
            return (rule.scope == "user" and rule.expires_at is None) or why_idle(rule, subject, at, untrusted) is None

        look, command = self.look(subject)
        keys = self._keys(look, command)
        if keys and not self._forbidding.isdisjoint(keys):
            for effect, index in (("deny", self._deny), ("ask", self._ask)):
                for one in index.near(keys):
                    if _forbids(one, look, command) and holds(one.rule):
                        return Verdict(effect=effect, rules=(one.rule,))
        if guarded := self._guarded(subject, command, holds):
            return guarded
        return allowed(self._allow, command, holds) if command else self._allowed(look, keys, holds)

    def _keys(self, look: Look, command: CommandLook | None) -> list[Key]:
        """The keys of rules about the use. None of a line whose names show that no deny or ask rule is about it."""
        if command is None:
            return keys_for(look)
        passes = command.mere and not command.files and not self._forbids_by_more
        return [] if passes and self._forbidden_names.isdisjoint(command.names) else command_keys(command)

    def look(self, subject: Subject) -> tuple[Look, CommandLook | None]:
        """All that the rules look at, worked out once."""
        look = look_at(subject)
        if subject.tool_name != "Bash":
            return look, None
        return look, look_at_command(look, self._file_tools, self._file_marks)

    def _guarded(self, subject: Subject, command: CommandLook | None, holds: Callable[[Rule], bool]) -> Verdict | None:
        """Ask, where no allow rule may have a say."""
        if command:
            names = command.names if command.mere else None
            touched = line_touches_us(subject, subject.our_home, command.script, command.telling, names)
        else:
            touched = touches_us(subject, subject.our_home)
        if touched:
            return Verdict(effect="ask", reasons=(touched,))
        for rule in self._broken:
            if holds(rule):
                return Verdict(effect="ask", reasons=(f"the {rule.effect} rule {rule.pattern} cannot be read",))
        return self._mentioned(command, holds) if command and self._forbidding else None

    def told(self, command: CommandLook) -> Told:
        """What the line tells programs that nobody reads here."""
        return what_is_told(command, self._file_tools, self._hints)

    def _mentioned(self, command: CommandLook, holds: Callable[[Rule], bool]) -> Verdict | None:
        """Ask, where a program is told something that mentions what a deny or ask rule is about."""
        told = self.told(command)
        if told is NOTHING or self._forbidding.isdisjoint(keys := told_keys(told)):
            return None
        for index in (self._deny, self._ask):
            for one in index.near(keys):
                if is_told(one.pattern, told, one.rule.scope_path) and holds(one.rule):
                    said = f"another program may do what {one.rule.effect} {one.rule.pattern} is about"
                    return Verdict(effect="ask", reasons=(said,))
        return None

    def _allowed(self, look: Look, keys: list[Key], holds: Callable[[Rule], bool]) -> Verdict:
        for one in self._allow.near(keys):
            if allows(one.pattern, look, one.rule.scope_path) and holds(one.rule):
                return Verdict(effect="allow", rules=(one.rule,))
        return Verdict(effect=None, reasons=(f"no rule allows this use of {look.subject.tool_name}",))


class _Forbidden:
    """What can be told beforehand of all that is denied or asked."""

    def __init__(self, deny: Index, ask: Index) -> None:
        self.keys = frozenset(deny.keys) | frozenset(ask.keys)
        self.names = frozenset(key[1:] for key in self.keys if isinstance(key, str) and key[0] == "$")
        self.by_more = deny.has_lines or ask.has_lines or not self.keys.isdisjoint(("Bash", ANY_COMMAND))
        patterns = [one.pattern for one in (*deny.bound, *ask.bound)]
        files = [(pattern.tools, pattern.form) for pattern in patterns if isinstance(pattern.form, Files)]
        self.file_tools = frozenset(tool for tools, _ in files for tool in tools)
        self.file_marks = Marks(form for _, form in files)
        self.hints = hints_of(patterns)


def _read(rules: Iterable[Rule]) -> tuple[list[Bound], list[tuple[Rule, str]]]:
    """Those that can be read, and those that cannot, with the reason."""
    bound: list[Bound] = []
    unread: list[tuple[Rule, str]] = []
    for rule in rules:
        try:
            bound.append(_bind(rule))
        except BadPattern as error:
            unread.append((rule, str(error)))
    return bound, unread


def _bind(rule: Rule) -> Bound:
    if rule.effect not in EFFECTS or rule.scope not in SCOPES:
        raise BadPattern(f"{rule.rule_id}: effect {rule.effect} with scope {rule.scope} means nothing")
    pattern = read_pattern(rule.pattern, rule.effect)
    form = pattern.form
    open_words = len(form.words) if isinstance(form, Command) and form.open_end else 0
    return Bound(rule, pattern, rank_of(rule), tuple(keys_of(pattern, rule.scope_path)), open_words)


def _forbids(one: Bound, look: Look, command: CommandLook | None) -> bool:
    if command:
        return forbids_command(one.pattern, command, one.rule.scope_path)
    return forbids(one.pattern, look, one.rule.scope_path)


class Considered(Struct, frozen=True, kw_only=True):
    """One rule of the tool: whether it is about the use and holds, and why or why not."""

    rule: Rule
    matched: bool
    why: str


class Explanation(Struct, frozen=True, kw_only=True):
    """The verdict, and every rule that could have had a say, the stronger first."""

    verdict: Verdict
    considered: tuple[Considered, ...]


def explain(book: Rulebook, subject: Subject, at: float, *, untrusted: Untrusted = trusts_all) -> Explanation:
    """The whole evaluation of one use of a tool."""
    look, command = book.look(subject)
    told = book.told(command) if command else None
    considered = [
        _consider(one, look, command, told, why_idle(one.rule, subject, at, untrusted))
        for one in book.bound
        if concerns(one.pattern, subject.tool_name)
        or (command and one.rule.effect != "allow" and isinstance(one.pattern.form, Files))
    ]
    considered += [Considered(rule=rule, matched=False, why=f"cannot be read: {why}") for rule, why in book.unread]
    return Explanation(verdict=book.verdict(subject, at, untrusted=untrusted), considered=tuple(considered))


def _consider(one: Bound, look: Look, command: CommandLook | None, told: Told | None, idle: str | None) -> Considered:
    if one.rule.effect != "allow":
        fits = _forbids(one, look, command)
        asks = told is not None and is_told(one.pattern, told, one.rule.scope_path)
        other = "another program may do what it is about, so it asks" if asks else "is about other uses"
        why = "is about this use" if fits else other
    elif command:
        fits, why = _covered(one.pattern, command)
    else:
        fits = allows(one.pattern, look, one.rule.scope_path)
        why = "covers this use" if fits else "covers other uses"
    return Considered(rule=one.rule, matched=fits and idle is None, why=idle or why)


def _covered(pattern: Pattern, command: CommandLook) -> tuple[bool, str]:
    """Whether an allow rule covers any command of the line, and which."""
    if against := why_never(command):
        return False, f"no rule can allow this line: {', '.join(against)}"
    if is_line(pattern, command):
        return True, "covers the line"
    covered = [call.source for call in command.script.calls if grants_call(pattern, call)]
    return bool(covered), f"covers {', '.join(covered)}" if covered else "covers other commands"
