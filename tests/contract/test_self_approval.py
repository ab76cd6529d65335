"""An agent tries to approve its own requests in every way its shell offers: each is refused and recorded."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agents import FakeAgent, allowing
from tests.support.daemon import Daemon, Json, permission, prompt, until

pytestmark = [
    pytest.mark.law("D14"),
    pytest.mark.skipif(sys.platform != "linux", reason="ancestry is known on Linux"),
]

REFUSED = "403 agent_may_not_decide"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("self") / "qd") as daemon:
        yield daemon


@pytest.fixture
def agent(daemon: Daemon) -> Iterator[FakeAgent]:
    with FakeAgent(daemon) as agent:
        yield agent.says("busy")


@pytest.fixture
def request_(daemon: Daemon) -> Iterator[Json]:
    """A pending request that is still pending when the test is over."""
    daemon.hold(permission("rm -rf /", "victim"))  # not of the agent's session: the end of an agent withdraws its own
    (request,) = daemon.until_pending(1)
    yield request
    assert daemon.pending() == [request]
    assert daemon.decide(request, "deny")[0] == 200


def refusals(daemon: Daemon, request: Json) -> list[Json]:
    return [
        e["data"] for e in daemon.events("decision.refused") if e["data"].get("request_id") == request["request_id"]
    ]


def recorded(daemon: Daemon, request: Json) -> Json:
    """The recorded refusal, once it is there."""
    (data,) = until(lambda: refusals(daemon, request), what="a decision.refused")
    return data


def test_a_python_client_with_the_owners_token(daemon: Daemon, agent: FakeAgent, request_: Json) -> None:
    assert agent.runs(allowing(daemon, request_)).strip() == REFUSED
    data = recorded(daemon, request_)
    assert data["agent_session_id"] == "s1"
    assert data["command"].startswith("python")
    assert data["pid"] > 0


def test_the_command_line_says_why(daemon: Daemon, agent: FakeAgent, request_: Json) -> None:
    output = agent.runs(f"{shlex.quote(sys.executable)} -m quarterdeck allow {request_['request_id']}; echo exit $?")
    assert "was started by agent session s1, and an agent may not decide" in output
    assert output.endswith("exit 1\n")
    assert recorded(daemon, request_)["by"] == "owner via cli"


@pytest.mark.parametrize(
    "wrapper",
    [
        "env -i {it}",
        "setsid -w {it}",
        "setsid -w env -i {it}",
        "nohup {it}",
        "script -qec {quoted} /dev/null",
        "(sh -c {quoted} &) ; sleep 1",
        "(env -i {it} &) ; sleep 1",
        "exec 3>&1; sh -c {quoted} >&3",
    ],
)
def test_any_wrapper_of_the_shell(daemon: Daemon, agent: FakeAgent, request_: Json, wrapper: str) -> None:
    it = allowing(daemon, request_)
    assert agent.runs(wrapper.format(it=it, quoted=shlex.quote(it))).strip() == REFUSED
    recorded(daemon, request_)


def test_a_child_that_left_its_session_is_known_by_its_mark(daemon: Daemon, request_: Json, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with FakeAgent(daemon, "marked", marked=True) as agent:
        agent.runs(f"setsid -f {allowing(daemon, request_)} > {out} 2>&1")
        assert until(lambda: out.exists() and out.read_text().strip(), every=0.02) == REFUSED
    assert recorded(daemon, request_)["agent_session_id"] == "marked"


def test_a_process_that_is_gone_before_it_is_checked(daemon: Daemon, agent: FakeAgent, request_: Json) -> None:
    with daemon.paused():
        agent.runs(allowing(daemon, request_, then="os._exit(0)"))
    assert recorded(daemon, request_)["reason"].startswith("no process was found for this connection")


def test_a_process_that_leaves_while_it_is_checked(daemon: Daemon, agent: FakeAgent, request_: Json) -> None:
    for _ in range(5):
        agent.runs(allowing(daemon, request_, then="os._exit(0)"))
    until(lambda: len(refusals(daemon, request_)) == 5, what="five refusals")


def test_a_process_that_hands_its_connection_to_a_child(
    daemon: Daemon, agent: FakeAgent, request_: Json, tmp_path: Path
) -> None:
    handed, out = "for _ in range(200): os.fork() and os._exit(0)", tmp_path / "out"
    agent.runs(f"{allowing(daemon, request_, then=handed)} > {out} 2>&1")
    assert str(until(lambda: out.exists() and out.read_text().strip(), every=0.02)).startswith("403 ")
    recorded(daemon, request_)


def test_many_at_once_and_anything_else_that_changes(daemon: Daemon, agent: FakeAgent, request_: Json) -> None:
    bulk = allowing(daemon, request_).replace(f"/requests/{request_['request_id']}/decision", "/requests/decisions")
    assert agent.runs(bulk).strip() == REFUSED
    until(lambda: any(e["session_id"] == "quarterdeck" for e in daemon.events("decision.refused")), what="its record")


def test_a_command_over_the_websocket(daemon: Daemon, agent: FakeAgent, request_: Json) -> None:
    args = {"request_id": request_["request_id"], "digest": request_["digest"], "decision": "allow"}
    program = f"""
