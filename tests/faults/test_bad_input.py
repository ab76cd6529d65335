"""Bad input of every kind: the daemon names the mistake, stays up, and serves other clients without delay."""

import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quarterdeck.agents.claude.hooks import HOOKS
from tests.support.daemon import Daemon, Json, Ndjson, permission, prompt, until
from tests.support.failpoints import ForkServer

pytestmark = pytest.mark.faults

MIB = 1 << 20
LIMIT = 32 * MIB

NOT_JSON = {
    "nothing": b"",
    "blanks": b" \t\n",
    "half an object": b'{"hook_event_name":"Stop"',
    "two values": b"{}{}",
    "a word": b"nope",
    "single quotes": b"{'a':1}",
    "a comma too many": b'{"a":1,}',
    "invalid UTF-8": b'{"a":"\xff\xfe"}',
    "a surrogate in UTF-8": b'{"a":"\xed\xa0\x80"}',
    "overlong UTF-8": b'{"a":"\xc0\xaf"}',
    "a lone high surrogate": rb'{"a":"\ud800"}',
    "a lone high surrogate and more": rb'{"a":"\ud800 and a long tail"}',
    "a lone low surrogate": rb'{"a":"\udc00"}',
    "two high surrogates": rb'{"a":"\ud800\ud800"}',
    "a surrogate as key": rb'{"\ud800":1}',
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":-Infinity}',
    "too big a number": b'{"a":1e999}',
    "a control character": b'{"a":"\x01"}',
    "a zero byte": b'{"a":1}\x00',
    "a byte order mark": b'\xef\xbb\xbf{"a":1}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
}
REFUSED = {
    "the same key twice": (b'{"a":1,"a":2}', "duplicate_key"),
    "the same key in two spellings": (rb'{"a":1,"\u0061":2}', "duplicate_key"),
    "the same key with blanks": (b'{"a" :1,"a"\t: 2}', "duplicate_key"),
    "the same key deep down": (b'{"x":[{"y":{"a":1,"b":2,"a":3}}]}', "duplicate_key"),
    "a decision named twice": (b'{"tool_input":{"command":"ls","command":"rm -rf ~"}}', "duplicate_key"),
    "an integer over 64 bits": (b'{"a":9223372036854775808}', "huge_integer"),
    "an integer under 64 bits": (b'{"a":-9223372036854775809}', "huge_integer"),
    "lists a little too deep": (b"[" * 65 + b"]" * 65, "too_deep"),
    "objects a little too deep": (b'{"a":' * 65 + b"1" + b"}" * 65, "too_deep"),
    "too many keys": (b"{" + b",".join(b'"k%d":{}' % n for n in range(100_001)) + b"}", "too_many_keys"),
}
FAR_TOO_DEEP = {"lists": b"[" * MIB, "objects": b'{"a":' * 200_000, "closed lists": b"[" * 100_000 + b"]" * 100_000}
ODD = {
    "a list": [],
    "a number": 7,
    "a text": "Stop",
    "null": None,
    "true": True,
    "an empty object": {},
    "a hook of the future": {"hook_event_name": "FromTheFuture", "session_id": "s", "x": [1, {"y": None}]},
    "a hook named like an attribute": {"hook_event_name": "__class__", "session_id": "s"},
    "a hook name that is a list": {"hook_event_name": ["Stop"], "session_id": "s"},
    "a very long hook name": {"hook_event_name": "x" * 10_000, "session_id": "s"},
    "a session that is a path": {"hook_event_name": "Stop", "session_id": "../../etc/passwd"},
    "a session that is SQL": {"hook_event_name": "Stop", "session_id": "'; DROP TABLE events;--"},
    "a session that is an object": {"hook_event_name": "Stop", "session_id": {"$ne": None}},
    "a session that is empty": {"hook_event_name": "Stop", "session_id": ""},
    "zero characters": {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "a\x00b", "cwd": "\x00"},
    "the end before the start": {"hook_event_name": "SessionEnd", "session_id": "never-seen"},
    "a tool that never began": {"hook_event_name": "PostToolUse", "session_id": "s", "tool_use_id": "no"},
    "a batch of anything": {"hook_event_name": "PostToolBatch", "session_id": "s", "tool_calls": [1, None, {"a": []}]},
    "a batch that is none": {"hook_event_name": "PostToolBatch", "session_id": "s", "tool_calls": {"a": 1}},
    "todos of anything": {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "tool_name": "TodoWrite",
        "tool_input": {"todos": [1, {"content": 2}, None, {"content": "x", "status": []}]},
        "tool_response": {"newTodos": "none"},
    },
    "a task without anything": {"hook_event_name": "TaskCompleted", "session_id": "s"},
    "a model switch": {"hook_event_name": "PreModelSwitch", "session_id": "s", "context_tokens": 1e308},
    "a path to read": {"hook_event_name": "Stop", "session_id": "s", "transcript_path": "/dev/zero"},
    "fields of other types": {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": 1,
        "permission_mode": {},
        "tool_name": [],
        "tool_input": "text",
        "tool_use_id": 5,
        "agent_id": {},
    },
}


