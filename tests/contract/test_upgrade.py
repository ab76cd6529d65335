"""What the previous version stored and started is all there after an upgrade, and goes on."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

import quarterdeck
from quarterdeck.core.model.events import KINDS
from quarterdeck.core.model.state import REQUEST_STATUSES, Settings
from quarterdeck.daemon.setup.state_rebuild import recover
from quarterdeck.store.dump import Archive
from quarterdeck.store.log import Log
from quarterdeck.store.queries.feed_query import FeedQuery
from quarterdeck.store.reader import Reader
from quarterdeck.store.upgrade import WITH_TOOLS
from quarterdeck.wire import read_event, write_json
from tests.support.daemon import Daemon, Json, decision_in, permission, prompt, until
from tests.support.previous_version import (
    FOLDER,
    HOMES,
    Install,
    answers,
    copy_home,
    daemon_in,
    differences,
    events_of_start,
    in_present_words,
    last_of,
    unpack,
)
from tests.support.upgrade import SECONDS, Upgrade

REFUSED = "403 agent_may_not_decide"

needs_tmux = pytest.mark.skipif(not (shutil.which("tmux") or os.environ.get("CI")), reason="tmux is not here")


def recorded(file: str) -> Any:
    return json.loads((FOLDER / file).read_text(encoding="utf-8"))


@pytest.mark.law("E13")
@pytest.mark.parametrize("name", HOMES)
def test_the_log_folds_to_the_same_state_with_its_snapshot_and_without(name: str, tmp_path: Path) -> None:
    wanted = recorded("states.json")[name]
    log = Log.open(copy_home(name, tmp_path) / "events.db")
    assert log.damage is None
    snapshot = log.snapshot()
    assert snapshot is not None
    assert 0 < snapshot.seq_no < log.seq_no
    assert differences(plain(log), wanted["state"]) == []
    log.close()
    with closing(sqlite3.connect(tmp_path / name / "events.db", isolation_level=None)) as db:
        db.execute("DELETE FROM snapshots")
    log = Log.open(tmp_path / name / "events.db")
    assert differences(plain(log), wanted["without_snapshot"]) == []
    log.close()


def plain(log: Log) -> Any:
    """The state as a snapshot has it, without the settings: those are read from the configuration at each start."""
    state = recover(log, log.meta("runner_id", "another"), Settings())
    stored = json.loads(write_json(state))
    del stored["settings"]
    return stored


@pytest.mark.law("E13")
def test_tools_get_their_kind_when_they_are_read_and_the_log_stays_as_it_is(tmp_path: Path) -> None:
    path = copy_home("home", tmp_path) / "events.db"
    log = Log.open(path)
    events = [event for event in log.events_after(0) if event.kind in WITH_TOOLS]
    assert {event.kind for event in events} == WITH_TOOLS
    kinds = {event.data.tool_name: event.data.tool_kind for event in events}
    assert all(kinds.values())
    assert kinds["Bash"] == "shell"
    log.close()
    reader = Reader(path)
    shown = reader.feed(FeedQuery(kinds=tuple(WITH_TOOLS), limit=1000)).events
    assert shown == events
    assert {request.tool_kind for request in reader.requests(REQUEST_STATUSES)} >= {"shell"}
    assert all(request.tool_kind for request in reader.requests(REQUEST_STATUSES))
    reader.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM events WHERE body LIKE '%tool_kind%'").fetchone() == (0,)


def test_the_recorded_log_holds_every_kind_of_event_and_each_is_read_as_its_own(tmp_path: Path) -> None:
    with closing(sqlite3.connect(copy_home("home", tmp_path) / "events.db")) as db:
        bodies = [body for (body,) in db.execute("SELECT body FROM events ORDER BY seq_no")]
    events = [read_event(body) for body in bodies]
    assert {event.kind for event in events} - KINDS.keys() == {"kind.of-a-later-version"}
    assert [(e.kind, type(e.data)) for e in events if type(e.data) is not KINDS.get(e.kind, dict)] == []
    written = [json.loads(write_json(event)) for event in events]
    assert differences(written, [json.loads(body) for body in bodies]) == []


@pytest.mark.law("A11")
@pytest.mark.parametrize("name", HOMES)
def test_the_chain_is_verified_as_before(name: str, tmp_path: Path) -> None:
    archive = Archive(copy_home(name, tmp_path) / "events.db")
    damage, (rows, head) = archive.verify(), archive.head()
    archive.close()
    assert {"damage": damage, "rows": rows, "head": head} == recorded("states.json")[name]["chain"]


@needs_tmux
@pytest.mark.parametrize("name", HOMES)
def test_a_start_in_the_recorded_home_and_the_api_answer_as_before(name: str, tmp_path: Path) -> None:
    """`stable` and `events_of_start` name what is not compared."""
    wanted = recorded("answers.json")[name]
    last = last_of(name)
    with daemon_in(copy_home(name, tmp_path)) as daemon:
        until_equal(lambda: events_of_start(daemon, last), wanted["events_of_start"])
        assert differences(answers(daemon, last), in_present_words(wanted["answers"])) == []
        with daemon.db() as db:
            assert db.execute("SELECT seq_no FROM snapshots").fetchone() is not None
        assert "Traceback" not in daemon.stderr()


def until_equal(given: Callable[[], Any], wanted: object) -> None:
    """Wait for it; else show in what they differ."""
    try:
        until(lambda: given() == wanted, SECONDS, every=0.1)
    except AssertionError:
        assert differences(given(), wanted) == []


HOW = {"stopped": signal.SIGTERM, "killed": signal.SIGKILL, "moved": signal.SIGTERM}
"""How the previous version ended; `moved` is one whose successor was installed in another folder."""

CHILD, ORPHAN = "{it}", "setsid -f env -i {it}"
"""A process of the agent's, and one that has left its session, its parents and its environment."""


