"""Files that a shell line plainly names, so that a rule that denies a file counts for the shell too. Files that a
program opens by itself are not seen here: this stops the plain ways, and no rule allows anything by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from quarterdeck.core.model.tool_use import ToolUse, absolute_path
from quarterdeck.core.patterns.glob_overlap import MAX_WILDCARD_PATHS
from quarterdeck.core.patterns.path_patterns import has_wildcard
from quarterdeck.core.patterns.path_prefilter import PathPrefilter
from quarterdeck.core.patterns.rule_words import EDIT, READ, RULE_WORDS
from quarterdeck.core.programs.grammar import word_set
from quarterdeck.core.shell.script import Call, Script

READERS = word_set(
    ". ack ag awk base32 base64 basenc bat bzip2 cat cmp code column comm cp csplit curl cut dd diff egrep emacs ex "
    "expand fgrep fmt fold gawk gpg grep gzip head hexdump hexyl iconv install join jq less ln look m4 more mv nano nl "
    "nvim od openssl paste perl pr pygmentize rev rg rsync ruby scp sed shuf sort source split strings tac tail tar "
    "tee uniq vi view vim wc wget xxd xz yq zcat zip zstd"
)
"""Programs that show, send or copy the content of the files in their arguments."""

WRITERS = word_set(
    "chmod chown cp dd ed emacs ex install ln mkdir mv nano nvim patch rm rmdir rsync scp shred split tee touch "
    "truncate unlink unzip vi vim"
)
"""Programs that change, create or remove the files in their arguments."""

_IN_PLACE = {
    **{"sed": "i", "perl": "i", "ruby": "i", "sort": "o", "curl": "o", "wget": "O", "tar": "xC", "find": ""},
    **dict.fromkeys(["autopep8", "clang-format", "yapf"], "i"),
    **dict.fromkeys(["gofmt", "goimports", "prettier", "shfmt"], "w"),
    **{"eslint": "", "stylelint": "", "rubocop": "aA"},
}
"""Programs that change files only with one of these short options, or with one of `_WRITING_OPTIONS`."""

_FORMATTERS = word_set("black isort rustfmt")
"""Programs that change the files in their arguments unless one of `_CHECK_ONLY_OPTIONS` is given."""

_GIT_CHANGES = word_set("checkout mv restore rm")
_MAY_CHANGE = _IN_PLACE.keys() | _FORMATTERS | {"awk", "gawk", "git"}
_READS = dict.fromkeys(READERS, True)
_EDITS = dict.fromkeys(_MAY_CHANGE, False) | dict.fromkeys(WRITERS, True)
_NONE: dict[str, bool] = {}
# The programs to check, by whether reads and edits matter. The value: true if they always read or edit, false if it
# depends on their options.
_PROGRAMS = {(False, False): _NONE, (True, False): _READS, (False, True): _EDITS, (True, True): _EDITS | _READS}
_WRITING_OPTIONS = ("--in-place", "--output", "-delete", "inplace", "--write", "--fix", "--autocorrect")
_CHECK_ONLY_OPTIONS = word_set("--check --check-only --diff -c")

MAX_CD_LENGTH = 512
"""Length of a working folder beyond which further `cd` commands are not followed."""

_CD_COMMANDS = (("cd",), ("pushd",))

MAX_WORDS = 200
"""Words of a line that are checked."""


def named_files(
    tool_use: ToolUse,
    script: Script,
    tools: frozenset[str],
    prefilter: PathPrefilter,
    names: frozenset[str] | None = None,
) -> tuple[ToolUse, ...]:
    """Return a use of one of these tools, Read or Edit, for each file that the line names, seen from the working folder
    and from the folders the line changes to. Files that the prefilter rules out are left out. `names`: the names of
    the line's calls, if none of them is a path."""
    programs = _PROGRAMS[READ in tools, EDIT in tools]
    if names is not None and programs.keys().isdisjoint(names) and not (script.writes or script.reads):
        return ()
    calls = [
        call
        for call in script.calls
        if (words := call.words)
        and (always := programs.get(name := words[0] if names else _name(words[0]))) is not None
        and (always or _changes_files(name, words))
    ]
    redirected = script.writes + script.reads
    if not calls and not redirected:
        return ()
    cd_targets = [call.words[-1] for call in script.calls if call.words[:1] in _CD_COMMANDS]
    surroundings = [tool_use.cwd, tool_use.home, *cd_targets]
    if not prefilter.may_match(
        "/".join([*surroundings, *redirected, *chain.from_iterable([call.words for call in calls])])
    ):
        return ()
    always_related = prefilter.may_match("/".join(surroundings))
    files = dict.fromkeys((EDIT, target) for target in script.writes[:MAX_WORDS])
    files.update(dict.fromkeys((READ, target) for target in script.reads[:MAX_WORDS]))
    for call in calls:
        if len(files) <= MAX_WORDS and (always_related or prefilter.may_match("/".join(call.words))):
            files.update(dict.fromkeys(_call_files(call)))
    relevant = within_limits(
        (tool, path)
        for tool, path in list(files)[:MAX_WORDS]
        if tool in tools and (always_related or prefilter.may_match(path))
    )
    if not relevant:
        return ()
    return tuple(
        file_use(tool_use, tool, path, folder)
        for folder in working_folders(tool_use, script)
        for tool, path in relevant
    )


