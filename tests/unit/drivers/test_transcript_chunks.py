"""Transcripts in chunks of whole lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.drivers.transcript_chunks import CHUNK, HUGE, OpenTranscript, TranscriptChunk, read_chunk


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "t"


def read(file: Path, start: int = 0, file_id: int | None = None) -> TranscriptChunk:
    """The next lines of the file."""
    with file.open("rb") as opened:
        found = OpenTranscript(opened.fileno(), file.stat().st_size, file.stat().st_ino)
        return read_chunk(found, start, found.file_id if file_id is None else file_id)


def test_only_whole_lines_are_read_and_the_next_read_goes_on_there(file: Path) -> None:
    file.write_bytes(b"one\ntwo\nthr")
    assert read(file) == TranscriptChunk(b"one\ntwo\n", 8, 3)
    file.write_bytes(b"one\ntwo\nthree\n")
    assert read(file, 8) == TranscriptChunk(b"three\n", 14, 0)


def test_another_file_or_a_shorter_one_is_read_from_its_beginning(file: Path) -> None:
    file.write_bytes(b"one\n")
    assert read(file, 4, file_id=1) == TranscriptChunk(b"one\n", 4, 0, restarted=True)
    assert read(file, 8).restarted


def test_a_line_longer_than_a_chunk_is_read_whole(file: Path) -> None:
    line = b"x" * (CHUNK + 10) + b"\n"
    file.write_bytes(line + b"next")
    assert read(file) == TranscriptChunk(line, len(line), 4)


def test_of_a_huge_rest_only_the_last_chunk_is_read(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(HUGE)
        opened.seek(HUGE)
        opened.write(b"\nlast\n")
    chunk = read(file)
    assert (chunk.content, chunk.offset, chunk.rest) == (b"last\n", HUGE + 6, 0)
    assert chunk.skipped_bytes == HUGE + 1