@pytest.fixture(scope="module")
def upgrades(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Upgrade]]:
    """One upgrade in each of these ways, at the same time and from one copy of the previous version. What was installed
    in another folder is the source tree."""
    folder = tmp_path_factory.mktemp("u")
    code = Install(folder / "code")
    found = {how: Upgrade(folder / how, code.folder, None if how == "moved" else code.folder) for how in HOW}
    try:
        found["stopped"].daemon.start()  # which compiles the previous version, for the others too
        with ThreadPoolExecutor(len(found)) as pool:
            list(pool.map(Upgrade.begin, found.values()))
            list(pool.map(Upgrade.end, found.values(), HOW.values()))
            code.upgrade()
            list(pool.map(Upgrade.go_on, found.values()))
        yield found
        for upgrade in found.values():
            assert "Traceback" not in upgrade.daemon.stderr()
    finally:
        for upgrade in found.values():
            upgrade.close()


@pytest.fixture(params=["stopped", "killed"])
def upgraded(request: pytest.FixtureRequest, upgrades: dict[str, Upgrade]) -> Upgrade:
    """An upgrade in place."""
    return upgrades[request.param]


@needs_tmux
@pytest.mark.law("S1")
@pytest.mark.law("S8")
@pytest.mark.parametrize("mode", ["pty", "tmux"])
def test_a_terminal_is_found_again_under_its_id_and_takes_input(upgraded: Upgrade, mode: str) -> None:
    before = upgraded.terminals[mode]
    after = upgraded.session(before)
    assert (after["pid"], after["mode"], after["owned"]) == (before["pid"], mode, before["owned"])
    steps = {"session.launch", "session.up", "session.exit", "session.end"}
    assert [kind for kind in upgraded.kinds(before) if kind in steps] == ["session.launch", "session.up", "session.up"]
    sessions = upgraded.daemon.api("GET", "/sessions")[1]["sessions"]
    ids = [upgraded.terminals[mode]["session_id"] for mode in ("pty", "tmux")]
    assert sorted(s["session_id"] for s in sessions) == sorted([*ids, "forwarded", "sent"])
    words = f"still here, {mode}"
    upgraded.sends(before, words)
    until(lambda: words in upgraded.submitted(), SECONDS, what="what was typed")
    assert upgraded.submitted().count(words) == 1
    upgraded.until_screen(before, "❯")