def within_limits(files: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The files to check: of paths with wildcards only the first few, since each is compared with every pattern."""
    limited: list[tuple[str, str]] = []
    wildcards = 0
    for file in files:
        wildcards += has_wildcard(file[1])
        if wildcards <= MAX_WILDCARD_PATHS or not has_wildcard(file[1]):
            limited.append(file)
    return limited


def _name(word: str) -> str:
    return word.rpartition("/")[2] if "/" in word else word


def working_folders(tool_use: ToolUse, script: Script) -> list[str]:
    """The session's working folder, and the first and last folders that the line changes to."""
    folders = [tool_use.cwd]
    for call in script.calls:
        if call.words[:1] in _CD_COMMANDS and len(call.words) > 1 and len(folders[-1]) < MAX_CD_LENGTH:
            folders = [*folders[:2], absolute_path(call.words[-1], folders[-1], tool_use.home)]
    return list(dict.fromkeys(folders))


def _call_files(call: Call) -> Iterator[tuple[str, str]]:
    name = _name(call.words[0])
    changes = name in WRITERS or _changes_files(name, call.words)
    script = script_index(call)
    for index, word in enumerate(call.words[1 : MAX_WORDS + 1], 1):
        if index == script:
            continue
        for path in _paths_in(word):
            if name in READERS:
                yield READ, path
            if changes:
                yield EDIT, path


def script_index(call: Call) -> int:
    """The index of a filter's script or pattern among its words: `s/.*//` is not a file. 0 if that is not certain."""
    letters = _SCRIPT_OPTIONS.get(call.words[0].rpartition("/")[2])
    if letters is None:
        return 0
    for index, word in enumerate(call.words[1:], 1):
        if word[:1] != "-":
            return index
        if word[:3] in _LONG_SCRIPT_OPTIONS or (word[1:2] != "-" and any(letter in word for letter in letters)):
            return 0
    return 0


_SCRIPT_OPTIONS = {
    **dict.fromkeys(["egrep", "fgrep", "grep", "rg", "sed"], "ef"),
    **dict.fromkeys(["awk", "gawk"], "feEil"),
    "jq": "fL",
}
"""Filters whose first operand is a script or a pattern, and the letters of options that hold it instead."""

_LONG_SCRIPT_OPTIONS = word_set("--e --f --i --l --r --s --t")


def _changes_files(name: str, words: tuple[str, ...]) -> bool:
    """True if the words make a program change files that does not always do so."""
    if name == "git":
        return words[1:2] != () and words[1] in _GIT_CHANGES
    if name in _FORMATTERS:
        return _CHECK_ONLY_OPTIONS.isdisjoint(words)
    letters = _IN_PLACE.get(name)
    if letters is None:
        return name in ("awk", "gawk") and "inplace" in words
    for word in words[1:]:
        if word[:1] == "-" != word[1:2]:
            if word.startswith(_WRITING_OPTIONS) or any(letter in word for letter in letters):
                return True
        elif word.startswith(_WRITING_OPTIONS):
            return True
    return name == "tar" and any("x" in word for word in words[1:2])


def _paths_in(word: str) -> Iterator[str]:
    """Yield the parts of a word that may be a path: the word, and the text after `=`, `@`, `file://` or a short
    option."""
    if word[:1] not in ("-", ""):
        yield word
    for sign in ("=", "@", "file://"):
        if value := word.partition(sign)[2]:
            yield value.removeprefix("@")
    if word[:1] == "-" != word[1:2] and len(word) > 2:
        yield word[2:]


def file_use(tool_use: ToolUse, tool: str, path: str, folder: str) -> ToolUse:
    """The use of Read or Edit that stands for a file named in a line, seen from a folder."""
    return ToolUse(
        tool_name=tool,
        kind=RULE_WORDS[tool],
        tool_input={"file_path": absolute_path(path, folder, tool_use.home)},
        session_id=tool_use.session_id,
        cwd=tool_use.cwd,
        home=tool_use.home,
        case_folds=tool_use.case_folds,
    )
