"""Commands whose risk depends on more of their words than a row of the table can say: one function each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, takewhile

from msgspec.structs import replace

from quarterdeck.core.programs.command_effects import command_effects
from quarterdeck.core.programs.grammar import OUTSIDE, WRITE
from quarterdeck.core.risk import command_table as table
from quarterdeck.core.risk import text_signs
from quarterdeck.core.risk.command_rows import plain_words, table_reasons, word_matcher
from quarterdeck.core.risk.file_risk import GUARD_CHANGE, RiskReason, delete_reasons, write_reasons
from quarterdeck.core.risk.path_zones import AgentLocation, PathZone, guard_in, real_path, secret_in, zone_of
from quarterdeck.core.shell.script import Call
from quarterdeck.core.text.amounts import cut

_URL = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?(\[[0-9a-f:]+\]|[^/:?#\s]+)", re.IGNORECASE)
_LOOPBACK = re.compile(r"^(localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$", re.IGNORECASE)
METADATA = re.compile(r"169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200|fd00:ec2::254")
_QD_API = re.compile(r"/api/v1/(requests|rules|tokens|login-codes|sessions)|:4180\b")
_SQL_STATEMENTS = [
    (re.compile(pattern, re.IGNORECASE), level, words) for pattern, level, words in text_signs.SQL_STATEMENTS
]
_INLINE_CODE = [(re.compile(pattern, re.IGNORECASE), level, words) for pattern, level, words in text_signs.INLINE_CODE]
_SENDING_OPTIONS = tuple(word_matcher(option) for option in table.SENDING_OPTIONS.split())
CommandAssessor = Callable[[Call, str, AgentLocation], Iterator[RiskReason]]


def special_reasons(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """Yield the risks of a special command; none for any other."""
    assess = _SPECIAL.get(name)
    if assess is not None:
        yield from assess(call, name, location)


def read_only_reason(call: Call, name: str) -> RiskReason:
    """The risk of a command that only reads, unless it is another program of that name or an option does more."""
    if "/" in call.words[0] and not call.words[0].startswith(table.USUAL_FOLDERS):
        return RiskReason("medium", f"runs a program from an unusual folder ({cut(call.words[0], 40)})")
    if command_effects(call.words, named=1):
        return RiskReason("medium", f"has options that can write files or run programs ({name})")
    return RiskReason("low", "")


def _deletes(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    targets = [word for word in plain_words(call) if not (name == "gio" and word == "trash")]
    if call.via.startswith(("find", "gfind", "fd")) and "{}" in targets:
        yield from _found_deletes(call, location)
        return
    paths = [real_path(word, location) for word in targets]
    reasons = [reason for path in paths for reason in delete_reasons(path, location)]
    if name == "rm" and _RECURSIVE.search(" ".join(call.words)):
        reasons += [reason for path in paths for reason in _folder_of_work(path, location)]
    yield from reasons or [RiskReason("high", f"deletes files that are not named here ({name})")]


def _folder_of_work(path: str | None, location: AgentLocation) -> Iterator[RiskReason]:
    """A folder of the project that is not, by its name, made by a program."""
    if path is None or zone_of(path, location) is not PathZone.PROJECT:
        return
    parts = path.removeprefix(location.cwd.rstrip("/")).strip("/").split("/")
    if not any("." in part or _MADE.fullmatch(part) or _LEFTOVERS.fullmatch(part) for part in parts):
        yield RiskReason("high", f"deletes a folder of the project with all that is in it ({cut('/'.join(parts), 40)})")


_RECURSIVE = re.compile(r" (?:-[A-Za-z]*[rR]|--recursive)")
_MADE = re.compile(
    r".*(?:build|dist|out|output|tmp|temp|cache|coverage|htmlcov|venv|env|logs?|generated|gen|public|site|vendor|pods|obj|bin|"
    r"debug|release|artifacts?|results?|reports?|backup|old|copy|demo|snapshots?|scratch|sandbox|"
    r"downloads?|deriveddata|target|wheels?|eggs|foo|bar)\w*|.*[*?$].*",
    re.IGNORECASE,
)
"""Names of folders that programs make, or that are made to try something."""


def _project_sweep(words: Sequence[str]) -> RiskReason:
    """The risk of deleting what is found in the whole project: lower for what programs leave behind."""
    names = [name for option, name in pairwise(words) if option in ("-name", "-iname")]
    level = "medium" if names and all(map(_LEFTOVERS.fullmatch, names)) else "high"
    return RiskReason(level, "deletes what it finds in the project")


_LEFTOVERS = re.compile(
    r"\*?\.(?:orig|py[co]|tmp|temp|bak|sw[po]|DS_Store|o|class|rej|cache|pytest_cache|mypy_cache|coverage)|\*~|"
    r"__pycache__|node_modules|dist|build|target|Thumbs\.db"
)


def _found_deletes(call: Call, location: AgentLocation) -> Iterator[RiskReason]:
    """`find … -exec rm`: it deletes whatever is found below the folders it starts in."""
    starts = list(takewhile(lambda word: not word.startswith("-"), call.outer[1:])) or ["."]
    for word in starts:
        path = real_path(word, location)
        if path == location.cwd.rstrip("/"):
            yield _project_sweep(call.outer)
        else:
            yield from delete_reasons(path, location)


def _writes_all(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    targets = plain_words(call)
    for word in targets[1:] if name in ("chmod", "chown", "chgrp") else targets:
        yield from write_reasons(real_path(word, location), location)


def _writes_last(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    targets = [word for word in plain_words(call) if not re.match(r"^[\w.@-]+:", word)]
    if len(targets) > 1:
        last = real_path(targets[-1], location)
        yield from write_reasons(last, location)
        if name == "mv" and last == "/dev/null":
            yield RiskReason("high", "throws files away")
    if name == "ln":
        for word in targets[:1]:
            yield from _linked(real_path(word, location), location)
    if name in table.WRITES_FIRST:
        away = zone_of(real_path(targets[-1], location), location) if len(targets) > 1 else PathZone.PROJECT
        if away not in (PathZone.PROJECT, PathZone.PROJECT_ROOT) and any(
            reason for word in targets[:-1] for reason in _folder_of_work(real_path(word, location), location)
        ):
            yield RiskReason("high", "moves a folder out of the project")
        for word in targets[:-1]:
            yield from (
                reason
                for reason in delete_reasons(real_path(word, location), location)
                if reason.level in ("high", "critical")
            )


def _linked(path: str | None, location: AgentLocation) -> Iterator[RiskReason]:
    """The file that a link leads to."""
    if path is not None and (secret := secret_in(path)):
        yield RiskReason("critical", f"links to {secret}")
    elif path is not None and _CONFIGURES_SYSTEM.match(path) and zone_of(path, location) is PathZone.SYSTEM:
        yield RiskReason("high", f"links to a file of the system ({path})")


_CONFIGURES_SYSTEM = re.compile(r"/(?:etc|root|proc|sys|boot)/")


def _dd(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    for word in call.words[1:]:
        if word.startswith("of="):
            yield from write_reasons(real_path(word[3:], location), location)


def _sed(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    if not any(word.startswith(("-i", "--in-place")) for word in call.words[1:]):
        yield read_only_reason(call, name)
        return
    for word in plain_words(call)[1:]:
        yield from write_reasons(real_path(word, location), location)


def _find(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    yield RiskReason("low", "")
    words = call.words[1:]
    starts = list(takewhile(lambda word: not word.startswith("-"), words)) or ["."]
    if "-delete" in words:
        for word in starts:
            path = real_path(word, location)
            is_project = path == location.cwd.rstrip("/") or any(_folder_of_work(path, location))
            yield from [_project_sweep(words)] if is_project else delete_reasons(path, location)
    elif any(word in ("-exec", "-execdir", "-ok", "-okdir") for word in words):
        yield RiskReason("medium", "runs a command for everything it finds (find -exec)")
    else:
        yield read_only_reason(call, name)


def _fetches(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """The risk of a network call: lower for loopback, higher if it sends data."""
    words = call.words[1:]
    addresses = [word for option, word in pairwise(call.words) if option not in table.VALUES_OF_FETCHES]
    hosts = [
        match.group(1)
        for word in addresses
        if word[:1] != "-" and (match := _URL.match(word)) and ("." in word or ":" in word or "localhost" in word)
    ]
    sends = any(matches(word) for word in words for matches in _SENDING_OPTIONS) and not _only_reads(words)
    text = " ".join(words)
    if METADATA.search(text):
        yield RiskReason("critical", "asks the cloud's metadata service, which gives out credentials")
    if _QD_API.search(text) and (sends or "-X" in words):
        yield RiskReason("critical", f"{GUARD_CHANGE}: calls Quarterdeck's API")
    if hosts and all(_LOOPBACK.match(host) for host in hosts):
        yield RiskReason("medium" if sends else "low", "calls a server on this machine")
    else:
        action = "sends data over the network" if sends else "uses the network"
        yield RiskReason("high" if sends else "medium", f"{action} ({name})")
    for option, word in pairwise(words):
        if (name, option) in table.SAVING_OPTIONS and word != "-":
            yield from (
                reason for reason in write_reasons(real_path(word, location), location) if reason.level != "medium"
            )


def _only_reads(words: tuple[str, ...]) -> bool:
    """True if the only sending option is a method that sends nothing, like `-X GET`."""
    methods = [after for word, after in pairwise(words) if word in ("-X", "--request", "--method")]
    bodies = [
        word
        for word in words
        if word not in ("-X", "--request", "--method") and any(matches(word) for matches in _SENDING_OPTIONS)
    ]
    return bool(methods) and not bodies and all(method.upper() in ("GET", "HEAD", "OPTIONS") for method in methods)


def _interpreter(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """Code in the line or from a pipe."""
    options = table.INTERPRETERS.get(name, "").split()
    words = call.words[1:]
    at = next((n for n, word in enumerate(words) if word in options or _holds_option(word, options)), None)
    if name in ("awk", "gawk"):
        code = next((word for word in words if not word.startswith("-")), "")
        if re.search(r"system\s*\(|\|\s*getline|print\s*[^}]*[|>]", code):
            yield RiskReason("high", "code in the line runs programs or writes files (awk)")
        else:
            yield read_only_reason(call, name)
        return
    if at is not None:
        yield from _code(" ".join(words[at + 1 :]), name, location)
    elif words and words[0].rpartition("/")[2] in ("manage.py", "artisan"):
        yield from table_reasons(replace(call, words=(words[0].rpartition("/")[2], *words[1:])), "manage.py")
    elif "quarterdeck" in words and "-m" in words:
        yield from _quarterdeck_words(words[words.index("quarterdeck") + 1 :])
    elif call.piped and not [w for w in words if not w.startswith("-")]:
        yield RiskReason("high", f"runs what is piped into it ({name})")
    elif "<<" in call.source:
        yield from _code(call.source, name, location)
    elif name in ("python", "python3") and words[:2] == ("-m", "http.server"):
        yield from _served_files(words, location)
    elif name in ("python", "python3") and words[:1] == ("-m",) and len(words) > 1:
        yield from table_reasons(replace(call, words=words[1:]), words[1])


def _served_files(words: tuple[str, ...], location: AgentLocation) -> Iterator[RiskReason]:
    """The folder that Python's web server shows to the network."""
    parts = [part for word in words for part in word.split("=", 1)]
    for option, folder in pairwise((*parts, "")):
        if option in ("-d", "--directory"):
            path = real_path(folder, location)
            if zone_of(path, location) not in (PathZone.PROJECT, PathZone.PROJECT_ROOT, PathZone.TEMPORARY):
                yield RiskReason("high", f"shows files outside of the project to the network ({cut(folder, 40)})")


