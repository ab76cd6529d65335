"""One settings file of Claude Code: checked when read, replaced as a whole, and restored from its backup."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from quarterdeck.agents.claude.settings_edit import (
    has_quarterdeck,
    read_settings,
    remove_empty,
    remove_quarterdeck,
    without_quarterdeck,
)
from quarterdeck.errors import BadInput, QuarterdeckError
from quarterdeck.system.private_files import replace_file, write_private


@contextlib.contextmanager
def named_errors() -> Iterator[None]:
    """Turn an OSError into a message that names the file."""
    try:
        yield
    except OSError as error:
        raise QuarterdeckError(f"{error.filename}: {error.strerror}; fix that, then run this again") from None


class Backup(Struct, frozen=True, kw_only=True):
    """A settings file before the first install; `after` is the rest of its settings right after that."""

    path: str
    existed: bool
    mode: int
    after: dict[str, Any] | None = None


class ClaudeSettingsFile(Struct, frozen=True, kw_only=True):
    """A settings file and the folder that keeps its original bytes."""

    path: Path
    backups: Path

    @property
    def folder(self) -> Path:
        return self.backups / hashlib.sha256(str(self.path).encode()).hexdigest()[:16]

    def content(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise QuarterdeckError(f"{self.path}: cannot be read ({error.strerror}); fix its mode or owner") from None

    def text(self) -> str:
        """The file's text, checked to be valid settings; empty if there is no file."""
        try:
            text = (self.content() or b"").decode()
            read_settings(text)
        except (BadInput, UnicodeDecodeError) as error:
            raise QuarterdeckError(f"{self.path}: {error}; fix the file, then run this again") from None
        return text

    def settings(self) -> dict[str, Any]:
        return read_settings(self.text())

    def check_writable(self) -> None:
        """Refuse a file that is not writable before anything is changed: replacing it would drop its protection."""
        real = self.path.resolve()
        if real.exists() and not real.stat().st_mode & stat.S_IWUSR:
            raise QuarterdeckError(f"{real}: is read-only; make it writable (chmod u+w), then run this again")
        folder = next(parent for parent in real.parents if parent.exists())
        if not os.access(folder, os.W_OK | os.X_OK):
            raise QuarterdeckError(f"{folder}: is not writable; fix its mode or owner, then run this again")

    def mode(self) -> int:
        real = self.path.resolve()
        return stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o600

    def write(self, text: str, mode: int) -> None:
        """Replace the file; if it is a link, the file that it points to."""
        real = self.path.resolve()
        try:
            real.parent.mkdir(parents=True, exist_ok=True)
            replace_file(real, text, mode=mode, durable=True)
        except OSError as error:
            raise QuarterdeckError(f"{real}: cannot be written ({error.strerror}); nothing was changed") from None

    def back_up(self) -> None:
        """Keep the original bytes. A file with Quarterdeck's entries is not an original."""
        if has_quarterdeck(self.settings()):
            return
        body = self.content()
        for folder in (self.backups, self.folder):
            folder.mkdir(mode=0o700, exist_ok=True)
        write_private(self.folder / "original", body or b"", durable=True)
        self._write_backup(Backup(path=str(self.path), existed=body is not None, mode=self.mode()))

    def remember_others(self) -> None:
        """Remember the other settings after the first install: the CLI may have changed some itself."""
        backup = self._backup()
        if backup and backup.after is None:
            self._write_backup(msgspec.structs.replace(backup, after=without_quarterdeck(self.settings())))

    def restore(self, before: str) -> bool:
        """Remove Quarterdeck's entries. True if the original bytes were restored, because nothing else had changed.

        `before` is the text before the CLI removed its part; its layout is kept if nothing else changed since.
        """
        backup = self._backup()
        if backup and self._is_unchanged(backup):
            self._restore_original(backup)
            return True
        is_same = without_quarterdeck(read_settings(before)) == without_quarterdeck(self.settings())
        text = self._without_quarterdeck(before if is_same else self.text(), backup)
        if self.path.exists():
            self.write(text, backup.mode if backup else self.mode())
        shutil.rmtree(self.folder, ignore_errors=True)
        return False

    def text_after_removal(self) -> str:
        """The text that `restore` leaves; empty if it deletes the file."""
        backup = self._backup()
        if backup and self._is_unchanged(backup):
            return self._original().decode()
        return self._without_quarterdeck(self.text(), backup)

    def _is_unchanged(self, backup: Backup) -> bool:
        """True if nothing but Quarterdeck's entries has changed since the install."""
        rest = without_quarterdeck(self.settings())
        return rest in (without_quarterdeck(read_settings(self._original().decode())), backup.after)

    def _without_quarterdeck(self, text: str, backup: Backup | None) -> str:
        text = remove_quarterdeck(text)
        return remove_empty(text, read_settings(self._original().decode())) if backup else text

    def _original(self) -> bytes:
        return (self.folder / "original").read_bytes()

    def _restore_original(self, backup: Backup) -> None:
        real = self.path.resolve()
        if backup.existed:
            real.parent.mkdir(parents=True, exist_ok=True)
            replace_file(real, self._original(), mode=backup.mode, durable=True)
        else:
            real.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                real.parent.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _backup(self) -> Backup | None:
        return read_backup(self.folder)

    def _write_backup(self, backup: Backup) -> None:
        write_private(self.folder / "about.json", msgspec.json.encode(backup), durable=True)


def read_backup(folder: Path) -> Backup | None:
    try:
        return msgspec.json.decode((folder / "about.json").read_bytes(), type=Backup)
    except (OSError, msgspec.MsgspecError):
        return None
