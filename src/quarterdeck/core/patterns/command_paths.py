"""Files that a shell line plainly names, so that a rule which denies a file counts for the shell too. What a program
opens by itself nobody sees here: this stops the plain ways, and no rule allows anything by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from quarterdeck.core.model.tool_use import Subject, from_there
from quarterdeck.core.patterns.glob_overlap import MOST_WILD
from quarterdeck.core.patterns.path_prefilter import Marks
from quarterdeck.core.patterns.paths import has_wildcard
from quarterdeck.core.shell.programs import named
from quarterdeck.core.shell.script import Call, Script

READING = named(
    ". ack ag awk base32 base64 basenc bat bzip2 cat cmp code column comm cp csplit curl cut dd diff egrep emacs ex "
    "expand fgrep fmt fold gawk gpg grep gzip head hexdump hexyl iconv install join jq less ln look m4 more mv nano nl "
    "nvim od openssl paste perl pr pygmentize rev rg rsync ruby scp sed shuf sort source split strings tac tail tar "
    "tee uniq vi view vim wc wget xxd xz yq zcat zip zstd"
)
"""Programs that show, send or copy what is in the files they are given."""

CHANGING = named(
    "chmod chown cp dd ed emacs ex install ln mkdir mv nano nvim patch rm rmdir rsync scp shred split tee touch "
    "truncate unlink unzip vi vim"
)
"""Programs that change, make or take away the files they are given."""

_IN_PLACE = {
    **{"sed": "i", "perl": "i", "ruby": "i", "sort": "o", "curl": "o", "wget": "O", "tar": "xC", "find": ""},
    **dict.fromkeys(["autopep8", "clang-format", "yapf"], "i"),
    **dict.fromkeys(["gofmt", "goimports", "prettier", "shfmt"], "w"),
    **{"eslint": "", "stylelint": "", "rubocop": "aA"},
}
"""Programs that change files only with one of these short options, or with a long one of those below."""

_FORMATTERS = named("black isort rustfmt")
"""Programs that change the files they are given unless they are told to only look."""

_GIT_CHANGES = named("checkout mv restore rm")
_MAY_CHANGE = _IN_PLACE.keys() | _FORMATTERS | {"awk", "gawk", "git"}
_READS = dict.fromkeys(READING, True)
_EDITS = dict.fromkeys(_MAY_CHANGE, False) | dict.fromkeys(CHANGING, True)
_NONE: dict[str, bool] = {}
# The programs to look at, by whether reads and edits matter, and whether their words need not be asked.
_CONCERNED = {(False, False): _NONE, (True, False): _READS, (False, True): _EDITS, (True, True): _EDITS | _READS}
_LONG = ("--in-place", "--output", "-delete", "inplace", "--write", "--fix", "--autocorrect")
_ONLY_LOOKS = named("--check --check-only --diff -c")

LONGEST_CD = 512
"""Beyond this a line that goes from folder to folder is not followed."""

_MOVES = (("cd",), ("pushd",))

MOST = 200
"""How many words of a line are looked at."""


def files_named(
    subject: Subject, script: Script, tools: frozenset[str], marks: Marks, names: frozenset[str] | None = None
) -> tuple[Subject, ...]:
    """A use of one of these tools, Read or Edit, for each file that the line names, from where the session is
    and where the line goes; without those that have no mark of a pattern over files. `names` are those of the line's
    calls, when none is a path."""
    concerned = _CONCERNED["Read" in tools, "Edit" in tools]
    if names is not None and concerned.keys().isdisjoint(names) and not (script.writes or script.reads):
        return ()
    calls = [
        call
        for call in script.calls
        if (words := call.words)
        and (sure := concerned.get(name := words[0] if names else _name(words[0]))) is not None
        and (sure or _is_changing(name, words))
    ]
    redirected = script.writes + script.reads
    if not calls and not redirected:
        return ()
    moves = [call.words[-1] for call in script.calls if call.words[:1] in _MOVES]
    around = [subject.cwd, subject.home, *moves]
    if not marks.may_be_in("/".join([*around, *redirected, *chain.from_iterable([call.words for call in calls])])):
        return ()
    near = marks.may_be_in("/".join(around))
    found = dict.fromkeys(("Edit", target) for target in script.writes[:MOST])
    found.update(dict.fromkeys(("Read", target) for target in script.reads[:MOST]))
    for call in calls:
        if len(found) <= MOST and (near or marks.may_be_in("/".join(call.words))):
            found.update(dict.fromkeys(_named(call)))
    wanted = within_limits(
        (tool, path) for tool, path in list(found)[:MOST] if tool in tools and (near or marks.may_be_in(path))
    )
    if not wanted:
        return ()
    return tuple(as_file(subject, tool, path, place) for place in places_of(subject, script) for tool, path in wanted)


def within_limits(files: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the files that are looked at: of paths with wildcards only the first few."""
    kept: list[tuple[str, str]] = []
    wild = 0
    for file in files:
        wild += has_wildcard(file[1])
        if wild <= MOST_WILD or not has_wildcard(file[1]):
            kept.append(file)
    return kept


