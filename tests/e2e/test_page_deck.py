"""The key deck on the page in a real Chromium: by mouse, by touch, by keyboard, and on a device of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.support.daemon import Daemon, prompt
from tests.support.page import SESSION, asking, decided, signed_in

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("deck") / "home") as running:
        running.hook(prompt("set the sails", SESSION))
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 860}, has_touch=True)
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def page(daemon: Daemon, context: BrowserContext) -> Iterator[Page]:
    with signed_in(daemon, context) as page:
        page.get_by_role("button", name="Deck", exact=True).first.click()
        expect(page.locator(".keypad")).to_be_visible()
        yield page


def key(page: Page, action: str) -> str:
    return f".key[data-action='{action}']"


def shows(page: Page, command: str) -> None:
    """The request is shown, and long enough for a key to act."""
    expect(page.locator(".deck-request")).to_contain_text(command)
    expect(page.locator(key(page, "allow"))).to_have_attribute("aria-disabled", "false")
    page.wait_for_timeout(400)


@pytest.mark.law("D4")
def test_a_click_on_a_key_allows_what_it_shows(daemon: Daemon, page: Page) -> None:
    with asking(daemon, "ls sails") as held:
        shows(page, "ls sails")
        page.locator(key(page, "allow")).click()
        assert decided(held)["behavior"] == "allow"
    expect(page.locator(".deck-side")).to_contain_text("Nothing waits for you.")


def test_a_tap_denies(daemon: Daemon, page: Page) -> None:
    with asking(daemon, "ls masts") as held:
        shows(page, "ls masts")
        page.locator(key(page, "deny")).tap()
        assert decided(held)["behavior"] == "deny"


def test_a_high_risk_is_allowed_by_a_key_that_is_held_until_the_ring_is_full(daemon: Daemon, page: Page) -> None:
    with asking(daemon, "git push --force origin main") as held:
        shows(page, "git push --force")
        allow = page.locator(key(page, "allow"))
        expect(allow.locator(".ring")).to_be_visible()
        allow.click()
        assert len(daemon.pending()) == 1
        allow.hover()
        page.mouse.down()
        expect(allow).to_have_class("key of-green holds held")
        assert decided(held)["behavior"] == "allow"
        page.mouse.up()


def test_a_held_digit_does_the_same_and_a_short_one_nothing(daemon: Daemon, page: Page) -> None:
    with asking(daemon, "git push --force origin main") as held:
        shows(page, "git push --force")
        page.keyboard.press("1")
        assert len(daemon.pending()) == 1
        page.keyboard.down("1")
        assert decided(held)["behavior"] == "allow"
        page.keyboard.up("1")


def test_a_long_input_is_read_to_its_end_before_it_is_allowed(daemon: Daemon, page: Page) -> None:
    command = "\n".join(f"ls deck{n}" for n in range(80))
    with asking(daemon, command) as held:
        expect(page.locator(".deck-request")).to_contain_text("ls deck79")
        page.wait_for_timeout(400)
        page.keyboard.press("1")
        expect(page.locator(".deck-side [role=alert]")).to_contain_text("Scroll to the end first")
        page.locator(".deck-request pre").evaluate("one => one.scrollTo(0, one.scrollHeight)")
        page.keyboard.down("1")
        page.wait_for_timeout(900)
        page.keyboard.up("1")
        assert decided(held)["behavior"] == "allow"


def test_a_prompt_is_armed_by_the_keyboard_and_disarmed_by_escape(page: Page) -> None:
    page.keyboard.press("]")
    expect(page.locator(".deck-row").first).to_contain_text("Page 2 / 2")
    page.keyboard.press("2")
    expect(page.locator(".deck-armed")).to_contain_text("Run the tests, and fix what fails.")
    expect(page.locator(key(page, "tests"))).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    expect(page.locator(".deck-side")).to_contain_text("Not delivered:")
    expect(page.locator(".deck-armed")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".deck-armed")).to_have_count(0)
    page.keyboard.press("[")
    expect(page.locator(".deck-row").first).to_contain_text("Page 1 / 2")


@pytest.mark.law("A9")
def test_a_device_paired_as_a_deck_sees_nothing_else(daemon: Daemon, browser: Browser) -> None:
    code = daemon.api("POST", "/pairing-codes", {"purpose": "deck"})[1]["code"]
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = phone.new_page()
    page.goto(f"{daemon.url}/login?code={code}")
    expect(page.locator(".keypad")).to_be_visible()
    expect(page.locator("#desk, .top, .tabs")).to_have_count(0)
    with asking(daemon, "ls sails") as held:
        shows(page, "ls sails")
        page.locator(key(page, "allow")).tap()
        assert decided(held)["behavior"] == "allow"
    phone.close()
