"""Programs without a grammar of which only the risky options are known: those that run another program or write a file.

A rule for such a program is trusted by name, except for these options. Sources: manual pages and GTFOBins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from quarterdeck.core.programs.grammar import word_set

VERSION_OPTIONS = word_set("--version -V -v --help -h")
_SIGNS = frozenset("-+")


class Program(Struct, frozen=True):
    """The options of a program that an open rule does not cover."""

    shorts: str = ""  # letters, also in clusters and with a value attached
    takes: str = ""  # letters with a value after them, which ends a cluster
    longs: str = ""  # long options without their dashes; any beginning of one counts
    words: str = ""  # words as they are, or up to their "="
    always: bool = False  # every use runs another program or writes


_ALWAYS = "ed at gdb lldb timeit pdb tmux screen mount dd ffmpeg convert script nc ncat socat"
"""Programs of which every use runs another program or writes a file."""
PROGRAMS: Mapping[str, Program] = {
    **dict.fromkeys(_ALWAYS.split(), Program(always=True)),
    "locate": Program(shorts="d", longs="database"),
    "wait": Program(shorts="p"),
    "vim": Program(shorts="cSsuUiVwWqtl", longs="cmd startuptime remote server listen luamod-dev", always=True),
    "emacs": Program(shorts="flx", longs="eval execute funcall load script batch init-directory", always=True),
    "nano": Program(shorts="fsC", longs="rcfile speller backupdir", always=True),
    "ssh-keygen": Program(shorts="Dw", always=True),
    "ssh-add": Program(shorts="sSe"),
    "deno": Program(shorts="Ac", longs="allow config import-map", words="eval install"),
    "nm": Program(longs="plugin"),
    "ranlib": Program(longs="plugin"),
    "ld": Program(longs="plugin plugin-opt dynamic-linker", words="-plugin -plugin-opt -dynamic-linker"),
    "clang-tidy": Program(longs="load fix fix-errors export-fixes config config-file", words="-load -fix -fix-errors"),
    "clang-format": Program(shorts="i"),
    "shfmt": Program(shorts="w", longs="write"),
    "cppcheck": Program(longs="addon output-file plist-output cppcheck-build-dir clang"),
    "bundle": Program(words="exec config"),
    "composer": Program(shorts="d", longs="working-dir", words="exec config global run-script"),
    "top": Program(shorts="W"),
    "strace": Program(shorts="oE", longs="output env"),
    "ltrace": Program(shorts="o"),
    "dmesg": Program(shorts="cCnDE", longs="clear read-clear console-level console-off console-on"),
    "ip": Program(shorts="b", longs="batch", words="-batch -b -force exec netns"),
    "sysctl": Program(shorts="wp", longs="write load system"),
    "gpg": Program(shorts="o", longs="output photo-viewer exec-path agent-program"),
}
SAME_AS = {
    **dict.fromkeys(["vi", "nvim", "view", "ex", "vimdiff", "rvim", "gvim"], "vim"),
    "emacsclient": "emacs",
    "netcat": "nc",
}


class RiskyOptions:
    """The options of a program that an open rule does not cover, as sets: a look-up is faster than a search."""

    def __init__(self, program: Program) -> None:
        self.always = program.always
        self.exact: frozenset[str] = word_set(program.words)
        self.shorts, self.takes = frozenset(program.shorts), frozenset(program.takes)
        longs = program.longs.split()
        beginnings = {f"--{option[:size]}" for option in longs for size in range(1, len(option) + 1)}
        self.options = self.exact | beginnings


_BY_NAME = {name: RiskyOptions(program) for name, program in PROGRAMS.items()}
RISKY_OPTIONS = _BY_NAME | {name: _BY_NAME[same] for name, same in SAME_AS.items()}


def uses_option(risky: RiskyOptions, words: Sequence[str], named_count: int) -> bool:
    """True if any word from index `named_count` on is a risky option.

    That is what comparing each word with each option of the program's row would say: the word, or what is before its
    `=`, is one of `words`; or it is `--` and the beginning of one of `longs`; or it is a cluster after `-` or `+` in
    which a letter of `shorts` comes before any of `takes`, whose rest is a value. Every rule is matched against every
    call of a line, so the sets are made once.
    """
    rest = words[named_count if named_count > 1 else 1 :]
    exact, options, shorts = risky.exact, risky.options, risky.shorts
    if exact and not exact.isdisjoint(rest):
        return True
    for word in rest:
        if word[:1] in _SIGNS:
            if (word.partition("=")[0] if "=" in word else word) in options:
                return True
            if shorts and word[:2] != "--" and not shorts.isdisjoint(word) and in_cluster(risky, word):
                return True
        elif exact and "=" in word and word.partition("=")[0] in exact:
            return True
    return False


def in_cluster(risky: RiskyOptions, word: str) -> bool:
    for letter in word[1:]:
        if letter in risky.shorts:
            return True
        if letter in risky.takes:
            break
    return False
