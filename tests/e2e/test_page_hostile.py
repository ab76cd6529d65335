"""The page in a real Chromium: hostile text, odd forms and floods are shown in words, and blank nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect

from tests.support.daemon import Daemon, Json, permission, prompt, until
from tests.support.page import SESSION, asking, card, decided, signed_in

pytestmark = pytest.mark.e2e
expect.set_options(timeout=60_000)
HOSTILE = "a\u202eb\u200bc<img src=x onerror=alert(1)>\x1b[31m\x00\u2066__proto__"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("page") / "home") as running:
        running.hook(prompt("set the sails", SESSION))
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 1200})
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def page(daemon: Daemon, context: BrowserContext) -> Iterator[Page]:
    with signed_in(daemon, context) as page:
        yield page


def questions(*content: Any) -> Json:
    return {"tool_name": "AskUserQuestion", "tool_input": {"questions": list(content)}}


def question(text: Any, *labels: Any, **more: Any) -> Json:
    options = [{"label": label, "description": HOSTILE} for label in labels]
    return {"question": text, "header": HOSTILE, "multiSelect": False, "options": options, **more}


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString"])
def test_a_question_may_have_the_name_of_anything(daemon: Daemon, page: Page, name: str) -> None:
    with asking(daemon, **questions(question(name, "yes", "no"))) as held:
        card(page).get_by_label("yes").check()
        page.get_by_role("button", name="Send the answer").click()
        assert decided(held)["updatedInput"]["answers"] == {name: "yes"}


ODD_QUESTIONS: list[Any] = [
    question("one", options=None),
    question("two", options="yes"),
    question("three", options=[None, 1, "x", ["y"], {"label": None}]),
    question(7, "yes"),
    question(None, "yes"),
    question({"a": 1}, "yes"),
    None,
    "what?",
    8,
]


@pytest.mark.parametrize("odd", ODD_QUESTIONS, ids=lambda odd: json.dumps(odd)[:40])
def test_an_odd_question_is_shown_and_can_be_denied(daemon: Daemon, page: Page, odd: Any) -> None:
    with asking(daemon, **questions(odd)) as held:
        card(page).get_by_role("button", name="Deny…").click()
        page.get_by_role("button", name="Deny", exact=True).click()
        assert decided(held)["behavior"] == "deny"


FIELDS: Json = {
    "__proto__": {"type": "string", "title": HOSTILE},
    "constructor": {"type": "string"},
    "count": {"type": "integer", "default": 3},
    "on": {"type": "boolean", "default": True},
    "color": {"type": "string", "enum": ["red", "blue"], "enumNames": None, "default": "blue"},
    "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "default": ["y"]},
}


def form(schema: Any) -> Json:
    return {
        "hook_event_name": "Elicitation",
        "session_id": SESSION,
        "cwd": "/w",
        "mcp_server_name": HOSTILE,
        "message": HOSTILE,
        "mode": "form",
        "requested_schema": schema,
    }


def test_a_form_sends_what_it_shows(daemon: Daemon, page: Page) -> None:
    with asking(daemon, **form({"type": "object", "properties": FIELDS, "required": ["count"]})) as held:
        expect(card(page).get_by_label("constructor")).to_have_value("")
        expect(page.get_by_label("color")).to_have_value("blue")
        expect(page.get_by_label("y", exact=True)).to_be_checked()
        page.get_by_role("button", name="Send the answer").click()
        status, body = held.answer()
    assert status == 200
    content = json.loads(body)["hookSpecificOutput"]["content"]
    assert content == {"count": 3, "on": True, "color": "blue", "tags": ["y"]}


ODD_SCHEMAS: list[Any] = [
    None,
    "form",
    {"properties": None},
    {"properties": "abc", "required": 7},
    {"properties": [1, None]},
    {"properties": {"a": None, "b": 3, "c": "x"}, "required": {"a": 1}},
    {"properties": {"a": {"type": ["string"], "enum": [None, {}, 1], "enumNames": {"0": "x"}}}},
    {"properties": {"a": {"type": "array", "items": {"enum": "xy"}, "default": "x"}}},
    {"properties": {"a": {"type": "array", "items": {"anyOf": [None, {"const": 1}]}}}},
]


@pytest.mark.parametrize("schema", ODD_SCHEMAS, ids=lambda schema: json.dumps(schema)[:50])
def test_an_odd_form_is_shown_and_can_be_denied(daemon: Daemon, page: Page, schema: Any) -> None:
    with asking(daemon, **form(schema)) as held:
        card(page).get_by_role("button", name="Deny…").click()
        page.get_by_role("button", name="Deny", exact=True).click()
        assert held.answer()[0] == 200


def test_hostile_text_is_spelled_out_everywhere(daemon: Daemon, page: Page) -> None:
    with asking(daemon, cwd=f"/w/{HOSTILE}", tool_name=f"mcp__x__{HOSTILE}", tool_input={HOSTILE: HOSTILE}):
        expect(card(page).locator(".unseen").first).to_be_visible()
        page.goto(f"{daemon.url}/#/session/{SESSION}")
        expect(page.locator(".feed")).to_be_visible()
        shown = page.evaluate("document.body.innerText + document.querySelector('.card').ariaLabel")
        assert [char for char in "\u202e\u200b\u2066\x1b\x00" if char in shown] == []
        assert page.locator("img[src=x]").count() == 0


def test_a_link_that_was_cut_off_opens_the_page(daemon: Daemon, context: BrowserContext) -> None:
    with signed_in(daemon, context, complains=True) as page:  # of a session that is not there
        page.goto(f"{daemon.url}/#/session/%E0%A4")
        page.reload()
        expect(page.locator("#desk")).to_be_visible()


def test_a_view_that_fails_says_so_and_the_rest_works(daemon: Daemon, context: BrowserContext) -> None:
    def relay(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def odd(message: str | bytes) -> None:
            assert isinstance(message, str)
            socket.send(message.replace('"reasons":', '"no_reasons":') if "ls broken" in message else message)

        server.on_message(odd)

    context.route_web_socket("**/ws", relay)
    context.route("**/api/v1/requests/*", lambda route: route.abort())
    with signed_in(daemon, context, complains=True) as page, asking(daemon, "ls broken"):
        expect(page.locator(".broken")).to_contain_text("This request cannot be shown here")
        expect(page.locator("#sessions")).to_contain_text("set the sails")
        expect(page.get_by_role("button", name="Start a session")).to_be_visible()


def test_of_a_thousand_requests_only_those_on_screen_are_read_whole(daemon: Daemon, page: Page) -> None:
    held = [daemon.hold(permission(f"ls {n}", SESSION)) for n in range(1000)]
    daemon.until_pending(1000)
    page.reload()
    expect(page.locator("#desk h1")).to_have_text("Desk 1000")
    expect(page.locator(".card")).to_have_count(20)
    expect(page.locator(".card").first.get_by_role("button", name="Allow", exact=True)).to_be_enabled()
    read = page.evaluate(
        "performance.getEntriesByType('resource').filter((one) => one.name.includes('/requests/')).length"
    )
    assert 1 <= read <= 50
    for one in held:
        one.close()
    until(lambda: not daemon.pending())


def test_a_daemon_of_another_version_asks_for_a_reload(daemon: Daemon, context: BrowserContext) -> None:
    sockets: list[WebSocketRoute] = []

    def relay(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()
        version = f'"daemon_version":"{len(sockets)}.'
        server.on_message(lambda message: socket.send(str(message).replace('"daemon_version":"', version)))

    context.route_web_socket("**/ws", relay)
    with signed_in(daemon, context) as page:
        expect(page.locator(".banner")).to_have_count(0)
        sockets[-1].close(code=4408)
        expect(page.locator(".banner")).to_contain_text("Reload the page")


def test_a_daemon_of_another_protocol_asks_for_a_reload(daemon: Daemon, context: BrowserContext) -> None:
    context.route_web_socket("**/ws", lambda socket: socket.close(code=4406, reason="another protocol"))
    with signed_in(daemon, context) as page:
        expect(page.locator(".banner")).to_contain_text("Reload the page")
