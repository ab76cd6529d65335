"""Reading transcript files. Their paths come from agents and may point anywhere, so only regular files of ours under
Claude Code's projects folder are opened, without following a link, and never more than a stretch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from quarterdeck.agents.claude.transcript import MAX_LINE
from quarterdeck.core.model.payload import safe_id
from quarterdeck.system.safe_open import NotRegular, opened_below

STRETCH = 4 * 1024 * 1024
"""How much is read at a time, unless one line is longer."""

HUGE = 64 * 1024 * 1024
"""Of more than this only the last stretch is read."""

MAX_PATH = 4096
MAX_AGENTS = 200
MAX_ENTRIES = 2_000
SUFFIX = ".jsonl"


Sign = tuple[int, int, int]
"""The size and time of a transcript, and the size of its sub-agents' ones."""


class Unreadable(Exception):
    """Why a transcript is not read."""


class Absent(Unreadable):
    """There is no such file, perhaps not yet."""


class Found(Struct, frozen=True):
    """An open transcript."""

    descriptor: int
    size: int
    file_id: int


class Stretch(Struct, frozen=True):
    """Whole lines of a file. `offset` is where the next ones begin, `rest` how many bytes of the file come after."""

    content: bytes
    offset: int
    rest: int
    afresh: bool = False
    skipped_bytes: int = 0
    skipped_lines: int = 0


def path_under(root: Path, path: str) -> Path:
    """Where the path really leads, relative to the root, in which it must lie."""
    if not path or len(path) > MAX_PATH or "\0" in path or not path.startswith("/"):
        raise Unreadable("the transcript has no usable path")
    try:
        relative = Path(os.path.realpath(path)).relative_to(os.path.realpath(root))
    except (ValueError, OSError):
        raise Unreadable("the transcript's path is outside Claude Code's projects folder") from None
    if relative.suffix != SUFFIX:
        raise Unreadable(f"the transcript's path does not end in {SUFFIX}")
    return relative


@contextmanager
def opened(root: Path, path: str) -> Iterator[Found]:
    """Open a transcript."""
    parts = path_under(root, path).parts
    try:
        with opened_below(os.path.realpath(root), parts) as (descriptor, found):
            if found.st_uid != os.getuid():
                raise Unreadable("the transcript belongs to another user")
            yield Found(descriptor, found.st_size, found.st_ino)
    except NotRegular:
        raise Unreadable("the transcript is not a regular file") from None
    except FileNotFoundError:
        raise Absent("there is no transcript file") from None
    except OSError as error:
        raise Unreadable(f"the transcript cannot be opened ({error.strerror})") from None


def read_stretch(found: Found, start: int, file_id: int) -> Stretch:
    """The next whole lines after `start`, which was reached in the file `file_id`. Another file, or one that has been
    cut or rewritten, is read from its beginning."""
    afresh = start > 0 and not _same(found, start, file_id)
    begin = 0 if afresh else start
    skipped = max(0, found.size - begin - STRETCH) if found.size - begin > HUGE else 0
    content = os.pread(found.descriptor, STRETCH, begin + skipped)
    if skipped:
        cut = content.find(b"\n") + 1
        skipped, content = skipped + cut, content[cut:]
    if b"\n" not in content and len(content) == STRETCH:
        content += _rest_of_line(found.descriptor, begin + skipped + STRETCH)
    whole = content.rfind(b"\n") + 1
    too_long = not whole and len(content) >= MAX_LINE
    whole = len(content) if too_long else whole
    offset = begin + skipped + whole
    lines = b"" if too_long else content[:whole]
    return Stretch(lines, offset, max(0, found.size - offset), afresh, skipped, int(too_long))


def _same(found: Found, start: int, file_id: int) -> bool:
    """Whether this is the file that was read up to `start`, which was the end of a line or of one too long."""
    if found.file_id != file_id or found.size < start:
        return False
    return os.pread(found.descriptor, 1, start - 1) == b"\n" or start >= MAX_LINE


def _rest_of_line(descriptor: int, begin: int) -> bytes:
    pieces: list[bytes] = []
    size = STRETCH
    while size < MAX_LINE:
        piece = os.pread(descriptor, STRETCH, begin)
        pieces.append(piece)
        begin, size = begin + len(piece), size + len(piece)
        if b"\n" in piece or not piece:
            break
    return b"".join(pieces)


def _place(root: Path, path: str) -> tuple[Path, Path]:
    """Where a transcript is, and the folder of its sub-agents' ones."""
    main = Path(os.path.realpath(root), path_under(root, path))
    return main, main.with_suffix("") / "subagents"


def signs_of(root: Path, paths: dict[str, str]) -> dict[str, Sign]:
    """By session, what changes when one of its transcripts is written; sessions without a transcript are left out."""
    signs: dict[str, Sign] = {}
    for session_id, path in paths.items():
        try:
            file, folder = _place(root, path)
            main = file.lstat()
            helpers = sum(entry.stat(follow_symlinks=False).st_size for entry in _listed(folder))
        except (Unreadable, OSError):
            continue
        signs[session_id] = (main.st_size, main.st_mtime_ns, helpers)
    return signs


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for _, entry in zip(range(MAX_ENTRIES), entries, strict=False)]
    except OSError:
        return []


def sub_agents(root: Path, path: str) -> dict[str, str]:
    """The sub-agents of a session by id, with the paths of their transcripts."""
    found: dict[str, str] = {}
    for entry in _listed(_place(root, path)[1]):
        agent_id = safe_id(entry.name.removeprefix("agent-").removesuffix(SUFFIX), "")
        if agent_id and entry.name == f"agent-{agent_id}{SUFFIX}" and entry.is_file(follow_symlinks=False):
            found[agent_id] = entry.path
    return found
