"""A daemon that is killed at any step has lost nothing it acknowledged, and no agent did what nobody allowed."""

import asyncio
import json
import os
import random
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.fold import fold
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import State
from quarterdeck.store.hash_chain import verify
from quarterdeck.wire import read_event, read_request, read_state, write_json
from tests.support.daemon import READY_SECONDS, Daemon, Json, permission, prompt, until
from tests.support.failpoints import DIED, POINTS, ForkServer

pytestmark = pytest.mark.faults

HITS = int(os.environ.get("QD_FAULT_HITS", "40"))
LANES = 2
"""How many stories run at the same time: a daemon that starts leaves a processor free."""

LATEST = {"snapshot-open": 2, "snapshot-done": 2, "folding": 1, "restarted": 1, "noting": 3, "draining": 3}
"""The last passing of a point that a short story is sure to reach; others take a random one up to 20."""

ALONE = {"run.start", "run.end"}
"""Kinds that only ever come with the event that caused them."""


@pytest.mark.law("E1")
@pytest.mark.law("E2")
@pytest.mark.law("E4")
@pytest.mark.law("E13")
@pytest.mark.law("D1")
@pytest.mark.law("D11")
@pytest.mark.law("D12")
@pytest.mark.timeout(60 + HITS * 3)
@pytest.mark.parametrize("point", POINTS)
def test_nothing_is_lost_when_the_daemon_is_killed_at(point: str, fork_server: ForkServer, tmp_path: Path) -> None:
    def lane(number: int) -> int:
        rng = random.Random(f"{point} {number}")
        story = Story(tmp_path / f"lane{number}" / "home", fork_server, rng)
        for _ in range(number, HITS, LANES):
            story.run_until_kill(point, rng.randint(1, LATEST.get(point, 20)))
            story.check()
        story.close()
        return story.reached

    with ThreadPoolExecutor(LANES) as pool:
        reached = sum(pool.map(lane, range(LANES)))
    assert reached >= HITS // 2