@pytest.fixture(scope="module")
def stalls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bad") / "stalls"


@pytest.fixture(scope="module")
def daemon(stalls: Path) -> Iterator[Daemon]:
    with ForkServer() as fork_server:
        launch = fork_server.launch("--show-stalls", str(stalls))
        with Daemon(stalls.with_name("home"), launch=launch) as daemon:
            until(stalls.exists, what="the first look at the loop")
            yield daemon
            assert "Traceback" not in daemon.stderr()
            assert '"level": "critical"' not in daemon.stderr()


@pytest.fixture(autouse=True)
def daemon_stays_healthy(daemon: Daemon) -> Iterator[None]:
    """After every case: the daemon is alive, no error was unhandled, and others are served."""
    logged = len(daemon.stderr())
    yield
    daemon.hang_up()
    daemon.until_pending(0)
    assert daemon.api("GET", "/healthz") == (200, {"status": "ok"})
    assert daemon.hook(prompt("still there?", "well"))[0] == 204
    with daemon.ndjson() as client:
        assert client.ask(f"well-{time.monotonic_ns()}", prompt("and here?", "well")) is not None
    new = daemon.stderr()[logged:]
    assert "Traceback" not in new
    assert "exception" not in new.lower()


def over_http(daemon: Daemon, body: bytes) -> tuple[int, str]:
    status, answer = daemon.hook(body)
    return status, json.loads(answer)["error"]["kind"] if answer else ""


def over_socket(daemon: Daemon, line: bytes) -> Json | None:
    with daemon.ndjson() as client:
        client.send_raw(line + b"\n")
        return client.read()


@pytest.mark.law("I2")
@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_a_body_that_is_not_json_is_refused_and_not_recorded(daemon: Daemon, body: bytes) -> None:
    events = len(daemon.events())
    assert over_http(daemon, body) == (400, "not_json")
    with daemon.ndjson() as client:
        client.send_raw(body.replace(b"\n", b" ") + b"\n")
        client.send("next-" + str(events), prompt("next", "after-bad"))
        replies = [client.read() for _ in range(2 if body.strip() else 1)]
    assert [r["payload"] for r in replies if r] == [{"action": "passthrough"}] * len(replies)
    assert ["error" in r for r in replies if r] == [True, False][-len(replies) :]
    assert len(daemon.events()) > events
    assert {e["session_id"] for e in daemon.events()[events:]} == {"after-bad"}


@pytest.mark.law("I1")
@pytest.mark.law("I2")
@pytest.mark.parametrize(("body", "kind"), REFUSED.values(), ids=REFUSED.keys())
def test_a_broken_limit_is_refused_by_its_name(daemon: Daemon, body: bytes, kind: str) -> None:
    assert over_http(daemon, body) == (400, kind)
    reply = over_socket(daemon, b'{"request_id":"r","payload":%s}' % body)
    assert reply is not None
    assert reply["payload"] == {"action": "passthrough"}
    assert reply["error"]