def _name(word: str) -> str:
    return word.rpartition("/")[2] if "/" in word else word


def places_of(subject: Subject, script: Script) -> list[str]:
    """Where the session is, and the folders that the line first and last changes to."""
    places = [subject.cwd]
    for call in script.calls:
        if call.words[:1] in _MOVES and len(call.words) > 1 and len(places[-1]) < LONGEST_CD:
            places = [*places[:2], from_there(call.words[-1], places[-1], subject.home)]
    return list(dict.fromkeys(places))


def _named(call: Call) -> Iterator[tuple[str, str]]:
    name = _name(call.words[0])
    changes = name in CHANGING or _is_changing(name, call.words)
    script = script_place(call)
    for place, word in enumerate(call.words[1 : MOST + 1], 1):
        if place == script:
            continue
        for path in _paths_in(word):
            if name in READING:
                yield "Read", path
            if changes:
                yield "Edit", path


def script_place(call: Call) -> int:
    """Where the script or pattern of a filter stands among its words: `s/.*//` is no file. 0 when that is not sure."""
    letters = _SCRIPTED.get(call.words[0].rpartition("/")[2])
    if letters is None:
        return 0
    for place, word in enumerate(call.words[1:], 1):
        if word[:1] != "-":
            return place
        if word[:3] in _SCRIPT_LONGS or (word[1:2] != "-" and any(letter in word for letter in letters)):
            return 0
    return 0


_SCRIPTED = {
    **dict.fromkeys(["egrep", "fgrep", "grep", "rg", "sed"], "ef"),
    **dict.fromkeys(["awk", "gawk"], "feEil"),
    "jq": "fL",
}
"""Filters whose first operand is a script or a pattern, and the letters of options that give it otherwise."""

_SCRIPT_LONGS = named("--e --f --i --l --r --s --t")


def _is_changing(name: str, words: tuple[str, ...]) -> bool:
    """Whether a program that may change files is told to."""
    if name == "git":
        return words[1:2] != () and words[1] in _GIT_CHANGES
    if name in _FORMATTERS:
        return _ONLY_LOOKS.isdisjoint(words)
    letters = _IN_PLACE.get(name)
    if letters is None:
        return name in ("awk", "gawk") and "inplace" in words
    for word in words[1:]:
        if word[:1] == "-" != word[1:2]:
            if word.startswith(_LONG) or any(letter in word for letter in letters):
                return True
        elif word.startswith(_LONG):
            return True
    return name == "tar" and any("x" in word for word in words[1:2])


def _paths_in(word: str) -> Iterator[str]:
    """What may be a path: the word, and what it says behind `=`, `@`, `file://` or a short option."""
    if word[:1] not in ("-", ""):
        yield word
    for sign in ("=", "@", "file://"):
        if value := word.partition(sign)[2]:
            yield value.removeprefix("@")
    if word[:1] == "-" != word[1:2] and len(word) > 2:
        yield word[2:]


def as_file(subject: Subject, tool: str, path: str, place: str) -> Subject:
    return Subject(
        tool_name=tool,
        tool_input={"file_path": from_there(path, place, subject.home)},
        session_id=subject.session_id,
        cwd=subject.cwd,
        home=subject.home,
        case_folds=subject.case_folds,
    )
