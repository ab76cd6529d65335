"""What a host remembers of its agent's conversation with the daemon, so that the next daemon can go on. Sans I/O.

Claude Code speaks lines of JSON. Three things must not be lost with a daemon: the answer to `initialize`, which an
agent gives only once; the control requests that wait for an answer; and the lines that no daemon has recorded. Prompts
wait here too, because a daemon that holds them itself would lose them. Standard library only.
"""

from __future__ import annotations

import json
from collections import deque

from quarterdeck.drivers.claude.sdk_host.sdk_frames import LINE, SENT, UNNUMBERED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEAD_BYTES = 200
"""Claude Code writes the type of a message first: a longer line is only parsed if its head says that it matters."""
SMALL_LINE = 64 * 1024
MARKS = (b'"control_', b'"result"')


class Relay:
    """Lines, without their ends, come from the agent and from the daemon; `to_client` and `to_agent` hold what must be
    sent."""

    def __init__(self, wait_seconds: float, denial: str) -> None:
        self._wait_seconds, self._denial = wait_seconds, denial
        self.to_client: list[tuple[bytes, int, bytes]] = []
        self.to_agent: list[bytes] = []
        self.is_attached = False
        self.is_busy = False
        self.untaken: deque[tuple[bytes, int, bytes]] = deque()
        self.untaken_bytes = 0
        self._position = UNNUMBERED
        self._prompts: deque[tuple[str, bytes]] = deque()
        self._waiting: dict[str, tuple[float, bytes]] = {}
        self._initialize_sent = ""
        self._initialize_asked = ""
        self._initialized: dict[str, Any] | None = None

    def state(self) -> dict[str, Any]:
        """The part of the host's state that the next daemon must know."""
        return {
            "busy": self.is_busy,
            "queued": [name for name, _ in self._prompts],
            "waiting": list(self._waiting),
            "initialized": self._initialized is not None,
        }

    def attach(self) -> None:
        """A daemon is here: it gets everything that none has taken, then the requests that wait for an answer."""
        self.is_attached = True
        self.to_client = [*self.untaken, *((LINE, UNNUMBERED, line) for _, line in self._waiting.values())]

    def detach(self) -> None:
        self.is_attached = False
        self.to_client.clear()

    def taken(self, position: int) -> None:
        """Forget the lines that are on record."""
        while self.untaken and self.untaken[0][1] <= position:
            self.untaken_bytes -= len(self.untaken.popleft()[2])

    def from_agent(self, line: bytes, now: float) -> None:
        if not line.startswith(b"{"):
            return  # programs that the agent runs may print to its stdout too
        message = parsed(line)
        kind = message.get("type")
        if kind == "control_request":
            self._waiting[str(message.get("request_id"))] = (now + self._wait_seconds, line)
            self._pass_on(line)
        elif kind == "control_cancel_request":
            self._waiting.pop(str(message.get("request_id")), None)
            self._pass_on(line)
        elif kind == "control_response":
            self._response(line, message.get("response"))
        elif kind == "stream_event":
            self._pass_on(line)  # live text: the message that follows repeats it
        else:
            self._keep(LINE, line)
            if kind == "result":
                self.is_busy = False
                self._send_prompt()

    def _response(self, line: bytes, response: Any) -> None:
        """Pass on an answer to the daemon. The one to `initialize` is kept, and carries the id that is asked with
        now."""
        if isinstance(response, dict) and response.get("request_id") == self._initialize_sent:
            self._initialized = response
            self._answer_initialize()
        else:
            self._pass_on(line)

    def _answer_initialize(self) -> None:
        assert self._initialized is not None
        response = {**self._initialized, "request_id": self._initialize_asked}
        self._pass_on(json.dumps({"type": "control_response", "response": response}).encode())

    def from_client(self, line: bytes) -> None:
        message = parsed(line)
        if message.get("type") == "control_response":
            response = message.get("response")
            name = str(response.get("request_id")) if isinstance(response, dict) else ""
            if self._waiting.pop(name, None) is None:
                return  # denied or cancelled meanwhile: the agent no longer waits
        elif message.get("type") == "control_request" and is_initialize(message):
            self._initialize_asked = str(message.get("request_id"))
            if self._initialized is not None:
                self._answer_initialize()
                return
            if self._initialize_sent:
                return  # the daemon before this one has asked; the answer is on its way
            self._initialize_sent = self._initialize_asked
        self.to_agent.append(line)

    def prompt(self, name: str, line: bytes) -> None:
        """Send a prompt once the turn before it has ended."""
        self._prompts.append((name, line))
        self._send_prompt()

    def clear(self) -> None:
        """Forget the prompts that were not sent."""
        self._prompts.clear()

    def _send_prompt(self) -> None:
        if self.is_busy or not self._prompts:
            return
        name, line = self._prompts.popleft()
        self.is_busy = True
        self.to_agent.append(line)
        self._keep(SENT, name.encode())

    def deny_expired(self, now: float) -> None:
        """Deny the requests that have waited for too long: an agent of the SDK has no prompt of its own."""
        for name in [name for name, (until, _) in self._waiting.items() if until <= now]:
            del self._waiting[name]
            answer = {"behavior": "deny", "message": self._denial}
            body = {"subtype": "success", "request_id": name, "response": answer}
            self.to_agent.append(json.dumps({"type": "control_response", "response": body}).encode())
            cancelled = {"type": "control_cancel_request", "request_id": name}
            self._pass_on(json.dumps(cancelled).encode())

    def next_deadline(self) -> float | None:
        return min((until for until, _ in self._waiting.values()), default=None)

    def _pass_on(self, line: bytes) -> None:
        """Send a line that is not sent again."""
        if self.is_attached:
            self.to_client.append((LINE, UNNUMBERED, line))

    def _keep(self, letter: bytes, body: bytes) -> None:
        """Send a line, and keep it until it is on record."""
        self._position += 1
        entry = (letter, self._position, body)
        self.untaken.append(entry)
        self.untaken_bytes += len(body)
        if self.is_attached:
            self.to_client.append(entry)


def parsed(line: bytes) -> dict[str, Any]:
    """The message in a line; empty for a line that is long and of no concern here, or no object."""
    if len(line) > SMALL_LINE and not any(mark in line[:HEAD_BYTES] for mark in MARKS):
        return {}
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def is_initialize(message: dict[str, Any]) -> bool:
    request = message.get("request")
    return isinstance(request, dict) and request.get("subtype") == "initialize"