@pytest.mark.law("I1")
@pytest.mark.law("I4")
@pytest.mark.parametrize("body", FAR_TOO_DEEP.values(), ids=FAR_TOO_DEEP.keys())
def test_depth_ends_in_an_answer_and_not_in_a_recursion_error(daemon: Daemon, body: bytes) -> None:
    assert over_http(daemon, body)[0] == 400
    reply = over_socket(daemon, body)
    assert reply is not None
    assert reply["error"]


@pytest.mark.law("E7")
@pytest.mark.parametrize("payload", ODD.values(), ids=ODD.keys())
def test_odd_payloads_are_recorded_and_never_held(daemon: Daemon, payload: object) -> None:
    events = len(daemon.events())
    assert daemon.hook(json.dumps(payload).encode()) == (204, b"")
    recorded = len(daemon.events())
    assert recorded >= events
    reply = over_socket(daemon, json.dumps({"request_id": f"odd-{events}", "payload": payload}).encode())
    assert reply is not None
    assert "error" not in reply
    assert reply["payload"] == {"action": "passthrough"}


@pytest.mark.law("E7")
def test_an_unknown_hook_is_kept_with_its_whole_payload(daemon: Daemon) -> None:
    payload = {"hook_event_name": "FromTheFuture", "session_id": "future", "deep": [{"a": None}], "text": "☃"}
    assert daemon.hook(payload)[0] == 204
    kept = [e for e in daemon.events("unknown.hook") if e["session_id"] == "future"]
    assert [e["data"]["payload"] for e in kept] == [payload]


@pytest.mark.law("D2")
@pytest.mark.parametrize("tool_input", [None, [], "ls", 5, {"command": None}, {"": {}}])
@pytest.mark.parametrize("tool_name", [None, 5, "", "Bash", "AskUserQuestion", "mcp__x__y"])
def test_a_request_with_odd_fields_is_still_a_request(daemon: Daemon, tool_name: object, tool_input: object) -> None:
    payload = {"hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": tool_name}
    held = daemon.hold({**payload, "tool_input": tool_input})
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "deny", message="no")[0] == 200
    assert json.loads(held.answer()[1])["hookSpecificOutput"]["decision"]["behavior"] == "deny"


