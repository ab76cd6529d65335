"""The main screen: the desk with the waiting request, the session list, the tasks and the feed."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, cast

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widgets import Input

from quarterdeck.surfaces.terminal.actions.send_decision import fetch_outcome
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.session_actions import BY_KEY, FIRST_KEYS, MORE_KEYS, actions_for, blocked_reason
from quarterdeck.surfaces.tui.flows import card_details
from quarterdeck.surfaces.tui.flows.next_request import go_to_next_waiting
from quarterdeck.surfaces.tui.keys.decision_keys import VERBS
from quarterdeck.surfaces.tui.panes.command_line import CommandLine
from quarterdeck.surfaces.tui.panes.feed_pane import FeedPane
from quarterdeck.surfaces.tui.panes.header import Banner, Header
from quarterdeck.surfaces.tui.panes.request_pane import RequestPane
from quarterdeck.surfaces.tui.panes.session_list import SessionPane
from quarterdeck.surfaces.tui.panes.speech import Speech
from quarterdeck.surfaces.tui.panes.task_panel import TaskPanel
from quarterdeck.surfaces.tui.panes.welcome import Welcome
from quarterdeck.surfaces.tui.widgets.footer import KeyFooter
from quarterdeck.views.resources.session_view import SessionView

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

EVENTS_A_TICK = 2_000
NARROW = 90
END_SHOWN = "All of it has been on screen now: press the key again"
FILTER_HELP = "filter the feed: kind=… tool=… actor=… level=…"
DECISION_KEYS = frozenset(key for key, _ in VERBS.values())


class MainScreen(Screen[None]):
    """Lays out the panes, updates them from the model, and routes keys to decisions and session commands."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-normal"), (150, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (28, "-tall")]
    BINDINGS = [
        Binding("n", "next_request", "next", tooltip="go to the desk; again: next request"),
        *FIRST_KEYS,
        Binding("tab", "app.focus_next", "next pane", show=False),
        Binding("shift+tab", "app.focus_previous", "previous pane", show=False),
        Binding("slash", "command_line('find ')", "search", key_display="/", tooltip="search the feed", priority=True),
        Binding("f", "command_line('filter ')", "filter", tooltip=FILTER_HELP, priority=True),
        Binding("colon", "command_line('')", "command", key_display=":", priority=True),
        *MORE_KEYS,
        Binding("X", "stop_all", "stop all", tooltip="stop everything now; lists first what will stop"),
        Binding("escape", "back", "back", show=False),
        Binding("ctrl+l", "run('clear')", "clear view", show=False),
        Binding("ctrl+r", "run('reset')", "reset view", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("i", "run('install')", "connect", tooltip="connect Claude Code, when nothing is connected yet"),
        Binding("D", "run('demo')", "demo", tooltip="play the demo, when nothing is connected yet"),
        Binding("q", "app.quit", "quit", tooltip="leave; the daemon keeps running"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.shows_ended = False
        self._has_set_focus = False
        self._events_start: int | None = None
        self._log_count = 1

    @property
    def tui(self) -> QuarterdeckApp:
        return cast("QuarterdeckApp", self.app)

    def compose(self) -> ComposeResult:
        yield Header()
        yield Banner()
        with Container(id="deck"):
            with Container(id="right"):
                yield RequestPane(self.tui.model, self.tui.clock, id="desk")
                yield Welcome(id="welcome")
                yield FeedPane(self.tui.daemon, self.tui.model, id="feed")
                yield Speech(self.tui.daemon, self.tui.model, id="speech")
            with Vertical(id="left"):
                yield SessionPane(id="sessions")
                yield TaskPanel(id="tasks")
        yield CommandLine(id="command")
        yield KeyFooter(self.tui.status.shown)

    @property
    def is_composed(self) -> bool:
        """True when all panes are there, which they are not while the app starts or ends."""
        return self.is_mounted and bool(self.children) and isinstance(self.children[-1], KeyFooter)

    @property
    def desk(self) -> RequestPane:
        return self.query_one(RequestPane)

    @property
    def feed(self) -> FeedPane:
        return self.query_one(FeedPane)

    @property
    def sessions(self) -> SessionPane:
        return self.query_one(SessionPane)

    def on_mount(self) -> None:
        self.sessions.focus()
        self.update_panes()

    def on_screen_resume(self) -> None:
        self.desk.mark_on_screen()
        self.tui.redraw_soon()

    def on_key(self, event: events.Key) -> None:
        """Explain a key that does nothing here: a decision key off the card, or a command the session does not take."""
        if event.key in DECISION_KEYS and not self.desk.has_focus and self.tui.model.pending:
            self.tui.say(f"{event.key} acts on the card: n goes there", "warning")
        elif event.key in BY_KEY and (why := blocked_reason(BY_KEY[event.key], self.target_session)):
            self.tui.say(why[:1].upper() + why[1:], "warning")

    def on_resize(self) -> None:
        self.tui.redraw_soon()

    def on_descendant_focus(self) -> None:
        """Redraw: on a narrow screen the pane with the focus gets more room."""
        self.tui.redraw_soon()

    def update_panes(self) -> None:
        """Update every pane from the model."""
        app, now = self.tui, time.monotonic()
        model = app.model
        self.query_one(Banner).update(model.connection_problem(now))
        self.query_one(Header).update(model.metrics, model.runner_id, not model.is_stale(now))
        kept = (self.sessions.chosen, self.sessions.highlighted.session_id if self.sessions.highlighted else None)
        self.sessions.update(model.shown_sessions(self.shows_ended, kept), model.names, app.clock())
        self._update_desk()
        for session_id in model.take_unlocated():
            self._fetch(card_details.fetch_terminal(app, session_id))
        session = model.sessions.get(self._shown_session_id() or "")
        self.query_one(TaskPanel).update(session, str(model.name_of(session.session_id)) if session else "")
        self.query_one(Welcome).update(model.link == "live" and not model.sessions and not model.items)
        self.feed.update_names()
        if model.log_count != self._log_count:
            self._log_count = model.log_count
            self.sessions.chosen = None
            self.feed.follow(None)
        if model.events_start != self._events_start:
            self._events_start = model.events_start
            self.feed.expect_after(model.events_start or 0)
        if events := model.take_events(EVENTS_A_TICK):
            self.feed.append(events)
        if self.sessions.chosen:
            self.feed.update_title()
        self.query_one(Speech).update(self.sessions.chosen, events)
        self.refresh_bindings()

    def _update_desk(self) -> None:
        desk, waiting = self.desk, bool(self.tui.model.pending)
        narrow = self.size.width < NARROW
        elsewhere = narrow and isinstance(self.focused, FeedPane | SessionPane)
        share = 0.3 if elsewhere else 0.65 if narrow else 0.5
        desk.max_rows = max(4, int(self.size.height * share) - 2)
        desk.set_class(waiting, "-waiting")
        before = desk.item
        desk.update()
        if desk.item is not before:
            self._forget_refusal()
        if desk.item is not before and desk.item is not None:
            self._fetch(card_details.fetch_details(self.tui, desk.item))
        if desk.item is not None and desk.item.is_unexplained and not desk.item.is_outcome_fetched:
            desk.item.is_outcome_fetched = True
            self._fetch(fetch_outcome(self.tui, desk.item.request_id, time.monotonic()))
        if self.tui.model.has_snapshot and not self._has_set_focus:
            self._set_first_focus(waiting)

    def _set_first_focus(self, waiting: bool) -> None:
        """Focus the desk if a request waits at the start. A later request never takes the focus: you may be typing."""
        self._has_set_focus = True
        if waiting:
            self.desk.focus()

    def _shown_session_id(self) -> str | None:
        """The session whose tasks are shown: the chosen one, or the one of the card."""
        if self.sessions.chosen:
            return self.sessions.chosen
        return self.desk.item.view["session_id"] if self.desk.item else None

    @work
    async def _fetch(self, call: Awaitable[None]) -> None:
        """Fetch what the live connection does not push."""
        await call

    async def on_request_pane_decision_chosen(self, message: RequestPane.DecisionChosen) -> None:
        self.decide(message.verb, message.item, message.words)

    @work(group="decide")
    async def decide(self, verb: str, item: RequestItem, words: str = "") -> None:
        """Decide this request, and no other."""
        await self.tui.decision_flow.run(verb, item, words)

    @work(group="expand", exclusive=True)
    async def on_request_pane_expand_requested(self, message: RequestPane.ExpandRequested) -> None:
        """Show the whole card, however large it is."""
        desk = self.desk
        if not await card_details.fetch_whole_input(self.tui, message.item):
            return
        width = desk.whole_width  # read after the fetch: the terminal may have been resized meanwhile
        rows = await card_details.full_card_rows(self.tui, message.item, width)
        desk.show_whole(message.item, rows, width)
        self.tui.retract(desk.refused)
        desk.focus()

    def on_request_pane_end_shown(self) -> None:
        """Replace what refused the last key: a key that came just before the end was on screen is not lost silently."""
        if self.desk.refused and self.tui.status.holds(self.desk.refused, time.monotonic()):
            self.tui.retract(self.desk.refused)
            self.tui.say(END_SHOWN, "warning")
        self.desk.refused = ""

    def on_session_pane_chosen(self, message: SessionPane.Chosen) -> None:
        self.show_session(message.session_id)

    def show_session(self, session_id: str | None) -> None:
        """Show the feed of a session, or of all; and its request, if it has one."""
        model = self.tui.model
        self.sessions.chosen = session_id
        self.sessions.refresh()
        self.feed.follow(session_id)
        self.feed.update_title()
        item = next((one for one in model.pending if one.view["session_id"] == session_id), None)
        if item is not None:
            self.turn_to(item)
        self.tui.redraw_soon()

    def on_feed_view_found(self, message: FeedPane.Found) -> None:
        if message.words:
            self.tui.say(message.words, "warning")

    def turn_to(self, item: RequestItem) -> None:
        """Put this card on the desk."""
        self.desk.turn_to(item)
        self._forget_refusal()
        self._fetch(card_details.fetch_details(self.tui, item))
        self.tui.redraw_soon()

    def _forget_refusal(self) -> None:
        """Take back why a key did not act: it was about the card before."""
        self.tui.retract(self.desk.refused)
        self.desk.refused = ""

    def action_turn(self, step: int) -> None:
        pending = self.tui.model.pending
        if pending:
            places = [place for place, one in enumerate(pending) if one is self.desk.item]
            self.turn_to(pending[(places[0] + step) % len(pending)] if places else pending[0])

    def action_next_request(self) -> None:
        """Go to the desk; when it has the focus already, to the next one that waits."""
        go_to_next_waiting(self)

    def action_batch(self) -> None:
        self.desk.expect_typing()
        if self.tui.model.pending:
            self.decide_many()
        else:
            self.tui.say("No requests are waiting", "warning")

    @work(group="decide")
    async def decide_many(self) -> None:
        """Decide several requests; the person marks each one."""
        await self.tui.decision_flow.batch()

    def action_toggle_ended(self) -> None:
        self.shows_ended = not self.shows_ended
        self.tui.redraw_soon()

    def action_command_line(self, begin: str) -> None:
        self.desk.expect_typing()
        self.query_one(CommandLine).open(begin, self.desk.target)

    def action_help(self) -> None:
        self.desk.expect_typing()
        self.tui.open_page("help")

    def action_back(self) -> None:
        if self.feed.stop():
            return
        if self.desk.expanded:
            self.desk.action_expand()
        elif self.feed.narrowed:
            self.feed.widen()
        elif self.sessions.chosen is not None:
            self.show_session(None)

    def action_run(self, command: str) -> None:
        self.tui.perform_command(command, "")

    @property
    def target_session(self) -> SessionView | None:
        """The session of a command: the one under the cursor, of the focused card, or of the shown feed."""
        focused = self.focused.focused_before if isinstance(self.focused, CommandLine) else self.focused
        if isinstance(focused, SessionPane) and self.sessions.highlighted is not None:
            return self.tui.model.with_terminal_command(self.sessions.highlighted)
        item = self.desk.item if isinstance(focused, RequestPane) else None
        session = self.tui.model.sessions.get(item.view["session_id"] if item else self.sessions.chosen or "")
        return self.tui.model.with_terminal_command(session) if session else None

    def go_to_session(self, session_id: str) -> None:
        """Show the feed of a session, and put the cursor on it."""
        self.show_session(session_id)
        self.update_panes()
        self.sessions.highlight(session_id)
        self.sessions.focus()

    def action_session_command(self, verb: str) -> None:
        self.desk.expect_typing()
        self.run_session_command(verb, self.target_session)

    def action_start(self) -> None:
        self.desk.expect_typing()
        self.start_session()

    @work(group="session")
    async def run_session_command(self, verb: str, session: SessionView | None, words: str = "") -> None:
        """Run a command on this session, and no other."""
        await self.tui.session_flow.run(verb, session, words)

    def action_stop_all(self) -> None:
        self.desk.expect_typing()
        self.stop_all()

    @work(group="session")
    async def stop_all(self) -> None:
        await self.tui.session_flow.stop_all()

    @work(group="session")
    async def start_session(self) -> None:
        """Start a session; the dialog begins with the folder of the current one."""
        session = self.target_session
        await self.tui.session_flow.start(session.cwd if session else "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "run" and parameters[0] in ("install", "demo"):
            return self.query_one(Welcome).has_class("-shown")
        if action == "command_line":
            return not isinstance(self.focused, Input)
        if action == "next_request":
            return not isinstance(self.focused, Input) and bool(
                self.tui.model.pending or self.tui.model.waiting_elsewhere
            )
        if action == "session_command":
            return parameters[0] in actions_for(self.target_session)
        if action == "batch":
            return len(self.tui.model.pending) > 1
        return True

    def action_copy(self) -> None:
        self.tui.copy(self._copy_text())

    def _copy_text(self) -> str:
        """The text to copy, by the focus: the exact input, the command to resume a session, or the feed's event."""
        if isinstance(self.focused, RequestPane) and self.desk.item is not None:
            tool_input = self.desk.item.shown["tool_input"]
            command = tool_input.get("command")
            return command if isinstance(command, str) else self.desk.text
        if isinstance(self.focused, SessionPane):
            session = self.sessions.highlighted
            return session.resume.command if session and session.resume else ""
        return self.feed.copy_text()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        line = self.query_one(CommandLine)
        line.close()
        self.tui.run_command(event.value, line.target)
