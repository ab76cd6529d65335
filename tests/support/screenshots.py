"""`make screenshots`: pictures of the terminal face from `qd demo`, for the documents."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quarterdeck.surfaces.tui.app import QuarterdeckApp
from tests.support.daemon import until
from tests.support.pilot import Face, face_of

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
SHOTS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "desk": ((120, 36), "dark", ()),
    "desk-light": ((110, 30), "light", ("n",)),
    "desk-contrast": ((110, 30), "contrast", ()),
    "desk-small": ((60, 20), "dark", ()),
    "remember": ((110, 32), "dark", ("r",)),
    "many": ((110, 32), "dark", ("m", "space", "down")),
    "help": ((110, 32), "light", ("question_mark",)),
}
"""Each picture: its size, its theme, and the keys that lead to it."""


def picture(app: QuarterdeckApp) -> str:
    """The screen as SVG: it names no address, and is the same for the same screen."""
    svg = app.export_screenshot(title="Quarterdeck")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    return re.sub(r"terminal-\d+", "terminal", svg)


@contextmanager
def demo() -> Iterator[Path]:
    """The home of a demo that plays; what it asks waits for us."""
    command = [sys.executable, "-u", "-m", "quarterdeck", "demo", "--lines", "--speed", "8", "--patience", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as playing:
        assert playing.stdout is not None
        try:
            found = (re.search(r"QUARTERDECK_HOME=(\S+)", line) for line in playing.stdout)
            yield Path(next(match[1] for match in found if match))
        finally:
            playing.send_signal(signal.SIGINT)


async def shoot(home: Path, name: str) -> None:
    size, theme, keys = SHOTS[name]
    async with face_of(home, size, theme) as face:
        await face.until(lambda: len(face.app.model.pending) == 3, "three that wait")
        await face.card()
        await face.press(*keys)
        await _still(face)
        (FOLDER / f"{name}.svg").write_text(picture(face.app))


async def _still(face: Face) -> None:
    """Wait until two looks a while apart show the same, ages aside."""
    before = ""
    while (now := re.sub(r"\d", "", face.text)) != before:
        before = now
        await asyncio.sleep(0.8)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with demo() as home:
        until((home / "run" / "daemon.json").exists)
        for name in SHOTS:
            asyncio.run(shoot(home, name))
            sys.stdout.write(f"docs/screenshots/{name}.svg\n")


if __name__ == "__main__":
    main()
