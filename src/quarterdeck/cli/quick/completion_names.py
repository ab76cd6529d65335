"""Names from the running daemon for completion: sessions, requests, rules and tokens.

It must answer before a person notices, so it speaks HTTP over a plain socket, where the client of the other commands
would import four times as much, and gives up early. Without a daemon there are no names."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from quarterdeck.config.home import home_path

SECONDS = 0.5
MOST = 200
SHORT = 8
"""The characters of a session's id that tables show."""
Json = Mapping[str, Any]


LIVE_ONLY = frozenset({"send", "interrupt", "end", "switch", "attach"})
"""Commands that an ended session does not take: there are many of those."""


def names_of(kind: str, command: str = "") -> list[tuple[str, str]]:
    """The names of a kind that fit a command, each with what it means; none when no daemon answers."""
    if kind not in _KINDS:
        return []
    path, read = _KINDS[kind]
    try:
        note = json.loads((home_path() / "run" / "daemon.json").read_text(encoding="utf-8"))
        token = (home_path() / "token").read_text(encoding="utf-8").strip()
        found = fetch(str(note["url"]), token, path)
        items = found[path.partition("?")[0].removeprefix("/")]
        return list(read(live_sessions(items) if kind == "sessions" and command in LIVE_ONLY else items))
    except (OSError, ValueError, KeyError, TypeError):
        return []


def fetch(url: str, token: str, path: str) -> Json:
    """A resource of the API."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    request = f"GET /api/v1{path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
    with socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS) as connection:
        connection.sendall(f"{request}Connection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ValueError("refused")
    return dict(json.loads(body))


def live_sessions(sessions: Iterable[Json]) -> Iterator[Json]:
    yield from (one for one in sessions if one["agent_state"] != "ended")


def session_names(sessions: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """Sessions by the beginning of their ids, as tables show it."""
    for one in sessions:
        folder = str(one["cwd"]).rstrip("/").rpartition("/")[2]
        yield one["session_id"][:SHORT], " · ".join(filter(None, (folder, one["title"], one["agent_state"])))


def request_names(requests: Iterable[Json]) -> Iterator[tuple[str, str]]:
    for one in requests:
        words = (value for value in one["tool_input"].values() if isinstance(value, str))
        yield one["request_id"], f"{one['tool_name']} {next(words, '')}".strip()[:80]


def rule_names(rules: Iterable[Json]) -> Iterator[tuple[str, str]]:
    yield from ((one["rule_id"], f"{one['effect']} {one['pattern']}") for one in rules)


def token_names(tokens: Iterable[Json]) -> Iterator[tuple[str, str]]:
    yield from ((one["token_id"], one["name"]) for one in tokens)


_KINDS: Mapping[str, tuple[str, Callable[[Iterable[Json]], Iterator[tuple[str, str]]]]] = {
    "sessions": (f"/sessions?limit={MOST}", session_names),
    "requests": (f"/requests?status=pending&limit={MOST}", request_names),
    "rules": ("/rules", rule_names),
    "tokens": ("/tokens", token_names),
}
