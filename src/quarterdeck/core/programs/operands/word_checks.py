"""Effects of one operand or value by its text: packages, addresses, servers, files that are passed on or mounted. And
the addresses in rules: `curl http://localhost:*` is about every address of that host, whatever its port and path."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quarterdeck.core.programs.grammar import FETCH, OPERAND, OUTSIDE, PROGRAM, SECRET, SEND, WRITE, Effects
from quarterdeck.core.programs.project_paths import Folder, is_inside, passed_on, report, run, written

_FOREIGN_PACKAGE = re.compile(
    r"://|\b(?:git|hg|svn|bzr)\+|(?:git|github|gitlab|bitbucket|gist|file|link|portal|workspace):|@ "
)
_SCOPED_PACKAGE = re.compile(r"@[\w.-]+/[\w.-]+(?:@(?:npm:)?[\w.^~<>=*| -]*+)?")
_LOCAL_HOST = re.compile(
    r"(?:localhost|127\.[0-9.]+|\[?::1\]?|host\.docker\.internal|[A-Za-z0-9_-]+|/.*|@.*)?(?::\d+)?"
)
_DATABASE_HOST = re.compile(r"://(?:[^@/]*@)?([^/?:,]+)|\bhost(?:addr)?\s*=\s*'?([^\s']+)")
_DIFF_ELSEWHERE = re.compile(r"[/~]|\.\./|.*/\.\.(?:/|\Z)")
_INTERPRETER = re.compile(r"(?:\A|/)(?:bin/|Scripts/)?(?:python|pypy)[\d.]*(?:\.exe)?\Z|venv/?\Z")
_HERE = re.compile(r"\A(?:\$\{?PWD\}?|\$\(pwd\))(?=[:/]|\Z)")
_LESS_MOVES = re.compile(r"\+(?:\d*[gGF]?|/.*)")
_ORIGIN = re.compile(r"(https?://[A-Za-z0-9_.-]+)(:\d+)?", re.IGNORECASE)
_ADDRESS = re.compile(rf"{_ORIGIN.pattern}(?:[/?#][^\\]*+)?", re.IGNORECASE | re.DOTALL)
_BARE = re.compile(r"(?:localhost|127\.0\.0\.1)(?:[:/?#].*)?", re.DOTALL)
"""This machine without a scheme, which curl and wget ask by HTTP."""


ADDRESS_BEGINNINGS = "http HTTP Http loca 127."
"""The first four characters of words that may have an origin. To search a text is faster than to hash a part of one."""
_WEB = re.compile(r"(?:(?:https?)://)?[A-Za-z0-9_.\[\]:-]+(?:[/?#].*)?", re.IGNORECASE | re.DOTALL)
_METADATA = re.compile(r"169\.254\.|metadata\.google|100\.100\.100\.200|fd00:ec2", re.IGNORECASE)
_SECRET_HEADER = re.compile(
    r"\s*+(?:authorization|proxy-authorization|cookie|[\w-]*token|[\w-]*api-?key)\s*+:", re.IGNORECASE
)


def package(word: str, folder: Folder) -> Effects:
    """A package to install: the project itself has no effect but to run its own code. One that does not come from the
    registry is more than a rule for installing packages covers."""
    if word[:1] in ("/", "~", "."):
        return run(word.partition("[")[0], folder)
    return PROGRAM | FETCH if _FOREIGN_PACKAGE.search(word) else OPERAND


def npm_package(word: str, folder: Folder) -> Effects:
    """A package for npm, where `owner/name` is a repository."""
    if "/" in word and word[:1] not in "@/~." and not _FOREIGN_PACKAGE.search(word):
        return PROGRAM | FETCH
    return package(word.removeprefix("file:"), folder) if word[:1] != "@" else _scoped(word)


def _scoped(word: str) -> Effects:
    return OPERAND if _SCOPED_PACKAGE.fullmatch(word) else PROGRAM | FETCH


def passed_on_text(word: str, folder: Folder) -> Effects:
    """A file whose text is passed on: a message, a description, values. `key=@file` names one too."""
    _, separator, path = word.partition("=@")
    return passed_on(path if separator else word, folder)


def ruff_config(word: str, folder: Folder) -> Effects:
    """A file of settings, or one setting in TOML, which may turn on fixing."""
    if "=" in word:
        return WRITE if "fix" in word.partition("=")[0] else 0
    return run(word, folder)


def compared(word: str, folder: Folder) -> Effects:
    """A file outside of the repository, which git compares as well, is shown whole."""
    return SECRET if _DIFF_ELSEWHERE.match(word) and word != "/dev/null" and not is_inside(word, folder) else 0


def database_host(word: str, folder: Folder) -> Effects:
    """The server of a database, alone or in a connection string. One on another machine gets whatever is sent."""
    hosts = ["".join(found) for found in _DATABASE_HOST.findall(word)] if "=" in word or "://" in word else [word]
    return 0 if all(_LOCAL_HOST.fullmatch(host) for host in hosts) else FETCH


def formatter(word: str, folder: Folder) -> Effects:
    """A formatter by its name comes from the linter or an installed package; a path names a program."""
    return PROGRAM if word[:1] in "./~" or word.endswith((".js", ".cjs", ".mjs", ".ts")) else 0


def interpreter(word: str, folder: Folder) -> Effects:
    """A version or a name (`3.12`, `pypy`), or the interpreter of an environment in the project."""
    if "/" not in word:
        return 0
    return run(word, folder) if _INTERPRETER.search(word) else PROGRAM


def repository(word: str, folder: Folder) -> Effects:
    """A repository for gh: one with a host in front is asked there, with the person's credentials for it."""
    if "@" in word and not word.startswith("git@github.com:"):
        return SECRET
    host, _, rest = word.removeprefix("https://").partition("/")
    return SECRET if "/" in rest and host != "github.com" else 0


