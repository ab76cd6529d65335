"""Claude Code's transcript files: found by their names, opened only below its projects folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quarterdeck.drivers.base import TranscriptFile
from quarterdeck.drivers.claude.transcript_files import ClaudeTranscripts
from quarterdeck.drivers.transcript_chunks import MissingTranscript, UnreadableTranscript


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The transcript of session s1, with one sub-agent's."""
    file = tmp_path / "projects" / "-w-app" / "s1.jsonl"
    (file.parent / "s1" / "subagents").mkdir(parents=True)
    file.write_text("one\n")
    (file.parent / "s1" / "subagents" / "agent-a1.jsonl").write_text("two\n")
    return file


def test_every_session_is_listed_and_neither_links_nor_sub_agents(tmp_path: Path, file: Path) -> None:
    (file.parent / "link.jsonl").symlink_to(file)
    (file.parent / "s1.txt").write_text("no transcript")
    (tmp_path / "projects" / "stray.jsonl").write_text("in no project")
    seen = file.stat()
    found = ClaudeTranscripts(tmp_path / "projects").sessions()
    assert found == [TranscriptFile("claude", str(file), "s1", seen.st_size, seen.st_mtime)]
    assert ClaudeTranscripts(tmp_path / "none").sessions() == []


def test_sub_agents_are_found_by_id_and_change_the_mark(tmp_path: Path, file: Path) -> None:
    transcripts = ClaudeTranscripts(tmp_path / "projects")
    (helper,) = transcripts.sub_agents(str(file)).items()
    assert helper == ("a1", str(file.parent / "s1" / "subagents" / "agent-a1.jsonl"))
    before = transcripts.change_mark(str(file))
    Path(helper[1]).write_text("two\nthree\n")
    assert before is not None
    assert transcripts.change_mark(str(file)) not in (None, before)
    assert transcripts.change_mark(str(file.with_name("s2.jsonl"))) is None


@pytest.mark.law("I8")
def test_only_a_regular_file_below_the_folder_is_opened(tmp_path: Path, file: Path) -> None:
    transcripts = ClaudeTranscripts(tmp_path / "projects")
    with transcripts.open(str(file)) as found:
        assert os.pread(found.descriptor, 10, 0) == b"one\n"
    with pytest.raises(MissingTranscript), transcripts.open(str(file.with_name("s2.jsonl"))):
        pass
    outside = tmp_path / "other.jsonl"
    outside.write_text("secret")
    (file.parent / "out.jsonl").symlink_to(outside)
    os.mkfifo(file.parent / "pipe.jsonl")
    for path in (str(outside), str(file.parent / "out.jsonl"), str(file.parent / "pipe.jsonl"), "", "relative.jsonl"):
        with pytest.raises(UnreadableTranscript), transcripts.open(path):
            pass
