"""A scripted stand-in for the Messages API on loopback, driven by the text of the prompt."""

import argparse
import contextlib
import itertools
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

Json = dict[str, Any]

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
USAGE = {
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}
_ids = itertools.count(1)


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def tool(name: str, /, **tool_input: Any) -> Json:
    return {"type": "tool_use", "name": name, "input": tool_input}


class Turn:
    """One assistant message: its blocks, and how it goes wrong or late on the way.

    With `error`, the first `times` requests for this turn (all, if None) get that HTTP status.
    `before` and `between` are seconds, ahead of the answer and between streamed pieces;
    `gate` holds the answer until the test sets it.
    """

    def __init__(
        self,
        *blocks: Json,
        error: int | None = None,
        times: int | None = None,
        before: float = 0.0,
        between: float = 0.0,
        gate: threading.Event | None = None,
    ) -> None:
        self.blocks = blocks or (text("done"),)
        self.error, self.times = error, times
        self.before, self.between, self.gate = before, between, gate

    def fails(self, attempt: int) -> bool:
        return self.error is not None and (self.times is None or attempt <= self.times)

    def message(self, model: str) -> Json:
        blocks = [
            {"id": f"toolu_{next(_ids):06}", **block} if block["type"] == "tool_use" else block for block in self.blocks
        ]
        return {
            "id": f"msg_{next(_ids):06}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "stop_reason": "tool_use" if any("id" in block for block in blocks) else "end_turn",
            "stop_sequence": None,
            "usage": dict(USAGE),
        }


Scripts = Mapping[str, Sequence[Turn]]


@dataclass(frozen=True, kw_only=True)
class Received:
    """A request as it came, with the script it matched and where its prompt stands in the messages.

    A request without tools is a side call (a title, say) and matches none.
    """

    path: str
    body: Json
    prompt: str | None = None
    prompt_at: int = -1

    @property
    def since_prompt(self) -> list[Json]:
        messages: list[Json] = self.body.get("messages", [])
        return messages[self.prompt_at + 1 :]

    @property
    def turn(self) -> int:
        return sum(message["role"] == "assistant" for message in self.since_prompt)


class ModelServer:
    """Answers `POST /v1/messages`; a script's key is the whole prompt, of a person or of a sub-agent."""

    def __init__(self, scripts: Scripts | None = None, *, port: int = 0) -> None:
        self.scripts: dict[str, Sequence[Turn]] = dict(scripts or {})
        self.closing = threading.Event()
        self._received: list[Received] = []
        self._attempts: Counter[tuple[str | None, int]] = Counter()
        self._heard = threading.Condition()
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="model-server")
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def requests(self) -> list[Received]:
        with self._heard:
            return list(self._received)

    def requests_for(self, prompt: str) -> list[Received]:
        return [request for request in self.requests if request.prompt == prompt]

    def tool_results(self, prompt: str) -> list[str]:
        """The texts the model was given for its tool calls after this prompt, each once, in the order of the calls."""
        seen: dict[str, str] = {}
        for request in self.requests_for(prompt):
            for block in _blocks(request.since_prompt):
                if block["type"] == "tool_result":
                    seen[block["tool_use_id"]] = _plain(block.get("content", ""))
        return [seen[call] for call in sorted(seen)]

    def wait_until(self, is_met: Callable[["ModelServer"], bool], timeout: float = 60.0) -> None:
        with self._heard:
            if not self._heard.wait_for(lambda: is_met(self), timeout):
                raise TimeoutError(f"not heard within {timeout} s; {len(self._received)} requests came")

    def hear(self, path: str, body: Json) -> Received:
        prompt, at = find_prompt(self.scripts, body["messages"]) if body.get("tools") else (None, -1)
        request = Received(path=path, body=body, prompt=prompt, prompt_at=at)
        with self._heard:
            self._received.append(request)
            self._heard.notify_all()
        return request

    def next_turn(self, request: Received) -> tuple[Turn, bool]:
        """The scripted turn, and whether this attempt at it fails; past the script's end a plain text."""
        if not request.body.get("tools"):
            return Turn(text("ok")), False
        script = self.scripts.get(request.prompt or "", ())
        if request.turn >= len(script):
            return Turn(), False
        with self._heard:
            self._attempts[request.prompt, request.turn] += 1
            attempt = self._attempts[request.prompt, request.turn]
        return script[request.turn], script[request.turn].fails(attempt)


def find_prompt(scripts: Scripts, messages: Sequence[Json]) -> tuple[str | None, int]:
    """The script whose key is, word for word, the latest prompt that has one, and where that prompt stands."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] == "user":
            for block in reversed([*_blocks(messages[at : at + 1])]):
                prompt = REMINDER.sub("", block.get("text", "")).strip()
                if prompt in scripts:
                    return prompt, at
    return None, -1


def _blocks(messages: Sequence[Json]) -> Iterator[Json]:
    for message in messages:
        content = message["content"]
        yield from [text(content)] if isinstance(content, str) else content


def _plain(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "\n".join(b.get("text", "") for b in content)


def stream(message: Json) -> Iterator[Json]:
    """The message as the server-sent events of the streaming API."""
    opening = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _deltas(block: Json) -> Iterator[Json]:
    if block["type"] == "tool_use":
        yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        for piece in re.findall(r"\s*\S+\s*$|\s*\S+|\s+", block["text"]):
            yield {"type": "text_delta", "text": piece}


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
            request = server.hear(self.path, body)
            with contextlib.suppress(ConnectionError):
                self._answer(request)

        def do_GET(self) -> None:
            self._json(404, {"type": "error", "error": {"type": "not_found_error", "message": self.path}})

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, request: Received) -> None:
            route = request.path.partition("?")[0]
            if route == "/v1/messages/count_tokens":
                self._json(200, {"input_tokens": 100})
            elif route == "/v1/messages":
                self._play(request, *server.next_turn(request))
            else:
                self.do_GET()

        def _play(self, request: Received, turn: Turn, fails: bool) -> None:
            server.closing.wait(turn.before)
            while turn.gate and not turn.gate.wait(0.05) and not server.closing.is_set():
                pass
            message = turn.message(request.body.get("model", "claude"))
            if fails and turn.error:
                kind = ERROR_TYPES.get(turn.error, "api_error")
                self._json(turn.error, {"type": "error", "error": {"type": kind, "message": "scripted"}})
            elif request.body.get("stream"):
                self._stream(message, turn.between)
            else:
                self._json(200, message)

        def _stream(self, message: Json, between: float) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in stream(message):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
                if between and event["type"] == "content_block_delta":
                    server.closing.wait(between)

        def _json(self, status: int, body: Json) -> None:
            sent = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(sent)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def read_scripts(path: Path) -> dict[str, list[Turn]]:
    """From JSON: {"prompt": [{"blocks": [{"type": "text", "text": "hi"}], "error": 529, "times": 1}]}."""
    return {
        prompt: [Turn(*turn.pop("blocks", ()), **turn) for turn in turns]
        for prompt, turns in json.loads(path.read_text()).items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path)
    args = parser.parse_args()
    scripts = read_scripts(args.script) if args.script else {}
    with ModelServer(scripts, port=args.port) as server:
        print(server.url, flush=True)
        try:
            server.closing.wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