@pytest.mark.law("I1")
def test_a_body_over_the_limit_is_refused_whether_announced_or_not(daemon: Daemon) -> None:
    assert over_http(daemon, b'"' + b"x" * LIMIT + b'"') == (413, "too_large")
    head = (
        f"POST /hook HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nAuthorization: Bearer {daemon.hook_token}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
        connection.sendall(head.encode())
        chunk = b"100000\r\n" + b"x" * MIB + b"\r\n"
        answer = b""
        try:
            for _ in range(34):
                connection.sendall(chunk)
            connection.sendall(b"0\r\n\r\n")
        except ConnectionError:
            pass
        answer = connection.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413")


@pytest.mark.law("I1")
@pytest.mark.parametrize("length", ["99999999999", "9" * 30, "9" * 5000, "-1", "0x10", "1e3", "", "5, 5"])
def test_an_invalid_content_length_is_refused(daemon: Daemon, length: str) -> None:
    head = (
        f"POST /hook HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nAuthorization: Bearer {daemon.hook_token}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
        connection.sendall(head.encode())
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(4096)
    assert answer[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 413 ", b"")


@pytest.mark.law("I1")
def test_a_line_over_the_limit_is_refused_and_its_connection_closed(daemon: Daemon) -> None:
    with daemon.ndjson() as client:
        try:
            for _ in range(70):
                client.send_raw(b"x" * MIB)
        except ConnectionError:
            pass
        reply = client.read()
        assert reply is None or "at most" in reply["error"]
        assert client.read() is None


@pytest.mark.law("I1")
@pytest.mark.parametrize(
    "head",
    [
        b"QDHOOK/1 99999999999 assist cli 1 -",
        b"QDHOOK/1 -5 assist cli 1 -",
        b"QDHOOK/1 x assist cli 1 -",
        b"QDHOOK/1 " + b"9" * 5000 + b" assist cli 1 -",
        b"QDHOOK/1 5",
        b"QDHOOK/1 ",
        b"QDHOOK/1 2 assist \xff\xfe " + b"9" * 40 + b" \x00",
        b"QDHOOK/9 2 assist cli 1 -",
    ],
)
def test_a_forwarder_with_a_broken_first_line_gets_no_opinion(daemon: Daemon, head: bytes) -> None:
    with daemon.ndjson() as client:
        client.send_raw(head + b"\n{}")
        client.half_close()
        client.socket.settimeout(60)
        answer = client.socket.recv(4096)
    assert answer == b"0 0\n" or b'"passthrough"' in answer


@pytest.mark.law("I5")
@pytest.mark.parametrize("request_id", [None, 5, "", "a b", "x" * 129, "../x", "é", "a\n", "r\x00", ["r"], {}])
def test_an_envelope_without_a_good_id_is_refused(daemon: Daemon, request_id: object) -> None:
    events = len(daemon.events())
    reply = over_socket(daemon, json.dumps({"request_id": request_id, "payload": prompt("x")}).encode())
    assert reply is not None
    assert "request_id" in reply["error"]
    assert len(daemon.events()) == events


@pytest.mark.law("I4")
@pytest.mark.parametrize("line", [b"[]", b"1", b"null", b'"text"', b"{}", b'{"payload":{}}', b'{"request_id":"r"'])
def test_a_line_that_is_not_an_envelope_is_refused(daemon: Daemon, line: bytes) -> None:
    reply = over_socket(daemon, line)
    assert reply is not None
    assert reply["error"]
    assert reply["payload"] == {"action": "passthrough"}


@pytest.mark.law("E3")
def test_one_id_with_another_payload_is_an_error_row_and_the_first_stays(daemon: Daemon) -> None:
    first, second = prompt("the first", "twice"), prompt("the second", "twice")
    with daemon.ndjson() as client:
        assert "error" not in (client.ask("same-id", first) or {"error": ""})
        rows = len(daemon.events())
        assert "error" not in (client.ask("same-id", first) or {"error": ""})
        assert len(daemon.events()) == rows
        reply = client.ask("same-id", second)
    assert reply is not None
    assert "another payload" in reply["error"]
    [refused] = until(lambda: [e for e in daemon.events() if e["level"] == "error"], what="an error row")
    assert refused["data"]["payload"] == second
    assert "same-id" in refused["data"]["error"]
    prompts = [e["data"]["prompt"] for e in daemon.events("user.prompt") if e["session_id"] == "twice"]
    assert prompts == ["the first"]


@pytest.mark.law("E3")
@pytest.mark.law("D5")
def test_one_id_with_another_command_does_not_change_the_pending_request(daemon: Daemon) -> None:
    with daemon.ndjson() as client, daemon.ndjson() as other:
        client.send("waits", permission("ls"))
        [request] = daemon.until_pending(1)
        reply = other.ask("waits", permission("rm -rf ~"))
        assert reply is not None
        assert reply["error"]
        assert daemon.pending() == [request]
        assert daemon.decide(request, "deny", message="no")[0] == 200
        assert (client.read() or {})["payload"]["action"] == "json_output"


def lines_of(ids: list[str]) -> bytes:
    return b"".join(
        json.dumps({"request_id": i, "payload": prompt(f"{i} ☃ \U0001f6a2")}, ensure_ascii=False).encode() + b"\n"
        for i in ids
    )


@pytest.mark.law("I4")
def test_two_envelopes_cut_at_every_byte_are_two_events(daemon: Daemon) -> None:
    size = len(lines_of(["c-000-a", "c-000-b"]))
    with daemon.ndjson() as client:
        for cut in range(1, size):
            ids = [f"c-{cut:03}-a", f"c-{cut:03}-b"]
            content = lines_of(ids)
            client.send_raw(content[:cut])
            client.send_raw(content[cut:])
            assert [(client.read() or {}).get("request_id") for _ in ids] == ids
    prompts = [e["data"]["prompt"] for e in daemon.events("user.prompt") if e["data"]["prompt"].startswith("c-")]
    assert len(prompts) == 2 * (size - 1)
    assert all(p.endswith(" ☃ \U0001f6a2") for p in prompts)


@pytest.mark.law("I4")
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_are_read_in_any_pieces_and_with_blank_ones_between(daemon: Daemon, data: st.DataObject) -> None:
    ids = [f"p-{time.monotonic_ns()}-{n}" for n in range(data.draw(st.integers(1, 6)))]
    blanks = st.sampled_from([b"", b"\n", b"\r\n", b"  \n", b"\n\n\n"])
    content = b"".join(data.draw(blanks) + lines_of([i]) for i in ids)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=8)))
    with daemon.ndjson() as client:
        for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
            client.send_raw(content[start:end])
        client.half_close()
        assert [(client.read() or {}).get("request_id") for _ in ids] == ids
        assert client.read() is None


