"""The Unix socket: NDJSON envelopes, and the forwarder's leaner framing, on one path that only we can reach."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
import stat
import struct
import time
from pathlib import Path
from typing import Any

import msgspec
import structlog

from quarterdeck.core.model.payload import ID, sha256_of
from quarterdeck.daemon.ingest.intake import SILENCE, Caller, Ears, Spoken, spoken
from quarterdeck.daemon.loop.loop import Envelope
from quarterdeck.daemon.loop.waiters import QUIET, Held, Told
from quarterdeck.errors import BadInput, HomeError
from quarterdeck.wire import HEAVY, MAX_BYTES, capped, read_json, write_json

FORWARDER = b"QDHOOK/1 "
MAX_PATH = 107
PASSTHROUGH = b"0 0\n"
LOOK_SECONDS = 0.25
HANG_UP_SECONDS = 1.0

logger = structlog.get_logger("socket")


def bind(path: Path) -> socket.socket:
    """A socket that was never reachable with a wider mode; refuses what we did not put there."""
    if len(os.fsencode(path)) > MAX_PATH:
        raise HomeError(f"{path}: too long for a socket ({MAX_PATH} bytes); choose a shorter QUARTERDECK_HOME")
    _remove_stale(path)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.setblocking(False)
    server.bind(str(path))
    path.chmod(0o600)
    return server


def _remove_stale(path: Path) -> None:
    """Only called by the one daemon that owns this home, so a socket of ours here is left over."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        raise HomeError(f"{path}: is not a socket of ours; remove it")
    path.unlink()


def peer_uid(connection: socket.socket) -> int | None:
    """Who is on the other side, where the system tells."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])


class SocketServer:
    """Serves agents on the Unix socket."""

    def __init__(self, ears: Ears) -> None:
        self._ears = ears
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, bound: socket.socket) -> None:
        self._server = await asyncio.start_unix_server(self._connected, sock=bound, limit=MAX_BYTES, backlog=1024)

    async def stop(self) -> None:
        """Close the door; whoever is inside has been answered."""
        if self._server is not None:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            await _hang_up(writer)
            self._open.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        uid = peer_uid(writer.get_extra_info("socket"))
        if uid is not None and uid != os.getuid():
            logger.warning("a foreign user was turned away", uid=uid)
            return
        line = await self._line(reader, writer)
        if line.startswith(FORWARDER):
            await self._forwarder(line, reader, writer)
        else:
            await self._envelopes(line, reader, writer)

    async def _line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        """One line with its end, the rest at the end of the stream, or nothing when it is over the limit."""
        try:
            return await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as rest:
            return rest.partial
        except asyncio.LimitOverrunError:
            self._ears.refused["too_large"] += 1
            _send(writer, _reply("", Spoken(error=f"a line has at most {MAX_BYTES} bytes")))
            return b""

    async def _forwarder(self, header: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = await self._from_forwarder(header, reader)
        if said is None:
            return
        if said.error and _is_enforced(header):
            reason = f"Quarterdeck could not decide: {said.error}\n".encode()
            _send(writer, b"2 %d\n%s" % (len(reason), reason))
        elif said.answer:
            _send(writer, b"1 %d\n%s" % (len(said.answer), said.answer))
        else:
            _send(writer, PASSTHROUGH)
        await writer.drain()

    async def _from_forwarder(self, header: bytes, reader: asyncio.StreamReader) -> Spoken | None:
        try:
            size, _, entrypoint, pid, tag = header.split()[1:6]
            if int(size) > MAX_BYTES:
                raise BadInput("too_large", f"a hook payload has at most {MAX_BYTES} bytes")
            caller = Caller(
                holder="forwarder",
                enforced=_is_enforced(header),
                entrypoint=_word(entrypoint),
                pid=int(pid) if pid.isdigit() and len(pid) < 10 else 0,
                tag=_word(tag),
            )
            body = await reader.readexactly(int(size))
            turn = self._ears.hear(body, caller) if len(body) <= HEAVY else await self._ears.hear_heavy(body, caller)
        except (BadInput, ValueError, asyncio.IncompleteReadError) as error:
            self._refuse(error)
            return Spoken(error=str(error))
        if turn is None:
            return SILENCE
        told = await turn.answer
        if isinstance(told, Held):
            return await self._until_gone(turn.event_id, told.answer, reader)
        if told is QUIET:
            self._ears.answered(turn)
        return spoken(told)

    async def _until_gone(
        self, request_id: str, answer: asyncio.Future[Told], reader: asyncio.StreamReader
    ) -> Spoken | None:
        """Wait for a person as long as the connection lives; None when it died first."""
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not answer.done():
                self._ears.leave(request_id, answer)
        return spoken(answer.result()) if answer.done() else None

    async def _envelopes(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Any number of envelopes; one that is held does not keep the next from being heard."""
        held: dict[asyncio.Future[Told], str] = {}
        try:
            while line:
                if line.strip():
                    await self._envelope(line, writer, held)
                line = await self._line(reader, writer)
            await self._linger(writer, held)
        finally:
            for answer, request_id in list(held.items()):
                self._ears.leave(request_id, answer)

    async def _linger(self, writer: asyncio.StreamWriter, held: dict[asyncio.Future[Told], str]) -> None:
        """The client sends nothing more. A half-closed one may still read; a closed one is gone."""
        while held:
            if _is_closed(writer.get_extra_info("socket")):
                return
            await asyncio.wait(held, timeout=LOOK_SECONDS)
        await writer.drain()

    async def _envelope(self, line: bytes, writer: asyncio.StreamWriter, held: dict[asyncio.Future[Told], str]) -> None:
        request_id = ""
        received = time.perf_counter()
        try:
            content = read_json(line) if len(line) <= HEAVY else await asyncio.to_thread(read_json, line)
            request_id = _request_id(content)
            payload, digest = _payload(content) if len(line) <= HEAVY else await asyncio.to_thread(_payload, content)
            caller = Caller(holder="ndjson", tag=_text(content.get("tag")))
            envelope = Envelope(request_id, digest)
            turn = self._ears.hear_payload(payload, len(line), caller, request_id, envelope, received)
        except BadInput as error:
            self._refuse(error)
            _send(writer, _reply(request_id, Spoken(error=str(error))))
            return
        told = await turn.answer if turn else None
        if isinstance(told, Held):
            held[told.answer] = request_id
            told.answer.add_done_callback(lambda done: _answer_later(writer, held, done))
            return
        _send(writer, _reply(request_id, spoken(told) if told else SILENCE))
        if turn is not None and told is QUIET:
            self._ears.answered(turn)
        await writer.drain()

    def _refuse(self, error: Exception) -> None:
        """Count and log it; another's error may quote what was sent, so only its name is logged."""
        kind, words = (error.kind, str(error)) if isinstance(error, BadInput) else ("malformed", type(error).__name__)
        self._ears.refused[kind] += 1
        logger.warning("an envelope was refused", kind=kind, error=words[:200])


