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

CONFIG = "set -g remain-on-exit on\nset -s escape-time 0\nset -g default-terminal tmux-256color\n"
COMPOSER = r"(?m)^─.*─\n❯"
READY = re.compile(rf"{COMPOSER}\s*\n─+$")
DIALOG = re.compile(r"(?m)^ {0,2}❯ 1\. ")
SETTLE_SECONDS = 0.4


def wait_until(holds: Callable[[], bool], timeout: float, otherwise: Callable[[], str]) -> None:
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
            timeout=10,
        )
        if done.returncode:
            raise RuntimeError(f"tmux {args[0]}: {done.stderr.strip()}")
        return done.stdout

    def screen(self, *, styled: bool = False) -> str:
        """What is shown; `styled` with the orders that colour it."""
        return self._tmux("capture-pane", "-p", "-J", *(["-e"] if styled else []), "-t", self.pane)

    def title(self) -> str:
        """What the program calls its terminal."""
        return self._tmux("display-message", "-p", "-t", self.pane, "#{pane_title}").strip()

    def modes(self) -> tuple[bool, bool]:
        """Whether a program has a screen of its own, and whether it is told of the mouse."""
        told = self._tmux("display-message", "-p", "-t", self.pane, "#{alternate_on} #{mouse_any_flag}").split()
        return told[0] == "1", told[1] == "1"

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-t", self.pane, "-x", str(columns), "-y", str(rows))

    def wait_for(self, wanted: str | re.Pattern[str], timeout: float = 20.0) -> str:
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

    def press_until(self, key: str, words: str, tries: int = 10) -> None:
        """Press a key until words show: one that decides does nothing before its card has been seen for a moment."""
        for _ in range(tries):
            self.keys(key)
            with contextlib.suppress(TimeoutError):
                self.wait_for(words, 1)
                return
        raise TimeoutError(f"{key} opens nothing on:\n{self.screen()}")

    @property
    def ended(self) -> bool:
        return self._tmux("display-message", "-p", "-t", self.pane, "#{pane_dead}").strip() == "1"

    def wait_for_end(self, timeout: float = 10.0) -> None:
        """Until what runs in it has ended."""
        wait_until(lambda: self.ended, timeout, self.screen)

    def close(self) -> None:
        """Hangs up as a closed window would, kills what stays, and takes the private server down."""
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

    def ready(self, timeout: float = 20.0) -> Self:
        """Waits for the empty composer of a session that has started."""
        self.wait_for(READY, timeout)
        return self

    def type_prompt(self, prompt: str) -> None:
        """Pastes a prompt as one piece, sees it in the composer, and submits it until it is gone from there."""
        self._tmux("load-buffer", "-", text=prompt)
        self._tmux("paste-buffer", "-p", "-d", "-t", self.pane)
        ending = r"\s*".join(map(re.escape, "".join(prompt.split())[-20:]))
        typed = re.compile(rf"{COMPOSER}(?:[^─\n]*\n)*?[^─\n]*(?:{ending}|Pasted text)")
        self.wait_for(typed, 5)
        for _ in range(5):
            self.keys("Enter")
            with contextlib.suppress(TimeoutError):
                return wait_until(lambda: self.ended or not typed.search(self.screen()), 1, str)
        raise TimeoutError(f"Enter submits nothing on:\n{self.screen()}")

    def wait_dialog(self, timeout: float = 20.0) -> str:
        """The screen once a dialog with numbered options is up."""
        return self.wait_for(DIALOG, timeout)

    def choose(self, label: str, timeout: float = 20.0) -> None:
        """Answers the open dialog by the number in front of an option's label."""
        option = re.compile(rf"(?m)^\W*(\d)\. {re.escape(label)}")
        found = option.search(self.wait_for(option, timeout))
        assert found is not None
        self._answer(found[1])

    def escape(self, timeout: float = 20.0) -> None:
        """Dismisses the open dialog."""
        self.wait_dialog(timeout)
        self._answer("Escape")

    def _answer(self, key: str) -> None:
        """Sends a key once the dialog has stood for a while: 2.1.325 drops answers in its first 0.2 s."""
        since = time.monotonic()

        def stands() -> bool:
            nonlocal since
            if not DIALOG.search(self.screen()):
                since = time.monotonic()
            return time.monotonic() - since > SETTLE_SECONDS

        wait_until(stands, 5, lambda: f"no standing dialog on:\n{self.screen()}")
        self.keys(key)

    def session(self) -> Json:
        """What the CLI says of this session in its own sessions file: sessionId, status, waitingFor."""
        file = self._home.config / "sessions" / f"{self.pid}.json"
        wait_until(file.exists, 5, lambda: f"no {file}")
        state: Json = json.loads(file.read_text())
        return state

    def wait_status(self, status: str, timeout: float = 20.0) -> None:
        """Waits for "idle", "busy" or "waiting"."""
        wait_until(lambda: self.session()["status"] == status, timeout, lambda: f"{self.session()}")
