"""Whether a pattern of words covers a call: narrow for an allow, broad for a deny, and which filters need no rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from quarterdeck.core.shell.calls import Call
from quarterdeck.core.shell.options import could_run_or_write, runs_or_writes
from quarterdeck.core.shell.programs import TWINS, named


def grants(prefix: tuple[str, ...], open_end: bool, call: Call) -> bool:
    """Whether an allow pattern with these whole words (open: then anything) covers the call."""
    words, outer = call.words, call.outer
    if words[: len(prefix)] == prefix and _ends(len(prefix), open_end, words, call.unseen):
        return True
    # `Bash(sudo systemctl status:*)` names the wrapper and what it runs; `Bash(sudo:*)` leaves that to another rule.
    count = len(prefix) - len(outer)
    if not outer or count <= 0 or prefix != outer + words[:count]:
        return False
    return _ends(count, open_end, words, call.unseen)


def _ends(count: int, open_end: bool, words: tuple[str, ...], unseen: bool) -> bool:
    """Whether a pattern that is the first words of a call covers what follows them."""
    if not open_end:
        return len(words) == count and not unseen and count > 0
    if unseen and could_run_or_write(words[0]):
        return False
    return not runs_or_writes(words, count)


def mentions(prefix: tuple[str, ...], open_end: bool, call: Call) -> bool:
    """Whether a deny or ask pattern speaks of the call: by any path, and with any options in between."""
    if not prefix:
        return open_end
    if not call.words:
        return False
    name = _base(call.words[0])
    if name == _base(prefix[0]) or _may_be(name, _base(prefix[0])):
        return _follows(prefix, open_end, call.words, call.unseen)
    if name.startswith("git-") and _base(prefix[0]) == "git":
        return _follows(prefix, open_end, ("git", name[4:], *call.words[1:]), call.unseen)
    if len(call.words) > 2 and call.words[1] == "-m" and _base(call.words[0]).startswith("python"):
        return _base(call.words[2]) == _base(prefix[0]) and _follows(prefix, open_end, call.words[2:], call.unseen)
    return False


_VALUES = re.compile(r"\$(?:\{[^}]*+\}|\w++|.)|\{[^}]*+\}")


_LONGEST_NAME = 255


@lru_cache(maxsize=256)
def is_open(name: str) -> bool:
    """Whether the shell makes the name of the command, and only a part of it is written."""
    return any(sign in name for sign in "$*?[{") and bool(_VALUES.sub("*", name).strip("*?"))


def _may_be(name: str, wanted: str) -> bool:
    """Whether a name with values or wildcards in it may turn out as the wanted one. A lone value says nothing."""
    return is_open(name) and (len(name) > _LONGEST_NAME or turns_into(_VALUES.sub("*", name), wanted))


def _base(name: str) -> str:
    # Some file systems ignore case, so RM may run rm.
    return name.rpartition("/")[2].casefold()


def _follows(prefix: tuple[str, ...], open_end: bool, words: tuple[str, ...], unseen: bool) -> bool:
    wanted = [word for word in prefix[1:] if word[:1] != "-" or word == "-"]
    options = [word for word in prefix[1:] if word[:1] == "-" and word not in ("-", "--")]
    if not unseen and not all(_has_option(_base(prefix[0]), option, words[1:]) for option in options):
        return False
    places = {0}  # how many of the wanted words have been met, in every way to read the options' values
    optional = False  # the word may be the value of the option before it
    for word in words[1:]:
        is_option = word[:1] == "-" and len(word) > 1
        met = {place + 1 for place in places if place < len(wanted) and _alike(wanted[place], word)}
        if open_end and len(wanted) in places | met:
            return True
        places = met | places if is_option or optional else met
        if not places:
            return False
        optional = is_option and "=" not in word
    return len(wanted) in places or unseen


def _has_option(name: str, option: str, words: Sequence[str]) -> bool:
    twins = TWINS.get(name, {})
    if option[:2] == "--":
        said = option[2:].partition("=")[0]
        letter = twins.get(option.partition("=")[0], "")
        return any(
            (word == option or (word[:2] == "--" and len(word) > 3 and said.startswith(word[2:].partition("=")[0])))
            if word[:2] == "--"
            else bool(letter) and word[:1] == "-" and letter in word
            for word in words
        )
    if option in words:
        return True
    letters: set[str] = set()
    for word in words:
        if word[:2] == "--":
            letters.update(letter for long, letter in twins.items() if long.startswith(word) and len(word) > 3)
        elif word[:1] == "-":
            letters.update(twins.get("-" + letter, letter) for letter in word[1:])
    return {twins.get("-" + letter, letter) for letter in option[1:]} <= letters


def _alike(wanted: str, word: str) -> bool:
    """Whether the shell may make the wanted word out of the one that is written."""
    if wanted == word:
        return True
    if "$" in word or "`" in word or ("{" in word and "," in word):
        return True
    return any(char in word for char in "*?[") and turns_into(word, wanted)


def turns_into(pattern: str, name: str) -> bool:
    """A file name pattern against a name, in time linear in each; a bracket stands for any character."""
    pattern = re.sub(r"\[[^\]]*+\]", "?", pattern)
    at = place = 0
    star, mark = -1, 0
    while place < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, mark = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", name[place]):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")


# Filters: the short options they may have, those with a value, the long options, and how many operands. None of these
# options reads another file, writes or runs anything, and an operand beyond the number would be a file.
_FILTER_TABLE: Mapping[str, tuple[str, str, str, int]] = {
    "head": ("qvz0123456789", "nc", "lines bytes quiet silent", 0),
    "tail": ("qvzr0123456789", "nc", "lines bytes quiet silent", 0),
    "wc": ("lwcmL", "", "words chars max-line-length", 0),
    "sort": (
        "bdfgiMhnRrVcsuzC",
        "kt",
        "reverse numeric-sort unique key field-separator version-sort human-numeric-sort",
        0,
    ),
    "uniq": ("cdDiuz", "fsw", "count repeated unique ignore-case", 0),
    "grep": (
        "EFGPivwxcoqsnhHabyUzLl0123456789",
        "meABC",
        "color colour invert-match ignore-case count only-matching",
        1,
    ),
    "egrep": ("ivwxcoqsnhHa", "meABC", "color ignore-case count", 1),
    "fgrep": ("ivwxcoqsnhHa", "meABC", "color ignore-case count", 1),
    "cut": ("sz", "bcdf", "delimiter fields characters bytes complement only-delimited", 0),
    "tr": ("cCdst", "", "complement delete squeeze-repeats", 2),
    "jq": ("rcsSeMCaj", "", "raw-output compact-output slurp sort-keys exit-status monochrome-output", 1),
    "nl": ("p", "bdfhilnsvw", "", 0),
    "rev": ("", "", "", 0),
    "tac": ("br", "s", "", 0),
    "cat": ("AbeEnstTuv", "", "number show-all", 0),
    "column": ("tx", "sNco", "table separator", 0),
    "fold": ("bs", "w", "width", 0),
    "fmt": ("stu", "wg", "width", 0),
    "od": ("abcdfilosxv", "AjNtw", "", 0),
    "md5sum": ("bt", "", "", 0),
    "sha1sum": ("bt", "", "", 0),
    "sha256sum": ("bt", "", "", 0),
    "sed": ("nErz", "e", "quiet silent regexp-extended expression", 1),
    "awk": ("", "Fv", "", 1),
}
_FILTERS = {
    name: (frozenset(flags), takes, named(longs), operands)
    for name, (flags, takes, longs, operands) in _FILTER_TABLE.items()
}
_JQ_READS = re.compile(r"\b(?:env|ENV|import|include|input|inputs|debug|input_filename|\$__prog_args)\b")


def only_reads(call: Call) -> bool:
    """Whether this is a filter on the call before it that reads nothing else, writes nothing and runs nothing."""
    return only_filters(call) and not runs_or_writes(call.words, 1)


def only_filters(call: Call) -> bool:
    """The same of a call that neither writes nor runs anything: whether it reads nothing but what it is fed."""
    if not call.piped or call.unseen or not call.words:
        return False
    name = call.words[0]
    known = _FILTERS.get(name)
    if known is None or (operands := _operands(known, call.words[1:])) is None:
        return False
    if operands and (len(operands) > known[3] or (name in _TAKE_PATTERN and _is_given_pattern(call.words))):
        return False
    return name != "jq" or not any(_JQ_READS.search(word) for word in operands)


def _is_given_pattern(words: Sequence[str]) -> bool:
    """Whether an option holds the pattern or script, so that the first operand is a file."""
    return any(word.startswith("--expr") or (word[:1] == "-" != word[1:2] and "e" in word) for word in words[1:])


_TAKE_PATTERN = named("grep egrep fgrep sed")


def _operands(known: tuple[frozenset[str], str, frozenset[str], int], words: Sequence[str]) -> list[str] | None:
    """The words that are no option; None when an option is not known to be harmless."""
    flags, takes, longs, _ = known
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if word[:2] == "--":
            if word[2:].partition("=")[0] not in longs:
                return None
            if word[2:] in _WITH_VALUE:
                next(rest, None)
        elif word[:1] == "-" and len(word) > 1:
            if flags.issuperset(word[1:]):
                continue
            for place, letter in enumerate(word[1:], 2):
                if letter in takes:
                    if place == len(word):
                        next(rest, None)
                    break
                if letter not in flags:
                    return None
        else:
            operands.append(word)
    return operands


_WITH_VALUE = named("lines bytes key field-separator delimiter fields characters separator width expression")
