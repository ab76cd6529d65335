"""The key deck of a real daemon: the topic `render`, presses, dispatch, the file, and what each token may do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.access import make_token
from tests.support.daemon import Daemon, permission, prompt
from tests.support.deck_socket import connected_deck, connected_editor, hook
from tests.support.raw_http import JSON, send

pytestmark = pytest.mark.timeout(180)

DECK = """
pages:
  - name: One
    slots:
      - prompt: tests
      - prompt: review
      - decision: allow
      - decision: deny
      - decision: next
      - decision: always
      - decision: interrupt
      - ~
      - ~
  - name: Two
    slots: [{prompt: tests}, ~, ~, ~, ~, ~, ~, ~, ~]
prompts:
  tests: {label: Run tests, claude_command: /test}
  review: {label: Review, fallback_text: Review it., style: prefill}
"""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "deck.yaml").write_text(DECK)
    with Daemon(home, env={"QUARTERDECK_DECIDE_HOLD": "always"}) as running:
        yield running
        assert "Traceback" not in running.stderr()


async def test_the_model_comes_at_once_and_then_only_when_it_changes(daemon: Daemon) -> None:
    async with connected_deck(daemon) as deck:
        assert (deck.model["agent_state"], deck.model["hooks_mode"], deck.model["page_count"]) == (
            "unknown",
            "absent",
            2,
        )
        assert len(deck.model["keypad"]["slots"]) == 9
        await hook(daemon, prompt("go"))
        await deck.shows(lambda model: model["agent_state"] == "running")
        await hook(daemon, prompt("go on"))  # changes nothing that a deck shows
        await deck.command("page_nav", direction="next")
        assert (await deck.shows(lambda model: model["page_index"] == 1))["agent_state"] == "running"
        status, shown = daemon.api("GET", "/deck")
        assert (status, shown) == (200, deck.model)


@pytest.mark.law("D4")
async def test_a_key_decides_what_it_showed_and_the_agent_gets_it(daemon: Daemon) -> None:
    async with connected_deck(daemon) as deck:
        waiting = asyncio.create_task(hook(daemon, permission("ls -l")))
        await deck.shows(lambda model: model["waiting_count"] == 1)
        shown = deck.model["request"]
        assert (shown["detail"], shown["title"]) == ("ls -l", "ls -l")
        answer = await deck.press("allow")
        assert answer["ok"], answer
        assert (answer["result"]["request_id"], answer["result"]["decision"]["decision"]) == (
            shown["request_id"],
            "allow",
        )
        _, body = await waiting
        assert json.loads(body)["hookSpecificOutput"]["decision"]["behavior"] == "allow"
        await deck.shows(lambda model: model["waiting_count"] == 0)


async def test_a_press_for_a_key_that_has_changed_is_refused_and_shown_again(daemon: Daemon) -> None:
    async with connected_deck(daemon) as deck:
        old = deck.key("allow")
        waiting = asyncio.create_task(hook(daemon, permission("rm -r build")))
        await deck.shows(lambda model: model["waiting_count"] == 1)
        answer = await deck.press("allow", revision=old["revision"])
        assert (answer["ok"], answer["error"]["kind"]) == (False, "stale_key")
        again = await deck.read_model()
        assert again["waiting_count"] == 1
        assert (await deck.press("deny"))["ok"]
        await waiting


async def test_two_decks_that_press_at_once_decide_once(daemon: Daemon) -> None:
    async with connected_deck(daemon) as one, connected_deck(daemon) as two:
        waiting = asyncio.create_task(hook(daemon, permission("ls")))
        for deck in (one, two):
            await deck.shows(lambda model: model["waiting_count"] == 1)
        answers = await asyncio.gather(one.press("allow"), two.press("deny"))
        assert sorted(answer["ok"] for answer in answers) == [False, True]
        await waiting


async def test_a_high_risk_takes_a_held_key(daemon: Daemon) -> None:
    async with connected_deck(daemon) as deck:
        waiting = asyncio.create_task(hook(daemon, permission("git push --force origin main")))
        await deck.shows(lambda model: model["waiting_count"] == 1 and model["request"]["risk"] == "high")
        refused = await deck.press("allow")
        assert refused["error"]["kind"] == "hold_to_confirm"
        assert (await deck.press("allow", held=True))["ok"]
        await waiting


async def test_a_text_reaches_the_terminal_of_an_editor_and_counts_once_it_is_acknowledged(daemon: Daemon) -> None:
    async with connected_deck(daemon) as deck, connected_editor(daemon) as editor:
        await hook(daemon, {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "/w", "source": "startup"})
        await editor.reports({"pid": 999_999, "tag": "t1", "name": "zsh", "active": True})
        assert (await deck.command("dialpad_button_press", button="enter"))["error"]["kind"] == "not_possible"
        await _tag(daemon, "s1", "t1")
        assert (await deck.press("tests"))["ok"]
        await deck.shows(lambda model: model["buttons"]["enter"]["enabled"])
        assert (await deck.command("dialpad_button_press", button="enter"))["ok"]
        command = await editor.acknowledges()
        assert (command["kind"], command["payload"]) == (
            "send_text",
            {"text": "/test", "newline": True, "pid": 999_999, "tag": "t1"},
        )
        await deck.shows(lambda model: (model["dispatch"] or {}).get("outcome") == "delivered" and not model["armed"])
        await deck.press("tests")
        await deck.command("dialpad_button_press", button="enter")
        await editor.acknowledges(ok=False, error="the terminal has closed")
        await deck.shows(lambda model: model["dispatch"]["outcome"] == "undelivered")
        assert deck.model["dispatch"]["reason"] == "the editor refused: the terminal has closed"
        armed = deck.model["armed"]
        assert armed is not None
        assert armed["prompt_id"] == "tests"


async def _tag(daemon: Daemon, session_id: str, tag: str) -> None:
    """A hook that came from a terminal with this tag."""
    payload = {"hook_event_name": "Notification", "session_id": session_id, "cwd": "/w", "message": "", "title": ""}
    headers = [("Authorization", f"Bearer {daemon.hook_token}"), ("X-Quarterdeck-Tag", tag), JSON]
    body = json.dumps({**payload, "notification_type": "idle_prompt"}).encode()
    answer = await asyncio.to_thread(send, daemon.port, "POST", "/hook", headers, body)
    assert answer.status in (200, 204)


async def test_the_terminals_of_an_editor_that_has_gone_are_forgotten(daemon: Daemon) -> None:
    async with connected_deck(daemon) as deck:
        async with connected_editor(daemon) as editor:
            await editor.reports({"pid": 5, "name": "zsh", "active": True})
            await deck.shows(lambda model: model["selected"] is not None)
        await deck.shows(lambda model: model["selected"] is None)


async def test_a_terminal_needs_a_process_or_a_tag(daemon: Daemon) -> None:
    async with connected_deck(daemon) as deck:
        answer = await deck.command("terminals_snapshot", terminals=[{"name": "zsh", "index": 0}])
        assert (answer["error"]["kind"], answer["error"]["field"]) == ("invalid", "terminals[0]")


@pytest.mark.law("A9")
async def test_a_deck_sends_the_texts_of_the_file_and_a_phone_does_not(daemon: Daemon) -> None:
    made = daemon.api("POST", "/pairing-codes", {"purpose": "deck"})[1]
    paired = send(daemon.port, "POST", "/api/v1/pair", [JSON], json.dumps({"code": made["code"]}).encode()).json
    phone = make_token(daemon, "observe", "approve")["token"]
    looks = make_token(daemon, "observe")["token"]
    async with connected_deck(daemon, paired["token"]) as deck:
        assert (await deck.press("tests"))["ok"]
        refused = await deck.command("send_message", session_id="s1", prompt="rm -rf /")
        assert refused["error"]["kind"] == "forbidden"
        refused = await deck.command("terminals_snapshot", terminals=[])
        assert refused["error"]["kind"] == "forbidden"
    async with connected_deck(daemon, phone) as deck:
        assert (await deck.press("review"))["error"]["kind"] == "forbidden"
        assert (await deck.command("dialpad_button_press", button="enter"))["error"]["kind"] == "forbidden"
        assert (await deck.press("interrupt"))["ok"] is False
        waiting = asyncio.create_task(hook(daemon, permission("ls")))
        await deck.shows(lambda model: model["waiting_count"] == 1)
        assert (await deck.press("deny"))["ok"]
        await waiting
    async with connected_deck(daemon, looks) as deck:
        assert (await deck.command("page_nav", direction="next"))["error"]["kind"] == "forbidden"


async def test_the_file_is_read_again_and_a_mistake_keeps_the_last_good_one(daemon: Daemon) -> None:
    path = daemon.home / "deck.yaml"
    async with connected_deck(daemon) as deck:
        path.write_text(DECK.replace("label: Run tests", "label: Test it"))
        await deck.shows(lambda model: model["keypad"]["slots"][0]["label"] == "Test it")
        path.write_text("pages:\n  - slots: [~]\n")
        await deck.shows(lambda model: "must have 9 keys, has 1" in model["problem"])
        assert deck.model["problem"].startswith(f"{path}:2: pages[0].slots")
        assert deck.model["keypad"]["slots"][0]["label"] == "Test it"
        path.write_text(DECK)
        await deck.shows(lambda model: model["problem"] == "")


async def test_what_is_armed_survives_a_restart(daemon: Daemon) -> None:
    async with connected_deck(daemon) as deck:
        await deck.press("tests")
    daemon.stop()
    daemon.restart()
    async with connected_deck(daemon) as deck:
        assert deck.model["armed"]["prompt_id"] == "tests"


@pytest.mark.parametrize(
    ("name", "args", "field"),
    [
        ("keypad_press", {"slot": 9}, "slot"),
        ("keypad_press", {"slot": "0"}, "slot"),
        ("keypad_press", {"text": "rm"}, "text"),
        ("dialpad_button_press", {"button": "f1"}, "button"),
        ("adjustment", {"kind": "dial", "delta": 1000}, "delta"),
        ("page_nav", {"direction": "up"}, "direction"),
    ],
)
async def test_wrong_arguments_are_named(daemon: Daemon, name: str, args: dict[str, object], field: str) -> None:
    async with connected_deck(daemon) as deck:
        answer = await deck.command(name, **args)
        assert (answer["error"]["kind"], answer["error"]["field"]) == ("invalid", field)
