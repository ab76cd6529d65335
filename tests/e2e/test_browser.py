"""A real browser: signing in by a link, and what a foreign page on the same machine cannot do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from quarterdeck.api.pages import static_files
from tests.support.browser import foreign_site
from tests.support.daemon import Daemon, Json, permission, prompt, until

pytestmark = pytest.mark.e2e
expect.set_options(timeout=60_000)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        running.hook(prompt("mend the <b>sails</b>", "voyage"))
        yield running


def login_url(daemon: Daemon) -> str:
    env = {**os.environ, "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", "login-url"]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.strip()


def signed_in(daemon: Daemon, context: BrowserContext) -> Page:
    page = context.new_page()
    page.goto(login_url(daemon))
    expect(page.locator("#desk")).to_be_visible()
    return page


@pytest.mark.law("I7")
def test_a_link_signs_in_and_a_button_signs_out(daemon: Daemon, context: BrowserContext) -> None:
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(daemon.url)
    expect(page.locator("#state")).to_contain_text("Not signed in")
    complaints.clear()
    link = login_url(daemon)
    page.goto(link)
    assert page.url == f"{daemon.url}/"
    expect(page.locator("#sessions")).to_contain_text("mend the <b>sails</b>")
    assert page.locator("#sessions .title b").count() == 0
    held = daemon.hold(permission("ls"))
    expect(page.locator("#requests")).to_contain_text("wants to run")
    assert page.evaluate("document.cookie") == ""
    (cookie,) = context.cookies()
    assert cookie["name"] == f"quarterdeck_{daemon.port}"
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert complaints == []
    page.get_by_text("Menu", exact=True).click()
    page.locator("#logout").click()
    expect(page.locator("#state")).to_contain_text("Not signed in")
    expect(page.locator("#desk")).to_be_hidden()
    assert context.cookies() == []
    page.goto(link)
    expect(page.locator("main")).to_contain_text("This link was used")
    held.close()


@pytest.mark.law("A13")
def test_no_page_loads_anything_from_elsewhere(daemon: Daemon, context: BrowserContext) -> None:
    urls: list[str] = []
    context.on("request", lambda request: urls.append(request.url))
    page = signed_in(daemon, context)
    page.goto(f"{daemon.url}/api/v1/docs")
    expect(page.locator("body")).to_contain_text("/api/v1/sessions")
    assert len(urls) >= 5
    assert not [url for url in urls if not url.startswith(daemon.url)]


ATTACK = """<!doctype html><meta charset="utf-8"><body><script>
const base = "BASE", id = "REQUEST";
const decision = JSON.stringify({decision: "allow", digest: "DIGEST"});
const where = `${base}/api/v1/requests/${id}/decision`;
const results = {};
async function attempt(name, run) {
  try { results[name] = await run(); } catch (error) { results[name] = "blocked"; }
}
function opens(socket) {
  return new Promise((done) => {
    socket.onopen = () => socket.send(JSON.stringify({type: "hello", protocol: 2, topics: ["feed"]}));
    socket.onmessage = (message) => done(message.data);
    socket.onclose = socket.onerror = () => done("blocked");
  });
}
function loads(element, source) {
  return new Promise((done) => {
    element.onload = () => done(element.tagName === "IFRAME" ? "loaded" : "read");
    element.onerror = () => done("blocked");
    element.src = source;
    document.body.append(element);
    setTimeout(() => done("blocked"), 3000);
  });
}
function submits(type) {
  const frame = document.createElement("iframe");
  frame.name = type;
  const form = document.createElement("form");
  Object.assign(form, {method: "POST", action: where, enctype: type, target: type});
  const input = document.createElement("input");
  [input.name, input.value] = [decision.slice(0, -1) + ',"note":"', '"}'];
  form.append(input);
  document.body.append(frame, form);
  form.submit();
  return new Promise((done) => setTimeout(() => done("sent"), 500));
}
const body = {method: "POST", credentials: "include", body: decision};
const json = {"content-type": "application/json"};
const text = (answer) => answer.text();
(async () => {
  await attempt("read", () => fetch(base + "/api/v1/sessions", {credentials: "include"}).then(text));
  await attempt("read no-cors", () => fetch(base + "/api/v1/me", {credentials: "include", mode: "no-cors"}).then(text));
  await attempt("post json", () => fetch(where, {...body, headers: json}).then(text));
  await attempt("post no-cors", () => fetch(where, {...body, mode: "no-cors"}).then(text));
  await attempt("beacon", async () => navigator.sendBeacon(where, decision) && "sent");
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
    await attempt("form " + type, () => submits(type));
  await attempt("image", () => loads(new Image(), base + "/api/v1/sessions"));
  await attempt("script", () => loads(document.createElement("script"), base + "SCRIPT"));
  await attempt("socket", () => opens(new WebSocket(base.replace("http", "ws") + "/ws")));
  await attempt("localhost", () => opens(new WebSocket(base.replace("http://127.0.0.1", "ws://localhost") + "/ws")));
  await attempt("window", async () => window.open(base + "/") && "sent");
  window.results = results;
})();
</script>"""


def attack(daemon: Daemon, request: Json, context: BrowserContext) -> Json:
    content = ATTACK.replace("BASE", daemon.url).replace("REQUEST", request["request_id"])
    script = next(path for path in static_files() if path.endswith("/app.js"))
    with foreign_site(content.replace("DIGEST", request["digest"]).replace("SCRIPT", script)) as site:
        page = context.new_page()
        page.goto(site)
        page.wait_for_function("window.results", timeout=60_000)
        return dict(page.evaluate("window.results"))


@pytest.mark.law("A4")
@pytest.mark.law("A6")
def test_a_page_on_another_port_reads_nothing_and_decides_nothing(daemon: Daemon, context: BrowserContext) -> None:
    signed_in(daemon, context)
    held = daemon.hold(permission("rm -rf sails"))
    request = daemon.until_pending(1)[0]
    results = attack(daemon, request, context)
    sent = {name for name, result in results.items() if result == "sent"}
    assert {"form text/plain", "form multipart/form-data"} <= sent
    failures = {name: result for name, result in results.items() if name not in sent}
    assert set(failures.values()) <= {"blocked", ""}, failures
    assert len(failures) >= 8
    assert [r["request_id"] for r in daemon.pending()] == [request["request_id"]]
    held.close()
    until(lambda: not daemon.pending())


@pytest.mark.law("A13")
def test_a_page_on_another_port_cannot_frame_quarterdeck(daemon: Daemon, context: BrowserContext) -> None:
    signed_in(daemon, context)
    with foreign_site(f'<iframe src="{daemon.url}/"></iframe>') as site:
        page = context.new_page()
        refused: list[str] = []
        page.on("console", lambda message: refused.append(message.text))
        page.goto(site)
        until(lambda: page.evaluate("1") and [text for text in refused if "frame" in text.lower()])
        framed = [frame for frame in page.frames if frame != page.main_frame]
        assert "Quarterdeck" not in "".join(frame.content() for frame in framed)


def test_the_page_fits_a_phone_and_a_desk(daemon: Daemon, context: BrowserContext, tmp_path: Path) -> None:
    page = signed_in(daemon, context)
    for width, height in ((360, 740), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        page.screenshot(path=tmp_path / f"page-{width}.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
