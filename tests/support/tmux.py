"""An interactive Claude Code session in a pane of a private tmux server."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.support.claude import ClaudeHome, Json
from tests.support.daemon import PATIENCE_SECONDS

CONFIG = "set -g remain-on-exit on\nset -s escape-time 0\nset -g default-terminal tmux-256color\n"
COMPOSER = r"(?m)^─.*─\n❯"
READY = re.compile(rf"{COMPOSER}\s*\n─+$")
DIALOG = re.compile(r"(?m)^ {0,2}❯ 1\. ")
SETTLE_SECONDS = 0.4
ANSWER_SECONDS = 5.0


def wait_until(holds: Callable[[], bool], timeout: float, otherwise: Callable[[], str]) -> None:
    """Wait until the condition holds. Each check runs a program, so there is a pause between two."""
    deadline = time.monotonic() + timeout
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise())
        time.sleep(0.05)


class Pane:
    """One program in one pane of a private tmux server, addressed by its immutable pane id."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], *, cwd: Path, columns: int = 120, rows: int = 45
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="qd-tmux-"))
        self._env = dict(env)
        (self._folder / "conf").write_text(CONFIG)
        size = ["-x", str(columns), "-y", str(rows), "-c", str(cwd)]
        pane = self._tmux("new-session", "-d", "-P", "-F", "#{pane_id} #{pane_pid}", *size, "--", *command)
        self.pane, pid = pane.split()
        self.pid = int(pid)

    @property
    def socket(self) -> Path:
        """The socket of its server."""
        return self._folder / "s"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tmux(self, *args: str, text: str | None = None) -> str:
        socket, config = self._folder / "s", self._folder / "conf"
        done = subprocess.run(
            ["tmux", "-S", str(socket), "-f", str(config), *args],
            env=self._env,
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        if done.returncode:
            raise RuntimeError(f"tmux {args[0]}: {done.stderr.strip()}")
        return done.stdout

    def screen(self, *, styled: bool = False) -> str:
        """The screen's text; `styled` with its colour codes."""
        return self._tmux("capture-pane", "-p", "-J", *(["-e"] if styled else []), "-t", self.pane)

    def title(self) -> str:
        """The title that the program gave its terminal."""
        return self._tmux("display-message", "-p", "-t", self.pane, "#{pane_title}").strip()

    def modes(self) -> tuple[bool, bool]:
        """True if the program uses the alternate screen, and True if it gets mouse events."""
        flags = self._tmux("display-message", "-p", "-t", self.pane, "#{alternate_on} #{mouse_any_flag}").split()
        return flags[0] == "1", flags[1] == "1"

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-t", self.pane, "-x", str(columns), "-y", str(rows))

    def wait_for(self, wanted: str | re.Pattern[str], timeout: float = PATIENCE_SECONDS) -> str:
        """The screen once it shows a text or a pattern."""
        pattern = wanted if isinstance(wanted, re.Pattern) else re.compile(re.escape(wanted))
        wait_until(
            lambda: bool(pattern.search(self.screen())),
            timeout,
            lambda: f"no {pattern.pattern!r} within {timeout} s on:\n{self.screen()}",
        )
        return self.screen()

    def keys(self, *keys: str) -> None:
        """Sends keys by tmux name: "Enter", "Escape", "C-u", "2"."""
        self._tmux("send-keys", "-t", self.pane, *keys)

    def press_until(self, key: str, words: str) -> None:
        """Press a key until words show: a key that decides does nothing until its card has been visible for a moment.
        There is a pause between two presses, or the second would go into the dialog that the first opened."""
        time.sleep(SETTLE_SECONDS)
        for _ in range(12):
            self.keys(key)
            with contextlib.suppress(TimeoutError):
                self.wait_for(words, ANSWER_SECONDS)
                return
        raise TimeoutError(f"{key} opens nothing on:\n{self.screen()}")

    @property
    def ended(self) -> bool:
        return self._tmux("display-message", "-p", "-t", self.pane, "#{pane_dead}").strip() == "1"

    def wait_for_end(self, timeout: float = PATIENCE_SECONDS) -> None:
        """Wait until its program has ended."""
        wait_until(lambda: self.ended, timeout, self.screen)

    def close(self) -> None:
        """Hang up like a closed window, kill what remains, and end the private server."""
        _ = self._ends_on(signal.SIGHUP) or self._ends_on(signal.SIGKILL)
        self._tmux("kill-server")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ends_on(self, sent: signal.Signals) -> bool:
        if self.ended:
            return True
        os.killpg(self.pid, sent)
        with contextlib.suppress(TimeoutError):
            self.wait_for_end(5)
        return self.ended


class Terminal(Pane):
    """One interactive session of Claude Code."""

    def __init__(
        self,
        home: ClaudeHome,
        *flags: str,
        cwd: Path | None = None,
        permission_mode: str = "default",
        columns: int = 120,
        rows: int = 45,
    ) -> None:
        self._home = home
        command = [str(home.cli), "--permission-mode", permission_mode, *flags]
        super().__init__(command, home.env, cwd=cwd or home.project, columns=columns, rows=rows)

    def ready(self, timeout: float = PATIENCE_SECONDS) -> Self:
        """Waits for the empty composer of a session that has started."""
        self.wait_for(READY, timeout)
        return self

    def type_prompt(self, prompt: str) -> None:
        """Paste a prompt as one piece, wait until the composer shows it, and press Enter until it is gone."""
        self._tmux("load-buffer", "-", text=prompt)
        self._tmux("paste-buffer", "-p", "-d", "-t", self.pane)
        ending = r"\s*".join(map(re.escape, "".join(prompt.split())[-20:]))
        typed = re.compile(rf"{COMPOSER}(?:[^─\n]*\n)*?[^─\n]*(?:{ending}|Pasted text)")
        self.wait_for(typed)
        for _ in range(30):
            self.keys("Enter")
            with contextlib.suppress(TimeoutError):
                return wait_until(lambda: self.ended or not typed.search(self.screen()), 1, str)
        raise TimeoutError(f"Enter submits nothing on:\n{self.screen()}")

    def wait_dialog(self, timeout: float = PATIENCE_SECONDS) -> str:
        """The screen once a dialog with numbered options is open."""
        return self.wait_for(DIALOG, timeout)

    def choose(self, label: str, timeout: float = PATIENCE_SECONDS) -> None:
        """Answers the open dialog by the number in front of an option's label."""
        option = re.compile(rf"(?m)^\W*(\d)\. {re.escape(label)}")
        found = option.search(self.wait_for(option, timeout))
        assert found is not None
        self._answer(found[1])

    def escape(self, timeout: float = PATIENCE_SECONDS) -> None:
        """Dismisses the open dialog."""
        self.wait_dialog(timeout)
        self._answer("Escape")

    def _answer(self, key: str) -> None:
        """Send a key once the dialog has been open for a while, and again while it stays open: 2.1.325 drops answers in
        the first 0.2 s of its own time."""
        since = time.monotonic()

        def is_settled() -> bool:
            nonlocal since
            if not self._dialog():
                since = time.monotonic()
            return time.monotonic() - since > SETTLE_SECONDS

        wait_until(is_settled, PATIENCE_SECONDS, lambda: f"no open dialog on:\n{self.screen()}")
        shown = self._dialog()
        for _ in range(12):
            self.keys(key)
            with contextlib.suppress(TimeoutError):
                return wait_until(lambda: self._dialog() != shown or self.ended, ANSWER_SECONDS, str)
        raise TimeoutError(f"{key} answers nothing on:\n{self.screen()}")

    def _dialog(self) -> str:
        """The open dialog, or nothing."""
        screen = self.screen()
        found = DIALOG.search(screen)
        return screen[found.start() :] if found else ""

    def session(self) -> Json:
        """This session's process file, written by the CLI: sessionId, status, waitingFor."""
        file = self._home.config / "sessions" / f"{self.pid}.json"
        state: Json = {}

        def is_whole() -> bool:
            with contextlib.suppress(OSError, ValueError):
                state.update(json.loads(file.read_text()))
            return bool(state)

        wait_until(is_whole, PATIENCE_SECONDS, lambda: f"no {file}")
        return state

    def wait_status(self, status: str, timeout: float = PATIENCE_SECONDS) -> None:
        """Waits for "idle", "busy" or "waiting"."""
        wait_until(lambda: self.session()["status"] == status, timeout, lambda: f"{self.session()}")
