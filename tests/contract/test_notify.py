"""Notifications of a real daemon about unanswered requests: signed, after the grace time, once, not at night."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.core.model.decisions import DEFAULT_DENY
from quarterdeck.core.text.notifications import WaitingRequest, notice_for
from quarterdeck.daemon.notify.channels import Desktop
from quarterdeck.daemon.notify.http_post import POST_SECONDS, NotificationFailed, post
from quarterdeck.daemon.setup.certificates import self_signed
from tests.support.daemon import PATIENCE_SECONDS, Daemon, Json, decision_in, permission, until
from tests.support.receiver import Receiver, Taken

SECRET = "0123456789abcdef0123456789abcdef"
GRACE = 1.0
ONE = WaitingRequest(
    request_id="q",
    session_id="s",
    agent="claude",
    project="p",
    kind="permission",
    tool_name="Bash",
    risk="low",
    opened_at=0.0,
)
NOTICE = notice_for("n", 0.0, (ONE,))


def secret_file(folder: Path, text: str = SECRET) -> str:
    file = folder / "secret"
    file.write_text(f"{text}\n")
    file.chmod(0o600)
    return str(file)


@contextmanager
def telling(folder: Path, url: str, **settings: object) -> Iterator[Daemon]:
    """A daemon whose webhook is this one; more settings as `section_key`."""
    more = {
        "notify_webhook_url": f"{url}/hooks/SECRETPATH",
        "notify_webhook_secret_file": secret_file(folder),
        "notify_grace_seconds": GRACE,
        **settings,
    }
    env = {f"QUARTERDECK_{name.upper()}": str(value) for name, value in more.items()}
    with Daemon(folder / "home", env=env) as daemon:
        yield daemon


def around_now(start: int, end: int) -> str:
    """A part of the day in UTC, in hours from now."""
    hour = datetime.now(UTC).hour
    return f"{(hour + start) % 24:02}:00-{(hour + end) % 24:02}:00"


def signed_by(secret: str, taken: Taken) -> bool:
    expected = taken.headers["x-quarterdeck-timestamp"].encode() + b"." + taken.body
    proof = hmac.new(secret.encode(), expected, hashlib.sha256).hexdigest()
    return taken.headers["x-quarterdeck-signature"] == f"sha256={proof}"


def channel(daemon: Daemon, name: str = "webhook") -> Json:
    found: Json = daemon.api("GET", "/stats")[1]["notify"][name]
    return found


def test_an_unanswered_request_is_notified_once_and_signed(tmp_path: Path) -> None:
    with Receiver() as receiver, telling(tmp_path, receiver.url) as daemon:
        started = time.monotonic()
        daemon.hold(permission("sudo SECRETWORDS"))
        [taken] = receiver.until_taken(1)
        waited = time.monotonic() - started
        until(lambda: channel(daemon)["sent"] == 1, what="the figure")
        [request] = daemon.pending()
        [escalated] = daemon.events("request.escalated")
    notice = taken.json
    assert waited >= GRACE
    assert taken.path == "/hooks/SECRETPATH"
    assert signed_by(SECRET, taken)
    assert not signed_by("another secret of this length....", taken)
    assert abs(time.time() - int(taken.headers["x-quarterdeck-timestamp"])) < 30
    assert taken.headers["x-quarterdeck-delivery"] == notice["notice_id"] == escalated["event_id"]
    assert (notice["event"], notice["risk"], notice["title"]) == (
        "requests.waiting",
        "high",
        "w waits for you: Bash (high risk)",
    )
    assert [one["request_id"] for one in notice["requests"]] == [request["request_id"]]
    assert b"SECRETWORDS" not in taken.body
    assert (request["escalated"], request["escalated_at"]) == (["webhook"], escalated["at"])
    assert escalated["data"]["channels"] == ["webhook"]


@pytest.mark.law("A12")
def test_neither_the_secret_nor_the_address_is_in_the_log_or_the_feed(tmp_path: Path) -> None:
    debug = {"log_level": "debug"}
    with Receiver(401) as receiver, telling(tmp_path, receiver.url, **debug) as daemon:
        daemon.hold(permission("sudo ls"))
        until(lambda: channel(daemon)["failed"] == 1, what="a failure")
        until(lambda: daemon.events("escalation.failed"), what="the record of it")
        stats = str(daemon.api("GET", "/stats")[1])
        daemon.stop()
        written = (daemon.home / "log" / "daemon.log").read_text() + daemon.stderr() + str(daemon.events()) + stats
    assert SECRET not in written
    assert "SECRETPATH" not in written
    assert receiver.url in written


def test_an_answer_in_time_sends_no_notification(tmp_path: Path) -> None:
    grace = {"notify_grace_seconds": 5}
    with Receiver() as receiver, telling(tmp_path, receiver.url, **grace) as daemon:
        held = daemon.hold(permission("sudo ls"))
        assert daemon.decide(daemon.until_pending(1)[0], "allow")[0] == 200
        assert held.answer()[0] == 200
        daemon.hold(permission("later"))
        [taken] = receiver.until_taken(1)
        assert len(taken.json["requests"]) == len(daemon.events("request.escalated")) == 1


def test_requests_of_one_moment_make_one_notification_outside_quiet_hours(tmp_path: Path) -> None:
    hours = {"unattended_quiet_hours": around_now(2, 4), "unattended_timezone": "UTC"}
    with Receiver() as receiver, telling(tmp_path, receiver.url, **hours) as daemon:
        with daemon.paused():
            for n in range(3):
                daemon.hold(permission("sudo ls", f"s{n}"))
        [taken] = receiver.until_taken(1)
        until(lambda: len(daemon.events("request.escalated")) == 3, what="the record")
        until(lambda: channel(daemon)["sent"] == 1, what="the figure")
        assert taken.json["title"] == "3 requests wait for you (highest risk: high)"
        assert {one["session_id"] for one in taken.json["requests"]} == {"s0", "s1", "s2"}
        assert channel(daemon)["sent"] == 1


def test_the_subject_of_the_tool_is_sent_if_configured(tmp_path: Path) -> None:
    wish = {"notify_include_input": "true"}
    with Receiver() as receiver, telling(tmp_path, receiver.url, **wish) as daemon:
        daemon.hold(permission("git push"))
        assert receiver.until_taken(1)[0].json["requests"][0]["about"] == "git push"


def test_a_failed_notification_is_retried_with_a_new_time_and_the_same_id(tmp_path: Path) -> None:
    with Receiver(500, 429, 200) as receiver, telling(tmp_path, receiver.url) as daemon:
        daemon.hold(permission("sudo ls"))
        taken = receiver.until_taken(3)
        until(lambda: channel(daemon)["sent"] == 1, what="the figure")
        assert (channel(daemon)["failed"], daemon.events("escalation.failed")) == (0, [])
    assert all(signed_by(SECRET, one) for one in taken)
    assert len({one.headers["x-quarterdeck-delivery"] for one in taken}) == 1


def test_a_request_answered_between_two_tries_is_not_notified(tmp_path: Path) -> None:
    with Receiver(503) as receiver, telling(tmp_path, receiver.url) as daemon:
        receiver.answers.clear()
        held = daemon.hold(permission("sudo ls"))
        receiver.until_taken(1)
        assert daemon.decide(daemon.pending()[0], "deny")[0] == 200
        receiver.answers.set()
        assert DEFAULT_DENY.format(by="owner").encode() in held.answer()[1]
        until(lambda: channel(daemon)["skipped"] == 1, what="a notification that is not needed")
        assert len(receiver.taken) == 1
        assert channel(daemon)["failed"] == 0


@pytest.mark.parametrize(("status", "expected"), [(302, "redirect"), (403, "not accepted"), (404, "404")])
def test_a_final_refusal_is_not_retried(tmp_path: Path, status: int, expected: str) -> None:
    with Receiver(status) as receiver, telling(tmp_path, receiver.url) as daemon:
        daemon.hold(permission("sudo ls"))
        until(lambda: channel(daemon)["failed"] == 1, what="a failure")
        [failed] = until(lambda: daemon.events("escalation.failed"), what="the record")
        assert expected in channel(daemon)["trouble"]
        assert expected in failed["data"]["error"]
        assert [one.path for one in receiver.taken] == ["/hooks/SECRETPATH"]
        assert len(daemon.pending()) == 1


def test_a_lasting_failure_is_logged_once_and_its_end_too(tmp_path: Path) -> None:
    with Receiver(404, 404, 200) as receiver, telling(tmp_path, receiver.url) as daemon:
        for count in (1, 2, 3):
            held = daemon.hold(permission("sudo ls", f"s{count}"))
            receiver.until_taken(count)
            [request] = daemon.until_pending(1)
            assert daemon.decide(request, "allow")[0] == 200
            held.answer()
        until(lambda: channel(daemon)["sent"] == 1, what="the figure")
        assert channel(daemon)["trouble"] is None
        lines = [json.loads(line) for line in (daemon.home / "log" / "daemon.log").read_text().splitlines()]
    expected = [line["event"] for line in lines if line["logger"] == "notify"]
    assert expected == ["a notification was not sent", "notifications are sent again"]


def test_a_receiver_that_never_answers_delays_nothing(tmp_path: Path) -> None:
    with Receiver(hang=True) as receiver, telling(tmp_path, receiver.url) as daemon:
        daemon.hold(permission("sudo ls"))
        receiver.until_taken(1)
        began = time.monotonic()
        assert daemon.hook(permission("x") | {"hook_event_name": "Notification"})[0] in (200, 204)
        assert daemon.stop() == 0
        assert time.monotonic() - began < POST_SECONDS


def test_a_receiver_that_answers_a_byte_at_a_time_is_cut_off() -> None:
    over = threading.Event()

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not over.wait(0.1):
                connection.sendall(b"X")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=[listening])
        thread.start()
        began = time.monotonic()
        with pytest.raises(NotificationFailed, match=r"no answer within 0\.5 s") as cut_off:
            post(f"http://127.0.0.1:{listening.getsockname()[1]}/", b"{}", {}, seconds=0.5)
        assert time.monotonic() - began > 0.4
        assert cut_off.value.again
        over.set()
        thread.join(PATIENCE_SECONDS)


@pytest.mark.law("A12")
@pytest.mark.law("I6")
def test_the_response_of_a_receiver_is_never_shown() -> None:
    """Another program at the address may echo the path, which is a secret, or send terminal sequences."""

    def echo(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(connection.recv(1 << 16) + b"\x1b]0;x\x07")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=echo, args=[listening])
        thread.start()
        with pytest.raises(NotificationFailed, match="is not HTTP") as refused:
            post(f"http://127.0.0.1:{listening.getsockname()[1]}/SECRETPATH", b"{}", {}, seconds=PATIENCE_SECONDS)
        thread.join(PATIENCE_SECONDS)
    assert "SECRETPATH" not in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_an_untrusted_certificate_is_refused(tmp_path: Path) -> None:
    made = self_signed(tmp_path / "tls", ["127.0.0.1"])
    with Receiver(tls=(str(made.cert), str(made.key))) as receiver, telling(tmp_path, receiver.url) as daemon:
        daemon.hold(permission("sudo ls"))
        until(lambda: channel(daemon)["failed"] == 1, what="a failure")
        assert "not trusted" in channel(daemon)["trouble"]
        assert receiver.taken == []


def test_nobody_is_notified_in_quiet_hours(tmp_path: Path) -> None:
    hours = {"unattended_quiet_hours": around_now(-1, 2), "unattended_timezone": "UTC"}
    with Receiver() as receiver, telling(tmp_path, receiver.url, **hours) as daemon:
        daemon.hold(permission("sudo ls"))
        [request] = daemon.until_pending(1)
        until(lambda: time.time() > request["opened_at"] + GRACE + 1.5, what="the grace", every=0.05)
        assert (receiver.taken, daemon.events("request.escalated")) == ([], [])


@pytest.mark.parametrize(("hours", "by"), [((-1, 2), "unattended.quiet_high"), ((2, 4), "unattended.high")])
def test_the_policy_of_the_hour_ends_the_wait(tmp_path: Path, hours: tuple[int, int], by: str) -> None:
    settings = {"QUARTERDECK_UNATTENDED_HIGH": "pass", "QUARTERDECK_UNATTENDED_QUIET_HIGH": "deny"}
    settings |= {"QUARTERDECK_UNATTENDED_AFTER_SECONDS": "0.5", "TZ": "UTC"}
    settings |= {"QUARTERDECK_UNATTENDED_QUIET_HOURS": around_now(*hours)}
    with Daemon(tmp_path / "home", env=settings) as daemon:
        _status, body = daemon.hold(permission("sudo ls")).answer()
        [decision] = [e["data"] for e in daemon.events("permission.decision")]
    denied = by.endswith("quiet_high")
    assert decision_in(body) == ("deny" if denied else "pass")
    assert (b"nobody answered within 0.5 s" in body) is denied
    assert (decision["source"], decision["by"]) == ("timeout", by)


def test_a_push_has_a_title_a_priority_and_no_secret_in_its_address(tmp_path: Path) -> None:
    with Receiver() as receiver:
        settings = {
            "QUARTERDECK_NOTIFY_PUSH_URL": f"{receiver.url}/ntfy/my-topic",
            "QUARTERDECK_NOTIFY_MIN_RISK": "high",
        }
        settings |= {"QUARTERDECK_NOTIFY_PUSH_TOKEN_FILE": secret_file(tmp_path, "tk_Geheimnis")}
        settings |= {"QUARTERDECK_NOTIFY_GRACE_SECONDS": "0"}
        with Daemon(tmp_path / "home", env=settings) as daemon:
            daemon.hold({**permission("sudo ls"), "cwd": "/w/grüße"})
            [taken] = receiver.until_taken(1)
    assert taken.path == "/ntfy/"
    assert taken.headers["authorization"] == "Bearer tk_Geheimnis"
    assert taken.json == {
        "topic": "my-topic",
        "title": "grüße waits for you: Bash (high risk)",
        "message": "grüße · Bash · high risk",
        "priority": 4,
        "tags": ["warning"],
    }


def test_a_request_repeated_after_a_kill_is_notified_once(tmp_path: Path) -> None:
    with Receiver() as receiver, telling(tmp_path, receiver.url) as daemon:
        daemon.ndjson().send("n1", permission("sudo ls"))
        receiver.until_taken(1)
        daemon.kill9()
        daemon.restart()
        daemon.ndjson().send("n1", permission("sudo ls"))
        daemon.ndjson().send("n2", permission("another"))
        taken = receiver.until_taken(2)
        assert [one["request_id"] for one in taken[1].json["requests"]] == ["n2"]
        assert [e["data"]["request_id"] for e in daemon.events("request.escalated")] == ["n1", "n2"]


def test_a_request_killed_within_the_grace_time_is_notified_when_repeated(tmp_path: Path) -> None:
    with Receiver() as receiver, telling(tmp_path, receiver.url) as daemon:
        daemon.ndjson().send("n1", permission("sudo ls"))
        daemon.until_pending(1)
        daemon.kill9()
        daemon.restart()
        daemon.ndjson().send("n1", permission("sudo ls"))
        assert [one["request_id"] for one in receiver.until_taken(1)[0].json["requests"]] == ["n1"]


def test_a_desktop_without_the_program_is_named_by_the_doctor(tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    env = {"QUARTERDECK_NOTIFY_DESKTOP": "true", "QUARTERDECK_NOTIFY_GRACE_SECONDS": "0", "PATH": str(bare)}
    with Daemon(tmp_path / "home", env=env) as daemon:
        daemon.hold(permission("sudo ls"))
        until(lambda: channel(daemon, "desktop")["failed"] == 1, what="a failure")
        found = json.loads(qd(daemon.home, "doctor", "--json", **env).stdout)["checks"]
    [configured, running] = [check for check in found if check["name"] == "notify"]
    assert "no notify-send" in configured["says"]
    assert "no notify-send" in running["says"]
    assert (configured["ok"], running["ok"]) == (False, False)


def test_a_desktop_shows_hostile_text_as_text(tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    env = desktop_env(tmp_path / "bin", f'for one in "$@"; do printf "%s\\n" "$one"; done > {shown}')
    env["QUARTERDECK_NOTIFY_INCLUDE_INPUT"] = "true"
    with Daemon(tmp_path / "home", env=env) as daemon:
        daemon.hold({**permission("sudo $(touch x); <b>rm</b>"), "cwd": "/w/--urgency=low"})
        until(lambda: channel(daemon, "desktop")["sent"] == 1, what="a notification")
    assert shown.read_text().splitlines() == [
        "--app-name=Quarterdeck",
        "--urgency=normal",
        "--",
        "Quarterdeck: --urgency=low waits for you: Bash (high risk)",
        "--urgency=low · Bash · high risk · sudo $(touch x); &lt;b&gt;rm&lt;/b&gt;",
    ]


def desktop_env(folder: Path, script: str) -> dict[str, str]:
    """A desktop whose `notify-send` is this script."""
    folder.mkdir()
    (folder / "notify-send").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "notify-send").chmod(0o755)
    env = {"QUARTERDECK_NOTIFY_DESKTOP": "true", "QUARTERDECK_NOTIFY_GRACE_SECONDS": "0"}
    return {**env, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize("script", ["sleep 300; true", "exec cat /dev/zero"], ids=["hangs", "says too much"])
def test_a_hanging_desktop_program_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setenv("PATH", desktop_env(tmp_path / "bin", script)["PATH"])
    began = time.monotonic()
    with pytest.raises(NotificationFailed, match="did not end") as left:
        Desktop("linux").send(NOTICE, None)
    assert left.value.again
    assert time.monotonic() - began < 100


def test_a_text_that_the_locale_cannot_encode_does_not_break_the_channel(tmp_path: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with Daemon(tmp_path / "home", env=desktop_env(tmp_path / "bin", "exit 0") | ascii_only) as daemon:
        daemon.hold(permission("sudo ls"))
        until(lambda: channel(daemon, "desktop")["failed"] == 1, what="a failure")
        assert "UnicodeEncodeError" in channel(daemon, "desktop")["trouble"]


def qd(home: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "QUARTERDECK_HOME": str(home), "NO_COLOR": "1"}
    environ |= {"CLAUDE_CONFIG_DIR": str(home.with_name("claude")), **env}
    return subprocess.run(
        [sys.executable, "-m", "quarterdeck", *words], env=environ, capture_output=True, text=True, timeout=60
    )


def test_a_test_is_sent_through_every_channel_with_its_result(tmp_path: Path) -> None:
    with Receiver(200, 500) as receiver:
        env: dict[str, Any] = {
            "QUARTERDECK_NOTIFY_WEBHOOK_URL": receiver.url,
            "QUARTERDECK_NOTIFY_WEBHOOK_SECRET_FILE": secret_file(tmp_path),
            "QUARTERDECK_NOTIFY_PUSH_URL": f"{receiver.url}/topic",
        }
        done = qd(tmp_path / "home", "notify", "test", **env)
        assert [signed_by(SECRET, receiver.taken[0]), receiver.taken[1].json["topic"]] == [True, "topic"]
    assert done.stdout.splitlines() == [
        f"✓ webhook ({receiver.url}): 200",
        f"✗ push ({receiver.url}): {receiver.url} answered 500",
    ]
    assert done.returncode == 1
    none = qd(tmp_path / "home", "notify", "test")
    assert (none.returncode, "no channel is configured" in none.stderr) == (1, True)