@pytest.mark.law("I4")
def test_a_last_line_without_a_newline_is_read_at_the_end(daemon: Daemon) -> None:
    with daemon.ndjson() as client:
        client.send_raw(lines_of(["no-newline"])[:-1])
        client.half_close()
        assert (client.read() or {})["request_id"] == "no-newline"


FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSONS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from([name for name, hook in HOOKS.items() if not hook.holds or name == "Stop"])
FIELDS = st.sampled_from(
    re.findall(
        r"\w+",
        """prompt tool_name tool_input tool_use_id tool_response tool_calls agent_id agent_type cwd source reason
        task_id task_subject background_tasks stop_hook_active context_tokens message content duration_ms""",
    )
)


@pytest.mark.law("I4")
@pytest.mark.law("E7")
@given(name=NAMES, fields=st.dictionaries(FIELDS, JSONS, max_size=6), session=st.sampled_from(["h1", "h2", "", 5]))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_hook_with_any_fields_in_any_order_is_accepted(
    daemon: Daemon, name: str, fields: dict[str, Any], session: object
) -> None:
    assert daemon.hook({"hook_event_name": name, "session_id": session, **fields}) == (204, b"")


@pytest.mark.law("I4")
@given(body=st.binary(max_size=200))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_answered(daemon: Daemon, body: bytes) -> None:
    assert daemon.hook(body)[0] in (204, 400)


API_PATHS = [
    "/feed?after=99999999999999999999",
    "/feed?before=99999999999999999999",
    "/feed?after=-1",
    "/feed?limit=0",
    "/feed?limit=99999999999999999999",
    "/feed?kind=%00&q=%ED%A0%80&session_id=%FF",
    "/requests?status=decided&after=99999999999999999999",
    "/requests/%ED%A0%80",
    "/sessions/%00",
    "/sessions?after=%FF",
]


@pytest.mark.law("I4")
@pytest.mark.parametrize("path", API_PATHS)
def test_no_query_is_a_server_error(daemon: Daemon, path: str) -> None:
    assert daemon.api("GET", path)[0] < 500


DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
DECISIONS = {
    "deep": b'"updated_input":' + DEEP,
    "deep but not far": b'"updated_input":' + b'{"a":' * 65 + b"1" + b"}" * 65,
    "a key twice": b'"note":"a","note":"b"',
    "a digest twice": b'"digest":"0"',
    "an integer over 64 bits": b'"updated_input":{"n":9223372036854775808}',
    "an integer of 4,000 digits": b'"updated_input":{"n":' + b"9" * 4000 + b"}",
    "NaN": b'"updated_input":{"n":NaN}',
    "a lone surrogate": rb'"note":"\ud800"',
    "invalid UTF-8": b'"note":"\xff"',
    "an unknown field": b'"approve":true',
    "a list as input": b'"updated_input":[1]',
}


@pytest.mark.law("I1")
@pytest.mark.law("I2")
@pytest.mark.law("D1")
@pytest.mark.parametrize("more", DECISIONS.values(), ids=DECISIONS.keys())
def test_a_malformed_decision_decides_nothing(daemon: Daemon, more: bytes) -> None:
    daemon.hold(permission("ls"))
    [request] = daemon.until_pending(1)
    body = b'{"decision":"allow","digest":"%s",%s}' % (request["digest"].encode(), more)
    status, answer = daemon.api("POST", f"/requests/{request['request_id']}/decision", body)
    still_pending = daemon.pending()
    assert status in (400, 413, 422), answer
    assert still_pending == [request]


WORDS = ["Allow", "ALLOW", "allow ", "denied", "approve", "", None, True, 1, ["allow"], {"decision": "allow"}, "ask"]