@needs_tmux
@pytest.mark.law("D11")
def test_who_was_held_is_answered_with_silence_and_may_ask_again(upgraded: Upgrade) -> None:
    """A stop says so to a client of the socket; a kill closes its connection. The forwarder is silent in both cases, so
    the agent's own dialog decides. What was held is withdrawn; the same envelope opens it again under its id."""
    was_stopped = upgraded.ended == 0
    assert upgraded.ended in (0, -signal.SIGKILL)
    assert (upgraded.forwarder.returncode, upgraded.forwarded) == (0, (b"", b""))
    assert (upgraded.sent is not None) == was_stopped
    assert upgraded.sent is None or upgraded.sent["payload"] == {"action": "passthrough"}
    for request in upgraded.held.values():
        assert upgraded.daemon.api("GET", f"/requests/{request['request_id']}")[1]["status"] == "withdrawn"
        status, refused = upgraded.daemon.decide(request, "allow")
        assert (status, refused["error"]["kind"]) == (409, "withdrawn")

    client = upgraded.daemon.ndjson()
    client.send("n1", permission("make sent", "sent"))
    (again,) = upgraded.daemon.until_pending(1, SECONDS)
    before = upgraded.held["make sent"]
    assert (again["request_id"], again["digest"]) == (before["request_id"], before["digest"])
    assert upgraded.daemon.decide(again, "allow")[0] == 200
    answer = client.read(SECONDS)
    assert answer is not None
    assert decision_in(json.dumps(answer["payload"]["stdout_json"]).encode()) == "allow"

    forwarder = upgraded.forward(permission("make forwarded", "forwarded"))
    (again,) = upgraded.daemon.until_pending(1, SECONDS)
    assert again["request_id"] != upgraded.held["make forwarded"]["request_id"]
    assert again["digest"] == upgraded.held["make forwarded"]["digest"]
    assert upgraded.daemon.decide(again, "deny", message="not now")[0] == 200
    out, _ = forwarder.communicate(timeout=SECONDS)
    assert decision_in(out) == "deny"


@needs_tmux
@pytest.mark.law("D11")
def test_a_repeated_envelope_gets_the_decision_from_before_the_upgrade(upgraded: Upgrade) -> None:
    with upgraded.daemon.ndjson() as client:
        again = client.ask("n0", permission("make denied", "sent"), SECONDS)
    assert again is not None
    assert upgraded.denied is not None
    assert again["payload"] == upgraded.denied["payload"]
    assert "not before the upgrade" in json.dumps(again)
    assert len([e for e in upgraded.daemon.events("permission.request") if e["data"]["request_id"] == "n0"]) == 1


@needs_tmux
def test_the_address_and_the_credentials_are_those_of_before(upgraded: Upgrade) -> None:
    """Hooks that are installed name the address and the hooks' token."""
    daemon = upgraded.daemon
    assert (daemon.url, daemon.token, daemon.hook_token) == upgraded.address
    with urlopen(Request(f"{daemon.url}/api/v1/me", headers={"Authorization": f"Bearer {upgraded.made}"})) as answer:
        assert json.load(answer)["name"] == "phone"


@needs_tmux
@pytest.mark.law("E6")
def test_a_client_of_the_previous_version_goes_on_from_its_cursor(upgraded: Upgrade) -> None:
    upgraded.daemon.hook(prompt("after the upgrade", "after"))
    upgraded.until_followed()
    assert b"after the upgrade" in upgraded.followed.read_bytes()


@needs_tmux
@pytest.mark.skipif(sys.platform != "linux", reason="ancestry is known on Linux")
@pytest.mark.law("D14")
@pytest.mark.parametrize(
    ("how", "mode", "command"),
    [
        ("killed", "pty", CHILD),
        ("killed", "pty", ORPHAN),
        ("killed", "tmux", CHILD),
        ("killed", "tmux", ORPHAN),
        ("moved", "pty", CHILD),
        ("moved", "pty", ORPHAN),
        ("moved", "tmux", CHILD),
        ("moved", "tmux", ORPHAN),
    ],
)
def test_an_agent_in_a_terminal_of_the_previous_version_may_not_decide(
    upgrades: dict[str, Upgrade], how: str, mode: str, command: str
) -> None:
    """Who keeps the terminal runs from a file of the previous version, which is gone from the disk by now."""
    upgrade = upgrades[how]
    with upgrade.daemon.ndjson() as client:
        client.send(uuid.uuid4().hex, permission("rm -rf /", "asks"))
        (request,) = upgrade.daemon.until_pending(1, SECONDS)
        assert upgrade.tries(upgrade.terminals[mode], request, command) == REFUSED
        refused = [e["data"] for e in upgrade.daemon.events("decision.refused")]
        assert refused[-1]["agent_session_id"] == upgrade.terminals[mode]["session_id"]
        assert upgrade.daemon.pending() == [request]
        assert upgrade.daemon.decide(request, "deny")[0] == 200


