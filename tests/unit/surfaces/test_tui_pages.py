"""The other screens without a daemon: nothing is cut off, the keys fit what is there, and one leads to another."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from quarterdeck.core.model.events import OWN
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.client.live import Connected, Message
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.help_screen import HelpPage
from quarterdeck.surfaces.tui.key_tables import PLACES
from quarterdeck.surfaces.tui.main_screen import Bridge
from quarterdeck.surfaces.tui.screens.audit import AuditPage, audit_rows
from quarterdeck.surfaces.tui.screens.health import HealthPage
from quarterdeck.surfaces.tui.screens.rules import RulesPage
from quarterdeck.surfaces.tui.screens.workspace.plugins import plugin_rows
from quarterdeck.surfaces.tui.widgets.table import laid_out
from quarterdeck.surfaces.tui.widgets.text_view import Wall
from tests.support.pilot import Face
from tests.support.tui import (
    NOW,
    Json,
    RecordedClient,
    RecordedTalk,
    connected,
    event,
    over,
    projects,
    request,
    session,
    snapshot,
)

TOKENS = {"input_tokens": 1000, "output_tokens": 1000, "cache_read_tokens": 1000, "cache_write_tokens": 1000}
ANSWERS: dict[str, Json] = {
    "/sessions": {"sessions": [], "next": None},
    "/rules": {"rules": [], "findings": []},
    "/rules/suggestions": {"suggestions": [], "seen": 3},
    "/projects": projects(),
}


@asynccontextmanager
async def recorded(
    size: tuple[int, int] = (60, 20), answers: dict[str, Json] | None = None, **told: list[Json]
) -> AsyncGenerator[Face]:
    talk = RecordedTalk([connected(), snapshot(**told)], ANSWERS | (answers or {}))
    app = QuarterdeckApp(Path("/nowhere"), talk=talk, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: app.model.link == "live", "a connection")
        yield face


@pytest.mark.parametrize("size", [(60, 20), (100, 30)], ids=str)
async def test_no_letter_hides_behind_the_bar_of_a_long_page(size: tuple[int, int]) -> None:
    async with recorded(size) as face:
        await face.press("question_mark")
        await face.until(
            lambda: isinstance(face.app.screen, HelpPage) and face.app.screen.query_one("#help", Wall).rows
        )
        wall = face.app.screen.query_one("#help", Wall)
        await face.until(lambda: wall.show_vertical_scrollbar, "a bar")
        room = wall.scrollable_content_region.width
        await face.until(lambda: max(map(cell_len, wall.text.splitlines())) <= room, "room")


async def test_one_page_leads_to_another_and_a_dialog_is_closed_first() -> None:
    async with recorded() as face:
        face.app.perform("health", "")
        await face.until(lambda: isinstance(face.app.screen, HealthPage), "health")
        face.app.perform("rules", "")
        await face.until(lambda: isinstance(face.app.screen, RulesPage), "rules")
        await face.press("escape")
        await face.until(lambda: isinstance(face.app.screen, Bridge), "the bridge")
        await face.press("s")
        await face.until(lambda: isinstance(face.app.screen, StartDialog), "a dialog")
        face.app.perform("rules", "")
        await face.hears("esc closes this first")
        assert isinstance(face.app.screen, StartDialog)


async def test_without_rules_only_keys_that_do_something_are_shown() -> None:
    async with recorded((100, 30)) as face:
        face.app.perform("rules", "")
        await face.sees("None yet")
        foot = face.text.splitlines()[-1]
        assert "remove" not in foot
        assert "try on the past" not in foot
        assert "offers" in foot
        await face.press("o")
        await face.sees("imply no rule yet")
        assert "Enter makes one" not in face.text


async def test_without_projects_all_of_the_hint_shows_on_a_small_screen() -> None:
    async with recorded() as face:
        await face.press("s")
        await face.sees("projects.roots")
        await face.sees("or ~/")


async def test_a_deciding_key_away_from_the_card_says_where_it_acts() -> None:
    async with recorded(requests=[request()], sessions=[session()]) as face:
        await face.card("git push")
        face.bridge.feed.focus()
        await face.until(lambda: face.bridge.feed.has_focus, "the feed")
        await face.press("d")
        await face.hears("d acts on the card: n goes there")
        assert isinstance(face.app.screen, Bridge)


class GrowingClient(RecordedClient):
    """Whose log has grown each time it is read."""

    events = [event(n, "user.prompt", f"prompt {n}", prompt=f"prompt {n}") for n in range(1, 31)]
    known = 10

    def get(self, path: str, /, **query: Any) -> Json:
        found = [one for one in self.events[: self.known] if one["seq_no"] < query.get("before", 0)]
        GrowingClient.known = 20
        return {"events": found, "next": None}


class GrowingTalk(RecordedTalk):
    def client(self, seconds: float = 1.0) -> Client:
        return GrowingClient("", "")


async def test_what_happens_between_the_first_look_and_the_stream_is_in_the_feed() -> None:
    later = [Message("event", {"event": one}) for one in GrowingClient.events[20:]]
    talk = GrowingTalk([Connected(20, "otter-1", "", True), snapshot(), *later], ANSWERS)
    app = QuarterdeckApp(Path("/nowhere"), talk=talk, clock=lambda: NOW)
    async with app.run_test(size=(100, 60)) as pilot:
        face = Face(app, pilot)
        await face.sees("prompt 30")
        await face.until(lambda: all(f"prompt {n}" in face.text for n in range(1, 31)), "all of it")


class ManySessions(RecordedTalk):
    """A daemon whose list of sessions has several pages."""

    past = [session(f"p{n}", "ended", ended_at=NOW - 9, usage={"cost_usd": 0.01} | TOKENS) for n in range(500)]

    async def get(self, path: str, /, **query: Any) -> Json:
        if path != "/sessions":
            return await super().get(path, **query)
        after = int(query["after"] or 0)
        upto = after + query["limit"]
        return {"sessions": self.past[after:upto], "next": str(upto) if upto < len(self.past) else None}


async def test_the_figures_at_the_top_count_every_session_however_many_have_ended() -> None:
    app = QuarterdeckApp(Path("/nowhere"), talk=ManySessions([connected(), snapshot()], ANSWERS), clock=lambda: NOW)
    async with app.run_test(size=(130, 30)) as pilot:
        face = Face(app, pilot)
        await face.sees("1,500 tools")
        assert all(words in face.text for words in ("500 failed", "2.0M tokens", "$5.00"))


async def test_what_quarterdeck_itself_did_is_told_by_its_whole_name() -> None:
    async with recorded() as face:
        assert face.bridge.feed.project_of(OWN) == OWN


def test_what_a_deed_is_about_shows_on_a_small_screen() -> None:
    about = {"key": "decide.hold", "was": None, "is": "always"}
    change = {"seq_no": 1, "at": NOW, "who": "system", "surface": None, "source": "system", "kind": "setting.change"}
    decision = {"decision_type": "deny", "tool_name": "WebFetch"}
    denied = {"seq_no": 2, "at": NOW, "who": "owner", "surface": "tui", "source": "user", "kind": "permission.decision"}
    rows = [change | {"what": about, "session_id": OWN}, denied | {"what": decision, "session_id": "s1"}]
    shown = list(laid_out(AuditPage.columns, [cells for _, cells in audit_rows(rows)]))
    _, first, second = ("".join(span.text for span in row)[:58] for row in shown)
    assert all(words in first for words in ("set", "decide.hold", "system"))
    assert all(words in second for words in ("denied", "WebFetch", "owner via tui"))


def test_keys_speak_in_one_voice() -> None:
    for place, bindings in PLACES:
        for binding in bindings:
            words = getattr(binding, "description", "")
            assert words[:1] == words[:1].lower(), f"{place}: {words}"


RULE: Json = {"rule_id": "r1", "effect": "deny", "pattern": "Bash(git push --force:*)", "scope": "user", "hits": 2}
RULE |= {"expires_at": None, "last_hit_at": NOW - 60, "created_by": "owner via tui", "note": "never, whoever asks"}
RULE |= {"scope_id": None, "scope_path": None}


async def test_a_rule_opens_with_all_that_is_known_of_it_in_a_box_of_its_size() -> None:
    async with recorded(answers={"/rules": {"rules": [RULE], "findings": []}}) as face:
        face.app.perform("rules", "")
        await face.sees("Bash(git push")
        assert "never, whoever asks" not in face.text
        _, heading, row = face.text.splitlines()[:3]
        assert row.endswith("…")
        assert heading.endswith("…")
        await face.press("enter")
        await face.sees("note: never, whoever asks")
        page = face.app.screen
        assert isinstance(page, RulesPage)
        await face.until(lambda: page.detail.size.height == len(page.detail.rows), "a box of its size")
        await face.press("escape")
        await face.until(lambda: not page.detail.display, "no box")


async def test_a_row_whose_end_is_blank_does_not_say_that_it_goes_on() -> None:
    rules = {"rules": [RULE | {"note": None, "created_by": ""}, RULE | {"rule_id": "r2"}], "findings": []}
    async with recorded((100, 20), answers={"/rules": rules}) as face:
        face.app.perform("rules", "")
        await face.sees("Bash(git push")
        without, with_note = face.text.splitlines()[2:4]
        assert with_note.endswith("…")
        assert not without.endswith("…")


def test_a_deed_names_the_folder_it_is_about() -> None:
    row = {"seq_no": 1, "at": NOW, "who": "owner", "surface": None, "source": "user", "kind": "project.trust"}
    [(_, cells)] = audit_rows([row | {"what": {"path": "/home/ann/shop", "trust": "full"}, "session_id": OWN}])
    assert "/home/ann/shop" in cells


def test_a_deed_says_in_a_line_what_it_was_about() -> None:
    row = {"seq_no": 1, "at": NOW, "who": "owner", "surface": "tui", "source": "user", "kind": "permission.decision"}
    row |= {"what": {"decision_type": "allow", "tool_name": "Bash"}, "session_id": "s1", "about": "make deploy"}
    [(_, cells)] = audit_rows([row])
    assert "make deploy" in cells


async def test_a_deed_opens_with_the_request_that_it_decided() -> None:
    row: Json = {"seq_no": 1, "at": NOW, "who": "owner", "surface": "tui", "source": "user", "session_id": "s1"}
    row |= {"kind": "permission.decision", "digest": "d", "hash": "c0ffee", "about": "make deploy"}
    row |= {"what": {"decision_type": "deny", "request_id": "q1"}}
    decided = over(request("q1", "make deploy\nmake party"), word="deny", by="owner via tui", message="not on a Friday")
    answers = {"/audit": {"audit": [row], "next": None}, "/requests/q1": decided}
    async with recorded((100, 40), answers=answers) as face:
        face.app.perform("audit", "")
        await face.sees("make deploy")
        await face.press("enter")
        await face.sees("make party")
        for words in ("→ Denied by owner from tui", "message: not on a Friday", "hash in the chain: c0ffee"):
            assert words in face.text


def test_only_what_is_wrong_with_a_plugin_warns() -> None:
    plugin: Json = {"plugin_id": "a@b", "name": "a", "marketplace": "b", "version": None, "enabled": True}
    plugin |= {"scope": "project", "project": "/home/ann/shop", "capabilities": [], "errors": []}
    broken = plugin | {"errors": ["no such file"]}
    fine, wrong = (cells[-1] for _, cells in plugin_rows([plugin, broken]))
    assert fine == ("/home/ann/shop", "dim")
    assert wrong == ("! no such file", "warn")
