"""What speaks against one command of a shell line."""

from __future__ import annotations

import fnmatch
import posixpath as paths
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise, takewhile

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.risk import command_table as t
from quarterdeck.core.risk.files import OWN_GUARD, Finding, deleting, reading, writing
from quarterdeck.core.risk.paths import Place, Where, guard_in, perhaps_secret_in, place_of, real_path, secret_in
from quarterdeck.core.shell.script import Call, grants
from quarterdeck.core.text.titles import cut

_CLUSTER = re.compile(r"-[A-Za-z0-9]+")
_URL = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?(\[[0-9a-f:]+\]|[^/:?#\s]+)", re.IGNORECASE)
_LOOPBACK = re.compile(r"^(localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$", re.IGNORECASE)
METADATA = re.compile(r"169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200|fd00:ec2::254")
_OWN_API = re.compile(r"/api/v1/(requests|rules|tokens|login-codes|sessions)|:4180\b")
_VERSION = re.compile(r"^(python|pip|perl|ruby|php|node)[\d.]+$")
_SPACE = re.compile(r"\s")
_DROPS = [(re.compile(pattern, re.IGNORECASE), level, words) for pattern, level, words in t.DROPS]
_INLINE = [(re.compile(pattern, re.IGNORECASE), level, words) for pattern, level, words in t.INLINE]


class Row(Struct, frozen=True):
    """A row of the table, ready to be asked."""

    level: str
    subcommands: frozenset[str]
    signs: tuple[Callable[[str], bool], ...]
    words: str


def _sign(pattern: str) -> Callable[[str], bool]:
    """Whether a word is the one a row names: an option, also within `-xzf` or before `=`, a word, or a glob."""
    if any(sign in pattern for sign in "*?["):
        found = re.compile(fnmatch.translate(pattern))
        return lambda word: found.match(word) is not None
    if len(pattern) == 2 and pattern[0] == "-":
        return lambda word: _CLUSTER.fullmatch(word) is not None and pattern[1] in word
    if pattern.startswith("--") and "=" not in pattern:
        return lambda word: word == pattern or word.startswith(pattern + "=")
    return lambda word: word == pattern


def _rows() -> dict[str, list[Row]]:
    """The table, by command."""
    rows: dict[str, list[Row]] = {}
    whole = re.sub(r"(\|)?\n {4}", lambda found: found.group(1) or " ", t.ROWS)
    for line in whole.strip().split("\n"):
        if line.startswith("#"):
            continue
        told, signs, words = (part.strip() for part in line.split("·"))
        level, names, *subcommands = told.split()
        allowed = frozenset(subcommands[0].split("|")) if subcommands else frozenset()
        row = Row(level, allowed, tuple(_sign(sign) for sign in signs.split()), words)
        for name in names.split("|"):
            rows.setdefault(name, []).append(row)
    return rows


_ROWS = _rows()
_VALUES = {name: frozenset(options.split()) for name, options in t.TAKES_VALUE.items()}
_SENDING = tuple(_sign(option) for option in t.SENDING.split())


def name_of(call: Call) -> str:
    """The command a call runs, without its folder and its version."""
    return _name(call.words[0]) if call.words else ""


@lru_cache(maxsize=1024)
def _name(word: str) -> str:
    name = paths.basename(word)
    return name if name in t.INTERPRETERS else _VERSION.sub(r"\1", name)


def plain_words(call: Call) -> list[str]:
    """What is no option, and no value of an option before the subcommand."""
    takes = _VALUES.get(name_of(call), frozenset())
    found: list[str] = []
    skip = False
    for word in call.words[1:]:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-" and not found:
            skip = word in takes
        elif not word.startswith("-") or word == "-":
            found.append(word)
    return found


def findings_of(call: Call, where: Where) -> Iterator[Finding]:
    """Everything that speaks against a call."""
    if not call.words:
        return
    name = name_of(call)
    if not name or call.words[0].startswith(("$", "`")):
        yield Finding("high", "runs what a variable or another command says")
        return
    found = [*_by_table(call, name), *_by_kind(call, name, where)]
    found += [*_by_paths(call, name, where)]
    yield from found or [_otherwise(_here(call, name, where), name)]


def _by_table(call: Call, name: str) -> Iterator[Finding]:
    """What the first row that holds says."""
    plain = plain_words(call)
    for row in _ROWS.get(name, ()):
        if row.subcommands and (not plain or plain[0] not in row.subcommands):
            continue
        named = next((word for word in call.words[1:] if any(sign(word) for sign in row.signs)), "")
        if row.signs and not named:
            continue
        sub = plain[:1] if row.subcommands and plain[0] != named else []
        about = " ".join(filter(None, [name, *sub, named]))
        yield Finding(row.level, f"{row.words} ({cut(about, 60)})")
        return


def _here(call: Call, name: str, where: Where) -> Call:
    """`git -C` with a folder of the project is no more than git."""
    words = call.words
    if name == "git" and words[1:2] == ("-C",) and len(words) > 2:
        inner = place_of(real_path(words[2], where), where)
        return replace(call, words=(words[0], *words[3:])) if inner in (Place.PROJECT, Place.WHOLE) else call
    return call


def _otherwise(call: Call, name: str) -> Finding:
    """A call of which nothing bad is known."""
    plain = plain_words(call)
    if call.words[1:] and set(call.words[1:]) <= {"--version", "-V", "--help", "-h", "version", "-v"}:
        return Finding("low", "")
    if name in t.READS or (name == "git" and (not plain or plain[0] in t.GIT_READS)):
        return _looks(call, name)
    if name in t.WORKS:
        return Finding("medium", f"runs code of the project ({name})")
    return Finding("medium", f"runs a program that is not in our list ({cut(name, 40)})")


def _looks(call: Call, name: str) -> Finding:
    """A command that only looks, unless it is another one of that name or has an option that does more."""
    if "/" in call.words[0] and not call.words[0].startswith(t.USUAL_FOLDERS):
        return Finding("medium", f"runs a program from an unusual folder ({cut(call.words[0], 40)})")
    if not grants(call.words[:1], True, call):
        return Finding("medium", f"has options that can write files or run programs ({name})")
    return Finding("low", "")


Judge = Callable[[Call, str, Where], Iterator[Finding]]


def _by_kind(call: Call, name: str, where: Where) -> Iterator[Finding]:
    judge = _KINDS.get(name)
    if judge is not None:
        yield from judge(call, name, where)


def _deletes(call: Call, name: str, where: Where) -> Iterator[Finding]:
    targets = [word for word in plain_words(call) if not (name == "gio" and word == "trash")]
    found = [finding for word in targets for finding in deleting(real_path(word, where), where)]
    yield from found or [Finding("high", f"deletes what it is given later ({name})")]


def _writes_all(call: Call, name: str, where: Where) -> Iterator[Finding]:
    targets = plain_words(call)
    for word in targets[1:] if name in ("chmod", "chown", "chgrp") else targets:
        yield from writing(real_path(word, where), where)


def _writes_last(call: Call, name: str, where: Where) -> Iterator[Finding]:
    targets = [word for word in plain_words(call) if not re.match(r"^[\w.@-]+:", word)]
    if len(targets) > 1:
        yield from writing(real_path(targets[-1], where), where)
    if name in t.WRITES_FIRST:
        for word in targets[:-1]:
            yield from (f for f in deleting(real_path(word, where), where) if f.level in ("high", "critical"))


def _dd(call: Call, name: str, where: Where) -> Iterator[Finding]:
    for word in call.words[1:]:
        if word.startswith("of="):
            yield from writing(real_path(word[3:], where), where)


def _sed(call: Call, name: str, where: Where) -> Iterator[Finding]:
    if not any(word.startswith(("-i", "--in-place")) for word in call.words[1:]):
        yield _looks(call, name)
        return
    for word in plain_words(call)[1:]:
        yield from writing(real_path(word, where), where)


def _find(call: Call, name: str, where: Where) -> Iterator[Finding]:
    yield Finding("low", "")
    words = call.words[1:]
    starts = list(takewhile(lambda word: not word.startswith("-"), words)) or ["."]
    if "-delete" in words:
        for word in starts:
            path = real_path(word, where)
            whole = path == where.cwd.rstrip("/")
            yield from [Finding("high", "deletes what it finds in the project")] if whole else deleting(path, where)
    elif any(word in ("-exec", "-execdir", "-ok", "-okdir") for word in words):
        yield Finding("medium", "runs a command for everything it finds (find -exec)")
    else:
        yield _looks(call, name)


def _fetches(call: Call, name: str, where: Where) -> Iterator[Finding]:
    """A call over the network: to whom, and whether it sends."""
    words = call.words[1:]
    hosts = [
        found.group(1)
        for word in plain_words(call)
        if (found := _URL.match(word)) and ("." in word or ":" in word or "localhost" in word)
    ]
    sends = any(sign(word) for word in words for sign in _SENDING) and not _asks_only(words)
    text = " ".join(words)
    if METADATA.search(text):
        yield Finding("critical", "asks the cloud's metadata service, which gives out credentials")
    if _OWN_API.search(text) and (sends or "-X" in words):
        yield Finding("critical", f"{OWN_GUARD}: calls Quarterdeck's API")
    if hosts and all(_LOOPBACK.match(host) for host in hosts):
        yield Finding("medium" if sends else "low", "calls a server on this machine")
    else:
        words_for = "sends data over the network" if sends else "uses the network"
        yield Finding("high" if sends else "medium", f"{words_for} ({name})")
    for option, word in pairwise(words):
        if (name, option) in t.SAVES and word != "-":
            yield from (f for f in writing(real_path(word, where), where) if f.level != "medium")


def _asks_only(words: tuple[str, ...]) -> bool:
    """`-X GET` and the like send nothing."""
    methods = [after for word, after in pairwise(words) if word in ("-X", "--request", "--method")]
    bodies = [w for w in words if any(sign(w) for sign in _SENDING) and w not in ("-X", "--request", "--method")]
    return bool(methods) and not bodies and all(method.upper() in ("GET", "HEAD", "OPTIONS") for method in methods)


def _inline(call: Call, name: str, where: Where) -> Iterator[Finding]:
    """Code that stands in the line, or comes from a pipe."""
    options = t.INTERPRETERS.get(name, "").split()
    words = call.words[1:]
    at = next((n for n, word in enumerate(words) if word in options or _cluster_of(word, options)), None)
    if name in ("awk", "gawk"):
        code = next((word for word in words if not word.startswith("-")), "")
        if re.search(r"system\s*\(|\|\s*getline|print\s*[^}]*[|>]", code):
            yield Finding("high", "code in the line runs programs or writes files (awk)")
        else:
            yield _looks(call, name)
        return
    if at is not None:
        yield from _code(" ".join(words[at + 1 :]), name, where)
    elif "quarterdeck" in words and "-m" in words:
        yield from _own_words(words[words.index("quarterdeck") + 1 :])
    elif call.piped and not [w for w in words if not w.startswith("-")]:
        yield Finding("high", f"runs what is piped into it ({name})")
    elif "<<" in call.source:
        yield from _code(call.source, name, where)
    elif name in ("python", "python3") and words[:2] == ("-m", "pip"):
        yield Finding("medium", "installs packages, which run code of others (pip)")


def _cluster_of(word: str, options: list[str]) -> bool:
    return any(len(option) == 2 and re.fullmatch(rf"-[A-Za-z]*{re.escape(option[1])}", word) for option in options)


def _code(code: str, name: str, where: Where) -> Iterator[Finding]:
    yield Finding("medium", f"runs code that stands in the line ({name})")
    for pattern, level, words in _INLINE:
        if pattern.search(code):
            yield Finding(level, words)
    for word in re.findall(r"[~/.$\w-][\w./~$-]{3,}", code)[:200]:
        path = real_path(word, where)
        if path and (kept := secret_in(path)):
            yield Finding("critical", f"code in the line names {kept}")
        elif path and guard_in(path, where):
            yield Finding("critical", f"{OWN_GUARD}: code in the line names {guard_in(path, where)}")


def _shell(call: Call, name: str, where: Where) -> Iterator[Finding]:
    """A shell in the shell: what it runs is judged by itself where it can be seen."""
    words = call.words[1:]
    if any(_cluster_of(word, ["-c"]) for word in words):
        yield Finding("medium", f"runs a command in a shell of its own ({name} -c)")
    elif not [word for word in words if not word.startswith("-")]:
        yield Finding("high", f"runs what it is given ({name})")
    else:
        yield Finding("medium", f"runs a script ({cut(' '.join(call.words[:2]), 60)})")


def _sql(call: Call, name: str, where: Where) -> Iterator[Finding]:
    said = " ".join(call.words[1:])
    for pattern, level, words in _DROPS:
        if pattern.search(said):
            yield Finding(level, f"{words} ({name})")
            return
    yield Finding("medium", f"asks a database ({name})")


def _own(call: Call, name: str, where: Where) -> Iterator[Finding]:
    yield from _own_words(call.words[1:])


def _own_words(words: tuple[str, ...]) -> Iterator[Finding]:
    """Our own command line: reading is nothing, the rest would be an agent that decides about itself."""
    command = next((word for word in words if not word.startswith("-")), "--help")
    if command in t.OWN_READS:
        yield Finding("low", "")
    else:
        yield Finding("critical", f"{OWN_GUARD}: Quarterdeck's command {cut(command, 20)}")


def _kills(call: Call, name: str, where: Where) -> Iterator[Finding]:
    if any("quarterdeck" in word or word in ("qd", "claude") for word in call.words[1:]):
        yield Finding("critical", f"{OWN_GUARD}: ends Quarterdeck or an agent")


def _environment(call: Call, name: str, where: Where) -> Iterator[Finding]:
    """`env` alone prints every variable, and some are secrets; `env X=1 cmd` is judged by what it runs."""
    plain = [word for word in call.words[1:] if "=" not in word and not word.startswith("-")]
    if name == "printenv" or not plain:
        yield Finding("medium", f"shows environment variables, which may be secrets ({name})")
    else:
        yield Finding("low", "")


def _container(call: Call, name: str, where: Where) -> Iterator[Finding]:
    """Folders of this machine that a container gets."""
    words = call.words[1:]
    for n, word in enumerate(words):
        value = word.partition("=")[2] if "=" in word else words[n + 1] if n + 1 < len(words) else ""
        if word.split("=")[0] in ("-v", "--volume") and value[:1] in ("/", "~", "$", "."):
            path = real_path(value.split(":")[0], where)
            yield from (f for f in writing(path, where) if f.level in ("high", "critical"))


def _wrapper(call: Call, name: str, where: Where) -> Iterator[Finding]:
    """A command that runs another one; that one is judged by itself. A script that is read in is not seen."""
    if name in ("source", "."):
        yield Finding("medium", f"runs a script in this shell ({cut(' '.join(call.words[1:2]), 40)})")
    else:
        yield Finding("low", "")


_KINDS: dict[str, Judge] = {
    **dict.fromkeys(t.DELETES, _deletes),
    **dict.fromkeys(t.WRITES_ALL, _writes_all),
    **dict.fromkeys(t.WRITES_LAST, _writes_last),
    **dict.fromkeys(t.INTERPRETERS, _inline),
    **dict.fromkeys(t.SHELLS, _shell),
    **dict.fromkeys(t.SQL, _sql),
    **dict.fromkeys(("curl", "wget", "http", "https", "xh", "httpie", "aria2c"), _fetches),
    **dict.fromkeys(("kill", "pkill", "killall"), _kills),
    **dict.fromkeys(("env", "printenv"), _environment),
    **dict.fromkeys(("qd", "quarterdeck"), _own),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _container),
    **dict.fromkeys(t.WRAPPERS, _wrapper),
    "dd": _dd,
    "sed": _sed,
    "find": _find,
}
"""How the words of a command are read, where a row of the table does not say it all."""


_SILENT = t.SAYS | t.DELETES | t.WRITES_ALL


def _by_paths(call: Call, name: str, where: Where) -> Iterator[Finding]:
    """Credentials among the words of any command."""
    if name in _SILENT:
        return
    shows = name in t.VIEWERS and not (name == "sed" and any(word.startswith("-i") for word in call.words))
    pattern = plain_words(call)[:1] if name in t.PATTERN_FIRST else []
    for option, word in pairwise(call.words):
        for piece in _pieces(word):
            path = real_path(piece, where)
            if path is not None and (secret_in(path) or perhaps_secret_in(path)):
                yield _secret(path, name, where, uses=name in t.KEY_USERS or (option == "-i" and name in t.SENDS))
            elif shows and word[:1] in "/~." and word not in pattern:
                yield from reading(path, where)


def _pieces(word: str) -> Iterator[str]:
    """What of a word may be a path: `@file`, `--key=file`, `file://…`, `host:file`."""
    if _SPACE.search(word) and word[:1] not in "/~@":
        return
    yield word.removeprefix("file://").lstrip("@<")
    for sign in ("=@", "=", ":"):
        before, found, after = word.partition(sign)
        if found and after and not after.startswith("//") and before:
            yield after.lstrip("@")


def _secret(path: str, name: str, where: Where, *, uses: bool) -> Finding:
    found = next(reading(path, where), Finding("low", ""))
    if name in t.LOOKS:
        return Finding("medium", found.words.replace("reads", "looks at", 1))
    if uses:
        return Finding("high", found.words.replace("reads", "uses", 1))
    return found


def worst(findings: list[Finding]) -> str:
    """The highest level among these."""
    return LEVELS[max((LEVELS.index(finding.level) for finding in findings), default=0)]
