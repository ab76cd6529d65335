"""The page in Chromium: its first load and paint, a thousand requests, a long feed, a flood, and a click on Allow."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.common import Figure, load, main, percentile
from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.api.pages import static_files
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce
from quarterdeck.store.log import Entry, Log
from tests.e2e.test_browser import login_url
from tests.support.browser import chromium
from tests.support.daemon import Daemon, permission, until

EVENTS = int(os.environ.get("QD_BENCH_PAGE_EVENTS", "100000"))
REQUESTS = int(os.environ.get("QD_BENCH_PAGE_REQUESTS", "1000"))
CLICKS = int(os.environ.get("QD_BENCH_PAGE_CLICKS", "60"))
FLOOD = 10_000
CHUNK = 5_000
SESSION = "voyage"
COMMON = {"session_id": SESSION, "cwd": "/home/ann/shop", "permission_mode": "default", "transcript_path": ""}
WATCH = """window.tasks = [];
new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'longtask', buffered: true });"""
PAINT = "performance.getEntriesByName('first-contentful-paint').map((one) => one.startTime)"
SCROLL = """async () => {
    const box = document.querySelector('.feed');
    const frames = []; let most = 0;
    let last = performance.now();
    for (let n = 0; n < 240; n += 1) {
        box.scrollTop -= 90 + 60 * (n % 5);
        await new Promise(requestAnimationFrame);
        frames.push(performance.now() - last);
        last = performance.now();
        most = Math.max(most, document.querySelectorAll('.feed .event').length);
    }
    return { frames, most };
}"""
OPEN = """async ([session, selector]) => {
    const began = performance.now();
    location.hash = `#/session/${session}`;
    while (!document.querySelector(selector)) await new Promise(requestAnimationFrame);
    return performance.now() - began;
}"""
CLICK = """async (id) => {
    const card = () => document.querySelector(`[data-request="${id}"]`);
    const button = () => card() && card().querySelector('button.allow:not(:disabled)');
    while (!button()) await new Promise(requestAnimationFrame);
    const began = performance.now();
    button().click();
    while (card() && !card().classList.contains('over')) await new Promise((done) => setTimeout(done, 0));
    return performance.now() - began;
}"""


def calls() -> Iterator[dict[str, Any]]:
    """The hooks of one session with texts of every length."""
    number = 0
    yield {**COMMON, "hook_event_name": "UserPromptSubmit", "prompt": "sail around the world"}
    while True:
        number += 1
        call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": f"t{number}"}
        call |= {"tool_input": {"command": f"echo {number} " + "and a long line " * (number % 30)}}
        yield {**COMMON, **call, "hook_event_name": "PreToolUse"}
        yield {**COMMON, **call, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "ok " * (number % 200)}}


def build(home: Path) -> None:
    """A log with one long session."""
    home.mkdir(mode=0o700)
    log = Log.open(home / "events.db", durability="normal")
    state, source = State(runner_id=log.meta("runner_id", "bench")), calls()
    at = time.time() - EVENTS
    while state.seq_no < EVENTS:
        entries = []
        for payload in islice(source, CHUNK):
            at += 0.5
            result = reduce(state, HookReceived(event=read_hook(payload, event_id=f"e{at}", at=at), attended=True))
            state = result.state
            entries.append(Entry(result.events, None, result.requests.values(), result.sessions.values()))
        log.append(entries)
        while log.unindexed:
            log.index_sessions()
    log.save_snapshot(state)
    log.close()


def opened(browser: Browser, daemon: Daemon) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(WATCH)
    page.goto(login_url(daemon))
    page.wait_for_selector("#desk")
    return page


def longest(page: Page) -> float:
    """The longest task since the last call, in milliseconds; tasks under 50 ms are not reported by the browser."""
    return float(page.evaluate("Math.max(0, ...window.tasks.splice(0))"))


def first_load() -> Figure:
    """Everything that a browser loads once, as it is sent."""
    others = ("/style.css", "/sw.js")
    size = sum(len(file.compressed) for path, file in static_files().items() if path not in others) / 1000
    return _most("page: first load", size, "kB", "compressed", 120)


def feed_figures(browser: Browser, daemon: Daemon) -> Iterator[Figure]:
    page = opened(browser, daemon)
    paints = []
    for _ in range(5):
        page.reload()
        page.wait_for_selector("#desk")
        paints += page.evaluate(PAINT)
    yield _most("page: first paint", percentile(paints, 50), "ms", f"loopback, {load()}", 500)
    longest(page)
    shown = page.evaluate(OPEN, [SESSION, ".feed .event"])
    yield _most(f"page: first rows of {EVENTS:,} events", shown, "ms", f"with the request for them, {load()}", 50)
    yield _most("page: longest task as they are shown", longest(page), "ms", load(), 50)
    found = page.evaluate(SCROLL)
    frames = sorted(found["frames"])
    yield _least("page: frames a second while scrolling", 1000 * len(frames) / sum(frames), "fps", load(), 55)
    yield _most("page: most rows in the document", found["most"], "rows", "any height", 60)
    page.locator(".feed").press("End")
    longest(page)
    _flood(daemon)
    last = f"echo flood {FLOOD // 2 - 1}"
    page.wait_for_function("(text) => document.querySelector('.feed').textContent.includes(text)", arg=last)
    yield _most(f"page: longest task while {FLOOD:,} events come", longest(page), "ms", load(), 200)
    page.context.close()


def _flood(daemon: Daemon) -> None:
    for number in range(FLOOD // 2):
        call = {"tool_name": "Bash", "tool_use_id": f"f{number}", "tool_input": {"command": f"echo flood {number}"}}
        daemon.hook({**COMMON, **call, "hook_event_name": "PreToolUse"})
        daemon.hook({**COMMON, **call, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "ok"}})


def request_figures(browser: Browser, daemon: Daemon) -> Iterator[Figure]:
    page = opened(browser, daemon)
    took = []
    for number in range(CLICKS):
        held = daemon.hold(permission(f"ls {number}", SESSION))
        (request,) = until(daemon.pending)
        took.append(page.evaluate(CLICK, request["request_id"]))
        held.close()
        until(lambda: not daemon.pending())
    yield _most("page: click to decision, p99", percentile(took, 99), "ms", f"{CLICKS} clicks, {load()}", 50)
    held_calls = [daemon.hold(permission(f"ls {n}", SESSION)) for n in range(REQUESTS)]
    daemon.until_pending(REQUESTS)
    page.reload()
    page.wait_for_selector("#desk")
    began = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.wait_for_selector(".card")
    page.evaluate("new Promise((done) => requestAnimationFrame(done))")
    shown = page.evaluate("performance.now()") - began
    yield _most(f"page: first of {REQUESTS:,} cards after the paint", shown, "ms", load(), 100)
    longest(page)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        held_calls.pop().close()
        held_calls.insert(0, daemon.hold(permission(f"ls {time.monotonic()}", SESSION)))
        page.wait_for_timeout(100)
    yield _most("page: longest task while ten a second come and go", longest(page), "ms", load(), 50)
    for held in held_calls:
        held.close()
    page.context.close()


def _most(name: str, value: float, unit: str, against: str, goal: float) -> Figure:
    return Figure(name=name, value=round(value, 1), unit=unit, against=against, goal=f"≤ {goal:g}", ok=value <= goal)


def _least(name: str, value: float, unit: str, against: str, goal: float) -> Figure:
    return Figure(name=name, value=round(value, 1), unit=unit, against=against, goal=f"≥ {goal:g}", ok=value >= goal)


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        home = Path(folder) / "home"
        build(home)
        with Daemon(home) as daemon:
            made = [first_load(), *feed_figures(browser, daemon)]
        with Daemon(Path(folder) / "other") as daemon:
            return [*made, *request_figures(browser, daemon)]


if __name__ == "__main__":
    main(figures)
