"""Devices: pairing codes, sign-in, sign-out and more rights, against a daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from websockets.sync.client import connect

from quarterdeck.api.http.pairing_codes import PURPOSES
from tests.support.daemon import Daemon, Json, permission, until
from tests.support.raw_http import JSON, Answer, bearer, send

IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Mobile/15E1 Safari/604.1"
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("devices") / "qd", env={"QUARTERDECK_DECIDE_HOLD": "always"}) as daemon:
        yield daemon


def code_for(daemon: Daemon, purpose: str) -> Json:
    status, made = daemon.api("POST", "/pairing-codes", {"purpose": purpose})
    assert status == 201, made
    return dict(made)


class Browser:
    """A signed-in browser: its cookie and its CSRF token."""

    def __init__(self, daemon: Daemon, purpose: str, agent: str = IPHONE) -> None:
        self.daemon = daemon
        answer = open_link(daemon, code_for(daemon, purpose)["code"], agent)
        assert answer.status == 303
        self.cookie = (answer.header("set-cookie") or "").partition(";")[0]
        self.me = self.call("GET", "/me").json

    def call(self, method: str, path: str, body: Json | None = None) -> Answer:
        headers = [("Cookie", self.cookie)]
        if body is not None:
            headers += [JSON, ("X-CSRF-Token", self.me["csrf"])]
        content = b"" if body is None else json.dumps(body).encode()
        return send(self.daemon.port, method, f"/api/v1{path}", headers, content)


def open_link(daemon: Daemon, code: str, agent: str = IPHONE) -> Answer:
    return send(daemon.port, "GET", f"/login?code={code}", [("User-Agent", agent)])


def pair(daemon: Daemon, code: str, name: str | None = None) -> Answer:
    return send(daemon.port, "POST", "/api/v1/pair", [JSON], json.dumps({"code": code, "name": name}).encode())


def device(daemon: Daemon, device_id: str) -> Json:
    found = daemon.api("GET", "/devices")[1]["devices"]
    return dict(next(one for one in found if one["device_id"] == device_id))


@pytest.mark.law("A9")
def test_a_phone_may_decide_and_nothing_more(daemon: Daemon) -> None:
    phone = Browser(daemon, "phone")
    assert phone.me["kind"] == "phone"
    assert phone.me["scopes"] == ["approve", "observe"]
    daemon.hold(permission("make", "phone"))
    (request,) = daemon.until_pending(1)
    decision = {"decision": "deny", "digest": request["digest"], "message": "no"}
    assert phone.call("POST", f"/requests/{request['request_id']}/decision", decision).status == 200
    assert phone.call("POST", "/rules", {"effect": "allow", "pattern": "Bash", "scope": "user"}).status == 403
    assert phone.call("POST", "/devices/x/step-up", {"number": "0000"}).status == 403
    shown = device(daemon, phone.me["device_id"])
    assert shown["name"] == "phone Safari iPhone"
    assert shown["runner_id"] == daemon.note()["runner_id"]


@pytest.mark.law("A6")
def test_a_cookie_changes_nothing_without_its_csrf_token(daemon: Daemon) -> None:
    phone = Browser(daemon, "phone")
    refused = send(daemon.port, "POST", "/api/v1/me/step-up", [("Cookie", phone.cookie), JSON], b"{}")
    assert (refused.status, refused.json["error"]["kind"]) == (403, "csrf")
    secret = phone.cookie.partition("=")[2]
    assert send(daemon.port, "GET", "/api/v1/me", [bearer(secret)]).status == 401


def test_an_editor_and_a_deck_get_a_token_for_their_code(daemon: Daemon) -> None:
    for purpose in ("editor", "deck"):
        made = pair(daemon, code_for(daemon, purpose)["code"], "left desk").json
        assert (made["kind"], made["name"]) == (purpose, "left desk")
        assert made["scopes"] == sorted(PURPOSES[purpose].scopes)
        me = send(daemon.port, "GET", "/api/v1/me", [bearer(made["token"])]).json
        assert (me["kind"], me["device_id"]) == (purpose, made["device_id"])


@pytest.mark.law("A14")
def test_a_code_works_once_and_only_for_its_kind_of_device(daemon: Daemon) -> None:
    code = code_for(daemon, "deck")["code"]
    assert pair(daemon, code).status == 201
    used = pair(daemon, code)
    assert (used.status, used.json["error"]["kind"]) == (401, "wrong_code")
    phone_code = code_for(daemon, "phone")["code"]
    wrong = pair(daemon, phone_code)
    assert (wrong.status, wrong.json["error"]["kind"]) == (403, "wrong_device")
    assert open_link(daemon, phone_code).status == 401
    editor = open_link(daemon, code_for(daemon, "editor")["code"])
    assert editor.status == 403
    assert b"This code is for an editor" in editor.body


@pytest.mark.law("A14")
def test_six_wrong_codes_void_the_right_one(daemon: Daemon) -> None:
    code = code_for(daemon, "deck")["code"]
    assert {pair(daemon, f"wrong{n}").status for n in range(6)} == {401}
    assert pair(daemon, code).status == 401
    assert pair(daemon, code_for(daemon, "deck")["code"]).status == 201


@pytest.mark.law("A7")
def test_a_device_that_is_signed_out_loses_its_connection(daemon: Daemon) -> None:
    made = pair(daemon, code_for(daemon, "deck")["code"]).json
    with connect(f"ws://127.0.0.1:{daemon.port}/ws") as socket:
        socket.send(
            json.dumps({"type": "hello", "protocol": 2, "client": "deck", "token": made["token"], "topics": []})
        )
        assert '"resume":"ok"' in str(socket.recv())
        assert daemon.api("DELETE", f"/devices/{made['device_id']}")[0] == 200
        until(lambda: socket.close_code is not None, what="the end of its connection")
        assert socket.close_code == 4401
    assert send(daemon.port, "GET", "/api/v1/me", [bearer(made["token"])]).status == 401
    assert daemon.api("DELETE", f"/devices/{made['device_id']}")[0] == 404


def test_a_phone_may_do_more_for_an_hour_once_its_number_is_confirmed(daemon: Daemon) -> None:
    phone = Browser(daemon, "phone")
    device_id = phone.me["device_id"]
    trust = {"path": str(daemon.home)}
    assert phone.call("POST", "/projects/untrust", trust).status == 403
    path = f"/devices/{device_id}/step-up"
    assert daemon.api("POST", path, {"number": "0000"})[1]["error"]["kind"] == "not_asking"
    number = phone.call("POST", "/me/step-up", {}).json["number"]
    assert device(daemon, device_id)["step_up_number"] == number
    other = f"{(int(number) + 1) % 10_000:04}"
    assert daemon.api("POST", path, {"number": other})[1]["error"]["kind"] == "wrong_number"
    status, given = daemon.api("POST", path, {"number": number})
    assert status == 200, given
    assert given["extra_until"] > given["created_at"] + 3500
    assert phone.call("POST", "/projects/untrust", trust).status != 403
    assert phone.call("GET", "/me").json["scopes"] == ["approve", "control", "edit", "observe", "prompt"]
    (row,) = [e for e in daemon.events("token.elevate") if e["data"]["token_id"] == device_id]
    assert row["data"]["scopes"] == ["observe", "approve", "edit", "prompt", "control"]
    assert row["data"]["by"] == "owner"


def test_a_script_gets_no_step_up(daemon: Daemon) -> None:
    made = daemon.api("POST", "/tokens", {"name": "script", "scopes": ["observe"]})[1]
    answer = send(daemon.port, "POST", "/api/v1/me/step-up", [bearer(made["token"]), JSON], b"{}")
    assert (answer.status, answer.json["error"]["kind"]) == (404, "not_found")
    assert daemon.api("POST", f"/devices/{made['token_id']}/step-up", {"number": "0000"})[0] == 404


def qd(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_the_command_line_pairs_lists_confirms_and_signs_out(daemon: Daemon) -> None:
    refused = qd(daemon, "pair")
    assert refused.returncode == 1
    assert "runner.public_urls" in refused.stderr
    paired = qd(daemon, "pair", "--for", "deck", "--json")
    made = pair(daemon, json.loads(paired.stdout)["code"], "stream deck").json
    drawn = qd(daemon, "pair", "--for", "page")
    assert "▄" in drawn.stdout
    assert f"http://127.0.0.1:{daemon.port}/login?code=" in drawn.stdout
    assert "It works once, within 1 min." in drawn.stdout
    assert "stream deck" in qd(daemon, "devices").stdout
    number = send(daemon.port, "POST", "/api/v1/me/step-up", [bearer(made["token"]), JSON], b"{}").json["number"]
    assert f"qd devices confirm {made['device_id']} {number}" in " ".join(qd(daemon, "devices", "list").stdout.split())
    assert "everything but admin" in qd(daemon, "devices", "confirm", made["device_id"], number).stdout
    assert qd(daemon, "devices", "revoke", made["device_id"]).stdout == "Signed out.\n"
    until(lambda: made["device_id"] not in qd(daemon, "devices", "--json").stdout, what="the device to be gone")


def test_a_thousand_devices_are_the_most(daemon: Daemon) -> None:
    made = [pair(daemon, code_for(daemon, "deck")["code"]) for _ in range(1000)]
    last = made[-1]
    assert last.status in (409, 422)
    assert "revoke some first" in last.json["error"]["message"]
    for one in daemon.api("GET", "/devices")[1]["devices"]:
        daemon.api("DELETE", f"/devices/{one['device_id']}")
