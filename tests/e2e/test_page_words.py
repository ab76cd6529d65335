"""The page and the terminal say the same: the same events give the same rows and words in Python and in the browser."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from quarterdeck.core.text.amounts import count, cut, money
from quarterdeck.core.text.durations import age_words, duration_words
from quarterdeck.core.text.feed.event_rows import fold
from quarterdeck.core.text.feed.row_words import row_words
from tests.support.browser import chromium
from tests.support.feed import EventStory
from tests.support.feed_days import PARTS, events_of
from tests.support.hostile import SENT
from tests.support.recorded_feeds import session_feed
from tools.web.vendor import VENDOR

pytestmark = pytest.mark.e2e
WEB = VENDOR.parent
SITE = "http://page.invalid/"
ROWS = """async ([site, log]) => {
    const { Rows } = await import(`${site}lib/rows.js`);
    const { line, rowWords } = await import(`${site}lib/row_words.js`);
    const made = new Rows();
    made.append(log);
    return made.rows.map((row) => [row.events.map((one) => one.seq_no), line(rowWords(row.events, row.over))]);
}"""
WORDS = """async ([site, name, calls]) => {
    const found = await import(`${site}lib/text.js`);
    return calls.map((one) => found[name](...one));
}"""
SECONDS = [0, 0.0004, 0.031, 0.9994, 0.9996, 1, 4.06, 9.94, 9.96, 59.6, 60, 3599, 3600, 86399, 86400, 1e6]


def serve(route: Route) -> None:
    path = route.request.url.removeprefix(SITE)
    if not path:
        return route.fulfill(body="<!doctype html>", content_type="text/html")
    return route.fulfill(body=(WEB / path).read_bytes(), content_type="text/javascript")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as browser:
        page = browser.new_page()
        page.route(f"{SITE}**", serve)
        page.goto(SITE)
        yield page


def in_python(log: list[dict[str, Any]]) -> list[list[object]]:
    return [[[event["seq_no"] for event in row.events], row_words(row).line] for row in fold(log)]


@pytest.mark.parametrize("seed", range(20))
def test_random_days_give_the_same_rows(page: Page, seed: int) -> None:
    log = events_of(random.Random(seed).choices(PARTS, k=60))
    assert page.evaluate(ROWS, [SITE, log]) == in_python(log)


def test_every_recorded_hook_gives_the_same_rows(page: Page) -> None:
    log = [{"seq_no": number, **event} for number, event in enumerate(session_feed(), 1)]
    assert len(log) > 50
    assert page.evaluate(ROWS, [SITE, log]) == in_python(log)


def test_hostile_texts_give_the_same_rows(page: Page) -> None:
    story = EventStory().prompt("go")
    for text in SENT:
        story.call("Bash", {"stdout": text}, command=text)
        story.call("mcp__a__b", {}, query=text)
        story.fails("Read", text, file_path=f"/src/{text}")
    assert page.evaluate(ROWS, [SITE, story.events]) == in_python(story.events)


@pytest.mark.parametrize(("name", "python"), [("age", age_words), ("tookWords", duration_words)])
def test_durations_are_the_same_words(page: Page, name: str, python: Any) -> None:
    assert page.evaluate(WORDS, [SITE, name, [[one] for one in SECONDS]]) == [python(one) for one in SECONDS]


def test_numbers_and_cut_texts_are_the_same_words(page: Page) -> None:
    costs, numbers = [0, 0.001, 0.005, 1.2345, 12], [0, 950, 1000, 12_400, 999_499, 999_500, 3_400_000]
    assert page.evaluate(WORDS, [SITE, "dollars", [[one] for one in costs]]) == [money(one) for one in costs]
    assert page.evaluate(WORDS, [SITE, "count", [[one] for one in numbers]]) == [count(one) for one in numbers]
    assert page.evaluate(WORDS, [SITE, "cut", [[one, 20] for one in SENT]]) == [cut(one, 20) for one in SENT]
