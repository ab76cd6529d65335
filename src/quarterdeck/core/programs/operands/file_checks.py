"""Effects of operands that name files: what is packed, copied, moved, edited in place or moved to a cloud. A check gets
the operands, all words, the folder, and the number of operands that a rule names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from quarterdeck.core.programs.grammar import FETCH, OUTSIDE, PROGRAM, SECRET, SEND, WRITE, Effects
from quarterdeck.core.programs.project_paths import Folder, passed_on, written

Check = Callable[[Sequence[str], Sequence[str], Folder, int], Effects]

_TAR_READS = frozenset("ctvzjJZapkmnsSowWlBfbgRhid")
_TAR_WRITES = frozenset("xurA")
_PACKED = re.compile(r".*\.(?:tar|tgz|tbz2?|txz|tzst|zip|tar\.\w+)")
_TAR_LONG = ("--append", "--update", "--catenate", "--concatenate", "--delete")


_CLOUD_FILES = re.compile(
    r"--(?:[\w-]*-)?(?:file|path|dir|directory|destination|dest|outfile|folder|source|body|input-json)\Z"
)
_STREAMS_OUT = ("get-", "select-", "synthesize-", "download-")
_CALLS = 2
"""The place of the verb of a cloud command: `aws s3api get-object`."""


def leads_out(word: str, folder: Folder) -> Effects:
    """The effects of a local file that a cloud command reads or writes: none in the project."""
    word = word.removeprefix("@").removeprefix("fileb://").removeprefix("file://")
    return OUTSIDE | SECRET if word[:1] in "/~.$" and word and written(word.rstrip("/") or "/", folder) & ~WRITE else 0


def rsync(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    effects = 0
    for word in operands[:-1]:
        effects |= FETCH | PROGRAM if ":" in word.partition("/")[0] else 0
    if operands:
        host = ":" in operands[-1].partition("/")[0]
        effects |= SEND | PROGRAM if host else written(operands[-1].rstrip("/") or "/", folder)
    return effects


def tar(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The first word may be letters of options without a dash. An archive on another machine is reached by ssh. Packing
    files of the project into an archive beside them has no effect; unpacking may write any file of the project."""
    effects = 0
    packs = changes = False
    packed = ""
    for at, word in enumerate(words[1:], 1):
        bundle = word if at == 1 and word[:1] != "-" else word[1:] if word[:1] == "-" != word[1:2] else ""
        if at == 1 and bundle == word and not named:
            for letter in bundle:
                effects |= 0 if letter in _TAR_READS else WRITE if letter in _TAR_WRITES else PROGRAM
        options = at == 1 or word[:1] == "-"
        packs = packs or (options and "c" in bundle) or word.startswith("--create")
        changes = changes or (options and any(letter in bundle for letter in "urA")) or word.startswith(_TAR_LONG)
        if "f" in bundle and not packed:
            attached = bundle.partition("f")[2] if word[:1] == "-" else ""
            packed = attached or (words[at + 1] if at + 1 < len(words) else "")
        elif word[:4] == "--fi" and "--file".startswith(word.partition("=")[0]):
            packed = word.partition("=")[2] or (words[at + 1] if at + 1 < len(words) else "")
    if packed:
        effects |= archive(packed, folder)
        if packs or changes:
            more = written(packed, folder)
            effects |= 0 if more == WRITE and not changes and _PACKED.fullmatch(packed) else more
    if packs and not effects:
        files = operands if words[1][:1] == "-" else operands[1:]
        effects |= _all_passed_on([word for word in files if word != packed], folder)
    return effects


def zipped(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of zip: the archive is written, everything else read."""
    effects = written(operands[0], folder) if operands and not named else 0
    return effects | _all_passed_on(operands[1:], folder)


def _all_passed_on(files: Iterable[str], folder: Folder) -> Effects:
    effects = 0
    for word in files:
        effects |= passed_on(word, folder)
    return effects


def archive(word: str, folder: Folder) -> Effects:
    return PROGRAM if ":" in word.partition("/")[0] else 0


def copy(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    name = words[0].rpartition("/")[2]
    targets = operands if name in ("mv", "ln") else operands[-1:]
    effects = 0
    for word in targets:
        effects |= written(word.rstrip("/") or "/", folder)
    return effects


def chmod(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    opens = bool(operands) and bool(re.fullmatch(r"[^=]*[+=][^,]*s.*|[4267]\d\d\d|0?777|[ao]*\+.*w.*", operands[0]))
    effects = OUTSIDE if opens and not named else 0
    for word in operands[max(named, 1) :]:
        effects |= written(word, folder)
    return effects


def last_file(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    return written(operands[-1], folder) if operands else 0


def in_place(script: Check, *options: str) -> Check:
    """Return a check for a filter that edits the files in its operands if one of these options is given. The first
    operand is the script, unless an option gives it."""

    def check(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
        effects = script(operands, words, folder, named)
        given = [word for word in words[1:] if word[:1] == "-"]
        if not any(word.startswith(options) or ("i" in word and word[:2] != "--") for word in given):
            return effects
        has_script = any(word.startswith(("-e", "--expr", "-f", "--file", "--from-file")) for word in given)
        for word in operands[max(named, 0 if has_script else 1) :]:
            effects |= written(word, folder)
        return effects

    return check


def cloud(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of files that options of a cloud command name. `aws` writes a file that follows the options of some
    verbs."""
    effects = 0
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if _CLOUD_FILES.match(name):
            effects |= leads_out(value if equals else "".join(words[at + 1 : at + 2]), folder)
        elif "file://" in word or "fileb://" in word:
            effects |= _all_passed_on([word.partition("://")[2]], folder)
    if words[0].rpartition("/")[2] == "aws" and any(word.startswith(_STREAMS_OUT) for word in words[_CALLS:4]):
        effects |= written(words[-1], folder) & ~WRITE if words[-2][:2] != "--" and words[-1][:1] in "/~." else 0
    return effects


def cloud_copy(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of copying between this machine and a cloud: local files stay in the project."""
    effects = cloud(operands, words, folder, named)
    for word in operands[named:]:
        effects |= leads_out(word, folder)
    return effects
