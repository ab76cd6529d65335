"""Whether a call uses something that runs another program or writes, beyond the words a rule names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from quarterdeck.core.shell.programs import SAME_AS, TOOLS, Tool, named

# Before git's subcommand everything but these points to another repository or configuration, or runs something.
_GIT_GLOBALS = named(
    "--no-pager -P --version -v --help -h --no-optional-locks --literal-pathspecs --no-replace-objects"
)
# Whether a delimiter in square brackets ends the expression is not the same for every sed, so it asks.
_BRACKETS = r"\[\^?+[^]\\\n/|,#\[]++\]"
_ADDRESS = rf"(?:\d+|\$|/(?:[^/\\\n\[]|{_BRACKETS})*+/)"
# Printing, deleting, quitting and substituting; `w`, `e`, `r` and what is not known by heart ask.
_SED_SAFE = re.compile(
    rf"(?:\s*+(?:{_ADDRESS}(?:,{_ADDRESS})?)?+\s*+(?:!\s*+)?+"
    rf"(?:[pdq=]|s([/|,#])(?:(?!\1)[^\\\n\[]|{_BRACKETS}|\\[^\n])*+\1(?:(?!\1)[^\\\n]|\\[^\n])*+\1[gpiI0-9]*+)"
    r"\s*+(?:;|\Z))++\s*+"
)
# Calls, pipes, files, loads, calls by name, the environment; `>` may compare or write, so it asks.
_AWK_UNSAFE = re.compile(r"system|getline|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARG[VC]|[@>`]|(?<!\|)\|(?!\|)")
_SHELLS = "bash sh dash zsh ksh mksh ash fish csh tcsh rbash"
# Options with which an interpreter runs a text, reads the program from elsewhere or loads code; and those with a value.
_INTERPRETERS: dict[str, tuple[str, str, str]] = {
    **dict.fromkeys(_SHELLS.split(), ("cisO", "o", "init-file rcfile command")),
    **dict.fromkeys(["python", "python2", "python3", "pypy", "pypy3"], ("ci", "WXQ", "")),
    "node": ("epri", "C", "eval print require import loader experimental-loader interactive env-file build-snapshot"),
    "perl": ("eEinpMmIxds", "", ""),
    "ruby": ("eirIxnpCS", "EKTW", "require"),
    "php": ("rBREFaczdS", "", "run process-code process-begin process-end interactive define server php-ini"),
    "lua": ("eli", "", ""),
    "Rscript": ("e", "", ""),
    "osascript": ("e", "l", ""),
    "tclsh": ("", "", ""),
    "irb": ("rI", "", "require"),
    "expect": ("c", "", ""),
    "julia": ("eELi", "JCtp", "eval print load"),
    "elixir": ("er", "", "eval rpc-eval require"),
    "groovy": ("ei", "", "eval"),
    "ts-node": ("epr", "", "eval print require"),
    "tsx": ("ep", "", "eval print"),
}
# Long options of interpreters whose value is the next word.
_VALUED = named("--check-hash-based-pycs --conditions --diagnostic-dir --input-type --title --external-encoding")
_VERSIONS = named("--version -V -v --help -h")


class _Watch:
    """What speaks against an open rule for a program, in sets: an option is looked up rather than searched for."""

    def __init__(self, known: Tool, above: _Watch | None = None) -> None:
        """`above` watches the program that this is a subcommand of; all that speaks against it counts here too."""
        longs = {option[:size] for option in known.longs.split() for size in range(1, len(option) + 1)}
        shorts, takes = frozenset(known.shorts), frozenset(known.takes)
        self.always = known.always
        self.takes = takes
        self.below: dict[str, _Watch] = {}  # by subcommand
        self.exact: frozenset[str] = named(known.words)
        self.shorts: frozenset[str] = shorts
        self.longs: frozenset[str] = frozenset(longs) - named(known.harmless)  # with every beginning of one
        self.clusters: list[tuple[frozenset[str], frozenset[str]]] = [(shorts, takes)]
        if above is not None:
            self.exact |= above.exact
            self.shorts |= above.shorts
            self.longs |= above.longs
            self.clusters += above.clusters
        self.options = self.exact | {f"--{long}" for long in self.longs}


def _watches() -> dict[str, _Watch]:
    watched = {name: _Watch(known) for name, known in TOOLS.items()}
    for name, known in TOOLS.items():
        program, blank, subcommand = name.partition(" ")
        if blank:
            watched[program].below[subcommand] = _Watch(known, watched[program])
    return watched | {name: watched[same] for name, same in SAME_AS.items() if same in watched}


_WATCHED = _watches()
_INTERPRETED = {
    name: _Watch(Tool(shorts=runs, takes=takes, longs=longs)) for name, (runs, takes, longs) in _INTERPRETERS.items()
}


def runs_or_writes(words: Sequence[str], named: int) -> bool:
    """Whether anything from word `named` on runs another program or writes a file; the words before it are named."""
    name = words[0]
    known = _PROGRAMS.get(name)
    if known is None:
        if "/" not in name and name[-1:] not in _VERSION_SIGNS and name[:6] != "python":
            return False
        name = known_name(name)
        known = _PROGRAMS.get(name, _UNKNOWN)
        if known is _UNKNOWN and not name.startswith("python"):
            return False
    if len(words) > 2 and words[1] == "-m" and name.startswith("python"):  # judged as the module
        name, words, named = known_name(words[2]), words[2:], max(named - 2, 0)
        known = _PROGRAMS.get(name, _UNKNOWN)
    if named >= len(words):
        return len(words) == 1 and (name in _INTERPRETED or name in _CLIENTS)  # it runs what it is fed
    special, interpreter, watch = known
    if special is not None and special(words, named):
        return True
    if interpreter is not None:
        return _interprets(interpreter, words, named)
    if watch is None:
        return False
    if watch.always and named < 1:
        return True
    if watch.below and len(words) > 1 and (below := watch.below.get(words[1])):
        return (below.always and named < 2) or _uses(below, words, named)
    return _uses(watch, words, named)


def interprets(words: Sequence[str]) -> bool:
    """Whether an interpreter of a language gets its program as a text or from its input."""
    known = _INTERPRETED.get(known_name(words[0]))
    return known is not None and _interprets(known, words, 0)


def could_run_or_write(name: str) -> bool:
    """Whether arguments that nobody sees could make the program run another or write."""
    known = known_name(name)
    return known in KNOWN


def known_name(name: str) -> str:
    """The name under which a program is known: without its folder, and without a version that is not part of it."""
    if name in KNOWN:
        return name
    base = name.rpartition("/")[2]
    if base in KNOWN or base[-1:] not in _VERSION_SIGNS:
        return base
    return _VERSION.sub("", base) or base


_VERSION = re.compile(r"-?[0-9][0-9.]*\Z")
_VERSION_SIGNS = frozenset("0123456789.")
_SIGNS = frozenset("-+")


def _uses(known: _Watch, words: Sequence[str], named: int) -> bool:
    rest = words[named if named > 1 else 1 :]
    exact, options, shorts = known.exact, known.options, known.shorts
    if exact and not exact.isdisjoint(rest):
        return True
    for word in rest:
        if word[:1] in _SIGNS:
            if (word.partition("=")[0] if "=" in word else word) in options:
                return True
            if shorts and word[:2] != "--" and not shorts.isdisjoint(word) and _in_cluster(known, word):
                return True
        elif exact and "=" in word and word.partition("=")[0] in exact:
            return True
    return False


def _in_cluster(known: _Watch, word: str) -> bool:
    for shorts, takes in known.clusters:
        for letter in word[1:]:
            if letter in shorts:
                return True
            if letter in takes:
                break
    return False


def _interprets(known: _Watch, words: Sequence[str], named: int) -> bool:
    """Whether an interpreter gets its program from anywhere but a file or module that it is given."""
    skip = guessed = False
    given = False  # what may be the program, or the value of an option that nobody knows
    for place, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif word in _VERSIONS and len(words) == 2:
            return False
        elif word[:1] not in "-+" or word in ("-m", "--"):
            if not guessed or given:
                return False  # what follows the program is the program's
            given = True
        elif word == "-" or (place >= named and _uses(known, ("", word), 1)):
            return place >= named
        elif place < named and _uses(known, ("", word), 1):
            return False  # the rule names how it gets its program
        else:
            skip = (len(word) == 2 and word[1] in known.takes) or word in _VALUED
            guessed = word[:2] == "--" and "=" not in word and not skip
    return not given  # from its input


def _git(words: Sequence[str], named: int) -> bool:
    if len(words) > 1 and words[1][:1] == "-":
        for place, word in enumerate(words[1:], 1):
            if word[:1] != "-":
                break
            if place >= named and word not in _GIT_GLOBALS:
                return True
    return "::" in "\n".join(words) and any("::" in word and _GIT_RUNS.search(word) for word in words[named:])


_GIT_RUNS = re.compile(r"(?:\A|=)(?:ext|fd)::")


def _sed(words: Sequence[str], named: int) -> bool:
    """Whether the script may write or run, or the files are edited in place."""
    scripts: list[str] = []
    operands: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word in ("-e", "--expression", "-ne", "-nEe", "-nre", "-Ee", "-re"):
            scripts.append(next(rest, ""))
        elif word.startswith("--expression="):
            scripts.append(word[13:])
        elif word[:1] == "-" and word not in _SED_FLAGS:
            return True
        elif word[:1] != "-":
            operands.append(word)
    if not scripts:
        scripts = operands[:1]
    return not all(_SED_SAFE.fullmatch(script) for script in scripts)


_SED_FLAGS = named(
    "-n -E -r -u -z -s -nE -nr -En -rn -nz --quiet --silent --regexp-extended --null-data --unbuffered "
    "--posix --debug --version --help"
)


def _awk(words: Sequence[str], named: int) -> bool:
    rest = iter(words[1:])
    for word in rest:
        if word in ("-F", "-v"):
            next(rest, "")
        elif word in ("--version", "--help", "--csv", "--posix", "--re-interval") or word[:2] in ("-F", "-v"):
            continue
        elif word[:1] == "-":
            return True
        else:
            return _AWK_UNSAFE.search(word) is not None
    return False


def _sudo(words: Sequence[str], named: int) -> bool:
    """Whether it starts a shell or an editor; its own options end where the program's words begin."""
    for place, word in enumerate(words[1:], 1):
        if word[:1] != "-":
            return False
        if place >= named and (_in_cluster(_SUDO, word) if word[:2] != "--" else _uses(_SUDO, ("", word), 1)):
            return True
    return False


