"""Reading a transcript in chunks of whole lines, whatever the agent."""

from __future__ import annotations

import os

from msgspec import Struct

from quarterdeck.wire import MAX_BYTES as MAX_LINE

CHUNK = 4 * 1024 * 1024
"""Bytes read at a time, unless one line is longer."""

HUGE = 64 * 1024 * 1024
"""Of more than this only the last chunk is read."""

ChangeMark = tuple[int, int, int]
"""The size and time of a transcript, and the total size of its sub-agents' transcripts."""


class UnreadableTranscript(Exception):
    """The transcript cannot be read; the message says why."""


class MissingTranscript(UnreadableTranscript):
    """There is no such file, or not yet."""


class OpenTranscript(Struct, frozen=True):
    """An open transcript."""

    descriptor: int
    size: int
    file_id: int


class TranscriptChunk(Struct, frozen=True):
    """Whole lines of a file. The next ones begin at `offset`; `rest` bytes of the file come after them. `restarted`:
    the file was read from its beginning again."""

    content: bytes
    offset: int
    rest: int
    restarted: bool = False
    skipped_bytes: int = 0
    skipped_lines: int = 0


def read_chunk(found: OpenTranscript, start: int, file_id: int) -> TranscriptChunk:
    """Read the next whole lines after `start`, which was reached in the file `file_id`. Another file, or one that has
    been cut or rewritten, is read from its beginning."""
    afresh = start > 0 and not _is_same_file(found, start, file_id)
    begin = 0 if afresh else start
    skipped = max(0, found.size - begin - CHUNK) if found.size - begin > HUGE else 0
    content = os.pread(found.descriptor, CHUNK, begin + skipped)
    if skipped:
        cut = content.find(b"\n") + 1
        skipped, content = skipped + cut, content[cut:]
    if b"\n" not in content and len(content) == CHUNK:
        content += _rest_of_line(found.descriptor, begin + skipped + CHUNK)
    whole = content.rfind(b"\n") + 1
    too_long = not whole and len(content) >= MAX_LINE
    whole = len(content) if too_long else whole
    offset = begin + skipped + whole
    lines = b"" if too_long else content[:whole]
    return TranscriptChunk(lines, offset, max(0, found.size - offset), afresh, skipped, int(too_long))


def _is_same_file(found: OpenTranscript, start: int, file_id: int) -> bool:
    """True if this file was read up to `start`: the end of a line, or of one that is too long."""
    if found.file_id != file_id or found.size < start:
        return False
    return os.pread(found.descriptor, 1, start - 1) == b"\n" or start >= MAX_LINE


def _rest_of_line(descriptor: int, begin: int) -> bytes:
    pieces: list[bytes] = []
    size = CHUNK
    while size < MAX_LINE:
        piece = os.pread(descriptor, CHUNK, begin)
        pieces.append(piece)
        begin, size = begin + len(piece), size + len(piece)
        if b"\n" in piece or not piece:
            break
    return b"".join(pieces)