def _holds_option(word: str, options: list[str]) -> bool:
    return any(len(option) == 2 and re.fullmatch(rf"-[A-Za-z]*{re.escape(option[1])}", word) for option in options)


def _code(code: str, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    yield RiskReason("medium", f"runs code from the command line ({name})")
    for pattern, level, words in _INLINE_CODE:
        if pattern.search(code):
            yield RiskReason(level, words)
    for word in re.findall(r"[~/.$\w-][\w./~$-]{3,}", code)[:200]:
        path = real_path(word, location)
        if path and (secret := secret_in(path)):
            yield RiskReason("critical", f"code in the line names {secret}")
        elif path and guard_in(path, location):
            yield RiskReason("critical", f"{GUARD_CHANGE}: code in the line names {guard_in(path, location)}")


def _shell(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """A shell within the shell. Commands after `-c` are assessed by themselves."""
    words = call.words[1:]
    if any(_holds_option(word, ["-c"]) for word in words):
        yield RiskReason("medium", f"runs a command in a shell of its own ({name} -c)")
    elif not [word for word in words if not word.startswith("-")] and not _is_at_a_terminal(call):
        yield RiskReason("high", f"runs commands from its input ({name})")
    else:
        yield RiskReason("medium", f"runs a script ({cut(' '.join(call.words[:2]), 60)})")


def _is_at_a_terminal(call: Call) -> bool:
    """True for the shell of a container that a person is to use: `docker run -it node bash`. It reads no pipe."""
    is_container = call.via.startswith(("docker", "podman", "nerdctl"))
    return is_container and not _TERMINAL.isdisjoint(call.outer) and "<" not in call.source


_TERMINAL = frozenset(("-it", "-ti", "-t", "--tty"))


def _sql(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    statement = " ".join(call.words[1:])
    for pattern, level, words in _SQL_STATEMENTS:
        if pattern.search(statement):
            yield RiskReason(level, f"{words} ({name})")
            return
    yield RiskReason("medium", f"asks a database ({name})")


def _unpacks(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """The folder that an archive is unpacked to."""
    for option, word in pairwise((*call.words, "")):
        if option in ("-C", "-d", "--directory") and word:
            yield from (
                reason for reason in write_reasons(real_path(word, location), location) if reason.level != "medium"
            )


def _git_config(call: Call, location: AgentLocation) -> Iterator[RiskReason]:
    effects = command_effects(call.words, location.cwd, 1)
    if effects & OUTSIDE:
        yield RiskReason("high", "changes Git for every project (git config)")
    elif effects & WRITE:
        yield RiskReason("medium", "changes the repository (git config)")


def _git(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    if plain_words(call)[:1] == ["config"]:
        yield from _git_config(call, location)


def _quarterdeck(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    yield from _quarterdeck_words(call.words[1:])


def _quarterdeck_words(words: tuple[str, ...]) -> Iterator[RiskReason]:
    """The `qd` command: reading is harmless, anything else would let an agent decide about itself."""
    command = next((word for word in words if not word.startswith("-")), "--help")
    if command in table.QD_READS:
        yield RiskReason("low", "")
    else:
        yield RiskReason("critical", f"{GUARD_CHANGE}: Quarterdeck's command {cut(command, 20)}")


def _kills(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    if any("quarterdeck" in word or word in ("qd", "claude") for word in call.words[1:]):
        yield RiskReason("critical", f"{GUARD_CHANGE}: ends Quarterdeck or an agent")


def _environment(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """`env` alone prints every variable, and some are secrets. `env X=1 cmd` is assessed by the command it runs."""
    plain = [word for word in call.words[1:] if "=" not in word and not word.startswith("-")]
    if name == "printenv" or not plain:
        yield RiskReason("medium", f"shows environment variables, which may be secrets ({name})")
    else:
        yield RiskReason("low", "")


def _container(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """Folders of this machine that a container can write to."""
    for source in _mounted(call.words[1:]):
        path = real_path(_HERE.sub(location.cwd, source), location)
        yield from (reason for reason in write_reasons(path, location) if reason.level in ("high", "critical"))


def _mounted(words: Sequence[str]) -> Iterator[str]:
    """Yield the folders that the options of a container name."""
    for option, word in pairwise((*words, "")):
        name, equals, value = option.partition("=")
        if name == "--mount":
            parts = dict(part.partition("=")[::2] for part in (value if equals else word).split(","))
            source = parts.get("source", parts.get("src", ""))
        elif name in ("-v", "--volume"):
            source = (value if equals else word).partition(":")[0]
        else:
            source = option[2:].partition(":")[0] if option.startswith("-v") else ""
        if source[:1] in ("/", "~", "$", "."):
            yield source


_HERE = re.compile(r"\A(?:\$\{?PWD\}?|\$\(pwd\))(?=/|\Z)")


def _wrapper(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """A command that runs another one, which is assessed by itself. The content of a sourced script is unknown."""
    if name in ("source", "."):
        yield RiskReason("medium", f"runs a script in this shell ({cut(' '.join(call.words[1:2]), 40)})")
    else:
        yield RiskReason("low", "")


_SPECIAL: dict[str, CommandAssessor] = {
    **dict.fromkeys(table.DELETES, _deletes),
    **dict.fromkeys(table.WRITES_ALL, _writes_all),
    **dict.fromkeys(table.WRITES_LAST, _writes_last),
    **dict.fromkeys(table.INTERPRETERS, _interpreter),
    **dict.fromkeys(table.SHELLS, _shell),
    **dict.fromkeys(table.SQL_CLIENTS, _sql),
    **dict.fromkeys(("curl", "wget", "http", "https", "xh", "httpie", "aria2c"), _fetches),
    **dict.fromkeys(("kill", "pkill", "killall"), _kills),
    **dict.fromkeys(("env", "printenv"), _environment),
    **dict.fromkeys(("qd", "quarterdeck"), _quarterdeck),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _container),
    **dict.fromkeys(table.WRAPPERS, _wrapper),
    "dd": _dd,
    "sed": _sed,
    "find": _find,
    "git": _git,
    **dict.fromkeys(("tar", "unzip", "bsdtar"), _unpacks),
}
"""How to assess each special command."""