_SUDO = _Watch(Tool(shorts="siebAK", takes="ugCDhpRrTtU", longs="shell login edit background askpass"))


def _make(words: Sequence[str], named: int) -> bool:
    """A word that sets a variable, SHELL among them, or may become one: a file can be called `SHELL=x`."""
    return any(_MAKE_SETS.search(word) and word[:1] != "-" for word in words[named:])


_MAKE_SETS = re.compile(r"[=*?\[]")


def _begins(*beginnings: str) -> Callable[[Sequence[str], int], bool]:
    """Whether a word begins so."""
    return lambda words, named: any(word.startswith(beginnings) for word in words[max(named, 1) :])


# Plugins, other programs in place of the compiler's own, and files of more options.
_COMPILER = _begins(
    *("@", "-B", "-fplugin", "-fpass-plugin", "-specs", "--specs", "-wrapper", "-fuse-ld=/", "-iplugindir", "-ccc-"),
    *("-Xclang", "-Xlinker", "-load", "-Wl,@", "-Wl,-plugin", "-Wl,--plugin", "-Wl,--dynamic-linker", "--config"),
)
_COMPILERS = "gcc g++ cc c++ clang clang++ gfortran cpp rustc javac"
_NODE = _begins("--test-reporter", "--test-global-setup", "--experimental-config-file", "--cpu-prof", "--heap-prof")


