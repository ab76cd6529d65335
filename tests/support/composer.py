"""A program with a composer drawn as Claude Code draws it: records what is submitted, asks, and ends as it is told.

Submitting `ask` opens a dialog that Escape closes, `leave N` exits with N,
`orphan` leaves a child in a session of its own."""

import json
import os
import re
import subprocess
import sys
import termios
import tty
from pathlib import Path

PASTE = re.compile(r"\x1b\[200~(.*?)\x1b\[201~", re.DOTALL)
RULE = "─" * 60


class Composer:
    def __init__(self) -> None:
        self.draft, self.dialog = "", False
        self.config = Path(os.environ["CLAUDE_CONFIG_DIR"])
        self.record = self.config / "submitted"

    def show(self) -> None:
        said = {"pid": os.getpid(), "sessionId": "s", "status": "waiting" if self.dialog else "idle"}
        file = self.config / "sessions" / f"{os.getpid()}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(said))
        body = " Do you want to proceed?\r\n ❯ 1. Yes" if self.dialog else f"{RULE}\r\n❯\xa0{self._lines()}\r\n{RULE}"
        os.write(1, f"\x1b[2J\x1b[H{body}\r\n".encode())

    def _lines(self) -> str:
        return self.draft.replace("\n", "\r\n  ")

    def hear(self, keys: str) -> None:
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
        if text.startswith("leave "):
            sys.exit(int(text.removeprefix("leave ")))
        if text == "orphan":
            subprocess.Popen(["setsid", "sh", "-c", "trap '' HUP TERM; sleep 600"])


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
            composer.hear(part.decode())
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, settings)


if __name__ == "__main__":
    main()
