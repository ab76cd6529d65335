"""What is logged of an error that nothing caught."""

from __future__ import annotations

from typing import Any

from structlog.testing import capture_logs

from quarterdeck.daemon.telemetry.escaped_errors import HEAD_BYTES, head_of, log_escaped_error

SECRET = b"a-secret-of-the-owner-0123456789"


def logged(received: bytes, **more: Any) -> list[dict[str, Any]]:
    with capture_logs() as entries:
        try:
            raise KeyError("unexpected")
        except KeyError:
            log_escaped_error("http", received, **more)
    return [dict(entry) for entry in entries]


def test_a_head_is_logged_without_its_credentials() -> None:
    head = b"GET /hook?x=\xff HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\ncookie: q=%s\r\nX-Odd: \x00" % (
        SECRET,
        SECRET,
    )
    (entry,) = logged(head + b"\r\n\r\nthe body", is_head=True)
    assert entry["log_level"] == "error"
    assert entry["head"] == "GET /hook?x=\\xff HTTP/1.1 | Host: a | Authorization: ... | cookie: ... | X-Odd: \\x00"
    assert entry["size"] == len(head) + 12


def test_a_long_head_is_cut() -> None:
    (entry,) = logged(b"GET /" + b"x" * 100_000, is_head=True)
    assert len(entry["head"]) == HEAD_BYTES


def test_what_an_agent_sent_is_logged_at_debug_alone() -> None:
    error, debug = logged(b'{"prompt": "mine"}')
    assert "mine" not in str(error)
    assert (debug["log_level"], debug["raw"]) == ("debug", '{"prompt": "mine"}')
    assert error["sha256"] == debug["sha256"]


def test_a_request_has_its_head_again() -> None:
    scope = {"method": "POST", "raw_path": b"/a%00", "query_string": b"b=c", "headers": [(b"host", b"x"), (b"a", b"")]}
    assert head_of(scope) == b"POST /a%00?b=c\r\nhost: x\r\na: "
    assert head_of({"type": "websocket"}) == b"GET "
