"""Make the pictures of the page in docs/screenshots, from `qd demo`. Run: make screenshots

The letters are those of the fonts Inter and JetBrains Mono, where they are installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from quarterdeck.surfaces.client.http import Client
from tests.support.browser import chromium
from tests.support.daemon import until
from tools.screenshots import FOLDER, demo, keep_rules

DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
SHOTS: dict[str, tuple[dict[str, int], str, str]] = {
    "web-desk": (DESKTOP, "dark", ""),
    "web-desk-light": (DESKTOP, "light", ""),
    "web-session": (DESKTOP, "light", "session/{session}"),
    "web-wall": (DESKTOP, "dark", "sessions"),
    "web-deck": (DESKTOP, "dark", "deck"),
    "web-deck-phone": (PHONE, "light", "deck"),
    "web-phone": (PHONE, "dark", ""),
    "web-phone-light": (PHONE, "light", ""),
}
"""Each picture: its size, its theme, and the part of the address after #."""


def answer_the_question(client: Client) -> None:
    """Answer what the first agent asks, so that it goes on to an edit."""
    until(lambda: len(_pending(client)) == len(("api-server", "docs", "infra")))
    (asked,) = (one for one in _pending(client) if one["form"] == "questions")
    (question,) = asked["tool_input"]["questions"]
    body = {"decision": "answer", "digest": asked["digest"], "answers": {question["question"]: "Redis"}}
    client.post(f"/api/v1/requests/{asked['request_id']}/decision", body)
    until(lambda: any(one["tool_kind"] == "edit" for one in _pending(client)))


def _pending(client: Client) -> list[dict[str, Any]]:
    return list(client.get("/api/v1/requests?status=pending")["requests"])


def sign_in(browser: Browser, home: Path, size: dict[str, int], theme: str) -> Page:
    is_phone = size is PHONE
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        color_scheme="light" if theme == "light" else "dark",
        device_scale_factor=2 if is_phone else 1,
        is_mobile=is_phone,
        has_touch=is_phone,
        reduced_motion="reduce",
    )
    command = [sys.executable, "-m", "quarterdeck", "login-url"]
    env = {**os.environ, "QUARTERDECK_HOME": str(home)}
    page = context.new_page()
    page.goto(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.strip())
    return page


def until_cards_are_drawn(page: Page, size: dict[str, int], place: str) -> None:
    expect(page.locator(".tile" if place == "sessions" else ".card").first).to_be_visible()
    if size is DESKTOP:
        expect(page.locator(".diff")).to_be_attached()
        expect(page.locator("button.allow:not(:disabled)")).not_to_have_count(1)
    expect(page.locator("button.allow").first).to_be_enabled()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with demo() as home, chromium() as browser:
        until((home / "run" / "daemon.json").exists)
        keep_rules(home)
        client = Client.of_home(home, "cli")
        answer_the_question(client)
        (session,) = (one for one in client.get("/api/v1/sessions")["sessions"] if one["cwd"].endswith("api-server"))
        for name, (size, theme, place) in SHOTS.items():
            page = sign_in(browser, home, size, theme)
            page.goto(f"{page.url.partition('#')[0]}#/{place.format(session=session['session_id'])}")
            if place == "deck":
                expect(page.locator(".key[data-action='allow'][aria-disabled='false']")).to_be_visible()
            else:
                until_cards_are_drawn(page, size, place)
            page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")
            page.context.close()
            sys.stdout.write(f"docs/screenshots/{name}.png\n")


if __name__ == "__main__":
    main()
