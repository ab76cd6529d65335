"""Run commands by name: from the `:` line, the palette and keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import termios
import tty
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from quarterdeck.surfaces.terminal.request_card import decisions_for
from quarterdeck.surfaces.terminal.session_actions import BY_COMMAND
from quarterdeck.surfaces.terminal.text_commands import read_filter
from quarterdeck.surfaces.text.labels import project_of
from quarterdeck.surfaces.tui.keys.decision_keys import DecisionTarget
from quarterdeck.surfaces.tui.panes.welcome import Welcome
from quarterdeck.surfaces.tui.widgets.themes import NAMES
from quarterdeck.system.terminal_end import run_in_foreground

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

DECISIONS = ("allow", "edit", "approve", "deny", "interrupt", "remember", "answer", "go-on", "pass")
PAGE_NAMES = (
    *("tasks", "deck", "rules", "projects", "plugins", "marketplaces", "mcp"),
    *("audit", "usage", "health", "help", "about"),
)
JUMPS = ("error", "decision", "prompt", "request")


class CommandDispatch:
    """A table from each command's name to its handler; the rest of the line is its argument."""

    def __init__(self, app: QuarterdeckApp) -> None:
        self._app = app
        self._handlers: dict[str, Callable[[str], None]] = {
            "start": lambda rest: app.main_screen.action_start(),
            "stop-all": lambda rest: app.main_screen.action_stop_all(),
            "many": lambda rest: app.main_screen.action_batch(),
            "expand": lambda rest: app.main_screen.desk.action_expand(),
            "next": lambda rest: (
                app.main_screen.action_turn(1) if app.model.pending else app.main_screen.action_next_request()
            ),
            "previous": lambda rest: app.main_screen.action_turn(-1),
            "session": self._session,
            "all": lambda rest: app.main_screen.show_session(None),
            "ended": lambda rest: app.main_screen.action_toggle_ended(),
            "find": self._find,
            "filter": self._filter,
            "jump": self._jump,
            "clear": lambda rest: app.main_screen.feed.clear(),
            "reset": self._reset,
            "copy": lambda rest: app.main_screen.action_copy(),
            "theme": self._theme,
            "bell": self._bell,
            "install": lambda rest: self._run_outside("install", _connect_claude),
            "demo": lambda rest: self._run_outside("demo", _play_demo),
            "quit": lambda rest: app.exit(),
        }

    def perform(self, name: str, rest: str, target: DecisionTarget | None) -> None:
        """Run a command. A decision is about `target`, the card that was on screen when the command was begun."""
        if name in DECISIONS:
            self._decide(name.replace("-", "_"), rest, target)
        elif name in BY_COMMAND:
            self._app.main_screen.run_session_command(BY_COMMAND[name], self._app.main_screen.target_session, rest)
        elif name in PAGE_NAMES:
            self._app.open_page(name)
        else:
            self._handlers[name](rest)

    def _decide(self, verb: str, words: str, target: DecisionTarget | None) -> None:
        app, desk = self._app, self._app.main_screen.desk
        if target is None:
            app.say("No card was on screen: nothing was decided", "warning")
            return
        item = target.item
        if item is not desk.item:
            app.say("The card has changed: nothing was decided", "warning")
            return
        why = desk.blocked_reason_since(verb, target.shown_at)
        if not why and verb not in decisions_for(item.view):
            why = f"this request takes {', '.join(decisions_for(item.view))}"
        if why:
            app.say(f"Not decided: {why}", "warning")
        else:
            app.main_screen.decide(verb, item, words)

    def _session(self, name: str) -> None:
        matches = [
            s.session_id
            for s in self._app.model.shown_sessions(True)
            if name and (s.session_id.startswith(name) or project_of(s) == name)
        ]
        if matches:
            self._app.main_screen.show_session(matches[0])
        else:
            self._app.say(f"no session is called {name or 'that'}", "warning")

    def _find(self, words: str) -> None:
        """Search the feed and focus it; without words the search ends."""
        feed = self._app.main_screen.feed
        feed.find(words)
        if words:
            feed.focus()

    def _filter(self, rest: str) -> None:
        values = read_filter(rest)
        if isinstance(values, str):
            self._app.say(values, "warning")
        elif problem := self._app.main_screen.feed.apply_filter(values):
            self._app.say(problem, "warning")

    def _jump(self, rest: str) -> None:
        if rest in JUMPS:
            self._app.main_screen.feed.jump(rest)
        else:
            self._app.say(f"jump to {' or '.join(JUMPS)}", "warning")

    def _reset(self, rest: str) -> None:
        screen = self._app.main_screen
        screen.feed.apply_filter({})
        screen.feed.find("")
        screen.shows_ended = False
        screen.show_session(None)

    def _theme(self, name: str) -> None:
        if name in NAMES:
            self._app.theme = name
            self._app.redraw_soon()
        else:
            self._app.say(f"themes are {', '.join(NAMES)}", "warning")

    def _bell(self, word: str) -> None:
        if word in ("on", "off"):
            self._app.notifier.on = word == "on"
            self._app.say(f"The bell is {word}")
        else:
            self._app.say("bell on, or bell off", "warning")

    def _run_outside(self, command: str, work: Callable[[], bool]) -> None:
        """Run `work`, which is the qd command, on the bare terminal."""
        self._app.run_worker(self._suspend_and_run(command, work), group="outside")

    async def _suspend_and_run(self, command: str, work: Callable[[], bool]) -> None:
        from quarterdeck.surfaces.tui.terminal_handover import suspend_for

        try:
            done = await suspend_for(self._app, work)
        except SuspendNotSupported:
            self._app.say(f"in another terminal: qd {command}", "warning")
        else:
            if done and command == "install":
                self._app.main_screen.query_one(Welcome).show_connected()


def _connect_claude() -> bool:
    """Show the change, ask, and make it. True if Claude Code is connected afterwards."""
    shown = _qd("install", "--dry-run")
    if not shown and not _has_change():
        done = True
    elif not shown and _key("Do it? [y/N] ") not in ("y", "Y"):
        return False
    else:
        done = not shown and not _qd("install")
    _key("Press a key to go back to Quarterdeck ")
    return done


def _play_demo() -> bool:
    done = not _qd("demo")
    _key("Press a key to go back to Quarterdeck ")
    return done


def _qd(*words: str) -> int:
    return run_in_foreground([sys.executable, "-m", "quarterdeck", *words])


def _has_change() -> bool:
    """True if `qd install` would change anything; true if it cannot be known."""
    command = [sys.executable, "-m", "quarterdeck", "install", "--dry-run", "--json"]
    found = subprocess.run(command, check=False, capture_output=True)  # noqa: S603
    return bool(found.returncode) or bool(json.loads(found.stdout)["changed"])


def _key(question: str) -> str:
    """The key that the person presses. Raw, so that Escape and Ctrl-C are keys too; what was typed before does not
    count."""
    sys.stdout.write(question)
    sys.stdout.flush()
    before = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        return os.read(0, 32).decode(errors="replace")
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        sys.stdout.write("\n")
