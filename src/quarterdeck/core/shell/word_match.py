"""Matching words of a pattern with a call: narrowly for allow rules, broadly for deny rules; and filters that need no
rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from quarterdeck.core.programs.command_effects import could_run_or_write, covers_rest
from quarterdeck.core.programs.grammar import word_set
from quarterdeck.core.programs.operands.word_checks import begins
from quarterdeck.core.programs.project_paths import Folder
from quarterdeck.core.shell.calls import Call
from quarterdeck.core.shell.vocabulary import SHORT_FORMS


def grants(prefix: tuple[str, ...], open_end: bool, call: Call, folder: Folder = "") -> bool:
    """True if an allow pattern with these whole words covers the call. `open_end`: any words may follow.
    `folder`: where the call runs."""
    words, outer = call.words, call.outer
    if begins(words, prefix) and _covers_rest(prefix, words, open_end, call.unseen, folder):
        return True
    # `Bash(sudo systemctl status:*)` names the wrapper and the command; for `Bash(sudo:*)` another rule must allow the
    # command.
    count = len(prefix) - len(outer)
    if not outer or count <= 0 or prefix != outer + words[:count]:
        return False
    return _covers_rest(words[:count], words, open_end, call.unseen, folder)


def _covers_rest(prefix: tuple[str, ...], words: tuple[str, ...], open_end: bool, unseen: bool, folder: Folder) -> bool:
    """True if a pattern that matches the first words of a call covers the rest too."""
    if not open_end:
        return len(words) == len(prefix) and not unseen and bool(prefix)
    if unseen and could_run_or_write(words[0]):
        return False
    return covers_rest(prefix, words, folder)


def mentions(prefix: tuple[str, ...], open_end: bool, call: Call) -> bool:
    """True if a deny or ask pattern covers the call: by any path, and with any options in between."""
    if not prefix:
        return open_end
    if not call.words:
        return False
    name = _base(call.words[0])
    if name == _base(prefix[0]) or _may_become(name, _base(prefix[0])):
        return _words_follow(prefix, open_end, call.words, call.unseen)
    if name.startswith("git-") and _base(prefix[0]) == "git":
        return _words_follow(prefix, open_end, ("git", name[4:], *call.words[1:]), call.unseen)
    if len(call.words) > 2 and call.words[1] == "-m" and _base(call.words[0]).startswith("python"):
        return _base(call.words[2]) == _base(prefix[0]) and _words_follow(prefix, open_end, call.words[2:], call.unseen)
    return False


_VALUES = re.compile(r"\$(?:\{[^}]*+\}|\w++|.)|\{[^}]*+\}")


MAX_NAME = 255


# Every deny and ask rule asks about the name of every call.
@lru_cache(maxsize=256)
def is_open_name(name: str) -> bool:
    """True if the shell makes the command's name from a part that is written and an expansion."""
    return any(sign in name for sign in "$*?[{") and bool(_VALUES.sub("*", name).strip("*?"))


def _may_become(name: str, required: str) -> bool:
    """True if a name with values or wildcards may become the required one. A lone value is not counted: it could be any
    name."""
    return is_open_name(name) and (len(name) > MAX_NAME or may_expand_to(_VALUES.sub("*", name), required))


def _base(name: str) -> str:
    # Some file systems ignore case, so RM may run rm.
    return name.rpartition("/")[2].casefold()


def _words_follow(prefix: tuple[str, ...], open_end: bool, words: tuple[str, ...], unseen: bool) -> bool:
    required = [word for word in prefix[1:] if word[:1] != "-" or word == "-"]
    options = [word for word in prefix[1:] if word[:1] == "-" and word not in ("-", "--")]
    if not unseen and not all(_has_option(_base(prefix[0]), option, words[1:]) for option in options):
        return False
    counts = {0}  # numbers of required words matched so far, for every way to read the options' values
    optional = False  # the word may be the value of the option before it
    for word in words[1:]:
        is_option = word[:1] == "-" and len(word) > 1
        matched = {place + 1 for place in counts if place < len(required) and _may_mean(required[place], word)}
        if open_end and len(required) in counts | matched:
            return True
        counts = matched | counts if is_option or optional else matched
        if not counts:
            return False
        optional = is_option and "=" not in word
    return len(required) in counts or unseen


