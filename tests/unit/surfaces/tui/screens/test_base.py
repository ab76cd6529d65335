"""The other screens with a recorded daemon: nothing is cut off, keys fit the content, screens lead to each other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from quarterdeck.core.model.events import OWN
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.client.live import Connected, LiveMessage
from quarterdeck.surfaces.terminal.lines.audit_lines import audit_rows
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.keys.help_screen import HelpPage
from quarterdeck.surfaces.tui.keys.key_reference import PLACES
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.screens.audit import AuditPage
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.screens.health import HealthPage
from quarterdeck.surfaces.tui.screens.rules import RulesPage
from quarterdeck.surfaces.tui.widgets.table import table_rows
from quarterdeck.surfaces.tui.widgets.text_view import TextView
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import (
    NOW,
    Json,
    RecordedClient,
    RecordedDaemon,
    connected,
    event,
    live_message,
    project_list,
    request,
    resolved,
    session,
    snapshot,
)

TOKENS = {"input_tokens": 1000, "output_tokens": 1000, "cache_read_tokens": 1000, "cache_write_tokens": 1000}
ANSWERS: dict[str, Json] = {
    "/sessions": {"sessions": [], "next": None},
    "/rules": {"rules": [], "findings": []},
    "/rules/suggestions": {"suggestions": [], "seen": 3},
    "/projects": project_list(),
}


@asynccontextmanager
async def recorded(
    size: tuple[int, int] = (60, 20), answers: dict[str, Json] | None = None, **snapshot_parts: list[Json]
) -> AsyncGenerator[TuiPilot]:
    daemon = RecordedDaemon([connected(), snapshot(**snapshot_parts)], ANSWERS | (answers or {}))
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.link == "live", "a connection")
        yield tui


@pytest.mark.parametrize("size", [(60, 20), (100, 30)], ids=str)
async def test_no_text_is_hidden_behind_the_scroll_bar_of_a_long_page(size: tuple[int, int]) -> None:
    async with recorded(size) as tui:
        await tui.press("question_mark")
        await tui.until(
            lambda: isinstance(tui.app.screen, HelpPage) and tui.app.screen.query_one(".page", TextView).rows
        )
        view = tui.app.screen.query_one(".page", TextView)
        await tui.until(lambda: view.show_vertical_scrollbar, "a bar")
        room = view.scrollable_content_region.width
        await tui.until(lambda: max(map(cell_len, view.text.splitlines())) <= room, "room")


async def test_a_page_replaces_another_page_but_never_an_open_dialog() -> None:
    async with recorded() as tui:
        tui.app.perform_command("health", "")
        await tui.shows_screen(HealthPage)
        tui.app.perform_command("rules", "")
        await tui.shows_screen(RulesPage)
        await tui.press("escape")
        await tui.shows_screen(MainScreen)
        await tui.press("s")
        await tui.shows_screen(StartDialog)
        tui.app.perform_command("rules", "")
        await tui.shows_message("esc closes this first")
        assert isinstance(tui.app.screen, StartDialog)


async def test_without_rules_only_keys_that_do_something_are_shown() -> None:
    async with recorded((100, 30)) as tui:
        tui.app.perform_command("rules", "")
        await tui.sees("None yet")
        foot = tui.text.splitlines()[-1]
        assert "remove" not in foot
        assert "simulate" not in foot
        assert "suggested" in foot
        await tui.press("o")
        await tui.sees("imply no rule yet")
        assert "Enter makes one" not in tui.text


async def test_without_projects_all_of_the_hint_shows_on_a_small_screen() -> None:
    async with recorded() as tui:
        await tui.press("s")
        await tui.sees("projects.roots")
        await tui.sees("or ~/")


async def test_a_deciding_key_away_from_the_card_says_where_it_acts() -> None:
    async with recorded(requests=[request()], sessions=[session()]) as tui:
        await tui.card("git push")
        tui.main_screen.feed.focus()
        await tui.until(lambda: tui.main_screen.feed.has_focus, "the feed")
        await tui.press("d")
        await tui.shows_message("d acts on the card: n goes there")
        assert isinstance(tui.app.screen, MainScreen)


class GrowingClient(RecordedClient):
    """A client whose log has grown each time it is read."""

    events = [event(n, "user.prompt", f"prompt {n}", prompt=f"prompt {n}") for n in range(1, 31)]
    known = 10

    def get(self, path: str, /, **query: Any) -> Json:
        found = [one for one in self.events[: self.known] if one["seq_no"] < query.get("before", 0)]
        GrowingClient.known = 20
        return {"events": found, "next": None}


class GrowingDaemon(RecordedDaemon):
    def client(self, seconds: float = 1.0) -> Client:
        return GrowingClient("", "")


async def test_events_between_the_first_read_and_the_stream_are_in_the_feed() -> None:
    later = [LiveMessage("event", {"event": one}) for one in GrowingClient.events[20:]]
    daemon = GrowingDaemon([Connected(20, "otter-1", "", True), snapshot(), *later], ANSWERS)
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=(100, 60)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("prompt 30")
        await tui.until(lambda: all(f"prompt {n}" in tui.text for n in range(1, 31)), "all of it")


class ManySessions(RecordedDaemon):
    """A daemon whose list of sessions has several pages."""

    past = [session(f"p{n}", "ended", ended_at=NOW - 9, usage={"cost_usd": 0.01} | TOKENS) for n in range(500)]

    async def get(self, path: str, /, **query: Any) -> Json:
        if path != "/sessions":
            return await super().get(path, **query)
        after = int(query["after"] or 0)
        upto = after + query["limit"]
        return {"sessions": self.past[after:upto], "next": str(upto) if upto < len(self.past) else None}


async def test_the_totals_at_the_top_count_every_ended_session() -> None:
    app = QuarterdeckApp(Path("/nowhere"), daemon=ManySessions([connected(), snapshot()], ANSWERS), clock=lambda: NOW)
    async with app.run_test(size=(130, 30)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("1,500 tools")
        assert all(words in tui.text for words in ("500 failed", "2.0M tokens", "$5.00"))


async def test_events_of_quarterdeck_itself_show_its_full_name() -> None:
    async with recorded() as tui:
        assert tui.main_screen.feed.label_of(OWN) == OWN


def test_the_subject_of_an_audit_entry_shows_on_a_small_screen() -> None:
    about = {"key": "decide.hold", "was": None, "is": "always"}
    change = {"seq_no": 1, "at": NOW, "who": "system", "surface": None, "source": "system", "kind": "setting.change"}
    decision = {"decision_type": "deny", "tool_name": "WebFetch"}
    denied = {"seq_no": 2, "at": NOW, "who": "owner", "surface": "tui", "source": "user", "kind": "permission.decision"}
    rows = [change | {"what": about, "session_id": OWN}, denied | {"what": decision, "session_id": "s1"}]
    shown = list(table_rows(AuditPage.columns, [cells for _, cells in audit_rows(rows)]))
    _, first, second = ("".join(span.text for span in row)[:58] for row in shown)
    assert all(words in first for words in ("set", "decide.hold", "system"))
    assert all(words in second for words in ("denied", "WebFetch", "owner via tui"))


def test_every_key_description_begins_in_lower_case() -> None:
    for place, bindings in PLACES:
        for binding in bindings:
            words = getattr(binding, "description", "")
            assert words[:1] == words[:1].lower(), f"{place}: {words}"


RULE: Json = {"rule_id": "r1", "effect": "deny", "pattern": "Bash(git push --force:*)", "scope": "user", "hits": 2}
RULE |= {"expires_at": None, "last_hit_at": NOW - 60, "created_by": "owner via tui", "note": "never, not even once"}
RULE |= {"scope_id": None, "scope_path": None}


async def test_a_rule_opens_with_all_its_fields_in_a_box_of_its_size() -> None:
    async with recorded(answers={"/rules": {"rules": [RULE], "findings": []}}) as tui:
        tui.app.perform_command("rules", "")
        await tui.sees("Bash(git push")
        assert "never, not even once" not in tui.text
        _, heading, row = tui.text.splitlines()[1:4]
        assert row.endswith("…")
        assert heading.endswith("…")
        await tui.press("enter")
        await tui.sees("note: never, not even once")
        page = tui.app.screen
        assert isinstance(page, RulesPage)
        await tui.until(lambda: page.detail.size.height == len(page.detail.rows), "a box of its size")
        await tui.press("escape")
        await tui.until(lambda: not page.detail.display, "no box")


async def test_a_row_with_a_blank_end_has_no_ellipsis() -> None:
    rules = {"rules": [RULE | {"note": None, "created_by": ""}, RULE | {"rule_id": "r2"}], "findings": []}
    async with recorded((100, 20), answers={"/rules": rules}) as tui:
        tui.app.perform_command("rules", "")
        await tui.sees("Bash(git push")
        without, with_note = tui.text.splitlines()[3:5]
        assert with_note.endswith("…")
        assert not without.endswith("…")


async def test_an_audit_entry_opens_with_the_request_that_was_decided() -> None:
    row: Json = {"seq_no": 1, "at": NOW, "who": "owner", "surface": "tui", "source": "user", "session_id": "s1"}
    row |= {"kind": "permission.decision", "digest": "d", "hash": "c0ffee", "about": "make deploy"}
    row |= {"what": {"decision_type": "deny", "request_id": "q1"}}
    decided = resolved(
        request("q1", "make deploy\nmake party"), word="deny", by="owner via tui", message="not on a Friday"
    )
    answers = {"/audit": {"audit": [row], "next": None}, "/requests/q1": decided}
    async with recorded((100, 40), answers=answers) as tui:
        tui.app.perform_command("audit", "")
        await tui.sees("make deploy")
        await tui.press("enter")
        await tui.sees("make party")
        for words in ("→ Denied by owner from tui", "message: not on a Friday", "hash in the chain: c0ffee"):
            assert words in tui.text


class EndlessLog(RecordedDaemon):
    """A daemon with so many past requests that trying a rule on them does not end."""

    async def post(self, path: str, body: Json) -> Json:
        await asyncio.sleep(0.01)
        return {"seen": 10, "decided": 1, "left": 990, "next": 5, "surprises": [], "examples": []}


async def test_x_stops_trying_a_rule_while_nothing_is_open_below_the_rules() -> None:
    daemon = EndlessLog([connected(), snapshot()], ANSWERS | {"/rules": {"rules": [RULE], "findings": []}})
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=(100, 30)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.link == "live", "a connection")
        app.perform_command("rules", "")
        await tui.sees("Bash(git push")
        await tui.press("s")
        await tui.sees("x stops")
        await tui.press("x")
        await tui.sees("Rules  1")


async def test_many_at_once_opens_only_when_something_waits() -> None:
    async with recorded() as tui:
        await tui.runs_command("many")
        await tui.shows_message("No requests are waiting")
        assert isinstance(tui.app.screen, MainScreen)


@pytest.mark.parametrize("name", ["help", "rules", "audit", "about"])
async def test_a_request_that_comes_while_another_screen_is_open_is_seen_in_its_header(name: str) -> None:
    async with recorded((100, 30), sessions=[session()]) as tui:
        tui.app.open_page(name)
        await tui.until(lambda: isinstance(tui.app.screen, PageScreen), "the screen")
        await tui.sees("none waiting")
        tui.app.model.receive(live_message("request", request()), time.monotonic())
        tui.app.redraw_soon()
        await tui.sees("1 needs you")
        assert isinstance(tui.app.screen, PageScreen)
