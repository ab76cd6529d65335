"""The page words times, ages and durations as the terminal, the command line and plain mode do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from quarterdeck.core.text.durations import age_words, duration_words
from quarterdeck.surfaces.text.labels import ago
from tests.support.daemon import Daemon
from tests.support.page import signed_in

pytestmark = pytest.mark.e2e
SECONDS = [0.0, 0.0004, 0.4, 0.9994, 0.9996, 1.0, 4.06, 9.94, 9.96, 12.4, 59.6, 60.0, 3599.0, 3600.0, 86399.0, 9e5]
NOW = 1_763_581_000.0
AGES = [-5.0, 0.0, 12.0, 61.0, 3599.0, 3600.0, 43199.0, 43200.0, 86400.0, 70 * 86400.0, 250 * 86400.0]
IN_PAGE = """async ([name, calls]) => {
  const folder = document.querySelector("script[type=module]").src.replace(/app\\.js$/, "");
  const text = await import(folder + "lib/text.js");
  return calls.map((one) => text[name](...one));
}"""


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    context = browser.new_context(locale="en-US", timezone_id=_zone())
    context.set_default_timeout(60_000)
    with Daemon(tmp_path_factory.mktemp("times") / "home") as daemon, signed_in(daemon, context) as page:
        yield page
    context.close()


def _zone() -> str:
    """The zone of this process, in which the other surfaces show times."""
    hours = -time.localtime(NOW).tm_gmtoff // 3600
    return f"Etc/GMT{hours:+d}" if hours else "UTC"


def worded(page: Page, name: str, *calls: list[float]) -> Any:
    return page.evaluate(IN_PAGE, [name, list(calls)])


def test_ages_and_durations_are_worded_alike(page: Page) -> None:
    assert worded(page, "age", *([one] for one in SECONDS)) == [age_words(one) for one in SECONDS]
    assert worded(page, "tookWords", *([one] for one in SECONDS)) == [duration_words(one) for one in SECONDS]


def test_times_are_worded_alike(page: Page) -> None:
    assert worded(page, "ago", *([NOW - one, NOW] for one in AGES)) == [ago(NOW - one, NOW) for one in AGES]
