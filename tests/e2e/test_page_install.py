"""The page as an app: the service worker runs where the browser trusts the daemon's certificate, and nowhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.support.browser import chromium_path
from tests.support.daemon import PLAIN, Daemon, launching
from tests.support.reverse_proxy import free_port

pytestmark = pytest.mark.e2e
needs_certutil = pytest.mark.skipif(
    not (shutil.which("certutil") or os.environ.get("CI")), reason="certutil is not here"
)
REGISTERED = "navigator.serviceWorker.ready.then((found) => new URL(found.active.scriptURL).pathname)"


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, str]]:
    """A daemon with a certificate of its own authority, and its address."""
    port = free_port()
    env = {"QUARTERDECK_RUNNER_TLS_PORT": str(port)}
    launch = launching([*PLAIN, "--host", "0.0.0.0", "--tls-self-signed"])
    with Daemon(tmp_path_factory.mktemp("install") / "home", env=env, launch=launch) as daemon:
        yield daemon, f"https://localhost:{port}"


@contextmanager
def signed_in_page(daemon: Daemon, address: str, home: Path, *, trusts: bool) -> Iterator[Page]:
    """The page in a Chromium of its own home, which trusts the daemon's authority or ignores all errors."""
    store = home / ".pki" / "nssdb"
    store.mkdir(parents=True)
    subprocess.run(["certutil", "-d", f"sql:{store}", "-N", "--empty-password"], check=True)
    if trusts:
        authority = daemon.home / "tls" / "authority.pem"
        command = ["certutil", "-d", f"sql:{store}", "-A", "-t", "C,,", "-n", "quarterdeck", "-i", str(authority)]
        subprocess.run(command, check=True)
    code = daemon.api("POST", "/login-codes", {})[1]["url"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(),
            args=["--no-sandbox", "--disable-gpu"],
            env={"HOME": str(home), "PATH": os.environ["PATH"]},
        )
        page = browser.new_context(ignore_https_errors=not trusts).new_page()
        page.goto(f"{address}/login?{urlsplit(code).query}")
        page.goto(address)
        yield page
        browser.close()


@needs_certutil
def test_a_browser_that_trusts_the_authority_can_install_the_page(wide: tuple[Daemon, str], tmp_path: Path) -> None:
    with signed_in_page(*wide, tmp_path, trusts=True) as page:
        assert page.evaluate(REGISTERED) == "/sw.js"
        page.keyboard.press("?")
        expect(page.get_by_text("It may: approve, control, edit, observe, prompt.")).to_be_visible()
        expect(page.get_by_text("cannot be installed")).to_have_count(0)
        manifest = page.evaluate("fetch('/manifest.webmanifest').then((answer) => answer.json())")
        assert manifest["display"] == "standalone"


@needs_certutil
def test_a_browser_that_does_not_shows_the_reason_and_the_desk(wide: tuple[Daemon, str], tmp_path: Path) -> None:
    with signed_in_page(*wide, tmp_path, trusts=False) as page:
        page.keyboard.press("?")
        expect(page.get_by_text("this device does not trust the daemon's certificate")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_text("Nothing waits for you.")).to_be_visible()


def test_a_phone_asks_for_more_rights_with_a_number(wide: tuple[Daemon, str], tmp_path: Path) -> None:
    daemon, address = wide
    code = daemon.api("POST", "/pairing-codes", {"purpose": "phone"})[1]["code"]
    with signed_in_page(daemon, address, tmp_path, trusts=False) as page:
        page.context.clear_cookies()
        page.goto(f"{address}/login?code={code}")
        page.goto(address)
        page.keyboard.press("?")
        page.get_by_role("button", name="Ask for more rights").click()
        command = page.locator("code", has_text="qd devices confirm").inner_text().split()
        assert daemon.api("POST", f"/devices/{command[3]}/step-up", {"number": command[4]})[0] == 200
