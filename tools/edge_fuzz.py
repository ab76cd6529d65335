"""Send random calls without a credential to a daemon: `python -m tools.edge_fuzz 2000000`.

Each connection is made from the seed and its number, so `--first` and `--last` send one of them again. The run fails
when the daemon ends, logs an error, or lets a well-formed client wait.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.support.daemon import Daemon

SEED = 1
AT_ONCE = 16
ANSWER = re.compile(rb"HTTP/1\.1 \d\d\d ")
CHUNK = 500
"""After so many connections the log is read, and a well-formed client must be answered."""
CALLS = 60
"""The most calls on one connection."""
WAIT_SECONDS = 1.0
SERVED_SECONDS = 20.0
LARGE = 70_000

METHODS = (b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"HEAD", b"CONNECT", b"TRACE", b"PRI", b"get", b"")
PATHS = (
    b"/", b"/healthz", b"/hook", b"/ws", b"/metrics", b"/login", b"/api/v1", b"/api/v1/me", b"/api/v1/requests",
    b"/api/v1/requests/x/decision", b"/api/v1/sessions/%2e%2e/feed", b"/api/v1/openapi.json", b"/assets/app.js",
    b"//x", b"/%00", b"/%ff%fe", b"/api/v1/rules?scope=a&scope=b", b"/../../etc/passwd", b"/ws?token=x", b"/%",
    b"/?", b"/;", b"/api/v1/feed?after=-1&limit=1e9", b"/api/v1/requests?status=%zz", b"/api/v1/login",
)  # fmt: skip
ENDING_PATHS = (b"*", b"http://127.0.0.1/hook", b"/\xc3\xa9", b"", b"hook", b"/a b", b"/#x")
PRINTABLE = range(33, 127)
NAMES = (
    b"Origin", b"Authorization", b"Cookie", b"Content-Type", b"Sec-WebSocket-Key", b"Sec-WebSocket-Version",
    b"Sec-WebSocket-Protocol", b"Accept", b"Sec-Fetch-Site", b"X-CSRF-Token", b"X-Quarterdeck-Tag", b"Range",
    b"If-None-Match", b"Accept-Encoding", b"X-Forwarded-For", b"Accept-Language", b"X-Quarterdeck-Entrypoint",
)  # fmt: skip
ENDING_NAMES = (
    b"Host", b"Content-Length", b"Transfer-Encoding", b"Expect", b"Connection", b"Upgrade", b"", b"a b", b"\xff",
)  # fmt: skip
VALUES = (
    b"", b"0", b"-1", b"5", b"99999999999999999999", b"0x5", b"chunked", b"gzip, chunked", b"keep-alive", b"close",
    b"upgrade", b"websocket", b"h2c", b"13", b"8", b"application/json", b"text/html", b"Bearer", b"Bearer x",
    b"Basic YTpi", b"Bearer \xff\xfe", b"a=b; a=c", b"quarterdeck=x", b'"\x80', b"null", b"http://evil.example", b"*/*",
    b"100-continue", b"bytes=0-", b"dGhlIHNhbXBsZSBub25jZQ==", b"\t", b"x" * 9000, b"same-origin", b"127.0.0.1",
)  # fmt: skip
BODIES = (
    b"", b"{}", b"[]", b"null", b"nope", b"\xff\xfe", b'{"hook_event_name":"Stop","session_id":"s"}', b'{"a":NaN}',
    b'{"token":"x"}', b"[" * 5000, b'{"a":' * 3000, b'{"\\ud800":1}', b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n",
    b"zz\r\n", b"ffffffffffffffff\r\nx", b"1;" + b"e" * 500 + b"\r\nx\r\n0\r\nA: b\r\n\r\n", b"\x00" * 200,
)  # fmt: skip
LINES = (
    b'{"request_id":"r","payload":{"hook_event_name":"Stop","session_id":"s"}}', b'{"request_id":"r","payload":1}',
    b"{}",
    b'{"request_id":"../x","payload":{}}', b'{"request_id":"r","ack":true}', b"[]", b"\xff", b"null", b'"x"', b" ",
    b'{"request_id":"r","payload":{"hook_event_name":["x"],"session_id":{}}}', b"[" * 2000, b'{"request_id":1}',
    b"QDHOOK/2 2 assist cli - - c1", b"QDHOOK/1 2 enforce cli 1 t", b"QDHOOK/2 -5 assist cli - - c2", b"QDHOOK/9",
    b"QDHOOK/2 x enforce cli - - c3", b"QDHOOK/2 1e3 assist", b"QDHOOK/1", b"QDHOOK/2 99999999999 assist a b c d",
)  # fmt: skip


def http_call(pick: random.Random, port: int) -> bytes:
    """A request: nearly always one after which the connection goes on, so that the next one is read as well."""
    ends = pick.random() < 0.02
    target = pick.choice(ENDING_PATHS if ends else PATHS)
    if pick.random() < 0.05:
        target = b"/" + bytes(pick.choices(PRINTABLE if not ends else range(256), k=pick.randrange(60)))
    version = pick.choice((b"1.0", b"2.0", b"0.9", b"")) if ends else b"1.1"
    lines = [b"%s %s HTTP/%s" % (pick.choice(METHODS if ends else METHODS[:6]), target, version)]
    lines.append(b"Host: " + (b"127.0.0.1:%d" % port if pick.random() < 0.9 else pick.choice(VALUES)))
    names = (*NAMES, *ENDING_NAMES) if ends else NAMES
    lines += [b"%s: %s" % (pick.choice(names), pick.choice(VALUES)) for _ in range(pick.choice((0, 0, 1, 2, 5)))]
    body = pick.choice(BODIES)
    if body and not ends:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join([*lines, b"", body])


def upgrade(pick: random.Random, port: int) -> bytes:
    """A WebSocket that says something before its hello, in frames that may be none."""
    key = base64.b64encode(pick.randbytes(pick.choice((16, 16, 16, 3))))
    head = b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" % port
    head += b"Sec-WebSocket-Version: %s\r\nSec-WebSocket-Key: %s\r\n\r\n" % (pick.choice((b"13", b"13", b"8")), key)
    return head + b"".join(frame(pick) for _ in range(pick.randrange(6)))


def frame(pick: random.Random) -> bytes:
    words = (
        b'{"type":"hello","protocol":2,"token":"x","topics":[]}',
        b'{"type":"hello"}',
        b"{}",
        b"[",
        b"\xff",
        b"",
        b"[]",
    )
    content = pick.choice(words) if pick.random() < 0.8 else pick.randbytes(pick.randrange(125))
    first = pick.choice((0x81, 0x81, 0x82, 0x88, 0x89, 0x8A, 0x01, 0x80, 0x83, 0xC1, 0x8B, 0xF1))
    if pick.random() < 0.1:  # unmasked, which a client must not send
        return bytes((first, len(content))) + content
    mask = pick.randbytes(4)
    return bytes((first, 0x80 | len(content))) + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))


def garbage(pick: random.Random) -> bytes:
    """Bytes of any kind, or a long head."""
    if pick.random() < 0.05:
        return b"GET /" + bytes([pick.randrange(33, 127)]) * LARGE
    return pick.randbytes(pick.randrange(1, 400))


def spoiled(pick: random.Random, call: bytes) -> bytes:
    """The call with some of its bytes changed, lost or doubled."""
    content = bytearray(call)
    for _ in range(pick.randrange(1, 5)):
        at = pick.randrange(len(content) + 1)
        content[at : at + pick.randrange(3)] = pick.randbytes(pick.randrange(3))
    return bytes(content)


def http_calls(pick: random.Random, port: int) -> list[bytes]:
    """What one connection sends: calls one after another, then perhaps something that ends it."""
    calls = [http_call(pick, port) for _ in range(pick.randrange(1, CALLS))]
    last = pick.random()
    if last < 0.2:
        calls.append(upgrade(pick, port))
    elif last < 0.5:
        calls.append(spoiled(pick, http_call(pick, port)))
    elif last < 0.6:
        calls.append(garbage(pick))
    return [*calls, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % port]


def socket_calls(pick: random.Random) -> list[bytes]:
    """What one connection to the Unix socket sends; a hook event may be recorded, as any program of the user may."""
    lines = [pick.choice(LINES) for _ in range(pick.randrange(1, CALLS))]
    return [(spoiled(pick, line) if pick.random() < 0.3 else line) + b"\n" for line in lines]


class Fuzzer:
    """Sends connections by number, and looks at what the daemon makes of them."""

    def __init__(self, daemon: Daemon, seed: str) -> None:
        self._daemon, self._seed = daemon, seed
        self._port, self._socket = daemon.port, str(daemon.socket_path)
        self._log = daemon.home / "log" / "daemon.log"
        self._read_to = 0
        self.sent: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()

    async def send(self, number: int) -> None:
        pick = random.Random(f"{self._seed}:{number}")
        is_http = pick.random() < 0.8
        calls = http_calls(pick, self._port) if is_http else socket_calls(pick)
        answered = await self._converse(is_http, b"".join(calls), waits=pick.random() < 0.95)
        kind = "HTTP" if is_http else "the socket"
        self.answered[kind] += answered
        self.sent[kind] += len(calls)

    async def _converse(self, is_http: bool, content: bytes, *, waits: bool) -> int:
        """The number of answers to what was sent; some clients do not wait for them."""
        answers = bytearray()
        with suppress(OSError, TimeoutError):
            if is_http:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            else:
                reader, writer = await asyncio.open_unix_connection(self._socket)
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    writer.write(content)
                    if not is_http:
                        writer.write_eof()
                    while waits and (chunk := await reader.read(1 << 16)):
                        answers += chunk
            finally:
                writer.transport.abort()
        return len(ANSWER.findall(answers)) if is_http else answers.count(b"\n")

    async def run(self, first: int, last: int, enough: Callable[[], bool]) -> int:
        """Send these connections; the number of the first one that was not sent."""
        for start in range(first, last, CHUNK):
            if enough():
                return start
            numbers = iter(range(start, min(last, start + CHUNK)))
            await asyncio.gather(*(self._send_all(numbers) for _ in range(AT_ONCE)))
            self._check(start)
        return last

    async def _send_all(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            await self.send(number)

    def _check(self, start: int) -> None:
        began = time.monotonic()
        status, _ = self._daemon.api("GET", "/healthz", timeout=SERVED_SECONDS)
        problems = [line for line in self._new_lines() if json.loads(line).get("level") in ("error", "critical")]
        if problems or status != 200 or not self._daemon.alive():
            shown = "\n".join(problems[:5])
            again = f"--seed {self._seed} --first {start} --last {start + CHUNK}"
            raise SystemExit(
                f"healthz {status} after {time.monotonic() - began:.1f} s; send it again by {again}\n{shown}"
            )

    def _new_lines(self) -> list[str]:
        with self._log.open("rb") as file:
            if self._read_to > os.fstat(file.fileno()).st_size:
                self._read_to = 0  # a new file was begun
            file.seek(self._read_to)
            content = file.read()
        whole = content.rpartition(b"\n")[0]
        self._read_to += len(whole) + 1 if whole else 0
        return [line for line in whole.decode(errors="replace").splitlines() if line.startswith("{")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", nargs="?", type=int, default=2_000_000)
    parser.add_argument("--seed", default=SEED)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=sys.maxsize)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args()
    ends = time.monotonic() + args.seconds
    with ExitStack() as stack:
        made = stack.enter_context(tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp", ignore_cleanup_errors=True))
        daemon = stack.enter_context(Daemon(Path(made) / "qd", env={"QUARTERDECK_DECIDE_HOLD": "never"}))
        fuzzer = Fuzzer(daemon, str(args.seed))
        following = asyncio.run(
            fuzzer.run(args.first, args.last, lambda: fuzzer.answered.total() >= args.calls or time.monotonic() > ends)
        )
        assert daemon.stop() == 0
        assert "Traceback" not in daemon.stderr(), daemon.stderr()
    counts = ", ".join(f"{fuzzer.answered[kind]} of {sent} over {kind}" for kind, sent in sorted(fuzzer.sent.items()))
    print(f"seed {args.seed}: answered {counts}, and logged no error; go on with --first {following}")


if __name__ == "__main__":
    main()