@pytest.mark.law("D1")
@pytest.mark.law("D2")
@pytest.mark.parametrize("word", WORDS)
def test_only_the_exact_word_allows(daemon: Daemon, word: object) -> None:
    daemon.hold(permission("ls"))
    [request] = daemon.until_pending(1)
    path = f"/requests/{request['request_id']}/decision"
    status, _ = daemon.api("POST", path, {"decision": word, "digest": request["digest"]})
    still_pending = daemon.pending()
    assert status in (400, 422)
    assert still_pending == [request]


def large(tool_input: object, hook: str = "PreToolUse") -> bytes:
    return json.dumps(
        {"hook_event_name": hook, "session_id": "s", "tool_name": "Write", "tool_input": tool_input},
        ensure_ascii=False,
    ).encode()


LARGE = {
    "a text of 1 MiB": large({"content": "x" * MIB}),
    "JSON in a text": large({"content": json.dumps([{"a": 1}] * (MIB // 10))}),
    "snow": large({"content": "☃" * (MIB // 3)}),
    "a list of 300,000": large({"list": [0] * 300_000}),
    "a list of 15 million": b"[" + b"0," * (15 * MIB - 1) + b"0]",
    "99,000 keys": large({str(n): n for n in range(99_000)}),
    "a key twice among 99,000": b"{" + b",".join(b'"%d":1' % n for n in range(99_000)) + b',"0":2}',
    "over the limit": b'"' + b"x" * LIMIT + b'"',
    "deep": b"[" * (8 * MIB),
    "noise": b"\xff" * (30 * MIB),
    "a text of 15 MiB": large({"content": "x" * (15 * MIB)}),
    "15 MiB of snow": large({"content": "☃" * (5 * MIB)}),
    "15 MiB of new lines": large({"content": "\n" * (15 * MIB // 2)}),
    "15 MiB in 45,000 keys": large({str(n): "x" * 320 for n in range(45_000)}),
}


STALL_SECONDS = 0.05
TRIES = 4


@pytest.mark.law("I4")
@pytest.mark.parametrize("body", LARGE.values(), ids=LARGE.keys())
def test_a_large_payload_does_not_delay_other_calls(daemon: Daemon, stalls: Path, body: bytes) -> None:
    """The best of some tries: on two shared cores the same instructions take several times as long now and then."""
    assert any(_stalled(daemon, stalls, body) <= STALL_SECONDS for _ in range(TRIES))


def _stalled(daemon: Daemon, stalls: Path, body: bytes) -> float:
    again = stalls.with_name("again")
    again.touch()
    until(lambda: not again.exists(), what="a new look at the loop")
    assert daemon.hook(body)[0] in (204, 400, 413)
    assert daemon.hook(prompt("next"))[0] == 204
    return float(stalls.read_text())


@pytest.mark.law("I4")
def test_a_large_request_is_shown_and_decided_and_delays_no_other_call(daemon: Daemon, stalls: Path) -> None:
    assert any(_stalled_by_a_request(daemon, stalls) <= STALL_SECONDS for _ in range(TRIES))


def _stalled_by_a_request(daemon: Daemon, stalls: Path) -> float:
    again = stalls.with_name("again")
    again.touch()
    until(lambda: not again.exists(), what="a new look at the loop")
    body = large({"content": "x" * (15 * MIB)}, "PermissionRequest")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(daemon.hook, body)
        [request] = daemon.until_pending(1)
        daemon.decide(request, "deny")
        assert answer.result()[0] == 200
    assert daemon.hook(prompt("next"))[0] == 204
    return float(stalls.read_text())


def test_a_client_that_never_reads_does_not_affect_others(daemon: Daemon) -> None:
    clients: list[Ndjson] = []
    for n in range(20):
        client = daemon.ndjson()
        client.socket.setblocking(False)
        content = lines_of([f"deaf-{n}-{k}" for k in range(500)])
        try:
            while content:
                content = content[client.socket.send(content) :]
        except BlockingIOError:
            pass
        clients.append(client)
    assert daemon.hook(prompt("hello"))[0] == 204
    for client in clients:
        client.close()