class Story:
    """Many lives of one daemon in one home, and all its answers in them."""

    def __init__(self, home: Path, fork_server: ForkServer, rng: random.Random) -> None:
        home.parent.mkdir()
        self.home = home
        self.recovered = home.with_name("recovered.json")
        self.reached = 0
        self._fork_server = fork_server
        self._rng = rng
        self._life = 0
        self._known = 0
        self._head = b""
        self._state = State(runner_id="")
        self._decided: dict[str, str] = {}
        self._enveloped: set[str] = set()
        self.outstanding: dict[str, Json] = {}

    def run_until_kill(self, point: str, hit: int) -> None:
        """One life with a failpoint; when that ends it before anybody could talk to it, one more without."""
        before = self._deaths()
        if not self._live(point, "--point", point, "--hit", str(hit)):
            self.check()
            self._live("")
        self.reached += self._deaths() - before

    def _deaths(self) -> int:
        err = self.home.with_name("home.err")
        return err.read_bytes().count(DIED) if err.exists() else 0

    def _live(self, point: str, *options: str) -> bool:
        every = "150" if point == "folding" else "20"
        shown = ("--snapshot-every", every, "--show-recovered", str(self.recovered))
        self._life += 1
        self.outcomes = Outcomes()
        self.recovered.unlink(missing_ok=True)
        with closing(Daemon(self.home, launch=self._fork_server.launch(*options, *shown))) as daemon:
            daemon.begin()
            until(lambda: daemon.note().get("pid") == daemon.pid or not daemon.alive(), READY_SECONDS, what="a start")
            was_ready = daemon.note().get("pid") == daemon.pid
            if was_ready:
                day = Day(daemon, self, self._life, self._rng)
                asyncio.run(day.play(daemon.terminate if point == "draining" else daemon.kill9))
            daemon.ended()
        return was_ready

    def check(self) -> None:
        """Compare the log after a kill with the daemon's answers before it."""
        with closed_copy(self.home) as db:
            self._check_rows(db)
            rows = db.execute("SELECT body FROM events WHERE seq_no > ? ORDER BY seq_no", (self._known,)).fetchall()
            events = [read_event(body) for (body,) in rows]
            self._check_recovered(events)
            if events:
                self._state = replace(self._state, runner_id=events[0].runner_id)
                self._state = fold(self._state, events)
                self._known = self._state.seq_no
                self._head = db.execute("SELECT hash FROM events WHERE seq_no=?", (self._known,)).fetchone()[0]
            self._check_views(db, events)
        bodies = [json.loads(body) for (body,) in rows]
        self._check_whole(bodies)
        self._check_outcomes(bodies)

    def close(self) -> None:
        """Once from the first row: the chain holds and the whole log folds to what was folded piece by piece."""
        with closed_copy(self.home) as db:
            assert verify(db) is None
            rows = db.execute("SELECT body FROM events ORDER BY seq_no").fetchall()
        assert fold(State(runner_id=self._state.runner_id), [read_event(body) for (body,) in rows]) == self._state

    def _check_rows(self, db: sqlite3.Connection) -> None:
        numbers = [n for (n,) in db.execute("SELECT seq_no FROM events WHERE seq_no > ? ORDER BY 1", (self._known,))]
        assert numbers == list(range(self._known + 1, self._known + 1 + len(numbers)))
        if self._known:
            head = db.execute("SELECT hash FROM events WHERE seq_no=?", (self._known,)).fetchone()
            assert head == (self._head,), f"row {self._known} is another than before"
        assert verify(db, after=self._known) is None

    def _check_recovered(self, events: list[FeedEvent]) -> None:
        """The start that just died had rebuilt, from its snapshot, what the log alone gives."""
        if not self.recovered.exists():
            return
        recovered = read_state(self.recovered.read_bytes())
        now = replace(self._state, runner_id=recovered.runner_id, settings=recovered.settings)
        assert plain(recovered) == plain(fold(now, [e for e in events if e.seq_no <= recovered.seq_no]))

    def _check_views(self, db: sqlite3.Connection, events: list[FeedEvent]) -> None:
        """What is kept beside the log was committed with it."""
        for request_id, request in self._state.requests.items():
            [body] = db.execute("SELECT body FROM requests WHERE request_id=?", (request_id,)).fetchone()
            assert plain(read_request(body)) == plain(request)
        pending = {i for (i,) in db.execute("SELECT request_id FROM requests WHERE status='pending'")}
        assert pending == {i for i, r in self._state.requests.items() if r.status == "pending"}
        causes = (event.cause.hook_request_id for event in events if event.cause)
        self._enveloped |= {cause for cause in causes if cause and cause.startswith("n-")}
        assert self._enveloped == {i for (i,) in db.execute("SELECT request_id FROM envelopes")}

    def _check_whole(self, bodies: list[Json]) -> None:
        kinds: dict[str, set[str]] = defaultdict(set)
        for body in bodies:
            cause = body.get("cause", {}).get("hook_request_id")
            if cause:
                kinds[cause].add(body["kind"])
        assert not [cause for cause, found in kinds.items() if found <= ALONE]

    def _check_outcomes(self, bodies: list[Json]) -> None:
        text = "\n".join(json.dumps(body) for body in bodies)
        for marker in self.outcomes.acknowledged:
            assert f'"{marker}"' in text, f"{marker} was acknowledged and is not in the log"
        for body in bodies:
            data = body["data"]
            if body["kind"] == "permission.decision" and data["source"] == "user" and not data.get("late"):
                assert data["request_id"] not in self._decided, "decided twice"
                self._decided[data["request_id"]] = data["decision_type"]
        for request_id, decision in self.outcomes.decided.items():
            assert self._decided.get(request_id) == decision, f"{request_id}: a person's reply was {decision}"
        requests = {b["data"]["tool_input"]["command"]: b["data"] for b in bodies if b["kind"] == "permission.request"}
        for command, decision in self.outcomes.answers.items():
            request_id = requests[command]["request_id"] if command in requests else command
            if decision != "pass":
                assert self._decided.get(request_id) == decision, f"{command}: an agent's answer was {decision}"


def plain(value: Any) -> Any:
    """A value as JSON shows it: a snapshot does not keep which kind of request a decision was about."""
    return json.loads(write_json(value))


class Outcomes:
    """The daemon's answers in one life: acknowledgements, answers to agents by command, replies to people by id."""

    def __init__(self) -> None:
        self.acknowledged: set[str] = set()
        self.answers: dict[str, str] = {}
        self.decided: dict[str, str] = {}


class closed_copy:  # noqa: N801
    """The database of a dead daemon, opened as the next one would, without touching it."""

    def __init__(self, home: Path) -> None:
        self._copy = home.with_name("copy.db")
        for suffix in ("", "-wal"):
            Path(f"{self._copy}{suffix}").unlink(missing_ok=True)
            if (source := home / f"events.db{suffix}").exists():
                shutil.copyfile(source, f"{self._copy}{suffix}")
        Path(f"{self._copy}-shm").unlink(missing_ok=True)

    def __enter__(self) -> sqlite3.Connection:
        self._db = sqlite3.connect(self._copy)
        return self._db

    def __exit__(self, *error: object) -> None:
        self._db.close()


