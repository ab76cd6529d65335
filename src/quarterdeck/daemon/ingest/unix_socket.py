"""The Unix socket: NDJSON envelopes and the forwarder's leaner framing, on one path that only this user can reach."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
import stat
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import structlog

from quarterdeck.core.model.payload import ID, sha256_of
from quarterdeck.daemon.ingest.intake import SILENCE, HookCaller, HookIntake, HookResponse, hook_response
from quarterdeck.daemon.loop.queued_input import Envelope
from quarterdeck.daemon.loop.waiters import NO_OPINION, HookAnswer, HookPending
from quarterdeck.daemon.telemetry.escaped_errors import log_escaped_error
from quarterdeck.errors import BadInput, HomeError
from quarterdeck.wire import HEAVY, MAX_BYTES, cap_tool_input, read_json, write_json

FORWARDERS = (b"QDHOOK/1 ", b"QDHOOK/2 ")
"""The first is that of version 0.1: it has no id, is not acknowledged, and never comes back."""

ACK = b"ack\n"
MAX_PATH = 107
PASSTHROUGH = b"0 0\n"
POLL_SECONDS = 0.25
HANG_UP_SECONDS = 1.0

logger = structlog.get_logger("socket")


def bind(path: Path) -> socket.socket:
    """Make a socket that is never reachable with a wider mode. Refuses any other file in its place."""
    if len(os.fsencode(path)) > MAX_PATH:
        raise HomeError(
            f"{path}: is too long for a socket (at most {MAX_PATH} bytes); choose a shorter QUARTERDECK_HOME"
        )
    _remove_stale(path)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.setblocking(False)
    server.bind(str(path))
    path.chmod(0o600)
    return server


def _remove_stale(path: Path) -> None:
    """Remove a socket that is left over: only the daemon that owns this home calls this."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        raise HomeError(f"{path}: is not a socket of Quarterdeck; remove it")
    path.unlink()


def peer_uid(connection: socket.socket) -> int | None:
    """The user id of the peer, where the system tells."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])


class SocketServer:
    """Serves agents on the Unix socket."""

    def __init__(self, intake: HookIntake) -> None:
        self._intake = intake
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, bound: socket.socket) -> None:
        self._server = await asyncio.start_unix_server(self._connected, sock=bound, limit=MAX_BYTES, backlog=1024)

    async def stop(self) -> None:
        """Close the socket; every open connection has been answered."""
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
            logger.warning("another user's connection was refused", uid=uid)
            return
        line = await self._line(reader, writer)
        if line.startswith(FORWARDERS):
            with _logging_errors(line):
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
            self._intake.refused["too_large"] += 1
            _send(writer, _reply("", HookResponse(error=f"a line has at most {MAX_BYTES} bytes")))
            return b""

    async def _forwarder(self, header: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        response = await self._from_forwarder(header, reader, writer)
        if response is None:
            return
        if response.error and _is_enforced(header):
            reason = f"Quarterdeck could not decide: {response.error}\n".encode()
            _send(writer, b"2 %d\n%s" % (len(reason), reason))
        elif response.answer:
            _send(writer, b"1 %d\n%s" % (len(response.answer), response.answer))
        else:
            _send(writer, PASSTHROUGH)
        await writer.drain()

    async def _from_forwarder(
        self, header: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> HookResponse | None:
        try:
            size, _, entrypoint, pid, tag = header.split()[1:6]
            call_id = _call_id(header)
            if int(size) > MAX_BYTES:
                raise BadInput("too_large", f"a hook payload has at most {MAX_BYTES} bytes")
            caller = HookCaller(
                waiter="forwarder",
                enforced=_is_enforced(header),
                reconnects=bool(call_id),
                entrypoint=_word(entrypoint),
                pid=int(pid) if pid.isdigit() and len(pid) < 10 else 0,
                tag=_word(tag),
            )
            body = await reader.readexactly(int(size))
            if self._intake.turns_away(caller):
                return SILENCE
            if len(body) <= HEAVY:
                call = self._intake.receive(body, caller, call_id)
            else:
                _acknowledge(writer, call_id)  # the loop is alive, but the answer may take longer than a client waits
                call = await self._intake.receive_heavy(body, caller, call_id)
        except (BadInput, ValueError, asyncio.IncompleteReadError) as error:
            self._refuse(error)
            return HookResponse(error=str(error))
        if call is None:
            return SILENCE
        answer = await call.answer
        if isinstance(answer, HookPending):
            _acknowledge(writer, call_id)
            last = await self._intake.wait(call.event_id, answer.answer, reader.read(1))
            return hook_response(last) if last else None
        if answer is NO_OPINION:
            self._intake.count_answer(call)
        return hook_response(answer)

    async def _envelopes(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Any number of envelopes; one that is held does not delay the next."""
        held: dict[asyncio.Future[HookAnswer], str] = {}
        try:
            while line:
                if line.strip():
                    with _logging_errors(line):
                        await self._envelope(line, writer, held)
                line = await self._line(reader, writer)
            await self._linger(writer, held)
        finally:
            for answer, request_id in list(held.items()):
                self._intake.leave(request_id, answer)

    async def _linger(self, writer: asyncio.StreamWriter, held: dict[asyncio.Future[HookAnswer], str]) -> None:
        """The client sends nothing more. A half-closed one may still read; a closed one is gone."""
        while held:
            if _is_closed(writer.get_extra_info("socket")):
                return
            await asyncio.wait(held, timeout=POLL_SECONDS)
        await writer.drain()

    async def _envelope(
        self, line: bytes, writer: asyncio.StreamWriter, held: dict[asyncio.Future[HookAnswer], str]
    ) -> None:
        request_id = ""
        received = time.perf_counter()
        try:
            content = read_json(line) if len(line) <= HEAVY else await asyncio.to_thread(read_json, line)
            request_id = _request_id(content)
            payload, digest = _payload(content) if len(line) <= HEAVY else await asyncio.to_thread(_payload, content)
            wants_ack = content.get("ack") is True
            caller = HookCaller(waiter="ndjson", reconnects=wants_ack, tag=_text(content.get("tag")))
            envelope = Envelope(request_id, digest)
            call = self._intake.receive_payload(payload, len(line), caller, request_id, envelope, received)
        except BadInput as error:
            self._refuse(error)
            _send(writer, _reply(request_id, HookResponse(error=str(error))))
            return
        answer = await call.answer if call else None
        if isinstance(answer, HookPending):
            held[answer.answer] = request_id
            answer.answer.add_done_callback(lambda done: _answer_later(writer, held, done))
            if wants_ack:
                _send(writer, write_json({"request_id": request_id, "ts": time.time(), "ack": True}) + b"\n")
            return
        _send(writer, _reply(request_id, hook_response(answer) if answer else SILENCE))
        if call is not None and answer is NO_OPINION:
            self._intake.count_answer(call)
        await writer.drain()

    def _refuse(self, error: Exception) -> None:
        """Count and log a refusal. Of another library's error only the name: its text may quote the payload."""
        kind, words = (error.kind, str(error)) if isinstance(error, BadInput) else ("malformed", type(error).__name__)
        self._intake.refused[kind] += 1
        logger.warning("an envelope was refused", kind=kind, error=words[:200])


