"""Claude Code's transcript files. Their paths come from agents and may point anywhere, so only this user's regular
files below its projects folder are opened, without following a link."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from quarterdeck.agents.claude.agent import CLAUDE
from quarterdeck.core.model.payload import safe_id
from quarterdeck.drivers.base import TranscriptFile
from quarterdeck.drivers.transcript_chunks import (
    ChangeMark,
    MissingTranscript,
    OpenTranscript,
    UnreadableTranscript,
)
from quarterdeck.system.safe_open import NotRegular, open_below

MAX_PATH = 4096
# A folder of an agent may hold any number of files.
MAX_ENTRIES = 2_000
SUFFIX = ".jsonl"


class ClaudeTranscripts:
    """The transcripts of all projects: `<project>/<session>.jsonl` below `root`, and those of a session's sub-agents in
    `<project>/<session>/subagents`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def sessions(self) -> list[TranscriptFile]:
        """The transcript of every session, without those of its sub-agents."""
        found: list[TranscriptFile] = []
        for folder in _entries(self._root):
            if not folder.is_dir(follow_symlinks=False):
                continue
            for entry in _entries(folder.path):
                session_id = safe_id(entry.name.removesuffix(SUFFIX), "")
                if session_id and entry.name == session_id + SUFFIX:
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            found.append(
                                TranscriptFile(CLAUDE.name, entry.path, session_id, status.st_size, status.st_mtime)
                            )
        return found

    @contextmanager
    def open(self, path: str) -> Iterator[OpenTranscript]:
        """Open a transcript."""
        parts = self._path_under_root(path).parts
        try:
            with open_below(os.path.realpath(self._root), parts) as (descriptor, found):
                if found.st_uid != os.getuid():
                    raise UnreadableTranscript("the transcript belongs to another user")
                yield OpenTranscript(descriptor, found.st_size, found.st_ino)
        except NotRegular:
            raise UnreadableTranscript("the transcript is not a regular file") from None
        except FileNotFoundError:
            raise MissingTranscript("there is no transcript file") from None
        except OSError as error:
            raise UnreadableTranscript(f"the transcript cannot be opened ({error.strerror})") from None

    def sub_agents(self, path: str) -> dict[str, str]:
        """The transcript paths of a session's sub-agents, by agent id."""
        found: dict[str, str] = {}
        for entry in islice(_entries(self._locations(path)[1]), MAX_ENTRIES):
            agent_id = safe_id(entry.name.removeprefix("agent-").removesuffix(SUFFIX), "")
            if agent_id and entry.name == f"agent-{agent_id}{SUFFIX}" and entry.is_file(follow_symlinks=False):
                found[agent_id] = entry.path
        return found

    def change_mark(self, path: str) -> ChangeMark | None:
        """A mark that changes when a transcript of this session is written; None without one."""
        try:
            file, folder = self._locations(path)
            main = file.lstat()
            helpers = islice(_entries(folder), MAX_ENTRIES)
            return main.st_size, main.st_mtime_ns, sum(e.stat(follow_symlinks=False).st_size for e in helpers)
        except (UnreadableTranscript, OSError):
            return None

    def _locations(self, path: str) -> tuple[Path, Path]:
        """A transcript's real path, and the folder of its sub-agents' transcripts."""
        main = Path(os.path.realpath(self._root), self._path_under_root(path))
        return main, main.with_suffix("") / "subagents"

    def _path_under_root(self, path: str) -> Path:
        """The real path, relative to the root. It must lie inside the root."""
        if not path or len(path) > MAX_PATH or "\0" in path or not path.startswith("/"):
            raise UnreadableTranscript("the transcript path is missing or invalid")
        try:
            relative = Path(os.path.realpath(path)).relative_to(os.path.realpath(self._root))
        except (ValueError, OSError):
            raise UnreadableTranscript("the transcript's path is outside Claude Code's projects folder") from None
        if relative.suffix != SUFFIX:
            raise UnreadableTranscript(f"the transcript's path does not end in {SUFFIX}")
        return relative


def _entries(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder; none if it cannot be read."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        yield from entries
