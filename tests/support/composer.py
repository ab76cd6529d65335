"""A program with a composer drawn as Claude Code draws it: records submitted prompts, opens a dialog, exits on command.

Submitting `ask` opens a dialog that Escape closes, `work` keeps it busy until Escape, `toil` whatever is pressed.
`leave N` exits with N, `orphan` leaves a child in a session of its own, `run COMMAND` has a shell run it."""

import json
import os
import re
import subprocess
import sys
import termios
import time
import tty
from pathlib import Path

PASTE = re.compile(r"\x1b\[200~(.*?)\x1b\[201~", re.DOTALL)
RULE = "─" * 60


class Composer:
    def __init__(self) -> None:
        self.draft, self.dialog = "", False
        self.work = ""
        self.escapes = 0
        self.config = Path(os.environ["CLAUDE_CONFIG_DIR"])
        self.record = self.config / "submitted"
        self.session_id = os.environ.get("QUARTERDECK_TAG", "s")
        stat = Path("/proc/self/stat")
        self.started = stat.read_text().rpartition(")")[2].split()[19] if stat.exists() else ""

    def show(self) -> None:
        state = {"pid": os.getpid(), "sessionId": self.session_id, "status": self.status}
        state |= {"procStart": self.started, "escapes": self.escapes, "statusUpdatedAt": time.time() * 1000}
        file = self.config / "sessions" / f"{os.getpid()}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(state))
        body = " Do you want to proceed?\r\n ❯ 1. Yes" if self.dialog else f"{RULE}\r\n❯\xa0{self._lines()}\r\n{RULE}"
        os.write(1, f"\x1b[2J\x1b[H{body}\r\n".encode())

    @property
    def status(self) -> str:
        return "waiting" if self.dialog else "busy" if self.work else "idle"

    def _lines(self) -> str:
        return self.draft.replace("\n", "\r\n  ")

    def read_keys(self, keys: str) -> None:
        if keys == "\x1b":
            self.escapes += 1
            self.work = "" if self.work == "work" else self.work
            self.dialog = False
            return
        if self.dialog:
            self.dialog = "\x1b" not in keys
            return
        while found := PASTE.search(keys):
            self.type(keys[: found.start()])
            self.draft += found[1].replace("\r", "\n")
            keys = keys[found.end() :]
        self.type(keys)

    def type(self, keys: str) -> None:
        for key in keys:
            if key == "\r":
                self.submit(self.draft)
            elif key == "\x15":
                self.draft = ""
            else:
                self.draft += key

    def submit(self, text: str) -> None:
        with self.record.open("a") as file:
            file.write(json.dumps(text) + "\n")
        self.draft, self.dialog = "", text == "ask"
        self.work = text if text in ("work", "toil") else self.work
        if text.startswith("leave "):
            sys.exit(int(text.removeprefix("leave ")))
        if text == "orphan":
            subprocess.Popen(["setsid", "sh", "-c", "trap '' HUP TERM; sleep 600"])
        if text.startswith("run "):
            subprocess.Popen(["sh", "-c", text.removeprefix("run ")], stdin=subprocess.DEVNULL)


def main() -> None:
    settings = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, b"\x1b[?2004h")
    composer = Composer()
    try:
        while True:
            composer.show()
            part = os.read(0, 65536)
            while part.count(b"\x1b[200~") > part.count(b"\x1b[201~"):
                part += os.read(0, 65536)
            composer.read_keys(part.decode())
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, settings)


if __name__ == "__main__":
    main()