def _sqlite(words: Sequence[str], named: int) -> bool:
    """It runs commands of its own, `.shell` among them, and whatever it is fed; functions load code or write files."""
    operands = [word for word in words[1:] if word[:1] != "-"]
    if len(operands) < 2:
        return _VERSIONS.isdisjoint(words) and "-version" not in words
    return any(_SQLITE_RUNS.search(word) for word in operands[1:])


_SQLITE_RUNS = re.compile(
    r"\A\s*+\.(?!(?:tables?|schema|indexes|databases)\b)|(?:file|extension|edit|tokenizer)\s*+\(", re.IGNORECASE
)


def _client(words: Sequence[str], named: int) -> bool:
    """The clients of databases run a shell for a line like `\\! x` in what they are fed."""
    return _CLIENT_ENDS.isdisjoint(words)


_CLIENTS = named("psql mysql mariadb sqlite3")
_CLIENT_ENDS = _VERSIONS | named("-l --list -c --command -e --execute -?")


def _npm(words: Sequence[str], named: int) -> bool:
    """npm takes a long option behind any number of dashes, and `no-` twice for nothing."""
    for word in words[max(named, 1) :]:
        if word == "--":
            return False
        if word[:1] == "-":
            said = word.partition("=")[0].lstrip("-")
            if len(said) > 1 and (_NO.sub("", said) if said[:1] in "nN" else said) in _NPM_LONGS:
                return True
    return False