@needs_tmux
@pytest.mark.law("S2")
@pytest.mark.parametrize("mode", ["pty", "tmux"])
def test_a_terminal_of_the_previous_version_is_ended_without_a_trace(upgrades: dict[str, Upgrade], mode: str) -> None:
    upgrade = upgrades["moved"]
    session = upgrade.terminals[mode]
    upgrade.sends(session, "orphan")
    assert upgrade.daemon.api("POST", f"/sessions/{session['session_id']}/end", {}, timeout=SECONDS)[0] == 202
    until(lambda: upgrade.session(session)["ended_at"] is not None, SECONDS, every=0.05, what="its end")
    tag = f"QUARTERDECK_TAG={session['session_id']}".encode()
    until(lambda: not with_variable(tag), SECONDS, every=0.05, what="no process of it")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon of the current version."""
    with Daemon(tmp_path_factory.mktemp("current") / "home") as running:
        yield running


def open_ui(daemon: Daemon, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The terminal UI runs from a copy of the package and moves that copy away, as `upgraded_tui` says."""
    shutil.copytree(Path(quarterdeck.__file__).parent, folder / "quarterdeck")
    env = {"HOME": str(folder), "PATH": os.environ["PATH"], "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "tests.support.upgraded_tui", str(daemon.home), *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


def test_an_open_ui_goes_on_when_its_files_are_gone(daemon: Daemon, tmp_path: Path) -> None:
    held = daemon.hold(permission("make open"))
    daemon.until_pending(1, SECONDS)
    done = open_ui(daemon, tmp_path, "deny")
    assert done.returncode == 0, done.stderr
    assert decision_in(held.answer()[1]) == "deny"


def test_what_was_not_loaded_before_the_files_went_says_restart_and_drafts_stay(daemon: Daemon, tmp_path: Path) -> None:
    done = open_ui(daemon, tmp_path, "early")
    assert done.returncode == 0, done.stderr


def test_no_terminal_starts_from_files_that_are_not_the_daemons(tmp_path: Path) -> None:
    code = tmp_path / "code"
    package = shutil.copytree(Path(quarterdeck.__file__).parent, code / "quarterdeck")
    claude = tmp_path / "claude-code"
    claude.write_text("#!/bin/sh\necho '2.1.197 (Claude Code)'\n")
    claude.chmod(0o755)
    env = {"HOME": str(tmp_path), "QUARTERDECK_CLAUDE_PATH": str(claude), "PYTHONPATH": str(code)}
    with Daemon(tmp_path / "qd", env=env) as daemon:
        assert daemon.api("POST", "/projects/trust", {"path": str(code)})[0] == 200
        host = package / "sessions" / "host"
        (host / "main.py").touch()
        for mode in ("sdk", "pty", "tmux"):
            assert_not_started(daemon, {"cwd": str(code), "mode": mode})
            (host / "supervisor.py").unlink(missing_ok=True)
        assert [path.name for path in (daemon.home / "run" / "sessions").iterdir()] == ["claude-hooks.json"]


def assert_not_started(daemon: Daemon, body: Json) -> None:
    status, refused = daemon.api("POST", "/sessions", body, timeout=SECONDS)
    assert status == 502
    assert refused["error"]["message"] == "Quarterdeck was upgraded while this daemon ran: qd stop, then qd up"


@pytest.mark.parametrize("command", ["up", "status"])
def test_an_older_daemon_is_named_with_what_to_do(older: Daemon, command: str) -> None:
    env = {"HOME": str(older.home.parent), "PATH": os.environ["PATH"], "QUARTERDECK_HOME": str(older.home)}
    words = [sys.executable, "-m", "quarterdeck", command]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=SECONDS)
    expected = f"! the daemon is 0.1.0, this is {quarterdeck.__version__} → qd stop, then qd up"
    assert (done.returncode, done.stdout.splitlines().count(expected)) == (0, 1), done.stdout + done.stderr


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon of the previous version."""
    folder = tmp_path_factory.mktemp("older")
    with daemon_in(folder / "home", unpack(folder / "code")) as running:
        yield running


def with_variable(wanted: bytes) -> list[int]:
    """The processes that have this in their environment; zombies have none."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (place / "environ").read_bytes().split(b"\0"):
                found.append(int(place.name))
    return found
