"""The feed of the page in a real Chromium: a line for each call, of any height, found and followed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.support.daemon import Daemon, Json, prompt
from tests.support.page import asking, signed_in

pytestmark = pytest.mark.e2e
expect.set_options(timeout=60_000)
VOYAGE, LONG = "voyage", "long-voyage"
CALLS = 400


def call(daemon: Daemon, session: str, use: str, command: str, **more: object) -> None:
    about: Json = {"session_id": session, "cwd": "/home/ann/shop", "tool_name": "Bash", "tool_use_id": use}
    about |= {"tool_input": {"command": command}}
    actor = {key: value for key, value in more.items() if key.startswith("agent_")}
    daemon.hook(about | {"hook_event_name": "PreToolUse"} | actor)
    end = {"hook_event_name": "PostToolUse", "tool_response": {"stdout": f"result of {command}"}, "duration_ms": 31}
    if "error" in more:
        end = {"hook_event_name": "PostToolUseFailure", "error": more["error"]}
    daemon.hook(about | end | actor)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("page") / "home") as running:
        running.hook(prompt("set the sails", VOYAGE))
        call(running, VOYAGE, "v1", "ls sails")
        call(running, VOYAGE, "v2", "false", error="Exit code 1\nthe mast is broken")
        sub = {"agent_id": "a1", "agent_type": "Explore"}
        head = {"session_id": VOYAGE, "cwd": "/home/ann/shop", **sub}
        running.hook(head | {"hook_event_name": "SubagentStart"})
        call(running, VOYAGE, "v3", "ls hidden-in-the-hold", **sub)
        running.hook(
            head | {"hook_event_name": "SubagentStop", "last_assistant_message": "Found.", "stop_hook_active": False}
        )
        running.hook(prompt("first of all", LONG))
        for n in range(CALLS):
            call(running, LONG, f"l{n}", f"echo {n}" + " and a longer line" * (n % 40))
        running.hook(prompt("last of all", LONG))
        yield running


@pytest.fixture
def page(daemon: Daemon, browser: Browser) -> Iterator[Page]:
    context: BrowserContext = browser.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(60_000)
    with signed_in(daemon, context) as page:
        yield page
    context.close()


def show(page: Page, daemon: Daemon, *place: object) -> None:
    page.goto(f"{daemon.url}/#/session/{'/'.join(map(str, place))}")
    expect(page.locator(".feed .event").last).to_be_visible()


def test_a_call_is_one_line_that_opens_in_place(daemon: Daemon, page: Page) -> None:
    show(page, daemon, VOYAGE)
    row = page.locator(".event", has_text="ls sails")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("31 ms")
    row.locator(".line").click()
    expect(row.locator(".details")).to_contain_text("result of ls sails")
    row.locator(".line").click()
    expect(row.locator(".details")).to_have_count(0)


def test_a_failure_says_why_below_its_line(daemon: Daemon, page: Page) -> None:
    show(page, daemon, VOYAGE)
    expect(page.locator(".row-failed .below")).to_have_text("failed: the mast is broken")


def test_what_a_sub_agent_did_is_folded(daemon: Daemon, page: Page) -> None:
    show(page, daemon, VOYAGE)
    expect(page.locator(".row-subagent")).to_contain_text("1 step")
    expect(page.locator(".feed")).not_to_contain_text("hidden-in-the-hold")
    page.locator(".row-subagent .line").click()
    expect(page.locator(".feed")).to_contain_text("hidden-in-the-hold")


def test_the_feed_follows_its_end_until_one_scrolls(daemon: Daemon, page: Page) -> None:
    show(page, daemon, LONG)
    expect(page.locator(".feed")).to_contain_text("last of all")
    page.locator(".feed").evaluate("one => one.scrollTop -= 900")
    expect(page.locator(".feed")).not_to_contain_text("last of all")
    top = page.locator(".feed .event").nth(12)
    before = top.bounding_box()
    words = top.inner_text()
    call(daemon, LONG, "new1", "echo something new")
    expect(page.locator(".fresh")).to_contain_text("1 new")
    assert (top.inner_text(), top.bounding_box()) == (words, before)
    page.locator(".fresh").click()
    expect(page.locator(".feed")).to_contain_text("something new")
    call(daemon, LONG, "new2", "echo followed")
    expect(page.locator(".feed")).to_contain_text("echo followed")


def test_few_rows_are_in_the_document_and_all_can_be_reached(daemon: Daemon, page: Page) -> None:
    show(page, daemon, LONG)
    page.locator(".feed").focus()
    most = 0
    while page.locator(".feed", has_text="first of all").count() == 0:
        page.locator(".feed").evaluate("one => one.scrollTop -= 700")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        most = max(most, page.locator(".feed .event").count())
    assert 0 < most <= 60
    page.keyboard.press("End")
    expect(page.locator(".feed")).to_contain_text("last of all")


def test_search_marks_its_hits_and_goes_from_one_to_the_next(daemon: Daemon, page: Page) -> None:
    show(page, daemon, LONG)
    page.keyboard.press("/")
    page.keyboard.type("of all")
    expect(page.locator(".hits")).to_have_text("2 / 2")
    expect(page.locator("mark.hit").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".hits")).to_have_text("1 / 2")
    expect(page.locator(".feed")).to_contain_text("first of all")
    page.get_by_role("searchbox", name="Search this session").fill("no such words")
    expect(page.locator(".hits")).to_have_text("no hits")


def test_a_filter_leaves_one_kind_of_events(daemon: Daemon, page: Page) -> None:
    show(page, daemon, VOYAGE)
    page.get_by_role("button", name="Errors", exact=True).click()
    expect(page.locator(".feed .event")).to_have_count(1)
    page.get_by_role("button", name="Messages", exact=True).click()
    expect(page.locator(".feed")).to_contain_text("set the sails")
    expect(page.locator(".feed")).not_to_contain_text("ls sails")


def test_one_jumps_to_a_prompt_and_to_a_time(daemon: Daemon, page: Page) -> None:
    show(page, daemon, LONG)
    page.get_by_text("Jump", exact=True).click()
    page.get_by_role("button", name="Previous: Prompt").click()
    expect(page.locator(".event.current")).to_contain_text("last of all")
    page.get_by_role("button", name="Previous: Prompt").click()
    expect(page.locator(".event.current")).to_contain_text("first of all")
    page.get_by_label("To a time").fill("2038-01-01T00:00:00")
    expect(page.locator(".feed-bar .notice")).to_have_text("None after this.")


def test_a_link_to_an_event_opens_it(daemon: Daemon, page: Page) -> None:
    wanted = daemon.api("GET", f"/feed?session_id={LONG}&q=echo&limit=1")[1]["events"][0]
    show(page, daemon, LONG, wanted["seq_no"])
    expect(page.locator(".event.open .details")).to_contain_text("echo 0")


def test_what_waits_is_never_folded_and_leads_to_its_card(daemon: Daemon, page: Page) -> None:
    show(page, daemon, VOYAGE)
    with asking(daemon, "rm sails", agent_id="a1", agent_type="Explore"):
        row = page.locator(".row-waits")
        expect(row).to_contain_text("needs you")
        row.locator(".line").click()
        row.get_by_role("button", name="Open the request").click()
        expect(page.locator(".card:focus")).to_contain_text("rm sails")


def test_the_wall_says_what_each_session_does(daemon: Daemon, page: Page) -> None:
    page.keyboard.press("w")
    expect(page.locator(".tile")).to_have_count(2)
    expect(page.locator(".tile", has_text="set the sails")).to_contain_text("observed")
    call(daemon, VOYAGE, "w1", "echo on the wall")
    expect(page.locator(".tile", has_text="set the sails")).to_contain_text("Bash echo on the wall")
    page.locator(".tile", has_text="set the sails").click()
    expect(page.locator(".session-view h1")).to_contain_text("set the sails")


def test_the_feed_goes_on_after_the_daemon_was_away(daemon: Daemon, browser: Browser) -> None:
    context = browser.new_context()
    with signed_in(daemon, context, complains=True) as page:
        show(page, daemon, VOYAGE)
        daemon.kill9()
        expect(page.locator(".banner")).to_be_visible()
        daemon.restart()
        call(daemon, VOYAGE, "r1", "echo while away")
        expect(page.locator(".feed")).to_contain_text("echo while away")
    context.close()