_NPM_LONGS = _WATCHED["npm"].longs | _WATCHED["pnpm"].longs
_NO = re.compile(r"\A(?:no-)++", re.IGNORECASE)


def _curl(words: Sequence[str], named: int) -> bool:
    """Headers and cookies may be read from a file, which is sent; and a file may be what is fetched."""
    cookies = (value for option, value in pairwise(words) if option in ("-b", "--cookie"))
    return any("=" not in value for value in cookies) or any(_CURL_FILE.match(word) for word in words[named:])


_CURL_FILE = re.compile(r"@|-[A-Za-z#]*H@|(?:--url=)?file:", re.IGNORECASE)


def _go(words: Sequence[str], named: int) -> bool:
    """One dash or two, and with or without `test.`, it is the same option."""
    exact = _WATCHED["go"].exact
    said = (word.partition("=")[0] for word in words[named:] if word[:1] == "-")
    return any("-" + word.lstrip("-").removeprefix("test.") in exact for word in said)


def _tsc(words: Sequence[str], named: int) -> bool:
    """Its options are the same in upper and lower case, with one dash or two."""
    exact = {word.lstrip("-").lower() for word in _WATCHED["tsc"].exact}
    return any(word[:1] == "-" and word.lstrip("-").lower() in exact for word in words[named:])


def _less(words: Sequence[str], named: int) -> bool:
    """What follows a plus is typed into it, and it can run programs."""
    return any(word[:1] == "+" and not _LESS_MOVES.fullmatch(word) for word in words[named:])


_LESS_MOVES = re.compile(r"\+(?:\d*[gGF]?|/.*)")


def _tar(words: Sequence[str], named: int) -> bool:
    """Its first word may be a cluster without a dash."""
    return named <= 1 and len(words) > 1 and words[1][:1] != "-" and _in_cluster(_WATCHED["tar"], "-" + words[1])


def _uniq(words: Sequence[str], named: int) -> bool:
    """A second operand is the file to write."""
    return len([word for word in words[1:] if word[:1] != "-" or word == "-"]) > 1 and len(words) > named


_SPECIAL: dict[str, Callable[[Sequence[str], int], bool]] = {
    "git": _git,
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "npm": _npm,
    "pnpm": _npm,
    "curl": _curl,
    "go": _go,
    "tsc": _tsc,
    "less": _less,
    "make": _make,
    "gmake": _make,
    "node": _NODE,
    "java": _begins("@", "-javaagent", "-agent", "-XX:On"),
    "sqlite3": _sqlite,
    **dict.fromkeys(["psql", "mysql", "mariadb"], _client),
    **dict.fromkeys(_COMPILERS.split(), _COMPILER),
    **dict.fromkeys(["vi", "vim", "nvim", "view", "ex", "vimdiff", "rvim", "gvim"], _begins("+")),
    "tar": _tar,
    "sudo": _sudo,
    "doas": _sudo,
    "uniq": _uniq,
    "xxd": _uniq,
}
KNOWN = _WATCHED.keys() | _INTERPRETED.keys() | _SPECIAL.keys()
"""The programs that may run another one or write when they are told to."""

_Program = tuple[Callable[[Sequence[str], int], bool] | None, _Watch | None, _Watch | None]
_UNKNOWN: _Program = (None, None, None)
_PROGRAMS: dict[str, _Program] = {
    name: (_SPECIAL.get(name), _INTERPRETED.get(name), _WATCHED.get(name)) for name in KNOWN
}