def _has_option(name: str, option: str, words: Sequence[str]) -> bool:
    twins = SHORT_FORMS.get(name, {})
    if option[:2] == "--":
        long_name = option[2:].partition("=")[0]
        letter = twins.get(option.partition("=")[0], "")
        return any(
            (
                word == option
                or (word[:2] == "--" and len(word) > 3 and long_name.startswith(word[2:].partition("=")[0]))
            )
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


def _may_mean(required: str, word: str) -> bool:
    """True if the shell may make the required word from the written one."""
    if required == word:
        return True
    if "$" in word or "`" in word or ("{" in word and "," in word):
        return True
    return any(char in word for char in "*?[") and may_expand_to(word, required)


def may_expand_to(pattern: str, name: str) -> bool:
    """True if a file name pattern may expand to a name. A bracket stands for any character. It goes back to the
    last star only, so that its time stays bounded for patterns with many stars."""
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


# Filters: allowed short options, short options with a value, long options, and the number of operands. None of these
# options reads another file, writes or runs anything. A further operand would be a file.
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
    "yq": ("rcsSeMCaPN", "", "raw-output compact-output slurp sort-keys exit-status prettyPrint no-doc", 1),
    "nl": ("p", "bdfhilnsvw", "", 0),
    "rev": ("", "", "", 0),
    "tac": ("br", "s", "", 0),
    "cat": ("AbeEnstTuv", "", "number show-all", 0),
    "column": ("tx", "sNco", "table separator", 0),
    "fold": ("bs", "w", "width", 0),
    "fmt": ("stu", "wg", "width", 0),
    "xxd": ("abeipuCE", "cglos", "", 0),
    "od": ("abcdfilosxv", "AjNtw", "", 0),
    "md5sum": ("bt", "", "", 0),
    "sha1sum": ("bt", "", "", 0),
    "sha256sum": ("bt", "", "", 0),
    "sed": ("nErz", "e", "quiet silent regexp-extended expression", 1),
    "awk": ("", "Fv", "", 1),
}
_FILTERS = {
    name: (frozenset(flags), takes, word_set(longs), operands)
    for name, (flags, takes, longs, operands) in _FILTER_TABLE.items()
}
_JQ_READS = re.compile(r"\b(?:env|ENV|import|include|input|inputs|debug|input_filename|\$__prog_args)\b")


def only_filters(call: Call) -> bool:
    """True for a filter on the call before it that reads only its input; of a call known to write and run nothing."""
    if not call.piped or call.unseen or not call.words:
        return False
    name = call.words[0]
    filter_options = _FILTERS.get(name)
    if filter_options is None or (operands := _operands(filter_options, call.words[1:])) is None:
        return False
    if operands and (len(operands) > filter_options[3] or (name in _PATTERN_FILTERS and _is_given_pattern(call.words))):
        return False
    return name != "jq" or not any(_JQ_READS.search(word) for word in operands)


def _is_given_pattern(words: Sequence[str]) -> bool:
    """True if an option holds the pattern or script, so that the first operand is a file."""
    return any(word.startswith("--expr") or (word[:1] == "-" != word[1:2] and "e" in word) for word in words[1:])


_PATTERN_FILTERS = word_set("grep egrep fgrep sed")


def _operands(
    filter_options: tuple[frozenset[str], str, frozenset[str], int], words: Sequence[str]
) -> list[str] | None:
    """The words that are not options; None if an option is not known to be harmless."""
    flags, takes, longs, _ = filter_options
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


_WITH_VALUE = word_set("lines bytes key field-separator delimiter fields characters separator width expression")
