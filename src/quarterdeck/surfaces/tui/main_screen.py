"""The first screen: who waits and what exactly they want; sessions, the feed and the desk."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, cast
from urllib.parse import quote

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widgets import Input

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.connection import aside
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.terminal.session_actions import BY_KEY, FIRST_KEYS, MORE_KEYS, orders_for, why_not
from quarterdeck.surfaces.terminal.session_names import Name
from quarterdeck.surfaces.terminal.styled_text import Row, fold
from quarterdeck.surfaces.tui.next_waiting import go_on
from quarterdeck.surfaces.tui.panes.command_line import CommandLine
from quarterdeck.surfaces.tui.panes.feed_pane import FeedPane
from quarterdeck.surfaces.tui.panes.header import Banner, Header
from quarterdeck.surfaces.tui.panes.request_pane import VERBS, Desk
from quarterdeck.surfaces.tui.panes.session_list import Sessions
from quarterdeck.surfaces.tui.panes.speech import Speech
from quarterdeck.surfaces.tui.panes.task_panel import Tasks
from quarterdeck.surfaces.tui.panes.welcome import Welcome
from quarterdeck.surfaces.tui.widgets.footer import Keys

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

EVENTS_A_TICK = 2_000
NARROW = 90
DECIDING = frozenset(key for key, _ in VERBS.values())


class Bridge(Screen[None]):
    """The desk, the sessions, the feed."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-normal"), (150, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (28, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "next_request", "next", tooltip="to the desk, and to the next that waits"),
        *FIRST_KEYS,
        Binding("tab", "app.focus_next", "next pane", show=False),
        Binding("shift+tab", "app.focus_previous", "previous pane", show=False),
        Binding("slash", "order('find ')", "search", key_display="/", tooltip="search the feed", priority=True),
        Binding(
            "f", "order('filter ')", "filter", tooltip="narrow the feed: kind=… tool=… actor=… level=…", priority=True
        ),
        Binding("colon", "order('')", "command", key_display=":", priority=True),
        *MORE_KEYS,
        Binding("escape", "back", "back", show=False),
        Binding("ctrl+l", "clear", "clear view", show=False),
        Binding("ctrl+r", "reset", "reset view", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("i", "install", "connect", tooltip="connect Claude Code, when nobody is connected yet"),
        Binding("D", "demo", "demo", tooltip="play the demo, when nobody is connected yet"),
        Binding("q", "app.quit", "quit", tooltip="leave; the daemon stays"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.ended = False
        self._begun = False
        self._begins: int | None = None
        self._logs = 1

    @property
    def face(self) -> QuarterdeckApp:
        return cast("QuarterdeckApp", self.app)

    def compose(self) -> ComposeResult:
        yield Header()
        yield Banner()
        with Container(id="deck"):
            with Container(id="right"):
                yield self._pane(Desk(self.face.model, self.face.clock, id="desk"))
                yield self._pane(Welcome(id="welcome"))
                yield self._pane(FeedPane(self.face.talk, self.face.model, id="feed"))
                yield Speech(self.face.talk, self.face.model, id="speech")
            with Vertical(id="left"):
                yield self._pane(Sessions(id="sessions"))
                yield self._pane(Tasks(id="tasks"))
        yield CommandLine(id="command")
        yield Keys(self.face.status.shown)

    def _pane(self, widget: Any) -> Any:
        widget.add_class("pane")
        return widget

    @property
    def is_whole(self) -> bool:
        """Whether all parts are there: not while the app begins or ends."""
        return self.is_mounted and bool(self.children) and isinstance(self.children[-1], Keys)

    @property
    def desk(self) -> Desk:
        return self.query_one(Desk)

    @property
    def feed(self) -> FeedPane:
        return self.query_one(FeedPane)

    @property
    def sessions(self) -> Sessions:
        return self.query_one(Sessions)

    def on_mount(self) -> None:
        self.sessions.focus()
        self.tell()

    def on_screen_resume(self) -> None:
        self.desk.come_on_screen()
        self.face.dirty()

    def on_key(self, event: events.Key) -> None:
        """A key that would decide, pressed elsewhere, says where it acts instead of seeming broken; one that orders
        what the session does not take says why."""
        if event.key in DECIDING and not self.desk.has_focus and self.face.model.pending:
            self.face.say(f"{event.key} acts on the card: n goes there", "warning")
        elif event.key in BY_KEY and (why := why_not(BY_KEY[event.key], self.steered)):
            self.face.say(why[:1].upper() + why[1:], "warning")

    def on_resize(self) -> None:
        self.face.dirty()

    def on_descendant_focus(self) -> None:
        """On a narrow screen the pane that has the focus gets room."""
        self.face.dirty()

    def tell(self) -> None:
        """Show how things stand now."""
        face, now = self.face, time.monotonic()
        model = face.model
        self.query_one(Banner).tell(model.trouble(now))
        self.query_one(Header).tell(model.metrics, model.runner_id, not model.is_stale(now))
        looked_at = (self.sessions.chosen, (self.sessions.pointed or {}).get("session_id"))
        self.sessions.tell(model.shown_sessions(self.ended, looked_at), model.names, face.clock())
        self._tell_desk()
        for session_id in model.take_unplaced():
            self._find_place(session_id)
        looked = model.sessions.get(self._looked_at() or "")
        self.query_one(Tasks).tell(looked, str(model.name_of(looked["session_id"])) if looked else "")
        self.query_one(Welcome).tell(model.link == "live" and not model.sessions and not model.asked)
        self.feed.rename()
        if model.logs != self._logs:
            self._logs = model.logs
            self.sessions.chosen = None
            self.feed.follow(None)
        if model.begins != self._begins:
            self._begins = model.begins
            self.feed.begin(model.begins or 0)
        if events := model.take_events(EVENTS_A_TICK):
            self.feed.append(events)
        if self.sessions.chosen:
            self.feed.entitle()
        self.query_one(Speech).tell(self.sessions.chosen, events)
        self.refresh_bindings()

    def _tell_desk(self) -> None:
        desk, waiting = self.desk, bool(self.face.model.pending)
        narrow = self.size.width < NARROW
        elsewhere = narrow and isinstance(self.focused, FeedPane | Sessions)
        share = 0.3 if elsewhere else 0.65 if narrow else 0.5
        desk.most_rows = max(4, int(self.size.height * share) - 2)
        desk.set_class(waiting, "-waiting")
        before = desk.asked
        desk.tell()
        if desk.asked is not before and desk.asked is not None:
            self._look_into(desk.asked)
        if desk.asked is not None and desk.asked.is_unexplained and not desk.asked.looked_after:
            desk.asked.looked_after = True
            self._look_after(desk.asked)
        if self.face.model.is_told and not self._begun:
            self._begin(waiting)

    def _begin(self, waiting: bool) -> None:
        """Who waits when the face opens has the focus; what comes later never takes it."""
        self._begun = True
        if waiting:
            self.desk.focus()

    def _looked_at(self) -> str | None:
        """The session that is looked at: the chosen one, or whose request is on the card."""
        if self.sessions.chosen:
            return self.sessions.chosen
        return self.desk.asked.view["session_id"] if self.desk.asked else None

    @work(group="place")
    async def _find_place(self, session_id: str) -> None:
        """Where a session stands that we did not start; what is not known then stays unknown."""
        try:
            found = await self.face.talk.get(f"/sessions/{quote(session_id, safe='')}")
        except QuarterdeckError:
            return
        if found.get("where") and session_id in self.face.model.places:
            self.face.model.places[session_id] = found["where"]
            self.face.dirty()

    @work(group="look")
    async def _look_into(self, asked: Asked) -> None:
        """Fetch what a good decision needs beside the input, once for each card."""
        if asked.looked_into:
            return
        asked.looked_into = True
        try:
            if asked.view["truncated"] is None:
                asked.take_whole(await self.face.talk.request(asked.request_id))
        except QuarterdeckError:
            asked.looked_into = False
        self.face.dirty()

    @work(group="look")
    async def _look_after(self, asked: Asked) -> None:
        """How a request ended while nobody could tell us."""
        try:
            found = await self.face.talk.request(asked.request_id)
        except QuarterdeckError:
            return
        if found["status"] != "pending":
            self.face.model.learned(found, time.monotonic())
            self.face.dirty()

    async def on_desk_wants(self, message: Desk.Wants) -> None:
        self.decide(message.verb, message.asked, message.words)

    @work(group="decide")
    async def decide(self, verb: str, asked: Asked, words: str = "") -> None:
        """Decide about this request, and no other."""
        await self.face.deciding.run(verb, asked, words)

    @work(group="expand", exclusive=True)
    async def on_desk_expand(self, message: Desk.Expand) -> None:
        """Fetch and fold the whole card aside, however large it is, then show it."""
        asked, desk = message.asked, self.desk
        if asked.view["truncated"] is not None and asked.whole is None:
            try:
                asked.take_whole(await self.face.talk.request(asked.request_id))
            except QuarterdeckError as error:
                self.face.say(f"Not all of it could be had: {error}", "error")
                return
        if asked.shown["truncated"] is not None:
            return
        width = desk.whole_width
        session, name = self.face.model.session_of(asked.view), self.face.model.name_of(asked.view["session_id"])
        rows = await aside(lambda: _whole_rows(asked, session, name, width, self.face.clock()))
        desk.show_whole(asked, rows, width)
        self.face.take_back(desk.refused)
        desk.focus()

    def on_desk_seen(self) -> None:
        self.face.take_back(self.desk.refused)

    def on_sessions_chosen(self, message: Sessions.Chosen) -> None:
        self.show_session(message.session_id)

    def show_session(self, session_id: str | None) -> None:
        """The feed of a session, or of all; and its request, if it has one."""
        model = self.face.model
        self.sessions.chosen = session_id
        self.sessions.refresh()
        self.feed.follow(session_id)
        self.feed.entitle()
        asked = next((one for one in model.pending if one.view["session_id"] == session_id), None)
        if asked is not None:
            self.turn_to(asked)
        self.face.dirty()

    def on_feed_view_found(self, message: FeedPane.Found) -> None:
        if message.words:
            self.face.say(message.words, "warning")

    def turn_to(self, asked: Asked) -> None:
        """Put this card on the desk."""
        self.desk.turn_to(asked)
        self._look_into(asked)
        self.face.dirty()

    def action_turn(self, step: int) -> None:
        pending = self.face.model.pending
        if pending:
            places = [place for place, one in enumerate(pending) if one is self.desk.asked]
            self.turn_to(pending[(places[0] + step) % len(pending)] if places else pending[0])

    def action_next_request(self) -> None:
        """To the desk; when it has the focus already, to the next that waits."""
        go_on(self)

    def action_batch(self) -> None:
        self.desk.someone_types()
        self.decide_many()

    @work(group="decide")
    async def decide_many(self) -> None:
        """Several requests, each by its name."""
        await self.face.deciding.batch()

    def action_toggle_ended(self) -> None:
        self.ended = not self.ended
        self.face.dirty()

    def action_order(self, begin: str) -> None:
        self.desk.someone_types()
        self.query_one(CommandLine).open(begin, self.desk.aim)

    def action_help(self) -> None:
        self.desk.someone_types()
        self.face.open_page("help")

    def action_back(self) -> None:
        if self.feed.stop():
            return
        if self.desk.expanded:
            self.desk.action_expand()
        elif self.sessions.chosen is not None:
            self.show_session(None)

    def action_clear(self) -> None:
        self.face.perform("clear", "")

    def action_reset(self) -> None:
        self.face.perform("reset", "")

    def action_install(self) -> None:
        self.face.perform("install", "")

    def action_demo(self) -> None:
        self.face.perform("demo", "")

    @property
    def steered(self) -> dict[str, Any] | None:
        """The session that an order is about: under the cursor, or whose card has the focus, or whose feed is shown."""
        focused = self.focused.before if isinstance(self.focused, CommandLine) else self.focused
        if isinstance(focused, Sessions) and self.sessions.pointed is not None:
            return self.face.model.placed(self.sessions.pointed)
        carded = self.desk.asked if isinstance(focused, Desk) else None
        found = self.face.model.sessions.get(carded.view["session_id"] if carded else self.sessions.chosen or "")
        return self.face.model.placed(found) if found else None

    def look_at(self, session_id: str) -> None:
        """The feed of a session, and the cursor on it."""
        self.show_session(session_id)
        self.tell()
        self.sessions.point_at(session_id)
        self.sessions.focus()

    def action_steer(self, verb: str) -> None:
        self.desk.someone_types()
        self.steer(verb, self.steered)

    def action_start(self) -> None:
        self.desk.someone_types()
        self.begin_session()

    @work(group="steer")
    async def steer(self, verb: str, session: dict[str, Any] | None, words: str = "") -> None:
        """Order this of a session, and of no other."""
        await self.face.steering.run(verb, session, words)

    @work(group="steer")
    async def begin_session(self) -> None:
        """Start a session, in the project that is looked at unless another is chosen."""
        session = self.steered
        await self.face.steering.start(session["cwd"] if session else "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("install", "demo"):
            return self.query_one(Welcome).has_class("-shown")
        if action == "order":
            return not isinstance(self.focused, Input)
        if action == "next_request":
            return not isinstance(self.focused, Input) and bool(self.face.model.pending or self.face.model.standing)
        if action == "steer":
            return parameters[0] in orders_for(self.steered)
        if action == "batch":
            return len(self.face.model.pending) > 1
        return True

    def action_copy(self) -> None:
        self.face.copy(self._copied())

    def _copied(self) -> str:
        """What has the focus, as text: the exact input, the feed's event, or how to resume a session."""
        if isinstance(self.focused, Desk) and self.desk.asked is not None:
            tool_input = self.desk.asked.shown["tool_input"]
            command = tool_input.get("command")
            return command if isinstance(command, str) else self.desk.text
        if isinstance(self.focused, Sessions):
            pointed = self.sessions.pointed or {}
            return str((pointed.get("resume") or {}).get("command", ""))
        return self.feed.copy_text()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        line = self.query_one(CommandLine)
        line.close()
        self.face.order(event.value, line.aim)


def _whole_rows(asked: Asked, session: dict[str, Any] | None, name: Name, width: int, now: float) -> list[Row]:
    shown = asked.shown
    parts = [*card.head(shown, session, now, name), *card.body(shown), *card.tail(shown, asked.why)]
    return list(fold(parts, width))