import json
from websockets.sync.client import connect
with connect("ws://127.0.0.1:{daemon.port}/ws") as ws:
    ws.send(json.dumps({{"type": "hello", "protocol": 2, "token": {daemon.token!r}, "topics": []}}))
    ws.send(json.dumps({{"type": "command", "id": 1, "name": "decide", "args": {args!r}}}))
    while True:
        frame = json.loads(ws.recv())
        for message in frame if isinstance(frame, list) else [frame]:
            if message["type"] == "ack":
                raise SystemExit(message["error"]["kind"])
"""
    output = agent.runs(f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}")
    assert output.strip() == "agent_may_not_decide"
    recorded(daemon, request_)


def test_reading_is_always_allowed(daemon: Daemon, agent: FakeAgent, request_: Json) -> None:
    assert request_["request_id"] in agent.runs(f"{shlex.quote(sys.executable)} -m quarterdeck requests --json")
    assert refusals(daemon, request_) == []


def test_a_known_agent_without_a_sessions_file(daemon: Daemon, agent: FakeAgent, request_: Json) -> None:
    daemon.hook(prompt("go"))
    until(lambda: daemon.api("GET", "/sessions/s1")[1]["pid"] == agent.pid, 3, every=0.02, what="its pid")
    agent.file.unlink()
    assert agent.runs(allowing(daemon, request_)).strip() == REFUSED


@pytest.mark.law("S3")
def test_a_person_decides_though_a_file_names_their_recycled_pid(daemon: Daemon) -> None:
    daemon.hold(permission("ls", "recycled"))  # the process of another session may just be found gone, which ends it
    (request,) = daemon.until_pending(1)
    with FakeAgent(daemon, "recycled") as person:
        person.says("busy", procStart="1")
        assert person.runs(allowing(daemon, request)).split()[0] == "200"


QD = f"{shlex.quote(sys.executable)} -m quarterdeck"
CURL = (
    "curl -s -o /dev/null -w '%{{http_code}}\\n' -X {method} -H \"Authorization: Bearer $(cat {home}/token)\" "
    "-H 'Content-Type: application/json' -d '{body}' http://127.0.0.1:{port}/api/v1{path}"
)
ALLOW_ALL = '{"effect":"allow","pattern":"Bash","scope":"user"}'


@pytest.mark.parametrize(
    "command",
    [
        f"{QD} rules add allow Bash --yes; echo exit $?",
        f"setsid -w {QD} rules add allow Bash --yes; echo exit $?",
        f"nohup {QD} rules add allow Bash --yes; echo exit $?",
        f"printf 'rules: [{{effect: allow, pattern: Bash}}]' | {QD} rules import -; echo exit $?",
        f"{QD} rules clear --yes; echo exit $?",
        f"{QD} projects untrust /; echo exit $?",
    ],
)
def test_no_command_changes_the_rules(daemon: Daemon, agent: FakeAgent, command: str) -> None:
    assert daemon.api("POST", "/rules", {"effect": "deny", "pattern": "Bash(rm:*)", "scope": "user"})[0] in (201, 409)
    output = agent.runs(command)
    assert "an agent may not" in output
    assert output.endswith("exit 1\n")
    assert [rule["pattern"] for rule in daemon.api("GET", "/rules")[1]["rules"]] == ["Bash(rm:*)"]


@pytest.mark.skipif(shutil.which("curl") is None and not os.environ.get("CI"), reason="there is no curl")
@pytest.mark.parametrize(
    "wrapped", ["{it}", "env -i PATH=$PATH {it}", "setsid -w env -i PATH=$PATH {it}", "({it} &) ; sleep 1"]
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/rules"), ("DELETE", "/rules/r_x"), ("POST", "/tokens")])
def test_no_http_client_with_the_token_changes_them(
    daemon: Daemon, agent: FakeAgent, wrapped: str, method: str, path: str
) -> None:
    it = CURL.format(method=method, home=daemon.home, body=ALLOW_ALL, port=daemon.port, path=path)
    assert agent.runs(wrapped.format(it=it)).strip() == "403"
    assert all(rule["effect"] != "allow" for rule in daemon.api("GET", "/rules")[1]["rules"])


@pytest.mark.parametrize("words", ["interrupt s1", "end s1", "interrupt --all --yes", "end --all --yes", "send s1 hi"])
def test_an_agent_cannot_stop_or_prompt_sessions(daemon: Daemon, agent: FakeAgent, words: str) -> None:
    daemon.hook(prompt("go", "s1"))  # a session that is known
    output = agent.runs(f"{shlex.quote(sys.executable)} -m quarterdeck {words}; echo exit $?")
    assert "was started by agent session s1" in output
    assert output.endswith("exit 1\n")
    stopped = [e["kind"] for e in daemon.events("session.%") if e["kind"] in ("session.interrupt", "session.close")]
    assert (stopped, daemon.events("session.send")) == ([], [])
