"""An open terminal UI whose files are moved away, as by an upgrade in place.

`python -m tests.support.upgraded_tui HOME HOW`, from a copy of the package. `deny` moves the whole package once the UI
has loaded everything, opens every page and dialog, and denies the request on the desk. `early` moves what a UI loads
after its first screen.
"""

import asyncio
import sys
from pathlib import Path

import quarterdeck
from quarterdeck.surfaces.tui.keys.command_dispatch import PAGE_NAMES
from tests.support.pilot import TuiPilot, run_tui

PACKAGE = Path(quarterdeck.__file__).parent
UPGRADED = "Quarterdeck was upgraded: restart this UI"
DIALOGS = {"e": "Edit, then allow", "d": "Deny", "i": "Deny and interrupt", "r": "Decide, and remember"}


async def go_on_without_files(tui: TuiPilot) -> None:
    """Load everything, lose the files, and open every page and dialog."""
    await tui.until(lambda: all(one.is_finished for one in tui.app.workers if one.group == "ahead"), "all is loaded")
    files = [path.relative_to(PACKAGE.parent) for path in (PACKAGE / "surfaces" / "tui").rglob("*.py")]
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files}
    assert not names - sys.modules.keys(), names - sys.modules.keys()
    PACKAGE.rename(PACKAGE.with_name("gone"))
    for page in PAGE_NAMES:
        await tui.runs_command(page)
        await tui.until(lambda: tui.app.screen is not tui.main_screen, page)
        await close(tui)
    for key, heading in DIALOGS.items():
        await tui.card()
        await tui.press(key)
        await tui.sees(heading)
        await close(tui)
    await tui.press("s")
    await tui.sees("Start a session")
    await close(tui)
    await tui.card()
    await tui.press("d")
    await tui.sees("Deny")
    await tui.press("enter")
    await tui.until(lambda: not tui.app.model.pending, "the decision")


async def close(tui: TuiPilot) -> None:
    await tui.press("escape")
    await tui.until(lambda: tui.app.screen is tui.main_screen, "the main screen")


async def ask_for_a_restart(tui: TuiPilot) -> None:
    """Nothing that is missing ends the UI, and what was typed is kept."""
    tui.app.drafts["start"] = "half a prompt"
    await tui.shows_message(UPGRADED)
    for key in ("question_mark", "s"):
        tui.app.status.retract(UPGRADED)
        await tui.press(key)
        await tui.shows_message(UPGRADED)
    assert tui.app.screen is tui.main_screen
    assert tui.app.drafts == {"start": "half a prompt"}


async def main(home: str, how: str) -> None:
    if how == "early":
        for name in ("flows", "screens"):
            (PACKAGE / "surfaces" / "tui" / name).rename(PACKAGE / name)
    async with run_tui(Path(home)) as tui:
        await (go_on_without_files(tui) if how == "deny" else ask_for_a_restart(tui))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
