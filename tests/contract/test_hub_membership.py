"""`qd hub join`, `status`, `leave`, `preview` and `qd projects share`, with a real daemon and a small hub."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, Json, permission, prompt, until
from tests.support.link_hub import TOKEN, LinkHub

FAST = {"QUARTERDECK_HUB_RECONNECT_INITIAL_SECONDS": "0.05", "QUARTERDECK_HUB_RECONNECT_MAX_SECONDS": "0.2"}


@pytest.fixture
def hub() -> Iterator[LinkHub]:
    with LinkHub() as running:
        yield running


def qd(home: Path, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home.parent), "QUARTERDECK_HOME": str(home), **FAST}
    command = [sys.executable, "-m", "quarterdeck", *args]
    return subprocess.run(command, env=env, input=stdin, capture_output=True, text=True, timeout=120, check=False)


def printed(done: subprocess.CompletedProcess[str]) -> Json:
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    return found


def test_a_machine_joins_shows_and_leaves(tmp_path: Path, hub: LinkHub) -> None:
    home = tmp_path / "home"
    with Daemon(home, env=FAST) as daemon:
        assert printed(qd(home, "hub", "status", "--json")) == {"joined": False}
        joined = printed(qd(home, "hub", "join", hub.url, "--token-file", "-", "--json", stdin=TOKEN + "\n"))
        assert joined["url"] == hub.url
        daemon.hook(prompt("hello"))
        until(lambda: printed(qd(home, "hub", "status", "--json"))["behind"] == 0, what="an acknowledged log")
        shown = printed(qd(home, "hub", "status", "--json"))
        assert (shown["joined"], shown["state"], shown["may"]) == (True, "ready", ["observe", "approve"])
        assert "hub: connected" in qd(home, "status").stdout
        assert TOKEN not in qd(home, "hub", "status").stdout
        assert printed(qd(home, "hub", "leave", "--json"))["joined"] is False
        until(lambda: not hub.is_connected, what="the end of the link")
        assert printed(qd(home, "hub", "status", "--json")) == {"joined": False}


def test_a_machine_joins_before_its_daemon_runs(tmp_path: Path, hub: LinkHub) -> None:
    home = tmp_path / "home"
    assert printed(qd(home, "hub", "join", hub.url, "--token", TOKEN, "--json"))["state"] == "not running"
    assert printed(qd(home, "hub", "status", "--json"))["url"] == hub.url
    with Daemon(home, env=FAST):
        hub.until_connected()


def test_an_address_without_tls_and_wrong_arguments_are_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    refused = qd(home, "hub", "join", "http://hub.example.org", "--token", TOKEN)
    assert refused.returncode != 0
    assert "use https" in refused.stderr
    assert qd(home, "hub", "join", "https://hub.example.org").returncode == 2
    assert not (home / "hub-token").exists()


def test_trouble_is_named_with_its_fix(tmp_path: Path, hub: LinkHub) -> None:
    home, url = tmp_path / "home", hub.url
    hub.close()
    with Daemon(home, env=FAST):
        qd(home, "hub", "join", url, "--token", TOKEN)
        shown = printed(qd(home, "hub", "status", "--json"))
        assert shown["trouble_kind"] == "unreachable"
        assert url in qd(home, "status").stdout


def test_the_preview_is_what_leaves(tmp_path: Path, hub: LinkHub) -> None:
    home = tmp_path / "home"
    closed = tmp_path / "closed"
    assert qd(home, "projects", "share", str(closed), "nothing").returncode == 0
    assert qd(home, "projects", "share", str(closed), "all").returncode == 2
    with Daemon(home, env=FAST) as daemon:
        daemon.hook(prompt("use PASSWORD=hunter2-secret"))
        daemon.hold({**permission("cat plan", "s2"), "cwd": str(closed)})
        qd(home, "hub", "join", hub.url, "--token", TOKEN)
        until(lambda: hub.stored and hub.stored[-1].seq_no == len(daemon.events()), what="every event at the hub")
        events = printed(qd(home, "hub", "preview", "--json"))["events"]
        assert [event["seq_no"] for event in events] == [event.seq_no for event in hub.stored]
        assert [event["event"] for event in events] == hub.bodies()
        assert [event.get("withheld") for event in events] == [event.withheld for event in hub.stored]
        assert {"nothing", None} <= {event.withheld for event in hub.stored}
        assert "hunter2" not in json.dumps(events)
        assert printed(qd(home, "projects", "share", str(closed), "default", "--json"))["share"] == {}
