"""One settings file of Claude Code: read with care, replaced whole, and put back as it was."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from quarterdeck.agents.claude.settings_edit import has_ours, read_settings, remove_empty, remove_ours, without_ours
from quarterdeck.errors import BadInput, QuarterdeckError


def write_file(path: Path, body: bytes, mode: int = 0o600) -> None:
    """Replace a file whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def named_errors() -> Iterator[None]:
    """What the system refuses, as a message that names the file."""
    try:
        yield
    except OSError as error:
        raise QuarterdeckError(f"{error.filename}: {error.strerror}; mend that, then run this again") from None


class Backup(Struct, frozen=True, kw_only=True):
    """A settings file as it was before our first change; `after` is what others had in it right after."""

    path: str
    existed: bool
    mode: int
    after: dict[str, Any] | None = None


class SettingsFile(Struct, frozen=True, kw_only=True):
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
            raise QuarterdeckError(f"{self.path}: cannot be read ({error.strerror}); mend its mode or owner") from None

    def text(self) -> str:
        """The file's text, known to be settings; empty when there is no file."""
        try:
            text = (self.content() or b"").decode()
            read_settings(text)
        except (BadInput, UnicodeDecodeError) as error:
            raise QuarterdeckError(f"{self.path}: {error}; mend the file, then run this again") from None
        return text

    def settings(self) -> dict[str, Any]:
        return read_settings(self.text())

    def check_writable(self) -> None:
        """Refuse before anything is changed; a replaced file would lose its protection unasked."""
        real = self.path.resolve()
        if real.exists() and not real.stat().st_mode & stat.S_IWUSR:
            raise QuarterdeckError(f"{real}: is read-only; make it writable (chmod u+w), then run this again")
        folder = next(parent for parent in real.parents if parent.exists())
        if not os.access(folder, os.W_OK | os.X_OK):
            raise QuarterdeckError(f"{folder}: is not writable; mend its mode or owner, then run this again")

    def mode(self) -> int:
        real = self.path.resolve()
        return stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o600

    def write(self, text: str, mode: int) -> None:
        """Replace the file, through a link if it is one."""
        real = self.path.resolve()
        try:
            real.parent.mkdir(parents=True, exist_ok=True)
            write_file(real, text.encode(), mode)
        except OSError as error:
            raise QuarterdeckError(f"{real}: cannot be written ({error.strerror}); nothing was changed") from None

    def back_up(self) -> None:
        """Keep the original bytes; a file that already holds something of ours is none."""
        if has_ours(self.settings()):
            return
        body = self.content()
        for folder in (self.backups, self.folder):
            folder.mkdir(mode=0o700, exist_ok=True)
        write_file(self.folder / "original", body or b"")
        self._note(Backup(path=str(self.path), existed=body is not None, mode=self.mode()))

    def settle(self) -> None:
        """Remember what our first change left of others' settings: the CLI may have changed some itself."""
        backup = self._backup()
        if backup and backup.after is None:
            self._note(msgspec.structs.replace(backup, after=without_ours(self.settings())))

    def put_back(self, before: str) -> bool:
        """Take ours out. True when the original bytes are back, which is when only ours had changed.

        `before` is the text before the CLI took its part out; its layout is kept if nothing else changed since.
        """
        backup, rest = self._backup(), without_ours(self.settings())
        original = (self.folder / "original").read_bytes() if backup else b""
        if backup and rest in (without_ours(read_settings(original.decode())), backup.after):
            self._restore(backup, original)
            return True
        base = before if without_ours(read_settings(before)) == rest else self.text()
        text = remove_ours(base)
        if backup:
            text = remove_empty(text, read_settings(original.decode()))
        if self.path.exists():
            self.write(text, backup.mode if backup else self.mode())
        shutil.rmtree(self.folder, ignore_errors=True)
        return False

    def _restore(self, backup: Backup, original: bytes) -> None:
        real = self.path.resolve()
        if backup.existed:
            real.parent.mkdir(parents=True, exist_ok=True)
            write_file(real, original, backup.mode)
        else:
            real.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                real.parent.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _backup(self) -> Backup | None:
        return read_backup(self.folder)

    def _note(self, backup: Backup) -> None:
        write_file(self.folder / "about.json", msgspec.json.encode(backup))


def read_backup(folder: Path) -> Backup | None:
    try:
        return msgspec.json.decode((folder / "about.json").read_bytes(), type=Backup)
    except (OSError, msgspec.MsgspecError):
        return None