class Day:
    """Agents on both transports and a person who decides, until the work is done or the daemon is gone."""

    def __init__(self, daemon: Daemon, story: Story, life: int, rng: random.Random) -> None:
        self._story = story
        self._outcomes = story.outcomes
        self._rng = rng
        self._name = f"{life}-{rng.randrange(1 << 30):x}"
        self._port, self._socket = daemon.port, str(daemon.socket_path)
        self._token, self._hook_token = daemon.token, daemon.hook_token

    async def play(self, end: Callable[[], None]) -> None:
        """`end` ends a daemon that has outlived the work; its waiters still wait then."""
        resent = [self._ndjson_waiter(i, p) for i, p in self._story.outstanding.items()]
        new = [(f"n-h{self._name}-{n}", permission(f"c-n{self._name}-{n}", f"s{n % 2}")) for n in range(3)]
        held = [
            *(self._http_waiter(n) for n in range(3)),
            *(self._ndjson_waiter(i, p) for i, p in new),
            *resent,
        ]
        self._story.outstanding = {**dict(new), **self._story.outstanding}
        waiting = [asyncio.create_task(_quietly(one)) for one in held]
        working = [self._http_events(), self._nd_events(), self._person("allow"), self._person("deny")]
        await asyncio.gather(*(_quietly(one) for one in working))
        end()
        await asyncio.gather(*waiting)

    async def _http_events(self) -> None:
        async with _Http(self._port, self._hook_token) as http:
            for n in range(10):
                marker = f"m-{self._name}-{n}"
                status, _ = await http.call("POST", "/hook", self._something(n, marker))
                assert status in (204, 503)
                if status == 204:
                    self._outcomes.acknowledged.add(marker)

    async def _nd_events(self) -> None:
        reader, writer = await asyncio.open_unix_connection(self._socket)
        try:
            for n in range(0, 12, 3):
                ids = [f"n-{self._name}-{n + k}" for k in range(3)]
                lines = [_envelope(i, self._something(n, i)) for i in ids]
                writer.write(b"".join(lines))
                for request_id in ids:
                    reply = json.loads(await reader.readuntil(b"\n"))
                    assert reply["request_id"] == request_id
                    assert reply["payload"]["action"] == "passthrough"
                    if "error" not in reply:
                        self._outcomes.acknowledged.add(request_id)
        finally:
            writer.close()

    def _something(self, n: int, marker: str) -> Json:
        session_id = f"s{n % 3}"
        tool = {"session_id": session_id, "tool_name": "Read", "tool_input": {"file_path": marker}}
        return self._rng.choice(
            [
                prompt(marker, session_id),
                {"hook_event_name": "PreToolUse", "tool_use_id": marker, **tool},
                {"hook_event_name": "PostToolUse", "tool_use_id": marker, "tool_response": {}, **tool},
                {"hook_event_name": "SomethingNew", "session_id": session_id, "words": marker},
                {"hook_event_name": "SessionStart", "session_id": session_id, "source": "resume", "model": marker},
                {"hook_event_name": "SessionEnd", "session_id": f"e{session_id}", "reason": marker},
            ]
        )

    async def _http_waiter(self, n: int) -> None:
        command = f"c-h{self._name}-{n}"
        async with _Http(self._port, self._hook_token) as http:
            status, body = await http.call("POST", "/hook", permission(command, f"s{n % 2}"))
        assert status in (200, 204, 503)
        if status != 503:
            self._outcomes.acknowledged.add(command)
        self._record_answer(command, json.loads(body) if status == 200 else None)

    async def _ndjson_waiter(self, request_id: str, payload: Json) -> None:
        """Sends, or sends again what an earlier life did not answer."""
        reader, writer = await asyncio.open_unix_connection(self._socket)
        try:
            writer.write(_envelope(request_id, payload))
            reply = json.loads(await reader.readuntil(b"\n"))
        finally:
            writer.close()
        output = reply["payload"].get("stdout_json")
        assert (reply["payload"]["action"] == "json_output") is (output is not None)
        self._record_answer(request_id, output)
        if output is not None:
            del self._story.outstanding[request_id]

    def _record_answer(self, name: str, output: Json | None) -> None:
        decision = output["hookSpecificOutput"]["decision"]["behavior"] if output else "pass"
        assert self._outcomes.answers.setdefault(name, decision) == decision

    async def _person(self, decision: str) -> None:
        """Decides what it sees, each request once, and leaves some for the next life."""
        seen: set[str] = set()
        async with _Http(self._port, self._token) as http:
            for _ in range(4):
                status, content = await http.call("GET", "/api/v1/requests?status=pending")
                assert status == 200
                for request in json.loads(content)["requests"]:
                    request_id = request["request_id"]
                    if request_id not in seen and self._rng.random() < 0.35:
                        await self._decide(http, request_id, request["digest"], decision)
                    seen.add(request_id)

    async def _decide(self, http: "_Http", request_id: str, digest: str, decision: str) -> None:
        path = f"/api/v1/requests/{request_id}/decision"
        status, content = await http.call("POST", path, {"decision": decision, "digest": digest})
        assert status in (200, 409, 503), content
        if status == 200:
            assert request_id not in self._outcomes.decided, "two people's decisions were accepted"
            self._outcomes.decided[request_id] = decision


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    """A daemon that is gone ends the work, not the test."""
    with suppress(OSError, EOFError):
        await work


def _envelope(request_id: str, payload: Json) -> bytes:
    return json.dumps({"request_id": request_id, "payload": payload}).encode() + b"\n"


class _Http:
    """One kept-alive connection."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    async def __aenter__(self) -> "_Http":
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._writer.close()

    async def call(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self._writer.write(head.encode() + content)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in lines[1:] if line)
        length = int(fields.get(b"content-length", 0))
        return int(lines[0].split()[1]), await self._reader.readexactly(length)