def _send(writer: asyncio.StreamWriter, content: bytes) -> None:
    """Write, unless the peer has gone: event loops differ in what they raise then."""
    if writer.is_closing():
        raise ConnectionResetError
    writer.write(content)


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    """Close when what was written has been read, or at once when nobody reads it."""
    writer.close()
    with contextlib.suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
        async with asyncio.timeout(HANG_UP_SECONDS):
            await writer.wait_closed()
    writer.transport.abort()


def _answer_later(
    writer: asyncio.StreamWriter, held: dict[asyncio.Future[Told], str], answer: asyncio.Future[Told]
) -> None:
    request_id = held.pop(answer, None)
    if request_id is not None and not answer.cancelled() and not writer.is_closing():
        _send(writer, _reply(request_id, spoken(answer.result())))


def _is_closed(connection: Any) -> bool:
    """Whether the peer has closed both ways: a Unix socket then hangs up."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLHUP)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))


def _request_id(content: Any) -> str:
    if not isinstance(content, dict):
        raise BadInput("not_an_envelope", "an envelope is an object with request_id and payload")
    request_id = content.get("request_id")
    if not isinstance(request_id, str) or not ID.fullmatch(request_id):
        raise BadInput("bad_request_id", "request_id: 1 to 128 characters of A-Z a-z 0-9 _ . : -")
    return request_id


def _payload(content: Any) -> tuple[Any, bytes]:
    """What an envelope holds, with the digest that a second one under the same id must have."""
    payload = content.get("payload")
    if not isinstance(payload, dict):
        payload = {"value": payload}
    for key in ("hook_event_name", "session_id"):
        if key in content:
            payload.setdefault(key, content[key])
    return capped(payload), sha256_of(payload)


def _is_enforced(header: bytes) -> bool:
    """Whether the forwarder blocks the tool when something goes wrong."""
    return header.split()[2:3] == [b"enforce"]


def _word(value: bytes) -> str:
    return "" if value == b"-" else value.decode("latin-1")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _reply(request_id: str, said: Spoken) -> bytes:
    """One NDJSON line. The answer is JSON already and is not parsed again."""
    payload: dict[str, Any] = {"action": "passthrough"}
    reply: dict[str, Any] = {"request_id": request_id, "ts": time.time(), "payload": payload}
    if said.error:
        reply["error"] = said.error
    if said.answer is not None:
        payload |= {"action": "json_output", "stdout_json": msgspec.Raw(said.answer)}
    return write_json(reply) + b"\n"