def volume(word: str, folder: Folder) -> Effects:
    source = _HERE.sub(".", word).partition(":")[0]
    return written(source, folder) if source[:1] in ("/", "~", ".", "$") else 0


def mount(word: str, folder: Folder) -> Effects:
    sources = [part.partition("=")[2] for part in word.split(",") if part.startswith(("src=", "source="))]
    return written(sources[0], folder) if sources and "type=volume" not in word and "/" in sources[0] else 0


def network(word: str, folder: Folder) -> Effects:
    return OUTSIDE if word == "host" or word.startswith(("container:", "ns:")) else 0


_REMOTE_FOLDER = re.compile(
    r"[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|sh|app|co|cloud|example|edu|gov|ai|xyz)/|.*(?://|[?&]ref=)|git@"
)
"""A repository that docker and kubectl fetch, though it looks like a path."""


def build_context(word: str, folder: Folder) -> Effects:
    if word == "-":
        return 0
    return PROGRAM | FETCH if _REMOTE_FOLDER.match(word) else run(word, folder)


def manifest(word: str, folder: Folder) -> Effects:
    return 0 if word == "-" else build_context(word, folder)


def chart(word: str, folder: Folder) -> Effects:
    return PROGRAM | FETCH if "://" in word else run(word, folder) if word[:1] in "/~." else 0


def build_output(word: str, folder: Folder) -> Effects:
    if "=" not in word:
        return written(word, folder)
    targets = [part.partition("=")[2] for part in word.split(",") if part.startswith("dest=")]
    return (SEND if "registry" in word or "push=true" in word else 0) | (written(targets[0], folder) if targets else 0)


def url_effects(word: str, folder: Folder = "") -> Effects:
    """The effects of asking for an address: more than fetching if it may send credentials, or is no web address."""
    scheme, separator, rest = word.partition("://")
    authority = re.split(r"[/?#\\]", rest if separator else word, maxsplit=1)[0]
    if (separator and scheme.lower() not in ("http", "https")) or word.lower().startswith("file:"):
        return PROGRAM | SECRET
    if "@" in authority or _METADATA.search(authority):
        return FETCH | SECRET
    return FETCH if _WEB.fullmatch(word) and "\\" not in word else FETCH | SEND


def header(word: str, folder: Folder) -> Effects:
    return SEND if word[:1] == "@" else (SECRET if _SECRET_HEADER.match(word) else 0)


def write_out(word: str, folder: Folder) -> Effects:
    return OUTSIDE if "%output" in word.lower() or word[:1] == "@" else 0


def warning(word: str, folder: Folder) -> Effects:
    """A filter names the class of a warning in its third part; one with a dot is imported."""
    parts = word.split(":")
    return PROGRAM if len(parts) > len(("action", "message")) and "." in parts[2] else 0


def coverage_report(word: str, folder: Folder) -> Effects:
    kind, colon, path = word.partition(":")
    if not kind or kind.startswith("term"):
        return 0
    return report(path, folder) if colon else 0


def compiler(word: str, folder: Folder) -> Effects:
    if word.startswith(("l,", "a,", "p,", "plugin", "pass-plugin", "use-ld", "o")):
        return PROGRAM
    value = word.partition("=")[2]
    return OUTSIDE if value[:1] in ("/", "~") or ".." in value else 0


def web_file(word: str, folder: Folder) -> Effects:
    """An address whose file is saved under its own name: hidden files configure programs."""
    path = re.split(r"[?#]", word.partition("://")[2] or word, maxsplit=1)[0].partition("/")[2]
    hidden = any(part[:1] == "." or part[:4].lower() == "%2e" for part in path.split("/"))
    return url_effects(word, folder) | (OUTSIDE if hidden else 0)


def system_package(word: str, folder: Folder) -> Effects:
    """A package of the system: a file, an address or a foreign source is more than a rule for installing covers."""
    return PROGRAM if "://" in word or word.count("/") > 1 or word[:1] in "/~." or word.endswith(_PACKAGE_FILES) else 0


_PACKAGE_FILES = (".deb", ".rpm", ".rb", ".pkg", ".apk", ".snap", ".zst", ".flatpak", ".flatpakref")


def remote_shell(word: str, folder: Folder) -> Effects:
    return 0 if re.fullmatch(r"ssh(?: -p ?\d+| -q| -C)*+", word) else PROGRAM


def less_command(word: str, folder: Folder) -> Effects:
    """Text after a plus is typed into less, and can run programs."""
    return PROGRAM if word[:1] == "+" and not _LESS_MOVES.fullmatch(word) else 0


def origins(word: str) -> Iterator[str]:
    """Yield the address without its path, and without its port, if it is a plain web address that has them."""
    if word[:4] not in ADDRESS_BEGINNINGS:
        return
    match = _ADDRESS.fullmatch(f"http://{word}" if _BARE.fullmatch(word) else word)
    if match:
        host, port = match[1], match[2]
        if port:
            yield host + port
        yield host


def begins(words: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    """True if a command begins with the words of a rule. A rule's last word may be the origin of an address."""
    size = len(prefix)
    if words[:size] == prefix:
        return True
    if not prefix or len(words) < size or words[: size - 1] != prefix[:-1] or not _ORIGIN.fullmatch(prefix[-1]):
        return False
    return prefix[-1] in origins(words[size - 1])
