"""Doing what was ordered by name."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from quarterdeck.surfaces.terminal.commands import read_filter
from quarterdeck.surfaces.terminal.request_card import decisions_for
from quarterdeck.surfaces.terminal.session_actions import BY_COMMAND
from quarterdeck.surfaces.text.labels import project_of
from quarterdeck.surfaces.tui.panes.request_pane import Aim
from quarterdeck.surfaces.tui.panes.welcome import Welcome
from quarterdeck.surfaces.tui.widgets.themes import NAMES

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

DECISIONS = ("allow", "edit", "approve", "deny", "interrupt", "remember", "answer", "go-on", "pass")
PAGE_NAMES = ("tasks", "rules", "projects", "plugins", "marketplaces", "mcp", "audit", "health", "help", "about")
JUMPS = ("error", "decision", "prompt", "request")


class Orders:
    """One method a command; the rest of the line is its argument."""

    def __init__(self, app: QuarterdeckApp) -> None:
        self._app = app
        self._do: dict[str, Callable[[str], None]] = {
            "start": lambda rest: app.bridge.action_start(),
            "many": lambda rest: app.bridge.action_batch(),
            "expand": lambda rest: app.bridge.desk.action_expand(),
            "next": lambda rest: app.bridge.action_turn(1) if app.model.pending else app.bridge.action_next_request(),
            "previous": lambda rest: app.bridge.action_turn(-1),
            "session": self._session,
            "all": lambda rest: app.bridge.show_session(None),
            "ended": lambda rest: app.bridge.action_toggle_ended(),
            "find": self._find,
            "filter": self._filter,
            "jump": self._jump,
            "clear": self._clear,
            "reset": self._reset,
            "copy": lambda rest: app.bridge.action_copy(),
            "theme": self._theme,
            "bell": self._bell,
            "install": lambda rest: self._outside(["install", "--dry-run"], ["install"]),
            "demo": lambda rest: self._outside(["demo"]),
            "quit": lambda rest: app.exit(),
        }

    def perform(self, name: str, rest: str, aim: Aim | None) -> None:
        """Do it. A decision is about the card that was there when the order was begun."""
        if name in DECISIONS:
            self._decide(name.replace("-", "_"), rest, aim)
        elif name in BY_COMMAND:
            self._app.bridge.steer(BY_COMMAND[name], self._app.bridge.steered, rest)
        elif name in PAGE_NAMES:
            self._app.open_page(name)
        else:
            self._do[name](rest)

    def _decide(self, verb: str, words: str, aim: Aim | None) -> None:
        app, desk = self._app, self._app.bridge.desk
        if aim is None:
            app.say("No card was on screen: nothing was decided", "warning")
            return
        target = aim.asked
        if target is not desk.asked:
            app.say("The card has changed meanwhile: nothing was decided", "warning")
            return
        why = desk.why_not_ordered(verb, aim.shown_at)
        if not why and verb not in decisions_for(target.view):
            why = f"this request takes {', '.join(decisions_for(target.view))}"
        if why:
            app.say(f"Not decided: {why}", "warning")
        else:
            app.bridge.decide(verb, target, words)

    def _session(self, name: str) -> None:
        found = [
            s["session_id"]
            for s in self._app.model.shown_sessions(True)
            if name and (s["session_id"].startswith(name) or project_of(s) == name)
        ]
        if found:
            self._app.bridge.show_session(found[0])
        else:
            self._app.say(f"no session is called {name or 'that'}", "warning")

    def _find(self, words: str) -> None:
        """Search, with the focus where the matches are; without words the search ends."""
        feed = self._app.bridge.feed
        feed.find(words)
        if words:
            feed.focus()

    def _filter(self, rest: str) -> None:
        found = read_filter(rest)
        if isinstance(found, str):
            self._app.say(found, "warning")
        elif problem := self._app.bridge.feed.narrow(found):
            self._app.say(problem, "warning")

    def _jump(self, rest: str) -> None:
        if rest in JUMPS:
            self._app.bridge.feed.jump(rest)
        else:
            self._app.say(f"jump to {' or '.join(JUMPS)}", "warning")

    def _clear(self, rest: str) -> None:
        self._app.bridge.feed.clear()

    def _reset(self, rest: str) -> None:
        bridge = self._app.bridge
        bridge.feed.narrow({})
        bridge.feed.find("")
        bridge.ended = False
        bridge.show_session(None)

    def _theme(self, name: str) -> None:
        if name in NAMES:
            self._app.theme = name
            self._app.dirty()
        else:
            self._app.say(f"themes are {', '.join(NAMES)}", "warning")

    def _bell(self, word: str) -> None:
        if word in ("on", "off"):
            self._app.notifier.on = word == "on"
            self._app.say(f"The bell is {word}")
        else:
            self._app.say("bell on, or bell off", "warning")

    def _outside(self, *commands: list[str]) -> None:
        """Run our own commands on the bare terminal, with a question between them."""
        self._app.run_worker(self._lend(commands), group="outside")

    async def _lend(self, commands: tuple[list[str], ...]) -> None:
        from quarterdeck.surfaces.tui.widgets.suspend import lend_screen

        try:
            done = await lend_screen(self._app, lambda: _run_each(commands))
        except SuspendNotSupported:
            self._app.say(f"in another terminal: qd {commands[-1][0]}", "warning")
        else:
            if done and commands[-1] == ["install"]:
                self._app.bridge.query_one(Welcome).is_connected()


def _run_each(commands: Iterable[list[str]]) -> bool:
    """Whether all of them were wanted and succeeded; none follows one that failed."""
    done = False
    with contextlib.suppress(EOFError):
        for place, command in enumerate(commands):
            if place and input("Do it? [y/N] ").strip().lower() not in ("y", "yes"):
                return False
            done = not subprocess.run([sys.executable, "-m", "quarterdeck", *command], check=False).returncode  # noqa: S603
            if not done:
                break
        input("Enter goes back to Quarterdeck ")
    return done
