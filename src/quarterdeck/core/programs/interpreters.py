"""Interpreters of languages, and programs of which only the risky options are known: whether arguments make them run
another program or write a file, beyond the words a rule names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from quarterdeck.core.programs.grammar import word_set
from quarterdeck.core.programs.risky_options import (
    RISKY_OPTIONS,
    VERSION_OPTIONS,
    Program,
    RiskyOptions,
    in_cluster,
    uses_option,
)

_SHELLS = "bash sh dash zsh ksh mksh ash fish csh tcsh rbash"
# Per interpreter: short options that run a text, read the program from elsewhere or load code; short options with a
# value; and long options of the first sort.
_INTERPRETERS: dict[str, tuple[str, str, str]] = {
    **dict.fromkeys(_SHELLS.split(), ("cisO", "o", "init-file rcfile command")),
    **dict.fromkeys(["python", "python2", "python3", "pypy", "pypy3"], ("ci", "WXQ", "")),
    "node": ("epri", "C", "eval print require import loader experimental-loader interactive env-file build-snapshot"),
    "perl": ("eEinpMmIxdsF", "", ""),
    "ruby": ("eirIxnpCS", "EKTW", "require"),
    "php": ("rBREFaczdS", "", "run process-code process-begin process-end interactive define server php-ini"),
    "lua": ("eli", "", ""),
    "Rscript": ("e", "", ""),
    "osascript": ("e", "l", ""),
    "tclsh": ("", "", ""),
    "irb": ("rI", "", "require"),
    "expect": ("c", "", ""),
    "julia": ("eELiJ", "Ctp", "eval print load"),
    "elixir": ("er", "", "eval rpc-eval require"),
    "groovy": ("ei", "", "eval"),
    "ts-node": ("epr", "", "eval print require"),
    "tsx": ("ep", "", "eval print"),
}
# Long options of interpreters whose value is the next word.
_VALUE_OPTIONS = word_set(
    "--check-hash-based-pycs --conditions --diagnostic-dir --input-type --title --external-encoding"
)
_BY_INTERPRETER = {
    name: RiskyOptions(Program(shorts=runs, takes=takes, longs=longs))
    for name, (runs, takes, longs) in _INTERPRETERS.items()
}


def _sudo(words: Sequence[str], named_count: int) -> bool:
    """True if it starts a shell or an editor. Its own options end before the first other word."""
    for place, word in enumerate(words[1:], 1):
        if word[:1] != "-":
            return False
        if place >= named_count and (
            in_cluster(_SUDO, word) if word[:2] != "--" else uses_option(_SUDO, ("", word), 1)
        ):
            return True
    return False


_SUDO = RiskyOptions(Program(shorts="siebAK", takes="ugCDhpRrTtU", longs="shell login edit background askpass"))


def _any_word_starts_with(*beginnings: str) -> Callable[[Sequence[str], int], bool]:
    """Return a test: true if any word that the rule does not name begins in one of these ways."""
    return lambda words, named_count: any(word.startswith(beginnings) for word in words[max(named_count, 1) :])


_node_files = _any_word_starts_with(
    "--test-reporter-destination",
    "--test-global-setup",
    "--experimental-",
    "--cpu-prof",
    "--heap",
    "--redirect-warnings",
    "--report-",
    "--diagnostic-dir",
    "--trace-event-file",
    "--tls-keylog",
    "--openssl-config",
    "--openssl-shared-config",
    "--localstorage-file",
    "--snapshot-blob",
    "--icu-data-dir",
    "--inspect=",
    "--inspect-brk=",
    "--inspect-port",
    "--security-revert",
)
_NODE_REPORTERS = word_set("spec tap dot junit lcov")


def _node(words: Sequence[str], named_count: int) -> bool:
    """True if it writes a file, or loads a reporter that is not its own."""
    if _node_files(words, named_count):
        return True
    for place, word in enumerate(words):
        name, _, value = word.partition("=")
        if name == "--test-reporter" and place >= named_count:
            reporter = value or " ".join(words[place + 1 : place + 2])
            if reporter not in _NODE_REPORTERS:
                return True
    return False


_java_agents = _any_word_starts_with("@", "-javaagent", "-agent", "-XX:On", "--patch-module", "--upgrade-module-path")
_JAVA_PATHS = word_set("-cp -classpath --class-path -jar -p --module-path -m --module")


def _java(words: Sequence[str], named_count: int) -> bool:
    """True if it loads an agent, or classes from outside of the project. The words after the program belong to it."""
    if _java_agents(words, named_count):
        return True
    at = 1
    while at < len(words):
        takes = words[at] in _JAVA_PATHS
        value = words[at + 1] if takes and at + 1 < len(words) else words[at].partition("=")[2]
        value = value if takes or words[at][:1] == "-" else words[at]
        if at + takes >= named_count and any(part[:1] in ("/", "~") or ".." in part for part in value.split(":")):
            return True
        if words[at][:1] != "-" or words[at] in ("-jar", "-m", "--module"):
            return False
        at += 1 + takes
    return False


SPECIAL_CHECKS: dict[str, Callable[[Sequence[str], int], bool]] = {
    "node": _node,
    "java": _java,
    **dict.fromkeys(["vi", "vim", "nvim", "view", "ex", "vimdiff", "rvim", "gvim"], _any_word_starts_with("+")),
    "sudo": _sudo,
    "doas": _sudo,
}
KNOWN_PROGRAMS = RISKY_OPTIONS.keys() | _BY_INTERPRETER.keys() | SPECIAL_CHECKS.keys()
"""Programs that can be made to run another one or to write."""
_Program = tuple[Callable[[Sequence[str], int], bool] | None, RiskyOptions | None, RiskyOptions | None]
_UNKNOWN: _Program = (None, None, None)
_PROGRAMS: dict[str, _Program] = {
    name: (SPECIAL_CHECKS.get(name), _BY_INTERPRETER.get(name), RISKY_OPTIONS.get(name)) for name in KNOWN_PROGRAMS
}
_VERSION = re.compile(r"-?[0-9][0-9.]*\Z")
_VERSION_SIGNS = frozenset("0123456789.")


def runs_or_writes(words: Sequence[str], named_count: int) -> bool:
    """True if any word from index `named_count` on makes the program run another or write a file. A rule names the
    words before it, so these do not count."""
    name = words[0]
    checks = _PROGRAMS.get(name)
    if checks is None:
        if "/" not in name and name[-1:] not in _VERSION_SIGNS and name[:6] != "python":
            return False
        name = known_name(name)
        checks = _PROGRAMS.get(name, _UNKNOWN)
        if checks is _UNKNOWN and not name.startswith("python"):
            return False
    if named_count >= len(words):
        return len(words) == 1 and name in _BY_INTERPRETER  # without arguments it runs its input
    special, interpreter, risky = checks
    if special is not None and special(words, named_count):
        return True
    if interpreter is not None:
        return _reads_program_text(interpreter, words, named_count)
    if risky is None:
        return False
    if risky.always and named_count < 1:
        return True
    return uses_option(risky, words, named_count)


def interprets(words: Sequence[str]) -> bool:
    """True if an interpreter of a language gets its program as a text or from its input."""
    risky = _BY_INTERPRETER.get(known_name(words[0]))
    return risky is not None and _reads_program_text(risky, words, 0)


def script_place(words: Sequence[str]) -> int:
    """The place of the file that an interpreter of a language runs; -1 if there is none."""
    risky = _BY_INTERPRETER.get(known_name(words[0]))
    at = 1
    while risky is not None and at < len(words):
        word = words[at]
        if word[:1] not in "-+" or len(word) == 1:
            return at
        at += 2 if (len(word) == 2 and word[1] in risky.takes) or word in _VALUE_OPTIONS else 1
    return -1


def could_run_or_write(name: str) -> bool:
    """True if arguments not visible here could make the program run another or write."""
    return known_name(name) in KNOWN_PROGRAMS


def known_name(name: str) -> str:
    """The name under which a program is known: without its folder, and without a version that is not part of it."""
    if name in KNOWN_PROGRAMS:
        return name
    base = name.rpartition("/")[2]
    if base in KNOWN_PROGRAMS or base[-1:] not in _VERSION_SIGNS:
        return base
    return _VERSION.sub("", base) or base


def _reads_program_text(risky: RiskyOptions, words: Sequence[str], named_count: int) -> bool:
    """True if an interpreter gets its program from anywhere but a file or module among its arguments."""
    skip = unknown_option = False
    program_seen = False  # a word that is the program, or the value of an unknown option
    for index, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif word in VERSION_OPTIONS and len(words) == 2:
            return False
        elif word[:1] not in "-+" or word in ("-m", "--"):
            if not unknown_option or program_seen:
                return False  # the words after the program belong to the program
            program_seen = True
        elif word == "-" or (index >= named_count and uses_option(risky, ("", word), 1)):
            return index >= named_count
        elif index < named_count and uses_option(risky, ("", word), 1):
            return False  # the rule names the option that gives the program
        else:
            skip = (len(word) == 2 and word[1] in risky.takes) or word in _VALUE_OPTIONS
            unknown_option = word[:2] == "--" and "=" not in word and not skip
    return not program_seen and "--test" not in words  # from its input, unless Node looks for tests