@contextlib.contextmanager
def _logging_errors(line: bytes) -> Iterator[None]:
    """An error that only a bug can cause is logged with its input, and ends the connection."""
    try:
        yield
    except ConnectionError:
        raise
    except Exception:
        log_escaped_error("hook socket", line)
        raise ConnectionResetError from None


def _send(writer: asyncio.StreamWriter, content: bytes) -> None:
    """Write, unless the peer has gone: event loops differ in the error they raise then."""
    if writer.is_closing():
        raise ConnectionResetError
    writer.write(content)


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    """Close once the peer has read everything, or after a second."""
    writer.close()
    with contextlib.suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
        async with asyncio.timeout(HANG_UP_SECONDS):
            await writer.wait_closed()
    writer.transport.abort()


def _answer_later(
    writer: asyncio.StreamWriter, held: dict[asyncio.Future[HookAnswer], str], answer: asyncio.Future[HookAnswer]
) -> None:
    request_id = held.pop(answer, None)
    if request_id is not None and not answer.cancelled() and not writer.is_closing():
        _send(writer, _reply(request_id, hook_response(answer.result())))


def _is_closed(connection: Any) -> bool:
    """True if the peer has closed both ways: a Unix socket then hangs up."""
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
    """The payload of an envelope, with the digest that a second one with the same id must have."""
    payload = content.get("payload")
    if not isinstance(payload, dict):
        payload = {"value": payload}
    for key in ("hook_event_name", "session_id"):
        if key in content:
            payload.setdefault(key, content[key])
    return cap_tool_input(payload), sha256_of(payload)


def _call_id(header: bytes) -> str:
    """The forwarder's own id for its call; empty in the framing that has none."""
    if header.startswith(FORWARDERS[0]):
        return ""
    words = header.split()
    call_id = words[6].decode("latin-1") if len(words) == 7 else ""
    if not ID.fullmatch(call_id):
        raise BadInput("bad_request_id", "the call's id: 1 to 128 characters of A-Z a-z 0-9 _ . : -")
    return call_id


def _acknowledge(writer: asyncio.StreamWriter, call_id: str) -> None:
    if call_id:
        _send(writer, ACK)


def _is_enforced(header: bytes) -> bool:
    """True if the forwarder blocks the tool when something goes wrong."""
    return header.split()[2:3] == [b"enforce"]


def _word(value: bytes) -> str:
    return "" if value == b"-" else value.decode("latin-1")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _reply(request_id: str, response: HookResponse) -> bytes:
    """One NDJSON line. The answer is JSON already and is not parsed again."""
    payload: dict[str, Any] = {"action": "passthrough"}
    reply: dict[str, Any] = {"request_id": request_id, "ts": time.time(), "payload": payload}
    if response.error:
        reply["error"] = response.error
    if response.answer is not None:
        payload |= {"action": "json_output", "stdout_json": msgspec.Raw(response.answer)}
    return write_json(reply) + b"\n"
