"""`make screenshots`: pictures of the terminal UI from `qd demo`, for the pages in docs/. Projects, plugins and MCP
servers, which the demo does not have, are staged."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from tests.support.daemon import until
from tests.support.pilot import TuiPilot, run_tui
from tests.support.screenshot_daemon import Json, StagedDaemon

FOLDER = Path(__file__).parents[1] / "docs" / "screenshots"
SHOTS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "desk": ((120, 36), "dark", ()),
    "desk-light": ((110, 30), "light", ("n",)),
    "desk-contrast": ((110, 30), "contrast", ()),
    "desk-small": ((60, 20), "dark", ()),
    "remember": ((110, 32), "dark", ("r",)),
    "many": ((110, 32), "dark", ("m", "space", "down")),
    "help": ((110, 32), "light", ("question_mark",)),
    "start": ((110, 32), "dark", ("s",)),
    "trust": ((110, 32), "dark", ("s", *"shop", "enter", *"add a limiter", "f2")),
    "plugins": ((110, 20), "dark", ("colon", *"plugins", "enter", "down", "enter")),
    "mcp": ((110, 20), "dark", ("colon", *"mcp", "enter", "down", "down", "enter")),
    "rules": ((120, 20), "dark", ("colon", *"rules", "enter")),
    "audit": ((110, 20), "dark", ("colon", *"audit", "enter")),
}
"""Each picture: its size, its theme, and the keys that lead to it."""


def picture(app: QuarterdeckApp) -> str:
    """The screen as SVG. It names no address and is the same for the same screen, so that pictures can be compared. Few
    browsers' fonts have `⎿`, the mark of a result; a corner looks the same."""
    svg = app.export_screenshot(title="Quarterdeck").replace("⎿", "└")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    return re.sub(r"terminal-\d+", "terminal", svg)


@contextmanager
def demo() -> Iterator[Path]:
    """Play a demo whose requests wait for a decision; yields its home folder."""
    command = [sys.executable, "-u", "-m", "quarterdeck", "demo", "--lines", "--speed", "8", "--patience", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as playing:
        assert playing.stdout is not None
        try:
            found = (re.search(r"QUARTERDECK_HOME=(\S+)", line) for line in playing.stdout)
            yield Path(next(match[1] for match in found if match))
        finally:
            playing.send_signal(signal.SIGINT)


RULES: tuple[Json, ...] = (
    {"effect": "allow", "pattern": "Bash(git log:*)", "scope": "user"},
    {"effect": "allow", "pattern": "Bash(pytest:*)", "scope": "project", "scope_path": "/home/you/api-server"},
    {"effect": "ask", "pattern": "WebFetch", "scope": "user", "note": "check the address"},
    {"effect": "deny", "pattern": "Bash(git push --force:*)", "scope": "user", "expires": "30d"},
)
"""Rules that a person may have; none of them decides a request of the demo."""


def keep_rules(home: Path) -> None:
    client = Client.of_home(home, "tui")
    for rule in RULES:
        client.post("/api/v1/rules", rule)


def decide_some(home: Path) -> None:
    """Decide two of the three pending requests, so that the audit has entries."""
    client = Client.of_home(home, "tui")
    words: dict[str, Json] = {
        "WebFetch": {"decision": "allow"},
        "Bash": {"decision": "deny", "message": "not on Friday"},
    }
    for request in client.get("/api/v1/requests")["requests"]:
        if request["tool_name"] in words:
            body = {**words[request["tool_name"]], "digest": request["digest"]}
            client.post(f"/api/v1/requests/{request['request_id']}/decision", body)


async def shoot(home: Path, name: str, waiting: int = 3) -> None:
    size, theme, keys = SHOTS[name]
    async with run_tui(home, size, theme, StagedDaemon(home)) as tui:
        await tui.until(lambda: len(tui.app.model.pending) >= waiting, "pending requests")
        await tui.card()
        for key in keys:
            await tui.press(key)
            await asyncio.sleep(SETTLE_SECONDS * (key == "m"))
        await _still(tui)
        (FOLDER / f"{name}.svg").write_text(picture(tui.app))


async def _still(tui: TuiPilot) -> None:
    """Wait until the screen is the same twice in a row, ages aside."""
    before = ""
    while (now := re.sub(r"\d", "", tui.text)) != before:
        before = now
        await asyncio.sleep(0.8)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with demo() as home:
        until((home / "run" / "daemon.json").exists)
        keep_rules(home)
        for name in SHOTS:
            if name == "audit":
                decide_some(home)
            asyncio.run(shoot(home, name, 1 if name == "audit" else 3))
            sys.stdout.write(f"docs/screenshots/{name}.svg\n")


if __name__ == "__main__":
    main()
