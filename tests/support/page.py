"""The page of a daemon, signed in, and requests that wait on its desk."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.test_browser import login_url
from tests.support.daemon import Daemon, HeldHook, Json, permission, until

SESSION = "voyage"


@contextmanager
def signed_in(
    daemon: Daemon, context: BrowserContext, *, stopped_clock: bool = False, complains: bool = False
) -> Iterator[Page]:
    """A page that had nothing to complain about, unless it should. Its own clock can be stopped: then only `page.clock`
    moves it."""
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    if stopped_clock:
        page.clock.install()
    page.goto(login_url(daemon))
    expect(page.locator("#desk")).to_be_visible()
    if stopped_clock:
        page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))
    yield page
    assert complains or complaints == [], complaints


@contextmanager
def asking(daemon: Daemon, command: str = "ls", **more: Any) -> Iterator[HeldHook]:
    """A request that waits until the end of the block."""
    before = len(daemon.pending())
    held = daemon.hold(permission(command, SESSION) | more)
    until(lambda: len(daemon.pending()) > before)
    try:
        yield held
    finally:
        held.close()
        until(lambda: len(daemon.pending()) <= before)


def card(page: Page) -> Locator:
    """The only card."""
    found = page.locator(".card")
    expect(found).to_be_visible()
    return found


def decided(held: HeldHook) -> Json:
    """What the agent was answered."""
    status, body = held.answer()
    assert status == 200, body
    return dict(json.loads(body)["hookSpecificOutput"]["decision"])
